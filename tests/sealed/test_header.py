"""The header's grammar: what is built parses back, and anything else is refused, fast and small."""

import struct
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twofishkit.errors import FormatError, InvalidParameter, UnsupportedType
from twofishkit.sealed import header
from twofishkit.sealed.keys import Scrypt

ARRAY = {"kind": "array", "payload_bytes": 96, "dtype": np.dtype("<f8"), "shape": (3, 4)}
UNKNOWN = 2**64 - 1


def patched(encoded, offset, layout, value):
    """The header with one field replaced."""
    changed = bytearray(encoded)
    struct.pack_into(layout, changed, offset, value)
    return bytes(changed)


def test_round_trip():
    scrypt = Scrypt(bytes(range(16)), 14)
    made = header.build(**ARRAY, order="F", scrypt=scrypt, metadata={"a": [1, 2.5, None, "ü"]})
    back = header.parse(made.encoded)
    assert back == made
    assert (back.dtype, back.shape, back.order) == (np.dtype("<f8"), (3, 4), "F")
    assert (back.scrypt, back.payload_bytes) == (scrypt, 96)
    assert back.metadata == {"a": [1, 2.5, None, "ü"]}
    assert header.length(made.encoded[:16]) == len(made.encoded)


def test_layout_is_as_documented():
    encoded = header.build(**ARRAY, metadata={"k": 1}).encoded
    assert encoded == (
        bytes.fromhex("8954464b0d0a1a0a") + struct.pack("<HHI", 1, 1, 52 + 16 + 5 + 7)
        + struct.pack("<QBBBB16sII", 96, 0, 0, 0, 2, bytes(16), 5, 7) + struct.pack("<QQ", 3, 4)
        + b'"<f8"' + b'{"k":1}'
    )  # fmt: skip


def test_array_of_unknown_length():
    made = header.build(kind="array", payload_bytes=None, dtype=np.dtype("<i2"), shape=(-1, 5))
    assert made.shape == (-1, 5)
    whole = header.with_length(made, 40)
    assert (whole.shape, whole.payload_bytes) == ((4, 5), 40)
    with pytest.raises(FormatError, match="whole number"):
        header.with_length(made, 42)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "array", "payload_bytes": 95, "dtype": np.dtype("<f8"), "shape": (3, 4)},
        {"kind": "array", "payload_bytes": 96, "shape": (3, 4)},
        {"kind": "array", "payload_bytes": None, "dtype": np.dtype("<f8"), "shape": (3, 4)},
        {"kind": "array", "payload_bytes": None, "dtype": np.dtype("<f8"), "shape": (-1, -1)},
        {"kind": "array", "payload_bytes": None, "dtype": np.dtype("<f8"), "shape": (3, -1)},
        {"kind": "array", "payload_bytes": None, "dtype": np.dtype("<f8"), "shape": (-1, 0)},
        {"kind": "array", "payload_bytes": None, "dtype": np.dtype("<f8"), "shape": (-1, 2), "order": "F"},
        {"kind": "array", "payload_bytes": 8, "dtype": np.dtype("<f8"), "shape": (-1,)},
        {"kind": "array", "payload_bytes": 0, "dtype": np.dtype("<f8"), "shape": (0, 2**60)},
        {"kind": "array", "payload_bytes": 0, "dtype": np.dtype("<f8"), "shape": (2**62, 2**62, 0)},
        {"kind": "array", "payload_bytes": 2**63, "dtype": np.dtype("<f8"), "shape": (2**60,)},
        {"kind": "array", "payload_bytes": 0, "dtype": np.dtype("<f8"), "shape": (2**32, 2**32)},
        {"kind": "bytes", "payload_bytes": 8, "shape": (1,)},
        {"kind": "bytes", "payload_bytes": 8, "dtype": np.dtype("<f8")},
        {"kind": "bytes", "payload_bytes": 8, "order": "F"},
        {"kind": "bytes", "payload_bytes": 2**52},
        {"kind": "archive", "payload_bytes": None},
        {"kind": "array", "payload_bytes": 1, "dtype": np.dtype("u1"), "shape": (1,) * 65},
    ],
    ids=str,
)
def test_contradictions_are_refused(fields):
    with pytest.raises(FormatError):
        header.build(**fields)


@pytest.mark.parametrize(
    ("offset", "layout", "value"),
    [
        (0, "<B", 0x09), (4, "<B", 0x0A), (8, "<H", 0), (8, "<H", 2), (10, "<H", 3), (10, "<H", 0),
        (10, "<H", 65535),
        (12, "<I", 0), (12, "<I", 51), (12, "<I", 65537), (12, "<I", 2**32 - 1), (16, "<Q", 0),
        (16, "<Q", 2**63),
        (16, "<Q", UNKNOWN), (24, "<B", 1), (24, "<B", 2), (25, "<B", 17), (26, "<B", 2), (27, "<B", 0),
        (27, "<B", 3),
        (27, "<B", 255), (28, "<B", 1), (44, "<I", 2**32 - 1), (44, "<I", 0), (48, "<I", 2**32 - 1),
        (48, "<I", 1),
        (52, "<Q", 2**60), (52, "<Q", UNKNOWN), (60, "<Q", 2**63), (68, "<B", 0xFF),
    ],
)  # fmt: skip
def test_each_field_is_checked(offset, layout, value):
    encoded = header.build(**ARRAY).encoded
    with pytest.raises(FormatError):
        header.parse(patched(encoded, offset, layout, value))


@pytest.mark.parametrize("cost", [0, 19, 20, 63, 255])
def test_huge_scrypt_cost_is_refused_before_any_work(cost):
    encoded = header.build("bytes", 5, scrypt=Scrypt(bytes(16), 4)).encoded
    with pytest.raises(FormatError, match="scrypt"):
        header.parse(patched(encoded, 25, "<B", cost))


def test_every_length_but_the_right_one_is_refused():
    encoded = header.build(**ARRAY, metadata={"a": 1}).encoded
    for n in range(len(encoded)):
        with pytest.raises(FormatError):
            header.parse(encoded[:n])
    with pytest.raises(FormatError):
        header.parse(encoded + b"\0")


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"", "empty"),
        (b"\x89TF", "truncated"),
        (b"\x93NUMPY\x01\x00v\x00{'descr", "no sealed data"),
        (b"PK\x03\x04" + bytes(12), "no sealed data"),
        (b"\x89TFK\n\x1a\n" + bytes(9), "transfer as text"),
        (b"\tTFK\r\n\x1a\n" + bytes(8), "transfer as text"),
    ],
)
def test_what_is_not_ours_is_named(start, message):
    with pytest.raises(FormatError, match=message):
        header.length(start)


@pytest.mark.parametrize(
    "text", ["[]", "1", "null", '{"a":1,"a":2}', '{"a":NaN}', "{", "{}x", '{"a":' * 5000, "\x00"]
)
def test_hostile_metadata_is_refused(text):
    plain = header.build("bytes", 0).encoded
    hostile = patched(plain + text.encode(), 48, "<I", len(text))
    with pytest.raises(FormatError, match="metadata"):
        header.parse(patched(hostile, 12, "<I", len(hostile)))


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ([1], UnsupportedType),
        ({"a": b"bytes"}, UnsupportedType),
        ({"a": np.float32(1)}, UnsupportedType),
        ({"a": float("nan")}, UnsupportedType),
        ({1: "key"}, UnsupportedType),
        ({"a": {2: 3}}, UnsupportedType),
        ({"a": "x" * 40000}, InvalidParameter),
    ],
    ids=["list", "bytes", "numpy", "nan", "int-key", "nested-int-key", "long"],
)
def test_metadata_that_json_cannot_hold(metadata, error):
    with pytest.raises(error, match="metadata"):
        header.build("bytes", 0, metadata=metadata)


def test_metadata_that_is_too_deep_or_circular():
    deep = {}
    for _ in range(20):
        deep = {"a": deep}
    with pytest.raises(InvalidParameter, match="nested"):
        header.build("bytes", 0, metadata=deep)
    circle = {}
    circle["me"] = circle
    with pytest.raises(UnsupportedType):
        header.build("bytes", 0, metadata=circle)


def test_hostile_headers_cost_little():
    """64 KiB of the worst: each is refused within a second and in a few megabytes."""
    base = header.build("bytes", 0).encoded
    size = header.MAX_METADATA_BYTES
    bodies = [b'{"a":' + b"[" * (size - 5), b'"' + b"\\" * (size - 1), b"9" * size, b'"\\"' * (size // 3)]
    bodies.append(b"{" + b'"":0,' * (size // 5 - 1) + b"}")
    for body in bodies:
        hostile = patched(base + body, 48, "<I", len(body))
        hostile = patched(hostile, 12, "<I", len(hostile))
        tracemalloc.start()
        started = time.process_time()
        with pytest.raises(FormatError):
            header.parse(hostile)
        assert time.process_time() - started < 1
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
        tracemalloc.stop()


EXAMPLES = [
    header.build(**ARRAY, order="F", metadata={"a": [1, {"b": None}]}).encoded,
    header.build("bytes", None, scrypt=Scrypt(bytes(16), 10)).encoded,
    header.build("array", 24, dtype=np.dtype([("a", "<f4", (2,)), ("b", "V4")]), shape=(2,)).encoded,
    header.build("archive", 100).encoded,
]


def refused_or_consistent(data):
    try:
        parsed = header.parse(data)
    except FormatError:
        return
    assert parsed.encoded == data
    if parsed.payload_bytes is not None and parsed.kind == "array":
        assert parsed.dtype.itemsize * int(np.prod(parsed.shape, dtype=object)) == parsed.payload_bytes


def mutated(example, edits, cut):
    data = bytearray(example)
    for position, value in edits:
        data[position % len(data)] = value
    return bytes(data)[: len(data) - cut]


EDITS = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=6)
CUTS = st.sampled_from([0, 0, 0, 0, 1, 7])


@settings(max_examples=300)
@given(st.sampled_from(EXAMPLES), EDITS, CUTS)
def test_mutated_headers_parse_or_are_refused(example, edits, cut):
    refused_or_consistent(mutated(example, edits, cut))


@pytest.mark.slow
def test_a_million_mutated_headers():
    rng = np.random.default_rng(20240229)
    for _ in range(1_000_000):
        example = EXAMPLES[rng.integers(len(EXAMPLES))]
        count = rng.integers(1, 5)
        edits = zip(
            rng.integers(0, len(example), count).tolist(), rng.integers(0, 256, count).tolist(), strict=True
        )
        refused_or_consistent(mutated(example, edits, int(rng.integers(0, 20)) // 19))
