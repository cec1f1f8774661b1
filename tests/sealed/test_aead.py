"""Twofish-256-GCM for many chunks equals GCM one message at a time."""

import numpy as np
import pytest

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit import backend as backend_module
from twofishkit.errors import StateError
from twofishkit.sealed.aead import TWOFISH_256_GCM
from twofishkit.sealed.stream import CHUNK_BYTES

COUNTS = [(1, 0), (1, 1), (3, 15), (2, 16), (5, 17), (2, 256), (3, 1023)]


def example(count, size):
    rng = np.random.default_rng(count * 1000 + size)
    return rng.integers(0, 256, (count, 12), np.uint8), rng.integers(0, 256, (count, size), np.uint8)


@pytest.mark.parametrize(("count", "size"), [*COUNTS, (2, CHUNK_BYTES)])
def test_equals_gcm(count, size, backend):
    if backend == "reference" and size > 1023:
        size = 1040
    nonces, plaintexts = example(count, size)
    sealed = np.empty((count, size + 16), np.uint8)
    chunks = TWOFISH_256_GCM.prepare(KEY)
    chunks.seal(nonces, plaintexts, sealed)
    gcm = tk.GCM(KEY)
    for nonce, plaintext, row in zip(nonces, plaintexts, sealed, strict=True):
        assert row.tobytes() == gcm.encrypt(nonce.tobytes(), plaintext.tobytes())
    opened = np.empty_like(plaintexts)
    assert chunks.open(nonces, sealed, opened) == count
    assert np.array_equal(opened, plaintexts)


@pytest.mark.parametrize("ghash", backend_module.available_ghash())
def test_every_ghash_has_its_kernel_for_rows(ghash):
    nonces, plaintexts = example(3, 5000)
    with backend_module.use(ghash=ghash):
        chunks = TWOFISH_256_GCM.prepare(KEY)
    sealed, opened = np.empty((3, 5016), np.uint8), np.empty_like(plaintexts)
    chunks.seal(nonces, plaintexts, sealed)
    gcm = tk.GCM(KEY)
    for nonce, plaintext, row in zip(nonces, plaintexts, sealed, strict=True):
        assert row.tobytes() == gcm.encrypt(nonce.tobytes(), plaintext.tobytes())
    assert chunks.open(nonces, sealed, opened) == 3
    assert np.array_equal(opened, plaintexts)
    sealed[1, 4999] ^= 1
    assert chunks.open(nonces, sealed, opened) == 1


@pytest.mark.parametrize("bad", range(5))
def test_first_bad_chunk_is_counted(bad):
    nonces, plaintexts = example(5, 100)
    sealed = np.empty((5, 116), np.uint8)
    chunks = TWOFISH_256_GCM.prepare(KEY)
    chunks.seal(nonces, plaintexts, sealed)
    for position in (0, 99, 100, 115):
        altered = sealed.copy()
        altered[bad, position] ^= 0x80
        altered[-1, 0] ^= 1 if bad < 4 else 0
        assert chunks.open(nonces, altered, np.empty_like(plaintexts)) == bad


def test_wiped_key_is_of_no_use():
    chunks = TWOFISH_256_GCM.prepare(KEY)
    chunks.wipe()
    with pytest.raises(StateError):
        chunks.seal(*example(1, 5), np.empty((1, 21), np.uint8))
