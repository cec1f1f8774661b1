"""nettle through ctypes: its generic mode functions around its Twofish.

nettle has neither OFB nor OCB, and SIV only with both associated data and nonce present.
"""

import ctypes
from collections.abc import Callable
from ctypes import c_char_p, c_size_t, c_uint, c_void_p
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from twofishkit.errors import InvalidTag
from twofishkit.testing.peers.library import declare, load

_MODES = ("ecb", "cbc", "cfb", "cfb8", "ctr", "xts", "gcm", "eax", "ccm", "cmac")
# Sizes of nettle's structures, rounded up generously.
_GCM_KEY_BYTES = 16 * 256
_SMALL_STATE_BYTES = 256
_ALIGNMENT = 64
_BULK_CCM_TAG = 16


class _NettleCipher(ctypes.Structure):
    """``struct nettle_cipher`` of nettle-meta.h."""

    _fields_: ClassVar = [
        ("name", c_char_p),
        ("context_size", c_uint),
        ("block_size", c_uint),
        ("key_size", c_uint),
        ("set_encrypt_key", c_void_p),
        ("set_decrypt_key", c_void_p),
        ("encrypt", c_void_p),
        ("decrypt", c_void_p),
    ]


_SET_KEY = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
_CRYPT = ctypes.CFUNCTYPE(None, c_void_p, c_size_t, c_void_p, c_void_p)


class Nettle:
    """See `twofishkit.testing.peers.Peer`."""

    name = "nettle"

    def __init__(self, library: ctypes.CDLL) -> None:
        self._lib: Any = library
        pointer = c_void_p
        chained = (pointer, pointer, c_size_t, pointer, c_size_t, pointer, pointer)
        for function in (
            "cbc_encrypt",
            "cbc_decrypt",
            "cfb_encrypt",
            "cfb_decrypt",
            "cfb8_encrypt",
            "cfb8_decrypt",
            "ctr_crypt",
        ):
            declare(library, None, f"nettle_{function}", *chained)
        xts = (pointer, c_size_t, pointer, pointer)
        declare(library, None, "nettle_xts_encrypt_message", pointer, pointer, pointer, *xts)
        declare(library, None, "nettle_xts_decrypt_message", pointer, pointer, pointer, pointer, *xts)
        declare(library, None, "nettle_gcm_set_key", pointer, pointer, pointer)
        declare(library, None, "nettle_gcm_set_iv", pointer, pointer, c_size_t, pointer)
        declare(library, None, "nettle_gcm_update", pointer, pointer, c_size_t, pointer)
        declare(library, None, "nettle_eax_set_key", pointer, pointer, pointer)
        sized = (pointer, pointer, pointer, pointer, c_size_t)
        declare(library, None, "nettle_eax_set_nonce", *sized, pointer)
        declare(library, None, "nettle_eax_update", *sized, pointer)
        for mode in ("gcm", "eax"):
            declare(library, None, f"nettle_{mode}_encrypt", *sized, pointer, pointer)
            declare(library, None, f"nettle_{mode}_decrypt", *sized, pointer, pointer)
            declare(library, None, f"nettle_{mode}_digest", *sized, pointer)
        ccm = (pointer, pointer, c_size_t, pointer, c_size_t, pointer, c_size_t, c_size_t, pointer, pointer)
        declare(library, None, "nettle_ccm_encrypt_message", *ccm)
        declare(library, ctypes.c_int, "nettle_ccm_decrypt_message", *ccm)
        declare(library, None, "nettle_cmac128_set_key", pointer, pointer, pointer)
        declare(library, None, "nettle_cmac128_init", pointer)
        declare(library, None, "nettle_cmac128_update", pointer, pointer, pointer, c_size_t, pointer)
        declare(library, None, "nettle_cmac128_digest", pointer, pointer, pointer, pointer, c_uint, pointer)
        major, minor = library.nettle_version_major(), library.nettle_version_minor()
        self.version = f"{major}.{minor}"

    @classmethod
    def find(cls) -> Self | None:
        library = load("nettle", ("libnettle.so.8", "libnettle.8.dylib"), ("nettle",))
        return None if library is None else cls(library)

    def supports(self, mode: str, key_bits: int) -> bool:
        return mode in _MODES and key_bits in (128, 192, 256)

    def encrypt(self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"") -> tuple[bytes, bytes]:
        out = ctypes.create_string_buffer(data, len(data) + 16)
        address = ctypes.addressof(out)
        tag = _Message(self._lib, mode, key).run(iv, aad, address, address, len(data), decrypt=False)
        if mode == "ccm":
            return out.raw[:-16], out.raw[-16:]
        return (b"" if mode == "cmac" else out.raw[:-16]), tag

    def decrypt(
        self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"", tag: bytes = b""
    ) -> bytes:
        joined = data + tag if mode == "ccm" else data
        source = ctypes.create_string_buffer(joined, len(joined) + 1)
        out = ctypes.create_string_buffer(len(joined) + 1)
        message = _Message(self._lib, mode, key)
        ours = message.run(iv, aad, ctypes.addressof(out), ctypes.addressof(source), len(data), decrypt=True)
        if ours != (b"" if mode == "ccm" else tag):
            raise InvalidTag("nettle: the tag does not match")
        return data if mode == "cmac" else out.raw[: len(data)]

    def bulk(
        self, mode: str, key: bytes, iv: bytes, buffer: npt.NDArray[np.uint8], *, decrypt: bool = False
    ) -> Callable[[], object]:
        message = _Message(self._lib, mode, key)
        source, length = buffer.ctypes.data, buffer.size
        # CCM writes its tag behind the message.
        joined = ctypes.create_string_buffer(length + _BULK_CCM_TAG) if mode == "ccm" else None
        target = source if joined is None else ctypes.addressof(joined)

        def whole_message() -> object:
            message.run(iv, b"", target, source, length, decrypt=decrypt)
            return joined  # kept alive by the closure

        return whole_message

    def key_setup(self, key: bytes) -> Callable[[], object]:
        message = _Message(self._lib, "ecb", key)
        return lambda: message.set_key(key)


class _Message:
    """Expanded keys and the state of one mode."""

    def __init__(self, library: Any, mode: str, key: bytes) -> None:
        self._lib, self._mode = library, mode
        halves = (key[: len(key) // 2], key[len(key) // 2 :]) if mode == "xts" else (key,)
        self._cipher = _NettleCipher.in_dll(library, f"nettle_twofish{8 * len(halves[0])}")
        self._set_key = _SET_KEY(self._cipher.set_encrypt_key)
        self._contexts = tuple(_aligned(self._cipher.context_size) for _ in halves)
        for context, half in zip(self._contexts, halves, strict=True):
            self._set_key(context, half)
        self._mode_key = _aligned(_GCM_KEY_BYTES)
        self._state = _aligned(_SMALL_STATE_BYTES)
        if mode in ("gcm", "eax", "cmac"):
            name = "cmac128" if mode == "cmac" else mode
            getattr(library, f"nettle_{name}_set_key")(
                self._mode_key, self._contexts[0], self._cipher.encrypt
            )

    def set_key(self, key: bytes) -> None:
        self._set_key(self._contexts[0], key)

    def run(self, iv: bytes, aad: bytes, target: int, source: int, length: int, *, decrypt: bool) -> bytes:
        """Process one message and return its tag (empty for modes without, and for CCM)."""
        lib, cipher, context = self._lib, self._cipher, self._contexts[0]
        direction = "decrypt" if decrypt else "encrypt"
        if self._mode == "ecb":
            _CRYPT(getattr(cipher, direction))(context, length, target, source)
        elif self._mode in ("cbc", "cfb", "cfb8", "ctr"):
            name = "ctr_crypt" if self._mode == "ctr" else f"{self._mode}_{direction}"
            core = cipher.decrypt if name == "cbc_decrypt" else cipher.encrypt
            state = ctypes.create_string_buffer(iv, 16)
            getattr(lib, f"nettle_{name}")(context, core, 16, state, length, target, source)
        elif self._mode == "xts":
            cores = (cipher.decrypt, cipher.encrypt) if decrypt else (cipher.encrypt,)
            function = getattr(lib, f"nettle_xts_{direction}_message")
            function(context, self._contexts[1], *cores, iv, length, target, source)
        elif self._mode == "ccm":
            return self._ccm(iv, aad, target, source, length, decrypt)
        elif self._mode == "cmac":
            return self._cmac(source, length)
        else:
            return self._gcm_or_eax(iv, aad, target, source, length, direction)
        return b""

    def _gcm_or_eax(
        self, iv: bytes, aad: bytes, target: int, source: int, length: int, direction: str
    ) -> bytes:
        lib, mode, tag = self._lib, self._mode, ctypes.create_string_buffer(16)
        core = (self._contexts[0], self._cipher.encrypt)
        both = (self._state, self._mode_key)
        if mode == "gcm":
            lib.nettle_gcm_set_iv(*both, len(iv), iv)
            lib.nettle_gcm_update(*both, len(aad), aad)
        else:
            lib.nettle_eax_set_nonce(*both, *core, len(iv), iv)
            lib.nettle_eax_update(*both, *core, len(aad), aad)
        getattr(lib, f"nettle_{mode}_{direction}")(*both, *core, length, target, source)
        getattr(lib, f"nettle_{mode}_digest")(*both, *core, 16, tag)
        return tag.raw

    def _ccm(self, iv: bytes, aad: bytes, target: int, source: int, length: int, decrypt: bool) -> bytes:
        head = (self._contexts[0], self._cipher.encrypt, len(iv), iv, len(aad), aad, 16)
        if not decrypt:
            self._lib.nettle_ccm_encrypt_message(*head, length + 16, target, source)
        elif not self._lib.nettle_ccm_decrypt_message(*head, length, target, source):
            raise InvalidTag("nettle: the tag does not match")
        return b""

    def _cmac(self, source: int, length: int) -> bytes:
        tag, core = ctypes.create_string_buffer(16), (self._contexts[0], self._cipher.encrypt)
        self._lib.nettle_cmac128_init(self._state)
        self._lib.nettle_cmac128_update(self._state, *core, length, source)
        self._lib.nettle_cmac128_digest(self._state, self._mode_key, *core, 16, tag)
        return tag.raw


def _aligned(size: int) -> Any:
    """A zeroed C array of ``size`` bytes at a multiple of 64, as nettle's structures want."""
    memory = ctypes.create_string_buffer(size + _ALIGNMENT)
    offset = -ctypes.addressof(memory) % _ALIGNMENT
    return (ctypes.c_char * size).from_buffer(memory, offset)
