"""GCM for any cipher with cores: CTR and GHASH over pieces that stay in L1, in one compiled call.

The bodies take ``update``, the GHASH of one instruction set: (table, y, src, start, n_blocks) as in
`ghash`. Each `gcm_*` module inlines them into its kernels. Arguments are those of
`twofishkit.slots.Kernels`.

Short messages are put together on the stack, so that E(J0) and the keystream are one call of the
core, and all that GHASH takes is one call too.

Source: NIST SP 800-38D, 7.1 and 7.2.
"""

import numpy as np
from numba import types

from twofishkit.kernels.counters import add_counter, load_counter, store_counter
from twofishkit.kernels.jit import inline
from twofishkit.kernels.native import SCRATCH_BYTES, encrypt, scratch_used
from twofishkit.kernels.wide import CHUNK_BYTES, WORK_BYTES, ctr_chunk
from twofishkit.kernels.wide_masks import fill_counters
from twofishkit.kernels.wide_memory import copy_bytes, is_tag, load_block
from twofishkit.kernels.words import load_u32, load_u64, store_u32, store_u64, swap_bytes
from twofishkit.kernels.xor import xor_bytes
from twofishkit.simd import vectors as v
from twofishkit.slots import SHORT_AAD_BYTES, SHORT_BYTES

_BYTES = types.Bytes(types.uint8, 1, "C")
_BYTEARRAY = types.ByteArray(types.uint8, 1, "C")
#: Signatures of the kernels that the `gcm_*` modules define.
WHOLE = "void(u1[::1], u8[::1], u1[::1], u1[::1], u1[::1], u1[::1])"
ROWS = "void(u1[::1], u8[::1], u1[::1], u1[::1], u1[:, ::1], u1[:, ::1])"
_SHORT = (types.uint8[::1], types.uint64[::1], _BYTES, _BYTES, _BYTES, _BYTEARRAY, types.int64)
SEAL, OPEN = types.void(*_SHORT), types.boolean(*_SHORT)
_LONG = (types.uint8[::1], types.uint64[::1], _BYTES, _BYTES, types.uint8[::1], types.uint8[::1])
SEAL_LONG, OPEN_LONG = types.void(*_LONG, _BYTEARRAY), types.boolean(*_LONG, _BYTES)

_TEXT_BYTES = SHORT_AAD_BYTES + SHORT_BYTES + 64


@inline
def absorb(update, table, y, src, n_bytes):
    """Absorb n bytes at an address, zeros filling the last block. Kept apart: y is an address too."""
    whole = n_bytes >> 4
    if whole:
        update(table, y, src, 0, whole)
    if n_bytes & 15:
        last = v.stack(16)
        v.store(last, 0, v.load_first(v.u64x2, src, 16 * whole, n_bytes & 15))
        update(table, y, last, 0, 1)


@inline
def encrypt_body(update, schedule, table, counter, y, src, dst):
    """dst = src ^ keystream, y absorbs dst; piece by piece."""
    scratch, work = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES)
    low, high = load_counter(counter, False)
    keys, source, target, state = v.address(schedule), v.address(src), v.address(dst), v.address(y)
    for at in range(0, src.size, CHUNK_BYTES):
        n = min(CHUNK_BYTES, src.size - at)
        low, high = ctr_chunk(keys, scratch, work, low, high, 32, False, source + at, target + at, n)
        absorb(update, table, state, target + at, n)
    store_counter(counter, 0, low, high, False)
    v.wipe(scratch, scratch_used(src.size))
    v.wipe(work, min(src.size + 64, WORK_BYTES))


@inline
def decrypt_body(update, schedule, table, counter, y, src, dst):
    """y absorbs src, dst = src ^ keystream; piece by piece."""
    scratch, work = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES)
    low, high = load_counter(counter, False)
    keys, source, target, state = v.address(schedule), v.address(src), v.address(dst), v.address(y)
    for at in range(0, src.size, CHUNK_BYTES):
        n = min(CHUNK_BYTES, src.size - at)
        absorb(update, table, state, source + at, n)
        low, high = ctr_chunk(keys, scratch, work, low, high, 32, False, source + at, target + at, n)
    store_counter(counter, 0, low, high, False)
    v.wipe(scratch, scratch_used(src.size))
    v.wipe(work, min(src.size + 64, WORK_BYTES))


@inline
def absorb_length(update, table, y, text, n_bytes):
    """Absorb the length block of a message without additional data; text is 16 bytes of scratch."""
    store_u64(text, 0, np.uint64(0))
    store_u64(text, 8, swap_bytes(np.uint64(8 * n_bytes)))
    update(table, y, text, 0, 1)


@inline
def encrypt_rows_body(update, schedule, table, counters, tags, src, dst):
    """Row i of dst = row i of src ^ keystream from counter i on; tag i = GHASH of it and its length."""
    scratch, work, text = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES), v.stack(16)
    keys, n_bytes = v.address(schedule), min(src.shape[1], dst.shape[1])
    for row in range(src.shape[0]):
        low, high = load_counter(v.address(counters) + 16 * row, False)
        source = v.address(src) + row * src.shape[1]
        target = v.address(dst) + row * dst.shape[1]
        state = v.address(tags) + 16 * row
        for at in range(0, n_bytes, CHUNK_BYTES):
            n = min(CHUNK_BYTES, n_bytes - at)
            low, high = ctr_chunk(keys, scratch, work, low, high, 32, False, source + at, target + at, n)
            absorb(update, table, state, target + at, n)
        absorb_length(update, table, state, text, n_bytes)
    v.wipe(scratch, scratch_used(n_bytes))
    v.wipe(work, min(n_bytes + 64, WORK_BYTES))


@inline
def decrypt_rows_body(update, schedule, table, counters, tags, src, dst):
    """The inverse: tag i = GHASH of row i of src and its length, row i of dst = row i of src ^ keystream."""
    scratch, work, text = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES), v.stack(16)
    keys, n_bytes = v.address(schedule), min(src.shape[1], dst.shape[1])
    for row in range(src.shape[0]):
        low, high = load_counter(v.address(counters) + 16 * row, False)
        source = v.address(src) + row * src.shape[1]
        target = v.address(dst) + row * dst.shape[1]
        state = v.address(tags) + 16 * row
        for at in range(0, n_bytes, CHUNK_BYTES):
            n = min(CHUNK_BYTES, n_bytes - at)
            absorb(update, table, state, source + at, n)
            low, high = ctr_chunk(keys, scratch, work, low, high, 32, False, source + at, target + at, n)
        absorb_length(update, table, state, text, n_bytes)
    v.wipe(scratch, scratch_used(n_bytes))
    v.wipe(work, min(n_bytes + 64, WORK_BYTES))


@inline
def keystream(keys, work, nonce, n_bytes, scratch):
    """Fill work with E(J0) and, behind it, the keystream of n bytes."""
    store_u64(work, 0, load_u64(nonce, 0))
    store_u32(work, 8, load_u32(nonce, 8))
    store_u32(work, 12, np.uint32(1 << 24))
    low, high = load_counter(work, False)
    blocks = 1 + ((n_bytes + 15) >> 4)
    fill_counters(work, low, high, blocks, 32, False)
    encrypt(keys, work, work, blocks, 0, scratch)


@inline
def start_text(text, aad, n_aad, n_bytes):
    """Lay out what GHASH takes, all but the ciphertext; returns where that starts and the blocks in all.

    text = aad, padded || ciphertext, padded || 8 len(aad) || 8 len(ciphertext)
    """
    start, length = (n_aad + 15) & -16, (n_bytes + 15) & -16
    if n_aad:
        v.store(text, start - 16, v.zero(v.u64x2))
        copy_bytes(text, aad, n_aad)
    if n_bytes:
        v.store(text, start + length - 16, v.zero(v.u64x2))
    store_u64(text, start + length, swap_bytes(np.uint64(8 * n_aad)))
    store_u64(text, start + length + 8, swap_bytes(np.uint64(8 * n_bytes)))
    return start, (start + length + 16) >> 4


@inline
def seal_body(update, schedule, table, nonce, aad, data, out, tag_length):
    """out = ciphertext || tag of a short message."""
    scratch, work, text, y = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES), v.stack(_TEXT_BYTES), v.stack(16)
    n, target = len(data), v.address(out)
    keystream(v.address(schedule), work, v.address(nonce), n, scratch)
    start, blocks = start_text(text, v.address(aad), len(aad), n)
    xor_bytes(target, 0, v.address(data), 0, work, 16, n)
    copy_bytes(text + start, target, n)
    v.store(y, 0, v.zero(v.u64x2))
    update(table, y, text, 0, blocks)
    v.store_first(target, n, load_block(y, 0) ^ load_block(work, 0), tag_length)
    v.wipe(scratch, scratch_used(n + 16))
    v.wipe(work, n + 80)


@inline
def open_body(update, schedule, table, nonce, aad, data, out, tag_length):
    """out = plaintext if the tag behind the ciphertext in data is right; returns whether it is."""
    scratch, work, text, y = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES), v.stack(_TEXT_BYTES), v.stack(16)
    n, source = len(data) - tag_length, v.address(data)
    keystream(v.address(schedule), work, v.address(nonce), n, scratch)
    start, blocks = start_text(text, v.address(aad), len(aad), n)
    copy_bytes(text + start, source, n)
    v.store(y, 0, v.zero(v.u64x2))
    update(table, y, text, 0, blocks)
    genuine = is_tag(load_block(y, 0) ^ load_block(work, 0), y, source + n, tag_length)
    if genuine:
        xor_bytes(v.address(out), 0, source, 0, work, 16, n)
    v.wipe(scratch, scratch_used(n + 16))
    v.wipe(work, n + 80)
    return genuine


# Messages of any length --------------------------------------------------------------------------


@inline
def start_long(update, keys, table, j0, aad, work, y):
    """Return the counter after J0; E(J0) is then in the first 16 bytes of work, y has absorbed aad."""
    v.store(y, 0, v.zero(v.u64x2))
    for at in range(0, len(aad), CHUNK_BYTES):
        n = min(CHUNK_BYTES, len(aad) - at)
        v.store(work, (n - 1) & -16, v.zero(v.u64x2))
        copy_bytes(work, v.address(aad) + at, n)
        update(table, y, work, 0, (n + 15) >> 4)
    encrypt(keys, v.address(j0), work, 1, 0, 0)
    low, high = load_counter(v.address(j0), False)
    return add_counter(low, high, 1, 32)


@inline
def end_text(update, table, y, n_aad, text, n_bytes):
    """Absorb what of n bytes at an address does not fill a block, and the lengths."""
    tail, rest = v.stack(32), n_bytes & 15
    v.store(tail, 0, v.load_first(v.u64x2, text, n_bytes - rest, rest))
    at = 16 if rest else 0
    store_u64(tail, at, swap_bytes(np.uint64(8 * n_aad)))
    store_u64(tail, at + 8, swap_bytes(np.uint64(8 * n_bytes)))
    update(table, y, tail, 0, 1 + (at >> 4))


@inline
def seal_long_body(update, schedule, table, j0, aad, src, dst, tag):
    """dst = src ^ keystream, tag of 16 bytes."""
    scratch, work, y, mask = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES), v.stack(16), v.stack(16)
    keys, source, target = v.address(schedule), v.address(src), v.address(dst)
    low, high = start_long(update, keys, table, j0, aad, work, y)
    v.store(mask, 0, load_block(work, 0))
    for at in range(0, src.size, CHUNK_BYTES):
        n = min(CHUNK_BYTES, src.size - at)
        low, high = ctr_chunk(keys, scratch, work, low, high, 32, False, source + at, target + at, n)
        update(table, y, target + at, 0, n >> 4)
    end_text(update, table, y, len(aad), target, src.size)
    v.store(v.address(tag), 0, load_block(y, 0) ^ load_block(mask, 0))
    v.wipe(scratch, scratch_used(src.size))
    v.wipe(work, min(src.size + 64, WORK_BYTES))
    v.wipe(mask, 16)


@inline
def open_long_body(update, schedule, table, j0, aad, src, dst, tag):
    """dst = src ^ keystream if the tag, up to 16 bytes, is right; returns whether it is."""
    scratch, work, y = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES), v.stack(16)
    keys, source, target = v.address(schedule), v.address(src), v.address(dst)
    low, high = start_long(update, keys, table, j0, aad, work, y)
    update(table, y, source, 0, src.size >> 4)
    end_text(update, table, y, len(aad), source, src.size)
    genuine = is_tag(load_block(y, 0) ^ load_block(work, 0), y, v.address(tag), len(tag))
    if genuine:
        for at in range(0, src.size, CHUNK_BYTES):
            n = min(CHUNK_BYTES, src.size - at)
            low, high = ctr_chunk(keys, scratch, work, low, high, 32, False, source + at, target + at, n)
    v.wipe(scratch, scratch_used(src.size))
    v.wipe(work, min(src.size + 64, WORK_BYTES))
    return genuine
