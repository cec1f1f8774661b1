"""Modes in which each block waits for the one before it, over any one-block function.

``one`` is an inline function (schedule, w0, w1, w2, w3) -> (w0, w1, w2, w3) on the four uint32 words of
a block. The bodies here are inlined into thin kernels, one set for each cipher implementation;
see `gather.py`. Arguments are those of the slots (`twofishkit.slots`), after ``one``.

Everything is read before the same bytes are written, so that dst may be src.

Source: NIST SP 800-38A, sections 6.2 to 6.4.
"""

import numpy as np

from twofishkit.kernels.jit import inline
from twofishkit.kernels.words import (
    load_u8,
    load_u32,
    load_u64,
    stack_u32,
    store_u8,
    store_u32,
    store_u64,
    wipe_words,
)
from twofishkit.kernels.xor import xor_bytes


@inline
def load_block(memory, offset):
    """The four words of the block at a byte offset."""
    return (
        load_u32(memory, offset),
        load_u32(memory, offset + 4),
        load_u32(memory, offset + 8),
        load_u32(memory, offset + 12),
    )


@inline
def store_block(memory, offset, block):
    """Write four words as the block at a byte offset."""
    w0, w1, w2, w3 = block
    store_u32(memory, offset, w0)
    store_u32(memory, offset + 4, w1)
    store_u32(memory, offset + 8, w2)
    store_u32(memory, offset + 12, w3)


@inline
def xor_blocks(x, y):
    """The XOR of two blocks of four words."""
    x0, x1, x2, x3 = x
    y0, y1, y2, y3 = y
    return np.uint32(x0 ^ y0), np.uint32(x1 ^ y1), np.uint32(x2 ^ y2), np.uint32(x3 ^ y3)


@inline
def cipher_block(one, schedule, block):
    """The one-block function on a tuple of words."""
    w0, w1, w2, w3 = block
    return one(schedule, w0, w1, w2, w3)


@inline
def cbc_encrypt_body(one, schedule, iv, src, dst):
    """C_i = E(P_i ^ C_{i-1}), C_0 = iv; whole blocks."""
    state = load_block(iv, 0)
    for at in range(0, src.size, 16):
        state = cipher_block(one, schedule, xor_blocks(state, load_block(src, at)))
        store_block(dst, at, state)
    store_block(iv, 0, state)


@inline
def cbc_mac_body(one, schedule, state, src):
    """State = E(state ^ block) for each whole block of src."""
    words = load_block(state, 0)
    for at in range(0, src.size, 16):
        words = cipher_block(one, schedule, xor_blocks(words, load_block(src, at)))
    store_block(state, 0, words)


@inline
def cfb_encrypt_body(one, schedule, iv, src, dst):
    """C_i = P_i ^ E(C_{i-1}), C_0 = iv; a partial last block takes the first bytes of E."""
    state = load_block(iv, 0)
    whole = src.size & ~15
    for at in range(0, whole, 16):
        state = xor_blocks(cipher_block(one, schedule, state), load_block(src, at))
        store_block(dst, at, state)
    store_block(iv, 0, state)
    if whole < src.size:
        keystream = stack_u32(4)
        store_block(keystream, 0, cipher_block(one, schedule, state))
        xor_bytes(dst, whole, src, whole, keystream, 0, src.size - whole)
        wipe_words(keystream)


@inline
def ofb_body(one, schedule, iv, src, dst):
    """Dst = src ^ (E(iv), E(E(iv)), ...), any length."""
    state = load_block(iv, 0)
    whole = src.size & ~15
    for at in range(0, whole, 16):
        state = cipher_block(one, schedule, state)
        store_block(dst, at, xor_blocks(state, load_block(src, at)))
    if whole < src.size:
        keystream = stack_u32(4)
        state = cipher_block(one, schedule, state)
        store_block(keystream, 0, state)
        xor_bytes(dst, whole, src, whole, keystream, 0, src.size - whole)
        wipe_words(keystream)
    store_block(iv, 0, state)


@inline
def shift_in(low, high, byte):
    """The register (low, high), its first byte dropped and one byte appended."""
    moved = np.uint64(np.uint64(high << np.uint64(56)) | (low >> np.uint64(8)))
    return moved, np.uint64(np.uint64(np.uint64(byte) << np.uint64(56)) | (high >> np.uint64(8)))


@inline
def cfb8_encrypt_body(one, schedule, iv, src, dst):
    """CFB-8: each byte is XORed with the first byte of E(register) and then shifted in."""
    low, high = load_u64(iv, 0), load_u64(iv, 8)
    for at in range(src.size):
        w0, _, _, _ = one(
            schedule,
            np.uint32(low),
            np.uint32(low >> np.uint64(32)),
            np.uint32(high),
            np.uint32(high >> np.uint64(32)),
        )
        byte = np.uint8(load_u8(src, at) ^ np.uint8(w0 & np.uint32(0xFF)))
        store_u8(dst, at, byte)
        low, high = shift_in(low, high, byte)
    store_u64(iv, 0, low)
    store_u64(iv, 8, high)
