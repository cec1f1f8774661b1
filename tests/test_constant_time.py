"""The proof of constant time itself: it must find every way to leak, and nothing else."""

import numpy as np
import pytest

from tests.constant_time import leaks
from twofishkit.kernels import schedule
from twofishkit.kernels.jit import Kernel, kernel
from twofishkit.simd import vectors as v

SIGNATURE = "void(u8[::1], u8[::1], u8[::1])"


@kernel(SIGNATURE)
def indexes_by_data(a, b, out):
    out[0] = b[a[0]]


@kernel(SIGNATURE)
def stores_by_data(a, b, out):
    out[a[0]] = np.uint64(1)


@kernel(SIGNATURE)
def branches_on_data(a, b, out):
    for i in range(len(a)):
        if a[i] == b[i]:
            out[i] = np.uint64(1)


@kernel(SIGNATURE)
def loops_by_data(a, b, out):
    for i in range(np.int64(a[0])):
        out[i] = b[i]


@kernel(SIGNATURE)
def selects_by_data(a, b, out):
    out[0] = a[1] if a[0] > b[0] else a[2] ^ b[1]


@kernel(SIGNATURE)
def divides_data(a, b, out):
    out[0] = a[0] // b[0]


@kernel(SIGNATURE)
def picks_a_lane_by_data(a, b, out):
    out[0] = v.extract(v.load(v.u64x4, a, 0), np.int64(b[0] & np.uint64(3)))


@kernel(SIGNATURE)
def masks_memory_by_data(a, b, out):
    v.store_masked(out, 0, v.load(v.u64x4, a, 0), v.load(v.u64x4, b, 0) > 7)


@kernel(SIGNATURE)
def copies_as_much_as_data_says(a, b, out):
    v.store_first(out, 0, v.load(v.u64x4, a, 0), np.int64(b[0] & np.uint64(31)))


@pytest.mark.parametrize(
    "found",
    [
        indexes_by_data,
        stores_by_data,
        branches_on_data,
        loops_by_data,
        selects_by_data,
        divides_data,
        picks_a_lane_by_data,
        masks_memory_by_data,
        copies_as_much_as_data_says,
    ],
    ids=lambda found: found.dispatcher.__name__,
)
def test_each_way_to_leak_is_found(found):
    assert leaks(found)


@kernel(SIGNATURE)
def harmless(a, b, out):
    """Public lengths, indices, branches and partial copies; secret values, masks and vector selects."""
    for i in range(len(a)):
        if i & 1:
            out[i] = a[i] ^ (b[i] << np.uint64(3)) + a[i] * b[i]
    x, y = v.load(v.u64x4, a, 0), v.load(v.u64x4, b, 0)
    v.store_first(out, 0, v.select(x < y, x, v.zero(v.u64x4)), len(b) & 31)
    v.store_masked(out, 0, x + y, v.iota(v.u64x4) < len(b))
    out[1] = v.extract(x, len(b) & 3)


def test_nothing_else_is_found():
    assert leaks(harmless) == []


def test_the_table_driven_key_schedule_is_found():
    """`gather` is not constant time, and says so: the proof must say so, too."""
    found = next(value for value in vars(schedule).values() if isinstance(value, Kernel))
    assert leaks(found)
