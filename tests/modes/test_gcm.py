"""GCM beyond what all authenticated modes share: J0, the 32-bit counter, short messages."""

import functools

import numpy as np
import pytest

import twofishkit as tk
from tests.aead.table import reference_cipher
from twofishkit import InvalidNonce, InvalidTag
from twofishkit.modes import aead
from twofishkit.reference import authenticated
from twofishkit.reference.gf128 import ZERO_BLOCK, ghash_multiply
from twofishkit.slots import SHORT_AAD_BYTES, SHORT_BYTES

KEY = bytes(range(32))
NONCE = b"twelve bytes"


def inverse(h: int) -> int:
    """h^(2^128 - 2) in the field of GHASH."""
    result, power = 1 << 127, h
    for _ in range(127):
        power = ghash_multiply(power, power)
        result = ghash_multiply(result, power)
    return result


@functools.cache
def nonce_of_j0(j0: bytes) -> bytes:
    """The 16-byte nonce whose pre-counter block is j0: J0 = (nonce . H ^ lengths) . H."""
    h_inverse = inverse(int.from_bytes(reference_cipher(KEY).encrypt_block(ZERO_BLOCK), "big"))
    lengths = 8 * 16
    return ghash_multiply(ghash_multiply(int.from_bytes(j0, "big"), h_inverse) ^ lengths, h_inverse).to_bytes(
        16, "big"
    )


@functools.cache
def wrapping(k: int) -> tuple[bytes, bytes, bytes, bytes]:
    """(nonce, plaintext, ciphertext, tag) by the reference, J0 being k below the wrap."""
    nonce = nonce_of_j0(b"\xff" * 12 + (2**32 - 1 - k).to_bytes(4, "big"))
    plaintext = bytes(range(k, k + 96)) * 16 + b"tail"
    return nonce, plaintext, *authenticated.gcm_encrypt(reference_cipher(KEY), nonce, plaintext)


@pytest.mark.parametrize("k", [*range(18), *range(30, 35), *range(62, 67), *range(78, 82)])
def test_the_counter_wraps_inside_its_32_bits(backend, k):
    """At every place in a batch, and never a carry into the other 96 bits (all ones here)."""
    nonce, plaintext, ciphertext, tag = wrapping(k)
    gcm = tk.GCM(KEY)
    assert gcm.encrypt_detached(nonce, plaintext) == (ciphertext, tag)
    assert gcm.decrypt_detached(nonce, ciphertext, tag) == plaintext
    encryptor = gcm.encryptor(nonce)
    streamed = b"".join(encryptor.update(plaintext[i : i + 40]) for i in range(0, len(plaintext), 40))
    assert streamed + encryptor.finalize() == ciphertext
    assert encryptor.tag == tag


def test_the_crafted_nonces_do_wrap():
    h = reference_cipher(KEY).encrypt_block(ZERO_BLOCK)
    assert authenticated.gcm_j0(h, wrapping(0)[0]) == b"\xff" * 16


@pytest.mark.parametrize("n", [*range(1, 35), 47, 48, 49, 60, 256, 1000])
def test_nonces_of_any_length(backend, n):
    """Of 12 bytes they are taken as they are, of any other they are hashed."""
    nonce = bytes((7 * i + n) % 256 for i in range(n))
    expected = authenticated.gcm_encrypt(reference_cipher(KEY), nonce, b"plaintext", b"aad")
    assert tk.GCM(KEY).encrypt_detached(nonce, b"plaintext", b"aad") == expected


def test_an_empty_nonce_is_refused_everywhere():
    """bearssl-esp8266 23: with it E(J0), a part of each tag, would be H itself."""
    gcm = tk.GCM(KEY)
    for call in (
        lambda: gcm.encrypt(b"", b"data"),
        lambda: gcm.encrypt_detached(b"", b"data"),
        lambda: gcm.decrypt(b"", bytes(20)),
        lambda: gcm.decrypt_detached(b"", b"data", bytes(16)),
        lambda: gcm.encryptor(b""),
        lambda: gcm.decryptor(b""),
        lambda: tk.GMAC(KEY, b""),
        lambda: gcm.encrypt(np.empty(0, np.uint8), b"data"),
    ):
        with pytest.raises(InvalidNonce, match="nonce has 0 bytes; it must have at least 1 byte"):
            call()


def test_the_nonce_matters():
    """CyberChef 469: the IV had no effect."""
    assert len({tk.GCM(KEY).encrypt(bytes((i,)) * 12, bytes(32)) for i in range(50)}) == 50


def test_shorter_tags_are_beginnings_of_the_longest(backend):
    """CyberChef 1546, CryptX 47: 12-byte tags were refused, or not checked at all."""
    ciphertext, tag = tk.GCM(KEY).encrypt_detached(NONCE, b"plaintext", b"aad")
    for n in range(12, 17):
        gcm = tk.GCM(KEY, tag_length=n)
        assert gcm.encrypt(NONCE, b"plaintext", b"aad") == ciphertext + tag[:n]
        assert gcm.decrypt(NONCE, ciphertext + tag[:n], b"aad") == b"plaintext"
        for wrong in (ciphertext + tag[: n - 1], ciphertext + tag[: n + 1] + b"\0" * (n == 16)):
            with pytest.raises(InvalidTag):
                gcm.decrypt(NONCE, wrong, b"aad")


# --- Short messages ------------------------------------------------------------------------------

EDGES = (*range(70), *(SHORT_BYTES + d for d in range(-33, 34)))
AAD_EDGES = (0, 1, 15, 16, 17, 31, 32, 48, 63, 64, 65, 200, 255, 256, 257)


def test_short_and_long_ways_agree(backend):
    """The short way is taken for bytes; the general one for the same bytes in another type."""
    text, aad_text = bytes(i % 251 for i in range(3000)), bytes(range(256)) + b"x"
    for tag_length in (12, 16):
        gcm = tk.GCM(KEY, tag_length)
        for i, n in enumerate(EDGES[:: 11 if backend == "reference" else 1]):
            data, aad = text[:n], aad_text[: AAD_EDGES[i % len(AAD_EDGES)]]
            joined = aead.encrypt(gcm, NONCE, data, aad)
            assert gcm.encrypt(NONCE, data, aad) == joined
            assert gcm.decrypt(NONCE, joined, aad) == data
            assert aead.decrypt(gcm, NONCE, joined, aad) == data
            forged = joined[:-1] + bytes((joined[-1] ^ 1,))
            for decrypt in (gcm.decrypt, lambda *call: aead.decrypt(gcm, *call)):  # noqa: B023
                with pytest.raises(InvalidTag):
                    decrypt(NONCE, forged, aad)


LONG_EDGES = (4095, 4096, 4097, 4111, 4112, 8191, 8192, 12_288, 20_000)


def test_messages_longer_than_a_stretch(backend):
    """Text and aad around the stretches that kernels work on, and a nonce that is hashed, against NumPy."""
    rng = np.random.default_rng(8)
    for i, n in enumerate((0, 1, 100, *LONG_EDGES[: 1 if backend == "reference" else None])):
        data, aad = rng.integers(0, 256, n, np.uint8), rng.bytes((*LONG_EDGES, 0)[i % 10])
        nonce = NONCE + bytes(i % 3)
        with tk.backend.use("numpy"):
            expected = tk.GCM(KEY).encrypt(nonce, data.tobytes(), aad)
        gcm = tk.GCM(KEY)
        for kind in (bytes, bytearray, lambda given: np.frombuffer(given, np.uint8)):
            ciphertext, tag = gcm.encrypt_detached(nonce, data, kind(aad))
            assert ciphertext.tobytes() + tag == expected
            plain = gcm.decrypt_detached(nonce, ciphertext, tag, kind(aad))
            assert np.array_equal(plain, data)
        gcm.decrypt_detached(nonce, ciphertext, tag, aad, out=ciphertext)
        assert np.array_equal(ciphertext, data)


@pytest.mark.parametrize("n", [3000, 9001])
def test_every_part_of_a_longer_message_is_authenticated(backend, n):
    """And what is refused leaves out, in place or apart, as it was."""
    n = min(n, 100) if backend == "reference" else n
    data = np.random.default_rng(n).integers(0, 256, n, np.uint8)
    gcm = tk.GCM(KEY)
    ciphertext, tag = gcm.encrypt_detached(NONCE, data, b"aad")
    for at in (0, 17, n // 2, n - 1):
        forged = ciphertext.copy()
        forged[at] ^= 1 << at % 8
        before, out = forged.copy(), np.full(n, 7, np.uint8)
        for given in (out, forged):
            with pytest.raises(InvalidTag):
                gcm.decrypt_detached(NONCE, forged, tag, b"aad", out=given)
        assert np.array_equal(forged, before)
        assert (out == 7).all()
    for bit in range(0, 128, 7):
        wrong = bytearray(tag)
        wrong[bit // 8] ^= 1 << bit % 8
        with pytest.raises(InvalidTag):
            gcm.decrypt_detached(NONCE, ciphertext, bytes(wrong), b"aad")
    for nonce, aad in ((b"other  bytes", b"aad"), (NONCE, b"aae"), (NONCE, b"")):
        with pytest.raises(InvalidTag):
            gcm.decrypt_detached(nonce, ciphertext, tag, aad)


def test_every_aad_length_of_the_short_way(backend):
    gcm = tk.GCM(KEY)
    for n in range(SHORT_AAD_BYTES + 3):
        aad = bytes(i % 256 for i in range(n))
        assert gcm.encrypt(NONCE, b"text", aad) == aead.encrypt(gcm, NONCE, b"text", aad)
