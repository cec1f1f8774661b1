"""CCM beyond what all authenticated modes share: length fields and the encoding of aad's length."""

import pytest

import twofishkit as tk
from tests.aead.table import reference_cipher
from tests.aes import AES
from twofishkit.modes.ccm import encoded_aad_length
from twofishkit.reference import authenticated

KEY = bytes(range(32))
NIST_KEY = bytes(range(0x40, 0x50))


# NIST SP 800-38C, appendix C: nonce, aad, plaintext, tag length, ciphertext and tag (AES-128).
NIST_EXAMPLES = (
    (range(0x10, 0x17), bytes(range(8)), range(0x20, 0x24), 4, "7162015b4dac255d"),
    (
        range(0x10, 0x18),
        bytes(range(16)),
        range(0x20, 0x30),
        6,
        "d2a1f0e051ea5f62081a7792073d593d1fc64fbfaccd",
    ),
    (
        range(0x10, 0x1C),
        bytes(range(20)),
        range(0x20, 0x38),
        8,
        "e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5484392fbc1b09951",
    ),
    (
        range(0x10, 0x1D),
        bytes(range(256)) * 256,
        range(0x20, 0x40),
        14,
        "69915dad1e84c6376a68c2967e4dab615ae0fd1faec44cc484828529463ccf72b4ac6bec93e8598e7f0dadbcea5b",
    ),
)


@pytest.mark.parametrize("example", NIST_EXAMPLES, ids=lambda example: f"{example[3]}-byte tag")
def test_the_examples_of_the_standard(example):
    nonce, aad, plaintext, tag_length, expected = example
    ccm = tk.CCM(AES(NIST_KEY), tag_length)
    assert ccm.encrypt(bytes(nonce), bytes(plaintext), aad).hex() == expected
    assert ccm.decrypt(bytes(nonce), bytes.fromhex(expected), aad) == bytes(plaintext)


def test_the_three_encodings_of_aads_length():
    """SP 800-38C, A.2.2: 2, 6 or 10 bytes, and none without aad."""
    assert encoded_aad_length(0) == b""
    assert encoded_aad_length(1) == b"\0\1"
    assert encoded_aad_length(0xFEFF) == b"\xfe\xff"
    assert encoded_aad_length(0xFF00) == b"\xff\xfe\0\0\xff\0"
    assert encoded_aad_length(2**32 - 1) == b"\xff\xfe\xff\xff\xff\xff"
    assert encoded_aad_length(2**32) == b"\xff\xff\0\0\0\1\0\0\0\0"


@pytest.fixture(scope="module", params=[0xFEFE, 0xFEFF, 0xFF00, 0xFF01])
def long_aad(request):
    aad = bytes(i % 253 for i in range(request.param))
    return aad, authenticated.ccm_encrypt(reference_cipher(KEY), bytes(7), b"plaintext", aad)


def test_aad_around_the_first_change_of_encoding(backend, long_aad):
    aad, expected = long_aad
    assert tk.CCM(KEY).encrypt_detached(bytes(7), b"plaintext", aad) == expected


@pytest.mark.parametrize("nonce_bytes", range(7, 14))
@pytest.mark.parametrize("tag_length", range(4, 17, 2))
def test_every_pair_of_nonce_and_tag_length(backend, nonce_bytes, tag_length):
    nonce = bytes(range(nonce_bytes))
    ccm = tk.CCM(KEY, tag_length)
    for aad in (b"", bytes(13), bytes(14), bytes(15)):
        expected = authenticated.ccm_encrypt(reference_cipher(KEY), nonce, bytes(17), aad, tag_length)
        assert ccm.encrypt_detached(nonce, bytes(17), aad) == expected
        assert ccm.decrypt_detached(nonce, *expected, aad) == bytes(17)
