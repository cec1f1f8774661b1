"""Traces: the published rounds, the subkeys that made them, and no key on display."""

import re

import numpy as np
import pytest

from tests.vectors_io import vectors
from twofishkit import errors, lab
from twofishkit.reference import expand_key

KEY = bytes(range(100, 132))
BLOCK = bytes(range(16))


def test_published_rounds():
    assert vectors("ecb_ival_trace.json")
    for vector in vectors("ecb_ival_trace.json"):
        trace = lab.trace(vector["key"], vector["plaintext"])
        assert len(trace) == len(vector["states"])
        for row, state in zip(trace, vector["states"], strict=True):
            assert row["r"] == state["r"]
            assert [f"{word:08x}" for word in row["x"]] == state["x"]
            if 1 <= state["r"] <= 16:
                assert [f"{row[name]:08x}" for name in ("t0", "t1")] == [state["t0"], state["t1"]]


@pytest.mark.parametrize("length", [16, 24, 32])
def test_a_trace_explains_itself(length):
    """From each state, its subkeys and the g of the row below, the state below follows."""
    key = KEY[:length]
    trace = lab.trace(key, BLOCK)
    assert trace["r"].tolist() == list(range(-1, 18))
    assert trace["x"][0].astype("<u4").tobytes() == BLOCK
    assert trace["x"][-1].astype("<u4").tobytes() == expand_key(key).encrypt_block(BLOCK)
    K = lab.subkeys(key)
    assert np.array_equal(trace["x"][1] ^ trace["K"][1], trace["x"][0])
    state = trace["x"][1]
    for row in trace[2:18]:
        r = int(row["r"]) - 1
        assert row["K"][:2].tolist() == K[2 * r + 8 : 2 * r + 10].tolist()
        assert row["K"][2:].tolist() == [0, 0]
        active = state[:2] if r % 2 == 0 else state[2:]
        assert row["t0"] == lab.g(active[0], key)
        assert row["t1"] == lab.g(np.roll(active[1:2].view(np.uint8), 1).view(np.uint32)[0], key)
        state = row["x"]
    assert trace["K"][18].tolist() == K[4:8].tolist()
    assert trace["K"][1].tolist() == K[:4].tolist()
    assert np.array_equal(trace["x"][18] ^ K[4:8], np.roll(trace["x"][17], 2))


def shown(result) -> str:
    return result._repr_html_() + repr(result) + str(result)


def test_what_is_shown_has_no_key_unless_asked():
    hidden = shown(lab.trace(KEY, BLOCK)).upper()
    asked = shown(lab.trace(KEY, BLOCK, subkeys=True)).upper()
    for word in lab.subkeys(KEY):
        assert f"{word:08X}" not in hidden
        assert f"{word:08X}" in asked
    words = [KEY[i : i + 4] for i in range(0, 32, 4)]
    for text in (hidden, asked):
        assert not any(word.hex().upper() in text or word[::-1].hex().upper() in text for word in words)
    assert "AS SECRET AS ITS KEY" in hidden


def test_changed_digits_are_marked():
    html = lab.trace(bytes(16), bytes(16))._repr_html_()
    rows = html.split("<tr>")[2:]
    assert len(rows) == 19
    assert "<mark" not in rows[0]
    # Every digit of the words that a round changes, except where a digit came out the same.
    trace = lab.trace(bytes(16), bytes(16))
    for at in range(1, 19):
        changed = trace["x"][at] ^ trace["x"][at - 1]
        digits = sum(int(word) >> shift & 15 != 0 for word in changed for shift in range(0, 32, 4))
        assert sum(map(len, re.findall(r"<mark[^>]*>([0-9A-F]+)</mark>", rows[at]))) == digits
        bits = sum(int(word).bit_count() for word in changed)
        assert f">{bits}</td></tr>" in rows[at]


def test_html_is_deterministic():
    assert shown(lab.trace(KEY, BLOCK)) == shown(lab.trace(KEY, BLOCK))
    pair = lab.trace(KEY, BLOCK), lab.trace(KEY[:16], BLOCK)
    assert shown(lab.compare(*pair)) == shown(lab.compare(*pair))


def test_compare_counts_bits_and_names_the_first_difference():
    first, second = lab.trace(KEY, BLOCK), lab.trace(KEY, b"\x10" + BLOCK[1:])
    difference = lab.compare(first, second)
    for name in ("x", "t0", "t1"):
        assert np.array_equal(difference[name], first[name] ^ second[name])
    counts = [sum(int(word).bit_count() for word in row) for row in difference["x"]]
    assert difference["bits"].tolist() == counts
    assert "the first difference is in the plaintext block, word x0" in repr(difference)
    assert repr(difference).splitlines()[0] in difference._repr_html_()


def test_compare_finds_the_round_in_which_somebody_went_wrong():
    right = lab.trace(KEY, BLOCK)
    wrong = lab.trace(KEY, BLOCK)
    wrong["x"][5, 1] ^= 1 << 31
    difference = lab.compare(right, wrong)
    assert "the first difference is in round 4, word x1" in str(difference)
    assert "no state differs" in str(lab.compare(right, right))


def test_compare_keeps_what_it_was_given():
    """Changing a trace afterwards does not change the comparison that is shown."""
    first, second = lab.trace(KEY, BLOCK), lab.trace(KEY, BLOCK)
    difference = lab.compare(first, second)
    before = shown(difference)
    first["x"][3] = 0
    assert shown(difference) == before


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: lab.trace(bytes(5), bytes(16)), errors.InvalidKey),
        (lambda: lab.trace(np.zeros((2, 16), np.uint8), bytes(16)), errors.InvalidKey),
        (lambda: lab.trace(bytes(16), bytes(32)), errors.InvalidLength),
        (lambda: lab.trace(bytes(16), bytes(15)), errors.InvalidLength),
        (lambda: lab.compare(lab.trace(bytes(16), bytes(16)), np.zeros(19)), errors.UnsupportedType),
        (lambda: lab.compare(None, lab.trace(bytes(16), bytes(16))), errors.UnsupportedType),
        (lambda: lab.compare(*[lab.trace(bytes(16), bytes(16))[:5]] * 2), errors.UnsupportedType),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call()
