"""The key schedule of `gather`: subkeys and tables as in the reference; one block under each key."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

from tests.vectors_io import sample, vectors
from twofishkit import backend
from twofishkit.kernels import schedule
from twofishkit.kernels.native import HEADER_BYTES
from twofishkit.reference import block

KEYS = st.sampled_from([16, 24, 32]).flatmap(lambda n: st.binary(min_size=n, max_size=n))


def expand(key):
    """The tables and the subkeys of a key, as words, and nothing of the memory around them changed."""
    memory = np.full(schedule.SCHEDULE_BYTES + 64, 0xA5, np.uint8)
    start = schedule.expand_into(memory, np.frombuffer(key, np.uint8))
    assert (memory.ctypes.data + start) % 64 == 0
    body = slice(start + schedule.TABLES_AT, start + schedule.SCHEDULE_BYTES)
    words = memory[body].copy().view(np.uint32)
    memory[body] = 0xA5
    assert (memory == 0xA5).all()
    return words[:1024], words[1024:]


def test_small_tables_are_those_of_the_reference():
    assert schedule.Q0.tolist() == list(block.q0)
    assert schedule.Q1.tolist() == list(block.q1)
    for j, q in enumerate((block.q1, block.q0, block.q1, block.q0)):
        assert schedule.MDS_Q[j].tolist() == [block.MDS_COLUMNS[j][q[y]] for y in range(256)]
    for j in range(8):
        for m in (1, 2, 0x80, 0xFF):
            assert schedule.RS_COLUMNS[j, m] == block.rs(bytes(j) + bytes([m]) + bytes(7 - j))


@given(KEYS)
def test_tables_and_subkeys(key):
    tables, subkeys = expand(key)
    expected = block.expand_key(key)
    assert subkeys.tolist() == expected.K
    assert tables.reshape(4, 256).tolist() == expected.g_tables


def test_published_subkeys():
    for vector in vectors("ecb_ival_trace.json"):
        _, subkeys = expand(vector["key"])
        assert [f"{word:08x}" for word in subkeys] == vector["subkeys"]


def test_every_key_byte_counts():
    for length in (16, 24, 32):
        key = bytearray(length)
        seen = {expand(bytes(key))[1].tobytes()}
        for i in range(length):
            key[:] = bytes(length)
            key[i] = 0x80
            seen.add(expand(bytes(key))[1].tobytes())
        assert len(seen) == length + 1


@pytest.mark.parametrize("name", [name for name in backend.available() if backend.kernels(name).cipher.cores])
def test_wipe_leaves_nothing_but_the_address(name):
    slots = backend.kernels(name).cipher
    expanded = slots.expand_key(np.arange(32, dtype=np.uint8))
    assert expanded[HEADER_BYTES:].any()
    slots.wipe(expanded)
    assert not expanded[8:].any()
    assert expanded[:8].tobytes() == slots.expand_key(np.zeros(16, np.uint8))[:8].tobytes()


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
