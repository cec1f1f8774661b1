"""SIV beyond what all authenticated modes share: lists of strings, no nonce, the masked last block."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twofishkit as tk
from tests.aead.table import reference_cipher
from tests.aes import AES
from twofishkit import InvalidKey, InvalidNonce, InvalidTag, UnsupportedType
from twofishkit.modes import aead
from twofishkit.reference import authenticated

KEY = bytes(range(100, 164))


def reference(strings, plaintext):
    """Tag and ciphertext, joined."""
    ciphers = reference_cipher(KEY[:32]), reference_cipher(KEY[32:])
    ciphertext, tag = authenticated.siv_encrypt(*ciphers, plaintext, strings)
    return tag + ciphertext


def test_the_examples_of_the_rfc():
    """RFC 5297, A.1 (deterministic) and A.2 (nonce-based), for AES."""
    key = bytes.fromhex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    siv = tk.SIV((AES(key[:16]), AES(key[16:])))
    aad = bytes(range(0x10, 0x28))
    plaintext = bytes.fromhex("112233445566778899aabbccddee")
    joined = "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c"
    assert siv.encrypt(None, plaintext, aad).hex() == joined
    assert siv.decrypt(None, bytes.fromhex(joined), aad) == plaintext

    key = bytes.fromhex("7f7e7d7c7b7a79787776757473727170404142434445464748494a4b4c4d4e4f")
    siv = tk.SIV((AES(key[:16]), AES(key[16:])))
    aad = [
        bytes.fromhex("00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100"),
        bytes.fromhex("102030405060708090a0"),
    ]
    nonce = bytes.fromhex("09f911029d74e35bd84156c5635688c0")
    plaintext = b"this is some plaintext to encrypt using SIV-AES"
    joined = (
        "7bdb6e3b432667eb06f4d14bff2fbd0fcb900f2fddbe404326601965c889bf17"
        "dba77ceb094fa663b7a3f748ba8af829ea64ad544a272e9c485b62a3fd5c0d"
    )
    assert siv.encrypt(nonce, plaintext, aad).hex() == joined
    assert siv.decrypt(nonce, bytes.fromhex(joined), aad) == plaintext


@given(
    strings=st.lists(st.binary(max_size=40), max_size=6),
    nonce=st.none() | st.binary(min_size=1, max_size=20),
    plaintext=st.binary(max_size=100),
)
def test_any_list_of_strings_equals_the_reference(backend, strings, nonce, plaintext):
    siv = tk.SIV(KEY)
    joined = reference(strings if nonce is None else [*strings, nonce], plaintext)
    assert siv.encrypt(nonce, plaintext, strings) == joined
    assert siv.encrypt(nonce, plaintext, tuple(strings)) == joined
    assert siv.decrypt(nonce, joined, strings) == plaintext


def test_an_empty_string_is_a_string_and_an_empty_list_holds_none(backend):
    siv = tk.SIV(KEY)
    assert siv.encrypt(None, b"text") == siv.encrypt(None, b"text", b"") == reference([b""], b"text")
    assert siv.encrypt(None, b"text", [b""]) == reference([b""], b"text")
    assert siv.encrypt(None, b"text", []) == reference([], b"text")
    assert siv.encrypt(None, b"text", []) != siv.encrypt(None, b"text", b"")


def test_borders_between_strings_are_authenticated():
    siv = tk.SIV(KEY)
    joined = siv.encrypt(None, b"text", [b"ab", b"c"])
    for strings in ([b"a", b"bc"], [b"abc"], [b"c", b"ab"], [b"ab", b"c", b""], [b"", b"ab", b"c"], [b"ab"]):
        with pytest.raises(InvalidTag):
            siv.decrypt(None, joined, strings)


def test_the_nonce_is_the_last_string():
    siv = tk.SIV(KEY)
    assert siv.encrypt(b"nonce", b"text", [b"one"]) == siv.encrypt(None, b"text", [b"one", b"nonce"])
    with pytest.raises(InvalidNonce, match="nonce has 0 bytes; it must have at least 1 byte, or be None"):
        siv.encrypt(b"", b"text")


def test_equal_messages_give_equal_results_and_any_difference_shows_everywhere():
    siv = tk.SIV(KEY)
    data = bytes(1000)
    assert siv.encrypt(None, data) == siv.encrypt(None, data)
    other = siv.encrypt(None, data[:-1] + b"\1")
    same = [a == b for a, b in zip(siv.encrypt(None, data), other, strict=True)]
    assert sum(same) < 30  # of 1016 bytes, 4 agree by chance


@pytest.mark.parametrize("n", [*range(50), *range(aead.PIECE_BYTES - 2, aead.PIECE_BYTES + 35)])
@pytest.mark.parametrize("scratch", [1 << 22, 0], ids=["copied", "decrypted twice"])
def test_the_masked_end_of_the_plaintext_in_pieces(monkeypatch, n, scratch):
    """The last 16 bytes may straddle blocks, and pieces of decryption."""
    monkeypatch.setattr(aead, "SCRATCH_BYTES", scratch)
    siv = tk.SIV(KEY)
    data = np.arange(n, dtype=np.uint32).astype(np.uint8)
    ciphertext, tag = siv.encrypt_detached(b"nonce", data, b"aad")
    for out in (None, np.empty(n, np.uint8), ciphertext):
        assert np.array_equal(siv.decrypt_detached(b"nonce", ciphertext, tag, b"aad", out=out), data)


def test_the_counter_starts_at_v_without_two_bits_and_carries():
    """RFC 5297, 2.5. With V all ones, the first carry already reaches the bits that were cleared."""
    siv = tk.SIV(KEY)
    message = siv._message(None, [], 64)
    message.start(b"\xff" * 16)
    assert message._counter.tobytes().hex() == "ffffffffffffffff7fffffff7fffffff"
    dst = np.zeros(64, np.uint8)
    message.crypt(dst, dst)
    cipher = reference_cipher(KEY[32:])
    start = int.from_bytes(bytes.fromhex("ffffffffffffffff7fffffff7fffffff"), "big")
    keystream = b"".join(cipher.encrypt_block((start + i).to_bytes(16, "big")) for i in range(4))
    assert dst.tobytes() == keystream


def test_strings_of_other_types_are_refused():
    siv = tk.SIV(KEY)
    for bad in ("text", [b"fine", "text"], [None], 5, [[b"nested"]], {b"set"}):
        with pytest.raises(UnsupportedType):
            siv.encrypt(None, b"text", bad)


def test_an_array_of_aad_is_one_string():
    siv = tk.SIV(KEY)
    array = np.arange(12, dtype=">u2").reshape(3, 4)
    assert siv.encrypt(None, b"text", array) == siv.encrypt(None, b"text", array.tobytes())
    assert siv.encrypt(None, b"text", list(array)) == reference([row.tobytes() for row in array], b"text")


def test_a_pair_of_keys_is_the_keys_joined():
    joined = tk.SIV(KEY).encrypt(b"nonce", b"text")
    assert tk.SIV((KEY[:32], KEY[32:])).encrypt(b"nonce", b"text") == joined
    assert tk.SIV((tk.Twofish(KEY[:32]), KEY[32:])).encrypt(b"nonce", b"text") == joined
    for bad in ((KEY[:32],), (KEY[:32], KEY[:16]), (KEY, KEY)):
        with pytest.raises(InvalidKey):
            tk.SIV(bad)
