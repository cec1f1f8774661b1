"""What the strategies draw is what they say."""

import numpy as np
import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from twofishkit.errors import InvalidParameter
from twofishkit.reference.modes import ctr, next_counter
from twofishkit.testing import oracle
from twofishkit.testing.strategies import LAYOUTS, _layouts, arrays, chunkings, keys, messages, nonces


@given(keys())
def test_keys_have_a_size_of_twofish(key):
    assert len(key) in (16, 24, 32)


@pytest.mark.parametrize("bits", [128, 192, 256])
def test_keys_of_one_size(bits):
    assert find(keys(bits), lambda key: True) == bytes(bits // 8)


@given(keys(joined=True))
def test_joined_keys_differ(key):
    half = len(key) // 2
    assert half in (16, 24, 32)
    assert key[:half] != key[half:]


@given(st.sampled_from(["cbc", "ctr", "ctr32le", "xts", "gcm", "ocb", "eax", "ccm", "siv"]), st.data())
def test_nonces_fit_their_mode(mode, data):
    nonce = data.draw(nonces(mode))
    shortest, longest = {"gcm": (1, 64), "ocb": (1, 15), "eax": (0, 64), "ccm": (7, 13), "siv": (0, 64)}.get(
        mode, (16, 16)
    )
    assert shortest <= len(nonce) <= longest


@pytest.mark.parametrize("width", [4, 8, 16])
def test_counters_before_a_carry_are_drawn(width):
    counter = find(nonces("ctr"), lambda iv: iv[-width:] == b"\xff" * width)
    assert next_counter(counter)[-width:] == bytes(width)
    counter = find(nonces("ctrle"), lambda iv: iv[:width] == b"\xff" * width)
    assert next_counter(counter, byteorder="little")[:width] == bytes(width)


@given(st.integers(0, 200), st.data())
def test_messages_keep_their_bounds(most, data):
    least = data.draw(st.integers(0, most))
    assert least <= len(data.draw(messages(most, min_size=least))) <= most


@given(messages(100, min_size=10, whole_blocks=True))
def test_whole_blocks(message):
    assert len(message) in range(16, 97, 16)


@pytest.mark.parametrize("length", [0, 15, 16, 17, 527, 528])
def test_edges_are_drawn(length):
    assert len(find(messages(), lambda message: len(message) == length)) == length


@given(arrays())
def test_arrays_hold_no_objects(array):
    assert array.dtype.kind not in "OV"
    assert array.ndim <= 3


@pytest.mark.parametrize(
    "wanted",
    [
        lambda a: a.ndim == 0,
        lambda a: a.size == 0,
        lambda a: a.ndim > 1 and a.flags.f_contiguous and not a.flags.c_contiguous,
        lambda a: a.size > 1 and a.strides[0] < 0,
        lambda a: a.size > 1 and a.ndim == 1 and a.strides[0] == 2 * a.itemsize,
        lambda a: not a.flags.writeable,
        lambda a: not a.flags.aligned,
        lambda a: a.dtype.byteorder == ">",
        lambda a: a.dtype.kind == "M",
        lambda a: a.dtype.kind == "c",
        lambda a: a.dtype == np.bool_,
    ],
)
def test_awkward_arrays_are_drawn(wanted):
    assert wanted(find(arrays(), wanted))


def test_layouts_do_not_change_values():
    array = np.arange(24, dtype=">i4").reshape(2, 3, 4)
    for layout in LAYOUTS:
        assert np.array_equal(_layouts(array, layout), array), layout


@given(st.integers(0, 100), st.sampled_from([1, 16]), st.data())
def test_chunkings_add_up(count, unit, data):
    chunks = data.draw(chunkings(count * unit, unit=unit))
    assert sum(chunks) == count * unit
    assert all(n % unit == 0 for n in chunks)
    assert 1 <= len(chunks) <= 12


def test_empty_pieces_are_drawn():
    assert 0 in find(chunkings(40), lambda chunks: 0 in chunks and len(chunks) > 2)


@given(keys(256), nonces("ctr"), messages(80), st.data())
def test_they_work_together(key, iv, message, data):
    cipher = oracle.expand(key)
    whole = ctr(cipher, iv, message)
    assert ctr(cipher, iv, whole) == message
    chunks = data.draw(chunkings(len(message)))
    assert len(b"".join(message[sum(chunks[:i]) :][:n] for i, n in enumerate(chunks))) == len(whole)


@pytest.mark.parametrize(
    "make",
    [
        lambda: keys(64),
        lambda: nonces("ecb"),
        lambda: messages(3, min_size=4),
        lambda: messages(20, min_size=17, whole_blocks=True),
        lambda: find(chunkings(17, unit=16), lambda chunks: True),
        lambda: find(chunkings(1, max_chunks=0), lambda chunks: True),
    ],
)
def test_what_cannot_be_meant(make):
    with pytest.raises(InvalidParameter):
        make()
