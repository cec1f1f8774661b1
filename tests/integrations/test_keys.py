"""Keys by name: who is asked, in which order, and what is said if nobody knows."""

import sys
import types

import pytest

from tests.integrations.conftest import KEY, KEY_ID, VARIABLE
from twofishkit.errors import InvalidKey, InvalidParameter, UnsupportedType, WrongKey
from twofishkit.integrations import keys


def test_environment():
    assert keys.get_key(KEY_ID) == KEY
    assert keys.get_key("Test.Key") == KEY  # the same variable


def test_files(tmp_path, monkeypatch):
    monkeypatch.setenv(keys.DIRECTORY_VARIABLE, str(tmp_path))
    (tmp_path / "raw.key").write_bytes(bytes(32))
    (tmp_path / "hex.key").write_text("ab" * 32 + "\n")
    assert keys.get_key("raw") == bytes(32)
    assert keys.get_key("hex") == b"\xab" * 32


def test_registered_functions_come_first():
    def known(key_id):
        return b"\x01" * 32 if key_id == KEY_ID else None

    with keys.registered(lambda key_id: None), keys.registered(known):
        assert keys.get_key(KEY_ID) == b"\x01" * 32
        with keys.registered(lambda key_id: bytearray(b"\x02" * 32)):
            assert keys.get_key("anything") == b"\x02" * 32
    assert keys.get_key(KEY_ID) == KEY
    keys.unregister(known)


def test_keyring(monkeypatch):
    monkeypatch.undo()
    asked = []
    ring = types.ModuleType("keyring")
    ring.get_password = lambda service, user: (
        asked.append((service, user)) or ("cd" * 32 if user == "ring" else None)
    )
    monkeypatch.setitem(sys.modules, "keyring", ring)
    assert keys.get_key("ring") == b"\xcd" * 32
    assert asked == [("twofishkit", "ring")]
    with pytest.raises(WrongKey):
        keys.get_key("other")


def test_without_keyring(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(WrongKey, match="there is no key 'other' here; asked were TWOFISHKIT_KEY_OTHER"):
        keys.get_key("other")


#: The last one is a key of 16 bytes in hex: as many characters as a key has bytes.
NO_KEYS = ["ab", "zz" * 32, "ab" * 33, "x" * 31, "x" * 32, "ab" * 16]


@pytest.mark.parametrize("value", NO_KEYS)
def test_what_is_no_key(monkeypatch, value):
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(InvalidKey, match=f"{VARIABLE} gives for the key '{KEY_ID}'") as caught:
        keys.get_key(KEY_ID)
    assert value not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"ab", b"\0" * 31, b"\0" * 33, b"ab" * 16, b"ab" * 31 + b"\n\n"])
def test_files_that_hold_no_key(tmp_path, monkeypatch, content):
    monkeypatch.setenv(keys.DIRECTORY_VARIABLE, str(tmp_path))
    (tmp_path / "other.key").write_bytes(content)
    with pytest.raises(InvalidKey, match=r"other\.key gives for the key 'other' is not a key"):
        keys.get_key("other")


def test_a_keyring_that_holds_no_key(monkeypatch):
    monkeypatch.setattr(keys, "_from_keyring", lambda key_id: "ab" * 16)
    with pytest.raises(InvalidKey, match="keyring gives for the key 'other'"):
        keys.get_key("other")


def test_a_function_that_returns_no_key():
    with keys.registered(lambda key_id: b"ab" * 32), pytest.raises(InvalidKey, match="has 64 bytes"):
        keys.get_key("other")


@pytest.mark.parametrize("key", [32, "x" * 32, [1] * 32])
def test_a_function_that_returns_no_bytes(key):
    with keys.registered(lambda key_id: key), pytest.raises(UnsupportedType, match="must be bytes"):
        keys.get_key("other")


@pytest.mark.parametrize("key_id", ["", "a/b", "../a", ".a", "a" * 65, "ü", "a b", None, 3, b"a"])
def test_ids(key_id):
    with pytest.raises(InvalidParameter, match="key_id"):
        keys.get_key(key_id)


def test_a_provider_is_callable():
    with pytest.raises(InvalidParameter):
        keys.register(b"k" * 32)
