"""AEAD objects called as those of ``cryptography.hazmat.primitives.ciphers.aead``.

Replace ``AESGCM`` by ``TwofishGCM``, ``AESCCM`` by ``TwofishCCM``, ``AESOCB3`` by ``TwofishOCB3`` and
``AESSIV`` by ``TwofishSIV``: constructors, methods, lengths allowed and types of errors are the same.
Where ``cryptography`` is installed, `InvalidTag` is its exception of that name as well as ours.

The difference to `twofishkit.GCM` and its sisters is one of spelling: associated data is positional, may be
None, and has to be given.
"""

from typing import Any

from twofishkit import errors
from twofishkit.buffers import Data, byte_length, small
from twofishkit.cipher import as_index, generate_key
from twofishkit.errors import InvalidBuffer, InvalidParameter, UnsupportedType
from twofishkit.modes.ccm import CCM
from twofishkit.modes.gcm import GCM
from twofishkit.modes.ocb import OCB
from twofishkit.modes.siv import SIV

try:
    from cryptography.exceptions import InvalidTag as _TheirInvalidTag
except ImportError:
    _TheirInvalidTag = Exception  # type: ignore[assignment, misc]


class InvalidTag(errors.InvalidTag, _TheirInvalidTag):
    """Authentication failed; an exception of twofishkit's and, where installed, cryptography's family."""


class _NonceAead:
    """The calls of AESGCM, AESCCM and AESOCB3."""

    _mode: Any
    _nonces: range

    @classmethod
    def generate_key(cls, bit_length: int) -> bytes:
        """A random key of 128, 192 or 256 bits."""
        return _random_key(bit_length, (128, 192, 256))

    def encrypt(self, nonce: Data, data: Data, associated_data: Data | None) -> bytes:
        """Encrypt and authenticate data, authenticate associated_data; return ciphertext || tag.

        Raises
        ------
        ValueError
            If nonce does not have a length allowed, or data is too long.
        TypeError
            If an argument is not bytes-like.
        """
        sealed: bytes = self._mode.encrypt(self._checked(nonce), _plain(data), _aad(associated_data))
        return sealed

    def encrypt_into(self, nonce: Data, data: Data, associated_data: Data | None, buf: Any) -> int:
        """As `encrypt`, but write the result to buf, of exactly its size; return the size."""
        n: int = byte_length(data) + self._mode.tag_length
        _check_buffer(buf, n)
        self._mode.encrypt(self._checked(nonce), _plain(data), _aad(associated_data), out=buf)
        return n

    def decrypt(self, nonce: Data, data: Data, associated_data: Data | None) -> bytes:
        """Verify and decrypt what `encrypt` returned.

        Raises
        ------
        InvalidTag
            If anything differs from what `encrypt` got or returned.
        ValueError, TypeError
            As `encrypt`.
        """
        checked = self._checked(nonce)
        try:
            plaintext: bytes = self._mode.decrypt(checked, _plain(data), _aad(associated_data))
        except errors.InvalidTag as failed:
            raise InvalidTag(*failed.args) from None
        return plaintext

    def decrypt_into(self, nonce: Data, data: Data, associated_data: Data | None, buf: Any) -> int:
        """As `decrypt`, but write the plaintext to buf, of exactly its size; return the size."""
        n: int = byte_length(data) - self._mode.tag_length
        if n < 0:
            raise InvalidTag(f"data has {byte_length(data)} bytes, too few to hold a tag")
        _check_buffer(buf, n)
        checked = self._checked(nonce)
        try:
            self._mode.decrypt(checked, _plain(data), _aad(associated_data), out=buf)
        except errors.InvalidTag as failed:
            raise InvalidTag(*failed.args) from None
        return n

    def _checked(self, nonce: Data) -> bytes:
        allowed = f"between {self._nonces.start} and {self._nonces[-1]} bytes"
        return small(nonce, "nonce", self._nonces, allowed)

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self._mode!r}"


class TwofishGCM(_NonceAead):
    """GCM with nonces of 8 to 128 bytes and tags of 16; called as ``AESGCM``."""

    _nonces = range(8, 129)

    def __init__(self, key: Data) -> None:
        self._mode = GCM(key)


class TwofishCCM(_NonceAead):
    """CCM with nonces of 7 to 13 bytes; called as ``AESCCM``."""

    _nonces = range(7, 14)

    def __init__(self, key: Data, tag_length: int = 16) -> None:
        self._mode = CCM(key, as_index(tag_length, "tag_length"))


class TwofishOCB3(_NonceAead):
    """OCB3 with nonces of 12 to 15 bytes and tags of 16; called as ``AESOCB3``."""

    _nonces = range(12, 16)

    def __init__(self, key: Data) -> None:
        self._mode = OCB(key)


class TwofishSIV:
    """SIV (RFC 5297), tag before ciphertext; called as ``AESSIV``.

    A nonce, if there is one, is the last string of associated_data.
    """

    def __init__(self, key: Data) -> None:
        self._mode = SIV(key)

    @classmethod
    def generate_key(cls, bit_length: int) -> bytes:
        """Two random keys joined, of 256, 384 or 512 bits together."""
        return _random_key(bit_length, (256, 384, 512))

    def encrypt(self, data: Data, associated_data: list[Data] | None) -> bytes:
        """Encrypt and authenticate data and the strings of associated_data; return tag || ciphertext."""
        sealed: bytes = self._mode.encrypt(None, _plain(data), _strings(associated_data))
        return sealed

    def encrypt_into(self, data: Data, associated_data: list[Data] | None, buf: Any) -> int:
        """As `encrypt`, but write the result to buf, of exactly its size; return the size."""
        n: int = byte_length(data) + self._mode.tag_length
        _check_buffer(buf, n)
        self._mode.encrypt(None, _plain(data), _strings(associated_data), out=buf)
        return n

    def decrypt(self, data: Data, associated_data: list[Data] | None) -> bytes:
        """Verify and decrypt what `encrypt` returned, or raise InvalidTag."""
        try:
            plaintext: bytes = self._mode.decrypt(None, _plain(data), _strings(associated_data))
        except errors.InvalidTag as failed:
            raise InvalidTag(*failed.args) from None
        return plaintext

    def decrypt_into(self, data: Data, associated_data: list[Data] | None, buf: Any) -> int:
        """As `decrypt`, but write the plaintext to buf, of exactly its size; return the size."""
        n: int = byte_length(data) - self._mode.tag_length
        if n < 0:
            raise InvalidTag(f"data has {byte_length(data)} bytes, too few to hold a tag")
        _check_buffer(buf, n)
        try:
            self._mode.decrypt(None, _plain(data), _strings(associated_data), out=buf)
        except errors.InvalidTag as failed:
            raise InvalidTag(*failed.args) from None
        return n

    def __repr__(self) -> str:
        return f"TwofishSIV of {self._mode!r}"


def _random_key(bit_length: int, allowed: tuple[int, ...]) -> bytes:
    bits = as_index(bit_length, "bit_length")
    if bits not in allowed:
        raise InvalidParameter(f"bit_length is {bits}; it must be one of {', '.join(map(str, allowed))}")
    return generate_key(bits // 8)


def _plain(data: Data) -> Any:
    """Arrays as memory, so that bytes come back, as they do from cryptography."""
    byte_length(data)
    return data if isinstance(data, bytes) else memoryview(data)  # type: ignore[arg-type]


def _aad(associated_data: Data | None) -> Data:
    return b"" if associated_data is None else associated_data


def _strings(associated_data: list[Data] | None) -> list[Data]:
    if associated_data is not None and not isinstance(associated_data, list):
        raise UnsupportedType(
            f"associated_data must be a list of bytes, not {type(associated_data).__name__}"
        )
    return associated_data or []


def _check_buffer(buf: Any, n: int) -> None:
    if byte_length(buf, "buf") != n:
        raise InvalidBuffer(f"buffer must be {n} bytes, and has {byte_length(buf, 'buf')}")
    if memoryview(buf).readonly:
        raise UnsupportedType("buf is not writable")
