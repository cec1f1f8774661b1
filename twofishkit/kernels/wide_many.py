"""Serial modes of many independent messages, side by side in the wide cores.

Row i of a (n, m) array is a message of its own, under its own iv. A step takes the next block of up to
CHUNK rows. Rows are read and written 64 bytes (four steps) at a time: with rows of 4 KiB the same
columns of all rows fall into one set of the cache, and a line must not be fetched four times. For the
same reason those 64 bytes are one cache line of the destination, wherever rows allow that.

Timing: that of the cipher's cores, plus lengths.
"""

from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.native import SCRATCH_BYTES, encrypt
from twofishkit.kernels.wide import CHUNK, CHUNK_BYTES
from twofishkit.kernels.wide_memory import copy_bytes, load_block
from twofishkit.kernels.xor import xor_bytes
from twofishkit.simd import vectors as v

#: Steps that share a staging area.
STEPS = 4
STAGE_BYTES = STEPS * CHUNK_BYTES

CBC, CFB, OFB = 0, 1, 2


@inline
def _gather(stage, src, stride, n):
    """Put 64 bytes of each of n rows into the stage: block s of row i at (s, i)."""
    for i in range(n):
        at = stage + 16 * i
        x = v.load(v.u64x8, src, stride * i)
        low, high = v.low(x), v.high(x)
        v.store(at, 0, v.low(low))
        v.store(at, CHUNK_BYTES, v.high(low))
        v.store(at, 2 * CHUNK_BYTES, v.low(high))
        v.store(at, 3 * CHUNK_BYTES, v.high(high))


@inline
def _scatter(dst, stride, stage, n):
    """The inverse of `_gather`."""
    for i in range(n):
        at = stage + 16 * i
        low = v.concat(load_block(at, 0), load_block(at, CHUNK_BYTES))
        high = v.concat(load_block(at, 2 * CHUNK_BYTES), load_block(at, 3 * CHUNK_BYTES))
        v.store(dst, stride * i, v.concat(low, high))


@inline
def _gather_blocks(stage, src, stride, n, m):
    """Put m <= 16 bytes of each of n rows into the stage's first step."""
    if m == 16:
        for i in range(n):
            v.store(stage, 16 * i, load_block(src, stride * i))
    else:
        for i in range(n):
            v.store(stage, 16 * i, v.load_first(v.u64x2, src, stride * i, m))


@inline
def _scatter_blocks(dst, stride, stage, n, m):
    """The inverse of `_gather_blocks`."""
    if m == 16:
        for i in range(n):
            v.store(dst, stride * i, load_block(stage, 16 * i))
    else:
        for i in range(n):
            v.store_first(dst, stride * i, load_block(stage, 16 * i), m)


@inline
def _head(target, length):
    """How many bytes come before the first cache line that starts in a row; 0 if rows differ in that."""
    return -target & 48 if length % 64 == 0 and target % 16 == 0 else 0


@inline
def _step(keys, scratch, previous, blocks, n, mode):
    """One block of n messages, in place; returns the address of what their next blocks are chained to."""
    if mode == CBC:
        xor_bytes(blocks, 0, blocks, 0, previous, 0, 16 * n)
        encrypt(keys, blocks, blocks, n, 0, scratch)
        return blocks
    if mode == CFB:
        encrypt(keys, previous, blocks, n, blocks, scratch)
        return blocks
    encrypt(keys, previous, previous, n, 0, scratch)
    xor_bytes(blocks, 0, blocks, 0, previous, 0, 16 * n)
    return previous


@inline
def _run(schedule, ivs, src, dst, mode):
    """A serial mode over the rows of src."""
    scratch, stage = v.stack(SCRATCH_BYTES), v.stack(STAGE_BYTES)
    keys = v.address(schedule)
    rows, length = src.shape
    for first in range(0, rows, CHUNK):
        n = min(CHUNK, rows - first)
        state = v.address(ivs) + 16 * first
        source, target = v.address(src) + length * first, v.address(dst) + length * first
        head = _head(target, length)
        at = 0
        while at < length:
            if at >= head and at + 16 * STEPS <= length:
                _gather(stage, source + at, length, n)
                previous = state
                for step in range(STEPS):
                    previous = _step(keys, scratch, previous, stage + CHUNK_BYTES * step, n, mode)
                _scatter(target + at, length, stage, n)
                m = 16 * STEPS
            else:
                m = min(16, length - at)
                _gather_blocks(stage, source + at, length, n, m)
                previous = _step(keys, scratch, state, stage, n, mode)
                _scatter_blocks(target + at, length, stage, n, m)
            if mode != OFB:
                copy_bytes(state, previous, 16 * n)
            at += m
    v.wipe(scratch, SCRATCH_BYTES)
    v.wipe(stage, STAGE_BYTES)


@kernel("void(u1[::1], u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def cbc_encrypt_many(schedule, ivs, src, dst):
    """CBC encryption of each row of src under its own iv. Source: SP 800-38A, 6.2."""
    _run(schedule, ivs, src, dst, CBC)


@kernel("void(u1[::1], u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def cfb_encrypt_many(schedule, ivs, src, dst):
    """CFB encryption of each row of src under its own iv. Source: SP 800-38A, 6.3."""
    _run(schedule, ivs, src, dst, CFB)


@kernel("void(u1[::1], u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def ofb_many(schedule, ivs, src, dst):
    """OFB of each row of src under its own iv. Source: SP 800-38A, 6.4."""
    _run(schedule, ivs, src, dst, OFB)
