"""The parts of the cipher on arrays: each equals the specification, word for word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vectors_io import vectors
from twofishkit import errors, lab
from twofishkit.reference import block as paper

RNG = np.random.default_rng(20260930)


def words_of(*shape):
    return RNG.integers(0, 1 << 32, shape, dtype=np.uint32)


def keys_of(*shape):
    return RNG.integers(0, 256, shape, dtype=np.uint8)


def test_fixed_tables_are_the_papers_and_cannot_be_changed():
    assert lab.q0.tolist() == list(paper.q0)
    assert lab.q1.tolist() == list(paper.q1)
    assert lab.MDS.tolist() == [list(row) for row in paper.MDS]
    assert lab.RS.tolist() == [list(row) for row in paper.RS]
    for table in (lab.q0, lab.q1, lab.MDS, lab.RS):
        assert table.dtype == np.uint8
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 0


@pytest.mark.parametrize("length", [16, 24, 32])
def test_subkeys_sbox_key_and_sboxes_of_many_keys(length):
    keys = keys_of(3, 2, length)
    K, S, boxes = lab.subkeys(keys), lab.sbox_key(keys), lab.sboxes(keys)
    assert K.shape == (3, 2, 40)
    assert S.shape == (3, 2, length // 8)
    assert boxes.shape == (3, 2, 4, 256)
    assert (K.dtype, S.dtype, boxes.dtype) == (np.uint32, np.uint32, np.uint8)
    for at in np.ndindex(3, 2):
        schedule = paper.expand_key(keys[at].tobytes())
        assert K[at].tolist() == schedule.K
        assert S[at].tolist() == schedule.S
        assert np.array_equal(lab.sboxes(keys[at]), boxes[at])
        for i in range(4):
            expected = [paper.sbox(i, x, tuple(reversed(schedule.S))) for x in range(256)]
            assert boxes[at][i].tolist() == expected


@pytest.mark.parametrize("length", [16, 24, 32])
def test_g_broadcasts_words_against_keys(length):
    words, keys = words_of(5, 1), keys_of(3, length)
    result = lab.g(words, keys)
    assert result.shape == (5, 3)
    assert result.dtype == np.uint32
    for i, j in np.ndindex(5, 3):
        assert result[i, j] == paper.expand_key(keys[j].tobytes()).g(int(words[i, 0]))


def test_g_without_a_key_is_that_of_the_zero_key():
    assert lab.g(7) == paper.expand_key(bytes(16)).g(7)
    assert isinstance(lab.g(7), np.uint32)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_h_broadcasts_words_against_lists(k):
    words, L = words_of(4, 1), words_of(6, k)
    result = lab.h(words, L)
    assert result.shape == (4, 6)
    for i, j in np.ndindex(4, 6):
        assert result[i, j] == paper.h(int(words[i, 0]), tuple(map(int, L[j])))


def test_g_is_h_of_the_sbox_key_in_reverse():
    keys, words = keys_of(24), words_of(10)
    assert np.array_equal(lab.g(words, keys), lab.h(words, lab.sbox_key(keys)[::-1]))


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_pht_wraps_without_a_warning(a, b):
    assert lab.pht(a, b) == paper.pht(a, b)
    pairs = lab.pht(np.array([a, b], np.uint32), np.array([b, a], np.uint32))
    assert [int(each[0]) for each in pairs] == list(paper.pht(a, b))


@pytest.mark.parametrize("length", [16, 24, 32])
def test_rounds_between_whitenings_are_the_cipher(length):
    keys = keys_of(7, length)
    blocks = keys_of(7, 16)
    K = lab.subkeys(keys)
    R = blocks.view("<u4").astype(np.uint32) ^ K[:, :4]
    for r in range(16):
        R = lab.round(R, r, keys)
    ciphertexts = (R[:, [2, 3, 0, 1]] ^ K[:, 4:8]).astype("<u4").view(np.uint8)
    for key, block, ciphertext in zip(keys, blocks, ciphertexts, strict=True):
        assert ciphertext.tobytes() == paper.expand_key(key.tobytes()).encrypt_block(block.tobytes())


def test_one_round_broadcasts_a_state_against_many_keys():
    keys, state = keys_of(5, 1, 16), words_of(3, 4)
    result = lab.round(state, 3, keys)
    assert result.shape == (5, 3, 4)
    assert np.array_equal(result[4, 2], lab.round(state[2], 3, keys[4, 0]))


def test_published_intermediate_values():
    """The submission's ecb_ival.txt prints K, the S-box key and every round."""
    for vector in vectors("ecb_ival_trace.json"):
        K = lab.subkeys(vector["key"])
        assert [f"{word:08x}" for word in K] == vector["subkeys"]
        printed = [row[-1] for row in vector["key_words_and_sbox_key"]]
        assert [f"{word:08x}" for word in lab.sbox_key(vector["key"])] == printed


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: lab.subkeys(bytes(17)), errors.InvalidKey),
        (lambda: lab.sboxes(np.zeros((2, 8), np.uint8)), errors.InvalidKey),
        (lambda: lab.sbox_key(np.zeros(16, np.int64)), errors.UnsupportedType),
        (lambda: lab.subkeys("k" * 16), errors.UnsupportedType),
        (lambda: lab.subkeys(np.uint8(3)), errors.InvalidKey),
        (lambda: lab.h(1, [1]), errors.InvalidLength),
        (lambda: lab.h(1, 1), errors.InvalidLength),
        (lambda: lab.g(-1), errors.InvalidParameter),
        (lambda: lab.g(2**32), errors.InvalidParameter),
        (lambda: lab.g(2**70), errors.InvalidParameter),
        (lambda: lab.g(1.5), errors.UnsupportedType),
        (lambda: lab.g("x"), errors.UnsupportedType),
        (lambda: lab.pht([1, -1], 2), errors.InvalidParameter),
        (lambda: lab.round([1, 2, 3], 0), errors.InvalidLength),
        (lambda: lab.round(7, 0), errors.InvalidLength),
        (lambda: lab.round([1, 2, 3, 4], 16), errors.InvalidParameter),
        (lambda: lab.round([1, 2, 3, 4], -1), errors.InvalidParameter),
        (lambda: lab.round([1, 2, 3, 4], 1.0), errors.UnsupportedType),
        (lambda: lab.round([1, 2, 3, 4], True), errors.UnsupportedType),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call()


def test_errors_show_no_key():
    with pytest.raises(errors.InvalidKey) as caught:
        lab.subkeys(b"secret-secret-sec")
    assert "secret" not in str(caught.value)
