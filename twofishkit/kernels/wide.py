"""The modes, compiled once for every cipher whose schedule carries its cores (see `native`).

A mode takes a stretch of up to CHUNK blocks, which with its scratch stays in L1, prepares what the cipher
reads, has all of it ciphered in one call, and combines the result with the source. Arguments are those of the
slots (`twofishkit.slots`). Everything is read before the same bytes are written, so that dst may be src.

Scratch that held keystream or message is wiped at the end of each call.

Timing: that of the cipher's cores, plus lengths.
"""

import numpy as np
from numba import types

from twofishkit.kernels.counters import add_counter, load_counter, store_counter
from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.native import SCRATCH_BYTES, counts, decrypt, encrypt, scratch_used
from twofishkit.kernels.wide_masks import fill_counters, fill_offsets, fill_tweaks
from twofishkit.kernels.wide_memory import copy_bytes, load_block, sum_blocks
from twofishkit.kernels.words import load_u8, load_u64, store_u8, store_u64
from twofishkit.kernels.xor import xor_bytes
from twofishkit.simd import vectors as v

#: Blocks that a mode works on at a time.
CHUNK = 256
CHUNK_BYTES = 16 * CHUNK
#: The same where nothing has to be prepared.
LONG_CHUNK_BYTES = 2 * CHUNK_BYTES
#: Scratch for a chunk: what `fill_tweaks` and `fill_counters` may write beyond it is included.
WORK_BYTES = CHUNK_BYTES + 256

#: So few counters come ready from `fill_counters` sooner than from a core.
COUNTERS_AT_ONCE = 16
LOW_32 = np.uint64(0xFFFFFFFF)

_BYTES = types.Bytes(types.uint8, 1, "C")
_BYTEARRAY = types.ByteArray(types.uint8, 1, "C")


@kernel("void(u1[::1], u1[::1], u1[::1])")
def encrypt_blocks(schedule, src, dst):
    """dst = E(src), block by block."""
    scratch = v.stack(SCRATCH_BYTES)
    encrypt(v.address(schedule), v.address(src), v.address(dst), src.size >> 4, 0, scratch)
    v.wipe(scratch, scratch_used(src.size))


@kernel("void(u1[::1], u1[::1], u1[::1])")
def decrypt_blocks(schedule, src, dst):
    """dst = D(src), block by block."""
    scratch = v.stack(SCRATCH_BYTES)
    decrypt(v.address(schedule), v.address(src), v.address(dst), src.size >> 4, 0, scratch)
    v.wipe(scratch, scratch_used(src.size))


@inline
def countable(keys, low, n_bytes, counter_bits, little_endian):
    """Whether the core can make the counters of n bytes by itself: whole blocks, and no carry of 2^32."""
    if little_endian or n_bytes & 15 or not counts(keys):
        return False
    return counter_bits == 32 or np.uint64(low & LOW_32) + np.uint64(n_bytes >> 4) <= LOW_32


@inline
def ctr_chunk(keys, scratch, work, low, high, counter_bits, little_endian, src, dst, n_bytes):
    """dst = src ^ keystream, all by address; returns the next counter.

    At most CHUNK_BYTES, but any number if they are `countable`.
    """
    n = (n_bytes + 15) >> 4
    if n > COUNTERS_AT_ONCE and countable(keys, low, n_bytes, counter_bits, little_endian):
        store_counter(scratch, 0, low, high, False)
        encrypt(keys, 0, dst, n, src, scratch)
        return add_counter(low, high, n, counter_bits)
    low, high = fill_counters(work, low, high, n, counter_bits, little_endian)
    if n_bytes & 15:
        encrypt(keys, work, work, n, 0, scratch)
        xor_bytes(dst, 0, src, 0, work, 0, n_bytes)
    else:
        encrypt(keys, work, dst, n, src, scratch)
    return low, high


@kernel("void(u1[::1], u1[::1], i8, b1, u1[::1], u1[::1])")
def ctr(schedule, counter, counter_bits, little_endian, src, dst):
    """dst = src ^ E(counter), E(counter + 1), ...; any length. Source: SP 800-38A, 6.5."""
    scratch, work = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES)
    low, high = load_counter(counter, little_endian)
    keys, source, target = v.address(schedule), v.address(src), v.address(dst)
    at = 0
    while at < src.size:
        n_bytes = min(LONG_CHUNK_BYTES, src.size - at)
        if not countable(keys, low, n_bytes, counter_bits, little_endian):
            n_bytes = min(CHUNK_BYTES, n_bytes)
        low, high = ctr_chunk(
            keys, scratch, work, low, high, counter_bits, little_endian, source + at, target + at, n_bytes
        )
        at += n_bytes
    store_counter(counter, 0, low, high, little_endian)
    v.wipe(scratch, scratch_used(src.size))
    v.wipe(work, min(src.size + 64, WORK_BYTES))


@kernel(types.void(types.uint8[::1], _BYTES, types.int64, types.boolean, _BYTES, _BYTEARRAY))
def ctr_message(schedule, iv, counter_bits, little_endian, data, out):
    """out = data ^ keystream for a short message in bytes objects; the iv is left alone."""
    n, work = len(data), v.stack(WORK_BYTES)
    scratch = v.stack(SCRATCH_BYTES)
    low, high = load_counter(v.address(iv), little_endian)
    ctr_chunk(
        v.address(schedule),
        scratch,
        work,
        low,
        high,
        counter_bits,
        little_endian,
        v.address(data),
        v.address(out),
        n,
    )
    v.wipe(scratch, scratch_used(n))
    v.wipe(work, n + 64)


# One block after the other ------------------------------------------------------------------------


@kernel("void(u1[::1], u1[::1], u1[::1], u1[::1])")
def cbc_encrypt(schedule, iv, src, dst):
    """C_i = E(P_i ^ C_{i-1}), C_0 = iv; whole blocks. Source: SP 800-38A, 6.2."""
    keys, source, target, state = v.address(schedule), v.address(src), v.address(dst), v.address(iv)
    last = src.size - 16
    if last >= 0:
        v.store(state, 0, load_block(state, 0) ^ load_block(source, 0))
        for at in range(0, last, 16):
            # The core itself chains the next block, C_i ^ P_{i+1}; taking that apart keeps nobody waiting.
            encrypt(keys, state, state, 1, source + at + 16, 0)
            v.store(target, at, load_block(state, 0) ^ load_block(source, at + 16))
        encrypt(keys, state, target + last, 1, 0, 0)
        v.store(state, 0, load_block(target, last))


@kernel("void(u1[::1], u1[::1], u1[::1])")
def cbc_mac(schedule, state, src):
    """state = E(state ^ block) for each whole block of src."""
    keys, words, source, last = v.address(schedule), v.address(state), v.address(src), src.size - 16
    if last >= 0:
        v.store(words, 0, load_block(words, 0) ^ load_block(source, 0))
        for at in range(0, last, 16):
            encrypt(keys, words, words, 1, source + at + 16, 0)
        encrypt(keys, words, words, 1, 0, 0)


@kernel("void(u1[::1], u1[::1], u1[::1], u1[::1])")
def cfb_encrypt(schedule, iv, src, dst):
    """C_i = P_i ^ E(C_{i-1}), C_0 = iv; a partial last block ends it. Source: SP 800-38A, 6.3."""
    keys, source, target, state = v.address(schedule), v.address(src), v.address(dst), v.address(iv)
    whole = src.size & ~15
    previous = state
    for at in range(0, whole, 16):
        encrypt(keys, previous, target + at, 1, source + at, 0)
        previous = target + at
    if whole < src.size:
        encrypt(keys, previous, state, 1, 0, 0)
        xor_bytes(target, whole, source, whole, state, 0, src.size - whole)
    elif whole:
        v.store(state, 0, load_block(previous, 0))


@kernel("void(u1[::1], u1[::1], u1[::1], u1[::1])")
def ofb(schedule, iv, src, dst):
    """dst = src ^ E(iv), E(E(iv)), ...; any length. Source: SP 800-38A, 6.4."""
    keys, state = v.address(schedule), v.address(iv)
    for at in range(0, src.size, 16):
        encrypt(keys, state, state, 1, 0, 0)
        xor_bytes(dst, at, src, at, iv, 0, min(16, src.size - at))


@inline
def shift_in(low, high, byte):
    """CFB-8's register (low, high), its first byte dropped and one byte appended."""
    moved = np.uint64(np.uint64(high << np.uint64(56)) | (low >> np.uint64(8)))
    return moved, np.uint64(np.uint64(np.uint64(byte) << np.uint64(56)) | (high >> np.uint64(8)))


@kernel("void(u1[::1], u1[::1], u1[::1], u1[::1])")
def cfb8_encrypt(schedule, iv, src, dst):
    """CFB-8: a byte is XORed with the first byte of E(register), then shifted in. Source: SP 800-38A, 6.3."""
    keys, work = v.address(schedule), v.stack(16)
    low, high = load_u64(iv, 0), load_u64(iv, 8)
    for at in range(src.size):
        store_u64(work, 0, low)
        store_u64(work, 8, high)
        encrypt(keys, work, work, 1, 0, 0)
        byte = np.uint8(load_u8(src, at) ^ load_u8(work, 0))
        store_u8(dst, at, byte)
        low, high = shift_in(low, high, byte)
    store_u64(iv, 0, low)
    store_u64(iv, 8, high)
    v.wipe(work, 16)


# All blocks at once -------------------------------------------------------------------------------


@kernel("void(u1[::1], u1[::1], u1[::1], u1[::1])")
def cbc_decrypt(schedule, iv, src, dst):
    """P_i = D(C_i) ^ C_{i-1}, C_0 = iv; whole blocks. Source: SP 800-38A, 6.2."""
    scratch, work = v.stack(SCRATCH_BYTES), v.stack(CHUNK_BYTES)
    keys, source, target, n = v.address(schedule), v.address(src), v.address(dst), src.size >> 4
    if n:
        previous = load_block(source, 16 * (n - 1))
        head = min(n, CHUNK)
        rest = n - head
        at = 16 * head
        decrypt(keys, source + at, target + at, rest, source + at - 16, scratch)
        # The first block's neighbour is the iv, wherever that is: line it up with the others.
        v.store(work, 0, v.load(v.u64x2, iv, 0))
        copy_bytes(work + 16, source, at - 16)
        decrypt(keys, source, target, head, work, scratch)
        v.store(iv, 0, previous)
    v.wipe(scratch, scratch_used(src.size))


@kernel("void(u1[::1], u1[::1], u1[::1], u1[::1])")
def cfb_decrypt(schedule, iv, src, dst):
    """P_i = C_i ^ E(C_{i-1}), C_0 = iv; any length. Source: SP 800-38A, 6.3."""
    scratch, work = v.stack(SCRATCH_BYTES), v.stack(CHUNK_BYTES)
    keys, source, target, n = v.address(schedule), v.address(src), v.address(dst), src.size >> 4
    tail = src.size - 16 * n
    if tail:
        last = v.stack(16)
        before = source + 16 * (n - 1) if n else v.address(iv)
        encrypt(keys, before, last, 1, 0, 0)
        xor_bytes(target, 16 * n, source, 16 * n, last, 0, tail)
        v.wipe(last, 16)
    if n:
        previous = load_block(source, 16 * (n - 1))
        head = min(n, CHUNK)
        rest = n - head
        at = 16 * head
        encrypt(keys, source + at - 16, target + at, rest, source + at, scratch)
        v.store(work, 0, v.load(v.u64x2, iv, 0))
        copy_bytes(work + 16, source, at - 16)
        encrypt(keys, work, target, head, source, scratch)
        v.store(iv, 0, previous)
    v.wipe(scratch, scratch_used(src.size))


@kernel("void(u1[::1], u1[::1], u1[::1], u1[::1])")
def cfb8_decrypt(schedule, iv, src, dst):
    """CFB-8 decryption: every register is known, so a chunk of them runs at once."""
    scratch, work = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES)
    keys = v.address(schedule)
    low, high = load_u64(iv, 0), load_u64(iv, 8)
    for at in range(0, src.size, CHUNK):
        n = min(CHUNK, src.size - at)
        for i in range(n):
            store_u64(work, 16 * i, low)
            store_u64(work, 16 * i + 8, high)
            low, high = shift_in(low, high, load_u8(src, at + i))
        encrypt(keys, work, work, n, 0, scratch)
        for i in range(n):
            store_u8(dst, at + i, load_u8(src, at + i) ^ load_u8(work, 16 * i))
    store_u64(iv, 0, low)
    store_u64(iv, 8, high)
    v.wipe(scratch, SCRATCH_BYTES)
    v.wipe(work, WORK_BYTES)


@inline
def xts_blocks(keys, tweak, source, target, units, in_unit, decrypting):
    """C = E(P ^ T) ^ T, T times alpha from block to block, for units of so many blocks each.

    All by address: of the tweaks one after the other, too, and they move on. A chunk runs on across units.
    """
    scratch, work, masks = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES), v.stack(WORK_BYTES)
    blocks = units * in_unit
    left = in_unit
    for first in range(0, blocks, CHUNK):
        n = min(CHUNK, blocks - first)
        filled = 0
        while filled < n:
            if left == 0:
                tweak += 16
                left = in_unit
            m = min(left, n - filled)
            v.store(tweak, 0, fill_tweaks(masks + 16 * filled, load_block(tweak, 0), m))
            filled += m
            left -= m
        xor_bytes(work, 0, source, 16 * first, masks, 0, 16 * n)
        if decrypting:
            decrypt(keys, work, target + 16 * first, n, masks, scratch)
        else:
            encrypt(keys, work, target + 16 * first, n, masks, scratch)
    v.wipe(scratch, scratch_used(16 * blocks))
    v.wipe(work, min(16 * blocks + 64, WORK_BYTES))
    v.wipe(masks, min(16 * blocks + 256, WORK_BYTES))


@inline
def xts_run(schedule, tweaks, src, dst, decrypting):
    """`xts_blocks` for arrays."""
    units, length = src.shape
    keys, tweak, source, target = v.address(schedule), v.address(tweaks), v.address(src), v.address(dst)
    xts_blocks(keys, tweak, source, target, units, length >> 4, decrypting)


@kernel("void(u1[::1], u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def xts_encrypt(schedule, tweaks, src, dst):
    """XTS over whole blocks. Source: IEEE 1619-2007, 5.3."""
    xts_run(schedule, tweaks, src, dst, False)


@kernel("void(u1[::1], u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def xts_decrypt(schedule, tweaks, src, dst):
    """XTS over whole blocks. Source: IEEE 1619-2007, 5.4."""
    xts_run(schedule, tweaks, src, dst, True)


@inline
def ocb_blocks(keys, ls, mask, first_number, source, target, blocks, decrypting):
    """C_i = E(P_i ^ Offset_i) ^ Offset_i, or the inverse, all by address; mask is the offset before.

    Returns the last offset and the sum of all P_i: from src before a chunk is written, or from dst after.
    """
    scratch, work, masks = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES), v.stack(WORK_BYTES)
    total = v.zero(v.u64x2)
    for first in range(0, blocks, CHUNK):
        n = min(CHUNK, blocks - first)
        mask = fill_offsets(masks, mask, ls, first_number + first, n)
        xor_bytes(work, 0, source, 16 * first, masks, 0, 16 * n)
        if decrypting:
            decrypt(keys, work, target + 16 * first, n, masks, scratch)
            total = sum_blocks(total, target + 16 * first, n)
        else:
            total = sum_blocks(total, source + 16 * first, n)
            encrypt(keys, work, target + 16 * first, n, masks, scratch)
    v.wipe(scratch, scratch_used(16 * blocks))
    v.wipe(work, min(16 * blocks + 64, WORK_BYTES))
    v.wipe(masks, min(16 * blocks + 256, WORK_BYTES))
    return mask, total


@inline
def ocb_run(schedule, ls, offset, checksum, first_number, src, dst, decrypting):
    """`ocb_blocks` for arrays; checksum ^= P_i."""
    source, target, before = v.address(src), v.address(dst), v.load(v.u64x2, offset, 0)
    mask, total = ocb_blocks(
        v.address(schedule), v.address(ls), before, first_number, source, target, src.size >> 4, decrypting
    )
    v.store(offset, 0, mask)
    v.store(checksum, 0, total ^ v.load(v.u64x2, checksum, 0))


@kernel("void(u1[::1], u1[:, ::1], u1[::1], u1[::1], i8, u1[::1], u1[::1])")
def ocb_encrypt(schedule, ls, offset, checksum, first_number, src, dst):
    """OCB over whole blocks. Source: RFC 7253, section 4.2."""
    ocb_run(schedule, ls, offset, checksum, first_number, src, dst, False)


@kernel("void(u1[::1], u1[:, ::1], u1[::1], u1[::1], i8, u1[::1], u1[::1])")
def ocb_decrypt(schedule, ls, offset, checksum, first_number, src, dst):
    """OCB over whole blocks. Source: RFC 7253, section 4.3."""
    ocb_run(schedule, ls, offset, checksum, first_number, src, dst, True)


@inline
def ocb_sum(keys, ls, mask, first_number, source, blocks):
    """The last offset and the sum of E(A_i ^ Offset_i) for blocks at an address; mask is the one before."""
    scratch, work, total = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES), v.zero(v.u64x2)
    for first in range(0, blocks, CHUNK):
        n = min(CHUNK, blocks - first)
        mask = fill_offsets(work, mask, ls, first_number + first, n)
        xor_bytes(work, 0, source, 16 * first, work, 0, 16 * n)
        encrypt(keys, work, work, n, 0, scratch)
        total = sum_blocks(total, work, n)
    v.wipe(scratch, scratch_used(16 * blocks))
    v.wipe(work, min(16 * blocks + 64, WORK_BYTES))
    return mask, total


@kernel("void(u1[::1], u1[:, ::1], u1[::1], u1[::1], i8, u1[::1])")
def ocb_hash(schedule, ls, offset, total, first_number, src):
    """total ^= E(A_i ^ Offset_i) for each whole block A_i. Source: RFC 7253, section 4.1."""
    mask, sum_ = ocb_sum(
        v.address(schedule),
        v.address(ls),
        v.load(v.u64x2, offset, 0),
        first_number,
        v.address(src),
        src.size >> 4,
    )
    v.store(offset, 0, mask)
    v.store(total, 0, sum_ ^ v.load(v.u64x2, total, 0))
