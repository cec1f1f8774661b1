"""Every authenticated mode equals the reference, under every backend, whatever the lengths."""

import hashlib
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.aead.table import KEY_SIZES, MODES, STREAMS
from twofishkit import InvalidTag

# Lengths around block and batch edges are as likely as all others together.
LENGTHS = st.one_of(
    st.integers(0, 33 * 16 + 15), st.sampled_from([16 * k + d for k in range(34) for d in (0, 1, 15)])
)


def content(label: str, length: int) -> bytes:
    return hashlib.shake_256(label.encode()).digest(length)


@st.composite
def messages(draw, mode):
    """(key, nonce, plaintext, aad, tag_length)"""
    seed = str(draw(st.integers(0, 1 << 32)))
    return (
        content("key" + seed, mode.keys * draw(st.sampled_from(KEY_SIZES))),
        content("nonce" + seed, draw(st.sampled_from(mode.nonce_lengths))),
        content("plaintext" + seed, draw(LENGTHS)),
        content("aad" + seed, draw(st.one_of(st.just(0), st.integers(0, 100), LENGTHS))),
        draw(st.sampled_from(mode.tag_lengths)),
    )


@pytest.mark.parametrize("mode", MODES, ids=str)
@given(data=st.data())
def test_both_directions_equal_the_reference(backend, mode, data):
    key, nonce, plaintext, aad, tag_length = data.draw(messages(mode))
    ciphertext, tag = mode.reference(key, nonce, plaintext, aad, tag_length)
    made = mode.make(key, tag_length)
    joined = mode.joined(ciphertext, tag)
    assert made.encrypt(nonce, plaintext, aad) == joined
    assert made.decrypt(nonce, joined, aad) == plaintext
    assert made.encrypt_detached(nonce, plaintext, aad) == (ciphertext, tag)
    assert made.decrypt_detached(nonce, ciphertext, tag, aad) == plaintext
    array = np.frombuffer(plaintext, np.uint8).copy()
    assert made.encrypt_detached(nonce, array, aad, out=array) == (array, tag)
    assert array.tobytes() == ciphertext
    made.decrypt_detached(nonce, array, tag, aad, out=array)
    assert array.tobytes() == plaintext


@pytest.mark.parametrize("mode", STREAMS, ids=str)
@given(data=st.data())
def test_any_split_gives_the_one_shot_result(backend, mode, data):
    key, nonce, plaintext, aad, tag_length = data.draw(messages(mode))
    made = mode.make(key, tag_length)
    joined = made.encrypt(nonce, plaintext, aad)
    cut = st.lists(st.integers(0, max(len(plaintext), len(aad))), max_size=8).map(sorted)
    cuts, aad_cuts = data.draw(cut), data.draw(cut)

    def split(text, places):
        edges = [0, *(min(place, len(text)) for place in places), len(text)]
        return [text[a:b] for a, b in itertools.pairwise(edges)]

    first, *rest = split(aad, aad_cuts)
    encryptor = made.encryptor(nonce, first)
    decryptor = made.decryptor(nonce, first)
    for piece in rest:
        encryptor.update_aad(piece)
        decryptor.update_aad(piece)
    ciphertext = b"".join(encryptor.update(piece) for piece in split(plaintext, cuts)) + encryptor.finalize()
    assert ciphertext + encryptor.tag == joined
    for piece in split(ciphertext, cuts):
        assert decryptor.update(piece) == b""
    assert decryptor.finalize(encryptor.tag) == plaintext


@pytest.mark.parametrize("mode", MODES, ids=str)
@given(data=st.data())
def test_one_changed_bit_anywhere_is_noticed(backend, mode, data):
    key, nonce, plaintext, aad, tag_length = data.draw(messages(mode))
    made = mode.make(key, tag_length)
    ciphertext, tag = made.encrypt_detached(nonce, plaintext, aad)
    genuine = {"nonce": nonce, "ciphertext": ciphertext, "tag": tag, "aad": aad}
    assert made.decrypt_detached(**genuine) == plaintext
    for part, text in genuine.items():
        if text:
            bit = data.draw(st.integers(0, 8 * len(text) - 1))
            changed = bytearray(text)
            changed[bit // 8] ^= 1 << bit % 8
            with pytest.raises(InvalidTag):
                made.decrypt_detached(**{**genuine, part: bytes(changed)})
