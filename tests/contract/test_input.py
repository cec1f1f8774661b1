"""What goes in: bytes-like objects and arrays of every dtype and layout, and what has no bytes is refused."""

import array
import mmap
import tempfile

import numpy as np
import pytest

import twofishkit as tk
from tests.contract.rows import ROWS
from tests.contract.samples import DATA, LAYOUTS, SAMPLES, STRUCTURED, N, directions, raw


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
