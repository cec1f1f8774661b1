"""GCM: counter mode for secrecy, GHASH for authenticity, in one pass over the data.

With H = E(0) and the pre-counter block J0 made from the nonce: C = P ^ keystream from inc32(J0) on;
tag = E(J0) ^ GHASH(pad(aad) || pad(C) || len64(aad) || len64(C)). The counter is the last 32 bits
of its block and wraps without touching the rest, whatever J0 is.

A nonce used twice under one key gives away the XOR of two plaintexts, and then H and with it the
power to forge. An empty nonce is refused: J0 would then be 0 and E(J0) would be H itself.
"""

import struct

from twofishkit.blocks import BLOCK_BYTES, BlockHash, view, xor_blocks, zero_block
from twofishkit.buffers import Bytes, Data, Out, Result, as_bytes, small
from twofishkit.cipher import Cipher, as_cipher, describe
from twofishkit.errors import InvalidTag, LimitExceeded
from twofishkit.modes import aead
from twofishkit.modes.aead_streams import AeadDecryptor, AeadEncryptor
from twofishkit.slots import SHORT_AAD_BYTES, SHORT_BYTES

#: 2^32 - 2 blocks: J0 and its successors must not repeat (SP 800-38D, 5.2.1.1).
LIMIT_BYTES = (1 << 36) - 32

_NONCES = range(1, 1 << 61)
_NONCE_BYTES = 12


class GcmKey:
    """What GCM and GMAC prepare once for a key: H in the form that the GHASH kernel wants."""

    __slots__ = ("cipher", "table")

    def __init__(self, cipher: Cipher) -> None:
        self.cipher = cipher
        h = zero_block()
        cipher._kernels.cipher.encrypt_blocks(cipher._schedule, h, h)
        self.table = cipher._kernels.ghash.ghash_key(h)
        h.fill(0)

    def pre_counter(self, nonce: bytes) -> bytes:
        """Return J0 for a nonce of at least one byte."""
        if len(nonce) == _NONCE_BYTES:
            return nonce + b"\0\0\0\1"
        j0 = zero_block()
        padded = nonce + bytes(-len(nonce) % 16) + struct.pack(">QQ", 0, 8 * len(nonce))
        self.cipher._kernels.ghash.ghash(self.table, j0, view(padded))
        return j0.tobytes()

    def start(self, nonce: bytes) -> tuple[Bytes, Bytes]:
        """Return the counter block inc32(J0) and E(J0), for a nonce of at least one byte."""
        j0, mask = self.pre_counter(nonce), zero_block()
        self.cipher._kernels.cipher.encrypt_blocks(self.cipher._schedule, view(j0), mask)
        count = (int.from_bytes(j0[12:]) + 1) % (1 << 32)
        return view(j0[:12] + count.to_bytes(4)).copy(), mask

    def crypt(self, counter: Bytes, src: Bytes, dst: Bytes) -> None:
        """dst = src ^ keystream; the counter, its last 32 bits, moves on."""
        cipher = self.cipher
        cipher._kernels.cipher.ctr(cipher._schedule, counter, 32, False, src, dst)

    def absorb(self, y: Bytes, src: Bytes) -> None:
        """Append src to the GHASH state y, zeros filling its last block."""
        ghash = self.cipher._kernels.ghash.ghash
        whole = src.size - src.size % BLOCK_BYTES
        if whole:
            ghash(self.table, y, src[:whole])
        if whole < src.size:
            last = zero_block()
            last[: src.size - whole] = src[whole:]
            ghash(self.table, y, last)

    def tag(self, y: Bytes, mask: Bytes, aad_bytes: int, message_bytes: int) -> bytes:
        """Return the tag, 16 bytes; y is used up."""
        lengths = view(struct.pack(">QQ", 8 * aad_bytes, 8 * message_bytes))
        self.cipher._kernels.ghash.ghash(self.table, y, lengths)
        return xor_blocks(y, mask)


class GcmMessage:
    """One message under one nonce, block by block; satisfies `aead_streams.Message`."""

    __slots__ = ("_aad_bytes", "_bytes", "_counter", "_hash", "_key", "_mask")

    def __init__(self, key: GcmKey, nonce: bytes) -> None:
        self._key = key
        self._counter, self._mask = key.start(nonce)
        self._hash = BlockHash(key.cipher._kernels.ghash.ghash, key.table)
        self._aad_bytes = 0
        self._bytes = 0

    def absorb_aad(self, src: Bytes) -> None:
        """Append associated data, any length."""
        self._hash.update(src)
        self._aad_bytes += src.size

    def encrypt(self, src: Bytes, dst: Bytes) -> None:
        """Encrypt the next whole blocks, or the rest of the message."""
        self._hash.pad()
        cipher = self._key.cipher
        cipher._kernels.gcm_encrypt(
            cipher._schedule, self._key.table, self._counter, self._hash.state, src, dst
        )
        self._bytes += src.size

    def tag(self) -> bytes:
        """Return the tag, 16 bytes, as if the message ended here."""
        state = self._hash.copy()
        state.pad()
        return self._key.tag(state.state, self._mask, self._aad_bytes, self._bytes)

    def copy(self) -> "GcmMessage":
        """Return an independent message in the same state."""
        twin = GcmMessage.__new__(GcmMessage)
        twin._key = self._key
        twin._counter = self._counter.copy()
        twin._mask = self._mask
        twin._hash = self._hash.copy()
        twin._aad_bytes, twin._bytes = self._aad_bytes, self._bytes
        return twin


def check_nonce(nonce: Data) -> bytes:
    """Return the nonce as bytes, or raise InvalidNonce."""
    return small(
        nonce, "nonce", _NONCES, "at least 1 byte; 12 is usual (an empty one would reveal the hash key)"
    )


class GCM:
    """Galois/Counter Mode: authenticated encryption with associated data.

    Parameters
    ----------
    key : bytes-like of 16, 24 or 32 bytes, or a Twofish
    tag_length : int
        12 to 16 bytes; tags of any other length are refused.

    Raises
    ------
    InvalidKey, InvalidParameter

    Notes
    -----
    Nonces have one byte or more; 12 bytes is usual and fastest. Random ones must have at least 12
    bytes, for no more than 2^32 messages under one key. A message has at most 2^36 - 32 bytes.

    Source: NIST SP 800-38D.

    Examples
    --------
    >>> gcm = GCM(bytes(32))
    >>> blob = gcm.encrypt(b"unique nonce", b"secret", b"header")
    >>> gcm.decrypt(b"unique nonce", blob, b"header")
    b'secret'
    """

    __slots__ = (
        "_key",
        "_long_bytes",
        "_open_long",
        "_open_short",
        "_seal_long",
        "_seal_short",
        "tag_length",
    )

    _tag_first = False

    def __init__(self, key: Data | Cipher, tag_length: int = 16) -> None:
        self.tag_length = aead.check_tag_length(tag_length, range(12, 17), "GCM")
        self._key = GcmKey(as_cipher(key))
        kernels = self._key.cipher._kernels
        self._seal_short, self._open_short = kernels.gcm_seal, kernels.gcm_open
        self._seal_long, self._open_long = kernels.gcm_seal_long, kernels.gcm_open_long
        self._long_bytes = kernels.long_bytes

    def encrypt(self, nonce: Data, data: Data, aad: Data = b"", *, out: Out = None) -> Result:
        if (
            type(data) is type(nonce) is type(aad) is bytes
            and len(nonce) == _NONCE_BYTES
            and len(data) <= SHORT_BYTES
            and len(aad) <= SHORT_AAD_BYTES
            and out is None
            and self._seal_short is not None
        ):
            # A short message is dominated by what surrounds the kernels: one call does it all.
            key, tag_length = self._key, self.tag_length
            sealed = bytearray(len(data) + tag_length)
            self._seal_short(key.cipher._schedule, key.table, nonce, aad, data, sealed, tag_length)
            return bytes(sealed)
        return aead.encrypt(self, nonce, data, aad, out=out)

    def decrypt(self, nonce: Data, data: Data, aad: Data = b"", *, out: Out = None) -> Result:
        if (
            type(data) is type(nonce) is type(aad) is bytes
            and len(nonce) == _NONCE_BYTES
            and self.tag_length <= len(data) <= SHORT_BYTES
            and len(aad) <= SHORT_AAD_BYTES
            and out is None
            and self._open_short is not None
        ):
            key, tag_length = self._key, self.tag_length
            opened = bytearray(len(data) - tag_length)
            schedule = key.cipher._schedule
            if not self._open_short(schedule, key.table, nonce, aad, data, opened, tag_length):
                raise InvalidTag(aead.FORGED)
            return bytes(opened)
        return aead.decrypt(self, nonce, data, aad, out=out)

    encrypt.__doc__ = aead.encrypt.__doc__
    decrypt.__doc__ = aead.decrypt.__doc__
    encrypt_detached = aead.encrypt_detached
    decrypt_detached = aead.decrypt_detached

    def encryptor(self, nonce: Data, aad: Data = b"") -> AeadEncryptor:
        """Return a context that encrypts one message chunk by chunk."""
        checked = self._check_nonce(nonce)
        return AeadEncryptor(self, checked, GcmMessage(self._key, checked), aad)

    def decryptor(self, nonce: Data, aad: Data = b"") -> AeadDecryptor:
        """Return a context that collects one message and decrypts it once its tag is verified."""
        return AeadDecryptor(self, nonce, aad)

    def _check_nonce(self, nonce: Data) -> bytes:
        return nonce if type(nonce) is bytes and len(nonce) == _NONCE_BYTES else check_nonce(nonce)

    def _check_length(self, n: int, nonce: bytes) -> None:
        if n > LIMIT_BYTES:
            raise LimitExceeded(f"the message has {n} bytes; GCM allows 2^36 - 32 under one nonce")

    def _check_aad(self, aad: Data) -> Bytes | bytes:
        return aad if type(aad) is bytes else aead.check_aad(aad)

    def _seal(self, nonce: bytes, aad: Bytes | bytes, src: Bytes, dst: Bytes) -> bytes:
        key = self._key
        schedule = key.cipher._schedule
        if self._seal_long is not None and src.size <= self._long_bytes:
            tag = bytearray(BLOCK_BYTES)
            self._seal_long(schedule, key.table, key.pre_counter(nonce), aad, src, dst, tag)
            return bytes(tag)[: self.tag_length]
        counter, mask = key.start(nonce)
        y = zero_block()
        key.absorb(y, as_bytes(aad))
        key.cipher._kernels.gcm_encrypt(schedule, key.table, counter, y, src, dst)
        return key.tag(y, mask, len(aad), src.size)[: self.tag_length]

    def _open(
        self, nonce: bytes, aad: Bytes | bytes, src: Bytes, tag: bytes, dst: Bytes, fresh: bool
    ) -> None:
        key = self._key
        schedule = key.cipher._schedule
        if self._open_long is not None and src.size <= self._long_bytes:
            if not self._open_long(schedule, key.table, key.pre_counter(nonce), aad, src, dst, tag):
                raise InvalidTag(aead.FORGED)
            return
        counter, mask = key.start(nonce)
        y = zero_block()
        key.absorb(y, as_bytes(aad))
        key.absorb(y, src)
        aead.check_tag(key.tag(y, mask, len(aad), src.size), tag)
        key.crypt(counter, src, dst)

    def __repr__(self) -> str:
        return f"GCM({describe(self._key.cipher)}, tag_length={self.tag_length})"
