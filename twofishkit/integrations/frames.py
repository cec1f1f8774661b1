"""One chunk of an array, encrypted: what the Zarr codec and the numcodecs codec write.

    frame = 89 54 46 5A || version (1) || mode (1) || key check (6) || nonce || message

The first twelve bytes are associated data. Modes:

1. GCM: nonce of 12 random bytes, ciphertext || tag.
2. SIV: nonce of 16 random bytes, tag || ciphertext. A nonce that repeats, as after a virtual machine
   was cloned, tells only whether chunks are equal.

Key and key check are derived from the 32-byte key of the given id:

    check || key = HKDF-Expand(SHA-512, key of the id, "twofishkit/zarr-codec/v1/" || "gcm" or "siv")

so that a wrong key is told from an altered chunk, and one key may serve for sealed files too.
`docs/format.md` has the byte table.
"""

import contextlib
import secrets
import threading
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from twofishkit import backend
from twofishkit.buffers import as_bytes, writable
from twofishkit.errors import FormatError, InvalidParameter, InvalidTag, WrongKey
from twofishkit.integrations import keys
from twofishkit.modes.gcm import GCM
from twofishkit.modes.siv import SIV
from twofishkit.sealed.stream import Bytes, hkdf_expand

Mode = Literal["gcm", "siv"]

MAGIC = b"\x89TFZ"
VERSION = 1
HEADER_BYTES = 12
TAG_BYTES = 16
_CHECK_BYTES = 6
#: Number in the frame, bytes of the nonce, bytes of the derived key.
_MODES: dict[str, tuple[int, int, int]] = {"gcm": (1, 12, 32), "siv": (2, 16, 64)}


def check_mode(mode: object) -> Mode:
    """Raise InvalidParameter unless it is the name of a mode."""
    if mode == "gcm":
        return "gcm"
    if mode == "siv":
        return "siv"
    raise InvalidParameter(f"mode is {mode!a}; it must be 'gcm' or 'siv'")


def overhead(mode: Mode) -> int:
    """Bytes by which a frame is longer than its chunk."""
    return HEADER_BYTES + _MODES[mode][1] + TAG_BYTES


class Framer:
    """Encrypts and decrypts chunks under the key of one id; the key is looked up when it is made."""

    def __init__(self, key_id: str, mode: Mode) -> None:
        number, self._nonce_bytes, key_bytes = _MODES[mode]
        label = f"twofishkit/zarr-codec/v1/{mode}".encode()
        material = hkdf_expand(keys.get_key(key_id), label, _CHECK_BYTES + key_bytes)
        self._key_id, self._mode = key_id, mode
        self._header = MAGIC + bytes([VERSION, number]) + material[:_CHECK_BYTES]
        derived = material[_CHECK_BYTES:]
        made = GCM if mode == "gcm" else SIV
        self._aead: Any = made(derived)
        chosen = backend.current()
        with backend.use(chosen.cipher.name, ghash=chosen.ghash.name, threads=1):
            self._aead_of_many: Any = made(derived)
        self._at_work, self._lock = 0, threading.Lock()
        self._start = HEADER_BYTES + self._nonce_bytes

    @contextlib.contextmanager
    def _working(self) -> Iterator[Any]:
        """The AEAD to use: one chunk is split over threads, several at once are not split again."""
        with self._lock:
            alone = self._at_work == 0
            self._at_work += 1
        try:
            yield self._aead if alone else self._aead_of_many
        finally:
            with self._lock:
                self._at_work -= 1

    def encode(self, chunk: Any) -> Bytes:
        """The frame of a chunk, uint8[n]."""
        data = as_bytes(chunk, "chunk")
        frame = np.empty(self._start + data.size + TAG_BYTES, np.uint8)
        nonce = secrets.token_bytes(self._nonce_bytes)
        frame[: self._start] = np.frombuffer(self._header + nonce, np.uint8)
        with self._working() as aead:
            aead.encrypt(nonce, data, self._header, out=frame[self._start :])
        return frame

    def decode(self, frame: Any, out: Any = None) -> Any:
        """The chunk in a frame: uint8[n], or out.

        Raises
        ------
        FormatError
            If it is no frame.
        WrongKey
            If it was encrypted with another key.
        InvalidTag
            If it was altered.
        """
        data = as_bytes(frame, "chunk")
        header = data[:HEADER_BYTES].tobytes()
        if not header.startswith(MAGIC) or data.size < self._start + TAG_BYTES:
            raise FormatError(f"a chunk of {data.size} bytes that is not encrypted by twofishkit, or was cut")
        if header[:6] != self._header[:6]:
            raise FormatError(f"a chunk of version {header[4]}, mode {header[5]}; expected was {self._mode}")
        if header != self._header:
            raise WrongKey(f"the key {self._key_id!r} here is not the one that the chunk was encrypted with")
        nonce = data[HEADER_BYTES : self._start].tobytes()
        n = data.size - self._start - TAG_BYTES
        target = np.empty(n, np.uint8) if out is None else writable(out, n)
        try:
            with self._working() as aead:
                aead.decrypt(nonce, data[self._start :], header, out=target)
        except InvalidTag:
            raise InvalidTag(f"a chunk under the key {self._key_id!r} was altered") from None
        return target if out is None else out
