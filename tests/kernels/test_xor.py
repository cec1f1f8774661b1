"""Word-wise XOR: every length, offset and aliasing; nothing outside the range is touched."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

from tests.vectors_io import document, vectors
from twofishkit.kernels import xor as module
from twofishkit.kernels.jit import kernel
from twofishkit.kernels.xor import xor, xor_bytes

PARAMETERS = document("xor.json")
FUNCTIONS = pytest.mark.parametrize("function", [xor, module.xor_kernel], ids=["slot", "kernel"])


@kernel("void(u1[::1], i8, u1[::1], i8, u4[::1], i8, i8)")
def xor_at(dst, d, a, i, b, j, n):
    """The helper for modes, with a word array as one of its inputs as in a mode."""
    xor_bytes(dst, d, a, i, b, j, n)


def check(function, n, i, j, d, a, b):
    """One XOR between guards: sources at offsets i and j, destination at d."""
    a = np.concatenate([np.zeros(i, np.uint8), a[:n]])[i:]
    b = np.concatenate([np.zeros(j, np.uint8), b[:n]])[j:]
    memory = np.full(d + n + 64, 0xA5, np.uint8)
    function(a, b, memory[d : d + n])
    assert (memory[d : d + n] == np.bitwise_xor(a, b)).all()
    assert (memory[:d] == 0xA5).all()
    assert (memory[d + n :] == 0xA5).all()


@FUNCTIONS
def test_vectors(function):
    checked = 0
    for vector in vectors("xor.json"):
        n, seed = vector["n"], vector["seed"]
        a = np.frombuffer(hashlib.shake_256(f"xor/a/{seed}".encode()).digest(n), np.uint8)
        b = np.frombuffer(hashlib.shake_256(f"xor/b/{seed}".encode()).digest(n), np.uint8)
        dst = np.empty(n, np.uint8)
        function(a, b, dst)
        assert hashlib.sha256(dst).hexdigest() == vector["digest"], vector["id"]
        if "result" in vector:
            assert dst.tobytes() == vector["result"]
        checked += 1
    assert checked == PARAMETERS["count"]


@FUNCTIONS
def test_every_length(function):
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 256, (2, 1024), dtype=np.uint8)
    for n in range(1025):
        check(function, n, n % 8, n // 8 % 8, n // 64 % 8, a, b)


@FUNCTIONS
def test_every_mix_of_offsets(function):
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 256, (2, 1024), dtype=np.uint8)
    offsets = PARAMETERS["src_a_offset"], PARAMETERS["src_b_offset"], PARAMETERS["dst_offset"]
    for i in offsets[0]:
        for j in offsets[1]:
            for d in offsets[2]:
                check(function, 151, i, j, d, a, b)
    for i in PARAMETERS["extra_offsets"]:
        for d in PARAMETERS["extra_offsets"]:
            check(function, 203, i, 64 - i, d, a, b)


@FUNCTIONS
@given(st.binary(max_size=700), st.integers(0, 70))
def test_in_place(function, data, offset):
    a = np.concatenate([np.zeros(offset, np.uint8), np.frombuffer(data, np.uint8)])[offset:]
    b = (np.arange(a.size) * 37).astype(np.uint8)
    expected = a ^ b
    for mine, other in ((a.copy(), b), (b.copy(), a)):
        function(mine, other, mine)
        assert (mine == expected).all()
        left = other.copy()
        function(mine, left, left)
        assert (left == expected ^ other).all()
    function(a, a, a)
    assert not a.any()


@pytest.mark.parametrize(
    "size", [module._NUMPY_BYTES - 1, module._NUMPY_BYTES, module._NUMPY_BYTES + 1, 100_003]
)
def test_slot_is_right_on_both_sides_of_its_switch(size):
    rng = np.random.default_rng(size)
    a, b = rng.integers(0, 256, (2, size), dtype=np.uint8)
    check(xor, size, 3, 5, 1, a, b)


@given(st.integers(0, 200), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_helper_takes_byte_offsets_into_any_arrays(n, d, i, j):
    rng = np.random.default_rng(n)
    a = rng.integers(0, 256, 256, dtype=np.uint8)
    words = rng.integers(0, 2**32, 64, dtype=np.uint32)
    dst = np.full(256, 0x5A, np.uint8)
    expected = dst.copy()
    expected[d : d + n] = a[i : i + n] ^ words.view(np.uint8)[j : j + n]
    xor_at(dst, d, a, i, words, j, n)
    assert (dst == expected).all()


def test_sources_may_be_read_only():
    a = np.frombuffer(bytes(range(100)), np.uint8)
    dst = np.empty(100, np.uint8)
    xor(a, a[::-1].copy(), dst)
    assert (dst == a ^ a[::-1]).all()
