"""libtomcrypt through ctypes, behind as much of `twofishkit.testing.peers.Peer` as tests need."""

import ctypes
import ctypes.util
from ctypes import byref, c_int, c_ulong
from typing import Any, Self

from twofishkit.errors import InvalidTag

MODES = ("ecb", "cbc", "cfb", "ofb", "ctr", "xts", "gcm", "ocb", "eax", "ccm", "cmac")
_NAMES = ("libtomcrypt.so.1", "libtomcrypt.so.2")
# Larger than any of its state structures, which hold a cipher's expanded key each.
_STATE_BYTES = 1 << 16
_CTR_BIG_ENDIAN = 0x1000


class Tomcrypt:
    """See `twofishkit.testing.peers.Peer`; no bulk calls."""

    name = "libtomcrypt"

    def __init__(self, library: ctypes.CDLL) -> None:
        self._lib: Any = library
        library.register_all_ciphers()
        self._cipher = library.find_cipher(b"twofish")
        self.version = "1.18 or newer"

    @classmethod
    def find(cls) -> Self | None:
        for name in (*_NAMES, ctypes.util.find_library("tomcrypt")):
            try:
                library = ctypes.CDLL(name or "")
                return cls(library) if hasattr(library, "register_all_ciphers") else None
            except OSError:
                continue
        return None

    def supports(self, mode: str, key_bits: int) -> bool:
        return mode in MODES and key_bits in (128, 192, 256)

    def encrypt(self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"") -> tuple[bytes, bytes]:
        if mode == "cmac":
            return b"", self._cmac(key, data)
        if mode in ("gcm", "ocb", "eax", "ccm"):
            return self._aead(mode, key, iv, data, aad, None)
        return self._plain(mode, key, iv, data, "encrypt"), b""

    def decrypt(
        self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"", tag: bytes = b""
    ) -> bytes:
        if mode == "cmac":
            if self._cmac(key, data) != tag:
                raise InvalidTag("libtomcrypt: the tag does not match")
            return data
        if mode in ("gcm", "ocb", "eax", "ccm"):
            return self._aead(mode, key, iv, data, aad, tag)[0]
        return self._plain(mode, key, iv, data, "decrypt")

    def _plain(self, mode: str, key: bytes, iv: bytes, data: bytes, direction: str) -> bytes:
        lib, n = self._lib, c_ulong(len(data))
        state, out = ctypes.create_string_buffer(_STATE_BYTES), ctypes.create_string_buffer(len(data) + 1)
        if mode == "xts":
            half = len(key) // 2
            _check(lib.xts_start(self._cipher, key[:half], key[half:], c_ulong(half), 0, state))
            tweak = ctypes.create_string_buffer(iv, 16)
            _check(getattr(lib, f"xts_{direction}")(data, n, out, tweak, state))
            return out.raw[:-1]
        start = getattr(lib, f"{mode}_start")
        rest = (key, c_int(len(key)), 0)
        if mode == "ecb":
            _check(start(self._cipher, *rest, state))
        elif mode == "ctr":
            _check(start(self._cipher, iv, *rest, _CTR_BIG_ENDIAN, state))
        else:
            _check(start(self._cipher, iv, *rest, state))
        _check(getattr(lib, f"{mode}_{direction}")(data, out, n, state))
        return out.raw[:-1]

    def _aead(
        self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes, tag: bytes | None
    ) -> tuple[bytes, bytes]:
        lib, n, size = self._lib, c_ulong(len(data)), c_ulong(16)
        name = "ocb3" if mode == "ocb" else mode  # its "ocb" is the first version of the mode
        source = ctypes.create_string_buffer(data, len(data) + 1)
        out = ctypes.create_string_buffer(len(data) + 1)
        check = ctypes.create_string_buffer(tag or b"", 16)
        head = (self._cipher, key, c_ulong(len(key)))
        head += (None,) if mode == "ccm" else ()
        head += (iv, c_ulong(len(iv)), aad, c_ulong(len(aad)))
        if mode in ("gcm", "ccm"):
            texts = (source, n, out) if tag is None else (out, n, source)
            result = getattr(lib, f"{name}_memory")(*head, *texts, check, byref(size), int(tag is not None))
            # Version 1.18 leaves the comparison of a GCM tag to the caller, and gives out its own.
            if tag is not None and (result or check.raw != tag):
                raise InvalidTag("libtomcrypt: the tag does not match")
            _check(result)
        elif tag is None:
            _check(
                getattr(lib, f"{name}_encrypt_authenticate_memory")(*head, source, n, out, check, byref(size))
            )
        else:
            right = c_int(0)
            _check(
                getattr(lib, f"{name}_decrypt_verify_memory")(
                    *head, source, n, out, check, size, byref(right)
                )
            )
            if not right.value:
                raise InvalidTag("libtomcrypt: the tag does not match")
        return out.raw[:-1], check.raw

    def _cmac(self, key: bytes, data: bytes) -> bytes:
        out, size = ctypes.create_string_buffer(16), c_ulong(16)
        _check(
            self._lib.omac_memory(
                self._cipher, key, c_ulong(len(key)), data, c_ulong(len(data)), out, byref(size)
            )
        )
        return out.raw


def _check(code: int) -> None:
    if code:
        raise RuntimeError(f"libtomcrypt: error {code}")
