"""EAX beyond what all authenticated modes share: nonces of any length, three separate MACs."""

import pytest

import twofishkit as tk
from tests.aead.table import reference_cipher
from twofishkit import InvalidTag
from twofishkit.reference import authenticated

KEY = bytes(range(24))


@pytest.mark.parametrize("n", [*range(50), 255, 256, 1000])
def test_nonces_of_any_length_even_none(backend, n):
    nonce = bytes((5 * i + n) % 256 for i in range(n))
    eax = tk.EAX(KEY)
    ciphertext, tag = authenticated.eax_encrypt(reference_cipher(KEY), nonce, b"plaintext", b"aad")
    assert eax.encrypt_detached(nonce, b"plaintext", b"aad") == (ciphertext, tag)
    assert eax.decrypt_detached(nonce, ciphertext, tag, b"aad") == b"plaintext"


def test_nonce_aad_and_ciphertext_are_not_interchangeable(backend):
    """Each has a MAC of its own: swapping two of them is another message."""
    eax = tk.EAX(KEY)
    ciphertext, tag = eax.encrypt_detached(b"0123456789abcdef", bytes(16), b"fedcba9876543210")
    assert eax.decrypt_detached(b"0123456789abcdef", ciphertext, tag, b"fedcba9876543210") == bytes(16)
    for nonce, text, aad in (
        (b"fedcba9876543210", ciphertext, b"0123456789abcdef"),
        (ciphertext, b"0123456789abcdef", b"fedcba9876543210"),
        (b"0123456789abcdef", b"fedcba9876543210", ciphertext),
    ):
        with pytest.raises(InvalidTag):
            eax.decrypt_detached(nonce, text, tag, aad)


def test_shorter_tags_are_beginnings_of_the_longest():
    ciphertext, tag = tk.EAX(KEY).encrypt_detached(b"nonce", b"plaintext")
    for n in range(8, 17):
        assert tk.EAX(KEY, tag_length=n).encrypt(b"nonce", b"plaintext") == ciphertext + tag[:n]
