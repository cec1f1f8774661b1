"""Forged messages: by class of forgery, always InvalidTag, never a byte of plaintext."""

import numpy as np
import pytest

from tests.aead.table import MODES
from twofishkit import InvalidTag, LimitExceeded
from twofishkit.modes import aead

SIZES = (0, 1, 16, 1000, aead.PIECE_BYTES, aead.PIECE_BYTES + 1, 3 * aead.PIECE_BYTES + 21)
AAD = b"header"

every_mode = pytest.mark.parametrize("mode", MODES, ids=str)


def nonce_for(mode, n):
    """A nonce under which the mode takes n bytes: long CCM nonces mean short messages."""
    return mode.nonce() if mode.name != "CCM" else mode.nonce()[:7]


def message(n):
    return np.random.default_rng(n).integers(0, 256, n, np.uint8)


@every_mode
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("scratch", [1 << 22, 0], ids=["copied", "decrypted twice"])
def test_out_is_as_it_was_and_right_afterwards(monkeypatch, mode, n, scratch):
    """In both ways of `decrypt_then_verify`; nobody waits here for messages that need the second."""
    monkeypatch.setattr(aead, "SCRATCH_BYTES", scratch)
    made, nonce, plaintext = mode.make(mode.key()), nonce_for(mode, n), message(n)
    ciphertext, tag = made.encrypt_detached(nonce, plaintext, AAD)
    forged = bytes((tag[0] ^ 1,)) + tag[1:]
    out = np.full(n, 0xA5, np.uint8)
    with pytest.raises(InvalidTag):
        made.decrypt_detached(nonce, ciphertext, forged, AAD, out=out)
    assert (out == 0xA5).all()
    assert made.decrypt_detached(nonce, ciphertext, tag, AAD, out=out) is out
    assert np.array_equal(out, plaintext)
    in_place = ciphertext.copy()
    with pytest.raises(InvalidTag):
        made.decrypt_detached(nonce, in_place, forged, AAD, out=in_place)
    assert np.array_equal(in_place, ciphertext)
    made.decrypt_detached(nonce, in_place, tag, AAD, out=in_place)
    assert np.array_equal(in_place, plaintext)
    assert np.array_equal(made.decrypt_detached(nonce, ciphertext, tag, AAD), plaintext)


@every_mode
def test_out_is_as_it_was_when_the_message_comes_in_one_piece(mode):
    made, nonce, plaintext = mode.make(mode.key()), nonce_for(mode, 5000), message(5000)
    joined = made.encrypt(nonce, plaintext, AAD)
    joined[100] ^= 0x80
    out = bytearray(b"\xa5" * 5000)
    with pytest.raises(InvalidTag):
        made.decrypt(nonce, joined, AAD, out=out)
    assert out == b"\xa5" * 5000
    before = joined.copy()
    for shift in (0, 3, 16):
        with pytest.raises(InvalidTag):
            made.decrypt(nonce, joined, AAD, out=joined[shift : shift + 5000])
        assert np.array_equal(joined, before)


@every_mode
@pytest.mark.parametrize("n", [0, 100, aead.PIECE_BYTES + 1])
def test_fresh_memory_is_wiped_or_never_written(mode, n):
    """Memory that nobody else sees may be decrypted into at once, and holds nothing afterwards."""
    made, nonce, plaintext = mode.make(mode.key()), nonce_for(mode, n), message(n)
    ciphertext, tag = made.encrypt_detached(nonce, plaintext, AAD)
    dst = np.full(n, 0xA5, np.uint8)
    aad = made._check_aad(AAD)
    with pytest.raises(InvalidTag):
        made._open(nonce, aad, ciphertext, bytes(len(tag)), dst, True)
    assert np.isin(dst, (0, 0xA5)).all()
    assert len(set(dst.tolist())) <= 1


@every_mode
@pytest.mark.parametrize("tag_length", [None, 0])
def test_a_tag_of_any_other_length_fails(backend, mode, tag_length):
    length = mode.tag_lengths[tag_length or -1]
    made = mode.make(mode.key(), length)
    ciphertext, tag = made.encrypt_detached(mode.nonce(), b"plaintext", AAD)
    assert len(tag) == length
    for wrong in {*range(18), 100} - {length}:
        with pytest.raises(InvalidTag, match=rf"tag has {wrong} bytes; it must have {length} "):
            made.decrypt_detached(mode.nonce(), ciphertext, (tag + bytes(100))[:wrong], AAD)


@every_mode
def test_every_truncation_and_extension_fails(backend, mode):
    made = mode.make(mode.key())
    joined = made.encrypt(mode.nonce(), bytes(range(40)), AAD)
    for n in range(len(joined)):
        with pytest.raises(InvalidTag):
            made.decrypt(mode.nonce(), joined[:n], AAD)
        with pytest.raises(InvalidTag):
            made.decrypt(mode.nonce(), joined[n + 1 :], AAD)
    for more in (b"\0", bytes(16), b"\x80"):
        with pytest.raises(InvalidTag):
            made.decrypt(mode.nonce(), joined + more, AAD)
        with pytest.raises(InvalidTag):
            made.decrypt(mode.nonce(), joined, AAD + more)
        with pytest.raises(InvalidTag):
            made.decrypt(mode.nonce(), more + joined, AAD)


@every_mode
def test_every_tag_length_is_verified_with_all_its_bytes(backend, mode):
    """Also the 12-byte tags that others refuse, and each byte of them."""
    for length in mode.tag_lengths:
        made = mode.make(mode.key(), length)
        ciphertext, tag = made.encrypt_detached(mode.nonce(), b"plaintext", AAD)
        assert made.decrypt_detached(mode.nonce(), ciphertext, tag, AAD) == b"plaintext"
        for at in range(length):
            forged = tag[:at] + bytes((tag[at] ^ 0x10,)) + tag[at + 1 :]
            with pytest.raises(InvalidTag):
                made.decrypt_detached(mode.nonce(), ciphertext, forged, AAD)
            with pytest.raises(InvalidTag):
                made.decrypt(mode.nonce(), mode.joined(ciphertext, forged), AAD)


@every_mode
def test_parts_of_two_genuine_messages_do_not_mix(backend, mode):
    made = mode.make(mode.key())
    first = {"nonce": mode.nonce(), "aad": b"one"}
    second = {"nonce": mode.nonce()[::-1], "aad": b"two"}
    for text, parts in ((b"plaintext one", first), (b"plaintext two", second)):
        parts["ciphertext"], parts["tag"] = made.encrypt_detached(parts["nonce"], text, parts["aad"])
    for part in first:
        mixed = {**first, part: second[part]}
        with pytest.raises(InvalidTag):
            made.decrypt_detached(**mixed)
    other_key = mode.make(mode.key()[::-1])
    with pytest.raises(InvalidTag):
        other_key.decrypt_detached(**first)
    assert made.decrypt_detached(**first) == b"plaintext one"


@every_mode
def test_borders_between_aad_and_data_are_authenticated(backend, mode):
    """The same bytes, cut elsewhere, are another message."""
    made = mode.make(mode.key())
    ciphertext, tag = made.encrypt_detached(mode.nonce(), bytes(32), bytes(32))
    with pytest.raises(InvalidTag):
        made.decrypt_detached(mode.nonce(), ciphertext[16:], tag, bytes(32) + ciphertext[:16])
    with pytest.raises(InvalidTag):
        made.decrypt_detached(mode.nonce(), bytes(16) + ciphertext, tag, bytes(16))


@every_mode
def test_data_shorter_than_a_tag_is_refused_by_length(mode):
    made = mode.make(mode.key())
    with pytest.raises(InvalidTag, match="data has 15 bytes, too few to hold a tag of 16 bytes"):
        made.decrypt(mode.nonce(), bytes(15))


def test_a_message_beyond_the_limit_is_no_forgery():
    ccm = next(mode for mode in MODES if mode.name == "CCM")
    with pytest.raises(LimitExceeded):
        ccm.make(ccm.key()).decrypt_detached(bytes(13), bytes(65536), bytes(16))
