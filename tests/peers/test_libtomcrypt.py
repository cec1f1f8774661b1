"""Random messages in every mode, both ways, against libtomcrypt: as `test_differential`, one more peer."""

import os
import random
import sys

import pytest

from tests import vectors_io
from tests.peers import ours
from tests.peers.test_differential import SIZES, flipped, messages, one_way_and_back
from tests.peers.tomcrypt import MODES, Tomcrypt
from twofishkit.errors import InvalidTag

AEADS = ("gcm", "ocb", "eax", "ccm")


@pytest.fixture(scope="module")
def peer() -> Tomcrypt:
    found = Tomcrypt.find()
    if found is None:
        if os.environ.get("CI") == "true" and sys.platform == "linux":
            pytest.fail("CI on Linux must compare with libtomcrypt (see .ci/run)")
        pytest.skip("libtomcrypt is not installed on this machine")
    return found


@pytest.mark.parametrize("mode", MODES)
def test_adapter_gives_the_published_values(mode: str, peer: Tomcrypt) -> None:
    name = "ecb_kat.json" if mode == "ecb" else f"mode_{mode}.json"
    fitting = [v for v in vectors_io.vectors(name) if mode not in (*AEADS, "cmac") or len(v["tag"]) == 16]
    for vector in vectors_io.sample(tuple(fitting), 20):
        key, iv, aad = vector["key"], vector.get("iv", b""), vector.get("aad", b"")
        plaintext = vector.get("plaintext", b"")
        if mode in AEADS and not 8 <= len(iv) <= 13:
            continue
        sealed, tag = peer.encrypt(mode, key, iv, plaintext, aad)
        assert tag == vector.get("tag", b""), vector["id"]
        assert mode == "cmac" or sealed == vector["ciphertext"], vector["id"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bits", SIZES)
def test_same_ciphertext_and_each_reads_the_other(
    mode: str, bits: int, backend: str, seed: int, peer: Tomcrypt
) -> None:
    rng = random.Random(f"{seed} libtomcrypt {mode} {bits}")
    for message in messages(rng, mode, bits, backend):
        where = (
            f"TWOFISHKIT_SEED={seed}: {backend}, {mode}, {len(message.data)} bytes, iv of {len(message.iv)}"
        )
        one_way_and_back(peer, mode, message, where)


@pytest.mark.parametrize("mode", [*AEADS, "cmac"])
def test_both_refuse_what_was_altered(mode: str, seed: int, peer: Tomcrypt) -> None:
    rng = random.Random(f"{seed} libtomcrypt {mode} altered")
    key, iv, data = rng.randbytes(32), b"" if mode == "cmac" else rng.randbytes(12), rng.randbytes(45)
    ciphertext, tag = ours.encrypt(mode, key, iv, data)
    sealed = data if mode == "cmac" else ciphertext
    for text, check in ((sealed, flipped(tag, rng)), (flipped(sealed, rng), tag)):
        for decrypt in (ours.decrypt, peer.decrypt):
            with pytest.raises(InvalidTag):
                decrypt(mode, key, iv, text, b"", check)
