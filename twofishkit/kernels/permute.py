"""Twofish on AVX-512 byte permutes and GFNI: 64 blocks side by side, no table in memory is indexed.

One round of one batch (64 blocks, 1 KiB), for each of its two g functions:

1. *slice*    four dword vectors -> one vector per byte position (4 byte permutes, 4 unpacks)
2. *S-boxes*  a 256-byte table is four registers: two `vpermi2b` on the low seven bits, a blend on bit 7.
              Position j of A and position j - 1 of B (its rotation by 8 is a renaming) share a table.
3. *MDS*      products by 5B and EF are one `vgf2p8affineqb` each
4. *join*     bytes -> dwords by unpacks; then PHT, round keys and rotations on dwords

A batch alone waits for its own latency (about 130 cycles a round). So up to eight batches lie in an L1
scratch array, and each round runs over all of them before the next begins: about 88 cycles a batch
and round. Up to 16 blocks take `permute_few` instead.

Counters are made in the kernel, see `permute_counters`.

Cost: 1.37 cycles per byte from 8 KiB on Zen 4, for all key sizes and both directions.
Timing: constant; no address and no branch depends on key or data, only on the number of blocks.
"""

from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.native import core
from twofishkit.kernels.permute_counters import first_batch, load_start, other_batches, store_few
from twofishkit.kernels.permute_few import FEW, few
from twofishkit.kernels.permute_schedule import (
    REQUIRES,
    SCHEDULE_BYTES,
    SUBKEYS,
    TABLES,
    expand,
    expand_into,
    look_up,
    mds,
)
from twofishkit.kernels.rounds import finish_round, join_bytes, load_batch, store_batch
from twofishkit.kernels.wide_slots import make_slots
from twofishkit.kernels.words import load_u32
from twofishkit.simd import vectors as v

__all__ = ["REQUIRES", "SLOTS"]

BATCH = 64
BATCHES = 8
BATCH_BYTES = 16 * BATCH

# slice: bytes 0 (or 2) of a block of two vectors, then bytes 1 (or 3).
BYTES_01 = v.lanes(*(4 * k + j + side for j in (0, 1) for side in (0, 16) for k in range(4)))
BYTES_23 = v.lanes(*(4 * k + j + side for j in (2, 3) for side in (0, 16) for k in range(4)))


@inline
def slice_words(v0, v1, v2, v3):
    """Four vectors of words to four of their bytes 0, 1, 2, 3; `join_bytes` is the inverse."""
    b0, b1, b2, b3 = v.as_u8(v0), v.as_u8(v1), v.as_u8(v2), v.as_u8(v3)
    low01, low23 = v.as_u64(v.shuffle_blocks(b0, b1, BYTES_01)), v.as_u64(v.shuffle_blocks(b2, b3, BYTES_01))
    high01, high23 = (
        v.as_u64(v.shuffle_blocks(b0, b1, BYTES_23)),
        v.as_u64(v.shuffle_blocks(b2, b3, BYTES_23)),
    )
    return (
        v.as_u8(v.unpack_low(low01, low23)),
        v.as_u8(v.unpack_high(low01, low23)),
        v.as_u8(v.unpack_low(high01, high23)),
        v.as_u8(v.unpack_high(high01, high23)),
    )


@inline
def look_up_two(schedule, j, x, y):
    """S-box j of two vectors."""
    at = TABLES + 256 * j
    t0, t1 = v.load(v.u8x64, schedule, at), v.load(v.u8x64, schedule, at + 64)
    t2, t3 = v.load(v.u8x64, schedule, at + 128), v.load(v.u8x64, schedule, at + 192)
    return look_up(t0, t1, t2, t3, x), look_up(t0, t1, t2, t3, y)


@inline
def wide_round(schedule, scratch, source, target, k0, k1, decrypting):
    """One round of one batch: the words at ``target`` change by F of those at ``source``."""
    T = v.u32x16
    a0, a1, a2, a3 = slice_words(
        v.load(T, scratch, source),
        v.load(T, scratch, source + 64),
        v.load(T, scratch, source + 128),
        v.load(T, scratch, source + 192),
    )
    b0, b1, b2, b3 = slice_words(
        v.load(T, scratch, source + 256),
        v.load(T, scratch, source + 320),
        v.load(T, scratch, source + 384),
        v.load(T, scratch, source + 448),
    )
    a0, b3 = look_up_two(schedule, 0, a0, b3)
    a1, b0 = look_up_two(schedule, 1, a1, b0)
    a2, b1 = look_up_two(schedule, 2, a2, b1)
    a3, b2 = look_up_two(schedule, 3, a3, b2)
    y0, y1, y2, y3 = mds(a0, a1, a2, a3)
    z0, z1, z2, z3 = mds(b3, b0, b1, b2)
    t0 = join_bytes(y0, y1, y2, y3)
    t1 = join_bytes(z0, z1, z2, z3)
    finish_round(T, scratch, target, t0, t1, k0, k1, decrypting)


@inline
def wide_rounds(schedule, scratch, batches, decrypting, counting, start, number):
    """All 16 rounds of the batches in scratch, round by round; counters are there in batch 0 only."""
    for i in range(16):
        r = 15 - i if decrypting else i
        source = (r & 1) * 512
        at = SUBKEYS + 32 + 8 * r
        k0, k1 = v.splat(v.u32x16, load_u32(schedule, at)), v.splat(v.u32x16, load_u32(schedule, at + 4))
        alone = counting and i == 0
        for b in range(1 if alone else batches):
            wide_round(schedule, scratch + BATCH_BYTES * b, source, 512 - source, k0, k1, decrypting)
        if alone:
            other_batches(schedule, scratch, start, number, batches)


@inline
def lanes_of(n, at):
    """The 64-bit lanes of a vector ``at`` bytes after the start that belong to n blocks."""
    return v.iota(v.u64x8) < v.splat(v.u64x8, 2 * n - (at >> 3))


@inline
def load_padded(padded, src, n):
    """Copy n blocks, less than a batch, to the start of a whole batch."""
    for at in range(0, 16 * n, 64):
        v.store(padded, at, v.load_masked(v.u64x8, src, at, lanes_of(n, at)))


@inline
def store_padded(dst, padded, n, mask):
    """The first n blocks of a batch, last to first, XORed with those at ``mask`` unless that is 0."""
    at = 16 * n & -64
    while at >= 0:
        lanes = lanes_of(n, at)
        x = v.load(v.u64x8, padded, at)
        if mask != 0:
            x = x ^ v.load_masked(v.u64x8, mask, at, lanes)
        v.store_masked(dst, at, x, lanes)
        at -= 64


@inline
def wide(schedule, src, dst, n, mask, scratch, decrypting, counting, start, number):
    """Cipher n blocks, 1 <= n <= BATCHES * BATCH; the last batch may be partial and runs padded.

    If ``counting``, they are counters from ``number`` on (`permute_counters`), and src is of no matter.
    """
    before, after = schedule + SUBKEYS, schedule + SUBKEYS + 16
    if decrypting:
        before, after = after, before
    batches, whole = (n + BATCH - 1) // BATCH, n // BATCH
    padded, rest = scratch + BATCH_BYTES * batches, n - BATCH * whole
    first = 512 if decrypting else 0
    second = 512 - first
    end = BATCH_BYTES * whole
    if counting:
        first_batch(schedule, scratch, start, number)
    else:
        for at in range(0, end, BATCH_BYTES):
            load_batch(v.u32x16, scratch + at, src + at, before, first, second)
        if rest:
            load_padded(padded, src + end, rest)
            load_batch(v.u32x16, scratch + end, padded, before, first, second)
    wide_rounds(schedule, scratch, batches, decrypting, counting, start, number)
    if rest:
        store_batch(v.u32x16, padded, scratch + end, after, second, first, 0)
        store_padded(dst + end, padded, rest, mask + end if mask else 0)
    for b in range(whole - 1, -1, -1):
        at = BATCH_BYTES * b
        store_batch(v.u32x16, dst + at, scratch + at, after, second, first, mask + at if mask else 0)


@inline
def cipher(schedule, src, dst, n, mask, scratch, decrypting):
    """Cipher any number of blocks from the end: the last few, then batches."""
    counting, start = src == 0 and not decrypting, v.zero(v.u32x4)
    if counting:
        start = load_start(scratch)
    rest = n % BATCH
    if rest <= FEW:
        n -= rest
        source = src + 16 * n
        if counting:
            source = scratch
            store_few(scratch, start, n, rest)
        few(schedule, source, dst + 16 * n, rest, mask + 16 * n if mask else 0, decrypting)
    while n > 0:
        m = n % (BATCHES * BATCH)
        m = m if m else BATCHES * BATCH
        n -= m
        at, masks = 16 * n, mask + 16 * n if mask else 0
        wide(schedule, src + at, dst + at, m, masks, scratch, decrypting, counting, start, n)


@core
def permute_encrypt(schedule, src, dst, n, mask, scratch):
    """dst = E(src) ^ mask, block by block; a core that counts, see `native`. Timing: constant."""
    cipher(schedule, src, dst, n, mask, scratch, False)


@core
def permute_decrypt(schedule, src, dst, n, mask, scratch):
    """dst = D(src) ^ mask, block by block; a core, see `native`. Timing: constant."""
    cipher(schedule, src, dst, n, mask, scratch, True)


@inline
def each(keys, src, dst, decrypting):
    """Block i under key i, the schedule made on the stack."""
    schedule, scratch = v.stack(SCHEDULE_BYTES), v.stack(256)
    n, length = keys.shape
    for i in range(n):
        expand(schedule, v.address(keys) + length * i, length >> 3, scratch)
        few(schedule, v.address(src) + 16 * i, v.address(dst) + 16 * i, 1, 0, decrypting)
    v.wipe(schedule, SCHEDULE_BYTES)
    v.wipe(scratch, 256)


@kernel("void(u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def encrypt_each(keys, src, dst):
    """dst[i] = E(src[i]) under keys[i]; keys uint8[n, 16 | 24 | 32], blocks uint8[n, 16]."""
    each(keys, src, dst, False)


@kernel("void(u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def decrypt_each(keys, src, dst):
    """dst[i] = D(src[i]) under keys[i]."""
    each(keys, src, dst, True)


SLOTS = make_slots(
    "permute",
    counting=True,
    encrypt_core=permute_encrypt,
    decrypt_core=permute_decrypt,
    expand_into=expand_into,
    schedule_bytes=SCHEDULE_BYTES,
    encrypt_each=encrypt_each,
    decrypt_each=decrypt_each,
)
