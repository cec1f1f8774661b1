"""Random messages in every mode, both ways, against every implementation this machine has.

For each message twofishkit and the peer must give the same ciphertext and tag, and each must read
the other's. Keys, IVs, associated data and contents are random; lengths are all of 0 to 100 bytes
and a few beyond a batch of any backend.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.peers import ours
from tests.peers.conftest import lacking, the_peer
from twofishkit import backend as backends
from twofishkit.errors import InvalidTag
from twofishkit.testing import peers

SIZES = (128, 192, 256)
#: What each peer is known to have; an adapter that loses a mode must not go unnoticed.
HAS = {
    "libgcrypt": {mode: (128, 256) for mode in peers.MODES},
    "botan": {mode: SIZES for mode in peers.MODES},
    "nettle": {mode: SIZES for mode in peers.MODES if mode not in ("ofb", "ocb", "siv")},
    "oxifish": {
        **{mode: SIZES for mode in ("ecb", "cbc", "cfb", "ofb", "ctr")},
        "xts": (128, 256),
    },
}
COMBINATIONS = [(peer, mode, bits) for peer, has in HAS.items() for mode in has for bits in has[mode]]

#: Botan 2 calls an empty CBC ciphertext an error.
REFUSES_NOTHING = ("botan", "cbc")
WHOLE_BLOCKS = ("ecb", "cbc")
TWO_KEYS = ("xts", "siv")
IV_LENGTHS = {
    "ecb": (0,),
    "cmac": (0,),
    "gcm": (12, 12, 1, 8, 16, 17, 33),
    "ocb": (12, 12, 8, 15),
    "eax": (16, 12, 1, 33),
    "ccm": (12, 7, 11, 13),
    "siv": (16, 12, 1),
}


@dataclass(frozen=True)
class Message:
    key: bytes
    iv: bytes
    data: bytes
    aad: bytes


def lengths(mode: str, backend: str) -> list[int]:
    """Message lengths; fewer for the slow reference and for modes that go byte by byte."""
    small = list(range(101)) if backend != "reference" else list(range(0, 101, 9))
    large = {"reference": [300], "numpy": [1000, 2064]}.get(backend, [1000, 4099, 20_000])
    if mode == "cfb8" or (backend == "numpy" and mode not in ("ecb", "ctr", "xts", "gcm", "ocb")):
        large = [300]
    found = small + large
    if mode in WHOLE_BLOCKS:
        found = sorted({n - n % 16 for n in found})
    return [n for n in found if n >= 16] if mode == "xts" else found


def messages(rng: random.Random, mode: str, bits: int, backend: str) -> Iterator[Message]:
    key_bytes = bits // 8 * (2 if mode in TWO_KEYS else 1)
    for length in lengths(mode, backend):
        aad_length = rng.choice((0, 1, 15, 16, 17, 40)) if mode in peers.AEADS else 0
        yield Message(
            rng.randbytes(key_bytes),
            rng.randbytes(rng.choice(IV_LENGTHS.get(mode, (16,)))),
            rng.randbytes(length),
            rng.randbytes(aad_length),
        )


def one_way_and_back(peer: peers.Peer, mode: str, message: Message, where: str) -> None:
    """Our ciphertext is the peer's, and both read it."""
    key, iv, data, aad = message.key, message.iv, message.data, message.aad
    ciphertext, tag = ours.encrypt(mode, key, iv, data, aad)
    theirs = peer.encrypt(mode, key, iv, data, aad)
    assert (ciphertext.hex(), tag.hex()) == (theirs[0].hex(), theirs[1].hex()), where
    # CMAC verifies the message itself: there is no ciphertext.
    sealed = data if mode == "cmac" else ciphertext
    assert ours.decrypt(mode, key, iv, sealed, aad, tag) == data, where
    assert peer.decrypt(mode, key, iv, sealed, aad, tag) == data, where


@pytest.mark.parametrize(("peer_name", "mode", "bits"), COMBINATIONS)
def test_same_ciphertext_and_each_reads_the_other(
    peer_name: str, mode: str, bits: int, backend: str, seed: int
) -> None:
    peer = the_peer(peer_name)
    if not peer.supports(mode, bits):
        lacking(f"{peer_name} {peer.version} has no {mode} with {bits}-bit keys", peer_name)
    rng = random.Random(f"{seed} {peer_name} {mode} {bits}")
    for message in messages(rng, mode, bits, backend):
        if not message.data and (peer_name, mode) == REFUSES_NOTHING:
            continue
        where = (
            f"TWOFISHKIT_SEED={seed}: {backend} and {peer_name} {peer.version}, {mode},"
            f" {len(message.data)} bytes, iv of {len(message.iv)}, aad of {len(message.aad)}"
        )
        one_way_and_back(peer, mode, message, where)


@pytest.mark.parametrize("peer_name", ["libgcrypt", "botan", "nettle"])
@pytest.mark.parametrize("bits", [128, 256])
def test_gcm_with_every_ghash(peer_name: str, bits: int, ghash_name: str, seed: int) -> None:
    peer = the_peer(peer_name)
    rng = random.Random(f"{seed} {peer_name} {ghash_name} {bits}")
    with backends.use(ghash=ghash_name):
        for message in messages(rng, "gcm", bits, "reference" if ghash_name == "reference" else "any"):
            where = f"TWOFISHKIT_SEED={seed}: GHASH {ghash_name} and {peer_name}, {len(message.data)} bytes"
            one_way_and_back(peer, "gcm", message, where)


@pytest.mark.parametrize(
    ("peer_name", "mode"),
    [(peer, mode) for peer, has in HAS.items() for mode in (*peers.AEADS, "cmac") if mode in has],
)
def test_both_refuse_what_was_altered(peer_name: str, mode: str, backend: str, seed: int) -> None:
    peer = the_peer(peer_name)
    rng = random.Random(f"{seed} {peer_name} {mode} altered")
    key = rng.randbytes(64 if mode in TWO_KEYS else 32)
    iv, data, aad = b"" if mode == "cmac" else rng.randbytes(12), rng.randbytes(45), rng.randbytes(20)
    ciphertext, tag = ours.encrypt(mode, key, iv, data, b"" if mode == "cmac" else aad)
    sealed = data if mode == "cmac" else ciphertext
    changes = {
        "tag": (sealed, aad, flipped(tag, rng)),
        "message": (flipped(sealed, rng), aad, tag),
    }
    if mode != "cmac":
        changes["associated data"] = (sealed, flipped(aad, rng), tag)
    for what, (text, associated, check) in changes.items():
        for name, decrypt in (("twofishkit", ours.decrypt), (peer_name, peer.decrypt)):
            try:
                decrypt(mode, key, iv, text, b"" if mode == "cmac" else associated, check)
            except InvalidTag:
                continue
            pytest.fail(f"TWOFISHKIT_SEED={seed}: {name} accepted an altered {what} in {mode}")


def flipped(data: bytes, rng: random.Random) -> bytes:
    """One random bit changed."""
    changed = bytearray(data)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)
