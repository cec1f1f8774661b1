"""What the functions of the lab take: keys, blocks and words as arrays that broadcast."""

import hashlib
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from twofishkit.buffers import Bytes, Data, as_bytes
from twofishkit.errors import InvalidKey, InvalidLength, InvalidParameter, UnsupportedType

Words: TypeAlias = npt.NDArray[np.uint32]

KEY_SIZES = (16, 24, 32)
ROUNDS = 16


def _rows(data: Data, name: str) -> Bytes:
    """An array of bytes as it is, other bytes-like objects as uint8[n]."""
    if not isinstance(data, np.ndarray):
        return as_bytes(data, name)
    if data.dtype != np.uint8:
        raise UnsupportedType(f"{name} has dtype {data.dtype}; it must be uint8, or bytes-like")
    return data


def as_keys(keys: Data) -> Bytes:
    """uint8[..., 16 | 24 | 32] from an array of keys, or from one bytes-like key.

    Raises
    ------
    InvalidKey : the last axis, or the length, is another
    UnsupportedType : an array of another dtype, or not bytes-like
    """
    rows = _rows(keys, "keys")
    if rows.ndim == 0 or rows.shape[-1] not in KEY_SIZES:
        given = f"shape {rows.shape}" if isinstance(keys, np.ndarray) else f"{rows.size} bytes"
        raise InvalidKey(f"keys has {given}; it must be (..., 16), (..., 24) or (..., 32), or one such key")
    return rows


def as_blocks(blocks: Data) -> Bytes:
    """uint8[..., 16] from an array of blocks, or from bytes: uint8[16] or uint8[n, 16].

    Raises
    ------
    InvalidLength : the last axis is not 16, or the length no multiple of 16
    UnsupportedType : an array of another dtype, or not bytes-like
    """
    rows = _rows(blocks, "blocks")
    if isinstance(blocks, np.ndarray):
        if rows.ndim == 0 or rows.shape[-1] != 16:
            raise InvalidLength(f"blocks has shape {rows.shape}; it must be (..., 16)")
        return rows
    if rows.size % 16:
        raise InvalidLength(f"blocks has {rows.size} bytes; it must be whole blocks of 16 bytes")
    return rows if rows.size == 16 else rows.reshape(-1, 16)


def as_words(words: Any, name: str = "words") -> Words:
    """uint32[...] from integers below 2^32.

    Raises
    ------
    UnsupportedType : not integers
    InvalidParameter : a negative one, or one of more than 32 bits
    """
    values = np.asarray(words)
    if values.dtype == np.uint32:
        return values
    if values.dtype.kind not in "iu":
        if values.dtype == object and all(isinstance(each, int) for each in values.flat):
            raise InvalidParameter(f"{name} holds a number that does not fit 32 bits")
        raise UnsupportedType(f"{name} has dtype {values.dtype}; it must hold integers below 2^32")
    if values.size and (values.min() < 0 or values.max() > 0xFFFFFFFF):
        raise InvalidParameter(f"{name} holds a number that does not fit 32 bits, and must be below 2^32")
    return values.astype(np.uint32)


def as_number(value: Any, name: str, least: int, most: int) -> int:
    """An integer from ``least`` to ``most``.

    Raises
    ------
    UnsupportedType, InvalidParameter
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise UnsupportedType(f"{name} must be an integer, and is of type {type(value).__name__}")
    if not least <= value <= most:
        raise InvalidParameter(f"{name} is {value}; it must be {least} to {most}")
    return int(value)


def random_bytes(seed: int, what: str, *shape: int) -> Bytes:
    """Bytes that look random and are the same on every machine: SHAKE-128 of the seed."""
    count = int(np.prod(shape))
    stream = hashlib.shake_128(f"twofishkit.lab, {what}, {seed}".encode()).digest(count)
    return np.frombuffer(stream, np.uint8).reshape(shape)
