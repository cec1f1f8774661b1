"""Twofish with explicit table gathers: batches of blocks, and one block alone.

Per round and block, g(A) and g(B rotated by 8) are eight loads from the four key-dependent tables of
`schedule`. They are written as eight loads: hardware gather instructions are slower than that on the
CPUs that we measured. A batch is ciphered in one of two ways.

*Narrow*, below 16 blocks: one round on one block, then on the next, while the state stays in the
array. One round alone is short enough for the processor to have several blocks under way at once;
two in a row were a quarter slower, for their operations wait longer in its scheduler.

*Wide*, 16 to 64 blocks: the words of all blocks are first transposed into arrays A, B, C, D. A round is
then a loop that does nothing but look up, A to T0 and B to T1, and one in vectors that does the rest of
the round on 16 blocks a step. By the time a vector is loaded the words in it have long been stored:
with fewer blocks each round would wait for the look-ups to reach the cache.

One block alone stays in registers through all rounds; serial modes cannot do better.

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
from twofishkit.kernels.serial import load_block
from twofishkit.kernels.words import (
    byte,
    load_u32,
    load_u64,
    rotl,
    stack_u32,
    store_u32,
    store_u32_scalar,
    store_u64,
    wipe_words,
    xor_16,
)
from twofishkit.simd import vectors as v

#: Most blocks in a batch, and fewest in a wide one.
BATCH = 64
WIDE = 16

#: Where the arrays of a wide batch are, in bytes: A, B, C, D, and T0, T1 for the two g of a round.
_ROW = 4 * BATCH
_A, _B, _C, _D, _T0, _T1 = (row * _ROW for row in range(6))
_WIDE_WORDS = 6 * BATCH


@inline
def g(schedule, x):
    """g(X): four table loads. Source: section 4.2."""
    return np.uint32(
        schedule[40 + byte(x, 0)]
        ^ schedule[296 + byte(x, 1)]
        ^ schedule[552 + byte(x, 2)]
        ^ schedule[808 + byte(x, 3)]
    )


@inline
def g_rotated(schedule, x):
    """g(rol(X, 8)): the same loads with the bytes renamed."""
    return np.uint32(
        schedule[40 + byte(x, 3)]
        ^ schedule[296 + byte(x, 0)]
        ^ schedule[552 + byte(x, 1)]
        ^ schedule[808 + byte(x, 2)]
    )


@inline
def encrypt_round(schedule, at, a, b, c, d):
    """One round: C and D from A and B, with subkeys K[at] and K[at + 1]. Source: section 4.1."""
    t0, t1 = g(schedule, a), g_rotated(schedule, b)
    f0 = np.uint32(t0 + t1 + schedule[at])
    f1 = np.uint32(t0 + 2 * t1 + schedule[at + 1])
    return rotl(np.uint32(c ^ f0), 31), np.uint32(rotl(d, 1) ^ f1)


@inline
def decrypt_round(schedule, at, a, b, c, d):
    """The inverse of `encrypt_round`."""
    t0, t1 = g(schedule, a), g_rotated(schedule, b)
    f0 = np.uint32(t0 + t1 + schedule[at])
    f1 = np.uint32(t0 + 2 * t1 + schedule[at + 1])
    return np.uint32(rotl(c, 1) ^ f0), rotl(np.uint32(d ^ f1), 31)


@inline
def encrypt_one(schedule, a, b, c, d):
    """Encrypt one block of four words, all in registers."""
    a = np.uint32(a ^ schedule[0])
    b = np.uint32(b ^ schedule[1])
    c = np.uint32(c ^ schedule[2])
    d = np.uint32(d ^ schedule[3])
    for at in range(8, 40, 4):
        c, d = encrypt_round(schedule, at, a, b, c, d)
        a, b = encrypt_round(schedule, at + 2, c, d, a, b)
    return (
        np.uint32(c ^ schedule[4]),
        np.uint32(d ^ schedule[5]),
        np.uint32(a ^ schedule[6]),
        np.uint32(b ^ schedule[7]),
    )


@inline
def decrypt_one(schedule, c, d, a, b):
    """Decrypt one block of four words, all in registers."""
    c = np.uint32(c ^ schedule[4])
    d = np.uint32(d ^ schedule[5])
    a = np.uint32(a ^ schedule[6])
    b = np.uint32(b ^ schedule[7])
    for at in range(36, 4, -4):
        a, b = decrypt_round(schedule, at + 2, c, d, a, b)
        c, d = decrypt_round(schedule, at, a, b, c, d)
    return (
        np.uint32(a ^ schedule[0]),
        np.uint32(b ^ schedule[1]),
        np.uint32(c ^ schedule[2]),
        np.uint32(d ^ schedule[3]),
    )


@inline
def encrypt_narrow(schedule, work, n):
    """Encrypt n blocks of work in place, one round on each at a time."""
    for i in range(n):
        xor_16(work, 16 * i, work, 16 * i, schedule, 0)
    for at in range(8, 40, 4):
        for block in range(0, 16 * n, 16):
            a, b, c, d = load_block(work, block)
            c, d = encrypt_round(schedule, at, a, b, c, d)
            store_u32(work, block + 12, d)
            store_u32_scalar(work, block + 8, c)
        for block in range(0, 16 * n, 16):
            a, b, c, d = load_block(work, block)
            a, b = encrypt_round(schedule, at + 2, c, d, a, b)
            store_u32(work, block + 4, b)
            store_u32_scalar(work, block, a)
    for i in range(n):
        first, second = load_u64(work, 16 * i), load_u64(work, 16 * i + 8)
        store_u64(work, 16 * i, second ^ load_u64(schedule, 16))
        store_u64(work, 16 * i + 8, first ^ load_u64(schedule, 24))


@inline
def decrypt_narrow(schedule, work, n):
    """Decrypt n blocks of work in place, one round on each at a time."""
    for i in range(n):
        first, second = load_u64(work, 16 * i), load_u64(work, 16 * i + 8)
        store_u64(work, 16 * i, second ^ load_u64(schedule, 24))
        store_u64(work, 16 * i + 8, first ^ load_u64(schedule, 16))
    for at in range(36, 4, -4):
        for block in range(0, 16 * n, 16):
            a, b, c, d = load_block(work, block)
            a, b = decrypt_round(schedule, at + 2, c, d, a, b)
            store_u32(work, block + 4, b)
            store_u32_scalar(work, block, a)
        for block in range(0, 16 * n, 16):
            a, b, c, d = load_block(work, block)
            c, d = decrypt_round(schedule, at, a, b, c, d)
            store_u32(work, block + 12, d)
            store_u32_scalar(work, block + 8, c)
    for i in range(n):
        xor_16(work, 16 * i, work, 16 * i, schedule, 0)


@inline
def to_words(work, n, words, first, second, schedule, k):
    """Transpose n blocks into rows: words 0, 1 of each, ^ K[k], K[k+1], to row ``first``; 2, 3 to ``second``.

    Four blocks at a time: up to three beyond n are taken along.
    """
    for i in range(0, n, 4):
        w0, w1, w2, w3 = transpose_words(
            v.load(v.u32x4, work, 16 * i),
            v.load(v.u32x4, work, 16 * i + 16),
            v.load(v.u32x4, work, 16 * i + 32),
            v.load(v.u32x4, work, 16 * i + 48),
        )
        v.store(words, first + 4 * i, w0 ^ schedule[k])
        v.store(words, first + _ROW + 4 * i, w1 ^ schedule[k + 1])
        v.store(words, second + 4 * i, w2 ^ schedule[k + 2])
        v.store(words, second + _ROW + 4 * i, w3 ^ schedule[k + 3])


@inline
def to_blocks(work, n, words, first, second, schedule, k):
    """The inverse of `to_words`, whitening included."""
    for i in range(0, n, 4):
        b0, b1, b2, b3 = transpose_words(
            v.load(v.u32x4, words, first + 4 * i) ^ schedule[k],
            v.load(v.u32x4, words, first + _ROW + 4 * i) ^ schedule[k + 1],
            v.load(v.u32x4, words, second + 4 * i) ^ schedule[k + 2],
            v.load(v.u32x4, words, second + _ROW + 4 * i) ^ schedule[k + 3],
        )
        v.store(work, 16 * i, b0)
        v.store(work, 16 * i + 16, b1)
        v.store(work, 16 * i + 32, b2)
        v.store(work, 16 * i + 48, b3)


@inline
def look_up(schedule, words, n, row):
    """T0 = g(X) and T1 = g(rol(Y, 8)) of n blocks, X in a row and Y in the next."""
    for first in range(0, 4 * n, 32):
        for i in range(first, first + 32, 4):
            store_u32(words, _T1 + i, g_rotated(schedule, load_u32(words, row + _ROW + i)))
            store_u32_scalar(words, _T0 + i, g(schedule, load_u32(words, row + i)))


@inline
def f_16(schedule, at, words, i):
    """F of one round from T0 and T1, for 16 blocks: PHT and the subkeys K[at], K[at + 1]."""
    t1 = v.load(v.u32x16, words, _T1 + i)
    sum_0 = v.load(v.u32x16, words, _T0 + i) + t1
    return sum_0 + schedule[at], sum_0 + t1 + schedule[at + 1]


@inline
def encrypt_round_wide(schedule, at, words, n, row, other):
    """One round: rows ``other`` from rows ``row``, whole vectors of 16 blocks."""
    look_up(schedule, words, n, row)
    for i in range(0, 4 * n, 64):
        f0, f1 = f_16(schedule, at, words, i)
        c, d = v.load(v.u32x16, words, other + i), v.load(v.u32x16, words, other + _ROW + i)
        v.store(words, other + i, v.rotr(c ^ f0, 1))
        v.store(words, other + _ROW + i, v.rotl(d, 1) ^ f1)


@inline
def decrypt_round_wide(schedule, at, words, n, row, other):
    """The inverse of `encrypt_round_wide`."""
    look_up(schedule, words, n, row)
    for i in range(0, 4 * n, 64):
        f0, f1 = f_16(schedule, at, words, i)
        c, d = v.load(v.u32x16, words, other + i), v.load(v.u32x16, words, other + _ROW + i)
        v.store(words, other + i, v.rotl(c, 1) ^ f0)
        v.store(words, other + _ROW + i, v.rotr(d ^ f1, 1))


@inline
def encrypt_wide(schedule, work, n):
    """Encrypt n blocks of work in place, all through a round before the next."""
    words = stack_u32(_WIDE_WORDS)
    to_words(work, n, words, _A, _C, schedule, 0)
    for at in range(8, 40, 4):
        encrypt_round_wide(schedule, at, words, n, _A, _C)
        encrypt_round_wide(schedule, at + 2, words, n, _C, _A)
    to_blocks(work, n, words, _C, _A, schedule, 4)
    wipe_words(words)


@inline
def decrypt_wide(schedule, work, n):
    """Decrypt n blocks of work in place, all through a round before the next."""
    words = stack_u32(_WIDE_WORDS)
    to_words(work, n, words, _C, _A, schedule, 4)
    for at in range(36, 4, -4):
        decrypt_round_wide(schedule, at + 2, words, n, _C, _A)
        decrypt_round_wide(schedule, at, words, n, _A, _C)
    to_blocks(work, n, words, _A, _C, schedule, 0)
    wipe_words(words)


@inline
def encrypt_batch(schedule, work, n):
    """Encrypt the first n blocks of work uint32[4 * BATCH] in place, 1 <= n <= BATCH."""
    if n >= WIDE:
        encrypt_wide(schedule, work, n)
    else:
        encrypt_narrow(schedule, work, n)


@inline
def decrypt_batch(schedule, work, n):
    """Decrypt the first n blocks of work uint32[4 * BATCH] in place, 1 <= n <= BATCH."""
    if n >= WIDE:
        decrypt_wide(schedule, work, n)
    else:
        decrypt_narrow(schedule, work, n)
