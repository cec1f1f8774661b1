"""The drop-in for the PyPI package ``twofish``, by published values and beside the package itself.

The package is built from PyPI by ``.ci/run``; TWOFISHKIT_ORIGINAL_TWOFISH names the directory that has
``twofish.py``. Locally: ``pip install --no-deps --target DIR twofish==0.3.0`` (needs a C compiler).
"""

import json
import os
import sys
from pathlib import Path

import pytest

from tests import vectors_io
from tests.processes import run
from twofishkit.compat.twofish import Twofish

#: The three checks that the package runs on itself: I = 3, 4 and 4 of the book's table, 128 to 256 bits.
SELF_TEST = (
    (
        "9F589F5CF6122C32B6BFEC2F2AE8C35A",
        "D491DB16E7B1C39E86CB086B789F5419",
        "019F9809DE1711858FAAC3A3BA20FBC3",
    ),
    (
        "88B2B2706B105E36B446BB6D731A1E88EFA71F788965BD44",
        "39DA69D6BA4997D585B6DC073CA341B2",
        "182B02D81497EA45F9DAACDC29193A65",
    ),
    (
        "D43BB7556EA32E46F2A282B7D45B4E0D57FF739D4DC92C1BD7FC01700CC8216F",
        "90AFE91BB288544F2C32DC239B2635E6",
        "6CB4561C40BF0A9705931CB6D408E7FA",
    ),
)


@pytest.mark.parametrize("case", SELF_TEST)
def test_self_test_of_the_package(backend, case):
    key, plaintext, ciphertext = map(bytes.fromhex, case)
    cipher = Twofish(key)
    assert cipher.encrypt(plaintext) == ciphertext
    assert cipher.decrypt(ciphertext) == plaintext


def test_published_vectors(backend):
    for vector in vectors_io.sample(vectors_io.vectors("ecb_kat.json"), 40):
        cipher = Twofish(vector["key"])
        assert cipher.encrypt(vector["plaintext"][:16]) == vector["ciphertext"][:16], vector["id"]
        assert cipher.decrypt(vector["ciphertext"][:16]) == vector["plaintext"][:16], vector["id"]


@pytest.mark.parametrize(
    ("key", "ciphertext"),
    [
        (b"k" * 5, "c1b8d73a7fec32c4f7f7ac76b311e1eb"),
        (b"k" * 17, "c7a43ad7690e27c19b5b985a5987efb0"),
        (bytes(16), "9f589f5cf6122c32b6bfec2f2ae8c35a"),
    ],
)
def test_short_keys_are_filled_up_with_zeros(key, ciphertext):
    assert Twofish(key).encrypt(bytes(16)).hex() == ciphertext


def outcome(call):
    """What a call gives: a value in hex, or the exception's built-in type and its text."""
    try:
        result = call()
    except Exception as error:
        (kind,) = (k.__name__ for k in (TypeError, ValueError) if isinstance(error, k))
        return [kind, str(error)]
    return result.hex() if isinstance(result, bytes) else "object"


#: Arguments as source text, so that both sides read the same; every key length, and mistakes.
KEYS = [repr(bytes(range(1, n + 1))) for n in range(34)] + ["'x' * 16", "bytearray(16)", "5", "None"]
BLOCKS = ["bytes(16)", "bytes(range(16))", "b''", "bytes(15)", "bytes(17)", "'x' * 16", "bytearray(16)", "7"]

SCRIPT = """
import importlib.machinery, json, sys, types
if sys.version_info >= (3, 12):  # the package finds its library with a module that is gone
    imp = types.ModuleType("imp")
    imp.find_module = lambda name: (None, importlib.machinery.PathFinder.find_spec(name).origin, None)
    sys.modules["imp"] = imp
import twofish
from tests.compat.test_twofish import BLOCKS, KEYS, outcome
def rows(Twofish):
    for key in KEYS:
        yield outcome(lambda: Twofish(eval(key)))
    cipher = Twofish(b"some key of 19 byte")
    for call in (cipher.encrypt, cipher.decrypt):
        for block in BLOCKS:
            yield outcome(lambda: call(eval(block)))
    for key in KEYS[1:33]:
        yield outcome(lambda: Twofish(eval(key)).encrypt(bytes(range(16))))
        yield outcome(lambda: Twofish(eval(key)).decrypt(bytes(range(16))))
theirs = list(rows(twofish.Twofish))
from twofishkit.compat.twofish import Twofish
ours = list(rows(Twofish))
twofish.Twofish = Twofish
twofish.self_test()  # the package's own test, of our class
print(json.dumps([theirs, ours]))
"""


def test_the_package_agrees():
    """Values, types of errors and their texts, for all key lengths and for every kind of mistake."""
    directory = os.environ.get("TWOFISHKIT_ORIGINAL_TWOFISH")
    if not directory or not Path(directory, "twofish.py").is_file():
        if os.environ.get("CI") == "true" and sys.platform == "linux":
            pytest.fail("CI on Linux must compare with the package twofish 0.3.0 (see .ci/run)")
        pytest.skip("TWOFISHKIT_ORIGINAL_TWOFISH does not name a directory with the package twofish 0.3.0")
    root = str(Path(__file__).resolve().parents[2])
    script = f"import sys\nsys.path[:0] = [{directory!r}, {root!r}]\n{SCRIPT}"
    theirs, ours = json.loads(run(script, "-Wignore"))
    assert theirs == ours
    assert sum(isinstance(row, str) for row in theirs) > 60
