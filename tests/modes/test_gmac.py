"""GMAC: GCM over associated data alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twofishkit as tk
from tests.aead.table import reference_cipher
from twofishkit import InvalidTag, StateError, UnsupportedType
from twofishkit.reference import authenticated

KEY = bytes(range(24))
NONCE = b"twelve bytes"


@given(
    message=st.binary(max_size=200),
    nonce=st.binary(min_size=1, max_size=40),
    cuts=st.lists(st.integers(0, 200), max_size=5).map(sorted),
)
def test_any_chunks_give_the_references_mac(backend, message, nonce, cuts):
    mac, edges = tk.GMAC(KEY, nonce), [0, *cuts, len(message)]
    for i in range(len(edges) - 1):
        assert mac.update(message[edges[i] : max(edges[i : i + 2])]) is mac
        assert mac.digest() == tk.GMAC(KEY, nonce).update(message[: max(edges[i : i + 2])]).digest()
    expected = authenticated.gmac(reference_cipher(KEY), nonce, message)
    assert mac.digest() == expected
    assert tk.GCM(KEY).encrypt(nonce, b"", message) == expected


def test_a_copy_goes_its_own_way(backend):
    mac = tk.GMAC(KEY, NONCE).update(b"common start, ")
    twin = mac.copy()
    mac.update(b"one")
    twin.update(b"two")
    assert mac.digest() == tk.GMAC(KEY, NONCE).update(b"common start, one").digest()
    assert twin.digest() == tk.GMAC(KEY, NONCE).update(b"common start, two").digest()


def test_verify_takes_the_whole_tag_only(backend):
    mac = tk.GMAC(KEY, NONCE).update(b"message")
    tag = mac.digest()
    mac.verify(tag)
    mac.verify(bytearray(tag))
    for at in range(16):
        with pytest.raises(InvalidTag):
            mac.verify(tag[:at] + bytes((tag[at] ^ 1,)) + tag[at + 1 :])
        with pytest.raises(InvalidTag, match=f"tag has {at} bytes; it must have 16"):
            mac.verify(tag[:at])
    with pytest.raises(InvalidTag):
        mac.verify(tag + b"\0")
    with pytest.raises(UnsupportedType):
        mac.verify("text")


def test_a_wiped_key_is_noticed():
    cipher = tk.Twofish(KEY)
    mac = tk.GMAC(cipher, NONCE).update(b"message")
    cipher.wipe()
    for call in (lambda: mac.update(b"more"), mac.digest, lambda: mac.verify(bytes(16))):
        with pytest.raises(StateError, match="wiped"):
            call()
    assert repr(mac) == "GMAC(<192-bit key>)"
