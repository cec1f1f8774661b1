"""One suite for every mode under every backend: what callers may rely on whatever the mode.

Bytes in, bytes out is the yardstick, itself compared with the reference in ``tests/modes``.
"""

import array
import itertools
import mmap
import tempfile
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twofishkit as tk
from tests.contract.rows import KEY, ROWS, Row

#: Bytes that most tests work on: a length that all rows take, and more than one batch of 4 blocks.
N = 96
DATA = bytes((7 * i + i // 16) % 256 for i in range(N))


@pytest.fixture(params=ROWS, ids=lambda row: row.name)
def row(request: pytest.FixtureRequest) -> Row:
    return request.param


@pytest.fixture
def mode(backend: str, row: Row) -> Any:
    return row.mode()


@pytest.fixture
def expected(mode: Any, row: Row) -> bytes:
    """The ciphertext of DATA."""
    return row.encrypt(mode, DATA, None)


def raw(result: Any) -> bytes:
    return result.tobytes() if isinstance(result, np.ndarray) else bytes(result)


def directions(row: Row, mode: Any, plaintext: Any, ciphertext: Any) -> list[tuple[Any, Any, Any]]:
    """For both directions: the call, its input and its result."""
    return [
        (lambda data, out=None: row.encrypt(mode, data, out), plaintext, ciphertext),
        (lambda data, out=None: row.decrypt(mode, data, out), ciphertext, plaintext),
    ]


# --- What goes in --------------------------------------------------------------------------------


def test_round_trip_at_every_length(mode, row):
    lengths = row.lengths(*range(67), 255, 256, 1024, 1040)
    assert lengths
    for n in lengths:
        data = bytes(i % 251 for i in range(n))
        ciphertext = row.encrypt(mode, data, None)
        assert type(ciphertext) is bytes
        assert len(ciphertext) == row.ciphertext_bytes(n)
        plaintext = row.decrypt(mode, ciphertext, None)
        assert type(plaintext) is bytes
        assert plaintext == data


def mapped(data: bytes) -> mmap.mmap:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        return mmap.mmap(file.fileno(), len(data))


BYTES_LIKE = {
    "bytearray": bytearray,
    "memoryview": memoryview,
    "slice of a memoryview": lambda data: memoryview(b"ab" + data + b"c")[2:-1],
    "every second byte of a memoryview": lambda data: memoryview(bytes(np.repeat(bytearray(data), 2)))[::2],
    "reversed memoryview": lambda data: memoryview(data[::-1])[::-1],
    "memoryview of another format": lambda data: memoryview(np.frombuffer(data, "S1")),
    "array.array": lambda data: array.array("B", data),
    "mmap": mapped,
    "numpy.bytes_": np.bytes_,
    "subclass of bytes": type("Derived", (bytes,), {}),
}


def test_any_bytes_like_gives_bytes(mode, row, expected):
    """pyca/cryptography 8175, pycryptodome 7: memoryview and bytearray were refused."""
    for kind, make in BYTES_LIKE.items():
        for call, given_, result in directions(row, mode, DATA, expected):
            found = call(make(given_))
            assert type(found) is bytes, kind
            assert found == result, kind


STRUCTURED = np.dtype([("when", "M8[ms]"), ("flag", "?"), ("value", ">f4"), ("name", "S3")])
PADDED = np.dtype({"names": ["a", "b"], "formats": ["u1", "<u4"], "offsets": [0, 4], "itemsize": 24})
SAMPLES = {
    "float64": np.linspace(-1, 1, 12),
    "float16 with NaN": np.array([np.nan, np.inf, -0.0, 1.0] * 12, np.float16),
    "big-endian": np.arange(24, dtype=">u4").reshape(2, 3, 4),
    "complex": (np.arange(6) + 1j * np.arange(6)).reshape(3, 2),
    "bool": np.arange(96).reshape(8, 12) % 3 == 0,
    "datetime64 with NaT": np.array(["2024-02-29", "NaT", "1969-12-31"] * 4, "M8[us]"),
    "timedelta64": np.arange(12).astype("m8[7m]"),
    "bytes": np.array([b"abc", b"", b"de"] * 4, "S8"),
    "strings": np.array(["é", "ab", ""] * 4, "U2"),
    "structured": np.frombuffer(DATA, STRUCTURED),
    "structured with padding": np.frombuffer(DATA, PADDED),
    "void": np.frombuffer(DATA, "V12"),
    "0-d": np.array(DATA, "S96"),
    "record array": np.frombuffer(DATA, STRUCTURED).view(np.recarray),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_arrays_keep_dtype_and_shape(backend, sample):
    """numcodecs 39: datetime64 has no buffer. Here every dtype does, and comes back bit for bit."""
    data = SAMPLES[sample]
    before = data.tobytes()
    dtype = np.asarray(data).dtype  # without the class of a record array
    for row in ROWS:
        mode = row.mode()
        ciphertext = row.encrypt(mode, data, None)
        assert data.tobytes() == before, row.name
        assert type(ciphertext) is np.ndarray, row.name
        assert raw(ciphertext) == row.encrypt(mode, before, None), row.name
        like = (np.uint8, (row.ciphertext_bytes(N),)) if row.joined else (dtype, data.shape)
        assert (ciphertext.dtype, ciphertext.shape) == like, row.name
        plaintext = row.decrypt(mode, ciphertext, None)
        like = (np.uint8, (N,)) if row.joined else (dtype, data.shape)
        assert (plaintext.dtype, plaintext.shape) == like, row.name
        assert plaintext.tobytes() == before, row.name


BASE = np.frombuffer(DATA * 4, "<u2").reshape(8, 24)
LAYOUTS = {
    "read-only": np.frombuffer(DATA, "<i4"),
    "Fortran": np.asfortranarray(BASE[:4, :12]),
    "transposed": BASE[:4, :12].T,
    "every second": BASE[::2, ::2][:, :12],
    "reversed": BASE[:2, ::-1],
    "reversed rows": BASE[1::-1],
    "broadcast": np.broadcast_to(BASE[0], (2, 24)),
    "one column": BASE.reshape(-1, 4)[:, 1],
    "field of a structure": np.zeros(24, [("a", "u1"), ("b", "<u4")])["b"],
    "sliding windows": np.lib.stride_tricks.sliding_window_view(BASE[0, :19], 12)[:4],
    "unaligned": np.frombuffer(b"x" + DATA, np.uint8)[1:].view("<f8"),
    "structured with padding, reversed": SAMPLES["structured with padding"][::-1],
    "subclass": BASE[:2].view(np.matrix),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_are_read_in_c_order_of_their_elements(backend, layout):
    data = LAYOUTS[layout]
    elements = data.view(f"V{data.itemsize}")  # tobytes alone may drop the padding inside elements
    content = b"".join(element.tobytes() for element in np.asarray(elements).flat)
    assert len(content) == N
    for row in ROWS:
        mode = row.mode()
        ciphertext = row.encrypt(mode, data, None)
        assert raw(ciphertext) == row.encrypt(mode, content, None), row.name
        assert row.joined or ciphertext.shape == data.shape, row.name
        spread = np.repeat(ciphertext.reshape(-1), 3)[::3]
        assert not spread.flags.c_contiguous
        assert row.decrypt(mode, spread, None).tobytes() == content, row.name


def test_empty_arrays(mode, row):
    if not row.lengths(0):
        with pytest.raises(tk.InvalidLength):
            row.encrypt(mode, np.empty((0, 3)), None)
        return
    for data in (np.empty((0, 3), "M8[s]"), np.empty((2, 0, 5), np.complex64), np.empty(0, STRUCTURED)):
        ciphertext = row.encrypt(mode, data, None)
        assert raw(ciphertext) == row.encrypt(mode, b"", None)
        plaintext = row.decrypt(mode, ciphertext, None)
        assert plaintext.size == 0
        if not row.joined:
            assert (plaintext.shape, plaintext.dtype) == (data.shape, data.dtype)


class Pretender:
    """Converts to an array, and is none."""

    def __array__(self, dtype=None, copy=None):
        return np.zeros(N, np.uint8)


REFUSED = {
    "object dtype": (np.array([1, "a", None], object), "object"),
    "object field": (np.zeros(4, [("a", "u1"), ("b", "O")]), "O"),
    "masked array": (np.ma.masked_array(np.zeros(12), mask=True), "mask"),
    "masked scalar": (np.ma.masked, "mask"),
    "str": ("text", "encode"),
    "numpy.str_": (np.str_("text"), "encode"),
    "list": ([1, 2, 3], "list"),
    "int": (96, "int"),
    "None": (None, "NoneType"),
    "something like an array": (Pretender(), "numpy.asarray"),
}
if hasattr(np.dtypes, "StringDType"):
    REFUSED["variable-width strings"] = (np.array(["a", "bc"], "T"), "StringDType")


@pytest.mark.parametrize("kind", REFUSED)
def test_what_has_no_bytes_is_refused_by_name(backend, kind):
    data, hint = REFUSED[kind]
    out = bytearray(b"\xa5" * N)
    for row in ROWS:
        mode = row.mode()
        for call in (row.encrypt, row.decrypt):
            with pytest.raises(tk.UnsupportedType, match=hint) as caught:
                call(mode, data, out)
            assert isinstance(caught.value, TypeError)
            assert out == b"\xa5" * N, row.name


def test_object_buffers_are_refused(mode, row):
    with pytest.raises(tk.UnsupportedType, match="Python objects"):
        row.encrypt(mode, memoryview(np.array([1, None], object)), None)


# --- What comes out ------------------------------------------------------------------------------


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


# --- Objects -------------------------------------------------------------------------------------


def test_calls_leave_no_state(mode, row, expected):
    for _ in range(2):
        assert row.encrypt(mode, DATA, None) == expected
        if row.lengths(16):
            row.encrypt(mode, DATA[:16], None)
        assert row.decrypt(mode, expected, None) == DATA
        if row.encryptor:
            row.encryptor(mode).update(DATA[:23])


def test_eight_threads_on_one_object(mode, row):
    """numba 9288, stumpy 858: processes aborted when threads called kernels at once."""
    n = 96 * 4
    messages = [bytes((i + k) % 256 for i in range(n)) for k in range(8)]
    wanted = [row.encrypt(mode, message, None) for message in messages]
    start = threading.Barrier(8)
    failures = []

    def work(message: bytes, result: bytes) -> None:
        start.wait()
        try:
            for _ in range(3):
                assert row.encrypt(mode, message, None) == result
                assert row.decrypt(mode, result, None) == message
                buffer = bytearray(message)
                if not row.joined:
                    row.encrypt(mode, buffer, buffer)
                    assert buffer == result
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(messages, wanted, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_wiped_key_is_refused(backend, row):
    ciphers = row.ciphers()
    mode = row.make(*ciphers)
    ciphertext = row.encrypt(mode, DATA, None)
    context = row.encryptor(mode) if row.encryptor else None
    for cipher in ciphers:
        cipher.wipe()
        cipher.wipe()  # a second time does no harm
    for call, given_, n in ((row.encrypt, DATA, len(ciphertext)), (row.decrypt, ciphertext, N)):
        out = bytearray(b"\xa5" * n)
        with pytest.raises(tk.StateError, match="wiped"):
            call(mode, given_, out)
        assert out == b"\xa5" * n
        with pytest.raises(tk.StateError, match="wiped"):
            call(mode, given_, None)
    if context is not None:
        with pytest.raises(tk.StateError, match="wiped"):
            context.update(DATA)


def test_repr_shows_the_key_size_and_no_key(mode, row):
    text = repr(mode)
    assert text == repr(row.mode())
    assert text.startswith(row.name.split()[0])
    assert "256" in text
    assert KEY[:2].hex() not in text
    assert repr(KEY)[2:8] not in text
    assert "0x" not in text


# --- Streaming -----------------------------------------------------------------------------------

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
