"""Counters and masks against Python's integers, above all where they carry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

from twofishkit.kernels.counters import add_counter, load_counter, store_counter, xts_double
from twofishkit.kernels.jit import kernel
from twofishkit.kernels.wide_masks import fill_offsets
from twofishkit.kernels.words import load_u64, store_u64
from twofishkit.reference.gf128 import multiply_by_alpha
from twofishkit.reference.modes import next_counter
from twofishkit.simd import vectors as v

STARTS = [2**bits - k for bits in (32, 64, 128) for k in range(81)]


@kernel("void(u1[::1], i8, i8, b1)")
def advance(block, n, counter_bits, little_endian):
    low, high = load_counter(block, little_endian)
    low, high = add_counter(low, high, n, counter_bits)
    store_counter(block, 0, low, high, little_endian)


@kernel("void(u1[::1])")
def double(block):
    low, high = xts_double(load_u64(block, 0), load_u64(block, 8))
    store_u64(block, 0, low)
    store_u64(block, 8, high)


@kernel("void(u1[::1], u1[:, ::1], i8)")
def step(block, ls, number):
    masks = v.stack(16)
    v.store(block, 0, fill_offsets(masks, v.load(v.u64x2, block, 0), v.address(ls), number, 1))


def advanced(block, n, counter_bits, byteorder):
    array = np.frombuffer(block, np.uint8).copy()
    advance(array, n, counter_bits, byteorder == "little")
    return array.tobytes()


@pytest.mark.parametrize("byteorder", ["big", "little"])
@pytest.mark.parametrize("counter_bits", [32, 64, 128])
def test_one_step_carries_as_far_as_the_field_and_no_further(counter_bits, byteorder):
    for start in STARTS:
        block = (start % 2**128).to_bytes(16, byteorder)
        assert advanced(block, 1, counter_bits, byteorder) == next_counter(block, counter_bits, byteorder)


@given(st.binary(min_size=16, max_size=16), st.integers(0, 2**63 - 1), st.sampled_from([32, 64, 128]))
def test_many_steps_at_once(block, n, counter_bits):
    width = counter_bits // 8
    value = (int.from_bytes(block[16 - width :], "big") + n) % 2**counter_bits
    assert advanced(block, n, counter_bits, "big") == block[: 16 - width] + value.to_bytes(width, "big")
    value = (int.from_bytes(block[:width], "little") + n) % 2**counter_bits
    assert advanced(block, n, counter_bits, "little") == value.to_bytes(width, "little") + block[width:]


@given(st.binary(min_size=16, max_size=16))
def test_xts_double(block):
    array = np.frombuffer(block, np.uint8).copy()
    double(array)
    assert array.tobytes() == multiply_by_alpha(block)


def test_xts_double_at_every_single_bit():
    for bit in range(128):
        block = (1 << bit).to_bytes(16, "little")
        array = np.frombuffer(block, np.uint8).copy()
        double(array)
        assert array.tobytes() == multiply_by_alpha(block)


def test_ocb_offsets_take_the_row_of_the_trailing_zeros():
    ls = np.random.default_rng(3).integers(0, 256, (60, 16), dtype=np.uint8)
    for zeros in range(60):
        for odd in (1, 3, 2**62 - 1):
            number = odd << zeros
            if number < 2**63:
                block = np.arange(16, dtype=np.uint8)
                step(block, ls, number)
                assert (block == np.arange(16) ^ ls[zeros]).all()
