"""Loads and stores of `simd.vectors`: exactly the bytes asked for; the stack, and wiping."""

import ctypes
import mmap

import numpy as np
import pytest
from numba import njit

from tests.simd.operands import OCTETS, ids, rng
from twofishkit.simd import vectors as v


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
