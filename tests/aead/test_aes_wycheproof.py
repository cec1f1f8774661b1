"""The mode code with AES as block cipher, judged by Wycheproof: nothing is right only against ourselves.

Every case is used. A case outside of what twofishkit allows (an empty GCM nonce, a CCM tag of 5 bytes)
must be refused with a typed error, and the number of such cases is asserted, so that none is skipped.

Source: C2SP/wycheproof (see tests/vectors/README.md).
"""

from collections import Counter

import pytest

import twofishkit as tk
from tests.aes import AES
from tests.vectors_io import wycheproof
from twofishkit import InvalidNonce, InvalidParameter, InvalidTag
from twofishkit import backend as backends


@pytest.fixture
def ghash(ghash_name):
    """Each GHASH implementation in turn: the block cipher is OpenSSL's in any case."""
    with backends.use(ghash=ghash_name):
        yield ghash_name


def parameters(test):
    return test["iv"], test["msg"], test["aad"], test["ct"], test["tag"]


def check_aead(make, test) -> str:
    """What became of a case: "valid", "rejected" or "refused"."""
    nonce, plaintext, aad, ciphertext, tag = parameters(test)
    valid = test["result"] == "valid"
    try:
        mode = make(test["key"], len(tag))
        if valid:
            assert mode.encrypt_detached(nonce, plaintext, aad) == (ciphertext, tag), test["tcId"]
            assert mode.decrypt_detached(nonce, ciphertext, tag, aad) == plaintext, test["tcId"]
            joined = mode.encrypt(nonce, plaintext, aad)
            assert joined == (tag + ciphertext if mode._tag_first else ciphertext + tag), test["tcId"]
            assert mode.decrypt(nonce, joined, aad) == plaintext, test["tcId"]
            return "valid"
        with pytest.raises(InvalidTag):
            mode.decrypt_detached(nonce, ciphertext, tag, aad)
        with pytest.raises(InvalidTag):
            mode.decrypt(nonce, tag + ciphertext if mode._tag_first else ciphertext + tag, aad)
        return "rejected"
    except (InvalidNonce, InvalidParameter):
        assert not valid, test["tcId"]
        return "refused"


def streamed(mode, test) -> None:
    """A valid case again, in chunks of seven bytes."""
    nonce, plaintext, aad, ciphertext, tag = parameters(test)
    encryptor, decryptor = mode.encryptor(nonce, aad), mode.decryptor(nonce, aad)
    produced = b"".join(encryptor.update(plaintext[i : i + 7]) for i in range(0, len(plaintext), 7))
    assert produced + encryptor.finalize() == ciphertext, test["tcId"]
    assert encryptor.tag == tag, test["tcId"]
    for i in range(0, len(ciphertext), 7):
        decryptor.update(ciphertext[i : i + 7])
    assert decryptor.finalize(tag) == plaintext, test["tcId"]


def test_gcm(ghash):
    """Refused: the six cases with an empty nonce, which would reveal H."""
    outcomes = Counter()
    for test in wycheproof("aes_gcm_test.json"):
        outcome = check_aead(lambda key, n: tk.GCM(AES(key), n), test)
        assert (outcome == "refused") == (test["iv"] == b""), test["tcId"]
        if outcome == "valid":
            streamed(tk.GCM(AES(test["key"]), len(test["tag"])), test)
        outcomes[outcome] += 1
    assert outcomes == {"valid": 229, "rejected": 81, "refused": 6}


def test_gmac(ghash):
    outcomes = Counter()
    for test in wycheproof("aes_gmac_test.json"):
        valid = test["result"] == "valid"
        mac = tk.GMAC(AES(test["key"]), test["iv"]).update(test["msg"])
        if valid:
            assert mac.digest() == test["tag"], test["tcId"]
            mac.verify(test["tag"])
        else:
            with pytest.raises(InvalidTag):
                mac.verify(test["tag"])
        outcomes[valid] += 1
    assert outcomes == {True: 90, False: 324}


def test_ccm():
    """Refused: nonces outside of 7 to 13 bytes, and tags that are odd or shorter than 4 bytes."""
    outcomes = Counter()
    for test in wycheproof("aes_ccm_test.json"):
        outcome = check_aead(lambda key, n: tk.CCM(AES(key), n), test)
        outside = not 7 <= len(test["iv"]) <= 13 or len(test["tag"]) not in range(4, 17, 2)
        assert (outcome == "refused") == outside, test["tcId"]
        outcomes[outcome] += 1
    assert outcomes == {"valid": 405, "rejected": 81, "refused": 66}


def test_eax():
    outcomes = Counter()
    for test in wycheproof("aes_eax_test.json"):
        outcome = check_aead(lambda key, n: tk.EAX(AES(key), n), test)
        if outcome == "valid":
            streamed(tk.EAX(AES(test["key"])), test)
        outcomes[outcome] += 1
    assert outcomes == {"valid": 159, "rejected": 81}


def siv(key, tag_length=16):
    assert tag_length == 16
    half = len(key) // 2
    return tk.SIV((AES(key[:half]), AES(key[half:])))


def test_siv_with_a_nonce():
    outcomes = Counter(check_aead(siv, test) for test in wycheproof("aead_aes_siv_cmac_test.json"))
    assert outcomes == {"valid": 252, "rejected": 648}


def test_siv_without_a_nonce():
    outcomes = Counter()
    for test in wycheproof("aes_siv_cmac_test.json"):
        mode, valid = siv(test["key"]), test["result"] == "valid"
        if valid:
            assert mode.encrypt(None, test["msg"], test["aad"]) == test["ct"], test["tcId"]
            assert mode.decrypt(None, test["ct"], test["aad"]) == test["msg"], test["tcId"]
        else:
            with pytest.raises(InvalidTag):
                mode.decrypt(None, test["ct"], test["aad"])
        outcomes[valid] += 1
    assert outcomes == {True: 118, False: 324}


def test_cmac():
    """Refused: the five keys that AES does not have."""
    outcomes = Counter()
    for test in wycheproof("aes_cmac_test.json"):
        if len(test["key"]) not in (16, 24, 32):
            assert test["result"] == "invalid"
            with pytest.raises(tk.InvalidKey):
                tk.CMAC(test["key"])
            outcomes["refused"] += 1
            continue
        mac = tk.CMAC(AES(test["key"])).update(test["msg"])
        if test["result"] == "valid":
            assert mac.digest() == test["tag"], test["tcId"]
            mac.verify(test["tag"])
            outcomes["valid"] += 1
        else:
            with pytest.raises(InvalidTag):
                mac.verify(test["tag"])
            outcomes["rejected"] += 1
    assert outcomes == {"valid": 63, "rejected": 243, "refused": 5}
