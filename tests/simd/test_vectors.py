"""Every operation of `simd.vectors` against NumPy, for every vector type.

Operations are compiled together, one kernel a vector type, and compared one by one.
"""

import functools

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from twofishkit.simd import vectors as v

TYPES = (
    *(v.u8x16, v.u8x32, v.u8x64),
    *(v.u16x8, v.u16x16, v.u16x32),
    *(v.u32x4, v.u32x8, v.u32x16),
    *(v.u64x2, v.u64x4, v.u64x8),
)
OCTETS = (v.u8x16, v.u8x32, v.u8x64)
rng = np.random.default_rng(0x51D)


def dtype_of(vector):
    return np.dtype(f"uint{vector.bits}")


def operands(vector):
    """Two vectors' lanes: random ones, with equal lanes and extremes among them."""
    dtype = dtype_of(vector)
    a, b = (np.frombuffer(rng.bytes(vector.n_bytes), dtype).copy() for _ in range(2))
    b[0] = a[0]
    a[-1], b[-1] = np.iinfo(dtype).max, 0
    return a, b


def ids(vector):
    return vector.name


# Operators and arithmetic ---------------------------------------------------------------------


@njit
def arithmetic(T, a, b, n, out):
    x, y = v.load(T, a, 0), v.load(T, b, 0)
    zero = v.zero(T)
    size = v.n_bytes(T)
    in_place = x
    in_place += y
    in_place ^= 3
    in_place <<= 1
    below, equal = x < y, x == y
    results = (
        x + y,
        x - y,
        x * y,
        x & y,
        x | y,
        x ^ y,
        ~x,
        x << n,
        x >> n,
        x << (y & 7),
        x + 250,
        7 - x,
        in_place,
        v.rotl(x, n),
        v.rotr(x, n),
        v.rotl(x, y & 7),
        v.rotr(x, y & 7),
        v.funnel_left(x, y, n),
        v.select(equal, x, zero),
        v.select(x != y, x, zero),
        v.select(below, x, zero),
        v.select(x <= y, x, zero),
        v.select(x > y, x, zero),
        v.select(x >= y, x, zero),
        v.select(v.negative(x), y, zero),
        v.select(~(below | equal) ^ (below & equal), x, y),
    )
    for i in range(len(results)):
        v.store(out, i * size, results[i])


def rotated(x, n):
    n = np.broadcast_to(np.asarray(n, x.dtype), x.shape)
    return np.where(n == 0, x, (x << n) | (x >> (8 * x.itemsize - n)))


N = 3
ARITHMETIC = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "invert": lambda a, b: ~a,
    "left shift": lambda a, b: a << N,
    "right shift": lambda a, b: a >> N,
    "left shift by lanes": lambda a, b: a << (b & 7),
    "add an integer": lambda a, b: a + a.dtype.type(250),
    "subtract from an integer": lambda a, b: a.dtype.type(7) - a,
    "in place": lambda a, b: ((a + b) ^ 3) << 1,
    "rotl": lambda a, b: rotated(a, N),
    "rotr": lambda a, b: rotated(a, 8 * a.itemsize - N),
    "rotl by lanes": lambda a, b: rotated(a, b & 7),
    "rotr by lanes": lambda a, b: rotated(a, (-(b & 7).astype(int) % (8 * a.itemsize)).astype(a.dtype)),
    "funnel_left": lambda a, b: (a << N) | (b >> (8 * a.itemsize - N)),
    "equal": lambda a, b: np.where(a == b, a, 0),
    "not equal": lambda a, b: np.where(a != b, a, 0),
    "less": lambda a, b: np.where(a < b, a, 0),
    "less or equal": lambda a, b: np.where(a <= b, a, 0),
    "greater": lambda a, b: np.where(a > b, a, 0),
    "greater or equal": lambda a, b: np.where(a >= b, a, 0),
    "negative": lambda a, b: np.where(a >> (8 * a.itemsize - 1) == 1, b, 0),
    "mask operators": lambda a, b: np.where(a > b, a, b),
}


@functools.cache
def computed_arithmetic(vector):
    a, b = operands(vector)
    out = np.zeros((len(ARITHMETIC), vector.lanes), dtype_of(vector))
    arithmetic(vector, a, b, N, out.reshape(-1))
    return a, b, out


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("vector", TYPES, ids=ids)
def test_arithmetic(vector, name):
    a, b, out = computed_arithmetic(vector)
    expected = ARITHMETIC[name](a, b)
    assert expected.dtype == a.dtype
    np.testing.assert_array_equal(out[list(ARITHMETIC).index(name)], expected)


@njit
def multiply(T, a, b, out):
    v.store(out, 0, v.mul_low_halves(v.load(T, a, 0), v.load(T, b, 0)))


@pytest.mark.parametrize("vector", [v.u64x2, v.u64x4, v.u64x8], ids=ids)
def test_mul_low_halves(vector):
    a, b = operands(vector)
    out = np.zeros_like(a)
    multiply(vector, a, b, out)
    np.testing.assert_array_equal(out, (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF))


# Lanes ----------------------------------------------------------------------------------------


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


# Memory ---------------------------------------------------------------------------------------


@njit
def copy_first(T, source, offset, n, target):
    v.store_first(target, offset, ~v.load_first(T, source, offset, n), n)


@njit
def copy_masked(T, source, offset, n, target):
    mask = v.iota(T) < n
    v.store_masked(target, offset, ~v.load_masked(T, source, offset, mask), mask)


@njit
def read_first(T, source, n, target):
    v.store(target, 0, v.load_first(T, source, 0, n))
    v.store(target, v.n_bytes(T), v.load_masked(T, source, 0, v.iota(T) < n))


@pytest.mark.parametrize("copy", [copy_first, copy_masked])
@pytest.mark.parametrize("vector", OCTETS, ids=ids)
def test_partial_copies_touch_only_their_bytes(vector, copy):
    size = vector.n_bytes
    source = np.frombuffer(rng.bytes(3 * size), np.uint8)
    for n in (*range(18), size - 1, size):
        if n <= size:
            for offset in (0, 1, size + 3):
                target = np.full(3 * size, 0xA5, np.uint8)
                expected = target.copy()
                expected[offset : offset + n] = ~source[offset : offset + n]
                copy(vector, source, offset, n, target)
                np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize("vector", OCTETS, ids=ids)
def test_partial_loads_are_zero_beyond(vector):
    size = vector.n_bytes
    source = np.frombuffer(rng.bytes(size), np.uint8)
    for n in range(size + 1):
        target = np.full(2 * size, 0xA5, np.uint8)
        read_first(vector, source, n, target)
        expected = np.concatenate([source[:n], np.zeros(size - n, np.uint8)])
        np.testing.assert_array_equal(target, np.tile(expected, 2))


def test_partial_loads_stop_at_the_end_of_a_page():
    """The page after is not readable: one byte too many would end the process."""
    import ctypes
    import mmap

    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    array = np.frombuffer(memory, np.uint8)
    mprotect = getattr(ctypes.CDLL(None), "mprotect", None)
    if mprotect is None:
        pytest.skip("no mprotect on this system")
    mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert mprotect(array.ctypes.data + page, page, 0) == 0
    try:
        array[page - 5 : page] = range(1, 6)
        for vector in OCTETS:
            target = np.zeros(2 * vector.n_bytes, np.uint8)
            read_first(vector, array[page - 5 :], 5, target)
            assert target[:6].tolist() == [1, 2, 3, 4, 5, 0]
            assert target[vector.n_bytes :][:6].tolist() == [1, 2, 3, 4, 5, 0]
            copy_masked(vector, array[page - 5 :], 0, 5, array[page - 5 :])
            assert array[page - 5 : page].tolist() == [254, 253, 252, 251, 250]
            array[page - 5 : page] = range(1, 6)
    finally:
        assert mprotect(array.ctypes.data + page, page, mmap.PROT_READ | mmap.PROT_WRITE) == 0


@njit
def through_the_stack(a, offset, out):
    memory = v.stack(96)
    out[0] = np.uint64(memory)
    v.store(memory, 64, v.load(v.u64x4, v.address(a), offset))
    v.store(out, 8, v.load(v.u64x4, memory + 64, 0))
    v.wipe(memory, 96)
    v.store(out, 40, v.load(v.u64x4, memory, 64))


def test_stack_address_and_wipe():
    a = np.frombuffer(rng.bytes(56), np.uint64)
    out = np.full(9, 7, np.uint64)
    through_the_stack(a, 24, out)
    assert out[0] % 64 == 0
    np.testing.assert_array_equal(out[1:5], a[3:])
    np.testing.assert_array_equal(out[5:], 0)


@njit
def wipe_array(a, n):
    v.wipe(a, n)


def test_wipe_clears_exactly_the_bytes_given():
    a = np.full(10, -1, np.int32)
    wipe_array(a, 12)
    assert a.tolist() == [0, 0, 0, -1, -1, -1, -1, -1, -1, -1]


# In signatures, tuples and loops --------------------------------------------------------------


@njit
def passed_by_value(x, y):
    return y, x


@njit
def exchanged(T, a, b, n):
    pair = (v.load(T, a, 0), v.load(T, b, 0))
    for _ in range(n):
        pair = passed_by_value(pair[0], pair[1])
    v.store(a, 0, pair[0])
    v.store(b, 0, pair[1])


@pytest.mark.parametrize("vector", OCTETS, ids=ids)
def test_vectors_travel_through_calls_tuples_and_loops(vector):
    a, b = operands(vector)
    x, y = a.copy(), b.copy()
    exchanged(vector, x, y, 3)
    np.testing.assert_array_equal(x, b)
    np.testing.assert_array_equal(y, a)


# Misuse is a typing error, when compiled --------------------------------------------------------


@njit
def adds_different_types(a):
    return v.extract(v.load(v.u8x16, a, 0) + v.load(v.u16x8, a, 0), 0)


@njit
def casts_to_another_size(a):
    return v.extract(v.bitcast(v.u8x32, v.load(v.u8x16, a, 0)), 0)


@njit
def shuffles_beyond(a):
    x = v.load(v.u64x2, a, 0)
    return v.extract(v.shuffle(x, x, (0, 4)), 0)


@njit
def loads_from_a_strided_array(a):
    return v.extract(v.load(v.u8x16, a[::2], 0), 0)


@njit
def loads_no_vector_type(a):
    return v.extract(v.load(np.uint8, a, 0), 0)


@njit
def repeats_a_block_of_other_lanes(a):
    return v.extract(v.repeat(v.u8x32, v.load(v.u16x8, a, 0)), 0)


@njit
def rotates_by_a_variable(a):
    return v.extract(v.rotate_blocks(v.load(v.u8x16, a, 0), a[0]), 0)


@njit
def selects_by_another_mask(a):
    x = v.load(v.u8x16, a, 0)
    mask = v.negative(v.as_u16(x))
    return v.extract(v.select(mask, x, x), 0)


@pytest.mark.parametrize(
    "function",
    [
        adds_different_types,
        casts_to_another_size,
        shuffles_beyond,
        loads_from_a_strided_array,
        loads_no_vector_type,
        repeats_a_block_of_other_lanes,
        rotates_by_a_variable,
        selects_by_another_mask,
    ],
    ids=lambda function: function.__name__,
)
def test_misuse_is_refused(function):
    with pytest.raises(TypingError):
        function(np.zeros(16, np.uint8))
