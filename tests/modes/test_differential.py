"""Each mode against the reference written from its standard: any key, iv and length, every backend."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twofishkit as tk
from twofishkit.reference import modes as reference
from twofishkit.reference.block import expand_key

keys = st.sampled_from([16, 24, 32]).flatmap(lambda n: st.binary(min_size=n, max_size=n))
blocks = st.binary(min_size=16, max_size=16)


@st.composite
def messages(draw, shortest: int = 0, whole_blocks: bool = False) -> bytes:
    """0 to 33 blocks and an odd tail; the contents from a seed, so that shrinking is about lengths."""
    n = 16 * draw(st.integers(0, 33)) + (0 if whole_blocks else draw(st.integers(0, 15)))
    return np.random.default_rng(draw(st.integers(0, 99))).bytes(max(n, shortest))


def unaligned(data: bytes, offset: int) -> np.ndarray:
    """The same bytes at some offset from an aligned address."""
    memory = np.zeros(len(data) + 64, np.uint8)
    view = memory[offset:][: len(data)]
    view[:] = bytearray(data)
    return view


def check(mode: Any, plaintext: bytes, ciphertext: bytes, offset: int) -> None:
    """Both directions, from bytes, from an unaligned array, and in place there."""
    assert mode.encrypt(plaintext) == ciphertext
    assert mode.decrypt(ciphertext) == plaintext
    memory = unaligned(plaintext, offset)
    assert mode.encrypt(memory).tobytes() == ciphertext
    mode.encrypt(memory, out=memory)
    assert memory.tobytes() == ciphertext
    mode.decrypt(memory, out=memory)
    assert memory.tobytes() == plaintext


offsets = st.integers(0, 63)


@given(key=keys, data=messages(whole_blocks=True), offset=offsets)
def test_ecb(backend, key, data, offset):
    check(tk.ECB(key), data, reference.ecb_encrypt(expand_key(key), data), offset)


@given(key=keys, iv=blocks, data=messages(whole_blocks=True), offset=offsets)
def test_cbc(backend, key, iv, data, offset):
    check(tk.CBC(key, iv), data, reference.cbc_encrypt(expand_key(key), iv, data), offset)


@given(key=keys, iv=blocks, data=messages(), offset=offsets)
def test_cfb(backend, key, iv, data, offset):
    check(tk.CFB(key, iv), data, reference.cfb_encrypt(expand_key(key), iv, data), offset)


@given(key=keys, iv=blocks, data=messages().map(lambda data: data[-70:]), offset=offsets)
def test_cfb8(backend, key, iv, data, offset):
    check(tk.CFB8(key, iv), data, reference.cfb8_encrypt(expand_key(key), iv, data), offset)


@given(key=keys, iv=blocks, data=messages(), offset=offsets)
def test_ofb(backend, key, iv, data, offset):
    check(tk.OFB(key, iv), data, reference.ofb(expand_key(key), iv, data), offset)


# Starts close to where each width overflows, so that carries happen inside the message.
starts = st.one_of(
    blocks,
    st.builds(
        lambda width, distance, rest: (((rest << width) | ((1 << width) - distance)) % (1 << 128)).to_bytes(
            16, "big"
        ),
        st.sampled_from([8, 32, 64, 96, 128]),
        st.integers(1, 40),
        st.integers(0, (1 << 128) - 1),
    ),
)


@given(
    key=keys,
    iv=st.one_of(starts, starts.map(lambda block: block[::-1])),
    data=messages(),
    bits=st.sampled_from([32, 64, 128]),
    byteorder=st.sampled_from(["big", "little"]),
    offset=offsets,
)
def test_ctr(backend, key, iv, data, bits, byteorder, offset):
    expected = reference.ctr(expand_key(key), iv, data, bits, byteorder)
    check(tk.CTR(key, iv, counter_bits=bits, byteorder=byteorder), data, expected, offset)


class _WithTweak:
    """XTS with the tweak filled in, so that `check` can call it."""

    def __init__(self, xts: tk.XTS, tweak: Any, **options: Any) -> None:
        self._xts, self._tweak, self._options = xts, tweak, options

    def encrypt(self, data: Any, out: Any = None) -> Any:
        return self._xts.encrypt(data, self._tweak, out=out, **self._options)

    def decrypt(self, data: Any, out: Any = None) -> Any:
        return self._xts.decrypt(data, self._tweak, out=out, **self._options)


@given(key=keys, other=blocks, tweak=blocks, data=messages(shortest=16), offset=offsets)
def test_xts(backend, key, other, tweak, data, offset):
    second = (other * 2)[: len(key)]
    expected = reference.xts_encrypt(expand_key(key), expand_key(second), tweak, data)
    check(_WithTweak(tk.XTS(key + second), tweak), data, expected, offset)


@given(
    key=keys,
    first=st.one_of(st.integers(0, 9), st.integers(2**64 - 9, 2**64), st.integers(2**128 - 99, 2**128 - 9)),
    size=st.integers(16, 80),
    count=st.integers(0, 9),
    offset=offsets,
)
def test_xts_sectors(backend, key, first, size, count, offset):
    """Consecutive sectors of any size in one call, the last block of each stolen where it must be."""
    second = bytes(reversed(key))
    ciphers = expand_key(key), expand_key(second)
    data = np.random.default_rng(size).bytes(size * count)
    expected = b"".join(
        reference.xts_encrypt(*ciphers, (first + i).to_bytes(16, "little"), data[i * size : (i + 1) * size])
        for i in range(count)
    )
    check(_WithTweak(tk.XTS(key + second), first, sector_size=size), data, expected, offset)


@given(key=keys, iv=blocks, data=messages())
def test_padding(backend, key, iv, data):
    cipher, padded = expand_key(key), reference.pkcs7_pad(data)
    for mode, expected in (
        (tk.ECB(key), reference.ecb_encrypt(cipher, padded)),
        (tk.CBC(key, iv), reference.cbc_encrypt(cipher, iv, padded)),
    ):
        assert mode.encrypt(data, padding="pkcs7") == expected
        assert mode.decrypt(expected, padding="pkcs7") == data


@pytest.mark.parametrize("name", ["CBC", "CFB", "OFB"])
@given(key=keys, n=st.integers(0, 70), m=st.integers(0, 70), seed=st.integers(0, 99))
def test_many_messages(backend, name, key, n, m, seed):
    """Batches equal messages one by one, which the tests above compare with the reference."""
    if name == "CBC":
        m -= m % 16
    if backend == "reference":
        n, m = n % 7, m % 48
    mode = getattr(tk, name)
    random = np.random.default_rng(seed)
    ivs, data = random.integers(0, 256, (n, 16), np.uint8), random.integers(0, 256, (n, m), np.uint8)
    many = mode(key).encrypt_many(ivs, data)
    cipher = tk.Twofish(key)
    for iv, message, found in zip(ivs, data, many, strict=True):
        assert found.tobytes() == mode(cipher, iv).encrypt(message.tobytes())
    assert np.array_equal(mode(key).decrypt_many(ivs, many), data)
    in_place = data.copy()
    assert mode(key).encrypt_many(ivs, in_place, out=in_place) is in_place
    assert np.array_equal(in_place, many)
    mode(key).decrypt_many(ivs, in_place, out=in_place)
    assert np.array_equal(in_place, data)
