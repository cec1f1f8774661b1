"""The `permute` kernels for up to 16 blocks, and so for the serial modes: short latency first.

Two registers hold two, four or eight blocks: X = (A ..., B ...) and Y = (C ..., D ...). Each S-box is looked
up with its bytes of A and B repeated for the rows of MDS; each repetition is multiplied by its own row
(one affine instruction, whose matrix may differ from quadword to quadword), the four columns are
added, and a byte permute puts the rows together to words.

Up to four blocks take 32-byte vectors. One or two have all their words in each 16-byte block, so that a byte
shuffle (2 cycles) serves where else it takes a byte permute (4). The chain of a round is byte shuffle 2,
look-up 5, blend 1, affine 3, sum 1, byte permute 4, PHT 2, rotation and XOR 2 cycles, and eight look-ups
queue for the one port that does 64-byte permutes: 27 cycles, 35 are reached. Up to sixteen blocks take
64-byte vectors, two times eight interleaved: about 60 cycles a round.

Timing: constant.
"""

import numpy as np

from twofishkit.kernels.jit import inline
from twofishkit.kernels.permute_schedule import PAIRS, TABLES, multiplier
from twofishkit.kernels.words import opaque
from twofishkit.simd import vectors as v
from twofishkit.simd.x86 import gf2p8affineqb, vpermb, vpermi2b

#: The most blocks that `few` takes.
FEW = 16

_COLUMNS = (
    (0x01, 0x5B, 0xEF, 0xEF),
    (0xEF, 0xEF, 0x5B, 0x01),
    (0x5B, 0xEF, 0x01, 0xEF),
    (0x5B, 0x01, 0xEF, 0x5B),
)


def _patterns(n):
    """Byte patterns for n blocks (4 or 8) in vectors of 8 n bytes, one row for each use.

    Rows 0-3: for each S-box j, bytes j of A and j - 1 of B (which g takes rotated by 8), four times.
    Rows 4-7: the matrices of column j of MDS. Rows 8, 9: the words of g(A) and g(B) in the rows, twice.
    Rows 10, 11: 1 in each word of the first half, and in each of the second: shift counts.
    """
    blocks = range(n)
    index = [
        4 * ([4 * b + j for b in blocks] + [4 * (n + b) + (j + 3) % 4 for b in blocks]) for j in range(4)
    ]
    column = [[byte for constant in _COLUMNS[j] for byte in n // 4 * multiplier(constant)] for j in range(4)]
    t0 = 2 * [2 * n * row + b for b in blocks for row in range(4)]
    counts = [n * [1, 0, 0, 0] + 4 * n * [0], 4 * n * [0] + n * [1, 0, 0, 0]]
    return np.array([*index, *column, t0, [i + n for i in t0], *counts], np.uint8).ravel()


def _patterns_of_2():
    """The same for one or two blocks, whose words A, A', B, B' are in each 16-byte block."""
    index = [8 * [j, 4 + j, 8 + (j + 3) % 4, 12 + (j + 3) % 4] for j in range(4)]
    column = [[byte for constant in _COLUMNS[j] for byte in multiplier(constant)] for j in range(4)]
    t0 = 4 * [8 * row + block for block in range(2) for row in range(4)]
    counts = [2 * (2 * [1, 0, 0, 0] + 8 * [0]), 2 * (8 * [0] + 2 * [1, 0, 0, 0])]
    return np.array([*index, *column, t0, [i + 2 for i in t0], *counts], np.uint8).ravel()


PATTERNS_2, PATTERNS_4, PATTERNS_8 = _patterns_of_2(), _patterns(4), _patterns(8)
A_AND_B, C_AND_D = v.lanes(0, 4, 1, 5), v.lanes(2, 6, 3, 7)
FIRST_BLOCK, SECOND_BLOCK = v.lanes(0, 2, 4, 6), v.lanes(1, 3, 5, 7)
X_OF_4, Y_OF_4 = v.lanes(0, 4, 8, 12, 1, 5, 9, 13), v.lanes(2, 6, 10, 14, 3, 7, 11, 15)
X_OF_8 = v.lanes(*(4 * block + word for word in (0, 1) for block in range(8)))
Y_OF_8 = v.lanes(*(4 * block + word for word in (2, 3) for block in range(8)))
ALL_OF_4 = v.lanes(*(block + 4 * word for block in range(4) for word in range(4)))
LOW_OF_8 = v.lanes(*(block + 8 * word for block in range(4) for word in range(4)))
HIGH_OF_8 = v.lanes(*(block + 8 * word for block in range(4, 8) for word in range(4)))


@inline
def _look_up_column(T, schedule, patterns, x, j, in_blocks):
    """Column j of MDS times S-box j, for the A and B of all blocks; the four rows follow each other."""
    size, at = v.n_bytes(T), TABLES + 256 * j
    pattern = v.load(T, patterns, size * j)
    index = v.lookup16(x, pattern) if in_blocks else vpermb(x, pattern)
    wide = v.resize(v.u8x64, index)
    low = vpermi2b(v.load(v.u8x64, schedule, at), wide, v.load(v.u8x64, schedule, at + 64))
    high = vpermi2b(v.load(v.u8x64, schedule, at + 128), wide, v.load(v.u8x64, schedule, at + 192))
    # Only the look-ups need 64-byte vectors; everything else costs half in shorter ones.
    y = v.select(v.negative(index), v.resize(T, high), v.resize(T, low))
    return gf2p8affineqb(y, v.load(T, patterns, size * (4 + j)))


@inline
def _round(T, schedule, patterns, x, y, subkeys, decrypting, in_blocks):
    """One round: the new value of y. ``subkeys`` are the round's two, as they lie in y.

    ``in_blocks``: whether each 16-byte block of x has all its words.
    """
    size = v.n_bytes(T)
    octets = v.as_u8(x)
    z = (
        _look_up_column(T, schedule, patterns, octets, 0, in_blocks)
        ^ _look_up_column(T, schedule, patterns, octets, 1, in_blocks)
        ^ _look_up_column(T, schedule, patterns, octets, 2, in_blocks)
        ^ _look_up_column(T, schedule, patterns, octets, 3, in_blocks)
    )
    t0 = v.as_u32(vpermb(z, v.load(T, patterns, 8 * size)))
    t1 = v.as_u32(vpermb(z, v.load(T, patterns, 9 * size)))
    # Shifts by lane, because a select by constant lanes would become a lane-crossing shuffle.
    in_c, in_d = v.as_u32(v.load(T, patterns, 10 * size)), v.as_u32(v.load(T, patterns, 11 * size))
    f, g = t0 + subkeys, t1 << in_d
    before, after = (in_c, in_d) if decrypting else (in_d, in_c)
    # f + g rotated right where ``after`` is 1. A rotation takes 2 cycles; but the lowest bit of a sum needs
    # no carry, so it can move to the top while the others are added.
    top = ((f ^ g) & after) << 31
    return ((f + g) >> after) ^ top ^ v.rotr(v.rotl(y, before), after)


@inline
def _pair(T, schedule, i):
    """K[2i] over the first half of a vector, K[2i + 1] over the second."""
    return v.as_u32(v.load(T, schedule, PAIRS + 64 * i + 32 - (v.n_bytes(T) >> 1)))


@inline
def _pair_of_2(schedule, i):
    """K[2i] over the first half of each 16-byte block, K[2i + 1] over the second."""
    return v.repeat(v.u32x8, v.load(v.u32x4, schedule, PAIRS + 64 * i + 24))


@inline
def _round_of_2(schedule, x, y, i, decrypting):
    """One round, with the keys K[2i] and K[2i + 1], of one or two blocks.

    Tables are loaded anew: LLVM would load all of them before the first round, and spill them.
    """
    keys = _pair_of_2(schedule, i)
    return _round(v.u8x32, opaque(schedule), PATTERNS_2, x, y, keys, decrypting, True)


@inline
def _four_rounds(schedule, x, y, r, decrypting):
    """Rounds r to r + 3 of one or two blocks, or the same backwards."""
    if decrypting:
        x = _round_of_2(schedule, y, x, r + 7, True)
        y = _round_of_2(schedule, x, y, r + 6, True)
        x = _round_of_2(schedule, y, x, r + 5, True)
        y = _round_of_2(schedule, x, y, r + 4, True)
    else:
        y = _round_of_2(schedule, x, y, r + 4, False)
        x = _round_of_2(schedule, y, x, r + 5, False)
        y = _round_of_2(schedule, x, y, r + 6, False)
        x = _round_of_2(schedule, y, x, r + 7, False)
    return x, y


@inline
def _rounds_of_2(schedule, x, y, decrypting):
    """Whitening and 16 rounds of one or two blocks.

    Unrolled: a mispredicted end of a loop would keep the next block's key loads from starting early.
    """
    if decrypting:
        x, y = y ^ _pair_of_2(schedule, 3), x ^ _pair_of_2(schedule, 2)
        x, y = _four_rounds(schedule, x, y, 12, True)
        x, y = _four_rounds(schedule, x, y, 8, True)
        x, y = _four_rounds(schedule, x, y, 4, True)
        x, y = _four_rounds(schedule, x, y, 0, True)
        return x ^ _pair_of_2(schedule, 0), y ^ _pair_of_2(schedule, 1)
    x, y = x ^ _pair_of_2(schedule, 0), y ^ _pair_of_2(schedule, 1)
    x, y = _four_rounds(schedule, x, y, 0, False)
    x, y = _four_rounds(schedule, x, y, 4, False)
    x, y = _four_rounds(schedule, x, y, 8, False)
    x, y = _four_rounds(schedule, x, y, 12, False)
    return y ^ _pair_of_2(schedule, 2), x ^ _pair_of_2(schedule, 3)


@inline
def _rounds(T, schedule, patterns, x, y, decrypting):
    """Whitening and 16 rounds of the blocks in two registers."""
    if decrypting:
        x, y = y ^ _pair(T, schedule, 3), x ^ _pair(T, schedule, 2)
        for r in range(opaque(15), 0, -2):
            x = _round(T, schedule, patterns, y, x, _pair(T, schedule, 4 + r), True, False)
            y = _round(T, schedule, patterns, x, y, _pair(T, schedule, 3 + r), True, False)
        return x ^ _pair(T, schedule, 0), y ^ _pair(T, schedule, 1)
    x, y = x ^ _pair(T, schedule, 0), y ^ _pair(T, schedule, 1)
    for r in range(0, opaque(16), 2):
        y = _round(T, schedule, patterns, x, y, _pair(T, schedule, 4 + r), False, False)
        x = _round(T, schedule, patterns, y, x, _pair(T, schedule, 5 + r), False, False)
    return y ^ _pair(T, schedule, 2), x ^ _pair(T, schedule, 3)


@inline
def _rounds_of_two(T, schedule, patterns, x, y, u, w, decrypting):
    """`_rounds` of (x, y) and (u, w), interleaved to hide latency."""
    if decrypting:
        x, y = y ^ _pair(T, schedule, 3), x ^ _pair(T, schedule, 2)
        u, w = w ^ _pair(T, schedule, 3), u ^ _pair(T, schedule, 2)
        for r in range(15, 0, -2):
            x = _round(T, schedule, patterns, y, x, _pair(T, schedule, 4 + r), True, False)
            u = _round(T, schedule, patterns, w, u, _pair(T, schedule, 4 + r), True, False)
            y = _round(T, schedule, patterns, x, y, _pair(T, schedule, 3 + r), True, False)
            w = _round(T, schedule, patterns, u, w, _pair(T, schedule, 3 + r), True, False)
        k0, k1 = _pair(T, schedule, 0), _pair(T, schedule, 1)
        return x ^ k0, y ^ k1, u ^ k0, w ^ k1
    x, y = x ^ _pair(T, schedule, 0), y ^ _pair(T, schedule, 1)
    u, w = u ^ _pair(T, schedule, 0), w ^ _pair(T, schedule, 1)
    for r in range(0, 16, 2):
        y = _round(T, schedule, patterns, x, y, _pair(T, schedule, 4 + r), False, False)
        w = _round(T, schedule, patterns, u, w, _pair(T, schedule, 4 + r), False, False)
        x = _round(T, schedule, patterns, y, x, _pair(T, schedule, 5 + r), False, False)
        u = _round(T, schedule, patterns, w, u, _pair(T, schedule, 5 + r), False, False)
    k2, k3 = _pair(T, schedule, 2), _pair(T, schedule, 3)
    return y ^ k2, x ^ k3, w ^ k2, u ^ k3


@inline
def _lanes(n, first):
    """The 64-bit lanes of blocks ``first`` to ``first`` + 3 that are among the first n blocks."""
    return v.iota(v.u64x8) < v.splat(v.u64x8, 2 * max(n - first, 0))


@inline
def _load_8(src, n):
    """Up to eight blocks as X and Y."""
    low = v.as_u32(v.load_masked(v.u64x8, src, 0, _lanes(n, 0)))
    high = v.as_u32(v.load_masked(v.u64x8, src, 64, _lanes(n, 4)))
    return v.shuffle(low, high, X_OF_8), v.shuffle(low, high, Y_OF_8)


@inline
def _store_8(dst, x, y, n, mask):
    """The inverse of `_load_8`, XORed with the blocks at ``mask`` unless that is 0."""
    low, high = v.as_u64(v.shuffle(x, y, LOW_OF_8)), v.as_u64(v.shuffle(x, y, HIGH_OF_8))
    if mask != 0:
        low = low ^ v.load_masked(v.u64x8, mask, 0, _lanes(n, 0))
        high = high ^ v.load_masked(v.u64x8, mask, 64, _lanes(n, 4))
    v.store_masked(dst, 64, high, _lanes(n, 4))
    v.store_masked(dst, 0, low, _lanes(n, 0))


@inline
def _four(schedule, words, decrypting):
    """Cipher the four blocks of a vector."""
    x, y = v.shuffle(words, words, X_OF_4), v.shuffle(words, words, Y_OF_4)
    x, y = _rounds(v.u8x32, schedule, PATTERNS_4, x, y, decrypting)
    return v.as_u64(v.shuffle(x, y, ALL_OF_4))


@inline
def _two(schedule, src, dst, n, mask, decrypting):
    """Cipher one or two blocks; see `few`."""
    p, q = v.repeat(v.u32x8, v.load(v.u32x4, src, 0)), v.repeat(v.u32x8, v.load(v.u32x4, src, 16 * (n - 1)))
    x, y = v.shuffle_blocks(p, q, A_AND_B), v.shuffle_blocks(p, q, C_AND_D)
    x, y = _rounds_of_2(schedule, x, y, decrypting)
    p = v.resize(v.u64x2, v.as_u64(v.shuffle_blocks(x, y, FIRST_BLOCK)))
    if n == 2:
        q = v.resize(v.u64x2, v.as_u64(v.shuffle_blocks(x, y, SECOND_BLOCK)))
        if mask != 0:
            q = q ^ v.load(v.u64x2, mask, 16)
        v.store(dst, 16, q)
    if mask != 0:
        p = p ^ v.load(v.u64x2, mask, 0)
    v.store(dst, 0, p)


@inline
def few(schedule, src, dst, n, mask, decrypting):
    """Cipher n blocks, 0 <= n <= FEW, and XOR those at ``mask`` unless that is 0."""
    if n > 4:
        x, y = _load_8(src, n)
        u, w = _load_8(src + 128, n - 8)
        x, y, u, w = _rounds_of_two(v.u8x64, schedule, PATTERNS_8, x, y, u, w, decrypting)
        _store_8(dst + 128, u, w, n - 8, mask + 128 if mask else 0)
        _store_8(dst, x, y, n, mask)
    elif n > 2:
        lanes = _lanes(n, 0)
        words = v.as_u32(v.load_masked(v.u64x8, src, 0, lanes))
        blocks = _four(schedule, words, decrypting)
        if mask != 0:
            blocks = blocks ^ v.load_masked(v.u64x8, mask, 0, lanes)
        v.store_masked(dst, 0, blocks, lanes)
    elif n > 0:
        # No masked loads and stores, which do not forward from one to the other.
        _two(schedule, src, dst, n, mask, decrypting)
