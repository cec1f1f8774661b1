"""CTR counters as pairs of 64-bit words.

A 16-byte counter block is held as ``(low, high)``, two uint64: its value, whichever byte order the
block has in memory. Many at a time are in `wide_masks`.

The traps are the carries: a counter must carry from every byte into the next, across the two words
too, and a counter narrower than the block must not carry into the nonce beside it.

Timing: constant, except that a carry out of the low word and the counter's width may be branches.
"""

import numpy as np

from twofishkit.kernels.jit import inline
from twofishkit.kernels.words import load_u64, store_u64, swap_bytes

_ONE = np.uint64(1)
_LOW_32 = np.uint64(0xFFFFFFFF)


@inline
def load_counter(block, little_endian):
    """The value (low, high) of the counter block uint8[16]."""
    first, last = load_u64(block, 0), load_u64(block, 8)
    if little_endian:
        return first, last
    return swap_bytes(last), swap_bytes(first)


@inline
def store_counter(memory, offset, low, high, little_endian):
    """Write the counter (low, high) as a block, at any byte offset of any array."""
    if little_endian:
        store_u64(memory, offset, low)
        store_u64(memory, offset + 8, high)
    else:
        store_u64(memory, offset, swap_bytes(high))
        store_u64(memory, offset + 8, swap_bytes(low))


@inline
def add_counter(low, high, n, counter_bits):
    """(low, high) + n, of which only the low counter_bits (32, 64 or 128) count; 0 <= n < 2^63.

    Source: NIST SP 800-38A, appendix B.1, the standard incrementing function.
    """
    total = np.uint64(low + np.uint64(n))
    if counter_bits == 32:
        return np.uint64((low & ~_LOW_32) | (total & _LOW_32)), high
    if counter_bits == 128 and total < low:
        return total, np.uint64(high + _ONE)
    return total, high
