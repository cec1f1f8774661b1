"""Messages of 64 KiB to 2 MiB, given by rule and checked by digest, under every backend."""

import hashlib

import numpy as np
import pytest

import twofishkit as tk
from tests.vectors_io import bulk, vectors
from twofishkit.composed import PIECE_BLOCKS

#: Modes of which at least one direction does block after block.
SERIAL_MODES = ("CBC", "CFB", "CFB8", "OFB", "EAX", "CCM", "SIV")

PIECE_BYTES = 16 * PIECE_BLOCKS

RECORDS = vectors("large_digest.json")


def crypt(v: dict, plaintext: np.ndarray, aad: bytes):
    """(ciphertext, tag, function that decrypts) of a vector, over arrays."""
    name, key, iv = v["mode"], v["key"], v["iv"]
    if name == "ECB":
        mode = tk.ECB(key)
        return mode.encrypt(plaintext), None, mode.decrypt
    if name == "XTS":
        mode = tk.XTS(key)
        return mode.encrypt(plaintext, iv), None, lambda data: mode.decrypt(data, iv)
    if name in ("CBC", "CFB", "CFB8", "OFB", "CTR"):
        mode = getattr(tk, name)(key, iv)
        return mode.encrypt(plaintext), None, mode.decrypt
    mode = tk.SIV(key) if name == "SIV" else getattr(tk, name)(key, tag_length=len(v["tag"]))
    ciphertext, tag = mode.encrypt_detached(iv, plaintext, aad)
    return ciphertext, tag, lambda data: mode.decrypt_detached(iv, data, tag, aad)


def check(v: dict, *, decrypting: bool = True) -> None:
    plaintext = bulk(v["plaintext_rule"], v["id"] + "/pt", v["plaintext_len"])
    assert hashlib.sha256(plaintext).hexdigest() == v["plaintext_sha256"], v["id"]
    aad = plaintext if v.get("aad_rule") == "same" else bulk("shake", v["id"] + "/aad", v.get("aad_len", 0))
    ciphertext, tag, decrypt = crypt(v, np.frombuffer(plaintext, np.uint8), aad)
    assert tag == v.get("tag"), v["id"]
    assert ciphertext[-32:].tobytes() == v["ciphertext_last32"], v["id"]
    assert hashlib.sha256(ciphertext).hexdigest() == v["ciphertext_sha256"], v["id"]
    if decrypting:
        assert decrypt(ciphertext).tobytes() == plaintext, v["id"]


def quick(backend: str, mode: str) -> list[dict]:
    """The vectors of a mode that a backend takes in the quick run: never none."""
    mine = sorted((v for v in RECORDS if v["mode"] == mode), key=lambda v: v["plaintext_len"])
    if backend == "reference":
        return mine[:1]
    if backend == "numpy" and mode in SERIAL_MODES:
        # The second is longer than the pieces in which the parallel direction works.
        return mine[:1] + [v for v in mine[1:] if v["plaintext_len"] > PIECE_BYTES][:1]
    return mine


@pytest.mark.parametrize("mode", sorted({v["mode"] for v in RECORDS}))
def test_bulk(backend, mode):
    """Both directions, except under the reference, whose other direction is in `test_all_bulk`."""
    for v in quick(backend, mode):
        check(v, decrypting=backend != "reference")


@pytest.mark.slow
@pytest.mark.parametrize("mode", sorted({v["mode"] for v in RECORDS}))
def test_all_bulk(backend, mode):
    """Also what the quick run leaves out: minutes under the slow backends."""
    for v in RECORDS:
        if v["mode"] == mode:
            check(v)
