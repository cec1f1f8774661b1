"""Counters and masks against Python's integers, above all where they carry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

from twofishkit.kernels.counters import add_counter, load_counter, store_counter
from twofishkit.kernels.jit import kernel
from twofishkit.kernels.wide_masks import fill_counters, fill_offsets, fill_tweaks
from twofishkit.reference.gf128 import multiply_by_alpha
from twofishkit.reference.modes import next_counter
from twofishkit.simd import vectors as v

STARTS = [2**bits - k for bits in (32, 64, 128) for k in range(81)]


@kernel("void(u1[::1], i8, i8, b1)")
def advance(block, n, counter_bits, little_endian):
    low, high = load_counter(block, little_endian)
    low, high = add_counter(low, high, n, counter_bits)
    store_counter(block, 0, low, high, little_endian)


@kernel("void(u1[::1], i8, u1[::1])")
def tweaks(block, n, out):
    v.store(block, 0, fill_tweaks(v.address(out), v.load(v.u64x2, block, 0), n))


@kernel("void(u1[::1], i8, i8, b1, u1[::1])")
def counters(block, n, counter_bits, little_endian, out):
    low, high = load_counter(block, little_endian)
    low, high = fill_counters(v.address(out), low, high, n, counter_bits, little_endian)
    store_counter(block, 0, low, high, little_endian)


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


def check_tweaks(start, n):
    """n tweaks in memory, the next one as the result, and nothing beyond the stated overrun."""
    block, out = np.frombuffer(start, np.uint8).copy(), np.full(16 * n + 15 * 16 + 16, 0xA5, np.uint8)
    tweaks(block, n, out)
    for i in range(n):
        assert out[16 * i : 16 * i + 16].tobytes() == start, i
        start = multiply_by_alpha(start)
    assert block.tobytes() == start
    assert (out[-16:] == 0xA5).all()


@given(st.binary(min_size=16, max_size=16), st.integers(1, 70))
def test_tweaks(start, n):
    check_tweaks(start, n)


def test_tweaks_at_every_single_bit():
    for bit in range(128):
        check_tweaks((1 << bit).to_bytes(16, "little"), 20)


@pytest.mark.parametrize("little", [False, True])
@pytest.mark.parametrize("counter_bits", [32, 64, 128])
def test_counters_in_memory_wrap_at_every_position(counter_bits, little):
    byteorder = "little" if little else "big"
    for start in STARTS:
        block = (start % 2**128).to_bytes(16, byteorder)
        array, out = np.frombuffer(block, np.uint8).copy(), np.full(13 * 16 + 64, 0xA5, np.uint8)
        counters(array, 13, counter_bits, little, out)
        for i in range(13):
            assert out[16 * i : 16 * i + 16].tobytes() == block, (start, i)
            block = next_counter(block, counter_bits, byteorder)
        assert array.tobytes() == block
        assert (out[-16:] == 0xA5).all()


def test_ocb_offsets_take_the_row_of_the_trailing_zeros():
    ls = np.random.default_rng(3).integers(0, 256, (60, 16), dtype=np.uint8)
    for zeros in range(60):
        for odd in (1, 3, 2**62 - 1):
            number = odd << zeros
            if number < 2**63:
                block = np.arange(16, dtype=np.uint8)
                step(block, ls, number)
                assert (block == np.arange(16) ^ ls[zeros]).all()
