"""Counters, tweaks and offsets of many blocks, several at a time in 64-byte vectors.

The arithmetic of one block and its sources are in `counters`; here are the same sequences written to
memory, 16 bytes a block. All functions take addresses.

Timing: constant, but for the branch on a counter's carry out of its low word.
"""

import numpy as np

from twofishkit.kernels.counters import add_counter, store_counter, xts_double
from twofishkit.kernels.jit import inline
from twofishkit.kernels.words import load_u64, store_u64, trailing_zeros
from twofishkit.simd import vectors as v

SWAP_64 = v.lanes(*(block + byte for block in (0, 8) for byte in range(7, -1, -1)))
SWAP_LANES = v.lanes(1, 0)
FIRST_LANE = v.lanes(0xFFFFFFFFFFFFFFFF, 0)
ZERO_TO_THREE = v.lanes(0, 0, 1, 0, 2, 0, 3, 0)
ZERO_TO_THREE_HIGH = v.lanes(0, 0, 0, 1, 0, 2, 0, 3)
#: Blocks that `fill_tweaks` steps over at once.
TWEAK_STEP = 16

_LOW_32 = np.uint64(0xFFFFFFFF)


@inline
def four_pairs(first, second):
    """(first, second) four times, as 64-bit lanes."""
    mask = v.constant(v.u64x8, FIRST_LANE)
    return (v.splat(v.u64x8, first) & mask) | (v.splat(v.u64x8, second) & ~mask)


@inline
def _carries(low, n, counter_bits):
    """Whether one of the n counters from ``low`` on leaves its low word (its low half, if 32 bits wide)."""
    if counter_bits == 32:
        return np.uint64(low & _LOW_32) + np.uint64(n) > np.uint64(1 << 32)
    return np.uint64(low + np.uint64(n)) < low


@inline
def fill_counters(work, low, high, n, counter_bits, little_endian):
    """Write n counter blocks from (low, high) on; up to three more may follow. Returns the next value."""
    if _carries(low, n + 3, counter_bits):
        for i in range(n):
            store_counter(work, 16 * i, low, high, little_endian)
            low, high = add_counter(low, high, 1, counter_bits)
        return low, high
    if little_endian:
        values = four_pairs(low, high) + v.constant(v.u64x8, ZERO_TO_THREE)
        step = four_pairs(np.uint64(4), np.uint64(0))
        for at in range(0, 16 * n, 64):
            v.store(work, at, values)
            values = values + step
    else:
        values = four_pairs(high, low) + v.constant(v.u64x8, ZERO_TO_THREE_HIGH)
        step = four_pairs(np.uint64(0), np.uint64(4))
        for at in range(0, 16 * n, 64):
            octets = v.as_u8(values)
            v.store(work, at, v.shuffle_blocks(octets, octets, SWAP_64))
            values = values + step
    return add_counter(low, high, n, counter_bits)


@inline
def _times_x16(tweaks):
    """Four tweaks times alpha^16."""
    # What leaves a 64-bit lane at the top: from the first it enters the second, from the second it is
    # multiplied by x^7 + x^2 + x + 1 and enters the first.
    out = tweaks >> 48
    out = v.shuffle_blocks(out, out, SWAP_LANES)
    feedback = (out << 1) ^ (out << 2) ^ (out << 7)
    return (tweaks << 16) ^ out ^ (feedback & v.constant(v.u64x8, FIRST_LANE))


@inline
def fill_tweaks(masks, low, high, n):
    """Write T, T alpha, ... for n blocks, T = (low, high); up to 15 more may follow. Returns T alpha^n."""
    for i in range(min(n, TWEAK_STEP)):
        store_u64(masks, 16 * i, low)
        store_u64(masks, 16 * i + 8, high)
        low, high = xts_double(low, high)
    if n <= TWEAK_STEP:
        return low, high
    t0, t1 = v.load(v.u64x8, masks, 0), v.load(v.u64x8, masks, 64)
    t2, t3 = v.load(v.u64x8, masks, 128), v.load(v.u64x8, masks, 192)
    for at in range(16 * TWEAK_STEP, 16 * n, 16 * TWEAK_STEP):
        t0, t1, t2, t3 = _times_x16(t0), _times_x16(t1), _times_x16(t2), _times_x16(t3)
        v.store(masks, at, t0)
        v.store(masks, at + 64, t1)
        v.store(masks, at + 128, t2)
        v.store(masks, at + 192, t3)
    last = 16 * (n - 1)
    return xts_double(load_u64(masks, last), load_u64(masks, last + 8))


@inline
def fill_offsets(masks, offset, ls, first_number, n):
    """Write Offset_i for n blocks from number ``first_number`` on; returns the last. ls: address of L_i."""
    for i in range(n):
        offset = offset ^ v.load(v.u64x2, ls, 16 * trailing_zeros(first_number + i))
        v.store(masks, 16 * i, offset)
    return offset
