"""GHASH and POLYVAL as public tools: chunks, the padded end, copies, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twofishkit as tk
from twofishkit import InvalidKey, InvalidTag, UnsupportedType
from twofishkit import backend as backends
from twofishkit.reference import gf128

H = bytes(range(1, 17))
BOTH = ((tk.GHASH, gf128.ghash), (tk.POLYVAL, gf128.polyval))

both = pytest.mark.parametrize(("tool", "reference"), BOTH, ids=["GHASH", "POLYVAL"])


@pytest.fixture
def ghash(ghash_name):
    with backends.use(ghash=ghash_name):
        yield ghash_name


def padded(data):
    return data + bytes(-len(data) % 16)


@both
@given(
    h=st.binary(min_size=16, max_size=16),
    data=st.binary(max_size=600),
    cuts=st.lists(st.integers(0, 600), max_size=6).map(sorted),
)
def test_any_chunks_give_the_references_digest(ghash, tool, reference, h, data, cuts):
    state, edges = tool(h), [0, *(min(cut, len(data)) for cut in cuts), len(data)]
    for i in range(len(edges) - 1):
        assert state.update(data[edges[i] : edges[i + 1]]) is state
        assert state.digest() == reference(h, padded(data[: edges[i + 1]]))
    assert tool(h).update(data).digest() == reference(h, padded(data))


@both
def test_zeros_that_complete_a_block_change_nothing_and_more_do(ghash, tool, reference):
    digest = tool(H).update(b"data").digest()
    assert tool(H).update(b"data" + bytes(12)).digest() == digest
    assert tool(H).update(b"data" + bytes(13)).digest() != digest
    assert tool(H).digest() == bytes(16)


@both
def test_digest_does_not_end_the_input(ghash, tool, reference):
    state = tool(H).update(b"some bytes")
    assert state.digest() == state.digest()
    state.update(b" and more, beyond the block")
    assert state.digest() == reference(H, padded(b"some bytes and more, beyond the block"))


@both
@pytest.mark.parametrize("n", [0, 1, 16, 17, 100])
def test_a_copy_goes_its_own_way(ghash, tool, reference, n):
    start = bytes(range(n))
    state = tool(H).update(start)
    twin = state.copy()
    state.update(b"one")
    assert twin.digest() == reference(H, padded(start))
    twin.update(b"two")
    assert state.digest() == reference(H, padded(start + b"one"))
    assert twin.digest() == reference(H, padded(start + b"two"))


@both
def test_verify_takes_the_whole_digest_only(ghash, tool, reference):
    state = tool(H).update(b"message")
    tag = state.digest()
    state.verify(tag)
    state.verify(np.frombuffer(tag, np.uint8))
    for at in range(16):
        with pytest.raises(InvalidTag):
            state.verify(tag[:at] + bytes((tag[at] ^ 1,)) + tag[at + 1 :])
        with pytest.raises(InvalidTag, match=f"tag has {at} bytes; it must have 16"):
            state.verify(tag[:at])
    with pytest.raises(InvalidTag):
        state.verify(tag + b"\0")


@both
def test_arrays_are_read_in_c_order(ghash, tool, reference):
    array = np.arange(60, dtype=">f4").reshape(6, 10)[::-1, ::3]
    assert tool(H).update(array).digest() == reference(H, padded(array.tobytes()))


@both
def test_what_is_refused(tool, reference):
    for n in {*range(40)} - {16}:
        with pytest.raises(InvalidKey, match=f"h has {n} bytes; it must have 16 bytes"):
            tool(bytes(n))
    for call in (
        lambda: tool("0123456789abcdef"),
        lambda: tool(H).update("text"),
        lambda: tool(H).verify(None),
    ):
        with pytest.raises(UnsupportedType):
            call()


@both
def test_repr_shows_how_much_and_no_key(tool, reference):
    assert repr(tool(H).update(b"data")) == f"<{tool.__name__}, 4 bytes hashed>"


@both
@pytest.mark.parametrize("h", [bytes(16), b"\x80" + bytes(15), bytes(15) + b"\x01", b"\xff" * 16])
def test_keys_at_the_corners_of_the_field(ghash, tool, reference, h):
    """Zero, one and all ones: every reduction path, at all lengths around a batch."""
    data = bytes(range(1, 256)) * 3
    for n in (0, 16, 32, 240, 256, 272, 512, 528):
        assert tool(h).update(data[:n]).digest() == reference(h, data[:n])
