"""dtype <-> JSON text: everything NumPy can hold without objects, and nothing hostile."""

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from twofishkit.errors import FormatError, UnsupportedType
from twofishkit.sealed import dtypes

SCALARS = [
    "?", "i1", "u1", "<i2", ">i2", "<u4", ">u8", "<f2", ">f4", "<f8", "<c8", ">c16", "S5", "<U3", ">U7", "V9",
    "<M8[ns]", ">M8[D]", "<m8[10us]", "<M8", "<m8[Y]", np.longdouble, np.clongdouble, "S0", "V0", "U0",
]  # fmt: skip
STRUCTURED = [
    [],
    [("a", "<i4"), ("b", ">f8")],
    [("a", "<i4", (2, 3)), ("b", [("c", "?"), ("d", "<M8[s]")])],
    [(("title", "name"), "<u2"), ("other", "S3")],
    [("grüße [](", "<U4"), ('quote"\\', "i1")],
    [("scalar", "<f4", (1,)), ("none", "<f4", (0,))],
    {"names": ["a", "b"], "formats": ["u1", "<f8"], "offsets": [3, 8], "itemsize": 24},
    {"names": [], "formats": [], "itemsize": 8},
]


@pytest.mark.parametrize("spec", SCALARS + STRUCTURED, ids=str)
def test_round_trip(spec):
    dtype = np.dtype(spec)
    text = dtypes.encode(dtype)
    back = dtypes.decode(text)
    assert back == dtype
    assert back.itemsize == dtype.itemsize
    assert dtypes.encode(back) == text
    if dtype.names is not None:
        assert [back.fields[name] for name in back.names] == [dtype.fields[name] for name in dtype.names]


def test_aligned_structure_keeps_its_padding():
    dtype = np.dtype([("a", "u1"), ("b", "<f8"), ("c", "<i2")], align=True)
    back = dtypes.decode(dtypes.encode(dtype))
    assert (back.itemsize, back.fields) == (
        24,
        np.dtype(dtype.descr).newbyteorder("=").fields and back.fields,
    )
    assert [back.fields[name][1] for name in "abc"] == [0, 8, 16]


@given(
    hnp.nested_dtypes(
        st.one_of(hnp.scalar_dtypes(), hnp.byte_string_dtypes(), hnp.unicode_string_dtypes()),
        max_itemsize=1000,
    )
)
def test_round_trip_of_any_dtype(dtype):
    while dtype.subdtype is not None:  # an array's dtype is never a subarray
        dtype = dtype.subdtype[0]
    assert dtypes.decode(dtypes.encode(dtype)) == dtype


@pytest.mark.parametrize(
    "spec", ["O", [("a", "<i4"), ("b", "O")], [("a", [("b", "O", (2,))])]], ids=["O", "field", "nested"]
)
def test_objects_are_refused_by_name(spec):
    with pytest.raises(UnsupportedType, match="Python objects"):
        dtypes.encode(spec)


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="this NumPy has no variable-width strings")
def test_variable_width_strings_are_refused():
    with pytest.raises(UnsupportedType, match="'U' for strings"):
        dtypes.encode(np.dtypes.StringDType())


@pytest.mark.parametrize("offsets", [[0, 2], [4, 0]], ids=["overlapping", "reordered"])
def test_overlapping_and_reordered_fields_are_refused(offsets):
    dtype = {"names": ["a", "b"], "formats": ["<i4", "<i4"], "offsets": offsets}
    with pytest.raises(UnsupportedType, match="overlapping or reordered"):
        dtypes.encode(dtype)


def test_nesting_and_size_limits_show_when_sealing():
    dtype = np.dtype("i1")
    for _ in range(dtypes.MAX_NESTING):
        dtype = np.dtype([("a", dtype, (2,))])
    assert dtypes.decode(dtypes.encode(dtype)) == dtype
    with pytest.raises(UnsupportedType, match="nested"):
        dtypes.encode(np.dtype([("a", dtype)]))
    wide = [(f"field{i}", "i1") for i in range(dtypes.MAX_FIELDS)]
    assert dtypes.decode(dtypes.encode(wide)) == np.dtype(wide)
    with pytest.raises(UnsupportedType):
        dtypes.encode([*wide, ("more", "i1")])


HOSTILE = [
    "", "null", "1", "{}", '""', '"O"', '"|O"', '"|O8"', '"object"', '"float64"', '"f4"', '"=f4"',
    '"<f4,<f4"',
    '"<f4 "', '"(2,3)<f4"', '"<i1"', '"|i4"', '"<U1000000000"', '"|V99999999999"', '"|S2147483648"',
    '"<U536870912"',
    '"<M8[foo]"', '"<M8[0s]"', '"<M8[D/3]"', '"<M8[99999999999s]"', '"<T16"', '"<f3"', '"٣"', '"<f4\\u0000"',
    '[["a"]]', '[["a","<f4",[2],1]]', '[["a","<f4",2]]', '[["a","<f4",[]]]', '[["a","<f4",[-1]]]',
    '[["a","<f4",[1.0]]]', '[["a","<f4",[true]]]', '[["a","<f4",[1e400]]]',
    '[["a","<f4",[99999999999999999999]]]',
    '[["a","<f4",[65536,65536]]]', '[["a","|V2147483647",[2]]]', '[["a","|V2147483647"],["b","|V1"]]',
    '[["a","|V0",[0,2147483647,2147483647]]]', '[["","<f4"]]', '[["",[]]]', '[["","|V1",[2]]]',
    '[["a","<f4"],["a","<f4"]]', '[[["a","b"],"<f4"],["a","<f4"]]', '[[["","b"],"<f4"],[["","c"],"<f4"]]',
    '[[["a",""],"<f4"]]', '[[["a"],"<f4"]]', '[[1,"<f4"]]', '[[null,"<f4"]]', "[1]", "[[]]", "[", '["<f4"',
    '[["a","<f4"]]x', "NaN", "[" * 30000, '[["a",' * 5000, '{"a":' * 5000, "1" * 32768, '"' + "\\" * 30000,
    '"\\"' * 10000, "[" + ",".join('["a","|V1"]' for _ in range(2900)) + "]",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_descriptors_are_refused_fast(text):
    started = time.process_time()
    with pytest.raises(FormatError):
        dtypes.decode(text.encode("utf-8"))
    assert time.process_time() - started < 0.5


def test_bytes_that_are_not_utf8_are_refused():
    with pytest.raises(FormatError):
        dtypes.decode(b'"\xff"')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["<f4", "|V3", "<U2", "|S1", "<M8[ns]", "a", ""]),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(st.text(max_size=3), inner).map(list),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
def test_any_json_is_a_dtype_or_refused(value):
    text = json.dumps(value).encode()
    try:
        dtype = dtypes.decode(text)
    except FormatError:
        return
    assert not dtype.hasobject
    assert dtypes.decode(dtypes.encode(dtype)) == dtype
