"""The `shuffle` kernels for up to eight blocks, and so for the serial modes: short latency first.

To look up, 16-byte block j takes byte j of A and byte j - 1 of B (which g takes rotated) and has S-box j
as its table: two look-ups of 32 bytes, or four of 16, serve up to eight blocks.

- Up to two blocks: the words (A, A', B, B') are one vector, (C, C', D, D') another, the same in every
  16-byte block. Each byte is looked up four times, once for each row of MDS.
- Up to eight blocks: A, B, C, D of four blocks are a vector each, and the same for four more. Byte
  shuffles put the results into the rows of MDS.

Then the 16-byte blocks are added. As in `shuffle_schedule.mds`

    g = x^2 (sum of all) + (sum of those at 5B and EF) + x (sum of those at EF)

Timing: constant.
"""

import numpy as np

from twofishkit.kernels.jit import inline
from twofishkit.kernels.rounds import transpose_words
from twofishkit.kernels.shuffle_schedule import ROWS, SUBKEYS, times_2, times_4
from twofishkit.kernels.words import load_u32, load_u64, opaque
from twofishkit.simd import vectors as v

#: The most blocks that `few` takes.
FEW = 8

_NONE = 0x80  # as a byte shuffle's index: zero
_MDS = (
    (0x01, 0xEF, 0x5B, 0x5B),
    (0x5B, 0xEF, 0xEF, 0x01),
    (0xEF, 0x5B, 0x01, 0xEF),
    (0xEF, 0x01, 0xEF, 0x5B),
)


def _into_lanes(first, rotated):
    """For 16-byte block j: byte j (or j - 1) of four words into lanes ``first`` ... ``first`` + 3."""
    rows = []
    for j in range(4):
        byte = (j + 3 * rotated) % 4
        row = [_NONE] * 16
        row[first : first + 4] = [4 * block + byte for block in range(4)]
        rows.append(row)
    return rows


def _into_words(first, constants):
    """Lanes ``first`` ... ``first`` + 3 to the bytes of four words, where MDS has one of ``constants``."""
    return [
        [first + block if _MDS[row][j] in constants else _NONE for block in range(4) for row in range(4)]
        for j in range(4)
    ]


def _patterns_of_two():
    """For two blocks, 64 bytes a use: bytes into lanes; masks of rows at 5B and EF, and of those at EF."""
    into_lanes = [[4 * w + (j + 3 * (w > 1)) % 4 for w in range(4) for _ in range(4)] for j in range(4)]
    masks = [
        [[255 * (_MDS[row][j] in constants) for row in range(4)] * 4 for j in range(4)]
        for constants in ((0x5B, 0xEF), (0xEF,))
    ]
    return np.array([into_lanes, *masks], np.uint8).ravel()


def _patterns():
    """For eight blocks, 64 bytes a use: block j of each is for S-box j."""
    rows = []
    for four in (0, 8):
        rows += _into_lanes(four, False), _into_lanes(four + 4, True)
    for first in (0, 4, 8, 12):
        rows += (
            _into_words(first, (0x01, 0x5B, 0xEF)),
            _into_words(first, (0x5B, 0xEF)),
            _into_words(first, (0xEF,)),
        )
    return np.array(rows, np.uint8).ravel()


PATTERNS_2, PATTERNS = _patterns_of_two(), _patterns()
IN_D = v.lanes(0, 0, 0xFFFFFFFF, 0xFFFFFFFF)
SWAPPED, EACH_TWICE = v.lanes(2, 3, 0, 1), v.lanes(0, 0, 1, 1)
A_AND_B, C_AND_D = v.lanes(0, 4, 1, 5), v.lanes(2, 6, 3, 7)
FIRST_BLOCK, SECOND_BLOCK = v.lanes(0, 2, 4, 6), v.lanes(1, 3, 5, 7)


# Up to two blocks ---------------------------------------------------------------------------------


@inline
def _column(T, schedule, x, part):
    """S-boxes from ``part`` on: all, those at 5B and EF, those at EF."""
    u = v.lookup256_each(schedule, ROWS + part, v.lookup16(x, v.load(T, PATTERNS_2, part)))
    return u, u & v.load(T, PATTERNS_2, 64 + part), u & v.load(T, PATTERNS_2, 128 + part)


@inline
def _g_of_two(T, schedule, x):
    """g of A, A', B, B' (the latter two rotated by 8)."""
    size = v.n_bytes(T)
    total, once, twice = _column(T, schedule, x, 0)
    p, q, r = _column(T, schedule, x, size)
    total, once, twice = total ^ p, once ^ q, twice ^ r
    if size == 16:
        p, q, r = _column(T, schedule, x, 2 * size)
        total, once, twice = total ^ p, once ^ q, twice ^ r
        p, q, r = _column(T, schedule, x, 3 * size)
        total, once, twice = total ^ p, once ^ q, twice ^ r
    t = times_4(T, total) ^ (once ^ times_2(T, twice))
    return v.as_u32(t ^ v.rotate_blocks(t, 1) if size == 32 else t)


@inline
def _two_keys(W, schedule, i):
    """K[i], K[i], K[i + 1], K[i + 1]."""
    keys = v.repeat(W, v.as_u32(v.splat(v.u64x2, load_u64(schedule, SUBKEYS + 4 * i))))
    return v.shuffle_blocks(keys, keys, EACH_TWICE)


@inline
def _round_of_two(T, W, schedule, r, x, y, decrypting):
    """The new value of y in round r."""
    g = _g_of_two(T, schedule, v.as_u8(x))
    keys = _two_keys(W, schedule, 8 + 2 * r)
    f = (g + v.shuffle_blocks(g, g, SWAPPED)) + ((g & v.constant(W, IN_D)) + keys)
    in_d = v.constant(W, IN_D) != 0
    if decrypting:
        y = v.select(in_d, y, v.rotl(y, 1)) ^ f
        return v.select(in_d, v.rotr(y, 1), y)
    y = v.select(in_d, v.rotl(y, 1), y) ^ f
    return v.select(in_d, y, v.rotr(y, 1))


@inline
def _two(T, W, schedule, src, dst, n, mask, step, decrypting):
    """Cipher one or two blocks; see `few`."""
    p, q = v.repeat(W, v.load(v.u32x4, src, 0)), v.repeat(W, v.load(v.u32x4, src, 16 * (n - 1)))
    before, after = (4, 0) if decrypting else (0, 4)
    x = v.shuffle_blocks(p, q, A_AND_B) ^ _two_keys(W, schedule, before)
    y = v.shuffle_blocks(p, q, C_AND_D) ^ _two_keys(W, schedule, before + 2)
    for i in range(opaque(16)):  # unrolled it is slower in 16-byte vectors: 99 instead of 78 c/B
        r = 15 - i if decrypting else i
        x, y = _round_of_two(T, W, schedule, r, x, y, decrypting), x
    x = x ^ _two_keys(W, schedule, after + 2)
    y = y ^ _two_keys(W, schedule, after)
    p = v.resize(v.u32x4, v.shuffle_blocks(y, x, FIRST_BLOCK))
    q = v.resize(v.u32x4, v.shuffle_blocks(y, x, SECOND_BLOCK))
    p, q = p ^ v.load(v.u32x4, mask, 0), q ^ v.load(v.u32x4, mask, 16 * (n - 1) & step)
    if n == 2:
        v.store(dst, 16, q)
    v.store(dst, 0, p)


# Up to eight blocks -------------------------------------------------------------------------------


@inline
def _rows(T, u, part, i):
    """The rows at 5B and EF, and those at EF alone, that S-boxes of one part add to word group i."""
    at = 64 * (5 + 3 * i) + part
    return v.lookup16(u, v.load(T, PATTERNS, at)), v.lookup16(u, v.load(T, PATTERNS, at + 64))


@inline
def _g(T, u0, u1, u2, u3, total, i):
    """The words g of lanes 4i ... 4i + 3; ``total`` is x^2 times the sum of the vectors u."""
    size = v.n_bytes(T)
    once, twice = _rows(T, u0, 0, i)
    p, q = _rows(T, u1, size, i)
    once, twice = once ^ p, twice ^ q
    if size == 16:
        p, q = _rows(T, u2, 2 * size, i)
        r, s = _rows(T, u3, 3 * size, i)
        once, twice = once ^ (p ^ r), twice ^ (q ^ s)
    t = v.lookup16(total, v.load(T, PATTERNS, 64 * (4 + 3 * i))) ^ once ^ times_2(T, twice)
    return v.as_u32(t ^ v.rotate_blocks(t, 1) if size == 32 else t)


@inline
def _look_up(T, schedule, a, b, c, d, part):
    """S-boxes from ``part`` on of A, B of four blocks and, in c, d, of four more."""
    x = v.lookup16(v.as_u8(a), v.load(T, PATTERNS, part))
    x = x ^ v.lookup16(v.as_u8(b), v.load(T, PATTERNS, 64 + part))
    x = x ^ v.lookup16(v.as_u8(c), v.load(T, PATTERNS, 128 + part))
    x = x ^ v.lookup16(v.as_u8(d), v.load(T, PATTERNS, 192 + part))
    return v.lookup256_each(schedule, ROWS + part, x)


@inline
def _half_round(c, d, t0, t1, k0, k1, decrypting):
    """PHT, round keys and rotations of four blocks."""
    t0 = t0 + t1
    f0, f1 = t0 + k0, t0 + (t1 + k1)
    if decrypting:
        return v.rotl(c, 1) ^ f0, v.rotr(d ^ f1, 1)
    return v.rotr(c ^ f0, 1), v.rotl(d, 1) ^ f1


@inline
def _round(T, W, schedule, r, a, b, c, d, e, f, g, h, decrypting):
    """Round r: c, d change by a, b and g, h by e, f."""
    size = v.n_bytes(T)
    u0 = _look_up(T, schedule, a, b, e, f, 0)
    u1 = _look_up(T, schedule, a, b, e, f, size)
    u2, u3, total = u0, u0, u0 ^ u1
    if size == 16:
        u2 = _look_up(T, schedule, a, b, e, f, 2 * size)
        u3 = _look_up(T, schedule, a, b, e, f, 3 * size)
        total = total ^ (u2 ^ u3)
    total = times_4(T, total)
    at = SUBKEYS + 32 + 8 * r
    k0, k1 = v.splat(W, load_u32(schedule, at)), v.splat(W, load_u32(schedule, at + 4))
    t0, t1 = _g(T, u0, u1, u2, u3, total, 0), _g(T, u0, u1, u2, u3, total, 1)
    c, d = _half_round(c, d, t0, t1, k0, k1, decrypting)
    t0, t1 = _g(T, u0, u1, u2, u3, total, 2), _g(T, u0, u1, u2, u3, total, 3)
    g, h = _half_round(g, h, t0, t1, k0, k1, decrypting)
    return c, d, g, h


@inline
def _load_four(W, src, first, n):
    """The words of blocks first ... first + 3; in place of those from n on, of block n - 1."""
    return transpose_words(
        v.repeat(W, v.load(v.u32x4, src, 16 * min(first, n - 1))),
        v.repeat(W, v.load(v.u32x4, src, 16 * min(first + 1, n - 1))),
        v.repeat(W, v.load(v.u32x4, src, 16 * min(first + 2, n - 1))),
        v.repeat(W, v.load(v.u32x4, src, 16 * min(first + 3, n - 1))),
    )


@inline
def _store_four(dst, first, n, w0, w1, w2, w3, mask, step):
    """The inverse of `_load_four`, XORed with the blocks at ``mask``, see `few`."""
    b0, b1, b2, b3 = transpose_words(
        v.resize(v.u32x4, w0), v.resize(v.u32x4, w1), v.resize(v.u32x4, w2), v.resize(v.u32x4, w3)
    )
    b0 = b0 ^ v.load(v.u32x4, mask, 16 * min(first, n - 1) & step)
    b1 = b1 ^ v.load(v.u32x4, mask, 16 * min(first + 1, n - 1) & step)
    b2 = b2 ^ v.load(v.u32x4, mask, 16 * min(first + 2, n - 1) & step)
    b3 = b3 ^ v.load(v.u32x4, mask, 16 * min(first + 3, n - 1) & step)
    if n > first + 3:
        v.store(dst, 16 * first + 48, b3)
    if n > first + 2:
        v.store(dst, 16 * first + 32, b2)
    if n > first + 1:
        v.store(dst, 16 * first + 16, b1)
    if n > first:
        v.store(dst, 16 * first, b0)


@inline
def _whiten(W, schedule, i, a, b, c, d):
    """Add K[i] ... K[i + 3]."""
    at = SUBKEYS + 4 * i
    return (
        a ^ v.splat(W, load_u32(schedule, at)),
        b ^ v.splat(W, load_u32(schedule, at + 4)),
        c ^ v.splat(W, load_u32(schedule, at + 8)),
        d ^ v.splat(W, load_u32(schedule, at + 12)),
    )


@inline
def _rounds(T, W, schedule, a, b, c, d, e, f, g, h, decrypting):
    """Whitening and 16 rounds; returns the words in the order in which they are written."""
    before = 4 if decrypting else 0
    a, b, c, d = _whiten(W, schedule, before, a, b, c, d)
    e, f, g, h = _whiten(W, schedule, before, e, f, g, h)
    for i in range(16):
        r = 15 - i if decrypting else i
        c, d, g, h = _round(T, W, schedule, r, a, b, c, d, e, f, g, h, decrypting)
        a, b, c, d, e, f, g, h = c, d, a, b, g, h, e, f
    a, b, c, d = _whiten(W, schedule, 4 - before, c, d, a, b)
    e, f, g, h = _whiten(W, schedule, 4 - before, g, h, e, f)
    return a, b, c, d, e, f, g, h


@inline
def few(T, W, schedule, src, dst, n, mask, step, decrypting):
    """Cipher n blocks, 0 <= n <= FEW, and XOR those at ``mask``.

    ``step`` is -1, or 0 if the block at ``mask`` (of zeros) goes for all.
    """
    if n > 2:
        a, b, c, d = _load_four(W, src, 0, n)
        e, f, g, h = _load_four(W, src, 4, n)
        a, b, c, d, e, f, g, h = _rounds(T, W, schedule, a, b, c, d, e, f, g, h, decrypting)
        _store_four(dst, 4, n, e, f, g, h, mask, step)
        _store_four(dst, 0, n, a, b, c, d, mask, step)
    elif n > 0:
        _two(T, W, schedule, src, dst, n, mask, step, decrypting)
