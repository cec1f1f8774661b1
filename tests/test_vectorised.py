"""The `numpy` backend against the reference: both of its ways, at the edges of its steps."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofishkit import vectorised, vectorised_ghash
from twofishkit.reference import block, gf128

KEYS = st.sampled_from([16, 24, 32]).flatmap(lambda n: st.binary(min_size=n, max_size=n))
BLOCK = st.binary(min_size=16, max_size=16)


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8).copy()


@pytest.fixture(autouse=True)
def arithmetic_must_not_warn():
    with np.errstate(all="raise"):
        yield


@given(KEYS)
def test_schedule_is_the_papers(key):
    schedule, expected = vectorised.expand_key(array(key)), block.expand_key(key)
    assert schedule.subkeys.tolist() == expected.K
    assert schedule.boxes.tolist() == expected.g_tables


@given(KEYS, st.integers(0, 40), st.integers(0, 99))
def test_few_blocks_either_way(key, count, seed):
    """Counts on both sides of the switch from Python's integers to NumPy's arrays."""
    assert 0 < vectorised.WIDE_BLOCKS < 40
    schedule, cipher = vectorised.expand_key(array(key)), block.expand_key(key)
    data = np.random.default_rng(seed).bytes(16 * count)
    parts = [data[at : at + 16] for at in range(0, len(data), 16)]
    for slot, one in (
        (vectorised.encrypt_blocks, cipher.encrypt_block),
        (vectorised.decrypt_blocks, cipher.decrypt_block),
    ):
        dst = array(data)
        slot(schedule, dst, dst)
        assert dst.tobytes() == b"".join(map(one, parts))


@pytest.mark.parametrize("key_bytes", [16, 24, 32])
def test_wide_and_narrow_agree_at_the_edges_of_a_step(monkeypatch, key_bytes):
    monkeypatch.setattr(vectorised, "STEP_BLOCKS", 64)
    schedule = vectorised.expand_key(np.arange(key_bytes, dtype=np.uint8))
    for count in (63, 64, 65, 127, 128, 129, 200):
        data = np.random.default_rng(count).integers(0, 256, 16 * count, np.uint8)
        for slot in (vectorised.encrypt_blocks, vectorised.decrypt_blocks):
            wide, narrow = np.empty_like(data), np.empty_like(data)
            slot(schedule, data, wide)
            with monkeypatch.context() as patch:
                patch.setattr(vectorised, "WIDE_BLOCKS", count + 1)
                slot(schedule, data, narrow)
            assert np.array_equal(wide, narrow)
            assert not np.array_equal(wide, data)


def test_steps_at_their_real_size():
    schedule = vectorised.expand_key(np.arange(16, dtype=np.uint8))
    count = 2 * vectorised.STEP_BLOCKS + 5
    data = np.random.default_rng(1).integers(0, 256, 16 * count, np.uint8)
    ciphertext = np.empty_like(data)
    vectorised.encrypt_blocks(schedule, data, ciphertext)
    cipher = block.expand_key(bytes(range(16)))
    for at in (0, 1, vectorised.STEP_BLOCKS - 1, vectorised.STEP_BLOCKS, count - 1):
        part = slice(16 * at, 16 * at + 16)
        assert ciphertext[part].tobytes() == cipher.encrypt_block(data[part].tobytes())
    vectorised.decrypt_blocks(schedule, ciphertext, ciphertext)
    assert np.array_equal(ciphertext, data)


@pytest.mark.parametrize("key_bytes", [16, 24, 32])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 9])
def test_a_key_for_each_block_at_the_edges_of_a_step(monkeypatch, key_bytes, count):
    monkeypatch.setattr(vectorised, "STEP_KEYS", 4)
    rng = np.random.default_rng(key_bytes + count)
    keys = rng.integers(0, 256, (count, key_bytes), np.uint8)
    data = rng.integers(0, 256, (count, 16), np.uint8)
    dst = np.empty_like(data)
    vectorised.encrypt_each(keys, data, dst)
    for key, plaintext, ciphertext in zip(keys, data, dst, strict=True):
        assert ciphertext.tobytes() == block.expand_key(key.tobytes()).encrypt_block(plaintext.tobytes())
    vectorised.decrypt_each(keys, dst, dst)
    assert np.array_equal(dst, data)


def test_wipe_overwrites_every_table():
    schedule = vectorised.expand_key(np.arange(32, dtype=np.uint8))
    data = np.zeros(16 * 64, np.uint8)
    vectorised.encrypt_blocks(schedule, data, data)
    vectorised.encrypt_blocks(schedule, data[:16], data[:16])
    pairs, (subkeys, boxes) = schedule.pairs, schedule.numbers
    assert pairs.any()
    assert any(subkeys)
    vectorised.wipe(schedule)
    assert not schedule.subkeys.any()
    assert not schedule.boxes.any()
    assert not pairs.any()
    assert not any(subkeys)
    assert not any(map(any, boxes))


def test_eight_threads_share_a_schedule_and_a_table():
    """The threads also make the lazy tables at the same moment."""
    data = np.random.default_rng(3).integers(0, 256, 16 * 3000, np.uint8)

    def work(schedule, table):
        y, ciphertext = np.zeros(16, np.uint8), np.empty_like(data)
        vectorised.encrypt_blocks(schedule, data, ciphertext)
        vectorised_ghash.ghash(table, y, ciphertext)
        return ciphertext.tobytes() + y.tobytes()

    def fresh():
        key = np.arange(24, dtype=np.uint8)
        return vectorised.expand_key(key), vectorised_ghash.ghash_key(np.arange(16, dtype=np.uint8))

    expected, shared, results = work(*fresh()), fresh(), [b""] * 8
    barrier = threading.Barrier(8)

    def run(index):
        barrier.wait()
        results[index] = work(*shared)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


# --- GHASH ---------------------------------------------------------------------------------------

HASHES = {
    "ghash": (vectorised_ghash.ghash_key, vectorised_ghash.ghash, gf128.ghash),
    "polyval": (vectorised_ghash.polyval_key, vectorised_ghash.polyval, gf128.polyval),
}


@pytest.mark.parametrize("name", HASHES)
@given(h=BLOCK, y=BLOCK, count=st.integers(0, 80), seed=st.integers(0, 99))
def test_hash_is_the_references(name, h, y, count, seed):
    key, absorb, expected = HASHES[name]
    data = np.random.default_rng(seed).bytes(16 * count)
    state = array(y)
    absorb(key(array(h)), state, array(data))
    assert state.tobytes() == expected(h, data, y)


@pytest.mark.parametrize("name", HASHES)
@pytest.mark.parametrize("lanes", [1, 2, 8])
def test_hash_in_lanes_of_every_fill(monkeypatch, name, lanes):
    """With few lanes, short messages take many steps; from one block on."""
    monkeypatch.setattr(vectorised_ghash, "LANES", lanes)
    monkeypatch.setattr(vectorised_ghash, "LONG_BLOCKS", 1)
    key, absorb, expected = HASHES[name]
    h, y = bytes(range(16)), bytes(range(100, 116))
    table = key(array(h))
    for count in range(1, 3 * lanes + 2):
        data = np.random.default_rng(count).bytes(16 * count)
        state = array(y)
        absorb(table, state, array(data))
        assert state.tobytes() == expected(h, data, y)


def test_long_hash_equals_its_short_pieces():
    table = vectorised_ghash.ghash_key(np.arange(16, dtype=np.uint8))
    data = np.random.default_rng(9).integers(0, 256, 16 * (3 * vectorised_ghash.LANES + 7), np.uint8)
    whole, pieced = np.zeros(16, np.uint8), np.zeros(16, np.uint8)
    vectorised_ghash.ghash(table, whole, data)
    for at in range(0, len(data), 160):
        vectorised_ghash.ghash(table, pieced, data[at : at + 160])
    assert np.array_equal(whole, pieced)


def test_hash_reads_unaligned_and_read_only_memory():
    table = vectorised_ghash.ghash_key(np.arange(16, dtype=np.uint8))
    data = np.random.default_rng(9).bytes(16 * 100 + 3)
    expected = gf128.ghash(bytes(range(16)), data[3:])
    state = np.zeros(16, np.uint8)
    vectorised_ghash.ghash(table, state, np.frombuffer(data, np.uint8)[3:])
    assert state.tobytes() == expected
