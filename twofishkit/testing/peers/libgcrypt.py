"""libgcrypt (GnuPG's library) through ctypes. It refuses 192-bit Twofish keys."""

import ctypes
from collections.abc import Callable
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_void_p
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from twofishkit.errors import InvalidTag
from twofishkit.testing.peers.library import declare, load

# Values of gcrypt.h.
_TWOFISH = {256: 10, 128: 303}
_MODES = {
    "ecb": 1,
    "cfb": 2,
    "cbc": 3,
    "ofb": 5,
    "ctr": 6,
    "ccm": 8,
    "gcm": 9,
    "ocb": 11,
    "cfb8": 12,
    "xts": 13,
    "eax": 14,
    "siv": 15,
}
_MAC_CMAC_TWOFISH = 206
_CTL_RESET = 4
_CTL_FINALIZE = 5
_CTL_DISABLE_SECMEM = 37
_CTL_INITIALIZATION_FINISHED = 38
_CTL_INITIALIZATION_FINISHED_P = 39
_CTL_SET_CCM_LENGTHS = 69
_CTL_SET_DECRYPTION_TAG = 80
_ERR_CHECKSUM = 10
_ERR_CODE_MASK = 0xFFFF
_AEADS = ("gcm", "ocb", "eax", "ccm", "siv")


class Libgcrypt:
    """See `twofishkit.testing.peers.Peer`."""

    name = "libgcrypt"

    def __init__(self, library: ctypes.CDLL) -> None:
        self._lib: Any = library
        declare(library, c_char_p, "gcry_check_version", c_char_p)
        # Variadic: ctypes treats what comes after the declared arguments as the variable part.
        declare(library, c_uint, "gcry_control", c_int)
        declare(library, c_char_p, "gcry_strerror", c_uint)
        declare(library, c_uint, "gcry_cipher_open", c_void_p, c_int, c_int, c_uint)
        declare(library, None, "gcry_cipher_close", c_void_p)
        declare(library, c_uint, "gcry_cipher_ctl", c_void_p, c_int, c_void_p, c_size_t)
        for function in ("setkey", "setiv", "setctr", "authenticate", "gettag", "checktag"):
            declare(library, c_uint, f"gcry_cipher_{function}", c_void_p, c_void_p, c_size_t)
        for function in ("encrypt", "decrypt"):
            declare(
                library, c_uint, f"gcry_cipher_{function}", c_void_p, c_void_p, c_size_t, c_void_p, c_size_t
            )
        declare(library, c_uint, "gcry_mac_open", c_void_p, c_int, c_uint, c_void_p)
        declare(library, None, "gcry_mac_close", c_void_p)
        declare(library, c_uint, "gcry_mac_ctl", c_void_p, c_int, c_void_p, c_size_t)
        for function in ("setkey", "write"):
            declare(library, c_uint, f"gcry_mac_{function}", c_void_p, c_void_p, c_size_t)
        declare(library, c_uint, "gcry_mac_read", c_void_p, c_void_p, c_void_p)
        self.version: str = self._lib.gcry_check_version(None).decode()
        if not self._lib.gcry_control(_CTL_INITIALIZATION_FINISHED_P):
            self._lib.gcry_control(_CTL_DISABLE_SECMEM, c_int(0))
            self._lib.gcry_control(_CTL_INITIALIZATION_FINISHED, c_int(0))

    @classmethod
    def find(cls) -> Self | None:
        library = load("libgcrypt", ("libgcrypt.so.20", "libgcrypt.20.dylib"), ("gcrypt",))
        return None if library is None else cls(library)

    def supports(self, mode: str, key_bits: int) -> bool:
        if key_bits not in _TWOFISH:
            return False
        if mode == "cmac":
            return True
        handle = c_void_p()
        failed = mode not in _MODES or self._lib.gcry_cipher_open(
            ctypes.byref(handle), _TWOFISH[key_bits], _MODES[mode], 0
        )
        if not failed:
            self._lib.gcry_cipher_close(handle)
        return not failed

    def encrypt(self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"") -> tuple[bytes, bytes]:
        if mode == "cmac":
            return b"", self._cmac(key, data)
        with _Cipher(self._lib, mode, key) as cipher:
            cipher.begin(iv, len(data), aad)
            out = ctypes.create_string_buffer(len(data) + 1)
            cipher.call("encrypt", out, len(data), data, len(data))
            tag = ctypes.create_string_buffer(16)
            if mode in _AEADS:
                cipher.call("gettag", tag, 16)
            return out.raw[:-1], tag.raw if mode in _AEADS else b""

    def decrypt(
        self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"", tag: bytes = b""
    ) -> bytes:
        if mode == "cmac":
            if self._cmac(key, data) != tag:
                raise InvalidTag("libgcrypt: CMAC differs")
            return data
        with _Cipher(self._lib, mode, key) as cipher:
            cipher.begin(iv, len(data), aad, tag=tag if mode == "siv" else None)
            out = ctypes.create_string_buffer(len(data) + 1)
            cipher.call("decrypt", out, len(data), data, len(data))
            if mode in _AEADS:
                cipher.call("checktag", tag, len(tag))
            return out.raw[:-1]

    def bulk(
        self, mode: str, key: bytes, iv: bytes, buffer: npt.NDArray[np.uint8], *, decrypt: bool = False
    ) -> Callable[[], object]:
        address, length = buffer.ctypes.data, buffer.size
        tag = ctypes.create_string_buffer(16)
        if mode == "cmac":
            mac = _Mac(self._lib, key)
            return lambda: mac.tag(address, length)
        cipher = _Cipher(self._lib, mode, key)
        direction = "decrypt" if decrypt else "encrypt"

        def whole_message() -> None:
            cipher.begin(iv, length, b"")
            # Source NULL means in place.
            cipher.call(direction, address, length, None, 0)
            if mode in _AEADS:
                cipher.call("gettag", tag, 16)

        def whole_message_siv() -> None:
            cipher.begin(iv, length, b"")
            cipher.call("encrypt", address, length, address, length)
            cipher.call("gettag", tag, 16)

        return whole_message_siv if mode == "siv" else whole_message

    def key_setup(self, key: bytes) -> Callable[[], object]:
        cipher = _Cipher(self._lib, "ecb", key)
        return lambda: cipher.call("setkey", key, len(key))

    def _cmac(self, key: bytes, data: bytes) -> bytes:
        return _Mac(self._lib, key).tag(data, len(data))


def _check(library: Any, what: str, error: int) -> None:
    if error & _ERR_CODE_MASK == _ERR_CHECKSUM:
        raise InvalidTag("libgcrypt: the tag does not match")
    if error:
        raise RuntimeError(f"libgcrypt: {what}: {library.gcry_strerror(error).decode()}")


class _Cipher:
    """One open handle, closed with the object."""

    def __init__(self, library: Any, mode: str, key: bytes) -> None:
        self._lib, self._mode, self._handle = library, mode, c_void_p()
        bits = 8 * len(key) // (2 if mode in ("xts", "siv") else 1)
        error = library.gcry_cipher_open(ctypes.byref(self._handle), _TWOFISH[bits], _MODES[mode], 0)
        _check(library, "gcry_cipher_open", error)
        self.call("setkey", key, len(key))

    def call(self, function: str, *arguments: Any) -> None:
        _check(self._lib, function, getattr(self._lib, f"gcry_cipher_{function}")(self._handle, *arguments))

    def begin(self, iv: bytes, length: int, aad: bytes, tag: bytes | None = None) -> None:
        """Everything that comes before the message. SIV takes its nonce as the last string of S2V."""
        if self._mode == "siv":
            self.call("ctl", _CTL_RESET, None, 0)
            self.call("authenticate", aad, len(aad))
            if iv:
                self.call("setiv", iv, len(iv))
            if tag is not None:
                self.call("ctl", _CTL_SET_DECRYPTION_TAG, tag, len(tag))
            return
        if self._mode == "ctr":
            self.call("setctr", iv, len(iv))
        elif self._mode != "ecb":
            self.call("setiv", iv, len(iv))
        if self._mode == "ccm":
            lengths = (ctypes.c_uint64 * 3)(length, len(aad), 16)
            self.call("ctl", _CTL_SET_CCM_LENGTHS, ctypes.byref(lengths), ctypes.sizeof(lengths))
        if aad:
            self.call("authenticate", aad, len(aad))
        if self._mode in ("ocb", "gcm", "eax", "ccm"):
            self.call("ctl", _CTL_FINALIZE, None, 0)

    def __enter__(self) -> "_Cipher":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._handle:
            self._lib.gcry_cipher_close(self._handle)
            self._handle = c_void_p()

    __del__ = close


class _Mac:
    """One CMAC key; `tag` starts a new message each time."""

    def __init__(self, library: Any, key: bytes) -> None:
        self._lib, self._handle = library, c_void_p()
        _check(
            library,
            "gcry_mac_open",
            library.gcry_mac_open(ctypes.byref(self._handle), _MAC_CMAC_TWOFISH, 0, None),
        )
        _check(library, "gcry_mac_setkey", library.gcry_mac_setkey(self._handle, key, len(key)))

    def tag(self, data: bytes | int, length: int) -> bytes:
        out, size = ctypes.create_string_buffer(16), c_size_t(16)
        lib, handle = self._lib, self._handle
        _check(lib, "gcry_mac_ctl", lib.gcry_mac_ctl(handle, _CTL_RESET, None, 0))
        _check(lib, "gcry_mac_write", lib.gcry_mac_write(handle, data, length))
        _check(lib, "gcry_mac_read", lib.gcry_mac_read(handle, out, ctypes.byref(size)))
        return out.raw

    def __del__(self) -> None:
        if self._handle:
            self._lib.gcry_mac_close(self._handle)
            self._handle = c_void_p()
