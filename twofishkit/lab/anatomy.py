"""The parts of Twofish, one function each, on arrays of any shape.

Names are the paper's ("Twofish: A 128-Bit Block Cipher", 15 June 1998; sections below are its). Words
are uint32 and hold their bytes least significant first. Everything broadcasts: words of shape (...)
against keys of shape (..., 16 | 24 | 32).

Timing: depends on keys and data. This is for study, never for secrets.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from twofishkit.buffers import Bytes, Data
from twofishkit.errors import InvalidLength
from twofishkit.lab.arguments import ROUNDS, Words, as_keys, as_number, as_words
from twofishkit.reference import block as paper

#: Takes the place of a key where none is given: 128 zero bits.
ZERO_KEY = bytes(16)


def _constant(values: Any) -> Bytes:
    array = np.array(values, np.uint8)
    array.flags.writeable = False
    return array


#: The fixed permutations of bytes, uint8[256]. Source: section 4.3.5.
q0, q1 = _constant(paper.q0), _constant(paper.q1)
#: The matrix after the S-boxes, uint8[4, 4], over GF(2^8) modulo 0x169. Source: section 4.2.
MDS = _constant(paper.MDS)
#: The matrix from key to S-box key, uint8[4, 8], over GF(2^8) modulo 0x14D. Source: section 4.3.
RS = _constant(paper.RS)

# Layer l of byte i before the word L_l is added, and column i of MDS behind the last q.
_Q_BEFORE = [[q0 if q is paper.q0 else q1 for q in layer] for layer in paper.Q_BEFORE_L]
_Q_LAST = [q0 if q is paper.q0 else q1 for q in paper.Q_LAST]
_COLUMNS = [np.array(column, np.uint32)[q] for column, q in zip(paper.MDS_COLUMNS, _Q_LAST, strict=True)]
# RS times eight bytes is the XOR of one entry of each of these.
_RS_COLUMNS = np.array(
    [[paper.rs(bytes(j) + bytes([m]) + bytes(7 - j)) for m in range(256)] for j in range(8)], np.uint32
)


def split(words: Words) -> Bytes:
    """uint8[4, ...]: byte 0 (the least significant), 1, 2 and 3 of each word."""
    return np.stack([(words >> np.uint32(8 * i)).astype(np.uint8) for i in range(4)])


def layers(L: Words) -> Bytes:
    """uint8[k, 4, ...] from uint32[..., k]: byte i of word L_l is [l, i]."""
    return np.stack([split(L[..., j]) for j in range(L.shape[-1])])


def h_bytes(x: Any, key_bytes: Bytes) -> Words:
    """h on bytes: x[i] is byte i of X, key_bytes[l, i] that of L_l; they broadcast."""
    z: Words = np.uint32(0)  # type: ignore[assignment]
    for i in range(4):
        y = x[i]
        for layer in reversed(range(len(key_bytes))):
            y = _Q_BEFORE[layer][i][y] ^ key_bytes[layer, i]
        z = z ^ _COLUMNS[i][y]
    return z


def rol(x: Words, bits: int) -> Words:
    """Words rotated left, 0 < bits < 32."""
    return x << np.uint32(bits) | x >> np.uint32(32 - bits)


def mix(a: Words, b: Words) -> tuple[Words, Words]:
    """The pseudo-Hadamard transform of uint32 arrays. (ufuncs wrap; operators on scalars would warn.)"""
    total = np.add(a, b)
    return total, np.add(total, b)


def sbox_key_of(keys: Bytes) -> Words:
    """uint32[..., k / 8]: S_0, S_1, ... of uint8[..., k] keys. Source: section 4.3."""
    eights = keys.reshape(*keys.shape[:-1], -1, 8)
    words: Words = _RS_COLUMNS[np.arange(8), eights]
    total: Words = np.bitwise_xor.reduce(words, axis=-1)
    return total


def subkeys_of(keys: Bytes) -> Words:
    """uint32[40, ...]: K of uint8[..., k] keys. Source: section 4.3.3."""
    key_bytes = np.moveaxis(keys.reshape(*keys.shape[:-1], -1, 2, 4), (-3, -2, -1), (0, 1, 2))
    numbers = np.arange(0, 40, 2, dtype=np.uint8).reshape(-1, *(1,) * (keys.ndim - 1))
    A = h_bytes([numbers] * 4, key_bytes[:, 0][:, :, None])
    B = rol(h_bytes([numbers + np.uint8(1)] * 4, key_bytes[:, 1][:, :, None]), 8)
    K = np.empty((40, *keys.shape[:-1]), np.uint32)
    K[0::2], odd = mix(A, B)
    K[1::2] = rol(odd, 9)
    return K


def _bare(result: Any) -> Any:
    """A scalar from an array without dimensions."""
    return np.asarray(result)[()]


# --- What people take apart ----------------------------------------------------------------------


def subkeys(keys: Data) -> Words:
    """K[0] ... K[39] of each key: whitening K[0..3] and K[4..7], round r = 0 ... 15 K[2r+8] and K[2r+9].

    Parameters
    ----------
    keys : uint8[..., 16 | 24 | 32], or one bytes-like key

    Returns
    -------
    uint32[..., 40]

    Raises
    ------
    InvalidKey
        For keys of another length.

    Notes
    -----
    Source: section 4.3.3.

    Examples
    --------
    >>> from twofishkit import lab
    >>> [f"{word:08X}" for word in lab.subkeys(bytes(16))[:4]]
    ['52C54DDE', '11F0626D', '7CAC9D4A', '4D1B4AAA']
    """
    return np.ascontiguousarray(np.moveaxis(subkeys_of(as_keys(keys)), 0, -1))


def sbox_key(keys: Data) -> Words:
    """S_0, S_1, ... of each key: RS times key bytes 8i ... 8i + 7.

    Parameters
    ----------
    keys : uint8[..., 16 | 24 | 32], or one bytes-like key

    Returns
    -------
    uint32[..., 2 | 3 | 4]
        `h` takes these words in reverse: g(X) = h(X, S[::-1]).

    Notes
    -----
    Source: section 4.3.
    """
    return sbox_key_of(as_keys(keys))


def sboxes(keys: Data) -> Bytes:
    """The four key-dependent S-boxes s_0 ... s_3 of each key, before MDS.

    Parameters
    ----------
    keys : uint8[..., 16 | 24 | 32], or one bytes-like key

    Returns
    -------
    uint8[..., 4, 256]
        Each row is a permutation of the bytes.

    Notes
    -----
    Source: section 4.3.2, figure 2, with L = S.

    Examples
    --------
    >>> from twofishkit import lab
    >>> lab.sboxes(bytes(32)).shape
    (4, 256)
    """
    key_bytes = layers(sbox_key_of(as_keys(keys))[..., ::-1])
    boxes = []
    for i in range(4):
        y = np.arange(256, dtype=np.uint8)
        for layer in reversed(range(len(key_bytes))):
            y = _Q_BEFORE[layer][i][y] ^ key_bytes[layer, i, ..., None]
        boxes.append(_Q_LAST[i][y])
    return np.stack(boxes, axis=-2)


def h(words: Any, L: Any) -> Words:
    """The function h(X, L): layers of q0 and q1 with the bytes of L between them, then MDS.

    Parameters
    ----------
    words : uint32[...] or integers     X
    L : uint32[..., 2 | 3 | 4]          L_0, L_1, ...; L_0 is added last

    Returns
    -------
    uint32[...]

    Raises
    ------
    InvalidLength
        If L has another number of words.

    Notes
    -----
    Source: section 4.3.2.
    """
    lists = as_words(L, "L")
    if lists.ndim == 0 or lists.shape[-1] not in (2, 3, 4):
        raise InvalidLength(f"L has shape {lists.shape}; its last axis must be of 2, 3 or 4 words")
    result: Words = _bare(h_bytes(split(as_words(words)), layers(lists)))
    return result


def g(words: Any, keys: Data = ZERO_KEY) -> Words:
    """The function g(X) = h(X, S) of a round: S-boxes, then MDS.

    Parameters
    ----------
    words : uint32[...] or integers
    keys : uint8[..., 16 | 24 | 32], or one bytes-like key
        The key of 128 zero bits if none is given.

    Returns
    -------
    uint32[...]

    Notes
    -----
    Source: section 4.2.

    Examples
    --------
    >>> from twofishkit import lab
    >>> f"{lab.g(0x52C54DDE):08X}"  # the first t0 under the zero key
    'C06D4949'
    """
    result: Words = _bare(h_bytes(split(as_words(words)), layers(sbox_key_of(as_keys(keys))[..., ::-1])))
    return result


def pht(a: Any, b: Any) -> tuple[Words, Words]:
    """The pseudo-Hadamard transform (a + b, a + 2b) modulo 2^32.

    Parameters
    ----------
    a, b : uint32[...] or integers

    Notes
    -----
    Source: section 4.1.

    Examples
    --------
    >>> from twofishkit import lab
    >>> [int(word) for word in lab.pht(2**32 - 1, 3)]
    [2, 5]
    """
    first, second = mix(as_words(a, "a"), as_words(b, "b"))
    return _bare(first), _bare(second)


def round(state: Any, r: int, keys: Data = ZERO_KEY) -> Words:
    """One round: (R0, R1, R2, R3) -> (ror(R2 ^ F0, 1), rol(R3, 1) ^ F1, R0, R1).

    F0 and F1 are the PHT of g(R0) and g(rol(R1, 8)), plus K[2r+8] and K[2r+9].

    Parameters
    ----------
    state : uint32[..., 4]
        R_r; for r = 0 the words of the block XOR K[0] ... K[3].
    r : int
        Which round, 0 to 15.
    keys : uint8[..., 16 | 24 | 32], or one bytes-like key
        The key of 128 zero bits if none is given.

    Returns
    -------
    uint32[..., 4]
        R_{r+1}, with the halves swapped as the paper has it.

    Raises
    ------
    InvalidLength
        If the state's last axis is not 4.
    InvalidParameter
        If r is not 0 to 15.

    Notes
    -----
    Source: sections 4 and 4.1.

    Examples
    --------
    Sixteen rounds between two whitenings are Twofish:

    >>> import numpy as np
    >>> from twofishkit import lab
    >>> K = lab.subkeys(bytes(16))
    >>> R = np.zeros(4, np.uint32) ^ K[:4]
    >>> for r in range(16):
    ...     R = lab.round(R, r)
    >>> (R[[2, 3, 0, 1]] ^ K[4:8]).astype("<u4").tobytes().hex()
    '9f589f5cf6122c32b6bfec2f2ae8c35a'
    """
    R = as_words(state, "state")
    if R.ndim == 0 or R.shape[-1] != 4:
        raise InvalidLength(f"state has shape {R.shape}; it must be (..., 4)")
    r = as_number(r, "r", 0, ROUNDS - 1)
    rows = as_keys(keys)
    K = subkeys_of(rows)
    F0, F1 = round_function(
        R[..., 0], R[..., 1], layers(sbox_key_of(rows)[..., ::-1]), K[2 * r + 8], K[2 * r + 9]
    )
    parts = rol(R[..., 2] ^ F0, 31), rol(R[..., 3], 1) ^ F1, R[..., 0], R[..., 1]
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def round_function(
    R0: Words, R1: Words, key_bytes: npt.NDArray[np.uint8], K_even: Words, K_odd: Words
) -> tuple[Words, Words]:
    """F(R0, R1, r) = (F0, F1). Source: section 4.1."""
    low, high = split(R0), split(R1)
    T0 = h_bytes(low, key_bytes)
    T1 = h_bytes(np.roll(high, 1, axis=0), key_bytes)  # the bytes of rol(R1, 8)
    a, b = mix(T0, T1)
    return np.add(a, K_even), np.add(b, K_odd)
