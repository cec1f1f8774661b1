"""What `buffers` does that the contract suite cannot see from outside: views, copies, addresses."""

import array
import sys

import numpy as np
import pytest

from twofishkit.buffers import as_bytes, byte_length, output_like, prepare, separate, small, writable
from twofishkit.errors import InvalidBuffer, InvalidKey, InvalidNonce, UnsupportedType


def test_contiguous_input_is_not_copied():
    data = np.arange(24.0).reshape(4, 6)
    for view in (
        data,
        data[1:3],
        data.reshape(2, 2, 6),
        np.array(1.5),
        memoryview(data),
        data.view(np.matrix),
    ):
        assert np.shares_memory(as_bytes(view), np.asarray(view))
    for buffer in (bytearray(8), array.array("d", [1.0])):
        as_bytes(buffer)[:] = 7
        assert bytes(memoryview(buffer).cast("B")) == b"\7" * 8
    assert not as_bytes(b"abc").flags.writeable


def test_other_input_is_copied_once_and_contiguous():
    data = np.arange(24.0).reshape(4, 6)
    for view in (data.T, data[::2], data[:, ::-1], np.broadcast_to(data[0], (3, 6))):
        found = as_bytes(view)
        assert found.flags.c_contiguous
        assert not np.shares_memory(found, data)
        assert found.tobytes() == view.tobytes()


def test_padding_inside_strided_elements_is_kept():
    """Copying a structured array by its dtype copies the fields only."""
    dtype = np.dtype({"names": ["a"], "formats": ["u1"], "offsets": [3], "itemsize": 8})
    content = bytes(range(80))
    data = np.frombuffer(content, dtype)[::2]
    assert as_bytes(data).tobytes() == b"".join(content[i : i + 8] for i in range(0, 80, 16))


@pytest.mark.parametrize(
    "empty",
    [
        b"",
        bytearray(),
        memoryview(b""),
        np.empty((3, 0)),
        np.empty(5, []),
        np.empty((0,), "M8[s]"),
        array.array("i"),
    ],
)
def test_empty(empty):
    assert byte_length(empty) == 0
    assert as_bytes(empty).shape == (0,)
    src, dst, finish = prepare(empty)
    assert src.size == dst.size == 0
    result = finish()
    assert type(result) is (np.ndarray if isinstance(empty, np.ndarray) else bytes)


@pytest.mark.parametrize(
    "scalar", [np.float32(1.5), np.datetime64("NaT", "s"), np.complex128(1j), np.bool_(True)]
)
def test_numpy_scalars_are_arrays_without_dimensions(scalar):
    src, dst, finish = prepare(scalar)
    dst[:] = src
    result = finish()
    assert (type(result), result.shape, result.dtype) == (np.ndarray, (), scalar.dtype)
    assert result.tobytes() == scalar.tobytes()


def test_a_field_name_with_an_o_is_not_an_object():
    named = np.zeros(3, [("O", "u1"), ("Order", "<u2")])
    assert byte_length(memoryview(named)) == 9
    with pytest.raises(UnsupportedType):
        byte_length(memoryview(np.zeros(3, [("a", "O")])))


@pytest.mark.parametrize("n", [0, 1, 2, 1000, (1 << 15) - 1, 1 << 15, (1 << 15) + 1, 1 << 20])
def test_bytes_results(n):
    """Small and large results are made in different ways; both are plain bytes, made afresh."""
    expected = np.random.default_rng(n).bytes(n)
    results = []
    for _ in range(2):
        dst, finish = output_like(bytearray(n), n)
        assert dst.flags.writeable
        dst[:] = np.frombuffer(expected, np.uint8)
        results.append(finish())
        del dst, finish
    for result in results:
        assert type(result) is bytes
        assert result == expected
        assert hash(result) == hash(bytes(bytearray(expected)))
    assert n < 2 or results[0] is not results[1]


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="other implementations copy")
def test_large_bytes_results_are_not_copied():
    dst, finish = output_like(b"", 1 << 20)
    assert np.shares_memory(dst, np.frombuffer(finish(), np.uint8))


def test_small_copies_and_checks():
    mutable = bytearray(b"0123456789abcdef")
    value = small(mutable, "iv", (16,), "16 bytes")
    mutable[0] = 0
    assert value == b"0123456789abcdef"
    assert small(np.arange(4, dtype="<u4")[::-1], "iv", range(1, 17), "16 bytes") == b"".join(
        bytes([i, 0, 0, 0]) for i in (3, 2, 1, 0)
    )
    with pytest.raises(InvalidNonce, match="iv has 15 bytes; it must have 16 bytes"):
        small(bytes(15), "iv", (16,), "16 bytes")
    with pytest.raises(InvalidKey) as caught:
        small(b"secret", "key", (16,), "16 bytes", InvalidKey)
    assert "secret" not in str(caught.value)
    with pytest.raises(UnsupportedType, match=r"nonce .* encode"):
        small("0123456789ab", "nonce", (12,), "12 bytes")


def test_separate():
    memory = np.arange(100, dtype=np.uint8)
    assert separate(memory[:50], memory[50:]) is not None
    for src, dst, copied in (
        (memory[:50], memory[50:], False),
        (memory[:50], memory[:50], False),
        (memory[:50], memory[:60], False),
        (memory[:60], memory[:50], False),
        (memory[:50], memory[1:51], True),
        (memory[1:51], memory[:50], True),
        (memory[10:20], memory[:50], True),
        (memory[:0], memory[:50], False),
    ):
        found = separate(src, dst)
        assert (not np.shares_memory(found, src)) == copied or src.size == 0
        assert np.array_equal(found, src)
        if src.size:
            assert not np.shares_memory(separate(src, dst, in_place=False), dst)


def test_the_source_of_a_call_in_place_is_not_copied():
    memory = np.zeros(64, np.uint8)
    src, dst, finish = prepare(memory, memory)
    assert np.shares_memory(src, dst)
    assert finish() is memory


def test_writable_is_the_memory_itself():
    for out in (np.zeros((2, 4), ">u2"), bytearray(16), array.array("q", [0, 0]), np.zeros((), "S16")):
        writable(out, 16)[:] = 65
        assert (
            bytes(memoryview(out).cast("B") if not isinstance(out, np.ndarray) else out.tobytes())
            == b"A" * 16
        )
    with pytest.raises(InvalidBuffer, match="out has 16 bytes; the result has exactly 17"):
        writable(bytearray(16), 17)


def test_flat_results():
    data = np.zeros((2, 4), "f4")
    dst, finish = output_like(data, 35, flat=True)
    assert dst.shape == (35,)
    assert finish() is dst
