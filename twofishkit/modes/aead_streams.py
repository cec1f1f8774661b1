"""Streaming contexts of the authenticated modes that can stream: GCM, OCB and EAX.

Encryption gives out whole blocks as they come and the rest at the end. Decryption gives out nothing
before the end, because nothing is known to be genuine before the tag was checked.
"""

from typing import Protocol

import numpy as np

from twofishkit.blocks import BLOCK_BYTES, BlockQueue
from twofishkit.buffers import Bytes, Data, Out, Result, as_bytes, byte_length, output_like, separate
from twofishkit.errors import LimitExceeded, StateError
from twofishkit.modes.aead import AAD_LIMIT_BYTES, Mode, tag_bytes


class Message(Protocol):
    """One message under one nonce; what a mode does block by block."""

    def absorb_aad(self, src: Bytes) -> None:
        """Append associated data, any length; only before `encrypt`."""

    def encrypt(self, src: Bytes, dst: Bytes) -> None:
        """Encrypt the next whole blocks, or the rest of the message."""

    def tag(self) -> bytes:
        """Return the tag, 16 bytes."""


def _check_aad_total(n: int) -> None:
    if n > AAD_LIMIT_BYTES:
        raise LimitExceeded(f"aad would have {n} bytes; at most 2^61 - 1 can be authenticated")


class AeadEncryptor:
    """Encrypts one message chunk by chunk; made by ``encryptor(nonce, aad)`` of a mode.

    Any split of the data into `update` calls gives the ciphertext and tag of the one-shot call.
    """

    __slots__ = ("_aad_bytes", "_bytes", "_message", "_mode", "_nonce", "_queue", "_tag")

    def __init__(self, mode: Mode, nonce: bytes, message: Message, aad: Data) -> None:
        self._mode = mode
        self._nonce = nonce
        self._message = message
        self._queue = BlockQueue()
        self._bytes = 0
        self._aad_bytes = 0
        self._tag: bytes | None = None
        self.update_aad(aad)

    def update_aad(self, data: Data) -> None:
        """Append associated data; only before the first `update`.

        Raises
        ------
        StateError
            If data was encrypted already, or after `finalize`.
        """
        self._check_open()
        if self._bytes:
            raise StateError("associated data must come before the data; call update_aad before update")
        n = self._aad_bytes + byte_length(data, "aad")
        _check_aad_total(n)
        self._message.absorb_aad(as_bytes(data, "aad"))
        self._aad_bytes = n

    def update(self, data: Data, *, out: Out = None) -> Result:
        """Encrypt a chunk of any length; return the whole blocks of ciphertext that it completes.

        Parameters
        ----------
        data : bytes-like or ndarray
        out : writable buffer, optional
            Of exactly as many bytes as there will be: those that wait and those that come, rounded
            down to whole blocks.

        Returns
        -------
        bytes (for arrays too: a chunk has no shape of its own), or ``out`` if it is given.

        Raises
        ------
        LimitExceeded
            If the message would become longer than the mode allows.
        StateError
            After `finalize`, or if the key was wiped.
        UnsupportedType, InvalidBuffer
            If data cannot be read or out cannot take the result.

        Notes
        -----
        Errors of arguments leave the context as it was.
        """
        self._check_open()
        n = byte_length(data)
        self._mode._check_length(self._bytes + n, self._nonce)
        ready = self._queue.held + n
        dst, finish = output_like(b"", ready - ready % BLOCK_BYTES, out)
        # With bytes waiting, output runs ahead of input: only without them may they share memory.
        src = separate(as_bytes(data), dst, in_place=not self._queue.held)
        at = 0
        for run in self._queue.feed(src):
            self._message.encrypt(run, dst[at : at + run.size])
            at += run.size
        self._bytes += n
        return finish()

    def finalize(self) -> bytes:
        """Return the rest of the ciphertext, 0 to 15 bytes; `tag` is available from now on.

        Raises
        ------
        StateError
            After `finalize`.
        """
        self._check_open()
        rest = np.empty(self._queue.held, np.uint8)
        self._message.encrypt(self._queue.block[: rest.size], rest)
        self._tag = self._message.tag()[: self._mode.tag_length]
        self._queue.clear()
        return rest.tobytes()

    @property
    def tag(self) -> bytes:
        """The tag. Raises StateError before `finalize`."""
        if self._tag is None:
            raise StateError("the tag is known after finalize() only")
        return self._tag

    def _check_open(self) -> None:
        if self._tag is not None:
            raise StateError("this encryptor is finished; make a new one for the next message")


class AeadDecryptor:
    """Decrypts one message given chunk by chunk; made by ``decryptor(nonce, aad)`` of a mode.

    No unverified plaintext is ever given out: `update` only collects the ciphertext and returns
    b"", `finalize` checks the tag and returns all of the plaintext. A stream that does not fit in
    memory must be cut into messages of its own (as `seal` does).
    """

    __slots__ = ("_aad", "_ciphertext", "_finished", "_mode", "_nonce")

    def __init__(self, mode: Mode, nonce: Data, aad: Data) -> None:
        self._mode = mode
        self._nonce = mode._check_nonce(nonce)
        self._aad = bytearray()
        self._ciphertext = bytearray()
        self._finished = False
        self.update_aad(aad)

    def update_aad(self, data: Data) -> None:
        """Append associated data; only before the first `update`.

        Raises
        ------
        StateError
            If ciphertext was given already, or after `finalize`.
        """
        self._check_open()
        if self._ciphertext:
            raise StateError("associated data must come before the data; call update_aad before update")
        _check_aad_total(len(self._aad) + byte_length(data, "aad"))
        self._aad += as_bytes(data, "aad").data

    def update(self, data: Data) -> bytes:
        """Collect a chunk of ciphertext, any length; always return b"".

        Raises
        ------
        LimitExceeded
            If the message would become longer than the mode allows; the chunk is not consumed.
        StateError
            After `finalize`.
        """
        self._check_open()
        self._mode._check_length(len(self._ciphertext) + byte_length(data), self._nonce)
        self._ciphertext += as_bytes(data).data
        return b""

    def finalize(self, tag: Data) -> bytes:
        """Check the tag and return all of the plaintext.

        Raises
        ------
        InvalidTag
            If the tag does not fit or does not have the right length; nothing is returned, and the
            decryptor is finished.
        StateError
            After `finalize`.
        """
        self._check_open()
        given = as_bytes(tag, "tag")
        self._finished = True
        ciphertext, self._ciphertext = self._ciphertext, bytearray()
        checked_tag = tag_bytes(given, self._mode.tag_length)
        src = as_bytes(ciphertext)
        dst, finish = output_like(b"", src.size)
        self._mode._open(self._nonce, as_bytes(self._aad), src, checked_tag, dst, True)
        plaintext: bytes = finish()
        return plaintext

    def _check_open(self) -> None:
        if self._finished:
            raise StateError("this decryptor is finished; make a new one for the next message")
