"""Operations of `simd.vectors` that move lanes or change their type, against NumPy.

Operations are compiled together, one kernel a vector type, and compared one by one.
"""

import functools

import numpy as np
import pytest
from numba import njit

from tests.simd.operands import TYPES, dtype_of, ids, operands, rng
from twofishkit.simd import vectors as v


@njit
def lanes(T, pattern, block_pattern, a, b, i, out):
    x, y = v.load(T, a, 0), v.load(T, b, 0)
    size = v.n_bytes(T)
    results = (
        v.zero(T),
        v.splat(T, -3),
        v.iota(T),
        v.constant(T, block_pattern),
        v.insert(x, i, v.extract(y, i + 1)),
        v.bitcast(T, v.as_u8(x)),
        v.bitcast(T, v.as_u16(x)),
        v.bitcast(T, v.as_u32(x)),
        v.bitcast(T, v.as_u64(x)),
        v.concat(v.high(x), v.low(y)),
        v.shuffle(x, y, pattern),
        v.shuffle_blocks(x, y, block_pattern),
        v.unpack_low(x, y),
        v.unpack_high(x, y),
        v.reverse_blocks(x),
        v.splat(T, v.n_lanes(x)),
    )
    for k in range(len(results)):
        v.store(out, k * size, results[k])


def blocks(x):
    """Lanes as (blocks of 16 bytes, lanes of a block)."""
    return x.reshape(-1, 16 // x.itemsize)


def interleaved(a, b, half):
    lanes_of_half = 8 // a.itemsize
    part = slice(half * lanes_of_half, (half + 1) * lanes_of_half)
    return np.stack([blocks(a)[:, part], blocks(b)[:, part]], axis=-1).reshape(-1)


I = 0
PATTERNS = {vector: tuple((7 * i + 3) % (2 * vector.lanes) for i in range(vector.lanes)) for vector in TYPES}
BLOCK_PATTERNS = {
    bits: tuple((5 * i + 2) % (256 // bits) for i in range(128 // bits)) for bits in (8, 16, 32, 64)
}


def pattern_in_blocks(a, b):
    both = np.concatenate([blocks(a), blocks(b)], axis=1)
    return both[:, list(BLOCK_PATTERNS[8 * a.itemsize])].reshape(-1)


def with_lane(a, i, x):
    result = a.copy()
    result[i] = x
    return result


LANES = {
    "zero": lambda a, b, T: np.zeros_like(a),
    "splat": lambda a, b, T: np.full_like(a, (1 << T.bits) - 3),
    "iota": lambda a, b, T: np.arange(T.lanes, dtype=a.dtype),
    "constant": lambda a, b, T: np.resize(np.array(BLOCK_PATTERNS[T.bits], a.dtype), T.lanes),
    "insert and extract": lambda a, b, T: with_lane(a, I, b[I + 1]),
    "as_u8": lambda a, b, T: a,
    "as_u16": lambda a, b, T: a,
    "as_u32": lambda a, b, T: a,
    "as_u64": lambda a, b, T: a,
    "concat, high and low": lambda a, b, T: np.concatenate([a[T.lanes // 2 :], b[: T.lanes // 2]]),
    "shuffle": lambda a, b, T: np.concatenate([a, b])[list(PATTERNS[T])],
    "shuffle_blocks": lambda a, b, T: pattern_in_blocks(a, b),
    "unpack_low": lambda a, b, T: interleaved(a, b, 0),
    "unpack_high": lambda a, b, T: interleaved(a, b, 1),
    "reverse_blocks": lambda a, b, T: (
        a.view(np.uint8).reshape(-1, 16)[:, ::-1].reshape(-1).copy().view(a.dtype)
    ),
    "n_lanes": lambda a, b, T: np.full_like(a, T.lanes),
}


@functools.cache
def computed_lanes(vector):
    a, b = operands(vector)
    out = np.zeros((len(LANES), vector.lanes), dtype_of(vector))
    block_pattern = v.lanes(*BLOCK_PATTERNS[vector.bits])
    lanes(vector, v.lanes(*PATTERNS[vector]), block_pattern, a, b, I, out.reshape(-1))
    return a, b, out


@pytest.mark.parametrize("name", LANES)
@pytest.mark.parametrize("vector", TYPES, ids=ids)
def test_lanes(vector, name):
    a, b, out = computed_lanes(vector)
    expected = LANES[name](a, b, vector)
    assert expected.dtype == a.dtype
    np.testing.assert_array_equal(out[list(LANES).index(name)], expected)


@njit
def block_moves(T, a, out):
    x = v.load(T, a, 0)
    size = v.n_bytes(T)
    v.store(out, 0, v.rotate_blocks(x, 0))
    v.store(out, size, v.rotate_blocks(x, 1))
    v.store(out, 2 * size, v.rotate_blocks(x, 2))


@pytest.mark.parametrize("vector", TYPES, ids=ids)
def test_rotate_blocks(vector):
    a, _ = operands(vector)
    out = np.zeros((3, vector.n_bytes // 16, 16), np.uint8)
    block_moves(vector, a, out.reshape(-1))
    for n in range(3):
        np.testing.assert_array_equal(out[n], np.roll(a.view(np.uint8).reshape(-1, 16), -n, axis=0))


@njit
def repeats(T, B, a, out):
    v.store(out, 0, v.repeat(T, v.load(B, a, 0)))


@pytest.mark.parametrize("vector", TYPES, ids=ids)
def test_repeat(vector):
    a, _ = operands(vector)
    out = np.zeros_like(a)
    block = next(T for T in TYPES if (T.bits, T.n_bytes) == (vector.bits, 16))
    repeats(vector, block, a, out)
    np.testing.assert_array_equal(out, np.resize(a[: block.lanes], vector.lanes))


@njit
def conversions(x, out):
    octets = v.load(v.u8x16, x, 0)
    words = v.convert(v.u32x16, octets)
    v.store(out, 0, words)
    v.store(out, 64, v.convert(v.u8x16, words + 256 * 65537 + 1))
    v.store(out, 80, v.shuffle(octets, octets, (1, 3, 5, 7, 9, 11, 13, 15, 0, 2, 4, 6, 8, 10, 12, 14)))


def test_convert_and_tuple_patterns():
    x = np.frombuffer(rng.bytes(16), np.uint8)
    out = np.zeros(96, np.uint8)
    conversions(x, out)
    np.testing.assert_array_equal(out[:64].view(np.uint32), x)
    np.testing.assert_array_equal(out[64:80], x + np.uint8(1))
    np.testing.assert_array_equal(out[80:], np.concatenate([x[1::2], x[::2]]))


@njit
def resized(short, long, x, out):
    v.store(out, 0, v.resize(short, v.load(long, x, 0)))
    v.store(out, 64, v.resize(long, v.load(short, x, 0)))
    v.store(out, 128, v.resize(long, v.load(long, x, 0)))


@pytest.mark.parametrize(
    ("short", "long"), [(v.u8x16, v.u8x32), (v.u8x32, v.u8x64), (v.u8x16, v.u8x64)], ids=ids
)
def test_resize(short, long):
    x = np.frombuffer(rng.bytes(64), np.uint8)
    out = np.zeros(192, np.uint8)
    resized(short, long, x, out)
    n = short.lanes
    np.testing.assert_array_equal(out[:n], x[:n])
    np.testing.assert_array_equal(out[64 : 64 + n], x[:n])
    np.testing.assert_array_equal(out[128 : 128 + long.lanes], x[: long.lanes])


@njit
def from_two_dimensions(a, out):
    v.store(out, 0, v.load(v.u8x16, a, 5))


def test_arrays_of_two_dimensions_are_their_bytes():
    a, out = np.arange(24, dtype=np.uint8).reshape(4, 6), np.zeros((2, 8), np.uint8)
    from_two_dimensions(a, out)
    assert out.reshape(-1).tolist() == list(range(5, 21))
