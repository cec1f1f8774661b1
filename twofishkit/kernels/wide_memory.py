"""Moving and combining whole blocks by address: what the modes of `wide` do around the cipher.

64-byte vectors throughout, which LLVM splits where the processor has shorter ones.

Timing: constant; depends on lengths only.
"""

import numpy as np

from twofishkit.kernels.jit import inline
from twofishkit.simd import vectors as v


@inline
def load_block(address, offset):
    """The 16 bytes at address + offset."""
    return v.load(v.u64x2, address, offset)


@inline
def copy_bytes(dst, src, n):
    """dst = src for n bytes, which do not overlap."""
    at = 0
    while at + 64 <= n:
        v.store(dst, at, v.load(v.u64x8, src, at))
        at += 64
    while at + 16 <= n:
        v.store(dst, at, v.load(v.u64x2, src, at))
        at += 16
    if at < n:
        v.store_first(dst, at, v.load_first(v.u64x2, src, at, n - at), n - at)


@inline
def sum_blocks(start, src, n):
    """start ^ src[0] ^ ... ^ src[n - 1], blocks of 16 bytes."""
    wide = v.zero(v.u64x8)
    at, end = 0, 16 * n
    while at + 64 <= end:
        wide = wide ^ v.load(v.u64x8, src, at)
        at += 64
    half = v.low(wide) ^ v.high(wide)
    total = start ^ v.low(half) ^ v.high(half)
    while at < end:
        total = total ^ load_block(src, at)
        at += 16
    return total


@inline
def is_tag(made, block, tag, n):
    """Whether n <= 16 bytes at the address ``tag`` are the first of ``made``; block is 16 of scratch."""
    v.store(block, 0, made)
    wrong = v.load_first(v.u64x2, block, 0, n) ^ v.load_first(v.u64x2, tag, 0, n)
    return (v.extract(wrong, 0) | v.extract(wrong, 1)) == np.uint64(0)
