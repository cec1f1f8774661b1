"""Streaming: any split of the input gives the one-shot result, in any memory."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twofishkit as tk
from tests.contract.rows import ROWS
from tests.contract.samples import DATA, N

STREAMING = [row for row in ROWS if row.encryptor]


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def streamed(context: Any, pieces: list[Any]) -> bytes:
    parts = [context.update(piece) for piece in pieces]
    assert all(type(part) is bytes for part in parts)
    return b"".join(parts) + context.finalize()


@pytest.mark.parametrize("row", STREAMING, ids=lambda row: row.name)
@given(blocks=st.integers(0, 9), tail=st.integers(0, 15), cuts=st.lists(st.integers(0, 160), max_size=8))
def test_any_split_gives_the_one_shot_result(backend, row, blocks, tail, cuts):
    """OP-TEE/optee_os 2243: one call of 96 bytes differed from three of 32."""
    mode = row.mode()
    n = 16 * blocks + (0 if row.block == 16 else tail)
    data = bytes((3 * i) % 256 for i in range(n))
    ciphertext = row.encrypt(mode, data, None)
    assert streamed(row.encryptor(mode), split(data, cuts)) == ciphertext
    assert streamed(row.decryptor(mode), split(ciphertext, cuts)) == data


@pytest.mark.parametrize("row", STREAMING, ids=lambda row: row.name)
def test_byte_by_byte_and_in_thirds(backend, row):
    mode = row.mode()
    expected = row.encrypt(mode, DATA, None)
    for size in (1, 15, 16, 17, 32, 48):
        pieces = [DATA[i : i + size] for i in range(0, N, size)]
        assert streamed(row.encryptor(mode), pieces) == expected
        pieces = [expected[i : i + size] for i in range(0, len(expected), size)]
        assert streamed(row.decryptor(mode), pieces) == DATA


@pytest.mark.parametrize("row", STREAMING, ids=lambda row: row.name)
def test_pieces_of_any_kind(backend, row):
    mode = row.mode()
    pieces = [
        np.frombuffer(DATA[:12], ">u4"),
        bytearray(DATA[12:13]),
        memoryview(DATA[13:40][::-1])[::-1],
        np.empty((0, 4)),
        np.frombuffer(DATA[40:56], "M8[s]"),
        DATA[56:],
    ]
    assert streamed(row.encryptor(mode), pieces) == row.encrypt(mode, DATA, None)


@pytest.mark.parametrize("row", STREAMING, ids=lambda row: row.name)
def test_a_caller_may_reuse_its_buffer_between_updates(backend, row):
    mode = row.mode()
    context, buffer, result = row.encryptor(mode), bytearray(24), b""
    for i in range(0, N, 24):
        buffer[:] = DATA[i : i + 24]
        result += context.update(buffer)
        buffer[:] = bytes(24)
    assert result + context.finalize() == row.encrypt(mode, DATA, None)


@pytest.mark.parametrize("row", STREAMING, ids=lambda row: row.name)
def test_streaming_in_place_never_overwrites_input_not_yet_read(backend, row):
    """openssl 6498: a chunked in-place call wrote past what it had consumed."""
    mode = row.mode()
    for size in (5, 16, 29, 48):
        context, buffer, position = row.encryptor(mode), bytearray(DATA), 0
        for i in range(0, N, size):
            piece = memoryview(buffer)[i : i + size]
            ready = row.encryptor(mode)
            n = sum(len(ready.update(part)) for part in (DATA[:i], DATA[i : i + size])) - position
            out = memoryview(buffer)[position : position + n]
            assert context.update(piece, out=out) is out
            position += n
            assert position <= i + size
            assert buffer[i + size :] == DATA[i + size :]
        assert bytes(buffer[:position]) + context.finalize() == row.encrypt(mode, DATA, None)


@pytest.mark.parametrize("row", STREAMING, ids=lambda row: row.name)
@pytest.mark.parametrize("before", [0, 5, 15, 16])
def test_an_update_into_memory_that_overlaps_its_piece(backend, row, before):
    """With bytes waiting, output runs ahead of input: the same start is then no safe place."""
    mode = row.mode()
    # Decryptors of authenticated modes release nothing before the tag.
    for make in (row.encryptor,) if row.authenticated else (row.encryptor, row.decryptor):
        twin = make(mode)
        twin.update(DATA[:before])
        expected = twin.update(DATA[before:])
        rest = twin.update(DATA)
        for shift in (-16, -3, 0, 3, 16):
            context = make(mode)
            context.update(DATA[:before])
            memory = np.zeros(200, np.uint8)
            piece = memory[32 : 32 + N - before]
            piece[:] = bytearray(DATA[before:])
            out = memory[32 + shift :][: len(expected)]
            assert context.update(piece, out=out) is out
            assert out.tobytes() == expected, shift
            assert context.update(DATA) == rest, shift


@pytest.mark.parametrize("row", STREAMING, ids=lambda row: row.name)
def test_errors_leave_a_context_as_it_was(backend, row):
    mode = row.mode()
    context = row.encryptor(mode)
    first = context.update(DATA[:40])
    for bad in ("text", np.array([None]), np.ma.masked_array([1])):
        with pytest.raises(tk.UnsupportedType):
            context.update(bad)
    out = bytearray(b"\xa5" * 7)
    with pytest.raises(tk.InvalidBuffer):
        context.update(DATA[40:80], out=out)
    assert out == b"\xa5" * 7
    rest = context.update(DATA[40:]) + context.finalize()
    assert first + rest == row.encrypt(mode, DATA, None)


@pytest.mark.parametrize("row", STREAMING, ids=lambda row: row.name)
def test_a_finished_context_is_refused(backend, row):
    mode = row.mode()
    context = row.encryptor(mode)
    context.update(DATA)
    context.finalize()
    with pytest.raises(tk.StateError, match=r"finali[sz]ed|finished"):
        context.update(b"more")
    with pytest.raises(tk.StateError, match=r"finali[sz]ed|finished"):
        context.finalize()
