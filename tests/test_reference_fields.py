"""The field GF(2^128) of the reference: published GHASH and POLYVAL values, and field laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vectors_io import vectors
from twofishkit.reference.gf128 import (
    dbl,
    ghash,
    ghash_multiply,
    multiply_by_alpha,
    mulx_ghash,
    polyval,
    polyval_dot,
    xor,
)

block = st.binary(min_size=16, max_size=16)
element = st.integers(0, 2**128 - 1)


def test_ghash_vectors():
    for vector in vectors("ghash.json"):
        assert ghash(vector["H"], vector["input"]) == vector["output"], vector["id"]


def test_polyval_vectors_and_their_ghash_form():
    for vector in vectors("polyval.json"):
        assert polyval(vector["H"], vector["input"]) == vector["output"], vector["id"]
        assert ghash(vector["ghash_H"], vector["ghash_input"]) == vector["ghash_output"], vector["id"]


@given(block, st.lists(block, max_size=3))
def test_polyval_is_ghash_of_reversed_blocks(H, blocks):
    reversed_blocks = b"".join(x[::-1] for x in blocks)
    assert polyval(H, b"".join(blocks)) == ghash(mulx_ghash(H[::-1]), reversed_blocks)[::-1]


@given(element, element, element)
def test_field_laws(a, b, c):
    for multiply in (ghash_multiply, polyval_dot):
        assert multiply(a, b) == multiply(b, a)
        assert multiply(multiply(a, b), c) == multiply(a, multiply(b, c))
        assert multiply(a, b ^ c) == multiply(a, b) ^ multiply(a, c)


def test_the_identity_of_each_convention():
    one = 1 << 127
    assert ghash_multiply(one, 0x1234) == 0x1234
    # x^128 = x^127 + x^126 + x^121 + 1 is what POLYVAL divides out.
    montgomery_one = (1 << 127) | (1 << 126) | (1 << 121) | 1
    assert polyval_dot(montgomery_one, 0x1234) == 0x1234


@pytest.mark.parametrize("split", [0, 16, 32, 48])
def test_state_carries_over(split):
    H, data = bytes(range(16)), bytes(range(48))
    assert ghash(H, data[split:], ghash(H, data[:split])) == ghash(H, data)
    assert polyval(H, data[split:], polyval(H, data[:split])) == polyval(H, data)


def test_doubling_reduces_at_the_top_bit():
    assert dbl(b"\x80" + bytes(15)) == bytes(15) + b"\x87"
    assert dbl(bytes(15) + b"\x80") == bytes(14) + b"\x01\x00"
    assert multiply_by_alpha(bytes(15) + b"\x80") == b"\x87" + bytes(15)
    assert multiply_by_alpha(b"\x80" + bytes(15)) == b"\x00\x01" + bytes(14)
    assert mulx_ghash(bytes(15) + b"\x01") == b"\xe1" + bytes(15)


@given(block)
def test_doublings_are_one_map_in_two_byte_orders(x):
    assert multiply_by_alpha(x) == dbl(x[::-1])[::-1]


def test_xor_stops_at_the_shorter_argument():
    assert xor(b"\x01\x02\x03", b"\xff\xff") == b"\xfe\xfd"
