"""Modes that authenticate, each written as in its standard: CMAC GMAC GCM CCM EAX OCB SIV.

Encryption returns (ciphertext, tag); decryption takes both and raises InvalidTag before it gives
out anything. A cipher is any object with ``encrypt_block`` and ``decrypt_block``, as in `modes`.
"""

import hmac
from collections.abc import Sequence

from twofishkit.errors import InvalidLength, InvalidNonce, InvalidParameter, InvalidTag
from twofishkit.reference.gf128 import BLOCK, ZERO_BLOCK, dbl, ghash, xor
from twofishkit.reference.modes import BlockCipher, blocks, ctr, next_counter


def verify(expected: bytes, tag: bytes) -> None:
    """Raises InvalidTag unless the two are equal."""
    if not hmac.compare_digest(expected, tag):
        raise InvalidTag("the tag does not match: wrong key, nonce or associated data, or altered data")


def zero_padded(data: bytes) -> bytes:
    """Data followed by the fewest zero bytes that complete its last block."""
    return data + bytes(-len(data) % BLOCK)


def one_padded(data: bytes) -> bytes:
    """Data of less than one block followed by the bit 1 and zeros: 10* padding."""
    return (data + b"\x80").ljust(BLOCK, b"\0")


def _check_tag_length(tag_length: int, allowed: Sequence[int]) -> None:
    if tag_length not in allowed:
        raise InvalidParameter(f"a tag of {tag_length} bytes is not one of {list(allowed)}")


# --- CMAC: NIST SP 800-38B -----------------------------------------------------------------------


def cmac(cipher: BlockCipher, message: bytes) -> bytes:
    """CMAC with a tag of 16 bytes. Source: SP 800-38B, 6.1 (subkeys) and 6.2."""
    K1 = dbl(cipher.encrypt_block(ZERO_BLOCK))
    K2 = dbl(K1)
    split = max(0, (len(message) - 1) // BLOCK * BLOCK)
    head, last = message[:split], message[split:]
    last = xor(last, K1) if len(last) == BLOCK else xor(one_padded(last), K2)
    C = ZERO_BLOCK
    for block in blocks(head + last):
        C = cipher.encrypt_block(xor(C, block))
    return C


# --- GCM and GMAC: NIST SP 800-38D ---------------------------------------------------------------

GCM_TAG_LENGTHS = range(12, 17)
GCM_MAX_BYTES = 2**36 - 32


def gcm_j0(H: bytes, nonce: bytes) -> bytes:
    """The pre-counter block J0. Raises InvalidNonce if empty. Source: SP 800-38D, 7.1, step 2."""
    if not nonce:
        raise InvalidNonce("a GCM nonce has at least 1 byte; an empty one would reveal H")
    if len(nonce) == 12:
        return nonce + b"\0\0\0\1"
    return ghash(H, zero_padded(nonce) + bytes(8) + (8 * len(nonce)).to_bytes(8, "big"))


def _gcm_tag(cipher: BlockCipher, nonce: bytes, ciphertext: bytes, aad: bytes) -> tuple[bytes, bytes]:
    """(full tag, J0). Source: SP 800-38D, 7.1, steps 4 to 6."""
    H = cipher.encrypt_block(ZERO_BLOCK)
    J0 = gcm_j0(H, nonce)
    lengths = (8 * len(aad)).to_bytes(8, "big") + (8 * len(ciphertext)).to_bytes(8, "big")
    S = ghash(H, zero_padded(aad) + zero_padded(ciphertext) + lengths)
    return ctr(cipher, J0, S, counter_bits=32), J0


def gcm_encrypt(
    cipher: BlockCipher, nonce: bytes, plaintext: bytes, aad: bytes = b"", tag_length: int = 16
) -> tuple[bytes, bytes]:
    """(ciphertext, tag). Source: SP 800-38D, 7.1, algorithm 4."""
    _check_tag_length(tag_length, GCM_TAG_LENGTHS)
    if len(plaintext) > GCM_MAX_BYTES:
        raise InvalidLength(f"GCM takes at most {GCM_MAX_BYTES} bytes, not {len(plaintext)}")
    J0 = gcm_j0(cipher.encrypt_block(ZERO_BLOCK), nonce)
    ciphertext = ctr(cipher, next_counter(J0, 32), plaintext, counter_bits=32)
    tag, _ = _gcm_tag(cipher, nonce, ciphertext, aad)
    return ciphertext, tag[:tag_length]


def gcm_decrypt(
    cipher: BlockCipher, nonce: bytes, ciphertext: bytes, tag: bytes, aad: bytes = b"", tag_length: int = 16
) -> bytes:
    """The plaintext. Raises InvalidTag. Source: SP 800-38D, 7.2, algorithm 5."""
    _check_tag_length(tag_length, GCM_TAG_LENGTHS)
    expected, J0 = _gcm_tag(cipher, nonce, ciphertext, aad)
    verify(expected[:tag_length], tag)
    return ctr(cipher, next_counter(J0, 32), ciphertext, counter_bits=32)


def gmac(cipher: BlockCipher, nonce: bytes, message: bytes, tag_length: int = 16) -> bytes:
    """The tag of GCM over associated data alone. Source: SP 800-38D, 3."""
    return gcm_encrypt(cipher, nonce, b"", message, tag_length)[1]


# --- CCM: NIST SP 800-38C ------------------------------------------------------------------------

CCM_TAG_LENGTHS = range(4, 17, 2)


def _ccm_aad(aad: bytes) -> bytes:
    """Associated data after its own length, padded. Source: SP 800-38C, A.2.2."""
    a = len(aad)
    if a == 0:
        return b""
    if a < 2**16 - 2**8:
        encoded = a.to_bytes(2, "big")
    elif a < 2**32:
        encoded = b"\xff\xfe" + a.to_bytes(4, "big")
    else:
        encoded = b"\xff\xff" + a.to_bytes(8, "big")
    return zero_padded(encoded + aad)


def _ccm(
    cipher: BlockCipher, nonce: bytes, plaintext: bytes, aad: bytes, tag_length: int
) -> tuple[bytes, bytes]:
    """(T before encryption, Ctr_0). Source: SP 800-38C, 6.1, steps 1 to 5; A.2.1; A.3."""
    q = 15 - len(nonce)
    flags = 64 * bool(aad) + 8 * ((tag_length - 2) // 2) + (q - 1)
    B0 = bytes([flags]) + nonce + len(plaintext).to_bytes(q, "big")
    Y = ZERO_BLOCK
    for B in blocks(B0 + _ccm_aad(aad) + zero_padded(plaintext)):
        Y = cipher.encrypt_block(xor(B, Y))
    return Y[:tag_length], bytes([q - 1]) + nonce + bytes(q)


def _check_ccm(nonce: bytes, length: int, tag_length: int) -> None:
    _check_tag_length(tag_length, CCM_TAG_LENGTHS)
    if not 7 <= len(nonce) <= 13:
        raise InvalidNonce(f"a CCM nonce is 7 to 13 bytes, not {len(nonce)}")
    if length >= 1 << (8 * (15 - len(nonce))):
        raise InvalidLength(f"{length} bytes do not fit the length field beside a {len(nonce)}-byte nonce")


def ccm_encrypt(
    cipher: BlockCipher, nonce: bytes, plaintext: bytes, aad: bytes = b"", tag_length: int = 16
) -> tuple[bytes, bytes]:
    """(ciphertext, tag). Source: SP 800-38C, 6.1."""
    _check_ccm(nonce, len(plaintext), tag_length)
    T, ctr0 = _ccm(cipher, nonce, plaintext, aad, tag_length)
    # The counter field is q bytes wide; a permitted message never carries out of it.
    return ctr(cipher, next_counter(ctr0), plaintext), xor(T, cipher.encrypt_block(ctr0))


def ccm_decrypt(
    cipher: BlockCipher, nonce: bytes, ciphertext: bytes, tag: bytes, aad: bytes = b"", tag_length: int = 16
) -> bytes:
    """The plaintext. Raises InvalidTag. Source: SP 800-38C, 6.2."""
    _check_ccm(nonce, len(ciphertext), tag_length)
    ctr0 = bytes([15 - len(nonce) - 1]) + nonce + bytes(15 - len(nonce))
    plaintext = ctr(cipher, next_counter(ctr0), ciphertext)
    T, _ = _ccm(cipher, nonce, plaintext, aad, tag_length)
    verify(xor(T, cipher.encrypt_block(ctr0)), tag)
    return plaintext


# --- EAX: Bellare, Rogaway, Wagner, "The EAX Mode of Operation", 2004, section 3 -----------------

EAX_TAG_LENGTHS = range(8, 17)


def _omac(cipher: BlockCipher, t: int, message: bytes) -> bytes:
    """OMAC^t(message) = CMAC([t] || message), [t] a whole block. Source: figure 4."""
    return cmac(cipher, t.to_bytes(BLOCK, "big") + message)


def _eax_tag(cipher: BlockCipher, N: bytes, ciphertext: bytes, aad: bytes) -> bytes:
    return xor(xor(N, _omac(cipher, 2, ciphertext)), _omac(cipher, 1, aad))


def eax_encrypt(
    cipher: BlockCipher, nonce: bytes, plaintext: bytes, aad: bytes = b"", tag_length: int = 16
) -> tuple[bytes, bytes]:
    """(ciphertext, tag), for a nonce of any length, also empty. Source: figure 4, EAX.Encrypt."""
    _check_tag_length(tag_length, EAX_TAG_LENGTHS)
    N = _omac(cipher, 0, nonce)
    ciphertext = ctr(cipher, N, plaintext)
    return ciphertext, _eax_tag(cipher, N, ciphertext, aad)[:tag_length]


def eax_decrypt(
    cipher: BlockCipher, nonce: bytes, ciphertext: bytes, tag: bytes, aad: bytes = b"", tag_length: int = 16
) -> bytes:
    """The plaintext. Raises InvalidTag. Source: figure 4, EAX.Decrypt."""
    _check_tag_length(tag_length, EAX_TAG_LENGTHS)
    N = _omac(cipher, 0, nonce)
    verify(_eax_tag(cipher, N, ciphertext, aad)[:tag_length], tag)
    return ctr(cipher, N, ciphertext)


# --- OCB3: RFC 7253 ------------------------------------------------------------------------------

OCB_TAG_LENGTHS = range(8, 17)


def ntz(i: int) -> int:
    """Number of trailing zero bits of i > 0. Source: RFC 7253, 2."""
    return (i & -i).bit_length() - 1


class _OcbTables:
    """L_*, L_$ and L_0, L_1, ... of a key. Source: RFC 7253, 4.1, key-dependent variables."""

    def __init__(self, cipher: BlockCipher) -> None:
        self.star = cipher.encrypt_block(ZERO_BLOCK)
        self.dollar = dbl(self.star)
        self._L = [dbl(self.dollar)]

    def L(self, i: int) -> bytes:
        while len(self._L) <= i:
            self._L.append(dbl(self._L[-1]))
        return self._L[i]


def _ocb_hash(cipher: BlockCipher, tables: _OcbTables, aad: bytes) -> bytes:
    """HASH(K, A). Source: RFC 7253, 4.1."""
    total, offset = ZERO_BLOCK, ZERO_BLOCK
    for i, A in enumerate(blocks(aad), 1):
        if len(A) == BLOCK:
            offset = xor(offset, tables.L(ntz(i)))
        else:
            offset, A = xor(offset, tables.star), one_padded(A)
        total = xor(total, cipher.encrypt_block(xor(A, offset)))
    return total


def _ocb_first_offset(cipher: BlockCipher, nonce: bytes, tag_length: int) -> bytes:
    """Offset_0. Source: RFC 7253, 4.2, nonce-dependent and per-encryption variables."""
    if not 1 <= len(nonce) <= 15:
        raise InvalidNonce(f"an OCB nonce is 1 to 15 bytes, not {len(nonce)}")
    value = int.from_bytes(nonce, "big")
    value |= 1 << (8 * len(nonce))
    value |= (8 * tag_length % 128) << 121
    bottom = value % 64
    Ktop = cipher.encrypt_block((value - bottom).to_bytes(BLOCK, "big"))
    stretch = int.from_bytes(Ktop + xor(Ktop[:8], Ktop[1:9]), "big")
    return ((stretch >> (64 - bottom)) % (1 << 128)).to_bytes(BLOCK, "big")


def _ocb(
    cipher: BlockCipher, nonce: bytes, data: bytes, aad: bytes, tag_length: int, *, decrypting: bool
) -> tuple[bytes, bytes]:
    """(result, tag). The checksum runs over the plaintext. Source: RFC 7253, 4.2 and 4.3."""
    _check_tag_length(tag_length, OCB_TAG_LENGTHS)
    tables = _OcbTables(cipher)
    offset = _ocb_first_offset(cipher, nonce, tag_length)
    checksum = ZERO_BLOCK
    result = []
    for i, block in enumerate(blocks(data), 1):
        if len(block) == BLOCK:
            offset = xor(offset, tables.L(ntz(i)))
            permute = cipher.decrypt_block if decrypting else cipher.encrypt_block
            out = xor(permute(xor(block, offset)), offset)
            P = out if decrypting else block
        else:
            offset = xor(offset, tables.star)
            out = xor(block, cipher.encrypt_block(offset))
            P = one_padded(out if decrypting else block)
        checksum = xor(checksum, P)
        result.append(out)
    tag = cipher.encrypt_block(xor(xor(checksum, offset), tables.dollar))
    return b"".join(result), xor(tag, _ocb_hash(cipher, tables, aad))[:tag_length]


def ocb_encrypt(
    cipher: BlockCipher, nonce: bytes, plaintext: bytes, aad: bytes = b"", tag_length: int = 16
) -> tuple[bytes, bytes]:
    """(ciphertext, tag). Source: RFC 7253, 4.2, OCB-ENCRYPT."""
    return _ocb(cipher, nonce, plaintext, aad, tag_length, decrypting=False)


def ocb_decrypt(
    cipher: BlockCipher, nonce: bytes, ciphertext: bytes, tag: bytes, aad: bytes = b"", tag_length: int = 16
) -> bytes:
    """The plaintext. Raises InvalidTag. Source: RFC 7253, 4.3, OCB-DECRYPT."""
    plaintext, expected = _ocb(cipher, nonce, ciphertext, aad, tag_length, decrypting=True)
    verify(expected, tag)
    return plaintext


# --- SIV: RFC 5297 -------------------------------------------------------------------------------


def s2v(cipher: BlockCipher, strings: Sequence[bytes]) -> bytes:
    """S2V(K, S_1, ..., S_n). Source: RFC 5297, 2.4."""
    if not strings:
        return cmac(cipher, bytes(15) + b"\1")
    D = cmac(cipher, ZERO_BLOCK)
    for S in strings[:-1]:
        D = xor(dbl(D), cmac(cipher, S))
    last = strings[-1]
    if len(last) >= BLOCK:
        return cmac(cipher, last[:-BLOCK] + xor(last[-BLOCK:], D))
    return cmac(cipher, xor(dbl(D), one_padded(last)))


def _siv_ctr(cipher: BlockCipher, V: bytes, data: bytes) -> bytes:
    """CTR from V without its bits 31 and 63, so that 32-bit counters cannot wrap. Source: 2.5."""
    Q = int.from_bytes(V, "big") & ~((1 << 63) | (1 << 31))
    return ctr(cipher, Q.to_bytes(BLOCK, "big"), data)


def siv_encrypt(
    mac_cipher: BlockCipher, ctr_cipher: BlockCipher, plaintext: bytes, associated: Sequence[bytes] = ()
) -> tuple[bytes, bytes]:
    """(ciphertext, synthetic IV); a nonce is the last string of ``associated``. Source: 2.6, 3."""
    V = s2v(mac_cipher, [*associated, plaintext])
    return _siv_ctr(ctr_cipher, V, plaintext), V


def siv_decrypt(
    mac_cipher: BlockCipher,
    ctr_cipher: BlockCipher,
    ciphertext: bytes,
    tag: bytes,
    associated: Sequence[bytes] = (),
) -> bytes:
    """The plaintext. Raises InvalidTag. Source: RFC 5297, 2.7."""
    if len(tag) != BLOCK:
        raise InvalidTag(f"a SIV tag is {BLOCK} bytes, not {len(tag)}")
    plaintext = _siv_ctr(ctr_cipher, tag, ciphertext)
    verify(s2v(mac_cipher, [*associated, plaintext]), tag)
    return plaintext
