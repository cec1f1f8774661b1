"""oxifish, a Twofish package on PyPI (RustCrypto's cipher behind a Python interface)."""

import importlib
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

_MODES = ("ecb", "cbc", "cfb", "ofb", "ctr", "ctr64", "ctr32", "xts")


class Oxifish:
    """See `twofishkit.testing.peers.Peer`. XTS takes tweaks as integers, little-endian."""

    name = "oxifish"

    def __init__(self, module: Any) -> None:
        self._module = module
        self.version: str = module.__version__

    @classmethod
    def find(cls) -> Self | None:
        try:
            module = importlib.import_module("oxifish")
        except ImportError:
            return None
        # Releases before 0.3 had another interface.
        return cls(module) if hasattr(module, "TwofishXTS") else None

    def supports(self, mode: str, key_bits: int) -> bool:
        # Two joined 192-bit keys are refused.
        return mode in _MODES and key_bits in ((128, 256) if mode == "xts" else (128, 192, 256))

    def encrypt(self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"") -> tuple[bytes, bytes]:
        return self._call(mode, key, iv, decrypt=False)(data), b""

    def decrypt(
        self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"", tag: bytes = b""
    ) -> bytes:
        return self._call(mode, key, iv, decrypt=True)(data)

    def bulk(
        self, mode: str, key: bytes, iv: bytes, buffer: npt.NDArray[np.uint8], *, decrypt: bool = False
    ) -> Callable[[], object]:
        # It has no way to write into a buffer: every call makes a new bytes object.
        call, data = self._call(mode, key, iv, decrypt=decrypt), buffer.tobytes()
        return lambda: call(data)

    def key_setup(self, key: bytes) -> Callable[[], object]:
        return lambda: self._module.TwofishKey(key)

    def _call(self, mode: str, key: bytes, iv: bytes, *, decrypt: bool) -> Callable[[bytes], bytes]:
        direction = "decrypt" if decrypt else "encrypt"
        if mode == "xts":
            xts, tweak = self._module.TwofishXTS(key), int.from_bytes(iv, "little")
            return lambda data: bytes(getattr(xts, direction)(data, tweak=tweak))
        keyed = self._module.TwofishKey(key)
        if mode == "ecb":
            session = keyed.ecb_decryptor if decrypt else keyed.ecb_encryptor
            return lambda data: bytes(session(padding="none").finalize(data))
        options: dict[str, Any] = {"padding": "none"} if mode == "cbc" else {}
        if mode in ("ctr64", "ctr32"):
            mode, options = "ctr", {"ctr_width": int(mode[3:])}
        return lambda data: bytes(getattr(keyed, direction)(data, mode, iv=iv, **options))
