"""Serial modes of many independent messages, side by side in the wide cores.

Row i of a (n, m) array is a message of its own, under its own iv. A step takes the next block of up to
CHUNK rows. Rows are read and written 64 bytes (four steps) at a time: with rows of 4 KiB the same
columns of all rows fall into one set of the cache, and a line must not be fetched four times.

Timing: that of the cipher's cores, plus lengths.
"""

from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.native import encrypt
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
        x = v.load(v.u64x8, src, stride * i)
        low, high = v.low(x), v.high(x)
        v.store(stage, 16 * i, v.low(low))
        v.store(stage, CHUNK_BYTES + 16 * i, v.high(low))
        v.store(stage, 2 * CHUNK_BYTES + 16 * i, v.low(high))
        v.store(stage, 3 * CHUNK_BYTES + 16 * i, v.high(high))


@inline
def _scatter(dst, stride, stage, n):
    """The inverse of `_gather`."""
    for i in range(n):
        low = v.concat(load_block(stage, 16 * i), load_block(stage, CHUNK_BYTES + 16 * i))
        high = v.concat(
            load_block(stage, 2 * CHUNK_BYTES + 16 * i), load_block(stage, 3 * CHUNK_BYTES + 16 * i)
        )
        v.store(dst, stride * i, v.concat(low, high))


@inline
def _step(keys, state, blocks, n, mode):
    """One block of n messages, in place; state holds what each message's next block needs."""
    if mode == CBC:
        xor_bytes(state, 0, state, 0, blocks, 0, 16 * n)
        encrypt(keys, state, state, n)
        copy_bytes(blocks, state, 16 * n)
    elif mode == CFB:
        encrypt(keys, state, state, n)
        xor_bytes(blocks, 0, blocks, 0, state, 0, 16 * n)
        copy_bytes(state, blocks, 16 * n)
    else:
        encrypt(keys, state, state, n)
        xor_bytes(blocks, 0, blocks, 0, state, 0, 16 * n)


@inline
def _run(schedule, ivs, src, dst, mode):
    """A serial mode over the rows of src."""
    stage = v.stack(STAGE_BYTES)
    keys = v.address(schedule)
    rows, length = src.shape
    for first in range(0, rows, CHUNK):
        n = min(CHUNK, rows - first)
        state = v.address(ivs) + 16 * first
        source, target = v.address(src) + length * first, v.address(dst) + length * first
        at = 0
        while at + 64 <= length:
            _gather(stage, source + at, length, n)
            for step in range(STEPS):
                _step(keys, state, stage + CHUNK_BYTES * step, n, mode)
            _scatter(target + at, length, stage, n)
            at += 64
        while at < length:
            m = min(16, length - at)
            for i in range(n):
                v.store(stage, 16 * i, v.load_first(v.u64x2, source, length * i + at, m))
            _step(keys, state, stage, n, mode)
            for i in range(n):
                v.store_first(target, length * i + at, load_block(stage, 16 * i), m)
            at += 16
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
