"""The runnable specification: tables, published blocks, round traces."""

import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

from tests.vectors_io import vectors
from twofishkit.errors import InvalidKey, InvalidLength, StateError
from twofishkit.reference import block
from twofishkit.reference.block import KeySchedule, RoundState, expand_key


def test_zero_key_and_block_give_the_published_bytes_in_order():
    """RustCrypto/block-ciphers 7 and cowcrypt 4 had the words of the output byte-swapped."""
    assert expand_key(bytes(16)).encrypt_block(bytes(16)).hex() == "9f589f5cf6122c32b6bfec2f2ae8c35a"


@pytest.mark.parametrize("q", [block.q0, block.q1], ids=["q0", "q1"])
def test_q_is_a_permutation_with_the_published_differential_bound(q):
    assert sorted(q) == list(range(256))
    # Section 7.2.3 of the paper: the maximum differential probability of both is 10/256.
    most = max(
        sum(q[x] ^ q[x ^ difference] == out for x in range(256))
        for difference in range(1, 256)
        for out in {q[x] ^ q[x ^ difference] for x in range(256)}
    )
    assert most == 10


def test_mds_is_maximum_distance_separable():
    """Changing one to four input bytes changes at least five bytes of input and output together.

    For the branch number of an MDS matrix it is enough that every square submatrix is regular.
    """

    def determinant(rows):
        if len(rows) == 1:
            return rows[0][0]
        total = 0
        for column in range(len(rows)):
            minor = [row[:column] + row[column + 1 :] for row in rows[1:]]
            total ^= block.multiply(rows[0][column], determinant(minor), block.MDS_POLYNOMIAL)
        return total

    for size in range(1, 5):
        for rows in combinations(block.MDS, size):
            for columns in combinations(range(4), size):
                assert determinant([tuple(row[c] for c in columns) for row in rows]) != 0


def test_known_answers_in_both_directions():
    for vector in vectors("ecb_kat.json"):
        schedule = expand_key(vector["key"])
        plaintext, ciphertext = vector["plaintext"], vector["ciphertext"]
        for i in range(0, len(plaintext), 16):
            assert schedule.encrypt_block(plaintext[i : i + 16]) == ciphertext[i : i + 16], vector["id"]
            assert schedule.decrypt_block(ciphertext[i : i + 16]) == plaintext[i : i + 16], vector["id"]


def _words(values):
    return [f"{value:08x}" for value in values]


@pytest.mark.parametrize("vector", vectors("ecb_ival_trace.json"), ids=lambda v: v["id"])
def test_round_trace_of_the_submission(vector):
    schedule = expand_key(vector["key"])
    assert _words(schedule.K) == vector["subkeys"]
    assert _words(schedule.S) == [row[2] for row in vector["key_words_and_sbox_key"]]

    trace: list[RoundState] = []
    assert schedule.encrypt_block(vector["plaintext"], trace) == vector["ciphertext"]
    assert [state.r for state in trace] == [state["r"] for state in vector["states"]]
    for ours, published in zip(trace, vector["states"], strict=True):
        assert _words(ours.x) == published["x"], f"r = {ours.r}"
        if 1 <= ours.r <= 16:
            assert _words([ours.t0, ours.t1]) == [published["t0"], published["t1"]], f"r = {ours.r}"
        else:
            assert ours.t0 is None
            assert ours.t1 is None

    undone: list[RoundState] = []
    assert schedule.decrypt_block(vector["ciphertext"], undone) == vector["plaintext"]
    assert undone == trace[::-1]


def test_g_is_h_with_the_sbox_key():
    for size in (16, 24, 32):
        schedule = expand_key(bytes(range(size)))
        s = tuple(reversed(schedule.S))
        for X in (0, 1, 0x80000000, 0x01234567, 0xFFFFFFFF):
            assert schedule.g(X) == block.h(X, s)


@pytest.mark.parametrize("size", [0, 1, 15, 17, 23, 25, 31, 33, 64])
def test_other_key_lengths_are_refused(size):
    with pytest.raises(InvalidKey, match=rf"16, 24 or 32 bytes, not {size}"):
        expand_key(bytes(size))


@pytest.mark.parametrize("size", [0, 5, 15, 17, 32])
def test_other_block_lengths_are_refused(size):
    schedule = expand_key(bytes(16))
    with pytest.raises(InvalidLength, match=f"16 bytes, not {size}"):
        schedule.encrypt_block(bytes(size))
    with pytest.raises(InvalidLength, match=f"16 bytes, not {size}"):
        schedule.decrypt_block(bytes(size))


def test_a_wiped_schedule_holds_nothing_and_serves_nobody():
    schedule = expand_key(b"K" * 16)
    subkeys, sbox_key, tables = schedule.K, schedule.S, list(schedule.g_tables)
    schedule.wipe()
    assert set(subkeys) == set(sbox_key) == {0}
    assert all(set(table) == {0} for table in tables)
    with pytest.raises(StateError):
        schedule.encrypt_block(bytes(16))
    with pytest.raises(StateError):
        schedule.decrypt_block(bytes(16))
    schedule.wipe()


def test_repr_shows_the_size_of_the_key_only():
    schedule = expand_key(bytes(range(24)))
    assert repr(schedule) == "<KeySchedule of a 192-bit key>"
    assert isinstance(schedule, KeySchedule)


def test_the_reference_needs_only_the_standard_library():
    """Imported without the package around it and with NumPy and Numba out of reach."""
    package = Path(block.__file__).resolve().parents[1]
    code = (
        "import sys, types\n"
        "for name in ('numpy', 'numba', 'llvmlite', 'cryptography'): sys.modules[name] = None\n"
        "bare = types.ModuleType('twofishkit')\n"
        f"bare.__path__ = [{str(package)!r}]\n"
        "sys.modules['twofishkit'] = bare\n"
        "from twofishkit.reference import block, gf128, modes, authenticated\n"
        "print(block.expand_key(bytes(16)).encrypt_block(bytes(16)).hex())\n"
        "ours = {name for name in sys.modules if name.startswith('twofishkit.')}\n"
        "print(*sorted(name for name in ours if '.reference' not in name))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["9f589f5cf6122c32b6bfec2f2ae8c35a", "twofishkit.errors"], done.stderr
