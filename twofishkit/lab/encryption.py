"""Encryption of many blocks under many keys, with all rounds or fewer.

The full cipher goes through the current backend's `encrypt_each`. Cut-down versions have a kernel of
their own where the backend is compiled, and are computed with NumPy elsewhere.
"""

import importlib
from typing import Any

import numpy as np

from twofishkit import backend
from twofishkit.buffers import Bytes, Data
from twofishkit.cipher import Twofish
from twofishkit.errors import InvalidLength
from twofishkit.lab.anatomy import layers, rol, round_function, sbox_key_of, subkeys_of
from twofishkit.lab.arguments import ROUNDS, Words, as_blocks, as_keys, as_number

#: Keys a step without a compiler: the arrays of a step stay in the second-level cache.
_STEP_KEYS = 2048


def encrypt(keys: Data, blocks: Data, rounds: int = ROUNDS, whitening: bool = True) -> Bytes:
    """Encrypt blocks, each under its own key: C = E_K(P), for keys and blocks that broadcast.

    Parameters
    ----------
    keys : uint8[..., 16 | 24 | 32], or one bytes-like key
    blocks : uint8[..., 16], or bytes of whole blocks
    rounds : int
        0 to 16. The key schedule is that of the full cipher, and the swap of the last round is undone.
    whitening : bool
        Whether K[0] ... K[7] are XORed to the block before the first round and after the last.

    Returns
    -------
    uint8[..., 16]
        Of the shape to which the shapes of keys and blocks, without their last axes, broadcast.

    Raises
    ------
    InvalidKey, InvalidLength, UnsupportedType
        If keys or blocks are of the wrong shape or dtype, or do not broadcast.
    InvalidParameter
        If rounds is not 0 to 16.

    Notes
    -----
    Timing: depends on the backend for the full cipher; on keys and data otherwise.

    Examples
    --------
    A thousand keys, one block:

    >>> import numpy as np
    >>> from twofishkit import lab
    >>> keys = np.zeros((1000, 32), np.uint8)
    >>> keys[:, 0] = np.arange(1000) % 256
    >>> lab.encrypt(keys, bytes(16)).shape
    (1000, 16)
    >>> lab.encrypt(bytes(16), bytes(16)).tobytes().hex()
    '9f589f5cf6122c32b6bfec2f2ae8c35a'
    """
    key_rows, block_rows, shape = _broadcast(keys, blocks)
    rounds = as_number(rounds, "rounds", 0, ROUNDS)
    if rounds < ROUNDS or not whitening:
        return _reduced(key_rows, block_rows, rounds, whitening, 1).reshape(*shape, 16)
    if key_rows.ndim == 1:
        with Twofish(key_rows) as cipher:
            one_key: Bytes = cipher.encrypt_blocks(block_rows).reshape(*shape, 16)
            return one_key
    result = np.empty_like(block_rows)
    backend.current().cipher.encrypt_each(key_rows, block_rows, result)
    return result.reshape(*shape, 16)


def encrypt_each_round(keys: Data, blocks: Data, rounds: int = ROUNDS, whitening: bool = True) -> Bytes:
    """What `encrypt` gives with 0, 1, ..., rounds rounds, at about the price of the last.

    Parameters and errors are those of `encrypt`.

    Returns
    -------
    uint8[..., rounds + 1, 16]

    Examples
    --------
    >>> from twofishkit import lab
    >>> lab.encrypt_each_round(bytes(32), bytes(160), rounds=4).shape
    (10, 5, 16)
    """
    key_rows, block_rows, shape = _broadcast(keys, blocks)
    rounds = as_number(rounds, "rounds", 0, ROUNDS)
    return _reduced(key_rows, block_rows, rounds, whitening, rounds + 1).reshape(*shape, rounds + 1, 16)


def _broadcast(keys: Data, blocks: Data) -> tuple[Bytes, Bytes, tuple[int, ...]]:
    """(uint8[n, k] keys, or uint8[k] if there is one for all; uint8[n, 16] blocks; shape of n)."""
    key_rows, block_rows = as_keys(keys), as_blocks(blocks)
    try:
        shape = np.broadcast_shapes(key_rows.shape[:-1], block_rows.shape[:-1])
    except ValueError:
        raise InvalidLength(
            f"keys of shape {key_rows.shape} and blocks of shape {block_rows.shape} do not broadcast:"
            " all axes but the last must be equal or 1"
        ) from None
    length = key_rows.shape[-1]
    if key_rows.size == length:
        key_rows = key_rows.reshape(length)
    else:
        key_rows = np.broadcast_to(key_rows, (*shape, length)).reshape(-1, length)
    block_rows = np.broadcast_to(block_rows, (*shape, 16)).reshape(-1, 16)
    return np.ascontiguousarray(key_rows), np.ascontiguousarray(block_rows), shape


def _reduced(keys: Bytes, blocks: Bytes, rounds: int, whitening: bool, kept: int) -> Bytes:
    """uint8[n, kept, 16]: the blocks after rounds - kept + 1, ..., rounds rounds."""
    n = len(blocks)
    src = blocks.view("<u4")
    dst = np.empty((n, kept, 4), "<u4")
    if _is_compiled():
        kernel: Any = importlib.import_module("twofishkit.kernels.reduced").encrypt_rounds
        every = np.ascontiguousarray(np.broadcast_to(keys, (n, keys.shape[-1])))
        kernel(every, src, rounds, bool(whitening), dst)
    else:
        for start in range(0, n, _STEP_KEYS):
            part = slice(start, start + _STEP_KEYS)
            _rounds(keys[part] if keys.ndim == 2 else keys, src[part], rounds, whitening, dst[part])
    return dst.view(np.uint8)


def _is_compiled() -> bool:
    name = backend.current().cipher.name
    return next(row.numba for row in backend.CIPHERS if row.name == name)


def _rounds(keys: Bytes, src: Words, rounds: int, whitening: bool, dst: Words) -> None:
    """The kernel `reduced.encrypt_rounds`, in NumPy; keys uint8[n, k] or uint8[k]."""
    K = subkeys_of(keys)
    if not whitening:
        K[:8] = 0
    key_bytes = layers(sbox_key_of(keys)[..., ::-1])
    first = rounds + 1 - dst.shape[1]
    R0, R1, R2, R3 = (np.ascontiguousarray(src[:, i]) ^ K[i] for i in range(4))
    if first == 0:
        _store(dst[:, 0], (R0, R1, R2, R3), K)
    for r in range(rounds):
        F0, F1 = round_function(R0, R1, key_bytes, K[2 * r + 8], K[2 * r + 9])
        R0, R1, R2, R3 = rol(R2 ^ F0, 31), rol(R3, 1) ^ F1, R0, R1
        if r + 1 >= first:
            _store(dst[:, r + 1 - first], (R2, R3, R0, R1), K)


def _store(dst: Words, words: tuple[Words, ...], K: Words) -> None:
    for i, word in enumerate(words):
        dst[:, i] = word ^ K[4 + i]
