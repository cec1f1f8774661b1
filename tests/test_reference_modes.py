"""The modes of the reference: published Twofish vectors, and Wycheproof's with AES as cipher."""

import hashlib

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.modes import ECB

from tests.vectors_io import bulk, vectors, wycheproof
from twofishkit.errors import InvalidLength, InvalidNonce, InvalidPadding, InvalidParameter, InvalidTag
from twofishkit.reference import authenticated as auth
from twofishkit.reference import modes
from twofishkit.reference.block import expand_key

UNAUTHENTICATED = {
    "mode_cbc.json": (modes.cbc_encrypt, modes.cbc_decrypt),
    "mode_cfb.json": (modes.cfb_encrypt, modes.cfb_decrypt),
    "mode_cfb8.json": (modes.cfb8_encrypt, modes.cfb8_decrypt),
    "mode_ofb.json": (modes.ofb, modes.ofb),
    "mode_ctr.json": (modes.ctr, modes.ctr),
}
AEAD = {
    "GCM": (auth.gcm_encrypt, auth.gcm_decrypt),
    "CCM": (auth.ccm_encrypt, auth.ccm_decrypt),
    "EAX": (auth.eax_encrypt, auth.eax_decrypt),
    "OCB": (auth.ocb_encrypt, auth.ocb_decrypt),
}


class AES:
    """AES as the modes of the reference want a cipher."""

    def __init__(self, key):
        cipher = Cipher(algorithms.AES(key), ECB())
        self.encrypt_block = cipher.encryptor().update
        self.decrypt_block = cipher.decryptor().update


def halves(cipher, key):
    middle = len(key) // 2
    return cipher(key[:middle]), cipher(key[middle:])


@pytest.mark.parametrize("name", UNAUTHENTICATED)
def test_unauthenticated_modes(name):
    encrypt, decrypt = UNAUTHENTICATED[name]
    for vector in vectors(name):
        cipher = expand_key(vector["key"])
        assert encrypt(cipher, vector["iv"], vector["plaintext"]) == vector["ciphertext"], vector["id"]
        assert decrypt(cipher, vector["iv"], vector["ciphertext"]) == vector["plaintext"], vector["id"]


def test_ecb_messages():
    for vector in vectors("mode_ecbm.json"):
        cipher = expand_key(vector["key"])
        assert modes.ecb_encrypt(cipher, vector["plaintext"]) == vector["ciphertext"]
        assert modes.ecb_decrypt(cipher, vector["ciphertext"]) == vector["plaintext"]


def test_xts():
    for vector in vectors("mode_xts.json"):
        ciphers = halves(expand_key, vector["key"])
        assert modes.xts_encrypt(*ciphers, vector["iv"], vector["plaintext"]) == vector["ciphertext"]
        assert modes.xts_decrypt(*ciphers, vector["iv"], vector["ciphertext"]) == vector["plaintext"]


def test_pkcs7_samples():
    for vector in vectors("pbe_cbc.json"):
        padded = modes.cbc_decrypt(expand_key(vector["key"]), vector["iv"], vector["ciphertext"])
        assert padded == vector["plaintext"]
        assert modes.pkcs7_pad(modes.pkcs7_unpad(padded)) == padded


@pytest.mark.parametrize("mode", AEAD)
def test_aead(mode):
    encrypt, decrypt = AEAD[mode]
    for v in vectors(f"mode_{mode.lower()}.json"):
        cipher, length = expand_key(v["key"]), len(v["tag"])
        sealed = encrypt(cipher, v["iv"], v["plaintext"], v["aad"], length)
        assert sealed == (v["ciphertext"], v["tag"]), v["id"]
        opened = decrypt(cipher, v["iv"], v["ciphertext"], v["tag"], v["aad"], length)
        assert opened == v["plaintext"], v["id"]


def test_siv():
    for v in vectors("mode_siv.json"):
        ciphers = halves(expand_key, v["key"])
        sealed = auth.siv_encrypt(*ciphers, v["plaintext"], [v["aad"], v["iv"]])
        assert sealed == (v["ciphertext"], v["tag"]), v["id"]
        opened = auth.siv_decrypt(*ciphers, v["ciphertext"], v["tag"], [v["aad"], v["iv"]])
        assert opened == v["plaintext"], v["id"]


def test_cmac():
    for v in vectors("mode_cmac.json"):
        assert auth.cmac(expand_key(v["key"]), v["plaintext"]) == v["tag"], v["id"]


def test_accepted_and_rejected():
    for v in vectors("aead_reject.json"):
        if v["mode"] == "SIV":
            ciphers = halves(expand_key, v["key"])
            arguments = (v["ciphertext"], v["tag"], [v["aad"], v["iv"]])
            decrypt = auth.siv_decrypt
        else:
            ciphers = (expand_key(v["key"]),)
            arguments = (v["iv"], v["ciphertext"], v["tag"], v["aad"], len(v["tag"]))
            decrypt = AEAD[v["mode"]][1]
        if v["valid"]:
            assert decrypt(*ciphers, *arguments) == v["plaintext"], v["id"]
        else:
            with pytest.raises(InvalidTag):
                decrypt(*ciphers, *arguments)


def test_counter_fields():
    """Carry ends at the width; little-endian counts in the first bytes."""
    ones = b"\xff" * 16
    assert modes.next_counter(ones) == bytes(16)
    assert modes.next_counter(ones, 64) == b"\xff" * 8 + bytes(8)
    assert modes.next_counter(ones, 32) == b"\xff" * 12 + bytes(4)
    assert modes.next_counter(ones, 32, "little") == bytes(4) + b"\xff" * 12
    assert modes.next_counter(ones, 64, "little") == bytes(8) + b"\xff" * 8
    assert modes.next_counter(b"\xff" + bytes(15), 128, "little") == b"\0\1" + bytes(14)
    for v in vectors("peer_cases.json"):
        if v["mode"] == "CTR":
            result = modes.ctr(expand_key(v["key"]), v["iv"], v["pt"], v["ctr_bits"], v.get("endian", "big"))
            assert result == v["ct"], v["id"]


@pytest.mark.parametrize("length", [*range(16, 50)])
def test_xts_stealing_is_undone(length):
    ciphers = halves(expand_key, bytes(range(32)))
    data = bytes(range(length))
    assert modes.xts_decrypt(*ciphers, bytes(16), modes.xts_encrypt(*ciphers, bytes(16), data)) == data


def test_wrong_arguments():
    cipher = expand_key(bytes(16))
    for function in (modes.cbc_encrypt, modes.cbc_decrypt):
        with pytest.raises(InvalidLength, match="multiple of 16 bytes, not 17"):
            function(cipher, bytes(16), bytes(17))
    with pytest.raises(InvalidLength, match="at least 16 bytes, not 15"):
        modes.xts_encrypt(cipher, cipher, bytes(16), bytes(15))
    with pytest.raises(InvalidNonce):
        auth.gcm_encrypt(cipher, b"", b"")
    with pytest.raises(InvalidNonce):
        auth.ccm_encrypt(cipher, bytes(6), b"")
    with pytest.raises(InvalidNonce):
        auth.ocb_encrypt(cipher, bytes(16), b"")
    with pytest.raises(InvalidLength):
        auth.ccm_encrypt(cipher, bytes(13), bytes(65536))
    for mode, (encrypt, _) in AEAD.items():
        with pytest.raises(InvalidParameter):
            encrypt(cipher, bytes(12), b"", b"", 3 if mode == "CCM" else 7)
    with pytest.raises(InvalidTag):
        auth.siv_decrypt(cipher, cipher, b"", bytes(15))


@pytest.mark.parametrize(
    "padded",
    [b"", bytes(16), b"\x11" * 17, b"\x11" * 32, b"\1" * 15, bytes(14) + b"\1\2", b"\x07" * 6 + bytes(10)],
)
def test_bad_padding(padded):
    with pytest.raises(InvalidPadding):
        modes.pkcs7_unpad(padded)


@pytest.mark.parametrize(("size", "rest"), [(0, 16), (1, 15), (15, 1), (16, 16), (17, 15)])
def test_padding_is_one_to_sixteen_bytes(size, rest):
    padded = modes.pkcs7_pad(bytes(size))
    assert padded == bytes(size) + bytes([rest]) * rest
    assert modes.pkcs7_unpad(padded) == bytes(size)


# --- the same code with AES, against values by other people --------------------------------------


@pytest.mark.parametrize("mode", ["GCM", "CCM", "EAX"])
def test_aes_aead(mode):
    encrypt, decrypt = AEAD[mode]
    for t in wycheproof(f"aes_{mode.lower()}_test.json"):
        cipher, length = AES(t["key"]), t["group"]["tagSize"] // 8
        if t["result"] == "valid":
            assert encrypt(cipher, t["iv"], t["msg"], t["aad"], length) == (t["ct"], t["tag"]), t["tcId"]
            assert decrypt(cipher, t["iv"], t["ct"], t["tag"], t["aad"], length) == t["msg"], t["tcId"]
        else:
            with pytest.raises((InvalidTag, InvalidNonce, InvalidParameter)):
                decrypt(cipher, t["iv"], t["ct"], t["tag"], t["aad"], length)


def test_aes_siv():
    for t in wycheproof("aead_aes_siv_cmac_test.json"):
        ciphers, associated = halves(AES, t["key"]), [t["aad"], t["iv"]]
        if t["result"] == "valid":
            assert auth.siv_encrypt(*ciphers, t["msg"], associated) == (t["ct"], t["tag"]), t["tcId"]
            assert auth.siv_decrypt(*ciphers, t["ct"], t["tag"], associated) == t["msg"], t["tcId"]
        else:
            with pytest.raises(InvalidTag):
                auth.siv_decrypt(*ciphers, t["ct"], t["tag"], associated)
    for t in wycheproof("aes_siv_cmac_test.json"):
        ciphers, tag, ciphertext = halves(AES, t["key"]), t["ct"][:16], t["ct"][16:]
        if t["result"] == "valid":
            assert auth.siv_encrypt(*ciphers, t["msg"], [t["aad"]]) == (ciphertext, tag), t["tcId"]
        else:
            with pytest.raises(InvalidTag):
                auth.siv_decrypt(*ciphers, ciphertext, tag, [t["aad"]])


def test_aes_siv_without_any_associated_string():
    """RFC 5297 allows no string at all, which is not the same as one empty string."""
    ciphers = halves(AES, bytes(range(32)))
    bare, empty = (auth.siv_encrypt(*ciphers, b"message", strings) for strings in ([], [b""]))
    assert bare != empty
    assert auth.siv_decrypt(*ciphers, *bare) == b"message"


def test_aes_mac():
    for t in wycheproof("aes_cmac_test.json"):
        if len(t["key"]) not in (16, 24, 32):
            assert t["result"] == "invalid"
            continue
        tag = auth.cmac(AES(t["key"]), t["msg"])[: t["group"]["tagSize"] // 8]
        assert (tag == t["tag"]) == (t["result"] == "valid"), t["tcId"]
    for t in wycheproof("aes_gmac_test.json"):
        tag = auth.gmac(AES(t["key"]), t["iv"], t["msg"], t["group"]["tagSize"] // 8)
        assert (tag == t["tag"]) == (t["result"] == "valid"), t["tcId"]


def test_aes_cbc_with_padding():
    for t in wycheproof("aes_cbc_pkcs5_test.json"):
        cipher = AES(t["key"])
        if t["result"] == "valid":
            assert modes.cbc_encrypt(cipher, t["iv"], modes.pkcs7_pad(t["msg"])) == t["ct"], t["tcId"]
        else:
            with pytest.raises((InvalidPadding, InvalidLength)):
                modes.pkcs7_unpad(modes.cbc_decrypt(cipher, t["iv"], t["ct"]))


def test_aes_xts():
    for t in wycheproof("aes_xts_test.json"):
        ciphers, tweak = halves(AES, t["key"]), t["iv"].ljust(16, b"\0")
        assert modes.xts_encrypt(*ciphers, tweak, t["msg"]) == t["ct"], t["tcId"]
        assert modes.xts_decrypt(*ciphers, tweak, t["ct"]) == t["msg"], t["tcId"]


# --- bulk data -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("vector", vectors("large_digest.json"), ids=lambda v: v["id"])
def test_bulk_data(vector):
    check_bulk(vector)


@pytest.mark.parametrize("mode", ["ECB", "XTS", "OCB", "EAX"])
def test_bulk_data_of_64_kib(mode):
    check_bulk(
        min((v for v in vectors("large_digest.json") if v["mode"] == mode), key=lambda v: v["plaintext_len"])
    )


def check_bulk(v):
    plaintext = bulk(v["plaintext_rule"], v["id"] + "/pt", v["plaintext_len"])
    assert hashlib.sha256(plaintext).hexdigest() == v["plaintext_sha256"]
    tag = None
    if v["mode"] in ("XTS", "SIV"):
        ciphers = halves(expand_key, v["key"])
    else:
        ciphers = (expand_key(v["key"]),)
    if v.get("aad_rule") == "same":
        aad = plaintext
    else:
        aad = bulk("shake", v["id"] + "/aad", v.get("aad_len", 0))
    if v["mode"] == "ECB":
        ciphertext = modes.ecb_encrypt(*ciphers, plaintext)
    elif v["mode"] == "XTS":
        ciphertext = modes.xts_encrypt(*ciphers, v["iv"], plaintext)
    elif v["mode"] == "SIV":
        ciphertext, tag = auth.siv_encrypt(*ciphers, plaintext, [aad, v["iv"]])
    elif v["mode"] in AEAD:
        ciphertext, tag = AEAD[v["mode"]][0](*ciphers, v["iv"], plaintext, aad, len(v["tag"]))
    else:
        encrypt, _ = UNAUTHENTICATED[f"mode_{v['mode'].lower()}.json"]
        ciphertext = encrypt(*ciphers, v["iv"], plaintext)
    assert tag == v.get("tag")
    assert ciphertext[-32:] == v["ciphertext_last32"]
    assert hashlib.sha256(ciphertext).hexdigest() == v["ciphertext_sha256"]
