"""One block under each of many keys: the schedule is made on the way, and no tables.

The tables of `gather` take a thousand look-ups to fill and one block would use 128 of them, so here g is
worked out from the S-box key each time. Used for experiments with many keys (`encrypt_each`).

Timing: depends on keys and data, through table indices. Source: the paper, sections 4.1 to 4.3.
"""

import numpy as np

from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.schedule import SUBKEYS, fill_subkeys, h, split_key
from twofishkit.kernels.words import byte, load_words, rotl, stack_u32, store_words, wipe_words


@inline
def f(lists, k, subkeys, at, x, y):
    """F(X, Y) of one round: PHT of g(X) and g(rol(Y, 8)), plus K[at], K[at + 1]. Source: 4.1."""
    t0 = h(byte(x, 0), byte(x, 1), byte(x, 2), byte(x, 3), lists, 8, k)
    t1 = h(byte(y, 3), byte(y, 0), byte(y, 1), byte(y, 2), lists, 8, k)
    return np.uint32(t0 + t1 + subkeys[at]), np.uint32(t0 + 2 * t1 + subkeys[at + 1])


@inline
def whiten(block, subkeys, at):
    """The four words of a block XOR K[at], ..., K[at + 3]."""
    w0, w1, w2, w3 = block
    return (
        np.uint32(w0 ^ subkeys[at]),
        np.uint32(w1 ^ subkeys[at + 1]),
        np.uint32(w2 ^ subkeys[at + 2]),
        np.uint32(w3 ^ subkeys[at + 3]),
    )


@kernel("void(u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def encrypt_each(keys, src, dst):
    """Dst[i] = E(src[i]) under keys[i]; keys uint8[n, 16 | 24 | 32], blocks uint8[n, 16]."""
    n, length = keys.shape
    k = length >> 3
    lists, subkeys = stack_u32(12), stack_u32(SUBKEYS)
    for i in range(n):
        split_key(keys, i * length, k, lists)
        fill_subkeys(lists, k, subkeys)
        a, b, c, d = whiten(load_words(src, 16 * i), subkeys, 0)
        for at in range(8, 40, 2):
            f0, f1 = f(lists, k, subkeys, at, a, b)
            a, b, c, d = rotl(np.uint32(c ^ f0), 31), np.uint32(rotl(d, 1) ^ f1), a, b
        store_words(dst, 16 * i, whiten((c, d, a, b), subkeys, 4))
    wipe_words(lists)
    wipe_words(subkeys)


@kernel("void(u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def decrypt_each(keys, src, dst):
    """The inverse of `encrypt_each`."""
    n, length = keys.shape
    k = length >> 3
    lists, subkeys = stack_u32(12), stack_u32(SUBKEYS)
    for i in range(n):
        split_key(keys, i * length, k, lists)
        fill_subkeys(lists, k, subkeys)
        c, d, a, b = whiten(load_words(src, 16 * i), subkeys, 4)
        for at in range(38, 6, -2):
            f0, f1 = f(lists, k, subkeys, at, c, d)
            a, b, c, d = c, d, np.uint32(rotl(a, 1) ^ f0), rotl(np.uint32(b ^ f1), 31)
        store_words(dst, 16 * i, whiten((a, b, c, d), subkeys, 0))
    wipe_words(lists)
    wipe_words(subkeys)
