"""Many keys, fewer rounds: each result equals the specification cut short by hand."""

import numpy as np
import pytest

from tests.vectors_io import vectors
from twofishkit import errors, lab
from twofishkit.reference import block as paper

RNG = np.random.default_rng(3)


def random_bytes(*shape):
    return RNG.integers(0, 256, shape, dtype=np.uint8)


def cut_short(key: bytes, block: bytes, rounds: int, whitening: bool) -> bytes:
    """The specification with fewer rounds, from its own parts."""
    schedule = paper.expand_key(key)
    K = schedule.K
    if not whitening:
        K = [0] * 8 + K[8:]
    R = [word ^ k for word, k in zip(paper.words(block), K, strict=False)]
    for r in range(rounds):
        T0, T1 = schedule.g(R[0]), schedule.g(paper.rol(R[1], 8))
        F0, F1 = paper.pht(T0, T1)
        F0, F1 = (F0 + K[2 * r + 8]) & paper.MASK, (F1 + K[2 * r + 9]) & paper.MASK
        R = [paper.ror(R[2] ^ F0, 1), paper.rol(R[3], 1) ^ F1, R[0], R[1]]
    if rounds:
        R = R[2:] + R[:2]
    return b"".join((word ^ k).to_bytes(4, "little") for word, k in zip(R, K[4:8], strict=True))


@pytest.mark.parametrize("whitening", [True, False])
@pytest.mark.parametrize("length", [16, 24, 32])
def test_every_number_of_rounds(backend, length, whitening):
    keys, blocks = random_bytes(4, length), random_bytes(4, 16)
    every = lab.encrypt_each_round(keys, blocks, whitening=whitening)
    assert every.shape == (4, 17, 16)
    for rounds in range(17):
        result = lab.encrypt(keys, blocks, rounds, whitening)
        for i in range(4):
            expected = cut_short(keys[i].tobytes(), blocks[i].tobytes(), rounds, whitening)
            assert result[i].tobytes() == every[i, rounds].tobytes() == expected


def test_published_vectors_all_at_once(backend):
    records = vectors("ecb_kat.json")
    if backend == "reference":
        records = records[::8]
    for length in (16, 24, 32):
        chosen = [
            record for record in records if (len(record["key"]), len(record["plaintext"])) == (length, 16)
        ]
        assert chosen
        keys, blocks, expected = (
            np.array([list(record[name]) for record in chosen], np.uint8)
            for name in ("key", "plaintext", "ciphertext")
        )
        assert np.array_equal(lab.encrypt(keys, blocks), expected)


def test_more_keys_than_a_step(backend):
    """A backend without a compiler works through keys in steps; so does each of these lengths."""
    keys = np.zeros((5000, 16), np.uint8)
    keys[:, :2] = np.arange(5000, dtype="<u2")[:, None].view(np.uint8)
    result = lab.encrypt(keys, bytes(16), rounds=2)
    for i in (0, 1, 2047, 2048, 4095, 4096, 4999):
        assert result[i].tobytes() == cut_short(keys[i].tobytes(), bytes(16), 2, True)


@pytest.mark.parametrize(
    ("keys", "blocks", "shape"),
    [
        ((16,), (16,), ()),
        ((24,), (5, 16), (5,)),
        ((5, 32), (16,), (5,)),
        ((5, 1, 16), (3, 16), (5, 3)),
        ((1, 16), (2, 1, 16), (2, 1)),
        ((0, 16), (16,), (0,)),
        ((16,), (0, 16), (0,)),
        ((1, 0, 16), (4, 1, 16), (4, 0)),
    ],
)
@pytest.mark.parametrize("rounds", [5, 16])
def test_broadcasting(keys, blocks, shape, rounds):
    key_rows, block_rows = random_bytes(*keys), random_bytes(*blocks)
    result = lab.encrypt(key_rows, block_rows, rounds)
    assert result.shape == (*shape, 16)
    assert lab.encrypt_each_round(key_rows, block_rows, rounds).shape == (*shape, rounds + 1, 16)
    all_keys = np.broadcast_to(key_rows, (*shape, keys[-1]))
    all_blocks = np.broadcast_to(block_rows, (*shape, 16))
    for at in np.ndindex(shape):
        expected = cut_short(all_keys[at].tobytes(), all_blocks[at].tobytes(), rounds, True)
        assert result[at].tobytes() == expected


def test_inputs_of_any_layout_stay_as_they_are():
    keys, blocks = random_bytes(32, 6).T, random_bytes(6, 32)[::-1, ::2]
    kept = keys.copy(), blocks.copy()
    for rounds in (3, 16):
        expected = lab.encrypt(keys.copy(), blocks.copy(), rounds)
        assert np.array_equal(lab.encrypt(keys, blocks, rounds), expected)
    assert np.array_equal(keys, kept[0])
    assert np.array_equal(blocks, kept[1])


def test_bytes_are_one_key_and_whole_blocks():
    assert lab.encrypt(bytes(16), bytes(16)).tobytes().hex() == "9f589f5cf6122c32b6bfec2f2ae8c35a"
    assert lab.encrypt(bytearray(32), memoryview(bytes(48)), rounds=1).shape == (3, 16)
    assert lab.encrypt(bytes(16), b"").shape == (0, 16)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((bytes(15), bytes(16)), errors.InvalidKey),
        ((bytes(16), bytes(17)), errors.InvalidLength),
        ((bytes(16), np.zeros((2, 15), np.uint8)), errors.InvalidLength),
        ((bytes(16), np.uint8(1)), errors.InvalidLength),
        ((bytes(16), np.zeros((2, 16), np.int8)), errors.UnsupportedType),
        ((bytes(16), "0123456789abcdef"), errors.UnsupportedType),
        ((np.zeros((2, 16), np.uint8), np.zeros((3, 16), np.uint8)), errors.InvalidLength),
        ((bytes(16), bytes(16), 17), errors.InvalidParameter),
        ((bytes(16), bytes(16), -1), errors.InvalidParameter),
        ((bytes(16), bytes(16), 2.0), errors.UnsupportedType),
    ],
)
def test_errors(arguments, error):
    for function in (lab.encrypt, lab.encrypt_each_round):
        with pytest.raises(error):
            function(*arguments)
