"""Initialization vectors, one or many, and batches of independent messages for the serial modes.

CBC, CFB and OFB encryption cannot run blocks of one message side by side, since each needs the one
before. Independent messages can: ``encrypt_many`` gives the kernels one message a lane.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from twofishkit.buffers import Bytes, Data, Out, Result, byte_length, prepare, small
from twofishkit.cipher import BLOCK_SIZE
from twofishkit.errors import InvalidLength, InvalidNonce, UnsupportedType

#: Messages shorter than this many bytes are decrypted in groups, longer ones on their own.
GROUPED_BELOW = 1 << 13

#: A group has about this many bytes, so that its temporary copies stay in the cache.
_GROUP_BYTES = 1 << 18


def fixed_iv(iv: Data | None) -> Bytes | None:
    """The iv of a mode object as uint8[16] of its own; None stays None.

    Raises
    ------
    InvalidNonce
        If it does not have 16 bytes.
    """
    if iv is None:
        return None
    return np.frombuffer(small(iv, "iv", (BLOCK_SIZE,), "16 bytes"), np.uint8)


def state(iv: Bytes | None, mode: str) -> Bytes:
    """A copy of the iv that slots may advance.

    Raises
    ------
    InvalidNonce
        If the object was made without one.
    """
    if iv is None:
        raise InvalidNonce(
            f"this {mode} object was made without an iv and serves batches only: {mode}(key, iv)"
        )
    return iv.copy()


def batch(
    ivs: npt.NDArray[np.uint8], data: npt.NDArray[Any], out: Out, mode: str, *, whole_blocks: bool
) -> tuple[Bytes, Bytes, Bytes, Callable[[], Result]]:
    """What a batch call works on: ivs uint8[n, 16] of its own, src and dst uint8[n, m], finish.

    Raises
    ------
    UnsupportedType
        If ivs is not a uint8 array or data is not an array.
    InvalidNonce
        If ivs does not have shape (n, 16).
    InvalidLength
        If data does not have n messages, or whole blocks are needed and they are not.
    InvalidBuffer
        If out cannot take the result.
    """
    if not isinstance(ivs, np.ndarray) or ivs.dtype != np.uint8:
        given = f"an array of {ivs.dtype}" if isinstance(ivs, np.ndarray) else f"of type {type(ivs).__name__}"
        raise UnsupportedType(f"ivs must be a uint8 array of shape (n, 16), and is {given}")
    if ivs.ndim != 2 or ivs.shape[1] != BLOCK_SIZE:
        raise InvalidNonce(f"ivs has shape {ivs.shape}; it must be (n, 16), one iv for each message")
    if not isinstance(data, np.ndarray):
        raise UnsupportedType(
            "data must be an array whose first axis counts the messages, and is of type"
            f" {type(data).__name__}"
        )
    byte_length(data)
    n = len(ivs)
    if data.ndim == 0 or data.shape[0] != n:
        raise InvalidLength(f"data has shape {data.shape}; with {n} ivs its first axis must be {n}")
    m = data.itemsize * int(np.prod(data.shape[1:], dtype=np.int64))
    if whole_blocks and m % BLOCK_SIZE:
        raise InvalidLength(
            f"each message has {m} bytes; {mode} processes whole blocks of {BLOCK_SIZE} bytes"
        )
    src, dst, finish = prepare(data, out)
    own = np.array(ivs, np.uint8, order="C")
    return own, src.reshape(n, m), dst.reshape(n, m), finish


def groups(n: int, m: int) -> list[slice]:
    """Slices over n messages of m bytes each, such that a slice has about `_GROUP_BYTES`."""
    size = max(1, _GROUP_BYTES // max(m, 1))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def previous_blocks(ivs: Bytes, src: Bytes) -> Bytes:
    """For each message its iv and its ciphertext blocks but the last, as uint8[n, 16 * ceil(m / 16)]."""
    n, m = src.shape
    previous = np.empty((n, -(-m // BLOCK_SIZE) * BLOCK_SIZE), np.uint8)
    if m:
        previous[:, :BLOCK_SIZE] = ivs
        previous[:, BLOCK_SIZE:] = src[:, : previous.shape[1] - BLOCK_SIZE]
    return previous
