"""OCB for any cipher with cores: a whole message, associated data and tag in one compiled call.

Arguments are those of `twofishkit.slots.CipherSlots`: ``constants`` are L_*, L_$, L_0, L_1, ... of RFC 7253.

Source: RFC 7253, 4.1 to 4.3.

Timing: that of the cipher's cores, plus lengths.
"""

import numpy as np
from numba import types

from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.native import encrypt
from twofishkit.kernels.wide import CHUNK_BYTES, ocb_blocks, ocb_sum
from twofishkit.kernels.wide_memory import copy_bytes, is_tag, load_block
from twofishkit.kernels.words import load_u8, load_u64, store_u8, store_u64, swap_bytes
from twofishkit.kernels.xor import xor_bytes
from twofishkit.simd import vectors as v

_BYTES = types.Bytes(types.uint8, 1, "C")
_BYTEARRAY = types.ByteArray(types.uint8, 1, "C")
_U8 = types.uint8[::1]
_L_STAR, _L_DOLLAR, _LS = 0, 16, 32
_LOW_6 = np.uint8(63)


@inline
def start_offset(keys, nonce, n_nonce, tag_length, block):
    """Offset_0 for a nonce of 1 to 15 bytes; block is 32 bytes of scratch. Source: RFC 7253, 4.2."""
    v.store(block, 0, v.zero(v.u64x2))
    store_u8(block, 0, np.uint8((8 * tag_length & 127) << 1))
    store_u8(block, 15 - n_nonce, load_u8(block, 15 - n_nonce) | np.uint8(1))
    v.store_first(block, 16 - n_nonce, v.load_first(v.u64x2, nonce, 0, n_nonce), n_nonce)
    last = load_u8(block, 15)
    store_u8(block, 15, last & ~_LOW_6)
    encrypt(keys, block, block, 1, 0, 0)
    # Stretch = Ktop || (first 64 bits of Ktop ^ its bits 9 to 72), in three words; shifted left by bottom.
    bottom = np.uint64(last & _LOW_6)
    first, second = swap_bytes(load_u64(block, 0)), swap_bytes(load_u64(block, 8))
    third = first ^ np.uint64((first << np.uint64(8)) | (second >> np.uint64(56)))
    rest, one = np.uint64(63) - bottom, np.uint64(1)
    store_u64(block, 0, swap_bytes(np.uint64((first << bottom) | ((second >> one) >> rest))))
    store_u64(block, 8, swap_bytes(np.uint64((second << bottom) | ((third >> one) >> rest))))
    return load_block(block, 0)


@inline
def put_padded(block, source, n_bytes):
    """Write n < 16 bytes, a one bit and zeros."""
    v.store(block, 0, v.load_first(v.u64x2, source, 0, n_bytes))
    store_u8(block, n_bytes, np.uint8(0x80))


@inline
def hash_aad(keys, constants, aad, n_bytes, block):
    """HASH(K, A); block is 16 bytes of scratch. Source: RFC 7253, 4.1."""
    rest = n_bytes & 15
    mask, total = ocb_sum(keys, constants + _LS, v.zero(v.u64x2), 1, aad, n_bytes >> 4)
    if rest:
        put_padded(block, aad + n_bytes - rest, rest)
        v.store(block, 0, load_block(block, 0) ^ mask ^ load_block(constants, _L_STAR))
        encrypt(keys, block, block, 1, 0, 0)
        total = total ^ load_block(block, 0)
    return total


@inline
def crypt(schedule, constants, nonce, aad, source, target, n_bytes, tag_length, decrypting):
    """Cipher a message from one address to another; returns its tag as u64x2."""
    keys, known, block, pad = v.address(schedule), v.address(constants), v.stack(32), v.stack(16)
    offset = start_offset(keys, v.address(nonce), len(nonce), tag_length, block)
    tag = hash_aad(keys, known, v.address(aad), len(aad), block)
    rest = n_bytes & 15
    whole = n_bytes - rest
    offset, checksum = ocb_blocks(keys, known + _LS, offset, 1, source, target, whole >> 4, decrypting)
    if rest:
        offset = offset ^ load_block(known, _L_STAR)
        v.store(pad, 0, offset)
        encrypt(keys, pad, pad, 1, 0, 0)
        if not decrypting:
            put_padded(block, source + whole, rest)
        xor_bytes(target, whole, source, whole, pad, 0, rest)
        if decrypting:
            put_padded(block, target + whole, rest)
        checksum = checksum ^ load_block(block, 0)
    v.store(block, 0, checksum ^ offset ^ load_block(known, _L_DOLLAR))
    encrypt(keys, block, block, 1, 0, 0)
    tag = tag ^ load_block(block, 0)
    v.wipe(block, 32)
    v.wipe(pad, 16)
    return tag


@kernel(types.void(_U8, types.uint8[:, ::1], _BYTES, _BYTES, _U8, _U8, _BYTEARRAY))
def ocb_seal(schedule, constants, nonce, aad, src, dst, tag):
    """dst and tag = ciphertext and tag of src. Source: RFC 7253, 4.2."""
    made = crypt(schedule, constants, nonce, aad, v.address(src), v.address(dst), src.size, len(tag), False)
    v.store_first(v.address(tag), 0, made, len(tag))


@kernel(types.boolean(_U8, types.uint8[:, ::1], _BYTES, _BYTES, _U8, _U8, _U8, _BYTES))
def ocb_open(schedule, constants, nonce, aad, src, scratch, dst, tag):
    """dst = plaintext if the tag is right; returns whether it is. Source: RFC 7253, 4.3.

    The plaintext goes to scratch, which is as long, first; it is zeros in the end unless it is dst.
    """
    n, plain, target = src.size, v.address(scratch), v.address(dst)
    made = crypt(schedule, constants, nonce, aad, v.address(src), plain, n, len(tag), True)
    block = v.stack(16)
    genuine = is_tag(made, block, v.address(tag), len(tag))
    v.wipe(block, 16)
    if genuine:
        if plain != target:
            # From the end, which is still in the cache, and each piece wiped while it is.
            for at in range((n - 1) & -CHUNK_BYTES, -1, -CHUNK_BYTES):
                size = min(CHUNK_BYTES, n - at)
                copy_bytes(target + at, plain + at, size)
                v.wipe(plain + at, size)
    else:
        v.wipe(plain, n)
    return genuine
