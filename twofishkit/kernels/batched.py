"""Modes whose blocks are independent, over any function that ciphers a batch of blocks.

``batch`` is an inline function (schedule, work, n): the first n blocks of ``work``, laid out as in a
message, are encrypted (or decrypted) in place, 1 <= n <= size. ``size`` says how many blocks a batch
holds. ``work`` and ``masks`` are uint32 scratch arrays of that many blocks, which the kernel took from its
stack; they are wiped at the end. The bodies are inlined into thin kernels, see `gather.py`; their other
arguments are those of the slots (`twofishkit.slots`).

A mode fills a batch, has it ciphered, and combines it with the source. Everything is read before the
same bytes are written, so that dst may be src.
"""

from twofishkit.kernels.counters import add_counter, load_counter, ocb_step, store_counter, xts_double
from twofishkit.kernels.jit import inline
from twofishkit.kernels.serial import shift_in
from twofishkit.kernels.words import (
    copy_16,
    load_u8,
    load_u64,
    store_u8,
    store_u64,
    wipe_words,
    xor_16,
)
from twofishkit.kernels.xor import xor_bytes


@inline
def ecb_body(batch, size, work, schedule, src, dst):
    """Dst = E(src) block by block; whole blocks."""
    blocks = src.size >> 4
    for first in range(0, blocks, size):
        n = min(size, blocks - first)
        for i in range(n):
            copy_16(work, 16 * i, src, 16 * (first + i))
        batch(schedule, work, n)
        for i in range(n):
            copy_16(dst, 16 * (first + i), work, 16 * i)
    wipe_words(work)


@inline
def ctr_body(batch, size, work, schedule, counter, counter_bits, little_endian, src, dst):
    """Dst = src ^ E(counter), E(counter + 1), ...; any length. Source: SP 800-38A, 6.5."""
    low, high = load_counter(counter, little_endian)
    for at in range(0, src.size, 16 * size):
        length = min(16 * size, src.size - at)
        n = (length + 15) >> 4
        for i in range(n):
            store_counter(work, 16 * i, low, high, little_endian)
            low, high = add_counter(low, high, 1, counter_bits)
        batch(schedule, work, n)
        xor_bytes(dst, at, src, at, work, 0, length)
    store_counter(counter, 0, low, high, little_endian)
    wipe_words(work)


@inline
def cbc_decrypt_body(batch, size, work, schedule, iv, src, dst):
    """P_i = D(C_i) ^ C_{i-1}, C_0 = iv; whole blocks. Source: SP 800-38A, 6.2.

    Each batch is written last block first: in place, C_{i-1} is still there when P_i is made.
    """
    blocks = src.size >> 4
    for first in range(0, blocks, size):
        n = min(size, blocks - first)
        for i in range(n):
            copy_16(work, 16 * i, src, 16 * (first + i))
        batch(schedule, work, n)
        next_low, next_high = load_u64(src, 16 * (first + n - 1)), load_u64(src, 16 * (first + n - 1) + 8)
        for i in range(n - 1, 0, -1):
            xor_16(dst, 16 * (first + i), work, 16 * i, src, 16 * (first + i - 1))
        xor_16(dst, 16 * first, work, 0, iv, 0)
        store_u64(iv, 0, next_low)
        store_u64(iv, 8, next_high)
    wipe_words(work)


@inline
def cfb_decrypt_body(batch, size, work, schedule, iv, src, dst):
    """P_i = C_i ^ E(C_{i-1}), C_0 = iv; any length. Source: SP 800-38A, 6.3."""
    for at in range(0, src.size, 16 * size):
        length = min(16 * size, src.size - at)
        n = (length + 15) >> 4
        copy_16(work, 0, iv, 0)
        for i in range(1, n):
            copy_16(work, 16 * i, src, at + 16 * (i - 1))
        if length == 16 * n:
            copy_16(iv, 0, src, at + 16 * (n - 1))
        batch(schedule, work, n)
        xor_bytes(dst, at, src, at, work, 0, length)
    wipe_words(work)


@inline
def cfb8_decrypt_body(batch, size, work, schedule, iv, src, dst):
    """CFB-8 decryption: all the registers are known, so a batch of bytes runs at once."""
    low, high = load_u64(iv, 0), load_u64(iv, 8)
    for at in range(0, src.size, size):
        n = min(size, src.size - at)
        for i in range(n):
            store_u64(work, 16 * i, low)
            store_u64(work, 16 * i + 8, high)
            low, high = shift_in(low, high, load_u8(src, at + i))
        batch(schedule, work, n)
        for i in range(n):
            store_u8(dst, at + i, load_u8(src, at + i) ^ load_u8(work, 16 * i))
    store_u64(iv, 0, low)
    store_u64(iv, 8, high)
    wipe_words(work)


@inline
def cbc_encrypt_many_body(batch, size, work, schedule, ivs, src, dst):
    """CBC encryption of each row of src under its own iv, up to ``size`` rows side by side."""
    rows, length = src.shape
    for first in range(0, rows, size):
        n = min(size, rows - first)
        for i in range(n):
            copy_16(work, 16 * i, ivs, 16 * (first + i))
        for at in range(0, length, 16):
            for i in range(n):
                xor_16(work, 16 * i, work, 16 * i, src, (first + i) * length + at)
            batch(schedule, work, n)
            for i in range(n):
                copy_16(dst, (first + i) * length + at, work, 16 * i)
        for i in range(n):
            copy_16(ivs, 16 * (first + i), work, 16 * i)
    wipe_words(work)


@inline
def cfb_encrypt_many_body(batch, size, work, schedule, ivs, src, dst):
    """CFB encryption of each row of src under its own iv, up to ``size`` rows side by side."""
    rows, length = src.shape
    whole = length & ~15
    for first in range(0, rows, size):
        n = min(size, rows - first)
        for i in range(n):
            copy_16(work, 16 * i, ivs, 16 * (first + i))
        for at in range(0, whole, 16):
            batch(schedule, work, n)
            for i in range(n):
                xor_16(work, 16 * i, work, 16 * i, src, (first + i) * length + at)
                copy_16(dst, (first + i) * length + at, work, 16 * i)
        for i in range(n):
            copy_16(ivs, 16 * (first + i), work, 16 * i)
        if whole < length:
            batch(schedule, work, n)
            for i in range(n):
                at = (first + i) * length + whole
                xor_bytes(dst, at, src, at, work, 16 * i, length - whole)
    wipe_words(work)


@inline
def ofb_many_body(batch, size, work, schedule, ivs, src, dst):
    """OFB of each row of src under its own iv, up to ``size`` rows side by side."""
    rows, length = src.shape
    for first in range(0, rows, size):
        n = min(size, rows - first)
        for i in range(n):
            copy_16(work, 16 * i, ivs, 16 * (first + i))
        for at in range(0, length, 16):
            batch(schedule, work, n)
            for i in range(n):
                byte = (first + i) * length + at
                xor_bytes(dst, byte, src, byte, work, 16 * i, min(16, length - at))
        for i in range(n):
            copy_16(ivs, 16 * (first + i), work, 16 * i)
    wipe_words(work)


@inline
def put_masked(work, masks, i, low, high, src, at):
    """Block i of masks = (low, high), and of work = the block of src at byte ``at`` ^ mask.

    In 64-bit halves, for a 16-byte load of what two stores have just written would wait for both.
    """
    store_u64(masks, 16 * i, low)
    store_u64(masks, 16 * i + 8, high)
    store_u64(work, 16 * i, low ^ load_u64(src, at))
    store_u64(work, 16 * i + 8, high ^ load_u64(src, at + 8))


@inline
def xts_body(batch, size, work, masks, schedule, tweaks, src, dst):
    """C = E(P ^ T) ^ T with T times alpha from block to block. Source: IEEE 1619-2007, 5.3.

    src holds len(tweaks) data units of whole blocks; a batch runs on across their borders, so that
    many short units cost no more than one long one.
    """
    units, length = src.shape
    in_unit = length >> 4
    blocks = units * in_unit
    if blocks == 0:
        return
    unit, left = 0, in_unit
    low, high = load_u64(tweaks, 0), load_u64(tweaks, 8)
    for first in range(0, blocks, size):
        n = min(size, blocks - first)
        for i in range(n):
            if left == 0:
                store_u64(tweaks, 16 * unit, low)
                store_u64(tweaks, 16 * unit + 8, high)
                unit += 1
                left = in_unit
                low, high = load_u64(tweaks, 16 * unit), load_u64(tweaks, 16 * unit + 8)
            put_masked(work, masks, i, low, high, src, 16 * (first + i))
            low, high = xts_double(low, high)
            left -= 1
        batch(schedule, work, n)
        xor_bytes(dst, 16 * first, work, 0, masks, 0, 16 * n)
    store_u64(tweaks, 16 * unit, low)
    store_u64(tweaks, 16 * unit + 8, high)
    wipe_words(work)
    wipe_words(masks)


@inline
def ocb_body(batch, size, work, masks, schedule, ls, offset, checksum, first_number, src, dst, encrypting):
    """C_i = E(P_i ^ Offset_i) ^ Offset_i, checksum ^= P_i; or the inverse. Source: RFC 7253, 4.2, 4.3.

    The checksum is over the plaintext, which in place is gone once the batch is written: it is
    taken from src before that, or from dst after.
    """
    blocks = src.size >> 4
    low, high = load_u64(offset, 0), load_u64(offset, 8)
    sum_low, sum_high = load_u64(checksum, 0), load_u64(checksum, 8)
    for first in range(0, blocks, size):
        n = min(size, blocks - first)
        for i in range(n):
            at = 16 * (first + i)
            low, high = ocb_step(low, high, ls, first_number + first + i)
            put_masked(work, masks, i, low, high, src, at)
            if encrypting:
                sum_low, sum_high = sum_low ^ load_u64(src, at), sum_high ^ load_u64(src, at + 8)
        batch(schedule, work, n)
        for i in range(n):
            at = 16 * (first + i)
            xor_16(dst, at, work, 16 * i, masks, 16 * i)
            if not encrypting:
                sum_low, sum_high = sum_low ^ load_u64(dst, at), sum_high ^ load_u64(dst, at + 8)
    store_u64(offset, 0, low)
    store_u64(offset, 8, high)
    store_u64(checksum, 0, sum_low)
    store_u64(checksum, 8, sum_high)
    wipe_words(work)
    wipe_words(masks)


@inline
def ocb_hash_body(batch, size, work, schedule, ls, offset, total, first_number, src):
    """Total ^= E(A_i ^ Offset_i) for each whole block A_i. Source: RFC 7253, section 4.1."""
    blocks = src.size >> 4
    low, high = load_u64(offset, 0), load_u64(offset, 8)
    sum_low, sum_high = load_u64(total, 0), load_u64(total, 8)
    for first in range(0, blocks, size):
        n = min(size, blocks - first)
        for i in range(n):
            low, high = ocb_step(low, high, ls, first_number + first + i)
            at = 16 * (first + i)
            store_u64(work, 16 * i, low ^ load_u64(src, at))
            store_u64(work, 16 * i + 8, high ^ load_u64(src, at + 8))
        batch(schedule, work, n)
        for i in range(n):
            sum_low, sum_high = sum_low ^ load_u64(work, 16 * i), sum_high ^ load_u64(work, 16 * i + 8)
    store_u64(offset, 0, low)
    store_u64(offset, 8, high)
    store_u64(total, 0, sum_low)
    store_u64(total, 8, sum_high)
    wipe_words(work)
