"""The field GF(2^128), bit by bit, in each of the ways that standards write it.

One field, four conventions. All reduce by x^128 + x^7 + x^2 + x + 1 or by its reversal; they
differ in which bit of the sixteen bytes is the coefficient of x^0.

=============  ===========================================  ==================================
used by        coefficient of x^0                           product
=============  ===========================================  ==================================
GHASH          most significant bit of the first byte       X . Y
POLYVAL        least significant bit of the first byte      X . Y . x^-128, polynomial reversed
CMAC OCB SIV   least significant bit of the last byte       by x only (`dbl`)
XTS            least significant bit of the first byte      by x only (`multiply_by_alpha`)
=============  ===========================================  ==================================

Cost: one multiplication is 128 steps, about 15 us. Timing: depends on the data.
"""

BLOCK = 16
ZERO_BLOCK = bytes(BLOCK)

#: SP 800-38D, 6.3: R = 11100001 || 0^120, the polynomial without x^128, read from the left.
GHASH_R = 0xE1 << 120
#: RFC 8452, 3: x^128 + x^127 + x^126 + x^121 + 1.
POLYVAL_POLYNOMIAL = (1 << 128) | (1 << 127) | (1 << 126) | (1 << 121) | 1
#: x^7 + x^2 + x + 1, where bit i of an integer is the coefficient of x^i.
LOW_TERMS = 0x87


def xor(a: bytes, b: bytes) -> bytes:
    """Byte-wise XOR, as long as the shorter argument."""
    return bytes(x ^ y for x, y in zip(a, b, strict=False))


def ghash_multiply(X: int, Y: int) -> int:
    """X . Y for blocks read as big-endian integers. Source: SP 800-38D, 6.3, algorithm 1."""
    Z, V = 0, Y
    for i in range(128):
        if (X >> (127 - i)) & 1:
            Z ^= V
        V = (V >> 1) ^ (GHASH_R if V & 1 else 0)
    return Z


def ghash(H: bytes, blocks: bytes, y: bytes = ZERO_BLOCK) -> bytes:
    """Absorb whole blocks: (...((y ^ X1) . H ^ X2) . H ...) . H.

    Parameters
    ----------
    H : 16 bytes         the hash key, in GCM the encryption of the zero block
    blocks : 16k bytes   X1 ... Xk
    y : 16 bytes         state to continue from

    Source: SP 800-38D, 6.4, algorithm 2.
    """
    h = int.from_bytes(H, "big")
    Y = int.from_bytes(y, "big")
    for i in range(0, len(blocks), BLOCK):
        Y = ghash_multiply(Y ^ int.from_bytes(blocks[i : i + BLOCK], "big"), h)
    return Y.to_bytes(BLOCK, "big")


def polyval_dot(a: int, b: int) -> int:
    """dot(a, b) = a . b . x^-128 for blocks read as little-endian integers. Source: RFC 8452, 3.

    Coefficient i of b is added before the remaining 128 - i divisions by x, so that it ends as
    a . x^(i - 128). A division by x first makes the constant coefficient zero.
    """
    z = 0
    for i in range(128):
        if (b >> i) & 1:
            z ^= a
        if z & 1:
            z ^= POLYVAL_POLYNOMIAL
        z >>= 1
    return z


def polyval(H: bytes, blocks: bytes, y: bytes = ZERO_BLOCK) -> bytes:
    """Absorb whole blocks: S_j = dot(S_(j-1) ^ X_j, H), starting from y. Source: RFC 8452, 3."""
    h = int.from_bytes(H, "little")
    S = int.from_bytes(y, "little")
    for i in range(0, len(blocks), BLOCK):
        S = polyval_dot(S ^ int.from_bytes(blocks[i : i + BLOCK], "little"), h)
    return S.to_bytes(BLOCK, "little")


def mulx_ghash(block: bytes) -> bytes:
    """Multiply by x in GHASH's convention. Source: RFC 8452, appendix A, mulX_GHASH.

    POLYVAL(H, X...) = reverse(GHASH(mulx_ghash(reverse(H)), reverse(X)...)).
    """
    V = int.from_bytes(block, "big")
    return ((V >> 1) ^ (GHASH_R if V & 1 else 0)).to_bytes(BLOCK, "big")


def dbl(block: bytes) -> bytes:
    """Multiply by x, first byte most significant. Source: RFC 5297, 2.3; RFC 7253, 2, double."""
    doubled = int.from_bytes(block, "big") << 1
    if doubled >> 128:
        doubled ^= (1 << 128) | LOW_TERMS
    return doubled.to_bytes(BLOCK, "big")


def multiply_by_alpha(tweak: bytes) -> bytes:
    """Multiply by the primitive element, first byte least significant. Source: IEEE 1619, 5.2."""
    doubled = int.from_bytes(tweak, "little") << 1
    if doubled >> 128:
        doubled ^= (1 << 128) | LOW_TERMS
    return doubled.to_bytes(BLOCK, "little")
