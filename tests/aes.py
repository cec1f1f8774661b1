"""AES behind the cipher's slots, so that mode code meets vectors published for AES.

`AES(key)` is what a mode takes for its key: it has ``_kernels``, ``_schedule``, ``key_size`` and
``block_size``, as `twofishkit.Twofish` has. The block function is OpenSSL's (through `cryptography`), the
modes are those of `composed`, GHASH and XOR come from the backend in force or named.
"""

from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from twofishkit import backend, composed
from twofishkit.slots import Bytes


def _expand_key(key: Bytes) -> Cipher[modes.ECB]:
    return Cipher(algorithms.AES(key.tobytes()), modes.ECB())


def _wipe(schedule: Cipher[modes.ECB]) -> None:
    """OpenSSL owns the expanded key."""


def _encrypt_blocks(schedule: Cipher[modes.ECB], src: Bytes, dst: Bytes) -> None:
    dst[:] = np.frombuffer(schedule.encryptor().update(src.tobytes()), np.uint8)


def _decrypt_blocks(schedule: Cipher[modes.ECB], src: Bytes, dst: Bytes) -> None:
    dst[:] = np.frombuffer(schedule.decryptor().update(src.tobytes()), np.uint8)


SLOTS = composed.derive(
    name="aes",
    constant_time=True,
    expand_key=_expand_key,
    wipe=_wipe,
    encrypt_blocks=_encrypt_blocks,
    decrypt_blocks=_decrypt_blocks,
)


class AES:
    """A cipher object for the modes: AES with a key of 16, 24 or 32 bytes.

    Parameters
    ----------
    key : bytes-like
    ghash : str, optional
        name of a GHASH implementation; without it, the one in force
    """

    block_size = 16
    backend = "aes"

    def __init__(self, key: Any, *, ghash: str | None = None) -> None:
        serving = backend.kernels(ghash_name=ghash) if ghash else backend.current()
        self._kernels = composed.join(SLOTS, serving.ghash, serving.xor)
        self._schedule = SLOTS.expand_key(np.frombuffer(key, np.uint8))
        self.key_size = len(memoryview(key).cast("B"))
