"""seal and unseal, save and load: what goes in comes out, bit for bit, and with no other key."""

import array
import math
import mmap
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit.errors import FormatError, InvalidKey, InvalidParameter, UnsupportedType, WrongKey
from twofishkit.sealed import container, header, inspect, keys, payload, pipes
from twofishkit.sealed.stream import CHUNK_BYTES

OTHER_KEY = bytes(31) + b"\1"


def assert_same(got, expected):
    assert isinstance(got, np.ndarray)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    assert got.tobytes() == expected.tobytes()
    assert got.flags.writeable
    assert got.flags.owndata


ARRAYS = hnp.arrays(
    dtype=st.one_of(
        hnp.scalar_dtypes(),
        hnp.byte_string_dtypes(),
        hnp.unicode_string_dtypes(),
        hnp.array_dtypes(max_size=4),
    ).filter(lambda dtype: dtype.subdtype is None),
    shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6),
)


@given(ARRAYS, st.sampled_from(["C", "F"]))
def test_round_trip_of_any_array(value, order):
    value = np.asarray(value, order=order)
    got = tk.unseal(tk.seal(value, KEY), KEY)
    assert_same(got, value)
    assert got.flags.f_contiguous == value.flags.f_contiguous


@given(ARRAYS, st.data())
def test_round_trip_of_strided_views(value, data):
    index = tuple(data.draw(st.slices(n)) for n in value.shape)
    view = value[(*index, ...)].transpose(data.draw(st.permutations(range(value.ndim))))
    assert_same(tk.unseal(tk.seal(view, KEY), KEY), view)


@pytest.mark.parametrize(
    "n", [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 64 * CHUNK_BYTES, 3 << 20]
)
def test_lengths_around_chunks_and_batches(n, backend, tmp_path):
    if backend == "reference":
        n = min(n, CHUNK_BYTES + 1)
    value = np.random.default_rng(n).bytes(n)
    blob = tk.seal(value, KEY)
    assert len(blob) == 52 + 56 + n + 16 * (n // CHUNK_BYTES + 1)
    assert tk.unseal(blob, KEY) == value
    tk.save(tmp_path / "a", value, KEY)
    assert tk.load(tmp_path / "a", KEY) == value


def test_backends_read_each_others_data(backend):
    value = np.random.default_rng(3).random(3000)
    with tk.backend.use("reference"):
        blob = tk.seal(value, KEY)
    assert_same(tk.unseal(blob, KEY), value)


@pytest.mark.parametrize(
    "value",
    [
        np.float32(1.5),
        np.datetime64("NaT", "ns"),
        np.arange(5)[::-1],
        np.arange(40000.0)[::3],
        np.broadcast_to(np.arange(3), (70000, 3)),
        np.arange(300000, dtype="<i4").reshape(300, 1000).T[:, ::2],
        np.array([["2020", "NaT"], ["1970", "2261"]], "M8[s]"),
        np.zeros((3, 0, 5)),
        np.ones((1,) * 32),
        np.array("text"),
        np.ma.getdata(np.ma.array([1, 2], mask=[0, 1])),
        np.array([(1, 2.5)], [("a", "<i2"), ("b", ">f8")]).view(np.recarray),
    ],
    ids=str,
)
def test_particular_arrays(value, tmp_path):
    expected = np.asarray(value)
    assert_same(tk.unseal(tk.seal(value, KEY), KEY), expected)
    tk.save(tmp_path / "a", value, KEY)
    assert_same(tk.load(tmp_path / "a", KEY), expected)


def test_more_dimensions_than_numpy_has(monkeypatch):
    described = header.build("array", 8, dtype=np.dtype("<f8"), shape=(1,) * 64)
    monkeypatch.setattr(payload.np, "empty", lambda *_: np.ndarray((1,) * 65))
    with pytest.raises(FormatError, match="cannot hold"):
        payload.empty_like(described)


def test_nan_payloads_negative_zero_and_padding_survive():
    bits = np.array([0x7FF8000000000001, 0xFFF0DEADBEEF0001, 1 << 63], "<u8")
    assert tk.unseal(tk.seal(bits.view("<f8"), KEY), KEY).tobytes() == bits.tobytes()
    padded = np.frombuffer(bytes(range(32)), np.dtype({"names": ["a"], "formats": ["u1"], "itemsize": 8}))
    for view in (padded, padded[::2]):
        got = tk.unseal(tk.seal(view, KEY), KEY)
        opaque = np.ascontiguousarray(view.view("V8"))
        assert got.tobytes() == opaque.tobytes()


@pytest.mark.parametrize(
    "make",
    [
        bytes,
        bytearray,
        memoryview,
        np.bytes_,
        lambda data: array.array("B", data),
        lambda data: memoryview(bytes(byte for byte in data for _ in range(2)))[::2],
    ],
    ids=["bytes", "bytearray", "memoryview", "numpy-bytes", "array", "strided-memoryview"],
)
def test_bytes_likes_come_back_as_bytes(make):
    data = bytes(range(1, 200))
    got = tk.unseal(make(tk.seal(make(data), KEY)), KEY)
    assert type(got) is bytes
    assert got == data


def test_mmap_and_memmap(tmp_path):
    value = np.arange(50000, dtype="<i4")
    value.tofile(tmp_path / "raw")
    assert_same(tk.unseal(tk.seal(np.memmap(tmp_path / "raw", "<i4", "r"), KEY), KEY), value)
    with open(tmp_path / "raw", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert tk.unseal(tk.seal(mapped, KEY), KEY) == value.tobytes()


def test_input_is_not_changed_and_salts_differ():
    value = np.arange(100.0)
    value.flags.writeable = False
    first, second = tk.seal(value, KEY), tk.seal(value, KEY)
    assert first != second
    start = len(inspect(first).encoded)
    assert first[:start] == second[:start]
    assert not any(a == b for a, b in zip(_blocks(first[start:]), _blocks(second[start:]), strict=True))


def _blocks(data):
    return [data[i : i + 16] for i in range(0, len(data) - 15, 16)]


@pytest.mark.parametrize("key", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8)])
def test_keys_of_any_bytes_like_type(key):
    assert tk.unseal(tk.seal(b"x", key(KEY)), key(KEY)) == b"x"


def test_wrong_key():
    blob = tk.seal(np.arange(3), KEY)
    with pytest.raises(WrongKey, match="wrong key"):
        tk.unseal(blob, OTHER_KEY)


@pytest.mark.usefixtures("cheap_scrypt")
def test_passphrases():
    blob = tk.seal(b"secret", passphrase="gr\u00fc\u00df dich")
    assert tk.unseal(blob, passphrase="gr\u00fc\u00df dich") == b"secret"
    assert tk.unseal(blob, passphrase="gru\u0308\u00df dich") == b"secret"  # the same text, decomposed
    assert tk.unseal(blob, passphrase="gr\u00fc\u00df dich".encode()) == b"secret"
    for wrong in ("gruss dich", "gr\u00fc\u00df dich ", "GR\u00dc\u00df DICH"):
        with pytest.raises(WrongKey):
            tk.unseal(blob, passphrase=wrong)
    assert inspect(blob).scrypt.log2_n == 4
    assert inspect(blob).scrypt.salt != inspect(tk.seal(b"secret", passphrase="x")).scrypt.salt


def test_default_cost_of_a_passphrase_is_what_the_documentation_says():
    assert keys.Scrypt().log2_n == 17
    assert 17 in keys.SCRYPT_LOG2_N_ALLOWED


@pytest.mark.usefixtures("cheap_scrypt")
def test_key_where_a_passphrase_is_needed_and_the_other_way_round():
    with pytest.raises(WrongKey, match="passphrase="):
        tk.unseal(tk.seal(b"x", passphrase="p"), KEY)
    with pytest.raises(WrongKey, match="key="):
        tk.unseal(tk.seal(b"x", KEY), passphrase="p")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, InvalidParameter, "exactly one"),
        ({"key": KEY, "passphrase": "p"}, InvalidParameter, "exactly one"),
        ({"key": bytes(16)}, InvalidKey, "16 bytes.*exactly 32"),
        ({"key": bytes(24)}, InvalidKey, "exactly 32"),
        ({"key": b""}, InvalidKey, "exactly 32"),
        ({"key": bytes(33)}, InvalidKey, "exactly 32"),
        ({"key": KEY.hex()}, UnsupportedType, "bytes.fromhex"),
        ({"key": 5}, UnsupportedType, "key"),
        ({"passphrase": ""}, InvalidParameter, "empty"),
        ({"passphrase": 5}, UnsupportedType, "passphrase"),
        ({"passphrase": "\ud800"}, InvalidParameter, "surrogate"),
    ],
)
def test_keys_that_are_none(arguments, error, message, tmp_path):
    blob = tk.seal(b"x", KEY)
    for call in (
        lambda: tk.seal(b"x", **arguments),
        lambda: tk.unseal(blob, **arguments),
        lambda: tk.save(tmp_path / "a", b"x", **arguments),
        lambda: tk.savez(tmp_path / "a", x=b"x", **arguments),
    ):
        with pytest.raises(error, match=message) as caught:
            call()
        assert KEY.hex() not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([1, "a"], object), "Python objects"),
        (np.ma.array([1, 2], mask=[0, 1]), "mask"),
        ("text", "encode"),
        ([1, 2, 3], "numpy.asarray"),
        (None, "NoneType"),
        (3.5, "float"),
    ],
    ids=["object", "masked", "str", "list", "none", "float"],
)
def test_values_that_cannot_be_sealed(value, message, tmp_path):
    with pytest.raises(UnsupportedType, match=message):
        tk.seal(value, KEY)
    with pytest.raises(UnsupportedType, match=message):
        tk.save(tmp_path / "a", value, KEY)
    assert list(tmp_path.iterdir()) == []


def test_metadata_is_readable_without_key_and_verified_with_it():
    blob = tk.seal(np.zeros(3), KEY, metadata={"unit": "K"})
    assert inspect(blob).metadata == {"unit": "K"}
    assert inspect(blob, KEY).metadata == {"unit": "K"}
    altered = blob.replace(b'"unit":"K"', b'"unit":"C"')
    assert inspect(altered).metadata == {"unit": "C"}
    for call in (inspect, tk.unseal):
        with pytest.raises(WrongKey, match="header was altered"):
            call(altered, KEY)
    with pytest.raises(TypeError):
        inspect(blob).metadata["unit"] = "C"


def test_inspect_reads_paths_and_buffers(tmp_path):
    tk.save(tmp_path / "a", np.zeros((2, 3), "<f4", order="F"), KEY)
    for source in (tmp_path / "a", str(tmp_path / "a"), (tmp_path / "a").read_bytes()):
        found = inspect(source)
        assert (found.kind, found.dtype, found.shape, found.order) == ("array", np.dtype("<f4"), (2, 3), "F")
    with pytest.raises(WrongKey):
        inspect(tmp_path / "a", OTHER_KEY)


def test_repr_of_a_header_hides_nothing_secret_and_shows_no_key():
    assert KEY.hex() not in repr(inspect(tk.seal(b"x", KEY)))
    assert "_secret" not in repr(keys.new_source(KEY, None))


@pytest.mark.parametrize("shape", [(-1,), (-1, 3)])
@pytest.mark.parametrize("rows", [0, 1, 5000])
def test_array_whose_length_was_unknown_when_it_was_begun(shape, rows, tmp_path):
    value = np.arange(rows * math.prod(shape[1:]), dtype="<f8").reshape((rows, *shape[1:]))
    fields = {"kind": "array", "payload_bytes": None, "dtype": value.dtype, "shape": shape}
    sealing = container.begin(fields, keys.new_source(KEY, None))
    blob = bytearray(sealing.start)
    sealer = pipes.Sealer(sealing.message, lambda piece: blob.extend(piece))
    for row in value.reshape(rows, math.prod(shape[1:])).view(np.uint8):
        sealer.write(row)
    sealer.finish()
    assert_same(tk.unseal(blob, KEY), value)
    (tmp_path / "a").write_bytes(blob)
    assert_same(tk.load(tmp_path / "a", KEY), value)


def test_unknown_length_that_is_no_whole_number_of_rows():
    fields = {"kind": "array", "payload_bytes": None, "dtype": np.dtype("<f8"), "shape": (-1, 3)}
    sealing = container.begin(fields, keys.new_source(KEY, None))
    blob = bytearray(sealing.start)
    sealer = pipes.Sealer(sealing.message, lambda piece: blob.extend(piece))
    sealer.write(np.zeros(20, np.uint8))
    sealer.finish()
    with pytest.raises(FormatError, match="rows"):
        tk.unseal(blob, KEY)


def test_errors_come_before_scrypt(monkeypatch):
    def never(self, passphrase):
        raise AssertionError("scrypt was run")

    monkeypatch.setattr(keys.Scrypt, "derive", never)
    with pytest.raises(UnsupportedType):
        tk.seal([1], passphrase="p")
    with pytest.raises(UnsupportedType):
        tk.seal(b"x", passphrase="p", metadata=[1])
    described = header.build("bytes", 5, scrypt=keys.Scrypt(bytes(16), 4)).encoded
    with pytest.raises(FormatError):
        tk.unseal(described + bytes(50), passphrase="p")


def test_a_header_that_promises_terabytes_allocates_nothing():
    hostile = header.build("array", 2**50, dtype=np.dtype("u1"), shape=(2**50,)).encoded + bytes(56 + 100)
    tracemalloc.start()
    with pytest.raises(FormatError, match="truncated"):
        tk.unseal(hostile, KEY)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
