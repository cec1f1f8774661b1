"""The input key of a sealed message: given as 32 bytes, or made from a passphrase by scrypt."""

import hashlib
import secrets
import unicodedata
from dataclasses import dataclass, field
from typing import Any

from twofishkit.buffers import as_bytes
from twofishkit.errors import BackendUnavailable, InvalidKey, InvalidParameter, UnsupportedType, WrongKey

KEY_BYTES = 32
SCRYPT_SALT_BYTES = 16
SCRYPT_R, SCRYPT_P = 8, 1

#: Cost of new files: 2^17 * 8 * 128 bytes = 128 MiB and a few tenths of a second.
SCRYPT_LOG2_N = 17
#: What a file may ask of its reader: up to 256 MiB, so that a hostile header cannot exhaust memory.
SCRYPT_LOG2_N_ALLOWED = range(1, 19)


@dataclass(frozen=True)
class Scrypt:
    """How a passphrase becomes the input key: scrypt(passphrase, salt, N = 2^log2_n, r = 8, p = 1).

    Source: RFC 7914.
    """

    salt: bytes = field(default_factory=lambda: secrets.token_bytes(SCRYPT_SALT_BYTES))
    log2_n: int = field(default_factory=lambda: SCRYPT_LOG2_N)

    def derive(self, passphrase: bytes) -> bytes:
        """The 32-byte input key. Takes 2^(10 + log2_n) bytes of memory meanwhile."""
        if not hasattr(hashlib, "scrypt"):
            raise BackendUnavailable(
                "this Python was built without hashlib.scrypt (OpenSSL);"
                " passphrases cannot be used, raw keys can"
            )
        memory = 128 * SCRYPT_R * (1 << self.log2_n)
        return hashlib.scrypt(
            passphrase,
            salt=self.salt,
            n=1 << self.log2_n,
            r=SCRYPT_R,
            p=SCRYPT_P,
            maxmem=memory + (1 << 20),
            dklen=KEY_BYTES,
        )


def _raw_key(key: Any) -> bytes:
    if isinstance(key, str):
        raise UnsupportedType(
            "key must be 32 bytes and is a str;"
            " for hex digits use bytes.fromhex, for a passphrase passphrase="
        )
    value = as_bytes(key, "key").tobytes()
    if len(value) != KEY_BYTES:
        raise InvalidKey(f"key has {len(value)} bytes; sealed data takes keys of exactly {KEY_BYTES}")
    return value


def _passphrase_bytes(passphrase: Any) -> bytes:
    """UTF-8 of the normalised text, so that one passphrase has one form on every keyboard."""
    if isinstance(passphrase, str):
        try:
            value = unicodedata.normalize("NFC", passphrase).encode("utf-8")
        except UnicodeEncodeError:
            raise InvalidParameter("passphrase holds a lone surrogate, which has no UTF-8 form") from None
    elif isinstance(passphrase, (bytes, bytearray, memoryview)):
        value = bytes(passphrase)
    else:
        raise UnsupportedType(f"passphrase must be str or bytes, and is of type {type(passphrase).__name__}")
    if not value:
        raise InvalidParameter("passphrase is empty")
    return value


def _check_one(key: Any, passphrase: Any) -> None:
    if (key is None) == (passphrase is None):
        given = "neither" if key is None else "both"
        raise InvalidParameter(f"give exactly one of key= and passphrase=; {given} was given")


@dataclass(frozen=True)
class KeySource:
    """A checked key or passphrase, before the work of scrypt.

    Attributes
    ----------
    scrypt : Scrypt or None
        For a passphrase; None for a raw key.
    """

    scrypt: Scrypt | None
    _secret: bytes = field(repr=False)

    def input_key(self) -> bytes:
        """The 32-byte input key; for a passphrase this takes a while."""
        return self._secret if self.scrypt is None else self.scrypt.derive(self._secret)


def new_source(key: Any, passphrase: Any) -> KeySource:
    """Key source of a new message, with a fresh salt for a passphrase.

    Raises
    ------
    InvalidKey
        If the key has not exactly 32 bytes.
    InvalidParameter
        Unless exactly one of key and passphrase is given, or if the passphrase is empty.
    UnsupportedType
        If either is of a wrong type.
    """
    _check_one(key, passphrase)
    if key is not None:
        return KeySource(None, _raw_key(key))
    return KeySource(Scrypt(), _passphrase_bytes(passphrase))


def matching_source(scrypt: Scrypt | None, key: Any, passphrase: Any) -> KeySource:
    """Key source for an existing message; scrypt is from its header, None for a raw key.

    Raises
    ------
    WrongKey
        If a key was given where a passphrase is needed, or the other way round.
    InvalidKey, InvalidParameter, UnsupportedType
        As `new_source`.
    """
    _check_one(key, passphrase)
    secret = _raw_key(key) if key is not None else _passphrase_bytes(passphrase)
    if key is not None and scrypt is not None:
        raise WrongKey("this was sealed with a passphrase, and a key was given; use passphrase=")
    if key is None and scrypt is None:
        raise WrongKey("this was sealed with a raw key, and a passphrase was given; use key=")
    return KeySource(scrypt, secret)
