"""The adapters themselves, by published vectors: a wrong adapter must not blame twofishkit."""

import numpy as np
import pytest

from tests import vectors_io
from tests.peers.conftest import the_peer
from tests.peers.test_differential import HAS, TWO_KEYS
from twofishkit.testing import peers

FILES = {mode: f"mode_{mode}.json" for mode in peers.MODES} | {"ecb": "ecb_kat.json"}
#: Published vectors that a peer refuses, and why.
REFUSED = {
    ("oxifish", "xts"): lambda v: v["key"][:16] == v["key"][16:],  # equal key halves
    ("libgcrypt", "ocb"): lambda v: len(v["iv"]) < 8,  # short nonces
    ("botan", "ccm"): lambda v: len(v.get("aad", b"")) >= 0xFF00,  # long associated data
}


def applicable(peer: peers.Peer, mode: str) -> list[dict]:
    """The vectors of a mode that this peer can run: its key sizes, 16-byte tags, what it accepts."""
    refused = REFUSED.get((peer.name, mode), lambda vector: False)
    found = []
    for vector in vectors_io.vectors(FILES[mode]):
        bits = 8 * len(vector["key"]) // (2 if mode in TWO_KEYS else 1)
        whole_tag = mode not in (*peers.AEADS, "cmac") or len(vector["tag"]) == 16
        if whole_tag and peer.supports(mode, bits) and not refused(vector):
            found.append(vector)
    return found


@pytest.mark.parametrize(("name", "mode"), [(name, mode) for name, has in HAS.items() for mode in has])
def test_adapter_gives_the_published_values(name: str, mode: str) -> None:
    peer = the_peer(name)
    chosen = applicable(peer, mode)
    assert chosen
    for vector in vectors_io.sample(tuple(chosen), 60):
        key, iv, aad = vector["key"], vector.get("iv", b""), vector.get("aad", b"")
        plaintext = vector.get("plaintext", b"")
        expected = (vector.get("ciphertext", b"") if mode != "cmac" else b"", vector.get("tag", b""))
        assert peer.encrypt(mode, key, iv, plaintext, aad) == expected, vector["id"]
        sealed = plaintext if mode == "cmac" else expected[0]
        assert peer.decrypt(mode, key, iv, sealed, aad, expected[1]) == plaintext, vector["id"]


@pytest.mark.parametrize(("name", "mode"), [(name, mode) for name, has in HAS.items() for mode in has])
def test_bulk_call_processes_the_whole_buffer_each_time(name: str, mode: str) -> None:
    peer = the_peer(name)
    key = bytes(range(64 if mode in TWO_KEYS else 32))
    iv = bytes({"ecb": 0, "cmac": 0, "gcm": 12, "ocb": 12, "ccm": 12}.get(mode, 16))
    buffer = np.zeros(1024, np.uint8)
    call = peer.bulk(mode, key, iv, buffer)
    call()
    call()
    in_place = (
        name == "libgcrypt" or (name, mode) == ("botan", "ecb") or name == "nettle"
    ) and mode != "cmac"
    if in_place and (name, mode) != ("nettle", "ccm"):
        once, _ = peer.encrypt(mode, key, iv, bytes(1024))
        twice, _ = peer.encrypt(mode, key, iv, once)
        assert buffer.tobytes() == twice
    else:
        assert not buffer.any()


def test_an_empty_variable_hides_a_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, adapter in (("LIBGCRYPT", peers.Libgcrypt), ("BOTAN", peers.Botan), ("NETTLE", peers.Nettle)):
        monkeypatch.setenv(f"TWOFISHKIT_PEER_{name}", "")
        assert adapter.find() is None


def test_libgcrypt_refuses_192_bit_keys() -> None:
    assert not the_peer("libgcrypt").supports("ecb", 192)
