"""Streaming contexts: a message given piece by piece, of any sizes, comes out as if given at once.

A context is what ``encryptor()`` and ``decryptor()`` return. It holds all of the state, so that mode
objects stay immutable; it serves one message and one thread. ``update`` returns what the piece
completes, ``finalize`` ends the message. An error in an argument leaves state and out as they were.

- `BlockContext`: whole blocks only (ECB, CBC); an incomplete block waits for the next piece.
- `KeystreamContext`: bytes XOR keystream (OFB); a keystream block that is used in part waits.
- `CounterContext`: the same with a position that can be set and a limit (CTR).
- `FeedbackContext`: CFB-128, where the ciphertext block so far waits as well.
- `ByteContext`: byte by byte (CFB8); nothing waits.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from twofishkit.buffers import Bytes, Data, Out, Result, as_bytes, byte_length, output_like, separate
from twofishkit.cipher import BLOCK_SIZE, Cipher, as_index
from twofishkit.errors import InvalidParameter, LimitExceeded, StateError
from twofishkit.modes.padding import check_padded_length, check_whole_blocks, kept, last_block
from twofishkit.slots import Schedule

#: Processes whole blocks, (schedule, src, dst), going on where the call before stopped.
Transform = Callable[[Schedule, Bytes, Bytes], None]


def _check_open(finished: bool) -> None:
    if finished:
        raise StateError("this context was finalized; make a new one for the next message")


def _piece(data: Data, out: Out) -> tuple[Bytes, Bytes, Callable[[], Result]]:
    """As `buffers.prepare`, except that an array gives bytes too: a piece has no shape of its own."""
    dst, finish = output_like(b"", byte_length(data), out)
    return separate(as_bytes(data), dst), dst, finish


class BlockContext:
    """ECB or CBC of one message, given in pieces.

    Parameters
    ----------
    cipher : Twofish
    transform : callable
        Processes whole blocks in order.
    mode : str
        What error messages call the mode.
    padded, decrypting : bool
        Whether PKCS#7 padding is added or removed, and which of the two.
    """

    __slots__ = ("_cipher", "_decrypting", "_finished", "_mode", "_padded", "_pending", "_transform")

    def __init__(
        self, cipher: Cipher, transform: Transform, mode: str, *, padded: bool, decrypting: bool
    ) -> None:
        self._cipher = cipher
        self._transform = transform
        self._mode = mode
        self._padded = padded
        self._decrypting = decrypting
        self._pending = np.empty(0, np.uint8)  # 0 to 15 bytes, or 16 while the last block is held back
        self._finished = False

    def update(self, data: Data, *, out: Out = None) -> Result:
        """Process the blocks that data completes.

        Parameters
        ----------
        data : bytes-like or ndarray
            The next piece, of any length.
        out : writable buffer, optional
            Of exactly as many bytes as there will be: those waiting and the new ones, rounded down
            to whole blocks. When padding is to be removed, the last block so far is held back.

        Returns
        -------
        bytes, or ``out`` if it is given.

        Raises
        ------
        StateError
            After `finalize`, or if the key was wiped.
        UnsupportedType, InvalidBuffer
            If data cannot be read or out cannot take the result.
        """
        _check_open(self._finished)
        schedule = self._cipher._schedule
        src = as_bytes(data)
        pending = self._pending
        total = pending.size + src.size
        ready = total - total % BLOCK_SIZE
        if self._padded and self._decrypting and ready == total and ready:
            ready -= BLOCK_SIZE
        dst, finish = output_like(b"", ready, out)
        if not ready:
            self._pending = np.concatenate((pending, src))
            return finish()
        # With bytes waiting, output runs ahead of input: only without them may they share memory.
        src = separate(src, dst, in_place=not pending.size)
        used = ready - pending.size
        if pending.size:
            head = BLOCK_SIZE - pending.size
            self._transform(schedule, np.concatenate((pending, src[:head])), dst[:BLOCK_SIZE])
            self._transform(schedule, src[head:used], dst[BLOCK_SIZE:])
        else:
            self._transform(schedule, src[:used], dst)
        self._pending = src[used:].copy()
        return finish()

    def finalize(self) -> bytes:
        """End the message: the padded last block, the unpadded one, or nothing.

        Raises
        ------
        InvalidLength
            If the message was not whole blocks (without padding, or when decrypting).
        InvalidPadding
            If the message does not end in the padding that is to be removed.
        StateError
            If called twice, or if the key was wiped.
        """
        _check_open(self._finished)
        schedule = self._cipher._schedule
        n = self._pending.size
        if not self._padded:
            check_whole_blocks(n, self._mode)
        elif self._decrypting:
            check_padded_length(n, self._mode)
        self._finished = True
        if not self._padded:
            return b""
        block = np.empty(BLOCK_SIZE, np.uint8)
        self._transform(schedule, self._pending if self._decrypting else last_block(self._pending), block)
        return block[: kept(block) if self._decrypting else BLOCK_SIZE].tobytes()


class KeystreamContext:
    """OFB of one message, given in pieces; it encrypts and decrypts alike.

    Parameters
    ----------
    cipher : Twofish
    transform : callable
        XORs the next blocks of the keystream to whole blocks.
    """

    __slots__ = ("_cipher", "_finished", "_left", "_transform")

    def __init__(self, cipher: Cipher, transform: Transform) -> None:
        self._cipher = cipher
        self._transform = transform
        self._left = np.empty(0, np.uint8)  # what remains of the keystream block in use
        self._finished = False

    def update(self, data: Data, *, out: Out = None) -> Result:
        """Process the next piece: as many bytes come out as go in.

        Parameters
        ----------
        data : bytes-like or ndarray
        out : writable buffer, optional
            Of as many bytes; may be data itself.

        Returns
        -------
        bytes, or ``out`` if it is given.

        Raises
        ------
        StateError
            After `finalize`, or if the key was wiped.
        UnsupportedType, InvalidBuffer
            If data cannot be read or out cannot take the result.
        """
        _check_open(self._finished)
        schedule = self._cipher._schedule
        src, dst, finish = _piece(data, out)
        head = min(self._left.size, src.size)
        tail = (src.size - head) % BLOCK_SIZE
        end = src.size - tail
        np.bitwise_xor(src[:head], self._left[:head], out=dst[:head])
        self._left = self._left[head:]
        if head < end:
            self._transform(schedule, src[head:end], dst[head:end])
        if tail:
            keystream = np.zeros(BLOCK_SIZE, np.uint8)
            self._transform(schedule, keystream, keystream)
            np.bitwise_xor(src[end:], keystream[:tail], out=dst[end:])
            self._left = keystream[tail:]
        return finish()

    def finalize(self) -> bytes:
        """End the message; nothing is left to return.

        Raises
        ------
        StateError
            If called twice.
        """
        _check_open(self._finished)
        self._finished = True
        return b""


class CounterContext:
    """CTR of one message, given in pieces from any block on; it encrypts and decrypts alike.

    Parameters
    ----------
    cipher : Twofish
    slot : callable
        The ``ctr`` slot with its counter, (schedule, counter, src, dst).
    counter_at : callable
        The counter block number i of the message, as uint8[16].
    max_blocks : int
        Blocks before the counter repeats.
    """

    __slots__ = ("_counter", "_counter_at", "_max_blocks", "_position", "_stream")

    def __init__(
        self,
        cipher: Cipher,
        slot: Callable[[Schedule, Bytes, Bytes, Bytes], None],
        counter_at: Callable[[int], Bytes],
        max_blocks: int,
    ) -> None:
        counter = counter_at(0)
        self._counter = counter
        self._counter_at = counter_at
        self._max_blocks = max_blocks
        self._position = 0  # bytes from the start of the message
        self._stream = KeystreamContext(cipher, lambda schedule, src, dst: slot(schedule, counter, src, dst))

    def update(self, data: Data, *, out: Out = None) -> Result:
        """Process the next piece: as many bytes come out as go in.

        Parameters, results and errors are those of `KeystreamContext.update`, and besides

        Raises
        ------
        LimitExceeded
            If the message would need a counter for the second time; nothing is processed then.
        """
        n = byte_length(data)
        if self._position + n > self._max_blocks * BLOCK_SIZE:
            raise LimitExceeded(
                f"{n} bytes more do not fit after {self._position}: the counter gives"
                f" {self._max_blocks} blocks before it repeats"
            )
        result = self._stream.update(data, out=out)
        self._position += n
        return result

    def seek(self, block: int) -> None:
        """Go on at the start of a block: the next byte is number 16 * block of the message.

        Parameters
        ----------
        block : int
            Counted from 0, the block that the iv encrypts.

        Raises
        ------
        InvalidParameter
            If it is negative.
        LimitExceeded
            If the counter does not reach that far.
        StateError
            After `finalize`.
        """
        _check_open(self._stream._finished)
        index = as_index(block, "block")
        if index < 0:
            raise InvalidParameter(f"block is {index}; blocks are counted from 0")
        if index >= self._max_blocks:
            raise LimitExceeded(f"block is {index}; the counter gives {self._max_blocks} before it repeats")
        self._counter[:] = self._counter_at(index)
        self._position = index * BLOCK_SIZE
        self._stream._left = self._stream._left[:0]

    def finalize(self) -> bytes:
        """End the message; nothing is left to return.

        Raises
        ------
        StateError
            If called twice.
        """
        return self._stream.finalize()


class FeedbackContext:
    """CFB-128 of one message, given in pieces.

    Parameters
    ----------
    cipher : Twofish
    slot : callable
        ``cfb_encrypt`` or ``cfb_decrypt``, (schedule, iv, src, dst).
    iv : uint8[16]
        Its own copy: the state.
    decrypting : bool
    """

    # Inside a block, the first _used bytes of _register are ciphertext already, and _keystream is
    # the encryption of the block before. Between blocks _used is 0 and _register is that block.
    __slots__ = ("_cipher", "_decrypting", "_finished", "_keystream", "_register", "_slot", "_used")

    def __init__(self, cipher: Cipher, slot: Callable[..., None], iv: Bytes, *, decrypting: bool) -> None:
        self._cipher = cipher
        self._slot = slot
        self._decrypting = decrypting
        self._register = iv
        self._keystream = np.empty(BLOCK_SIZE, np.uint8)
        self._used = 0
        self._finished = False

    def update(self, data: Data, *, out: Out = None) -> Result:
        """Process the next piece: as many bytes come out as go in.

        Parameters, results and errors are those of `KeystreamContext.update`.
        """
        _check_open(self._finished)
        schedule = self._cipher._schedule
        src, dst, finish = _piece(data, out)
        head = min(-self._used % BLOCK_SIZE, src.size)
        tail = (src.size - head) % BLOCK_SIZE
        end = src.size - tail
        self._within_block(src[:head], dst[:head])
        if head < end:
            self._slot(schedule, self._register, src[head:end], dst[head:end])
        if tail:
            self._cipher._kernels.cipher.encrypt_blocks(schedule, self._register, self._keystream)
            self._within_block(src[end:], dst[end:])
        return finish()

    def _within_block(self, src: Bytes, dst: Bytes) -> None:
        end = self._used + src.size
        register = self._register[self._used : end]
        keystream = self._keystream[self._used : end]
        if self._decrypting:
            register[:] = src
            np.bitwise_xor(src, keystream, out=dst)
        else:
            np.bitwise_xor(src, keystream, out=dst)
            register[:] = dst
        self._used = end % BLOCK_SIZE

    def finalize(self) -> bytes:
        """End the message; nothing is left to return.

        Raises
        ------
        StateError
            If called twice.
        """
        _check_open(self._finished)
        self._finished = True
        return b""


class ByteContext:
    """CFB-8 of one message, given in pieces.

    Parameters
    ----------
    cipher : Twofish
    transform : callable
        Processes any number of bytes.
    """

    __slots__ = ("_cipher", "_finished", "_transform")

    def __init__(self, cipher: Cipher, transform: Callable[[Any, Bytes, Bytes], None]) -> None:
        self._cipher = cipher
        self._transform = transform
        self._finished = False

    def update(self, data: Data, *, out: Out = None) -> Result:
        """Process the next piece: as many bytes come out as go in.

        Parameters, results and errors are those of `KeystreamContext.update`.
        """
        _check_open(self._finished)
        schedule = self._cipher._schedule
        src, dst, finish = _piece(data, out)
        self._transform(schedule, src, dst)
        return finish()

    def finalize(self) -> bytes:
        """End the message; nothing is left to return.

        Raises
        ------
        StateError
            If called twice.
        """
        _check_open(self._finished)
        self._finished = True
        return b""
