"""Streams cut into whole 16-byte blocks, and hashes that absorb such blocks.

Everything that reads a stream (MACs, universal hashes, streaming contexts) needs the same
bookkeeping: finish the block begun by an earlier chunk, take the whole blocks straight from the
chunk without a copy, keep the rest for later. It is written once, here.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from twofishkit.buffers import Bytes

BLOCK_BYTES = 16


class BlockQueue:
    """Holds the bytes of a stream that do not fill a block yet.

    Parameters
    ----------
    hold_last : bool
        When true the last block of the stream is held even if it is whole, for MACs that treat
        the last block apart (CMAC); then 0 to 16 bytes are held, otherwise 0 to 15.

    Attributes
    ----------
    block : uint8[16]
        The held bytes are the first `held`; the others have no meaning.
    held : int
    """

    __slots__ = ("_hold_last", "block", "held")

    def __init__(self, hold_last: bool = False) -> None:
        self._hold_last = hold_last
        self.block = np.zeros(BLOCK_BYTES, np.uint8)
        self.held = 0

    def feed(self, src: Bytes) -> Iterator[Bytes]:
        """Yield the runs of whole blocks that the stream holds once src is appended to it.

        A run is a view of `block` or of src: use it before asking for the next one. The
        generator must be exhausted, or bytes are lost.

        Parameters
        ----------
        src : uint8[n]
            C-contiguous, n >= 0.
        """
        if self.held:
            taken = min(BLOCK_BYTES - self.held, src.size)
            self.block[self.held : self.held + taken] = src[:taken]
            self.held += taken
            src = src[taken:]
            if self.held < BLOCK_BYTES or (self._hold_last and not src.size):
                return
            self.held = 0
            yield self.block
        whole = src.size - (1 if self._hold_last and src.size else 0)
        whole -= whole % BLOCK_BYTES
        if whole:
            yield src[:whole]
        self.held = src.size - whole
        self.block[: self.held] = src[whole:]

    def padded(self, first: int = 0) -> Bytes:
        """Return a new uint8[16]: the held bytes, then (if there is room) first, then zeros."""
        block = np.zeros(BLOCK_BYTES, np.uint8)
        block[: self.held] = self.block[: self.held]
        if self.held < BLOCK_BYTES:
            block[self.held] = first
        return block

    def copy(self) -> "BlockQueue":
        """Return an independent queue in the same state."""
        twin = BlockQueue.__new__(BlockQueue)
        twin._hold_last = self._hold_last
        twin.block = self.block.copy()
        twin.held = self.held
        return twin

    def clear(self) -> None:
        """Overwrite and forget the held bytes."""
        self.block.fill(0)
        self.held = 0


class BlockHash:
    """An iterated hash over blocks: state = f(key, state ^ block), from state = 0.

    f is a block cipher for CBC-MAC and a multiplication in GF(2^128) for GHASH and POLYVAL.

    Parameters
    ----------
    absorb : slot ``(key, state, src)``
        Absorbs whole blocks: `CipherSlots.cbc_mac`, `GhashSlots.ghash` or `GhashSlots.polyval`.
    key : schedule or table
        In the form that absorb wants.
    hold_last : bool
        As for `BlockQueue`.

    Attributes
    ----------
    state : uint8[16]
    queue : BlockQueue
    length : int
        Bytes hashed so far, without padding.
    """

    __slots__ = ("absorb", "key", "length", "queue", "state")

    def __init__(self, absorb: Callable[..., None], key: Any, hold_last: bool = False) -> None:
        self.absorb = absorb
        self.key = key
        self.queue = BlockQueue(hold_last)
        self.state = np.zeros(BLOCK_BYTES, np.uint8)
        self.length = 0

    def update(self, src: Bytes) -> None:
        """Append src, uint8[n] with any n >= 0."""
        for run in self.queue.feed(src):
            self.absorb(self.key, self.state, run)
        self.length += src.size

    def pad(self) -> None:
        """Fill an unfinished block with zeros, so that the next byte begins a new block."""
        if self.queue.held:
            self.absorb(self.key, self.state, self.queue.padded())
            self.queue.clear()

    def copy(self) -> "BlockHash":
        """Return an independent hash in the same state."""
        twin = BlockHash.__new__(BlockHash)
        twin.absorb, twin.key = self.absorb, self.key
        twin.queue = self.queue.copy()
        twin.state = self.state.copy()
        twin.length = self.length
        return twin


def view(block: bytes) -> Bytes:
    """Return the read-only uint8[n] that shares the memory of bytes."""
    return np.frombuffer(block, np.uint8)


def zero_block() -> Bytes:
    """Return a new uint8[16] of zeros."""
    return np.zeros(BLOCK_BYTES, np.uint8)


def xor_blocks(a: bytes | Bytes, b: bytes | Bytes) -> bytes:
    """Return a ^ b for two blocks of 16 bytes."""
    number = int.from_bytes(a, "big") ^ int.from_bytes(b, "big")
    return number.to_bytes(BLOCK_BYTES, "big")


def double(block: bytes | Bytes) -> bytes:
    """Return x . block in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1, big-endian.

    Timing: big integers of Python, nearly constant; keys pass here once per object.
    Source: RFC 7253, section 2 (double); NIST SP 800-38B, 6.1 (subkeys).
    """
    number = int.from_bytes(block, "big") << 1
    return ((number ^ (number >> 128) * 0x87) & (1 << 128) - 1).to_bytes(BLOCK_BYTES, "big")
