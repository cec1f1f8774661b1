"""`Twofish` and `generate_key`: keys, blocks, sharing, wiping."""

import copy
import dataclasses
import gc
import pickle
import weakref

import numpy as np
import pytest

import twofishkit as tk
from twofishkit import backend as backends
from twofishkit.cipher import as_cipher


def test_published_block(backend):
    """RustCrypto/block-ciphers 7; rubbingalcoholic/cowcrypt 4: output words were byte-swapped."""
    found = tk.Twofish(bytes(16)).encrypt_blocks(bytes(16))
    assert found.hex() == "9f589f5cf6122c32b6bfec2f2ae8c35a"


def test_no_overflow_anywhere(backend):
    """decfpc/DelphiEncryptionCompendium 4: an integer overflowed in the key schedule."""
    with np.errstate(all="raise"):
        for key in (b"\xff" * 16, b"\xff" * 24, bytes(range(32))):
            cipher = tk.Twofish(key)
            blocks = np.full((40, 16), 0xFF, np.uint8)
            assert np.array_equal(cipher.decrypt_blocks(cipher.encrypt_blocks(blocks)), blocks)
            for mode in (tk.CBC(cipher, b"\xff" * 16), tk.CTR(cipher, b"\xff" * 16)):
                assert mode.decrypt(mode.encrypt(bytes(640))) == bytes(640)
        xts = tk.XTS(b"\xff" * 64)
        assert len(xts.encrypt(bytes(96), 2**64 - 1, sector_size=24)) == 96


@pytest.mark.parametrize("n", [0, 1, 5, 8, 15, 17, 23, 25, 31, 33, 64])
def test_key_lengths(n):
    """PyPI twofish 0.3.0 padded keys with zeros; blluv/pgmm_decrypt 2: games use short keys."""
    with pytest.raises(
        tk.InvalidKey, match=f"key has {n} bytes; a Twofish key has 16, 24 or 32 bytes"
    ) as caught:
        tk.Twofish(b"k" * n)
    assert isinstance(caught.value, ValueError)
    assert "kkk" not in str(caught.value)
    for mode in (tk.ECB, lambda key: tk.CTR(key, bytes(16)), lambda key: tk.CBC(key, bytes(16))):
        with pytest.raises(tk.InvalidKey):
            mode(b"k" * n)


def test_keys_of_any_bytes_like(backend):
    key = bytes(range(24))
    expected = tk.Twofish(key).encrypt_blocks(bytes(16))
    spread = np.repeat(np.frombuffer(key, np.uint8), 2)[::2]
    for given in (bytearray(key), memoryview(key), np.frombuffer(key, "<u4"), spread):
        assert tk.Twofish(given).encrypt_blocks(bytes(16)) == expected
    mutable = bytearray(key)
    cipher = tk.Twofish(mutable)
    mutable[:] = bytes(24)
    assert cipher.encrypt_blocks(bytes(16)) == expected
    assert np.frombuffer(key, np.uint8).tolist() == list(range(24))  # the caller's key is left alone


@pytest.mark.parametrize("key", ["0" * 16, None, 16, [0] * 16, np.array([None] * 16), ("a", "b")])
def test_keys_of_other_types(key):
    with pytest.raises(tk.UnsupportedType, match="key"):
        tk.Twofish(key)


def test_properties(backend):
    for size in (16, 24, 32):
        cipher = tk.Twofish(bytes(size))
        assert (cipher.key_size, cipher.block_size, cipher.backend) == (size, 16, backend)
        assert repr(cipher) == f"Twofish(<{8 * size}-bit key>)"
        with pytest.raises(AttributeError):
            cipher.key_size = 16
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            cipher.nothing  # noqa: B018


def test_blocks(backend):
    cipher = tk.Twofish(bytes(range(32)))
    blocks = np.arange(2 * 3 * 16, dtype=np.uint8).reshape(2, 3, 16)
    found = cipher.encrypt_blocks(blocks)
    assert found.shape == blocks.shape
    assert found.tobytes() == cipher.encrypt_blocks(blocks.tobytes())
    assert found.tobytes() == tk.ECB(cipher).encrypt(blocks.tobytes())
    assert np.array_equal(cipher.decrypt_blocks(found), blocks)
    assert np.array_equal(cipher.encrypt_blocks(blocks[::-1, ::2]), found[::-1, ::2])
    own = blocks.copy()
    assert cipher.encrypt_blocks(own, out=own) is own
    assert np.array_equal(own, found)
    assert cipher.encrypt_blocks(np.empty((0, 16), np.uint8)).shape == (0, 16)
    assert cipher.encrypt_blocks(b"") == b""


def test_blocks_refused():
    cipher = tk.Twofish(bytes(16))
    for call in (cipher.encrypt_blocks, cipher.decrypt_blocks):
        with pytest.raises(tk.InvalidLength, match="17 bytes"):
            call(bytes(17))
        for shape in ((16, 2), (4, 8), (), (16, 0)):
            with pytest.raises(tk.InvalidLength, match=r"\.\.\., 16"):
                call(np.zeros(shape, np.uint8))
        for dtype in ("i1", "f8", "S1"):
            with pytest.raises(tk.UnsupportedType, match="uint8"):
                call(np.zeros((2, 16), dtype))
        with pytest.raises(tk.UnsupportedType):
            call("x" * 16)


def test_a_cipher_is_shared_by_modes(backend):
    cipher = tk.Twofish(bytes(16))
    assert as_cipher(cipher) is cipher
    assert tk.CTR(cipher, bytes(16)).encrypt(bytes(16)) == tk.ECB(cipher).encrypt(bytes(16))


def test_backend_is_fixed_when_made():
    with backends.use("numpy"):
        cipher = tk.Twofish(bytes(16))
    with backends.use("reference"):
        assert cipher.backend == "numpy"
        assert tk.Twofish(bytes(16)).backend == "reference"
        assert tk.ECB(cipher).encrypt(bytes(16)).hex() == "9f589f5cf6122c32b6bfec2f2ae8c35a"


def test_wipe(backend):
    with tk.Twofish(bytes(16)) as cipher:
        cipher.encrypt_blocks(bytes(16))
    for call in (cipher.encrypt_blocks, cipher.decrypt_blocks):
        with pytest.raises(tk.StateError, match="wiped") as caught:
            call(bytes(16))
        assert isinstance(caught.value, RuntimeError)
    cipher.wipe()
    assert repr(cipher) == "Twofish(<128-bit key>)"
    assert cipher.key_size == 16


def test_the_copy_of_the_key_is_overwritten(backend, monkeypatch):
    kernels, seen = backends.current(), []

    def expand_key(key):
        seen.append(key)
        return kernels.cipher.expand_key(key)

    cipher = dataclasses.replace(kernels.cipher, expand_key=expand_key)
    monkeypatch.setattr(backends, "current", lambda: dataclasses.replace(kernels, cipher=cipher))
    tk.Twofish(bytes(range(1, 33)))
    (copied,) = seen
    assert copied.size == 32
    assert not copied.any()


def test_wipe_overwrites_the_schedule():
    """The reference and numpy keep it where a test can look."""
    with backends.use("numpy"):
        cipher = tk.Twofish(bytes(range(16)))
    schedule = cipher._schedule
    arrays = (
        [a for a in vars(schedule).values() if isinstance(a, np.ndarray)]
        if hasattr(schedule, "__dict__")
        else []
    )
    arrays = arrays or [a for a in gc.get_referents(schedule) if isinstance(a, np.ndarray)]
    assert arrays
    assert any(a.any() for a in arrays)
    cipher.wipe()
    assert not any(a.any() for a in arrays)


def test_copies_are_the_same_object():
    cipher = tk.Twofish(bytes(16))
    assert copy.copy(cipher) is cipher
    assert copy.deepcopy({"key": cipher})["key"] is cipher


def test_pickling_is_refused():
    for made in (tk.Twofish(bytes(16)), tk.CTR(bytes(16), bytes(16)), tk.ECB(bytes(16)), tk.XTS(bytes(32))):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(tk.UnsupportedType, match="not pickled"):
                pickle.dumps(made, protocol)


def test_ciphers_are_freed():
    cipher = tk.Twofish(bytes(16))
    gone = weakref.ref(cipher)
    del cipher
    gc.collect()
    assert gone() is None


def test_generate_key():
    assert len(tk.generate_key()) == 32
    for size in (16, 24, 32, 48, 64):
        key = tk.generate_key(size)
        assert type(key) is bytes
        assert len(key) == size
        assert key != tk.generate_key(size)
    for size in (0, -1, 8, 15, 33, 128, 256):
        with pytest.raises(tk.InvalidParameter, match=f"size is {size}"):
            tk.generate_key(size)
    with pytest.raises(tk.UnsupportedType, match="str"):
        tk.generate_key("32")
