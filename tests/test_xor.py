"""`twofishkit.xor`: the published parameter list, every mix of offsets, and the rules for buffers."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twofishkit as tk


def test_short_lengths_at_every_offset(backend):
    random = np.random.default_rng(6)
    for n in (0, 1, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 100):
        for i, j, k in random.integers(0, 9, (12, 3)):
            a, b = random.integers(0, 256, n + 9, np.uint8), random.integers(0, 256, n + 9, np.uint8)
            around = np.full(n + 32, 0xA5, np.uint8)
            out = around[k + 8 :][:n]
            assert tk.xor(a[i:][:n], b[j:][:n], out) is out
            assert np.array_equal(out, a[i:][:n] ^ b[j:][:n])
            assert (around[: k + 8] == 0xA5).all()
            assert (around[k + 8 + n :] == 0xA5).all()


@given(
    n=st.integers(0, 300), shift_a=st.integers(-40, 40), shift_b=st.integers(-40, 40), seed=st.integers(0, 99)
)
def test_overlap_is_right(backend, n, shift_a, shift_b, seed):
    memory = np.random.default_rng(seed).integers(0, 256, 400, np.uint8)
    a, b, out = (memory[50 + shift :][:n] for shift in (shift_a, shift_b, 0))
    expected, before = a ^ b, memory.copy()
    assert tk.xor(a, b, out=out) is out
    assert np.array_equal(out, expected)
    memory[:] = before  # and through the kernel, where the output is no uint8 array
    tk.xor(a, b, out=memoryview(out))
    assert np.array_equal(out, expected)


def test_in_place(backend):
    for n in (5, 64, 100_000):
        a, b = np.random.default_rng(n).integers(0, 256, (2, n), np.uint8)
        expected = a ^ b
        first, second = a.copy(), b.copy()
        tk.xor(first, b, first)
        tk.xor(a, second, second)
        assert np.array_equal(first, expected)
        assert np.array_equal(second, expected)
        assert tk.xor(a, a).any() == False  # noqa: E712


def test_kinds_of_results(backend):
    a, b = bytes(range(24)), bytes(range(100, 124))
    expected = bytes(x ^ y for x, y in zip(a, b, strict=True))
    for left in (a, bytearray(a), memoryview(a), memoryview(bytes(np.repeat(bytearray(a), 2)))[::2]):
        for right in (b, bytearray(b), np.frombuffer(b, "<f4")):
            found = tk.xor(left, right)
            assert type(found) is bytes
            assert found == expected
    for dtype in ("u1", ">i4", "c8", "M8[s]", "S3", [("x", "u1"), ("y", "<u2")]):
        array = np.frombuffer(a, dtype)
        found = tk.xor(array, b)
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert found.tobytes() == expected
        out = bytearray(24)
        assert tk.xor(array, b, out) is out
        assert out == expected
    columns = np.frombuffer(a, np.uint8).reshape(4, 6).T
    assert tk.xor(columns, np.zeros(24, np.uint8)).tobytes() == columns.tobytes()
    assert tk.xor(np.float64(1.0), bytes(8)).shape == ()
    assert tk.xor(b"", bytearray()) == b""


def test_large(backend):
    n = (1 << 20) + 5
    a, b = hashlib.shake_256(b"a").digest(n), hashlib.shake_256(b"b").digest(n)
    expected = (int.from_bytes(a) ^ int.from_bytes(b)).to_bytes(n)
    assert tk.xor(a, b) == expected
    assert tk.xor(np.frombuffer(a, np.uint8), b).tobytes() == expected


def test_lengths_must_be_equal():
    """Neither the shorter length, as in Go, nor broadcasting, as in NumPy, is guessed."""
    out = bytearray(b"\xa5" * 8)
    for a, b in ((bytes(8), bytes(7)), (bytes(7), bytes(8)), (np.zeros(8, "f8"), np.zeros((), "f8"))):
        with pytest.raises(tk.InvalidLength, match=r"a has \d+ bytes and b has"):
            tk.xor(a, b, out)
    for a, b in ((1, 8), (8, 1), (8, (1, 8)), ((2, 4), 4)):
        left, right, full = np.ones(a, np.uint8), np.ones(b, np.uint8), np.zeros(8, np.uint8)
        if left.size == right.size:
            assert tk.xor(left, right, full) is full
        else:
            with pytest.raises(tk.InvalidLength):
                tk.xor(left, right, full)
        assert not full.any()
    for wrong in (bytearray(7), bytearray(9), np.zeros(16, np.uint8)[::2]):
        with pytest.raises(tk.InvalidBuffer, match="out"):
            tk.xor(bytes(8), bytes(8), wrong)
    read_only = np.zeros(8, np.uint8)
    read_only.flags.writeable = False
    for wrong in (bytes(8), read_only):
        with pytest.raises(tk.InvalidBuffer, match="read-only"):
            tk.xor(np.zeros(8, np.uint8), np.zeros(8, np.uint8), wrong)
    assert out == b"\xa5" * 8


@pytest.mark.parametrize("bad", ["text", None, 5, np.array([None]), np.ma.masked_array([1, 2])])
def test_other_types(bad):
    for a, b, out, name in (
        (bad, bytes(4), None, "a"),
        (bytes(4), bad, None, "b"),
        (bytes(4), bytes(4), bad, "out"),
    ):
        if name == "out" and bad is None:
            continue
        with pytest.raises(tk.UnsupportedType, match=f"^{name} "):
            tk.xor(a, b, out)
