"""OCB: the values of RFC 7253 and OpenSSL's for AES, tag lengths, working in place."""

import os

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESOCB3

import twofishkit as tk
from tests.aes import AES
from twofishkit.modes.ocb import OcbKey

KEY = bytes(range(32))
NONCE = b"twelve bytes"

# RFC 7253, appendix A: AEAD_AES_128_OCB_TAGLEN128 with key 00 01 ... 0f, nonces counted up from
# BBAA99887766554433221100; (bytes of aad, bytes of plaintext, result), both texts being 00 01 02 ...
RFC_KEY = bytes(range(16))
RFC_SAMPLES = (
    (0, 0, "785407bfffc8ad9edcc5520ac9111ee6"),
    (8, 8, "6820b3657b6f615a5725bda0d3b4eb3a257c9af1f8f03009"),
    (8, 0, "81017f8203f081277152fade694a0a00"),
    (0, 8, "45dd69f8f5aae72414054cd1f35d82760b2cd00d2f99bfa9"),
    (16, 16, "571d535b60b277188be5147170a9a22c3ad7a4ff3835b8c5701c1ccec8fc3358"),
)

# The same appendix: the result of 385 messages, by bits of key and tag.
RFC_ITERATED = {
    (128, 128): "67e944d23256c5e0b6c61fa22fdf1ea2",
    (192, 128): "f673f2c3e7174aae7bae986ca9f29e17",
    (256, 128): "d90eb8e9c977c88b79dd793d7ffa161c",
    (128, 96): "77a3d8e73589158d25d01209",
    (192, 96): "05d56ead2752c86be6932c5e",
    (256, 96): "5458359ac23b0cba9e6330dd",
    (128, 64): "192c9b7bd90ba06a",
    (192, 64): "0066bc6e0ef34e24",
    (256, 64): "7d4ea5d445501cbe",
}


def test_the_samples_of_the_rfc():
    ocb = tk.OCB(AES(RFC_KEY))
    for i, (aad, plaintext, expected) in enumerate(RFC_SAMPLES):
        nonce = bytes.fromhex("bbaa998877665544332211") + bytes((i,))
        joined = ocb.encrypt(nonce, bytes(range(plaintext)), bytes(range(aad)))
        assert joined.hex() == expected
        assert ocb.decrypt(nonce, joined, bytes(range(aad))) == bytes(range(plaintext))


@pytest.mark.parametrize(("key_bits", "tag_bits"), RFC_ITERATED)
def test_the_iterated_test_of_the_rfc(key_bits, tag_bits):
    ocb = tk.OCB(AES(bytes(key_bits // 8 - 1) + bytes((tag_bits,))), tag_length=tag_bits // 8)
    results = []
    for i in range(128):
        s = bytes(i)
        for k, (plaintext, aad) in enumerate(((s, s), (s, b""), (b"", s)), 3 * i + 1):
            results.append(ocb.encrypt(k.to_bytes(12, "big"), plaintext, aad))
    final = ocb.encrypt((385).to_bytes(12, "big"), b"", b"".join(results))
    assert final.hex() == RFC_ITERATED[key_bits, tag_bits]


@pytest.mark.parametrize("n", [*range(0, 70, 3), 1000, 4096, 100_003])
def test_equal_to_openssl_for_aes(n):
    key, nonce, data, aad = os.urandom(32), os.urandom(12 + n % 4), os.urandom(n), os.urandom(n // 2)
    ours = tk.OCB(AES(key))
    joined = AESOCB3(key).encrypt(nonce, data, aad)
    assert ours.encrypt(nonce, data, aad) == joined
    assert ours.decrypt(nonce, joined, aad) == data


def test_all_shifts_of_the_stretched_block():
    """The nonce's last six bits say by how many bits it is shifted."""
    ocb, openssl = tk.OCB(AES(KEY)), AESOCB3(KEY)
    results = set()
    for last in range(256):
        nonce = bytes(11) + bytes((last,))
        results.add(ocb.encrypt(nonce, bytes(20)))
        assert ocb.encrypt(nonce, bytes(20)) == openssl.encrypt(nonce, bytes(20), b"")
    assert len(results) == 256


def test_the_tag_length_is_part_of_the_nonce_block():
    ciphertexts = {tk.OCB(KEY, n).encrypt_detached(NONCE, bytes(32))[0] for n in range(8, 17)}
    assert len(ciphertexts) == 9


def test_in_place_the_checksum_is_of_the_plaintext(backend):
    """libtomcrypt's ocb3_tv.txt, zig 24999: made in place, it was taken over the ciphertext."""
    ocb = tk.OCB(KEY)
    for n in (*range(1, 70), 255, 256, 257, 1024, 1040, 5000):
        data = np.arange(n, dtype=np.uint32).astype(np.uint8)
        ciphertext, tag = ocb.encrypt_detached(NONCE, data, b"aad")
        buffer = data.copy()
        assert ocb.encrypt_detached(NONCE, buffer, b"aad", out=buffer)[1] == tag
        assert np.array_equal(buffer, ciphertext)
        ocb.decrypt_detached(NONCE, buffer, tag, b"aad", out=buffer)
        assert np.array_equal(buffer, data)


def test_the_table_of_doublings_reaches_the_limit():
    """Block number i needs L_ntz(i); the last block of the longest message is number 2^48."""
    key = OcbKey(tk.Twofish(KEY))
    assert len(key.ls) == 49
    assert not key.ls.flags.writeable


def test_messages_longer_than_a_stretch(backend):
    """Text and aad around the stretches that kernels work on, against NumPy."""
    rng = np.random.default_rng(8)
    for n, m in ((0, 4097), (1, 16), (4095, 0), (4096, 4096), (4097, 17), (8208, 4095), (20_000, 15)):
        if backend == "reference" and n > 4096:
            break
        data, aad, nonce = rng.bytes(n), rng.bytes(m), rng.bytes(1 + n % 15)
        with tk.backend.use("numpy"):
            expected = tk.OCB(KEY).encrypt(nonce, data, aad)
        ocb = tk.OCB(KEY)
        for kind in (bytes, bytearray, lambda given: np.frombuffer(given, np.uint8)):
            assert bytes(ocb.encrypt(nonce, kind(data), kind(aad))) == expected
            assert bytes(ocb.decrypt(nonce, kind(expected), kind(aad))) == data
        buffer = bytearray(data)
        tag = ocb.encrypt_detached(nonce, buffer, aad, out=buffer)[1]
        assert buffer + tag == expected
        ocb.decrypt_detached(nonce, buffer, tag, aad, out=buffer)
        assert buffer == data


@pytest.mark.parametrize("n", [5, 4096, 9001])
def test_what_is_refused_leaves_out_as_it_was(backend, n):
    n = min(n, 100) if backend == "reference" else n
    data = np.random.default_rng(n).integers(0, 256, n, np.uint8)
    ocb = tk.OCB(KEY)
    ciphertext, tag = ocb.encrypt_detached(NONCE, data, b"aad")
    for at in (0, n // 2, n - 1):
        forged = ciphertext.copy()
        forged[at] ^= 1
        before, out = forged.copy(), np.full(n, 7, np.uint8)
        for given in (out, forged, None):
            with pytest.raises(tk.InvalidTag):
                ocb.decrypt_detached(NONCE, forged, tag, b"aad", out=given)
        assert np.array_equal(forged, before)
        assert (out == 7).all()


def test_no_plaintext_is_left_in_scratch(monkeypatch):
    """Verified or not: what was decrypted beside out is overwritten."""
    ocb = tk.OCB(KEY)
    data = np.random.default_rng(1).integers(1, 256, 9001, np.uint8)
    ciphertext, tag = ocb.encrypt_detached(NONCE, data)
    made = []

    def empty(*arguments):
        made.append(np.full(*arguments[:1], 7, np.uint8))
        return made[-1]

    monkeypatch.setattr("twofishkit.modes.ocb.np.empty", empty)
    out = np.zeros(9001, np.uint8)
    ocb.decrypt_detached(NONCE, ciphertext, tag, out=out)
    assert np.array_equal(out, data)
    with pytest.raises(tk.InvalidTag):
        ocb.decrypt_detached(NONCE, ciphertext, bytes(16), out=out)
    assert len(made) == 2
    assert not any(scratch.any() for scratch in made)
