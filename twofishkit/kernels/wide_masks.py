"""Counters, tweaks and offsets of many blocks, several at a time in 64-byte vectors.

The arithmetic of one block and its sources are in `counters`; here are the same sequences written to
memory, 16 bytes a block. All functions take addresses.

Timing: constant, but for a branch where a 128-bit counter carries into its high word.
"""

import numpy as np

from twofishkit.kernels.counters import add_counter, store_counter
from twofishkit.kernels.jit import inline
from twofishkit.kernels.wide_memory import load_block
from twofishkit.kernels.words import trailing_zeros
from twofishkit.simd import vectors as v

SWAP_64 = v.lanes(*(block + byte for block in (0, 8) for byte in range(7, -1, -1)))
SWAP_LANES = v.lanes(1, 0)
FIRST_LANE = v.lanes(0xFFFFFFFFFFFFFFFF, 0)
ZERO_TO_THREE = v.lanes(0, 0, 1, 0, 2, 0, 3, 0)
ZERO_TO_THREE_HIGH = v.lanes(0, 0, 0, 1, 0, 2, 0, 3)
#: Blocks that `fill_tweaks` steps over at once.
TWEAK_STEP = 16


@inline
def four_pairs(first, second):
    """(first, second) four times, as 64-bit lanes."""
    mask = v.constant(v.u64x8, FIRST_LANE)
    return (v.splat(v.u64x8, first) & mask) | (v.splat(v.u64x8, second) & ~mask)


@inline
def _add(values, step, counter_bits):
    """Lanewise sum of counters that stays in the field that counts; never carries from lane to lane."""
    if counter_bits == 32:
        return v.as_u64(v.as_u32(values) + v.as_u32(step))
    return values + step


@inline
def fill_counters(work, low, high, n, counter_bits, little_endian):
    """Write n counter blocks from (low, high) on; up to three more may follow. Returns the next value."""
    if counter_bits == 128 and np.uint64(low + np.uint64(n + 3)) < low:
        for i in range(n):  # carries into the high word: once in 2^64 blocks
            store_counter(work, 16 * i, low, high, little_endian)
            low, high = add_counter(low, high, 1, counter_bits)
        return low, high
    if little_endian:
        values = _add(four_pairs(low, high), v.constant(v.u64x8, ZERO_TO_THREE), counter_bits)
        step = four_pairs(np.uint64(4), np.uint64(0))
        for at in range(0, 16 * n, 64):
            v.store(work, at, values)
            values = _add(values, step, counter_bits)
    else:
        values = _add(four_pairs(high, low), v.constant(v.u64x8, ZERO_TO_THREE_HIGH), counter_bits)
        step = four_pairs(np.uint64(0), np.uint64(4))
        for at in range(0, 16 * n, 64):
            octets = v.as_u8(values)
            v.store(work, at, v.shuffle_blocks(octets, octets, SWAP_64))
            values = _add(values, step, counter_bits)
    return add_counter(low, high, n, counter_bits)


@inline
def _times(tweaks, first, n):
    """Tweaks times alpha^n, n <= 16, in vectors of 64-bit lanes; ``first`` has ones in the first lanes.

    What leaves a lane at the top enters its neighbour, multiplied by x^7 + x^2 + x + 1 if that is the first.
    Vectors, because LLVM might make a scalar's feedback a branch.
    """
    out = tweaks >> (64 - n)
    out = v.shuffle_blocks(out, out, SWAP_LANES)
    feedback = (out << 1) ^ (out << 2) ^ (out << 7)
    return (tweaks << n) ^ out ^ (feedback & first)


@inline
def fill_tweaks(masks, tweak, n):
    """Write T, T alpha, ... for n blocks; up to 15 more may follow. Returns T alpha^n. T is u64x2."""
    for i in range(min(n, TWEAK_STEP)):
        v.store(masks, 16 * i, tweak)
        tweak = _times(tweak, v.constant(v.u64x2, FIRST_LANE), 1)
    if n <= TWEAK_STEP:
        return tweak
    first = v.constant(v.u64x8, FIRST_LANE)
    t0, t1 = v.load(v.u64x8, masks, 0), v.load(v.u64x8, masks, 64)
    t2, t3 = v.load(v.u64x8, masks, 128), v.load(v.u64x8, masks, 192)
    for at in range(16 * TWEAK_STEP, 16 * n, 16 * TWEAK_STEP):
        t0, t1 = _times(t0, first, 16), _times(t1, first, 16)
        t2, t3 = _times(t2, first, 16), _times(t3, first, 16)
        v.store(masks, at, t0)
        v.store(masks, at + 64, t1)
        v.store(masks, at + 128, t2)
        v.store(masks, at + 192, t3)
    return _times(load_block(masks, 16 * (n - 1)), v.constant(v.u64x2, FIRST_LANE), 1)


@inline
def fill_offsets(masks, offset, ls, first_number, n):
    """Write Offset_i for n blocks from number ``first_number`` on; returns the last. ls: address of L_i."""
    for i in range(n):
        offset = offset ^ v.load(v.u64x2, ls, 16 * trailing_zeros(first_number + i))
        v.store(masks, 16 * i, offset)
    return offset
