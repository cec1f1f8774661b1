"""The compiled key schedule: subkeys and tables as in the reference, for one key and for many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

from tests.vectors_io import sample, vectors
from twofishkit.kernels import schedule
from twofishkit.reference import block

KEYS = st.sampled_from([16, 24, 32]).flatmap(lambda n: st.binary(min_size=n, max_size=n))


def assert_equals_reference(expanded, key):
    expected = block.expand_key(key)
    assert expanded[:40].tolist() == expected.K
    assert expanded[40:].reshape(4, 256).tolist() == expected.g_tables


def test_small_tables_are_those_of_the_reference():
    assert schedule.Q0.tolist() == list(block.q0)
    assert schedule.Q1.tolist() == list(block.q1)
    for j, q in enumerate((block.q1, block.q0, block.q1, block.q0)):
        assert schedule.MDS_Q[j].tolist() == [block.MDS_COLUMNS[j][q[y]] for y in range(256)]
    for j in range(8):
        for m in (1, 2, 0x80, 0xFF):
            assert schedule.RS_COLUMNS[j, m] == block.rs(bytes(j) + bytes([m]) + bytes(7 - j))


@given(KEYS)
def test_one_key(key):
    assert_equals_reference(schedule.expand_key(np.frombuffer(key, np.uint8)), key)


def test_published_subkeys():
    for vector in vectors("ecb_ival_trace.json"):
        expanded = schedule.expand_key(np.frombuffer(vector["key"], np.uint8))
        assert [f"{word:08x}" for word in expanded[:40]] == vector["subkeys"]


@pytest.mark.parametrize("length", [16, 24, 32])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_many_keys(length, count):
    keys = np.random.default_rng(length + count).integers(0, 256, (count, length), dtype=np.uint8)
    expanded = schedule.expand_keys(keys)
    assert expanded.shape == (count, schedule.SCHEDULE_WORDS)
    for key, row in zip(keys, expanded, strict=True):
        assert_equals_reference(row, key.tobytes())


def test_every_key_byte_counts():
    for length in (16, 24, 32):
        key = np.zeros(length, np.uint8)
        seen = {schedule.expand_key(key).tobytes()}
        for i in range(length):
            key[:] = 0
            key[i] = 0x80
            seen.add(schedule.expand_key(key).tobytes())
        assert len(seen) == length + 1


def test_wipe_leaves_zeros():
    expanded = schedule.expand_key(np.arange(32, dtype=np.uint8))
    schedule.wipe(expanded)
    assert not expanded.any()


@pytest.mark.parametrize("key_bytes", [16, 24, 32])
def test_one_block_under_each_key(key_bytes):
    from twofishkit.kernels.each import decrypt_each, encrypt_each

    rows = [v for v in vectors("ecb_kat.json") if len(v["key"]) == key_bytes and len(v["plaintext"]) == 16]
    rows = sample(tuple(rows), 60)
    assert len(rows) == 60

    def column(field):
        return np.frombuffer(b"".join(row[field] for row in rows), np.uint8).reshape(len(rows), -1)

    keys, plaintext, ciphertext = column("key"), column("plaintext"), column("ciphertext")
    out = np.empty_like(plaintext)
    encrypt_each(keys, plaintext, out)
    assert (out == ciphertext).all()
    decrypt_each(keys, out, out)
    assert (out == plaintext).all()
    encrypt_each(keys[:0], plaintext[:0], out[:0])
    assert (out == plaintext).all()
