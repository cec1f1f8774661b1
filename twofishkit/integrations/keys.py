"""Keys by name: what is stored beside data is the id of a key, and each process finds the key itself.

Asked in this order, the first that knows the id wins:

1. functions given to `register`, the newest first;
2. the environment: ``TWOFISHKIT_KEY_`` and the id in capitals, everything but letters and digits as
   ``_``; 64 hex digits;
3. files: ``<id>.key`` in the directory ``TWOFISHKIT_KEYS_DIR``; 32 bytes or 64 hex digits;
4. ``keyring``, if that is installed: the password of the user ``<id>`` for the service
   ``twofishkit``; 64 hex digits.

A process that a cluster starts has its own environment and files: so keys get there without being sent.
"""

import contextlib
import importlib
import os
import re
import threading
from collections.abc import Callable, Iterator
from typing import TypeAlias

from twofishkit.errors import InvalidKey, InvalidParameter, UnsupportedType, WrongKey

#: Given an id: 32 bytes, or None if it does not know the id.
KeyProvider: TypeAlias = Callable[[str], "bytes | None"]

KEY_BYTES = 32
DIRECTORY_VARIABLE = "TWOFISHKIT_KEYS_DIR"
KEYRING_SERVICE = "twofishkit"

_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}", re.ASCII)
_HEX = re.compile(r"[0-9A-Fa-f]+", re.ASCII)
_lock = threading.Lock()
_providers: list[KeyProvider] = []


def register(provider: KeyProvider) -> None:
    """Ask a function for keys, before all others, in this process.

    Parameters
    ----------
    provider : callable
        Given an id, it returns 32 bytes, or None if it does not know it.
    """
    if not callable(provider):
        raise InvalidParameter(f"a key provider is callable; {type(provider).__name__} is not")
    with _lock:
        _providers.insert(0, provider)


def unregister(provider: KeyProvider) -> None:
    """Ask it no longer."""
    with _lock, contextlib.suppress(ValueError):
        _providers.remove(provider)


def check_id(key_id: object) -> str:
    """An id that can stand in metadata, in a file name and in the name of a variable.

    Raises
    ------
    InvalidParameter
    """
    if not isinstance(key_id, str) or _ID.fullmatch(key_id) is None:
        raise InvalidParameter(
            f"key_id is {key_id!a}; it must be 1 to 64 letters, digits, '.', '_' or '-', no '.' first"
        )
    return key_id


def get_key(key_id: str) -> bytes:
    """The key of this id.

    Raises
    ------
    WrongKey
        If nobody knows the id; the message says who was asked.
    InvalidKey
        If what was found is no key.
    """
    check_id(key_id)
    with _lock:
        registered = list(_providers)
    for provider in registered:
        key = provider(key_id)
        if key is not None:
            return _given(key, key_id)
    asked = [f"{len(registered)} registered providers"] if registered else []
    for where, look in ((_variable(key_id), _from_environment), (_file(key_id), _from_file)):
        asked.append(where)
        found = look(where)
        if found is not None:
            return found if isinstance(found, bytes) else _from_hex(found, key_id, where)
    text = _from_keyring(key_id)
    if text is not None:
        return _from_hex(text, key_id, "keyring")
    raise WrongKey(f"there is no key {key_id!r} here; asked were {', '.join(asked)} and keyring")


def _variable(key_id: str) -> str:
    return "TWOFISHKIT_KEY_" + re.sub(r"[^A-Z0-9]", "_", key_id.upper())


def _from_environment(name: str) -> str | None:
    return os.environ.get(name) or None


def _file(key_id: str) -> str:
    return os.path.join(os.environ.get(DIRECTORY_VARIABLE) or f"${DIRECTORY_VARIABLE}", f"{key_id}.key")


def _from_file(path: str) -> bytes | str | None:
    """A key, or text that should be one."""
    if not os.environ.get(DIRECTORY_VARIABLE):
        return None
    try:
        with open(path, "rb") as file:
            found = file.read(4096)
    except FileNotFoundError:
        return None
    # 32 hex digits are a key of 16 bytes written out, and not one of 32.
    raw = len(found) == KEY_BYTES and _HEX.fullmatch(found.decode("latin-1")) is None
    return found if raw else found.decode("latin-1")


def _from_keyring(key_id: str) -> str | None:
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    password: str | None = keyring.get_password(KEYRING_SERVICE, key_id)
    return password


def _from_hex(text: str, key_id: str, where: str) -> bytes:
    """64 hex digits, perhaps with white space around."""
    digits = text.strip()
    if len(digits) != 2 * KEY_BYTES or _HEX.fullmatch(digits) is None:
        raise InvalidKey(
            f"what {where} gives for the key {key_id!r} is not a key in {2 * KEY_BYTES} hex digits:"
            f" it has {len(digits)} characters"
        )
    return bytes.fromhex(digits)


def _given(key: object, key_id: str) -> bytes:
    """What a registered function returned."""
    # Not bytes(key): of the number 32 that makes 32 zeros.
    if not isinstance(key, (bytes, bytearray, memoryview)):
        raise UnsupportedType(
            f"what a registered provider gives for the key {key_id!r} must be bytes,"
            f" and is of type {type(key).__name__}"
        )
    found = bytes(key)
    if len(found) != KEY_BYTES:
        raise InvalidKey(
            f"what a registered provider gives for the key {key_id!r} has {len(found)} bytes;"
            f" it must have {KEY_BYTES}"
        )
    return found


@contextlib.contextmanager
def registered(provider: KeyProvider) -> Iterator[None]:
    """`register` for the length of a ``with`` block, for the whole process."""
    register(provider)
    try:
        yield
    finally:
        unregister(provider)
