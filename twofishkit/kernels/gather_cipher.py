"""Twofish with explicit table gathers: 16 blocks at a time, and one block alone.

Per round and block, g(A) and g(B rotated by 8) are eight loads from the four key-dependent tables of
`schedule`; nothing else is kept in memory but the blocks. Hardware gather instructions are slower
than eight scalar loads on the CPUs that we measured, so there are none.

A batch of 16 blocks lies in an array of words. Two rounds are done on one block, then on the
next, and the state returns to the array in between: the four words and the addresses then fit in
registers, and since the blocks are independent the processor overlaps several of them. One block
alone waits for itself: serial modes keep it in registers through all rounds.

Cost per block: 128 table loads, 16 of subkeys, about 400 instructions.
Timing: depends on key and data, through the cache lines that the table loads touch. Use `permute` or
`shuffle` where somebody can measure.

Source: "Twofish: A 128-Bit Block Cipher", section 4. Words and K as there, without the swap of halves:
even rounds change C and D from A and B, odd rounds A and B from C and D.
"""

import numpy as np

from twofishkit.kernels.jit import inline
from twofishkit.kernels.serial import load_block, store_block
from twofishkit.kernels.words import byte, load_u64, rotl, store_u32_scalar, store_u64, xor_16

#: Blocks in a batch.
BATCH = 16


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
def encrypt_batch(schedule, work, n):
    """Encrypt the first n blocks of work uint32[4 * n or more] in place, n <= 16."""
    for i in range(n):
        xor_16(work, 16 * i, work, 16 * i, schedule, 0)
    for at in range(8, 40, 4):
        for i in range(n):
            a, b, c, d = load_block(work, 16 * i)
            c, d = encrypt_round(schedule, at, a, b, c, d)
            a, b = encrypt_round(schedule, at + 2, c, d, a, b)
            store_block(work, 16 * i, (a, b, c, d))
            store_u32_scalar(work, 4 * i, a)
    for i in range(n):
        first, second = load_u64(work, 16 * i), load_u64(work, 16 * i + 8)
        store_u64(work, 16 * i, second ^ load_u64(schedule, 16))
        store_u64(work, 16 * i + 8, first ^ load_u64(schedule, 24))


@inline
def decrypt_batch(schedule, work, n):
    """Decrypt the first n blocks of work uint32[4 * n or more] in place, n <= 16."""
    for i in range(n):
        first, second = load_u64(work, 16 * i), load_u64(work, 16 * i + 8)
        store_u64(work, 16 * i, second ^ load_u64(schedule, 24))
        store_u64(work, 16 * i + 8, first ^ load_u64(schedule, 16))
    for at in range(36, 4, -4):
        for i in range(n):
            a, b, c, d = load_block(work, 16 * i)
            a, b = decrypt_round(schedule, at + 2, c, d, a, b)
            c, d = decrypt_round(schedule, at, a, b, c, d)
            store_block(work, 16 * i, (a, b, c, d))
            store_u32_scalar(work, 4 * i, a)
    for i in range(n):
        xor_16(work, 16 * i, work, 16 * i, schedule, 0)
