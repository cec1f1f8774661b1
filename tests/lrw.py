"""LRW, for vectors and files only: twofishkit has no LRW, since XTS replaced it.

C_j = E(P_j ^ T_j) ^ T_j with T_j = K2 . (first + j) in GF(2^128), where the last bit of the sixteen
bytes is the coefficient of x^0 and the polynomial is x^128 + x^7 + x^2 + x + 1.

Source: Liskov, Rivest, Wagner, "Tweakable Block Ciphers", 2002; IEEE P1619 draft of 2004.
"""

import numpy as np

import twofishkit as tk


def product(a: int, b: int) -> int:
    result = 0
    for bit in reversed(range(128)):
        result <<= 1
        if result >> 128:
            result ^= (1 << 128) | 0x87
        if (b >> bit) & 1:
            result ^= a
    return result


def lrw(key: bytes, first_index: bytes, data: bytes, *, decrypting: bool) -> bytes:
    """Cipher key followed by a 16-byte tweak key; the index of the first block, big-endian."""
    cipher, tweak_key = tk.Twofish(key[:-16]), int.from_bytes(key[-16:], "big")
    first = int.from_bytes(first_index, "big")
    masks = b"".join(
        product(tweak_key, (first + j) % 2**128).to_bytes(16, "big") for j in range(len(data) // 16)
    )
    T = np.frombuffer(masks, np.uint8).reshape(-1, 16)
    blocks = np.frombuffer(data, np.uint8).reshape(-1, 16) ^ T
    result = cipher.decrypt_blocks(blocks) if decrypting else cipher.encrypt_blocks(blocks)
    return (result ^ T).tobytes()
