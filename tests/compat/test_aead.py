"""`twofishkit.compat.aead`, beside the classes of `cryptography` whose calls it takes over."""

import numpy as np
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import aead as theirs

import twofishkit as tk
from tests import vectors_io
from twofishkit.compat import aead as ours

PAIRS = [
    (ours.TwofishGCM, theirs.AESGCM, 12),
    (ours.TwofishCCM, theirs.AESCCM, 12),
    (ours.TwofishOCB3, theirs.AESOCB3, 12),
]
CLASSES = pytest.mark.parametrize(
    ("cls", "nonce_bytes"), [(c, n) for pair in PAIRS for c, n in ((pair[0], pair[2]), (pair[1], pair[2]))]
)
SIVS = pytest.mark.parametrize("cls", [ours.TwofishSIV, theirs.AESSIV])


@CLASSES
def test_contract(cls, nonce_bytes):
    keys = [cls.generate_key(bits) for bits in (128, 192, 256)]
    assert [len(key) for key in keys] == [16, 24, 32]
    aead, nonce = cls(keys[2]), bytes(nonce_bytes)
    for data in (b"", b"x", bytes(100), bytearray(33), memoryview(bytes(64))[::1]):
        for associated in (None, b"", b"header", bytearray(b"h")):
            sealed = aead.encrypt(nonce, data, associated)
            assert type(sealed) is bytes
            assert len(sealed) == len(data) + 16
            assert aead.decrypt(nonce, sealed, associated) == data
            buffer = bytearray(len(sealed))
            assert aead.encrypt_into(nonce, data, associated, buffer) == len(sealed)
            assert buffer == sealed
            opened = bytearray(len(data))
            assert aead.decrypt_into(nonce, sealed, associated, opened) == len(data)
            assert opened == data


@CLASSES
def test_errors(cls, nonce_bytes):
    key, nonce = cls.generate_key(bit_length=256), bytes(nonce_bytes)
    aead = cls(key)
    sealed = aead.encrypt(nonce=nonce, data=b"secret", associated_data=b"header")
    for wrong in (sealed[:-1], sealed[1:], b"", sealed[:-1] + bytes((sealed[-1] ^ 1,))):
        with pytest.raises(InvalidTag):
            aead.decrypt(nonce, wrong, b"header")
        with pytest.raises(InvalidTag):
            aead.decrypt_into(nonce, wrong, b"header", bytearray(max(len(wrong) - 16, 0)))
    with pytest.raises(InvalidTag):
        aead.decrypt(nonce, sealed, None)
    for call in (
        lambda: cls(bytes(15)),
        lambda: cls.generate_key(100),
        lambda: aead.encrypt(b"", b"x", None),
        lambda: aead.decrypt(bytes(6), sealed, None),
        lambda: aead.encrypt(bytes(129), b"x", None),
        lambda: aead.encrypt_into(nonce, b"abc", None, bytearray(18)),
        lambda: aead.decrypt_into(nonce, sealed, None, bytearray(7)),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - texts differ
            call()
    for call in (
        lambda: cls("x" * 16),
        lambda: cls.generate_key("256"),
        lambda: aead.encrypt("x" * 12, b"x", None),
        lambda: aead.encrypt(nonce, "x", None),
        lambda: aead.encrypt(nonce, b"x", "header"),
        lambda: aead.encrypt(nonce, b"x"),
        lambda: aead.encrypt_into(nonce, b"abc", None, bytes(19)),
        lambda: cls(),
    ):
        with pytest.raises(TypeError):
            call()
    assert key.hex() not in repr(aead)


@pytest.mark.parametrize("cls", [ours.TwofishCCM, theirs.AESCCM])
def test_ccm_has_tags_of_several_lengths(cls):
    for length in (4, 6, 8, 10, 12, 14, 16):
        aead = cls(bytes(32), tag_length=length)
        sealed = aead.encrypt(bytes(13), b"secret", None)
        assert len(sealed) == 6 + length
        assert aead.decrypt(bytes(13), sealed, None) == b"secret"
    for length in (3, 5, 18):
        with pytest.raises(ValueError):  # noqa: PT011
            cls(bytes(32), tag_length=length)
    with pytest.raises(TypeError):
        cls(bytes(32), tag_length="16")
    with pytest.raises(ValueError):  # noqa: PT011
        cls(bytes(32)).encrypt(bytes(13), bytes(1 << 17), None)


@SIVS
def test_siv(cls):
    assert [len(cls.generate_key(bits)) for bits in (256, 384, 512)] == [32, 48, 64]
    aead = cls(bytes(range(64)))
    for associated in (None, [], [b"one"], [b"one", bytearray(b"two")]):
        sealed = aead.encrypt(b"secret", associated)
        assert len(sealed) == 22
        assert aead.decrypt(sealed, associated) == b"secret"
        buffer, opened = bytearray(22), bytearray(6)
        assert aead.encrypt_into(b"secret", associated, buffer) == 22
        assert aead.decrypt_into(buffer, associated, opened) == 6
        assert (buffer, opened) == (sealed, b"secret")
    assert aead.encrypt(b"x", [b"one", b"two"]) != aead.encrypt(b"x", [b"onet", b"wo"])
    for call in (lambda: aead.decrypt(sealed, None), lambda: aead.decrypt(b"short", None),
                 lambda: aead.decrypt_into(sealed, None, bytearray(6))):  # fmt: skip
        with pytest.raises(InvalidTag):
            call()
    for call in (lambda: cls(bytes(16)), lambda: cls.generate_key(128),
                 lambda: aead.encrypt_into(b"x", None, bytearray(16))):  # fmt: skip
        with pytest.raises(ValueError):  # noqa: PT011
            call()
    for call in (lambda: aead.encrypt(b"x", b"no list"), lambda: aead.encrypt("x", None)):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize(
    ("name", "cls"), [("gcm", ours.TwofishGCM), ("ccm", ours.TwofishCCM), ("ocb", ours.TwofishOCB3)]
)
def test_published_vectors(name, cls):
    fitting = [
        v
        for v in vectors_io.vectors(f"mode_{name}.json")
        if len(v["tag"]) == 16 and len(v["iv"]) in cls._nonces
    ]
    for vector in vectors_io.sample(tuple(fitting), 20):
        sealed = cls(vector["key"]).encrypt(vector["iv"], vector["plaintext"], vector["aad"])
        assert sealed == vector["ciphertext"] + vector["tag"], vector["id"]


def test_failures_are_ours_as_well():
    with pytest.raises(tk.InvalidTag):
        ours.TwofishGCM(bytes(32)).decrypt(bytes(12), bytes(16), None)
    assert issubclass(ours.InvalidTag, InvalidTag)


def test_arrays_give_bytes():
    array = np.arange(6).reshape(2, 3)
    sealed = ours.TwofishGCM(bytes(32)).encrypt(bytes(12), array, None)
    assert sealed == tk.GCM(bytes(32)).encrypt(bytes(12), array.tobytes())
