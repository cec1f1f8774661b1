"""OpenSSL, for its GHASH and as a yardstick: AES-GCM. It has no Twofish.

There is no public call for GHASH alone: authenticating data without encrypting any is one, up to a
single block cipher call a message.
"""

import ctypes
import importlib
from collections.abc import Callable
from ctypes import c_char_p, c_int, c_ulong, c_void_p
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from twofishkit.testing.peers.library import declare, load

_CTRL_AEAD_GET_TAG = 0x10
_NONCE = bytes(12)


class Yardstick(Protocol):
    """Something with GHASH and AES-GCM, for timing only."""

    name: str
    version: str

    def bulk_ghash(self, buffer: npt.NDArray[np.uint8]) -> Callable[[], object]:
        """A call that absorbs ``buffer`` into a GHASH and finishes it."""

    def bulk_aes_gcm(self, key: bytes, buffer: npt.NDArray[np.uint8]) -> Callable[[], object]:
        """A call that encrypts ``buffer`` as one message, key already set up, tag included."""


class Libcrypto:
    """OpenSSL's shared library through ctypes."""

    name = "openssl"

    def __init__(self, library: ctypes.CDLL) -> None:
        self._lib: Any = library
        declare(library, c_char_p, "OpenSSL_version", c_int)
        declare(library, c_void_p, "EVP_CIPHER_CTX_new")
        declare(library, None, "EVP_CIPHER_CTX_free", c_void_p)
        for bits in (128, 256):
            declare(library, c_void_p, f"EVP_aes_{bits}_gcm")
        declare(library, c_int, "EVP_EncryptInit_ex", c_void_p, c_void_p, c_void_p, c_char_p, c_char_p)
        declare(library, c_int, "EVP_EncryptUpdate", c_void_p, c_void_p, c_void_p, c_void_p, c_int)
        declare(library, c_int, "EVP_EncryptFinal_ex", c_void_p, c_void_p, c_void_p)
        declare(library, c_int, "EVP_CIPHER_CTX_ctrl", c_void_p, c_int, c_int, c_void_p)
        # "OpenSSL 3.0.16 11 Feb 2025"
        self.version: str = self._lib.OpenSSL_version(0).decode().split()[1]

    @classmethod
    def find(cls) -> Self | None:
        library = load("openssl", ("libcrypto.so.4", "libcrypto.so.3", "libcrypto.3.dylib"), ())
        if library is None:
            return None
        try:
            library.OpenSSL_version_num.restype = c_ulong
            return cls(library)
        except AttributeError:  # some other libcrypto
            return None

    def bulk_ghash(self, buffer: npt.NDArray[np.uint8]) -> Callable[[], object]:
        return _Gcm(self._lib, bytes(16), buffer, aad_only=True)

    def bulk_aes_gcm(self, key: bytes, buffer: npt.NDArray[np.uint8]) -> Callable[[], object]:
        return _Gcm(self._lib, key, buffer, aad_only=False)


class _Gcm:
    """One AES-GCM context; calling it processes the buffer, in place unless it is associated data."""

    def __init__(self, library: Any, key: bytes, buffer: npt.NDArray[np.uint8], *, aad_only: bool) -> None:
        self._lib = library
        self._context = c_void_p(library.EVP_CIPHER_CTX_new())
        self._buffer = buffer
        self._source = buffer.ctypes.data
        self._target = None if aad_only else self._source
        self._written = c_int()
        self._tag = ctypes.create_string_buffer(32)
        cipher = getattr(library, f"EVP_aes_{8 * len(key)}_gcm")()
        self._check(library.EVP_EncryptInit_ex(self._context, cipher, None, key, _NONCE))

    def __call__(self) -> None:
        lib, context, written = self._lib, self._context, ctypes.byref(self._written)
        self._check(lib.EVP_EncryptInit_ex(context, None, None, None, _NONCE))
        self._check(lib.EVP_EncryptUpdate(context, self._target, written, self._source, self._buffer.size))
        self._check(lib.EVP_EncryptFinal_ex(context, self._tag, written))
        self._check(lib.EVP_CIPHER_CTX_ctrl(context, _CTRL_AEAD_GET_TAG, 16, self._tag))

    def _check(self, succeeded: int) -> None:
        if succeeded != 1:
            raise RuntimeError("OpenSSL: an EVP call failed")

    def __del__(self) -> None:
        self._lib.EVP_CIPHER_CTX_free(self._context)


class CryptographyPackage:
    """The OpenSSL inside the ``cryptography`` package, often newer than the system's."""

    name = "cryptography"

    def __init__(self, aead: Any, version: str) -> None:
        self._aead, self.version = aead, version

    @classmethod
    def find(cls) -> Self | None:
        try:
            aead = importlib.import_module("cryptography.hazmat.primitives.ciphers.aead")
            backend = importlib.import_module("cryptography.hazmat.backends.openssl.backend")
        except ImportError:
            return None
        # "OpenSSL 4.0.0 14 Apr 2026"
        openssl = " ".join(backend.backend.openssl_version_text().split()[:2])
        return cls(aead, f"({openssl})")

    def bulk_ghash(self, buffer: npt.NDArray[np.uint8]) -> Callable[[], object]:
        gcm = self._aead.AESGCM(bytes(16))
        return lambda: gcm.encrypt(_NONCE, b"", buffer)

    def bulk_aes_gcm(self, key: bytes, buffer: npt.NDArray[np.uint8]) -> Callable[[], object]:
        gcm = self._aead.AESGCM(key)
        return lambda: gcm.encrypt(_NONCE, buffer, None)


def find_yardsticks() -> tuple[Yardstick, ...]:
    """Whichever of the two this machine has."""
    return tuple(each for each in (Libcrypto.find(), CryptographyPackage.find()) if each is not None)
