"""What depends on a block's position alone, for many blocks at once, with NumPy.

Counters of CTR, tweaks of XTS and offsets of OCB: `composed` makes a whole piece of them, then calls the
cipher once. Each function continues where the last call stopped.

Traps: array arithmetic on unsigned integers wraps silently, scalar arithmetic would warn, so start
values are Python integers until they meet an array.
"""

import numpy as np
import numpy.typing as npt

from twofishkit.slots import Bytes

Words = npt.NDArray[np.uint64]


def words_of(blocks: Bytes) -> Words:
    """uint8[..., 16] or uint8[16 * n] seen as uint64[n, 2]; only for XOR, so byte order is free."""
    return blocks.reshape(-1).view(np.uint64).reshape(-1, 2)


def counter_blocks(counter: Bytes, counter_bits: int, little_endian: bool, count: int) -> Bytes:
    """uint8[16 * count]: counter, counter + 1, ...; counter itself advances by count.

    The counting field is the last (or, little-endian, the first) ``counter_bits`` bits and wraps
    within itself. Source: NIST SP 800-38A, B.1.
    """
    blocks = np.empty(16 * count, np.uint8)
    width = counter_bits // 8
    field = slice(0, width) if little_endian else slice(16 - width, 16)
    order = "little" if little_endian else "big"
    start = int.from_bytes(counter[field].tobytes(), order)  # type: ignore[arg-type]
    blocks.reshape(count, 16)[:] = counter
    word = min(width, 8)
    words = blocks.view(f"{'<' if little_endian else '>'}u{word}").reshape(count, 16 // word)
    step = 1 if little_endian else -1
    lowest = 0 if little_endian else 16 // word - 1
    low = np.arange(count, dtype=f"u{word}")
    low += np.array(start & (1 << 8 * word) - 1, low.dtype)
    words[:, lowest] = low
    if width == 16:
        carry = np.flatnonzero(low == 0)
        high = start >> 64
        if len(carry) and carry[0] > 0:
            words[carry[0] :, lowest + step] = high + 1 & (1 << 64) - 1
    end = start + count & (1 << counter_bits) - 1
    counter[field] = np.frombuffer(end.to_bytes(width, order), np.uint8)  # type: ignore[arg-type]
    return blocks


def times_alpha(low: Words, high: Words, power: int) -> tuple[Words, Words]:
    """(low, high) * x^power in XTS's field: x^128 = x^7 + x^2 + x + 1, bit i of the value is x^i.

    Up to 56 places it is a shift whose overflow is folded back; the powers of two from 128 on are
    sparse, since squaring x^7 + x^2 + x + 1 squares each term. Source: IEEE 1619-2018, 5.2.
    """
    if power >= 128 and power & power - 1 == 0:
        scale = power // 128
        for term in (1, 2, 7):
            shifted = times_alpha(low, high, term * scale)
            if term == 1:
                sum_low, sum_high = low ^ shifted[0], high ^ shifted[1]
            else:
                sum_low, sum_high = sum_low ^ shifted[0], sum_high ^ shifted[1]
        return sum_low, sum_high
    while power > 0:
        step = min(power, 56)
        over = high >> np.uint64(64 - step)
        high = high << np.uint64(step) | low >> np.uint64(64 - step)
        low = low << np.uint64(step)
        low = low ^ over ^ over << np.uint64(1) ^ over << np.uint64(2) ^ over << np.uint64(7)
        power -= step
    return low, high


def xts_tweaks(tweaks: Bytes, count: int) -> Bytes:
    """uint8[n, 16 * count]: T, T * alpha, T * alpha^2, ... for each of uint8[n, 16] tweaks.

    The tweaks themselves are left at T * alpha^count. Each step doubles how many powers are known.
    """
    words = tweaks.reshape(-1).view("<u8").reshape(-1, 2)
    low = np.empty((len(tweaks), count), np.uint64)
    high = np.empty_like(low)
    low[:, 0], high[:, 0] = words[:, 0], words[:, 1]
    known = 1
    while known < count:
        more = min(known, count - known)
        new_low, new_high = times_alpha(low[:, :more], high[:, :more], known)
        low[:, known : known + more], high[:, known : known + more] = new_low, new_high
        known += more
    result = np.empty((len(tweaks), 16 * count), np.uint8)
    pairs = result.view("<u8")
    pairs[:, 0::2], pairs[:, 1::2] = low, high
    words[:, 0], words[:, 1] = times_alpha(low[:, -1], high[:, -1], 1)
    return result


def ocb_offsets(ls: Bytes, offset: Bytes, first: int, count: int) -> Bytes:
    """Offset_i = Offset_(i-1) ^ L_ntz(i) for i = first ...; offset is left at the last one."""
    numbers = np.arange(count, dtype=np.uint64) + np.array(first, np.uint64)
    lowest_bits = numbers & (~numbers + np.array(1, np.uint64))
    trailing_zeros = np.frexp(lowest_bits.astype(np.float64))[1] - 1
    deltas: Bytes = ls[trailing_zeros].reshape(-1)
    deltas[:16] ^= offset
    np.bitwise_xor.accumulate(words_of(deltas), axis=0, out=words_of(deltas))
    offset[:] = deltas[-16:]
    return deltas
