"""Modes of operation that hide data without protecting it, each written as in its standard.

A cipher here is any object with ``encrypt_block`` and ``decrypt_block`` on 16 bytes: a
`KeySchedule`, or AES in the tests. Data are bytes; every function returns new bytes. The modes
that also authenticate are in `authenticated`.

Sources: NIST SP 800-38A for ECB, CBC, CFB, OFB and CTR; IEEE Std 1619 for XTS; RFC 5652, 6.3, for
the padding.
"""

from collections.abc import Callable, Iterator
from typing import Literal, Protocol

from twofishkit.errors import InvalidLength, InvalidPadding
from twofishkit.reference.gf128 import BLOCK, multiply_by_alpha, xor


class BlockCipher(Protocol):
    """What a mode needs of a cipher."""

    def encrypt_block(self, plaintext: bytes, /) -> bytes:
        """CIPH_K of 16 bytes."""

    def decrypt_block(self, ciphertext: bytes, /) -> bytes:
        """The inverse of CIPH_K."""


def blocks(data: bytes) -> Iterator[bytes]:
    """The 16-byte blocks of data, the last one shorter if it must be."""
    for i in range(0, len(data), BLOCK):
        yield data[i : i + BLOCK]


def whole_blocks(data: bytes) -> Iterator[bytes]:
    """The blocks of data. Raises InvalidLength unless all are whole."""
    if len(data) % BLOCK:
        raise InvalidLength(f"this mode takes a multiple of {BLOCK} bytes, not {len(data)}")
    return blocks(data)


# --- ECB: SP 800-38A, 6.1 ------------------------------------------------------------------------


def ecb_encrypt(cipher: BlockCipher, plaintext: bytes) -> bytes:
    """C_j = E(P_j). Raises InvalidLength unless all blocks are whole."""
    return b"".join(cipher.encrypt_block(P) for P in whole_blocks(plaintext))


def ecb_decrypt(cipher: BlockCipher, ciphertext: bytes) -> bytes:
    """P_j = D(C_j). Raises InvalidLength unless all blocks are whole."""
    return b"".join(cipher.decrypt_block(C) for C in whole_blocks(ciphertext))


# --- CBC: SP 800-38A, 6.2 ------------------------------------------------------------------------


def cbc_encrypt(cipher: BlockCipher, iv: bytes, plaintext: bytes) -> bytes:
    """C_j = E(P_j ^ C_(j-1)), C_0 = iv. Raises InvalidLength unless all blocks are whole."""
    ciphertext, previous = [], iv
    for P in whole_blocks(plaintext):
        previous = cipher.encrypt_block(xor(P, previous))
        ciphertext.append(previous)
    return b"".join(ciphertext)


def cbc_decrypt(cipher: BlockCipher, iv: bytes, ciphertext: bytes) -> bytes:
    """P_j = D(C_j) ^ C_(j-1), C_0 = iv. Raises InvalidLength unless all blocks are whole."""
    plaintext, previous = [], iv
    for C in whole_blocks(ciphertext):
        plaintext.append(xor(cipher.decrypt_block(C), previous))
        previous = C
    return b"".join(plaintext)


# --- CFB: SP 800-38A, 6.3, with segments of s = 128 and of s = 8 bits ----------------------------


def cfb_encrypt(cipher: BlockCipher, iv: bytes, plaintext: bytes) -> bytes:
    """C_j = P_j ^ E(C_(j-1)), C_0 = iv; a last block of fewer bytes uses the first of them."""
    ciphertext, previous = [], iv
    for P in blocks(plaintext):
        previous = xor(P, cipher.encrypt_block(previous))
        ciphertext.append(previous)
    return b"".join(ciphertext)


def cfb_decrypt(cipher: BlockCipher, iv: bytes, ciphertext: bytes) -> bytes:
    """P_j = C_j ^ E(C_(j-1)), C_0 = iv."""
    plaintext, previous = [], iv
    for C in blocks(ciphertext):
        plaintext.append(xor(C, cipher.encrypt_block(previous)))
        previous = C
    return b"".join(plaintext)


def cfb8_encrypt(cipher: BlockCipher, iv: bytes, plaintext: bytes) -> bytes:
    """C_j = P_j ^ MSB_8(E(I_j)), I_(j+1) = LSB_120(I_j) || C_j, one byte at a time."""
    ciphertext, register = bytearray(), iv
    for byte in plaintext:
        ciphertext.append(byte ^ cipher.encrypt_block(register)[0])
        register = register[1:] + ciphertext[-1:]
    return bytes(ciphertext)


def cfb8_decrypt(cipher: BlockCipher, iv: bytes, ciphertext: bytes) -> bytes:
    """P_j = C_j ^ MSB_8(E(I_j)), I_(j+1) = LSB_120(I_j) || C_j."""
    plaintext, register = bytearray(), iv
    for byte in ciphertext:
        plaintext.append(byte ^ cipher.encrypt_block(register)[0])
        register = register[1:] + bytes([byte])
    return bytes(plaintext)


# --- OFB: SP 800-38A, 6.4 ------------------------------------------------------------------------


def ofb(cipher: BlockCipher, iv: bytes, data: bytes) -> bytes:
    """C_j = P_j ^ O_j, O_j = E(O_(j-1)), O_0 = iv; decryption is the same function."""
    result, output = [], iv
    for block in blocks(data):
        output = cipher.encrypt_block(output)
        result.append(xor(block, output))
    return b"".join(result)


# --- CTR: SP 800-38A, 6.5 and B.1 ----------------------------------------------------------------


def next_counter(
    counter: bytes, counter_bits: int = 128, byteorder: Literal["big", "little"] = "big"
) -> bytes:
    """The standard incrementing function on ``counter_bits`` of the block, modulo 2^counter_bits.

    The bits that count are the last bytes of the block when the order is big-endian, and the first
    bytes when it is little-endian; all others stay as they are.
    """
    width = counter_bits // 8
    if byteorder == "big":
        fixed, field = counter[: BLOCK - width], counter[BLOCK - width :]
    else:
        field, fixed = counter[:width], counter[width:]
    value = (int.from_bytes(field, byteorder) + 1) % (1 << counter_bits)
    field = value.to_bytes(width, byteorder)
    return fixed + field if byteorder == "big" else field + fixed


def ctr(
    cipher: BlockCipher,
    counter: bytes,
    data: bytes,
    counter_bits: int = 128,
    byteorder: Literal["big", "little"] = "big",
) -> bytes:
    """C_j = P_j ^ E(T_j), T_1 = counter, T_(j+1) = next_counter(T_j); both directions."""
    result = []
    for block in blocks(data):
        result.append(xor(block, cipher.encrypt_block(counter)))
        counter = next_counter(counter, counter_bits, byteorder)
    return b"".join(result)


# --- XTS: IEEE Std 1619, 5.3 and 5.4 -------------------------------------------------------------


def xts_encrypt(data_cipher: BlockCipher, tweak_cipher: BlockCipher, tweak: bytes, plaintext: bytes) -> bytes:
    """C_j = E1(P_j ^ T_j) ^ T_j, T_j = E2(tweak) . alpha^j; ciphertext stealing at the end.

    Parameters
    ----------
    tweak : 16 bytes, for disks the sector number with its least significant byte first
    plaintext : one data unit, at least 16 bytes

    Raises InvalidLength for less than one block. Source: IEEE Std 1619, 5.3.2.
    """
    return _xts(data_cipher.encrypt_block, tweak_cipher, tweak, plaintext, decrypting=False)


def xts_decrypt(
    data_cipher: BlockCipher, tweak_cipher: BlockCipher, tweak: bytes, ciphertext: bytes
) -> bytes:
    """P_j = D1(C_j ^ T_j) ^ T_j; the inverse of `xts_encrypt`. Source: IEEE Std 1619, 5.4.2."""
    return _xts(data_cipher.decrypt_block, tweak_cipher, tweak, ciphertext, decrypting=True)


def _xts(
    permute: Callable[[bytes], bytes],
    tweak_cipher: BlockCipher,
    tweak: bytes,
    data: bytes,
    *,
    decrypting: bool,
) -> bytes:
    if len(data) < BLOCK:
        raise InvalidLength(f"XTS takes at least {BLOCK} bytes, not {len(data)}")
    T = tweak_cipher.encrypt_block(tweak)
    tail = len(data) % BLOCK
    # With a tail, the last whole block takes part in the stealing.
    plain_end = len(data) - tail - (BLOCK if tail else 0)
    result = []
    for block in blocks(data[:plain_end]):
        result.append(xor(permute(xor(block, T)), T))
        T = multiply_by_alpha(T)
    if tail:
        # T_(m-1) and T_m; decryption meets them in the other order (5.4.2, step 4).
        first, second = T, multiply_by_alpha(T)
        if decrypting:
            first, second = second, first
        last_whole, partial = data[plain_end : plain_end + BLOCK], data[plain_end + BLOCK :]
        stolen = xor(permute(xor(last_whole, first)), first)
        filled = partial + stolen[tail:]
        result += [xor(permute(xor(filled, second)), second), stolen[:tail]]
    return b"".join(result)


# --- PKCS #7 padding: RFC 5652, 6.3 --------------------------------------------------------------


def pkcs7_pad(data: bytes) -> bytes:
    """Append n bytes of value n, 1 <= n <= 16, up to a multiple of 16."""
    n = BLOCK - len(data) % BLOCK
    return data + bytes([n]) * n


def pkcs7_unpad(padded: bytes) -> bytes:
    """Take the padding off again. Raises InvalidPadding if it is not PKCS #7."""
    n = padded[-1] if padded else 0
    if len(padded) % BLOCK or not 1 <= n <= BLOCK or padded[-n:] != bytes([n]) * n:
        raise InvalidPadding("the data does not end in PKCS #7 padding")
    return padded[:-n]
