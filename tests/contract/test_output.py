"""What comes out: any ``out=``, in place, overlapping; wrong ones are refused before any work."""

import array
import mmap
from typing import Any

import numpy as np
import pytest

import twofishkit as tk
from tests.contract.samples import DATA, SAMPLES, N, directions, raw


def test_out_of_any_kind(mode, row, expected):
    for call, given_, result in directions(row, mode, DATA, expected):
        n = len(result)
        for out in (
            np.full(n, 0xA5, np.uint8),
            np.full((n // 4, 4), -1, np.int8),
            np.full(n // 16, np.nan, np.complex128),
            np.full(n + 3, 0xA5, np.uint8)[3:],
            bytearray(b"\xa5" * n),
            memoryview(bytearray(b"\xa5" * n)),
            array.array("B", b"\xa5" * n),
            mmap.mmap(-1, n),
        ):
            assert call(given_, out) is out
            assert bytes(memoryview(out).cast("B")) == result
            assert raw(call(np.frombuffer(given_, np.uint8), out)) == raw(out)


def test_out_is_written_nowhere_else(mode, row, expected):
    for call, given_, result in directions(row, mode, DATA, expected):
        around = np.full(len(result) + 128, 0xA5, np.uint8)
        call(given_, around[64:-64])
        assert around[64:-64].tobytes() == result
        assert (around[:64] == 0xA5).all()
        assert (around[-64:] == 0xA5).all()


def test_in_place(mode, row, expected):
    """pycryptodome 582 and 420, mbedtls 4302, OCB vectors of libtomcrypt: in place was wrong."""
    for call, given_, result in directions(row, mode, DATA, expected):
        buffer = np.zeros(max(len(given_), len(result)), np.uint8)
        buffer[: len(given_)] = bytearray(given_)
        out = buffer[: len(result)]
        assert call(buffer[: len(given_)], out) is out
        assert out.tobytes() == result


def test_in_place_on_an_array_of_any_dtype(mode, row):
    if row.joined:
        return  # the result is longer: it cannot be the array itself
    data = SAMPLES["structured"].copy()
    assert row.encrypt(mode, data, data) is data
    assert data.tobytes() == row.encrypt(mode, DATA, None)
    assert row.decrypt(mode, data, data) is data
    assert data.tobytes() == DATA


def test_partly_overlapping_out(mode, row, expected):
    """Out begins some bytes before or after the data in the same memory; the answer is right."""
    for shift in (-95, -33, -17, -16, -15, -1, 1, 7, 15, 16, 17, 48, 95):
        for call, given_, result in directions(row, mode, DATA, expected):
            buffer = np.zeros(400, np.uint8)
            source = buffer[128 : 128 + len(given_)]
            source[:] = bytearray(given_)
            out = buffer[128 + shift :][: len(result)]
            assert call(source, out) is out
            assert out.tobytes() == result, shift


def test_overlap_of_reversed_data(mode, row, expected):
    for call, given_, result in directions(row, mode, DATA, expected):
        buffer = np.zeros(max(len(given_), len(result)), np.uint8)
        source = buffer[: len(given_)][::-1]
        source[:] = bytearray(given_)
        out = buffer[: len(result)]
        call(source, out)
        assert out.tobytes() == result


def bad_outs(n: int) -> dict[str, tuple[Any, type[tk.TwofishKitError]]]:
    read_only = np.full(n, 0xA5, np.uint8)
    read_only.flags.writeable = False
    return {
        "bytes": (b"\xa5" * n, tk.InvalidBuffer),
        "read-only array": (read_only, tk.InvalidBuffer),
        "read-only view": (memoryview(b"\xa5" * n), tk.InvalidBuffer),
        "scalar": (np.bytes_(b"\xa5" * n), tk.InvalidBuffer),
        "one byte short": (bytearray(b"\xa5" * (n - 1)), tk.InvalidBuffer),
        "one byte long": (np.full(n + 1, 0xA5, np.uint8), tk.InvalidBuffer),
        "empty": (bytearray(), tk.InvalidBuffer),
        "every second byte": (np.full(2 * n, 0xA5, np.uint8)[::2], tk.InvalidBuffer),
        "strided view": (memoryview(bytearray(b"\xa5" * 2 * n))[::2], tk.InvalidBuffer),
        "Fortran": (np.full((2, n // 2), 0xA5, np.uint8, order="F"), tk.InvalidBuffer),
        "objects": (np.full(n, None, object), tk.UnsupportedType),
        "masked": (np.ma.masked_array(np.full(n, 0xA5, np.uint8)), tk.UnsupportedType),
        "str": ("x" * n, tk.UnsupportedType),
        "number": (n, tk.UnsupportedType),
    }


def test_errors_before_work(mode, row, expected):
    for call, given_, result in directions(row, mode, DATA, expected):
        for kind, (out, error) in bad_outs(len(result)).items():
            before = raw(out) if isinstance(out, (np.ndarray, bytearray, memoryview)) else None
            source = np.frombuffer(given_, np.uint8).copy()
            with pytest.raises(error, match="out"):
                call(source, out)
            assert source.tobytes() == given_, kind
            assert before is None or raw(out) == before, kind


def test_lengths_that_a_mode_does_not_take(mode, row):
    refused = [n for n in range(1, 50) if n not in row.lengths(n)]
    if row.block == 1:
        assert refused == list(range(1, row.shortest))
    for n in refused:
        out = bytearray(b"\xa5" * row.ciphertext_bytes(n))
        for call in (row.encrypt, row.decrypt):
            with pytest.raises(tk.InvalidLength, match=f"{n} bytes"):
                call(mode, bytes(n), out)
        assert out == b"\xa5" * len(out)


def test_altered_ciphertext_leaves_out_as_it_was(mode, row, expected):
    if not row.authenticated:
        return
    for i in (0, 15, 16, len(expected) // 2, len(expected) - 1):
        altered = bytearray(expected)
        altered[i] ^= 0x10
        out = bytearray(b"\xa5" * N)
        with pytest.raises(tk.InvalidTag):
            row.decrypt(mode, altered, out)
        assert out == b"\xa5" * N
        in_place = altered.copy()
        view = memoryview(in_place)[:N]
        with pytest.raises(tk.InvalidTag):
            row.decrypt(mode, in_place, view)
        assert in_place == altered
