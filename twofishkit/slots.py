"""The contract between mode logic and kernels: what every backend provides.

A backend is a table of plain functions, *slots*. Mode logic calls slots and never names an
instruction set; `backend.py` chooses the table. A new backend fills in a `CipherSlots` (or a
`GhashSlots`) and passes the same tests as all others.

Rules that hold for every slot
------------------------------
- Arguments have been validated by the public method; slots raise nothing and check nothing.
- ``src`` and ``dst`` are C-contiguous uint8 arrays of one length, either the same memory or
  disjoint. ``src`` may be read-only. Slots read from ``src`` before they write the same bytes of
  ``dst``, so that working in place is right.
- ``iv``, ``counter``, ``offset``, ``state``, ``y`` ... are writable C-contiguous uint8[16]
  arrays, updated in place such that a following call continues where this one stopped.
- ``schedule`` and ``table`` are opaque: whatever ``expand_key`` or ``ghash_key`` returned.
- Slots hold no state of their own and may run in many threads at once.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Schedule = Any
GhashTable = Any

#: What the short-message slots of `Kernels` take at most.
SHORT_BYTES = 2048
SHORT_AAD_BYTES = 256


@dataclass(frozen=True)
class CipherSlots:
    """One implementation of Twofish and of the modes built on it.

    ====================  =====================================================================
    slot                  meaning
    ====================  =====================================================================
    expand_key            (key uint8[16|24|32]) -> schedule
    wipe                  (schedule): overwrite the key material that the schedule holds
    encrypt_blocks        (schedule, src, dst): ECB, any number of whole blocks; decrypt_blocks
    encrypt_each          (keys uint8[n, 16|24|32], src uint8[n, 16], dst uint8[n, 16]):
                          block i under key i, key schedules made on the way; decrypt_each
    ctr                   (schedule, counter, counter_bits, little_endian, src, dst): dst = src ^
                          keystream, any length in bytes. counter_bits is 32, 64 or 128: the field
                          that counts, modulo 2^counter_bits: the last bytes of the block, most
                          significant first, or with little_endian the first bytes, least
                          significant first. counter advances by ceil(len / 16).
    cbc_encrypt           (schedule, iv, src, dst): whole blocks; cbc_decrypt
    cfb_encrypt           (schedule, iv, src, dst): CFB-128, any length; a partial last block ends
                          the message (iv is then of no further use); cfb_decrypt
    cfb8_encrypt          (schedule, iv, src, dst): CFB-8, any length; iv is the shift register;
                          cfb8_decrypt
    ofb                   (schedule, iv, src, dst): any length; a partial last block ends it
    cbc_encrypt_many      (schedule, ivs uint8[n, 16], src uint8[n, m], dst uint8[n, m]): n
                          independent messages; cfb_encrypt_many, ofb_many (m any length). ivs
                          are updated as in the single form.
    cbc_mac               (schedule, state, src): state = E(state ^ block) for each whole block
    xts_encrypt           (schedule, tweaks uint8[n, 16], src uint8[n, m], dst uint8[n, m]): n data
                          units of m bytes, m a multiple of 16, no stealing. tweaks hold the
                          encrypted tweaks and are left at T * alpha^(m/16); xts_decrypt
    ocb_encrypt           (schedule, ls uint8[k, 16], offset, checksum, first, src, dst): blocks
                          number first, first + 1, ... (from 1) of RFC 7253; ls[i] is L_i and k
                          suffices; offset and checksum are updated; ocb_decrypt
    ocb_hash              (schedule, ls, offset, total, first, src): RFC 7253 HASH over whole
                          blocks; offset and total (the running sum) are updated
    xts_encrypt_units     (schedule, tweak_schedule, first, unit_bytes, src, dst), or None: data units of
                          whole blocks, numbered from first on, a bytes object of 16 bytes, little-endian;
                          both schedules have ``cores``; xts_decrypt_units
    ocb_seal              (schedule, constants uint8[k, 16], nonce, aad, src, dst, tag), or None: a
                          whole message in one call. constants are L_*, L_$, L_0, L_1, ..., nonce is
                          a bytes object, aad too or a uint8 array, tag a bytearray that is filled.
    ocb_open              (schedule, constants, nonce, aad, src, scratch, dst, tag) -> bool, or None:
                          the inverse. tag is a bytes object; False, and dst as it was, if it does not
                          fit. scratch, as long as dst, is zeros in the end; or it is dst itself,
                          which is zeros in the end if the tag does not fit.
    ====================  =====================================================================
    """

    name: str
    constant_time: bool
    #: Whether schedules begin with the addresses of block functions, as the kernels of `wide` want.
    cores: bool
    expand_key: Callable[[Bytes], Schedule]
    wipe: Callable[[Schedule], None]
    encrypt_blocks: Callable[..., None]
    decrypt_blocks: Callable[..., None]
    encrypt_each: Callable[..., None]
    decrypt_each: Callable[..., None]
    ctr: Callable[..., None]
    cbc_encrypt: Callable[..., None]
    cbc_decrypt: Callable[..., None]
    cfb_encrypt: Callable[..., None]
    cfb_decrypt: Callable[..., None]
    cfb8_encrypt: Callable[..., None]
    cfb8_decrypt: Callable[..., None]
    ofb: Callable[..., None]
    cbc_encrypt_many: Callable[..., None]
    cfb_encrypt_many: Callable[..., None]
    ofb_many: Callable[..., None]
    cbc_mac: Callable[..., None]
    xts_encrypt: Callable[..., None]
    xts_decrypt: Callable[..., None]
    ocb_encrypt: Callable[..., None]
    ocb_decrypt: Callable[..., None]
    ocb_hash: Callable[..., None]
    xts_encrypt_units: Callable[..., None] | None = None
    xts_decrypt_units: Callable[..., None] | None = None
    ocb_seal: Callable[..., None] | None = None
    ocb_open: Callable[..., bool] | None = None


@dataclass(frozen=True)
class GhashSlots:
    """One implementation of the universal hashes GHASH (SP 800-38D) and POLYVAL (RFC 8452).

    ============  ==========================================================================
    slot          meaning
    ============  ==========================================================================
    ghash_key     (h uint8[16]) -> table, for `ghash`
    ghash         (table, y, src): y = (...((y ^ X1).H ^ X2).H ...), whole blocks X1, X2, ...
    polyval_key   (h uint8[16]) -> table, for `polyval`
    polyval       (table, y, src): the same in POLYVAL's field and byte order
    ============  ==========================================================================
    """

    name: str
    constant_time: bool
    ghash_key: Callable[[Bytes], GhashTable]
    ghash: Callable[..., None]
    polyval_key: Callable[[Bytes], GhashTable]
    polyval: Callable[..., None]
    #: The module of GCM kernels for this hash and any cipher that has ``cores``.
    gcm_module: str | None = None


@dataclass(frozen=True)
class Kernels:
    """What serves a process: one cipher, one GHASH, one XOR, and GCM's two halves joined.

    ``xor`` is (a, b, dst): dst = a ^ b for three uint8 arrays of one length; dst is a, is b, or
    is disjoint from both. ``xor_if_simple``, which may be None, is a `Kernel` (a, b, out) -> bool for
    any one-dimensional arrays of one-byte elements and a writable out: False, and nothing done, unless
    they have one length, are contiguous, and out is an input or disjoint from both.
    ``gcm_encrypt`` is (schedule, table, counter, y, src, dst): CTR with a 32-bit big-endian
    counter, and GHASH over the ciphertext, a partial last block padded with zeros;
    ``gcm_decrypt`` is the inverse. They exist so that a backend can do both in one pass.

    ``threads`` is how many threads callers should share long work of independent parts among; 1 unless
    the kernels release the GIL.

    ``gcm_encrypt_rows`` is (schedule, table, counters uint8[16 n], tags uint8[16 n], src uint8[n, a], dst
    uint8[n, b]), or None: `gcm_encrypt` for n messages in one call, each the first min(a, b) bytes of a row,
    and the length block of each (no AAD) absorbed into its tag, which then lacks only E(J0). counters
    are left as they are, and so is the rest of each row. ``gcm_decrypt_rows`` is the inverse.

    ``gcm_seal_long`` is (schedule, table, j0, aad, src, dst, tag): a whole message of up to ``long_bytes``
    in one call, or None. j0 is the pre-counter block, any 16 bytes-like bytes, aad any contiguous bytes-like
    object or uint8 array, tag a bytearray of 16 bytes that is filled. ``gcm_open_long`` is the inverse, and
    returns whether the tag, a bytes object of up to 16 bytes, is right; if not, dst is as it was. Longer
    messages are for ``gcm_encrypt``, which threads share.

    The rest is there for messages so short that Python dominates, or None: one compiled call each,
    on bytes objects as they are. ``out`` is a bytearray of the right length.

    ``ctr_message`` is (schedule, iv, counter_bits, little_endian, data, out).
    ``gcm_seal`` is (schedule, table, nonce, aad, data, out, tag_length): nonce of 12 bytes, data of up to
    SHORT_BYTES, aad of up to SHORT_AAD_BYTES; out = ciphertext || tag.
    ``gcm_open`` is (schedule, table, nonce, aad, data, out, tag_length) -> bool: data = ciphertext
    || tag; False, and out as it was, if the tag does not fit.
    """

    cipher: CipherSlots
    ghash: GhashSlots
    xor: Callable[[Bytes, Bytes, Bytes], None]
    gcm_encrypt: Callable[..., None]
    gcm_decrypt: Callable[..., None]
    threads: int = 1
    gcm_encrypt_rows: Callable[..., None] | None = None
    gcm_decrypt_rows: Callable[..., None] | None = None
    gcm_seal_long: Callable[..., None] | None = None
    gcm_open_long: Callable[..., bool] | None = None
    long_bytes: int = sys.maxsize
    xor_if_simple: Any = None
    ctr_message: Callable[..., None] | None = None
    gcm_seal: Callable[..., None] | None = None
    gcm_open: Callable[..., bool] | None = None
