"""Twofish with explicit table gathers: batches of blocks, and one block alone.

Per round and block, g(A) and g(B rotated by 8) are eight loads from the four key-dependent tables of
`schedule`. They are written as eight loads: hardware gather instructions are slower than that on the
CPUs that we measured. All memory is given by address; n blocks are ciphered in one of three ways.

*One* block stays in registers through all rounds; serial modes cannot do better.

*Narrow*, up to 16 blocks: one round on one block, then on the next, while the state stays in scratch.
One round alone is short enough for the processor to have several blocks under way at once; two
in a row were a quarter slower, for their operations wait longer in its scheduler.

*Wide*, up to 64 blocks: the words of all blocks are first transposed into arrays A, B, C, D. A round is
then a loop that does nothing but look up, A to T0 and B to T1, and one in vectors that does the rest of
the round on 16 blocks a step. By the time a vector is loaded the words in it have long been stored:
with fewer blocks each round would wait for the look-ups to reach the cache.

Cost per block: 128 table loads, and about 330 instructions in all (wide), 500 (narrow).
On Zen 4: 6.0 cycles a byte wide, 8.7 narrow, 14.8 one block at a time.
Timing: depends on key and data, through the cache lines that the table loads touch. Use `permute` or
`shuffle` where somebody can measure.

Source: "Twofish: A 128-Bit Block Cipher", section 4. Words and K as there, without the swap of halves:
even rounds change C and D from A and B, odd rounds A and B from C and D.
"""

import numpy as np

from twofishkit.kernels.jit import inline
from twofishkit.kernels.rounds import transpose_words
from twofishkit.kernels.schedule import SUBKEYS_AT, TABLES_AT
from twofishkit.kernels.wide_memory import copy_bytes
from twofishkit.kernels.words import (
    byte,
    load_u32,
    load_u64,
    load_words,
    opaque,
    rotl,
    store_u32,
    store_u32_scalar,
    store_u64,
    xor_16,
)
from twofishkit.simd import vectors as v

#: Most blocks in a wide batch, and in a narrow one.
BATCH = 64
NARROW = 16

#: A row is a word of each block. Where in scratch a wide batch has the rows of A and B, of C and D, of T0 and
#: T1 (the two g of a round), and room for four blocks.
_ROW = 4 * BATCH
_AB, _CD, _T, _PADDED = (2 * row * _ROW for row in range(4))


@inline
def table(schedule, index):
    """The entry of table 0 for a byte; the other tables are 1 KiB apart."""
    return load_u32(schedule, TABLES_AT + 4 * np.int64(index))


@inline
def subkey(schedule, i):
    """K[i]."""
    return load_u32(schedule, SUBKEYS_AT + 4 * i)


@inline
def g(schedule, x):
    """g(X): four table loads. Source: section 4.2."""
    return np.uint32(
        table(schedule, byte(x, 0))
        ^ table(schedule + 1024, byte(x, 1))
        ^ table(schedule + 2048, byte(x, 2))
        ^ table(schedule + 3072, byte(x, 3))
    )


@inline
def g_rotated(schedule, x):
    """g(rol(X, 8)): the same loads with the bytes renamed."""
    return np.uint32(
        table(schedule, byte(x, 3))
        ^ table(schedule + 1024, byte(x, 0))
        ^ table(schedule + 2048, byte(x, 1))
        ^ table(schedule + 3072, byte(x, 2))
    )


@inline
def encrypt_round(schedule, at, a, b, c, d):
    """One round: C and D from A and B, with subkeys K[at] and K[at + 1]. Source: section 4.1."""
    t0, t1 = g(schedule, a), g_rotated(schedule, b)
    f0 = np.uint32(t0 + t1 + subkey(schedule, at))
    f1 = np.uint32(t0 + 2 * t1 + subkey(schedule, at + 1))
    return rotl(np.uint32(c ^ f0), 31), np.uint32(rotl(d, 1) ^ f1)


@inline
def decrypt_round(schedule, at, a, b, c, d):
    """The inverse of `encrypt_round`."""
    t0, t1 = g(schedule, a), g_rotated(schedule, b)
    f0 = np.uint32(t0 + t1 + subkey(schedule, at))
    f1 = np.uint32(t0 + 2 * t1 + subkey(schedule, at + 1))
    return np.uint32(rotl(c, 1) ^ f0), rotl(np.uint32(d ^ f1), 31)


@inline
def whiten(keys, words):
    """Four words XOR the four subkeys at ``keys``."""
    w0, w1, w2, w3 = words
    k0, k1, k2, k3 = load_words(keys, 0)
    return np.uint32(w0 ^ k0), np.uint32(w1 ^ k1), np.uint32(w2 ^ k2), np.uint32(w3 ^ k3)


@inline
def join_words(low, high):
    """Two words as one of 64 bits."""
    return np.uint64(np.uint64(low) | np.uint64(np.uint64(high) << np.uint64(32)))


@inline
def store_one(dst, mask, words):
    """dst = words ^ mask for one block; mask may be 0.

    In 64-bit halves: the next block of a chained mode loads the four words again, which costs less
    from there than from a vector.
    """
    w0, w1, w2, w3 = words
    low, high = join_words(w0, w1), join_words(w2, w3)
    if mask != 0:
        low, high = low ^ load_u64(mask, 0), high ^ load_u64(mask, 8)
    store_u64(dst, 0, low)
    store_u64(dst, 8, high)


@inline
def encrypt_one(schedule, src, dst, mask):
    """dst = E(src) ^ mask for one block, all in registers."""
    a, b, c, d = whiten(schedule + SUBKEYS_AT, load_words(src, 0))
    for at in range(8, 40, 4):
        c, d = encrypt_round(schedule, at, a, b, c, d)
        a, b = encrypt_round(schedule, at + 2, c, d, a, b)
    store_one(dst, mask, whiten(schedule + SUBKEYS_AT + 16, (c, d, a, b)))


@inline
def decrypt_one(schedule, src, dst, mask):
    """dst = D(src) ^ mask for one block, all in registers."""
    c, d, a, b = whiten(schedule + SUBKEYS_AT + 16, load_words(src, 0))
    for at in range(36, 4, -4):
        a, b = decrypt_round(schedule, at + 2, c, d, a, b)
        c, d = decrypt_round(schedule, at, a, b, c, d)
    store_one(dst, mask, whiten(schedule + SUBKEYS_AT, (a, b, c, d)))


@inline
def get_blocks(work, src, n, keys):
    """The words of n blocks, XOR the four subkeys at ``keys``."""
    for i in range(0, 16 * n, 16):
        xor_16(work, i, src, i, keys, 0)


@inline
def put_swapped(dst, work, n, keys, mask):
    """n blocks, their halves exchanged, XOR the four subkeys and the blocks at ``mask``; the last first.

    Loaded word by word, as they were stored, and stored as whole vectors, as modes will load them.
    """
    for i in range(16 * (n - 1), -1, -16):
        w0, w1, w2, w3 = whiten(keys, swap_halves(load_words(work, i)))
        block = v.unpack_low(v.splat(v.u64x2, join_words(w0, w1)), v.splat(v.u64x2, join_words(w2, w3)))
        if mask != 0:
            block = block ^ v.load(v.u64x2, mask, i)
        v.store(dst, i, block)


@inline
def swap_halves(words):
    """The last two words of a block, then the first two."""
    w0, w1, w2, w3 = words
    return w2, w3, w0, w1


@inline
def encrypt_narrow(schedule, src, dst, n, mask, work):
    """dst = E(src) ^ mask for n <= NARROW blocks, one round on each at a time."""
    get_blocks(work, src, n, schedule + SUBKEYS_AT)
    for at in range(8, 40, 4):
        for block in range(work, work + 16 * n, 16):
            a, b, c, d = load_words(block, 0)
            c, d = encrypt_round(schedule, at, a, b, c, d)
            store_u32(block, 12, d)
            store_u32_scalar(block, 8, c)
        for block in range(work, work + 16 * n, 16):
            a, b, c, d = load_words(block, 0)
            a, b = encrypt_round(schedule, at + 2, c, d, a, b)
            store_u32(block, 4, b)
            store_u32_scalar(block, 0, a)
    put_swapped(dst, work, n, schedule + SUBKEYS_AT + 16, mask)


@inline
def decrypt_narrow(schedule, src, dst, n, mask, work):
    """dst = D(src) ^ mask for n <= NARROW blocks, one round on each at a time."""
    get_blocks(work, src, n, schedule + SUBKEYS_AT + 16)
    for at in range(36, 4, -4):
        for block in range(work, work + 16 * n, 16):
            c, d, a, b = load_words(block, 0)
            a, b = decrypt_round(schedule, at + 2, c, d, a, b)
            store_u32(block, 12, b)
            store_u32_scalar(block, 8, a)
        for block in range(work, work + 16 * n, 16):
            c, d, a, b = load_words(block, 0)
            c, d = decrypt_round(schedule, at, a, b, c, d)
            store_u32(block, 4, d)
            store_u32_scalar(block, 0, c)
    put_swapped(dst, work, n, schedule + SUBKEYS_AT, mask)


@inline
def to_words(src, first, second, keys):
    """Transpose four blocks: words 0 and 1 to the row at ``first`` and the next, 2 and 3 to ``second``.

    The four subkeys at ``keys`` are XORed to them.
    """
    w0, w1, w2, w3 = transpose_words(
        v.load(v.u32x4, src, 0),
        v.load(v.u32x4, src, 16),
        v.load(v.u32x4, src, 32),
        v.load(v.u32x4, src, 48),
    )
    k0, k1, k2, k3 = load_words(keys, 0)
    v.store(first, 0, w0 ^ k0)
    v.store(first, _ROW, w1 ^ k1)
    v.store(second, 0, w2 ^ k2)
    v.store(second, _ROW, w3 ^ k3)


@inline
def to_blocks(dst, first, second, keys, mask):
    """The inverse of `to_words`, whitening included, ^ the blocks at ``mask`` unless that is 0."""
    k0, k1, k2, k3 = load_words(keys, 0)
    b0, b1, b2, b3 = transpose_words(
        v.load(v.u32x4, first, 0) ^ k0,
        v.load(v.u32x4, first, _ROW) ^ k1,
        v.load(v.u32x4, second, 0) ^ k2,
        v.load(v.u32x4, second, _ROW) ^ k3,
    )
    if mask != 0:
        b0, b1 = b0 ^ v.load(v.u32x4, mask, 0), b1 ^ v.load(v.u32x4, mask, 16)
        b2, b3 = b2 ^ v.load(v.u32x4, mask, 32), b3 ^ v.load(v.u32x4, mask, 48)
    v.store(dst, 48, b3)
    v.store(dst, 32, b2)
    v.store(dst, 16, b1)
    v.store(dst, 0, b0)


@inline
def put_blocks(dst, work, n, mask):
    """dst = work ^ mask for n blocks, the last first; mask may be 0."""
    for i in range(16 * (n - 1), -1, -16):
        block = v.load(v.u64x2, work, i)
        if mask != 0:
            block = block ^ v.load(v.u64x2, mask, i)
        v.store(dst, i, block)


@inline
def load_wide(src, n, first, second, keys, padded):
    """`to_words` for n blocks; the last few by way of ``padded``, room for four."""
    whole = n & -4
    for i in range(0, 4 * whole, 16):
        to_words(src + 4 * i, first + i, second + i, keys)
    if whole < n:
        copy_bytes(padded, src + 16 * whole, 16 * (n - whole))
        to_words(padded, first + 4 * whole, second + 4 * whole, keys)


@inline
def store_wide(dst, n, first, second, keys, mask, padded):
    """`to_blocks` for n blocks, the last first."""
    whole = n & -4
    if whole < n:
        at = 16 * whole
        to_blocks(padded, first + 4 * whole, second + 4 * whole, keys, np.int64(0))
        put_blocks(dst + at, padded, n - whole, mask + at if mask else 0)
    for i in range(4 * whole - 16, -1, -16):
        to_blocks(dst + 4 * i, first + i, second + i, keys, mask + 4 * i if mask else 0)


@inline
def look_up(schedule, n, row, out):
    """T0 = g(X) and T1 = g(rol(Y, 8)) of n blocks, X in a row and Y in the next, to the rows at ``out``."""
    for first in range(0, 4 * n, 32):
        for i in range(first, first + 32, 4):
            store_u32(out, _ROW + i, g_rotated(schedule, load_u32(row, _ROW + i)))
            store_u32_scalar(out, i, g(schedule, load_u32(row, i)))


@inline
def f_16(looked_up, i, k0, k1):
    """F of one round from T0 and T1, for 16 blocks: PHT and subkeys. Source: section 4.1."""
    t1 = v.load(v.u32x16, looked_up, _ROW + i)
    f0 = v.load(v.u32x16, looked_up, i) + t1
    return f0 + k0, f0 + t1 + k1


@inline
def encrypt_round_wide(schedule, at, n, row, other, looked_up):
    """One round: the two rows at ``other`` from those at ``row``, whole vectors of 16 blocks."""
    look_up(schedule, n, row, looked_up)
    k0, k1 = subkey(schedule, at), subkey(schedule, at + 1)
    for i in range(0, 4 * n, 64):
        f0, f1 = f_16(looked_up, i, k0, k1)
        c, d = v.load(v.u32x16, other, i), v.load(v.u32x16, other, _ROW + i)
        v.store(other, i, v.rotr(c ^ f0, 1))
        v.store(other, _ROW + i, v.rotl(d, 1) ^ f1)


@inline
def decrypt_round_wide(schedule, at, n, row, other, looked_up):
    """The inverse of `encrypt_round_wide`."""
    look_up(schedule, n, row, looked_up)
    k0, k1 = subkey(schedule, at), subkey(schedule, at + 1)
    for i in range(0, 4 * n, 64):
        f0, f1 = f_16(looked_up, i, k0, k1)
        c, d = v.load(v.u32x16, other, i), v.load(v.u32x16, other, _ROW + i)
        v.store(other, i, v.rotl(c, 1) ^ f0)
        v.store(other, _ROW + i, v.rotr(d ^ f1, 1))


@inline
def encrypt_wide(schedule, src, dst, n, mask, scratch):
    """dst = E(src) ^ mask for n <= BATCH blocks, all through a round before the next."""
    ab, cd, looked_up, padded = scratch + _AB, scratch + _CD, scratch + _T, scratch + _PADDED
    load_wide(src, n, ab, cd, schedule + SUBKEYS_AT, padded)
    for at in range(8, opaque(40), 4):
        encrypt_round_wide(schedule, at, n, ab, cd, looked_up)
        encrypt_round_wide(schedule, at + 2, n, cd, ab, looked_up)
    store_wide(dst, n, cd, ab, schedule + SUBKEYS_AT + 16, mask, padded)


@inline
def decrypt_wide(schedule, src, dst, n, mask, scratch):
    """dst = D(src) ^ mask for n <= BATCH blocks, all through a round before the next."""
    ab, cd, looked_up, padded = scratch + _AB, scratch + _CD, scratch + _T, scratch + _PADDED
    load_wide(src, n, cd, ab, schedule + SUBKEYS_AT + 16, padded)
    for at in range(opaque(36), 4, -4):
        decrypt_round_wide(schedule, at + 2, n, cd, ab, looked_up)
        decrypt_round_wide(schedule, at, n, ab, cd, looked_up)
    store_wide(dst, n, ab, cd, schedule + SUBKEYS_AT, mask, padded)


@inline
def cipher(one, narrow, wide, schedule, src, dst, n, mask, scratch):
    """Any number of blocks, from the end: what is over first, then batches. The core of a direction.

    ``one``, ``narrow`` and ``wide`` are the direction's functions above; the rest is as in `native`.
    """
    if n == 1:
        one(schedule, src, dst, mask)
        return
    rest = n % BATCH
    if 0 < rest <= NARROW:
        n -= rest
        narrow(schedule, src + 16 * n, dst + 16 * n, rest, mask + 16 * n if mask else 0, scratch)
    while n > 0:
        m = n % BATCH
        m = m if m else BATCH
        n -= m
        wide(schedule, src + 16 * n, dst + 16 * n, m, mask + 16 * n if mask else 0, scratch)
