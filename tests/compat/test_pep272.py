"""`twofishkit.compat.pep272`: Twofish's values, and what sequences of random calls do not cover."""

import re

import numpy as np
import pytest
from Crypto.Cipher import AES

import twofishkit as tk
from tests import vectors_io
from twofishkit.compat import pep272
from twofishkit.errors import InvalidTag, StateError

KEY = bytes(range(32))
#: Both modules meet the same contract; AES shows that it is pycryptodome's and not one of our making.
MODULES = pytest.mark.parametrize("module", [pep272, AES], ids=["twofishkit", "pycryptodome"])

FILES = {
    "ecb": (pep272.MODE_ECB, {}),
    "cbc": (pep272.MODE_CBC, {}),
    "cfb": (pep272.MODE_CFB, {"segment_size": 128}),
    "cfb8": (pep272.MODE_CFB, {"segment_size": 8}),
    "ofb": (pep272.MODE_OFB, {}),
    "gcm": (pep272.MODE_GCM, {}),
    "eax": (pep272.MODE_EAX, {}),
    "ccm": (pep272.MODE_CCM, {}),
    "ocb": (pep272.MODE_OCB, {}),
}


@pytest.mark.parametrize("name", FILES)
def test_published_vectors(name, backend):
    mode, parameters = FILES[name]
    for vector in vectors_io.sample(
        vectors_io.vectors(f"mode_{name}.json" if name != "ecb" else "ecb_kat.json"), 25
    ):
        if not vector.get("iv") and name != "ecb":
            continue
        given = (
            {**parameters}
            if name == "ecb"
            else {**parameters, "nonce" if "tag" in vector else "iv": vector["iv"]}
        )
        if "tag" in vector:
            given["mac_len"] = len(vector["tag"])
        cipher = pep272.new(vector["key"], mode, **given)
        back = pep272.new(vector["key"], mode, **given)
        if "tag" not in vector:
            assert cipher.encrypt(vector["plaintext"]) == vector["ciphertext"], vector["id"]
            assert back.decrypt(vector["ciphertext"]) == vector["plaintext"], vector["id"]
            continue
        cipher.update(vector["aad"])
        back.update(vector["aad"])
        sealed = cipher.encrypt_and_digest(vector["plaintext"])
        assert sealed == (vector["ciphertext"], vector["tag"]), vector["id"]
        assert back.decrypt_and_verify(vector["ciphertext"], vector["tag"]) == vector["plaintext"], vector[
            "id"
        ]


TUTORIAL = """
from Crypto.Cipher import Twofish
from Crypto.Random import get_random_bytes
from Crypto.Util.Padding import pad, unpad

key = get_random_bytes(32)
cipher = Twofish.new(key, Twofish.MODE_CBC)
ciphertext = cipher.iv + cipher.encrypt(pad(b"attack at dawn", Twofish.block_size))
cipher = Twofish.new(key, Twofish.MODE_CBC, iv=ciphertext[:16])
plaintext = unpad(cipher.decrypt(ciphertext[16:]), Twofish.block_size)

cipher = Twofish.new(key, Twofish.MODE_EAX)
nonce = cipher.nonce
secret, tag = cipher.encrypt_and_digest(plaintext)
cipher = Twofish.new(key, Twofish.MODE_EAX, nonce)
result = cipher.decrypt(secret)
cipher.verify(tag)
"""


def test_the_snippet_of_tutorials_works_after_one_line():
    line = "from Crypto.Cipher import Twofish"
    assert TUTORIAL.count(line) == 1
    names = {}
    exec(TUTORIAL.replace(line, "from twofishkit.compat import pep272 as Twofish"), names)
    assert names["plaintext"] == names["result"] == b"attack at dawn"


@MODULES
def test_module_attributes(module):
    assert module.block_size == 16
    assert tuple(module.key_size) == (16, 24, 32)
    numbers = [module.MODE_ECB, module.MODE_CBC, module.MODE_CFB, module.MODE_OFB, module.MODE_CTR]
    numbers += [module.MODE_OPENPGP, module.MODE_CCM, module.MODE_EAX, module.MODE_SIV]
    numbers += [module.MODE_GCM, module.MODE_OCB]
    assert numbers == [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12]


MISTAKES = [
    ("key of 15 bytes", lambda m: m.new(bytes(15), 1), ValueError),
    ("key of text", lambda m: m.new("x" * 16, 1), TypeError),
    ("no such mode", lambda m: m.new(KEY, 4), ValueError),
    ("no such mode either", lambda m: m.new(KEY, 99), ValueError),
    ("mode by name", lambda m: m.new(KEY, "CBC", bytes(16)), ValueError),
    ("segment size 0", lambda m: m.new(KEY, 3, bytes(16), segment_size=0), ValueError),
    ("segment size of text", lambda m: m.new(KEY, 3, bytes(16), segment_size="8"), TypeError),
    ("segment size not an integer",
     lambda m: m.new(KEY, 3, bytes(16), segment_size=8.0).encrypt(b"abc"), TypeError),
    ("message length below 0", lambda m: m.new(KEY, 8, bytes(11), msg_len=-1).encrypt(b""), ValueError),
    ("message length of text", lambda m: m.new(KEY, 8, bytes(11), msg_len="5"), TypeError),
    ("tag length of text", lambda m: m.new(KEY, 8, bytes(11), mac_len="4"), TypeError),
    ("initial value of text",
     lambda m: m.new(KEY, 6, nonce=bytes(8), initial_value="x" * 8).encrypt(b"a"), TypeError),
    ("counter a function", lambda m: m.new(KEY, 6, counter=lambda: bytes(16)), TypeError),
    ("no tag", lambda m: m.new(KEY, 11, bytes(12)).verify(None), TypeError),
    ("tag not in hexadecimal", lambda m: m.new(KEY, 11, bytes(12)).hexverify("zz"), ValueError),
    ("associated data of text", lambda m: m.new(KEY, 11, bytes(12)).update("x"), TypeError),
    ("no data", lambda m: m.new(KEY, 11, bytes(12)).encrypt(None), TypeError),
    ("IV in ECB", lambda m: m.new(KEY, 1, bytes(16)), TypeError),
    ("two IVs", lambda m: m.new(KEY, 2, bytes(16), bytes(16)), TypeError),
    ("two nonces", lambda m: m.new(KEY, 11, bytes(16), bytes(16)), TypeError),
    ("positional in CTR", lambda m: m.new(KEY, 6, bytes(8)), TypeError),
    ("iv and IV", lambda m: m.new(KEY, 2, iv=bytes(16), IV=bytes(16)), TypeError),
    ("IV twice", lambda m: m.new(KEY, 2, bytes(16), iv=bytes(16)), TypeError),
    ("text as IV", lambda m: m.new(KEY, 2, iv="x" * 16), TypeError),
    ("unknown keyword", lambda m: m.new(KEY, 2, iv=bytes(16), padding="pkcs7"), TypeError),
    ("nonce in CBC", lambda m: m.new(KEY, 2, nonce=bytes(16)), TypeError),
    ("iv in GCM", lambda m: m.new(KEY, 11, iv=bytes(16)), TypeError),
    ("iv in CTR", lambda m: m.new(KEY, 6, iv=bytes(16)), TypeError),
    ("iv in OCB", lambda m: m.new(KEY, 12, iv=bytes(16)), TypeError),
    ("unknown keyword in ECB", lambda m: m.new(KEY, 1, iv=bytes(16)), TypeError),
    ("unknown keyword in EAX", lambda m: m.new(KEY, 9, nonce=bytes(16), tag=16), TypeError),
    ("unknown keyword in CCM", lambda m: m.new(KEY, 8, nonce=bytes(11), tag=16), TypeError),
    ("unknown keyword in SIV", lambda m: m.new(KEY, 10, nonce=bytes(11), tag=16), TypeError),
    ("key of SIV", lambda m: m.new(bytes(16), 10), ValueError),
    ("counter and nonce", lambda m: m.new(KEY, 6, counter={}, nonce=bytes(8)), TypeError),
    ("no counter object", lambda m: m.new(KEY, 6, counter={"prefix": b""}), TypeError),
    ("counter of text", lambda m: m.new(KEY, 6, nonce=bytes(8), initial_value=bytes(7)), ValueError),
    ("initial value too large", lambda m: m.new(KEY, 6, nonce=bytes(8), initial_value=1 << 64), ValueError),
    ("text as data", lambda m: m.new(KEY, 2, iv=bytes(16)).encrypt("x" * 16), TypeError),
    ("half a block", lambda m: m.new(KEY, 1).encrypt(bytes(8)), ValueError),
    ("output too short", lambda m: m.new(KEY, 1).encrypt(bytes(16), output=bytearray(15)), ValueError),
    ("output too long", lambda m: m.new(KEY, 6).encrypt(bytes(16), output=bytearray(17)), ValueError),
    ("output read-only", lambda m: m.new(KEY, 1).encrypt(bytes(16), output=bytes(16)), TypeError),
    ("output a read-only view", lambda m: m.new(KEY, 3).decrypt(b"", output=memoryview(b"")), TypeError),
    ("output in OCB", lambda m: m.new(KEY, 12).encrypt(bytes(16), output=bytearray(16)), TypeError),
    ("encrypt in SIV", lambda m: m.new(KEY, 10).encrypt(b""), TypeError),
    ("decrypt in SIV", lambda m: m.new(KEY, 10).decrypt(b""), TypeError),
    ("128 strings in SIV", lambda m: _many(m), TypeError),
    ("threads in CBC", lambda m: m.new(KEY, 2, iv=bytes(16), threads=1), TypeError),
]  # fmt: skip


def _many(module):
    cipher = module.new(KEY, 10)
    for _ in range(128):
        cipher.update(b"x")


@MODULES
@pytest.mark.parametrize(("call", "kind"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES])
def test_mistakes_have_the_same_kind_of_error(module, call, kind):
    with pytest.raises(kind) as caught:
        call(module)
    assert KEY.hex() not in str(caught.value)
    if module is pep272:
        assert isinstance(caught.value, tk.TwofishKitError)


@MODULES
def test_what_is_not_given_is_random_and_an_attribute(module):
    cases = [(2, "iv", 16), (3, "iv", 16), (5, "iv", 16), (7, "iv", 16), (6, "nonce", 8)]
    cases += [(8, "nonce", 11), (9, "nonce", 16), (11, "nonce", 16), (12, "nonce", 15)]
    for mode, name, size in cases:
        first, second = (getattr(module.new(KEY, mode), name) for _ in range(2))
        assert len(first) == len(second) == size
        assert first != second
    assert not hasattr(module.new(KEY, 10), "nonce")
    assert not hasattr(module.new(KEY, 1), "iv")


@MODULES
def test_hints_are_taken(module):
    plain, hinted = ({}, {"use_aesni": False, "threads": 2})
    results = [module.new(KEY, 6, nonce=bytes(8), **extra).encrypt(bytes(40)) for extra in (plain, hinted)]
    assert results[0] == results[1]
    results = [module.new(KEY, 11, nonce=bytes(8), **extra).encrypt_and_digest(bytes(40))
               for extra in ({}, {"use_clmul": False, "threads": 2})]  # fmt: skip
    assert results[0] == results[1]


@MODULES
@pytest.mark.parametrize("convert", [bytes, bytearray, memoryview], ids=lambda kind: kind.__name__)
def test_any_bytes_like_and_in_place(module, convert):
    data = bytes(range(64))
    expected = module.new(KEY, 2, iv=bytes(16)).encrypt(data)
    cipher = module.new(convert(KEY), 2, iv=convert(bytes(16)))
    assert cipher.encrypt(convert(data)) == expected
    buffer = bytearray(data)
    assert module.new(KEY, 2, iv=bytes(16)).encrypt(buffer, output=buffer) is None
    assert buffer == expected
    assert module.new(KEY, 2, iv=bytes(16)).decrypt(buffer, output=memoryview(buffer)) is None
    assert buffer == data


def test_arrays_are_data_too():
    array = np.arange(8.0).reshape(2, 4).T
    data = np.ascontiguousarray(array).tobytes()
    for mode in (pep272.MODE_ECB, pep272.MODE_CBC, pep272.MODE_GCM, pep272.MODE_OCB, pep272.MODE_EAX):
        parameters = (
            {}
            if mode == pep272.MODE_ECB
            else {"iv" if mode == pep272.MODE_CBC else "nonce": bytes(range(1, 16)) + b"x" * (mode == 2)}
        )
        assert pep272.new(KEY, mode, **parameters).encrypt(array) == pep272.new(
            KEY, mode, **parameters
        ).encrypt(data)
    out = np.empty(8)
    assert pep272.new(KEY, pep272.MODE_CTR, nonce=b"").encrypt(np.arange(8.0), output=out) is None
    assert out.tobytes() == tk.CTR(KEY, bytes(16)).encrypt(np.arange(8.0)).tobytes()


def test_keys_may_be_expanded_already():
    cipher = tk.Twofish(KEY)
    for mode in (pep272.MODE_ECB, pep272.MODE_OCB):
        parameters = {} if mode == pep272.MODE_ECB else {"nonce": bytes(12)}
        assert pep272.new(cipher, mode, **parameters).encrypt(bytes(32)) == pep272.new(
            KEY, mode, **parameters
        ).encrypt(bytes(32))


@MODULES
def test_refused_tags(module):
    for mode in (8, 9, 11, 12, 10):
        nonce = bytes(12)
        ciphertext, tag = module.new(KEY, mode, nonce=nonce).encrypt_and_digest(b"some message")
        assert module.new(KEY, mode, nonce=nonce).decrypt_and_verify(ciphertext, tag) == b"some message"
        for wrong in (tag[:-1], tag + b"\0", b"", bytes(16)):
            with pytest.raises(ValueError, match=re.escape("MAC check failed")) as caught:
                module.new(KEY, mode, nonce=nonce).decrypt_and_verify(ciphertext, wrong)
            assert module is AES or isinstance(caught.value, InvalidTag)


def test_no_plaintext_is_left_in_output_after_a_refused_tag():
    for mode in (8, 9, 11, 10):
        ciphertext, tag = pep272.new(KEY, mode, nonce=bytes(12)).encrypt_and_digest(b"some message")
        output = bytearray(12)
        with pytest.raises(InvalidTag):
            pep272.new(KEY, mode, nonce=bytes(12)).decrypt_and_verify(ciphertext, bytes(16), output=output)
        assert output == bytes(12)
        pep272.new(KEY, mode, nonce=bytes(12)).decrypt_and_verify(ciphertext, tag, output=output)
        assert output == b"some message"


def test_errors_belong_to_both_families():
    cipher = pep272.new(KEY, pep272.MODE_CBC, iv=bytes(16))
    cipher.encrypt(bytes(16))
    with pytest.raises(TypeError, match=re.escape("decrypt() cannot be called after encrypt()")) as caught:
        cipher.decrypt(bytes(16))
    assert isinstance(caught.value, StateError)
    with pytest.raises(OverflowError) as caught:
        pep272.new(KEY, pep272.MODE_CCM, nonce=bytes(13)).encrypt(bytes(1 << 16))
    assert isinstance(caught.value, tk.LimitExceeded | ValueError)


@MODULES
def test_openpgp_mode(module):
    cipher = module.new(KEY, module.MODE_OPENPGP, iv=bytes(range(16)))
    sealed = cipher.encrypt(b"first piece, ") + cipher.encrypt(b"second piece")
    assert len(sealed) == 18 + 25
    back = module.new(KEY, module.MODE_OPENPGP, sealed[:18])
    assert back.iv == bytes(range(16))
    assert back.decrypt(sealed[18:]) == b"first piece, second piece"
