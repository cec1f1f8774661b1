"""Botan (2 or 3) through its C interface.

That interface copies every message in and out of Botan's own memory, which is part of what
`Botan.bulk` measures, except for ECB, which goes through the block cipher and works in place.
"""

import ctypes
from collections.abc import Callable
from ctypes import c_char_p, c_size_t, c_uint32, c_void_p
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from twofishkit.errors import InvalidTag
from twofishkit.testing.peers.library import declare, load

_AEADS = ("gcm", "ocb", "eax", "ccm", "siv")
_SPECIFICATIONS = {
    "cbc": "Twofish/CBC/NoPadding",
    "cfb": "Twofish/CFB",
    "cfb8": "Twofish/CFB(8)",
    "ofb": "Twofish/OFB",
    "ctr": "Twofish/CTR-BE",
    "ctr64": "Twofish/CTR-BE(8)",
    "ctr32": "Twofish/CTR-BE(4)",
    "xts": "Twofish/XTS",
    "gcm": "Twofish/GCM(16)",
    "ocb": "Twofish/OCB(16)",
    "eax": "Twofish/EAX",
    "siv": "Twofish/SIV",
}
_FINAL = 1
_BAD_MAC = -2


class Botan:
    """See `twofishkit.testing.peers.Peer`."""

    name = "botan"

    def __init__(self, library: ctypes.CDLL) -> None:
        self._lib: Any = library
        declare(library, c_char_p, "botan_version_string")
        for kind in ("cipher", "block_cipher", "mac"):
            declare(library, ctypes.c_int, f"botan_{kind}_destroy", c_void_p)
            declare(library, ctypes.c_int, f"botan_{kind}_set_key", c_void_p, c_char_p, c_size_t)
        declare(library, ctypes.c_int, "botan_cipher_init", c_void_p, c_char_p, c_uint32)
        declare(library, ctypes.c_int, "botan_cipher_reset", c_void_p)
        declare(library, ctypes.c_int, "botan_cipher_set_associated_data", c_void_p, c_char_p, c_size_t)
        declare(library, ctypes.c_int, "botan_cipher_start", c_void_p, c_char_p, c_size_t)
        declare(
            library,
            ctypes.c_int,
            "botan_cipher_update",
            c_void_p,
            c_uint32,
            c_void_p,
            c_size_t,
            c_void_p,
            c_void_p,
            c_size_t,
            c_void_p,
        )
        declare(library, ctypes.c_int, "botan_block_cipher_init", c_void_p, c_char_p)
        for direction in ("encrypt", "decrypt"):
            declare(
                library,
                ctypes.c_int,
                f"botan_block_cipher_{direction}_blocks",
                c_void_p,
                c_void_p,
                c_void_p,
                c_size_t,
            )
        declare(library, ctypes.c_int, "botan_mac_init", c_void_p, c_char_p, c_uint32)
        declare(library, ctypes.c_int, "botan_mac_update", c_void_p, c_void_p, c_size_t)
        declare(library, ctypes.c_int, "botan_mac_final", c_void_p, c_void_p)
        # "Botan 2.19.3 (release, dated ...)"
        self.version: str = self._lib.botan_version_string().decode().split()[1]

    @classmethod
    def find(cls) -> Self | None:
        # Botan 3.N.x is libbotan-3.so.N.
        newest_first = tuple(f"libbotan-3.so.{minor}" for minor in range(19, -1, -1))
        library = load(
            "botan", (*newest_first, "libbotan-2.so.19", "libbotan-2.so.17"), ("botan-3", "botan-2")
        )
        return None if library is None else cls(library)

    def supports(self, mode: str, key_bits: int) -> bool:
        return (mode in _SPECIFICATIONS or mode in ("ecb", "ccm", "cmac")) and key_bits in (128, 192, 256)

    def encrypt(self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"") -> tuple[bytes, bytes]:
        if mode == "cmac":
            return b"", self._cmac(key)(data, len(data))
        if mode == "ecb":
            return self._ecb(key, data, decrypt=False), b""
        out = ctypes.create_string_buffer(len(data) + 17)
        written = _Cipher(self._lib, mode, key, iv, decrypt=False).run(aad, data, len(data), out)
        joined = out.raw[:written]
        if mode == "siv":
            return joined[16:], joined[:16]
        return (joined[:-16], joined[-16:]) if mode in _AEADS else (joined, b"")

    def decrypt(
        self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"", tag: bytes = b""
    ) -> bytes:
        if mode == "cmac":
            if self._cmac(key)(data, len(data)) != tag:
                raise InvalidTag("Botan: CMAC differs")
            return data
        if mode == "ecb":
            return self._ecb(key, data, decrypt=True)
        joined = tag + data if mode == "siv" else data + tag
        out = ctypes.create_string_buffer(len(joined) + 1)
        written = _Cipher(self._lib, mode, key, iv, decrypt=True).run(aad, joined, len(joined), out)
        return out.raw[:written]

    def bulk(
        self, mode: str, key: bytes, iv: bytes, buffer: npt.NDArray[np.uint8], *, decrypt: bool = False
    ) -> Callable[[], object]:
        address, length = buffer.ctypes.data, buffer.size
        if mode == "cmac":
            mac = self._cmac(key)
            return lambda: mac(address, length)
        if mode == "ecb":
            block_cipher = _BlockCipher(self._lib, key)
            return lambda: block_cipher.run(address, length // 16, decrypt)
        cipher = _Cipher(self._lib, mode, key, iv, decrypt=decrypt)
        out = ctypes.create_string_buffer(length + 17)
        return lambda: cipher.run(b"", address, length, out)

    def key_setup(self, key: bytes) -> Callable[[], object]:
        block_cipher = _BlockCipher(self._lib, key)
        return lambda: block_cipher.set_key(key)

    def _ecb(self, key: bytes, data: bytes, *, decrypt: bool) -> bytes:
        out = ctypes.create_string_buffer(data, len(data) + 1)
        _BlockCipher(self._lib, key).run(ctypes.addressof(out), len(data) // 16, decrypt)
        return out.raw[:-1]

    def _cmac(self, key: bytes) -> "_Mac":
        return _Mac(self._lib, key)


def _check(what: str, code: int) -> None:
    if code == _BAD_MAC:
        raise InvalidTag("Botan: the tag does not match")
    if code:
        raise RuntimeError(f"Botan: {what}: error {code}")


class _Cipher:
    """One cipher mode object with its key, destroyed with the object."""

    def __init__(self, library: Any, mode: str, key: bytes, iv: bytes, *, decrypt: bool) -> None:
        self._lib, self._iv, self._handle = library, iv, c_void_p()
        self._takes_aad = mode in _AEADS
        # CCM's L, the bytes that hold the message's length, is what the nonce leaves over.
        specification = f"Twofish/CCM(16,{15 - len(iv)})" if mode == "ccm" else _SPECIFICATIONS[mode]
        code = library.botan_cipher_init(ctypes.byref(self._handle), specification.encode(), int(decrypt))
        _check(f"botan_cipher_init({specification})", code)
        _check("botan_cipher_set_key", library.botan_cipher_set_key(self._handle, key, len(key)))

    def run(self, aad: bytes, data: bytes | int, length: int, out: Any) -> int:
        """Process one message; return how many bytes ``out`` holds now."""
        lib, handle, written, consumed = self._lib, self._handle, c_size_t(), c_size_t()
        if self._takes_aad:
            _check("botan_cipher_reset", lib.botan_cipher_reset(handle))
            _check("associated data", lib.botan_cipher_set_associated_data(handle, aad, len(aad)))
        _check("botan_cipher_start", lib.botan_cipher_start(handle, self._iv, len(self._iv)))
        code = lib.botan_cipher_update(
            handle, _FINAL, out, len(out), ctypes.byref(written), data, length, ctypes.byref(consumed)
        )
        _check("botan_cipher_update", code)
        return written.value

    def __del__(self) -> None:
        if self._handle:
            self._lib.botan_cipher_destroy(self._handle)
            self._handle = c_void_p()


class _BlockCipher:
    """The bare block cipher, in place."""

    def __init__(self, library: Any, key: bytes) -> None:
        self._lib, self._handle = library, c_void_p()
        _check(
            "botan_block_cipher_init", library.botan_block_cipher_init(ctypes.byref(self._handle), b"Twofish")
        )
        self.set_key(key)

    def set_key(self, key: bytes) -> None:
        code = self._lib.botan_block_cipher_set_key(self._handle, key, len(key))
        _check("botan_block_cipher_set_key", code)

    def run(self, address: int, blocks: int, decrypt: bool) -> None:
        lib = self._lib
        function = lib.botan_block_cipher_decrypt_blocks if decrypt else lib.botan_block_cipher_encrypt_blocks
        _check("botan_block_cipher", function(self._handle, address, address, blocks))

    def __del__(self) -> None:
        if self._handle:
            self._lib.botan_block_cipher_destroy(self._handle)
            self._handle = c_void_p()


class _Mac:
    """One CMAC key; calling it gives the tag of one message."""

    def __init__(self, library: Any, key: bytes) -> None:
        self._lib, self._handle = library, c_void_p()
        _check("botan_mac_init", library.botan_mac_init(ctypes.byref(self._handle), b"CMAC(Twofish)", 0))
        _check("botan_mac_set_key", library.botan_mac_set_key(self._handle, key, len(key)))

    def __call__(self, data: bytes | int, length: int) -> bytes:
        out = ctypes.create_string_buffer(16)
        _check("botan_mac_update", self._lib.botan_mac_update(self._handle, data, length))
        _check("botan_mac_final", self._lib.botan_mac_final(self._handle, out))
        return out.raw

    def __del__(self) -> None:
        if self._handle:
            self._lib.botan_mac_destroy(self._handle)
            self._handle = c_void_p()
