"""CMAC: published values for AES, the reference for Twofish, chunks, copies, refusals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twofishkit as tk
from tests.aead.table import reference_cipher
from tests.aes import AES
from twofishkit import InvalidTag, StateError, UnsupportedType
from twofishkit.reference import authenticated

KEY = bytes(range(16))

# NIST SP 800-38B, appendix D.1 (AES-128): the first bytes of one message.
NIST_KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
NIST_MESSAGE = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
NIST_MACS = {
    0: "bb1d6929e95937287fa37d129b756746",
    16: "070a16b46b4d4144f79bdd9dd04a287c",
    40: "dfa66747de9ae63030ca32611497c827",
    64: "51f0bebf7e3b9d92fc49741779363cfe",
}


@pytest.mark.parametrize("n", NIST_MACS)
def test_the_examples_of_the_standard(n):
    assert tk.CMAC(AES(NIST_KEY)).update(NIST_MESSAGE[:n]).digest().hex() == NIST_MACS[n]


@given(
    key=st.sampled_from([bytes(range(n)) for n in (16, 24, 32)]),
    message=st.binary(max_size=200),
    cuts=st.lists(st.integers(0, 200), max_size=5).map(sorted),
)
def test_any_chunks_give_the_references_mac(backend, key, message, cuts):
    mac, edges = tk.CMAC(key), [0, *(min(cut, len(message)) for cut in cuts), len(message)]
    for i in range(len(edges) - 1):
        assert mac.update(message[edges[i] : edges[i + 1]]) is mac
        assert mac.digest() == tk.CMAC(key).update(message[: edges[i + 1]]).digest()
    assert mac.digest() == authenticated.cmac(reference_cipher(key), message)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 31, 32, 33, 48])
def test_a_copy_goes_its_own_way(backend, n):
    start = bytes(range(n))
    mac = tk.CMAC(KEY).update(start)
    twin = mac.copy()
    mac.update(b"one")
    assert twin.digest() == tk.CMAC(KEY).update(start).digest()
    twin.update(b"two")
    assert mac.digest() == tk.CMAC(KEY).update(start + b"one").digest()
    assert twin.digest() == tk.CMAC(KEY).update(start + b"two").digest()


def test_verify_takes_the_whole_tag_only(backend):
    mac = tk.CMAC(KEY).update(b"message")
    tag = mac.digest()
    mac.verify(tag)
    mac.verify(memoryview(tag))
    for at in range(16):
        with pytest.raises(InvalidTag):
            mac.verify(tag[:at] + bytes((tag[at] ^ 1,)) + tag[at + 1 :])
        with pytest.raises(InvalidTag, match=f"tag has {at} bytes; it must have 16"):
            mac.verify(tag[:at])
    with pytest.raises(InvalidTag):
        mac.verify(tag + b"\0")
    with pytest.raises(UnsupportedType):
        mac.update("text")


def test_a_wiped_key_is_noticed():
    cipher = tk.Twofish(KEY)
    mac = tk.CMAC(cipher).update(b"message")
    cipher.wipe()
    for call in (lambda: mac.update(b"more"), mac.digest, lambda: mac.verify(bytes(16))):
        with pytest.raises(StateError, match="wiped"):
            call()
    assert repr(mac) == "CMAC(<128-bit key>)"
