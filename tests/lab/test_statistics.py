"""Statistics over rounds: exact where the answer is known, plausible where chance decides."""

import numpy as np
import pytest

from twofishkit import backend, errors, lab
from twofishkit.lab.arguments import random_bytes

KEY = bytes(range(16))


@pytest.mark.parametrize("flip", ["plaintext", "key"])
@pytest.mark.parametrize("key_bits", [128, 192, 256])
def test_avalanche_starts_with_one_bit_and_ends_with_half(flip, key_bits):
    counts = lab.avalanche(flip=flip, key_bits=key_bits, samples=300)
    assert counts.shape == (17, 300)
    assert counts.dtype == np.int64
    if flip == "plaintext":
        assert (counts[0] == 1).all()
    # 300 samples of mean 64 and standard deviation 5.66: their mean is within 1.6 but once in a million.
    assert (np.abs(counts[8:].mean(axis=1) - 64) < 1.6).all()
    assert (np.abs(counts[8:].std(axis=1) - 5.66) < 1.2).all()


@pytest.mark.parametrize("flip", ["plaintext", "key"])
def test_avalanche_counts_what_flipping_one_bit_does(flip):
    """Each sample's distances, round by round, are those that one of the possible flips gives."""
    samples, rounds = 6, 3
    counts = np.array(lab.avalanche(KEY, flip=flip, samples=samples, rounds=rounds, seed=8))
    blocks = random_bytes(8, "blocks", samples, 16)
    masks = np.packbits(np.eye(128, dtype=np.uint8), axis=1)
    chosen = set()
    for i in range(samples):
        base = lab.encrypt_each_round(KEY, blocks[i], rounds)
        if flip == "key":
            others = lab.encrypt_each_round(np.frombuffer(KEY, np.uint8) ^ masks, blocks[i], rounds)
        else:
            others = lab.encrypt_each_round(KEY, blocks[i] ^ masks, rounds)
        distances = np.unpackbits(base ^ others, axis=-1).sum(axis=-1)
        (fits,) = np.nonzero((distances == counts[:, i]).all(axis=1))
        assert fits.size
        chosen.update(fits.tolist())
    assert len(chosen) > 1


def test_strict_avalanche_is_the_share_of_changes():
    samples, rounds = 24, 3
    matrix = lab.strict_avalanche(KEY, samples=samples, rounds=rounds)
    assert matrix.shape == (rounds + 1, 128, 128)
    assert np.array_equal(matrix[0], np.eye(128))
    # By hand, for some input bits: the blocks are those that the lab draws.
    blocks = random_bytes(0, "blocks", samples, 16)
    for bit in (0, 9, 63, 127):
        flipped = blocks.copy()
        flipped[:, bit // 8] ^= np.uint8(1 << bit % 8)
        for r in range(rounds + 1):
            difference = lab.encrypt(KEY, blocks, r) ^ lab.encrypt(KEY, flipped, r)
            changed = np.unpackbits(difference, axis=1, bitorder="little").mean(axis=0)
            assert np.array_equal(matrix[r, bit], changed)


def test_one_round_changes_half_of_the_state_at_most():
    """A bit of words 2 or 3 passes round 1 without entering g: exactly one bit changes, rotated."""
    matrix = lab.strict_avalanche(samples=4, rounds=1)
    assert np.array_equal(matrix[1, 64:].sum(axis=1), np.ones(64))
    for bit in range(32):
        assert matrix[1, 64 + bit, 64 + (bit - 1) % 32] == 1  # word 2 is rotated right
        assert matrix[1, 96 + bit, 96 + (bit + 1) % 32] == 1  # word 3 left


def test_strict_avalanche_of_the_whole_cipher_is_chance_for_key_bits_too():
    matrix = lab.strict_avalanche(flip="key", key_bits=192, samples=64, rounds=16)
    assert matrix.shape == (17, 192, 128)
    assert abs(matrix[16].mean() - 0.5) < 0.003
    assert abs(matrix[16].std() - 0.5 / 8) < 0.003


def test_bit_balance_counts_ones():
    balance = lab.bit_balance(KEY, samples=512, rounds=2)
    plaintexts = np.zeros((512, 16), np.uint8)
    plaintexts[:, :2] = np.arange(512, dtype="<u2")[:, None].view(np.uint8)
    for r in range(3):
        bits = np.unpackbits(lab.encrypt(KEY, plaintexts, r), axis=1, bitorder="little")
        assert np.array_equal(balance[r], bits.mean(axis=0))
    whole = lab.bit_balance(samples=4096)[16]
    assert np.abs(whole - 0.5).max() < 5 * 0.5 / 64


def test_byte_histogram_takes_any_data():
    assert np.array_equal(lab.byte_histogram(np.arange(256, dtype=np.uint8)), np.ones(256))
    assert lab.byte_histogram(b"").sum() == 0
    assert lab.byte_histogram(np.zeros(3, "f8"))[0] == 24
    assert "no bytes" in repr(lab.byte_histogram(b""))
    text = repr(lab.byte_histogram(bytes(range(256)) * 4))
    assert "1024 bytes: 256 values occur, chi-squared 0.0" in text


def test_results_depend_on_the_seed_and_on_nothing_else():
    first = lab.avalanche(samples=50, rounds=4, seed=1)
    with backend.use("numpy"):
        assert np.array_equal(first, lab.avalanche(samples=50, rounds=4, seed=1))
    assert not np.array_equal(first, lab.avalanche(samples=50, rounds=4, seed=2))


def test_results_are_the_same_on_every_machine():
    counts = lab.avalanche(samples=8, rounds=3)
    assert np.array(counts).tolist() == GOLDEN


#: Made by version 0.1.0; 8 samples after 0, 1, 2 and 3 rounds.
GOLDEN = [
    [1, 1, 1, 1, 1, 1, 1, 1],
    [36, 1, 42, 1, 39, 32, 1, 32],
    [70, 34, 75, 33, 62, 64, 35, 66],
    [64, 66, 71, 63, 57, 61, 62, 62],
]


@pytest.mark.parametrize("function", [lab.avalanche, lab.strict_avalanche, lab.bit_balance])
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"rounds": 17}, errors.InvalidParameter),
        ({"rounds": "3"}, errors.UnsupportedType),
        ({"samples": 0}, errors.InvalidParameter),
        ({"samples": 1.5}, errors.UnsupportedType),
        ({"key_bits": 100}, errors.InvalidParameter),
        ({"keys": bytes(5)}, errors.InvalidKey),
        ({"keys": np.zeros((3, 16), np.uint8), "samples": 4}, errors.InvalidLength),
    ],
)
def test_errors(function, options, error):
    with pytest.raises(error):
        function(**options)


@pytest.mark.parametrize("function", [lab.avalanche, lab.strict_avalanche])
def test_flip_is_checked(function):
    with pytest.raises(errors.InvalidParameter, match="'plaintext' or 'key'"):
        function(flip="iv")


def test_one_key_for_each_sample():
    keys = np.arange(5 * 32, dtype=np.uint8).reshape(5, 32)
    assert lab.avalanche(keys, samples=5, rounds=2).shape == (3, 5)
    assert lab.strict_avalanche(keys, samples=5, rounds=1, flip="key").shape == (2, 256, 128)
    assert lab.bit_balance(keys, samples=5, rounds=1).shape == (2, 128)
