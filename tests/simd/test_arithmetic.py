"""Operators and arithmetic of `simd.vectors` against NumPy, for every vector type.

Operations are compiled together, one kernel a vector type, and compared one by one.
"""

import functools

import numpy as np
import pytest
from numba import njit

from tests.simd.operands import TYPES, dtype_of, ids, operands
from twofishkit.simd import vectors as v


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
