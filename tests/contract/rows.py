"""The modes that the contract suite runs on. A new mode is one row in `ROWS`.

A `Row` says how a mode is made and called, and in what it differs: the lengths it takes, how long the
result is, whether arrays keep their shape. Everything else is the same for all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import twofishkit as tk
from twofishkit.buffers import as_bytes

KEY = bytes(range(1, 33))
OTHER_KEY = bytes(range(101, 133))
IV = bytes(range(240, 256))
NONCE = IV[:12]
AAD = b"associated data"
TAG_BYTES = 16

#: Calls of a mode object: (mode, data, out) -> result.
Call = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class Row:
    """One way to use one mode.

    Attributes
    ----------
    make : from a `Twofish` (two of them, if ``keys`` is 2) to the mode object
    encrypt, decrypt : one-shot calls
    block : message lengths are multiples of this
    shortest : bytes of the shortest message
    ciphertext_bytes : from the message's length to the ciphertext's
    joined : whether an array gives one-dimensional uint8 instead of an array like itself
    encryptor, decryptor : from the mode object to a streaming context, where there are any
    authenticated : whether altered ciphertext raises InvalidTag
    """

    name: str
    make: Callable[..., Any]
    encrypt: Call
    decrypt: Call
    keys: int = 1
    block: int = 1
    shortest: int = 0
    ciphertext_bytes: Callable[[int], int] = field(default=lambda n: n)
    joined: bool = False
    encryptor: Callable[[Any], Any] | None = None
    decryptor: Callable[[Any], Any] | None = None
    authenticated: bool = False

    def ciphers(self) -> list[tk.Twofish]:
        return [tk.Twofish(key) for key in (KEY, OTHER_KEY)[: self.keys]]

    def mode(self) -> Any:
        return self.make(*self.ciphers())

    def lengths(self, *candidates: int) -> list[int]:
        """Those of the candidates that are lengths of messages."""
        return [n for n in candidates if n >= self.shortest and n % self.block == 0]


def _plain(name: str, make: Callable[..., Any], **differences: Any) -> Row:
    """A mode with encrypt(data, out=), decrypt(data, out=), encryptor() and decryptor()."""
    return Row(
        name,
        make,
        lambda mode, data, out: mode.encrypt(data, out=out),
        lambda mode, data, out: mode.decrypt(data, out=out),
        encryptor=lambda mode: mode.encryptor(),
        decryptor=lambda mode: mode.decryptor(),
        **differences,
    )


def _padded(name: str, make: Callable[..., Any]) -> Row:
    return Row(
        name,
        make,
        lambda mode, data, out: mode.encrypt(data, out=out, padding="pkcs7"),
        lambda mode, data, out: mode.decrypt(data, out=out, padding="pkcs7"),
        ciphertext_bytes=lambda n: n // 16 * 16 + 16,
        joined=True,
        encryptor=lambda mode: mode.encryptor(padding="pkcs7"),
        decryptor=lambda mode: mode.decryptor(padding="pkcs7"),
    )


def _xts(name: str, **options: Any) -> Row:
    return Row(
        name,
        lambda first, second: tk.XTS((first, second)),
        lambda mode, data, out: mode.encrypt(data, 7, out=out, **options),
        lambda mode, data, out: mode.decrypt(data, 7, out=out, **options),
        keys=2,
        block=options.get("sector_size", 1),
        shortest=0 if options else 16,
    )


def _joined(name: str, make: Callable[..., Any], *, streaming: bool = False, keys: int = 1) -> Row:
    """An AEAD whose result is ciphertext and tag in one."""
    return Row(
        name,
        make,
        lambda mode, data, out: mode.encrypt(NONCE, data, AAD, out=out),
        lambda mode, data, out: mode.decrypt(NONCE, data, AAD, out=out),
        keys=keys,
        ciphertext_bytes=lambda n: n + TAG_BYTES,
        joined=True,
        encryptor=(lambda mode: _Joining(mode.encryptor(NONCE, AAD))) if streaming else None,
        decryptor=(lambda mode: _Parting(mode.decryptor(NONCE, AAD))) if streaming else None,
        authenticated=True,
    )


class _Joining:
    """Lets an AEAD's encryptor end in ciphertext and tag, as its one-shot call does."""

    def __init__(self, context: Any) -> None:
        self.update = context.update
        self._context = context

    def finalize(self) -> bytes:
        rest = self._context.finalize()
        return bytes(rest) + bytes(self._context.tag)


class _Parting:
    """Feeds ciphertext and tag in one to an AEAD's decryptor, which wants the tag at the end."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._held = b""

    def update(self, data: Any) -> bytes:
        self._held += bytes(memoryview(data).cast("B")) if memoryview(data).nbytes else b""
        piece, self._held = self._held[:-TAG_BYTES], self._held[-TAG_BYTES:]
        return bytes(self._context.update(piece))

    def finalize(self) -> bytes:
        return bytes(self._context.finalize(self._held))


def _detached(name: str, make: Callable[..., Any], *, keys: int = 1) -> Row:
    """An AEAD whose tag stands apart, so that arrays keep their shape."""
    tags: dict[bytes, bytes] = {}

    def encrypt(mode: Any, data: Any, out: Any) -> Any:
        ciphertext, tag = mode.encrypt_detached(NONCE, data, AAD, out=out)
        tags[_bytes(ciphertext)] = tag
        return ciphertext

    def decrypt(mode: Any, data: Any, out: Any) -> Any:
        # What cannot be read gets any tag: the error must come before that is looked at.
        tag = tags.get(_bytes(data), bytes(TAG_BYTES))
        return mode.decrypt_detached(NONCE, data, tag, AAD, out=out)

    return Row(name, make, encrypt, decrypt, keys=keys, authenticated=True)


def _bytes(data: Any) -> bytes | None:
    try:
        return as_bytes(data).tobytes()
    except tk.UnsupportedType:
        return None


def _siv(first: tk.Twofish, second: tk.Twofish) -> tk.SIV:
    return tk.SIV((first, second))


ROWS = (
    _plain("ECB", tk.ECB, block=16),
    _plain("CBC", lambda key: tk.CBC(key, IV), block=16),
    _padded("ECB padded", tk.ECB),
    _padded("CBC padded", lambda key: tk.CBC(key, IV)),
    _plain("CFB", lambda key: tk.CFB(key, IV)),
    _plain("CFB8", lambda key: tk.CFB8(key, IV)),
    _plain("OFB", lambda key: tk.OFB(key, IV)),
    _plain("CTR", lambda key: tk.CTR(key, IV)),
    _plain("CTR 32 little", lambda key: tk.CTR(key, IV, counter_bits=32, byteorder="little")),
    _xts("XTS"),
    _xts("XTS sectors", sector_size=32),
    _xts("XTS stealing sectors", sector_size=24),
    _joined("GCM", tk.GCM, streaming=True),
    _detached("GCM detached", tk.GCM),
    _joined("OCB", tk.OCB, streaming=True),
    _detached("OCB detached", tk.OCB),
    _joined("EAX", tk.EAX, streaming=True),
    _detached("EAX detached", tk.EAX),
    _joined("CCM", tk.CCM),
    _detached("CCM detached", tk.CCM),
    _joined("SIV", _siv, keys=2),
    _detached("SIV detached", _siv, keys=2),
)
