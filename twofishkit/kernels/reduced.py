"""Twofish cut short: fewer rounds, with or without whitening, one block under each of many keys.

For experiments (`twofishkit.lab`); the full cipher under many keys is the slot `encrypt_each`, whose
round this shares.

Cost: as `each.encrypt_each`, and less for fewer rounds, down to half of it: the key schedule stays whole.
Timing: depends on keys and data, through table indices. Source: the paper, section 4.
"""

import numpy as np

from twofishkit.kernels.each import f, whiten
from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.schedule import SUBKEYS, fill_subkeys, split_key
from twofishkit.kernels.words import rotl, stack_u32, wipe_words


@inline
def store(dst, words):
    """Four words to uint32[4]."""
    dst[0], dst[1], dst[2], dst[3] = words


@kernel("void(u1[:, ::1], u4[:, ::1], i8, b1, u4[:, :, ::1])")
def encrypt_rounds(keys, src, rounds, whitening, dst):
    """dst[i, j] = src[i] under keys[i] after first + j rounds, for first + m - 1 = rounds.

    Parameters
    ----------
    keys : uint8[n, 16 | 24 | 32]
    src : uint32[n, 4]       the words of each block
    rounds : 0 to 16
    whitening : whether K[0] ... K[7] are XORed in
    dst : uint32[n, m, 4]    1 <= m <= rounds + 1: how many results, up to that of all rounds; not src

    The swap at the end of the last round is undone, as the cipher does.
    """
    n, length = keys.shape
    k, first = length >> 3, rounds + 1 - dst.shape[1]
    lists, subkeys = stack_u32(12), stack_u32(SUBKEYS)
    for i in range(n):
        split_key(keys, i * length, k, lists)
        fill_subkeys(lists, k, subkeys)
        if not whitening:
            for j in range(8):
                subkeys[j] = 0
        a, b, c, d = whiten((src[i, 0], src[i, 1], src[i, 2], src[i, 3]), subkeys, 0)
        if first == 0:  # no round, and so no swap to be undone
            store(dst[i, 0], whiten((a, b, c, d), subkeys, 4))
        for r in range(rounds):
            f0, f1 = f(lists, k, subkeys, 8 + 2 * r, a, b)
            a, b, c, d = rotl(np.uint32(c ^ f0), 31), np.uint32(rotl(d, 1) ^ f1), a, b
            if r + 1 >= first:
                store(dst[i, r + 1 - first], whiten((c, d, a, b), subkeys, 4))
    wipe_words(lists)
    wipe_words(subkeys)
