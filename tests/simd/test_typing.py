"""Vectors in signatures, tuples and loops; misuse is a typing error when it is compiled."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from tests.simd.operands import OCTETS, ids, operands
from twofishkit.simd import vectors as v


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
