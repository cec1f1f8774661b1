"""Counters in `permute`'s form, made where they are encrypted: no load, no transposition, no first round.

Of counters whose last word alone counts, three words are the same in all blocks. The first round's F, a
function of two of them, therefore is the same too: it is computed for one batch, and all the others
start with the second round.

A *start* is u32x4: the words of the first counter, the last one as a number. It counts modulo 2^32.

Timing: constant.
"""

import numpy as np

from twofishkit.kernels.jit import inline
from twofishkit.kernels.permute_schedule import SUBKEYS
from twofishkit.kernels.words import load_u32, swap_bytes
from twofishkit.simd import vectors as v

#: Blocks of a vector as `rounds.transpose_words` orders them, and of four blocks of a message.
IN_BATCH = v.lanes(*(4 * vector + block for block in range(4) for vector in range(4)))
IN_MESSAGE = v.lanes(*(block if word == 3 else 0 for block in range(4) for word in range(4)))
ONE_IN_LAST = v.lanes(0, 0, 0, 1)
SWAP_WORDS = v.lanes(*(4 * word + byte for word in range(4) for byte in (3, 2, 1, 0)))
SWAP_LAST_WORD = v.lanes(*range(12), 15, 14, 13, 12)


@inline
def load_start(counter):
    """The start from the counter block at an address."""
    words = v.load(v.u32x4, counter, 0)
    last = np.uint32(swap_bytes(np.uint64(v.extract(words, 3))) >> np.uint64(32))
    return v.insert(words, 3, last)


@inline
def store_few(target, start, number, n):
    """Write n counters as blocks, from ``number`` on; up to three more may follow."""
    block = v.repeat(v.u32x16, start) + v.constant(v.u32x16, IN_MESSAGE)
    for i in range(0, n, 4):
        octets = v.as_u8(block + v.constant(v.u32x16, ONE_IN_LAST) * (number + i))
        v.store(target, 16 * i, v.shuffle_blocks(octets, octets, SWAP_LAST_WORD))


@inline
def _last_words(schedule, start, number):
    """Word D of 16 counters from ``number`` on, whitened."""
    first = np.uint32(v.extract(start, 3) + np.uint32(number))
    octets = v.as_u8(v.splat(v.u32x16, first) + v.constant(v.u32x16, IN_BATCH))
    words = v.as_u32(v.shuffle_blocks(octets, octets, SWAP_WORDS))
    return words ^ load_u32(schedule, SUBKEYS + 12)


@inline
def first_batch(schedule, scratch, start, number):
    """What `rounds.load_batch` would make of 64 counters from ``number`` on."""
    for word in range(3):
        same = v.splat(v.u32x16, v.extract(start, word)) ^ load_u32(schedule, SUBKEYS + 4 * word)
        for at in range(256 * word, 256 * word + 256, 64):
            v.store(scratch, at, same)
    for g in range(4):
        v.store(scratch, 768 + 64 * g, _last_words(schedule, start, number + 16 * g))


@inline
def other_batches(schedule, scratch, start, number, batches):
    """Batches 1 ... after the first round, from batch 0 after the first round."""
    a, b = v.load(v.u32x16, scratch, 0), v.load(v.u32x16, scratch, 256)
    c, d = v.load(v.u32x16, scratch, 512), v.load(v.u32x16, scratch, 768)
    f1 = d ^ v.rotl(_last_words(schedule, start, number), 1)
    for g in range(4, 4 * batches):
        at = scratch + 1024 * (g >> 2) + 64 * (g & 3)
        v.store(at, 0, a)
        v.store(at, 256, b)
        v.store(at, 512, c)
        v.store(at, 768, v.rotl(_last_words(schedule, start, number + 16 * g), 1) ^ f1)
