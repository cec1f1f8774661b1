"""Files that other programs wrote decipher to what they are known to hold.

Each region states mode, key, IV and place. The files made for this project are in the repository;
those of other projects are read from the shared data, and skipped where that is absent.
"""

import hashlib
from itertools import cycle

import pytest

import twofishkit as tk
from tests.lrw import lrw
from tests.vectors_io import VECTORS, document

FILES = document("real_files.json")["files"]
MODES = {"ECB", "CBC", "CFB128", "CFB8", "OFB", "CTR", "XTS", "LRW"}


def decipher(mode: str, key: bytes, iv: bytes | None, ciphertext: bytes) -> bytes:
    if mode == "ECB":
        return tk.ECB(key).decrypt(ciphertext)
    if mode == "XTS":
        return tk.XTS(key).decrypt(ciphertext, iv)
    if mode == "LRW":
        return lrw(key, iv, ciphertext, decrypting=True)
    return getattr(tk, "CFB" if mode == "CFB128" else mode)(key, iv).decrypt(ciphertext)


def ciphertext_of(region: dict, stored: bytes) -> bytes:
    """What goes into the Twofish stage: pieces of the file, or what another cipher left of them."""
    if "stage_input" in region:
        return bytes.fromhex(region["stage_input"])
    joined = b"".join(stored[offset : offset + length] for offset, length in region["pieces"])
    if "pre_xor" in region:
        return bytes(a ^ b for a, b in zip(joined, cycle(bytes.fromhex(region["pre_xor"])), strict=False))
    return joined


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read(entry: dict, request: pytest.FixtureRequest) -> bytes:
    path = VECTORS / entry["file"]
    if entry["license"] != "own data":
        path = request.getfixturevalue("shared_dir") / "vectors" / entry["file"]
    return path.read_bytes()


def test_the_table_is_complete():
    assert len(FILES) == document("real_files.json")["count"] == 55
    assert {region["mode"] for entry in FILES for region in entry["regions"]} == MODES
    assert all(entry["regions"] for entry in FILES)


@pytest.mark.parametrize("entry", FILES, ids=lambda entry: entry["id"])
def test_every_region(backend, entry, request):
    stored = read(entry, request)
    assert sha256(stored) == entry["sha256"]
    for number, region in enumerate(entry["regions"]):
        ciphertext = ciphertext_of(region, stored)
        assert sha256(ciphertext) == region["ciphertext_sha256"], number
        key, iv = bytes.fromhex(region["key"]), bytes.fromhex(region["iv"] or "")
        plaintext = decipher(region["mode"], key, iv, ciphertext)
        assert plaintext[:32].hex() == region["plaintext_first32"], number
        assert len(plaintext) == region["plaintext_len"], number
        assert sha256(plaintext) == region["plaintext_sha256"], number
        if region.get("padding") == "PKCS7":
            unpadded = tk.CBC(key, iv).decrypt(ciphertext, padding="pkcs7")
            assert sha256(unpadded) == region["unpadded_sha256"], number
            assert tk.CBC(key, iv).encrypt(unpadded, padding="pkcs7") == ciphertext, number
        if "payload_len" in region:
            assert sha256(plaintext[: region["payload_len"]]) == region["payload_sha256"], number


@pytest.mark.parametrize("entry", [e for e in FILES if any("stage_input" in r for r in e["regions"])])
def test_stages_of_cascades_without_their_files(backend, entry):
    """What the Twofish stage of a cascade reads is in the table, so this never skips."""
    for region in entry["regions"]:
        if "stage_input" in region:
            plaintext = decipher(
                region["mode"],
                bytes.fromhex(region["key"]),
                bytes.fromhex(region["iv"]),
                bytes.fromhex(region["stage_input"]),
            )
            assert sha256(plaintext) == region["plaintext_sha256"]
