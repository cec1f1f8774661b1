"""pyjks, the library for Java's keystores, with our class in the place of the package ``twofish``.

It requires that package, which does not import on Python 3.12: ``pip install --no-deps pyjks``, and
``javaobj-py3 pyasn1 pyasn1-modules``, as ``.ci/run`` does.
"""

import importlib
import os
import secrets
import sys

import pytest

import twofishkit as tk
import twofishkit.compat.twofish
from tests.recipes.conftest import FILES, load


@pytest.fixture
def jks(monkeypatch: pytest.MonkeyPatch):
    """The package, which looks for ``twofish`` when it needs it."""
    try:
        package = importlib.import_module("jks")
    except ImportError:
        if os.environ.get("CI") == "true" and sys.platform == "linux":
            pytest.fail("CI on Linux must have pyjks (see .ci/run)")
        pytest.skip("pyjks is not installed on this machine")
    monkeypatch.setitem(sys.modules, "twofish", twofishkit.compat.twofish)
    return package


def test_pyjks_reads_keystores(jks, real):
    entry = FILES["uber-custom_entry_passwords"]
    store = jks.UberKeyStore.loads(real(entry), entry["password"])
    for name in ("private", "public", "secret"):
        key = store.entries[f"sealed_{name}_key"]
        key.decrypt(f"{name}_password")
        assert key.is_decrypted()
    with pytest.raises(jks.DecryptionFailureException):
        jks.UberKeyStore.loads(real(entry), "wrong")
    empty = FILES["uber-empty"]
    assert jks.UberKeyStore.loads(real(empty), empty["password"]).entries == {}


def test_pyjks_encrypts_what_the_recipe_decrypts(jks):
    """Its own tests' way to encrypt, and the recipe's derivation of key and IV, with CBC of ours."""
    rfc7292, pkcs12_kdf = importlib.import_module("jks.rfc7292"), load("uber").pkcs12_kdf
    for length in (0, 15, 16, 1000):
        data, salt = secrets.token_bytes(length), secrets.token_bytes(20)
        sealed = rfc7292.encrypt_PBEWithSHAAndTwofishCBC(data, "some password", salt, 100)
        key, iv = (pkcs12_kdf(i, "some password", salt, 100, n) for i, n in ((1, 32), (2, 16)))
        assert tk.CBC(key, iv).decrypt(sealed, padding="pkcs7") == data
        assert rfc7292.decrypt_PBEWithSHAAndTwofishCBC(sealed, "some password", salt, 100) == data
