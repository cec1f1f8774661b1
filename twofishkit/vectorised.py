"""The `numpy` backend: Twofish on thousands of blocks a step, without a JIT.

State words A, B, C, D of all blocks of a step lie in four arrays. With a fixed key, g(X) is two
look-ups of 16 bits each in key-dependent tables of 65,536 words (S0 and S1 joined, S2 and S3
joined), done with `numpy.take` for all blocks at once; the Feistel round around it is a dozen array
operations. The tables take 512 KiB and are made when a key first meets `WIDE_BLOCKS` blocks or more;
below that, one block at a time in Python integers costs less than NumPy's calls.

Key schedules are computed for one key or for arrays of keys by the same code: look-ups in the q
permutations, with NumPy broadcasting keys against the 20 positions or 256 table entries.

Cost: about 6 ns a byte wide, 0.8 us a byte narrow, 0.2 ms a key. Timing: depends on key and data,
through table indices; there is no constant time without control over the instructions.

Traps: indices are views of the state's bytes, so which half is the low one depends on the machine's
byte order; in-place array arithmetic on uint32 wraps as Twofish wants, Python's does not.
"""

import struct
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from twofishkit import composed
from twofishkit.reference import block as paper
from twofishkit.slots import Bytes
from twofishkit.vectorised_ghash import GHASH

Words = npt.NDArray[np.uint32]

#: Blocks a step: the state and its scratch (32 KiB each) stay in the second-level cache.
STEP_BLOCKS = 8192
#: From this many blocks on NumPy's calls cost less than Python's integers.
WIDE_BLOCKS = 20
#: Keys a step in `encrypt_each`, where each look-up runs once for every key.
STEP_KEYS = 2048

_ROUNDS = paper.ROUNDS
_MASK = 0xFFFFFFFF
_LOW, _HIGH = (0, 1) if sys.byteorder == "little" else (1, 0)


def _byte_of(i: int) -> int:
    """Where byte i of a word (0 is the least significant) lies in memory."""
    return i if sys.byteorder == "little" else 3 - i


# The q-permutation before key layer l at byte position i, and the last one joined with MDS column i.
_Q_BEFORE = [[np.array(q, np.uint8) for q in layer] for layer in paper.Q_BEFORE_L]
_LAST = [np.array(paper.MDS_COLUMNS[i], np.uint32)[np.array(paper.Q_LAST[i])] for i in range(4)]
# RS times a vector of eight key bytes is the XOR of one entry of each of these.
_RS = [
    np.array([paper.rs(bytes(column) + bytes([m]) + bytes(7 - column)) for m in range(256)], np.uint32)
    for column in range(8)
]


class Schedule:
    """What one key expands to.

    Attributes
    ----------
    subkeys : uint32[40]         K, as in the paper
    boxes : uint32[4, 256]       S-box i joined with MDS column i: g(X) is the XOR of four entries
    pairs : uint32[2, 65536]     S0 and S1 joined, S2 and S3 joined; None until the key is used wide
    numbers : subkeys and boxes as lists of integers; None until the key is used narrow
    """

    __slots__ = ("boxes", "numbers", "pairs", "subkeys")

    def __init__(self, subkeys: Words, boxes: Words) -> None:
        self.subkeys = subkeys
        self.boxes = boxes
        self.pairs: Words | None = None
        self.numbers: tuple[list[int], list[list[int]]] | None = None

    def wide_tables(self) -> Words:
        """Make `pairs` if need be. Two threads may both make them: they come out the same."""
        pairs = self.pairs
        if pairs is None:
            s = self.boxes
            pairs = np.empty((2, 65536), np.uint32)
            np.bitwise_xor(s[1][:, None], s[0][None, :], out=pairs[0].reshape(256, 256))
            np.bitwise_xor(s[3][:, None], s[2][None, :], out=pairs[1].reshape(256, 256))
            self.pairs = pairs
        return pairs

    def narrow_tables(self) -> tuple[list[int], list[list[int]]]:
        """Make `numbers` if need be."""
        numbers = self.numbers
        if numbers is None:
            numbers = self.numbers = self.subkeys.tolist(), self.boxes.tolist()
        return numbers


def _s(i: int, x: npt.NDArray[np.uint8], layers: npt.NDArray[np.uint8]) -> Words:
    """S-box i joined with MDS column i, for arrays. Source: the paper, section 4.3.2, figure 2."""
    for j in reversed(range(len(layers))):
        x = _Q_BEFORE[j][i][x] ^ layers[j, i]
    column: Words = _LAST[i][x]
    return column


def _h(x: list[npt.NDArray[np.uint8]], layers: npt.NDArray[np.uint8]) -> Words:
    """h(X, L) for arrays, which broadcast.

    Parameters
    ----------
    x : four uint8 arrays       bytes 0 to 3 of X
    layers : uint8[k, 4, n]     layers[j, i] is byte i of the word L_j, for each of n keys

    Source: the paper, section 4.3.2.
    """
    result = _s(0, x[0], layers)
    for i in range(1, 4):
        result ^= _s(i, x[i], layers)
    return result


def _rotate_left(x: Words, bits: int) -> Words:
    return (x << np.uint32(bits)) | (x >> np.uint32(32 - bits))


def _subkeys(keys: Bytes) -> Words:
    """uint32[40, n]: K for each of uint8[n, 16|24|32] keys. Source: the paper, section 4.3.3."""
    words = np.ascontiguousarray(keys.T).reshape(-1, 2, 4, len(keys))
    even = np.arange(0, 40, 2, dtype=np.uint8).reshape(20, 1)
    odd = even + np.uint8(1)
    a = _h([even] * 4, words[:, 0])
    b = _rotate_left(_h([odd] * 4, words[:, 1]), 8)
    subkeys = np.empty((40, len(keys)), np.uint32)
    a += b
    subkeys[0::2] = a
    a += b
    subkeys[1::2] = _rotate_left(a, 9)
    return subkeys


def _sbox_key(keys: Bytes) -> npt.NDArray[np.uint8]:
    """uint8[k, 4, n]: the words S as layers for `_h`, last word first. Source: section 4.3."""
    words = []
    for start in range(keys.shape[1] - 8, -1, -8):
        word = _RS[0][keys[:, start]]
        for column in range(1, 8):
            word ^= _RS[column][keys[:, start + column]]
        words.append(np.ascontiguousarray(word.astype("<u4").view(np.uint8).reshape(-1, 4).T))
    return np.stack(words)


def expand_key(key: Bytes) -> Schedule:
    """Key schedule of one key of 16, 24 or 32 bytes.

    Timing: depends on the key. Source: the paper, section 4.3.
    """
    keys = key.reshape(1, -1)
    layers = _sbox_key(keys)
    entries = np.arange(256, dtype=np.uint8)
    boxes = np.stack([_s(i, entries, layers) for i in range(4)])
    return Schedule(_subkeys(keys)[:, 0].copy(), boxes)


def wipe(schedule: Schedule) -> None:
    """Overwrite the arrays; integers that Python holds elsewhere are only let go."""
    schedule.subkeys.fill(0)
    schedule.boxes.fill(0)
    if schedule.pairs is not None:
        schedule.pairs.fill(0)
    if schedule.numbers is not None:
        subkeys, boxes = schedule.numbers
        for held in (subkeys, *boxes):
            held[:] = [0] * len(held)


# --- Wide: thousands of blocks a step ------------------------------------------------------------


class _Lookup:
    """g on arrays of words, with a fixed key: two look-ups of 16 bits for each word."""

    def __init__(self, pairs: Words, count: int) -> None:
        self._low, self._high = pairs
        self._part = np.empty(count, np.uint32)

    def __call__(self, x: Words, out: Words) -> None:
        halves = x.view(np.uint16)
        part = self._part[: len(x)]
        np.take(self._low, halves[_LOW::2], out=out, mode="wrap")
        np.take(self._high, halves[_HIGH::2], out=part, mode="wrap")
        np.bitwise_xor(out, part, out=out)

    def wipe(self) -> None:
        self._part.fill(0)


class _Derive:
    """g on arrays of words, one key for each word: h through all key layers each time."""

    def __init__(self, layers: npt.NDArray[np.uint8]) -> None:
        self._layers = layers

    def __call__(self, x: Words, out: Words) -> None:
        octets = x.view(np.uint8)
        out[:] = _h([octets[_byte_of(i) :: 4] for i in range(4)], self._layers)

    def wipe(self) -> None:
        self._layers.fill(0)


def _rotate(x: Words, left: int, spare: Words) -> None:
    np.right_shift(x, np.uint32(32 - left), out=spare)
    np.left_shift(x, np.uint32(left), out=x)
    np.bitwise_or(x, spare, out=x)


def _f(g: Any, a: Words, b: Words, k: Any, r: int, t0: Words, t1: Words, spare: Words) -> None:
    """(t0, t1) = F(a, b, r): g, PHT and the two subkeys of round r. Source: section 4.1."""
    g(a, t0)
    np.left_shift(b, np.uint32(8), out=spare)
    np.right_shift(b, np.uint32(24), out=t1)
    np.bitwise_or(spare, t1, out=spare)
    g(spare, t1)
    np.add(t0, t1, out=t0)
    np.add(t1, t0, out=t1)
    np.add(t0, k[2 * r + 8], out=t0)
    np.add(t1, k[2 * r + 9], out=t1)


def _encrypt_step(g: Any, k: Any, src: Words, dst: Words, scratch: Words) -> None:
    """Encrypt "<u4"[n, 4] blocks; k[i] is a word, or a word for each block."""
    a, b, c, d, t0, t1, spare = scratch
    for i, word in enumerate((a, b, c, d)):
        np.bitwise_xor(src[:, i], k[i], out=word)
    for r in range(_ROUNDS):
        _f(g, a, b, k, r, t0, t1, spare)
        np.bitwise_xor(c, t0, out=c)
        _rotate(c, 31, spare)
        _rotate(d, 1, spare)
        np.bitwise_xor(d, t1, out=d)
        a, b, c, d = c, d, a, b
    for i, word in enumerate((c, d, a, b)):
        np.bitwise_xor(word, k[4 + i], out=dst[:, i])


def _decrypt_step(g: Any, k: Any, src: Words, dst: Words, scratch: Words) -> None:
    """Decrypt "<u4"[n, 4] blocks: the rounds of `_encrypt_step` undone, last to first."""
    a, b, c, d, t0, t1, spare = scratch
    for i, word in enumerate((a, b, c, d)):
        np.bitwise_xor(src[:, i], k[4 + i], out=word)
    for r in reversed(range(_ROUNDS)):
        _f(g, a, b, k, r, t0, t1, spare)
        _rotate(c, 1, spare)
        np.bitwise_xor(c, t0, out=c)
        np.bitwise_xor(d, t1, out=d)
        _rotate(d, 31, spare)
        a, b, c, d = c, d, a, b
    for i, word in enumerate((c, d, a, b)):
        np.bitwise_xor(word, k[i], out=dst[:, i])


def _wide(step: Any, schedule: Schedule, src: Bytes, dst: Bytes) -> None:
    count = len(src) // 16
    size = min(count, STEP_BLOCKS)
    g = _Lookup(schedule.wide_tables(), size)
    k = [schedule.subkeys[i : i + 1] for i in range(40)]
    scratch = np.empty((7, size), np.uint32)
    source, target = src.view("<u4").reshape(-1, 4), dst.view("<u4").reshape(-1, 4)
    for at in range(0, count, size):
        part = slice(at, min(at + size, count))
        step(g, k, source[part], target[part], scratch[:, : part.stop - at])
    scratch.fill(0)
    g.wipe()


def _each(step: Any, keys: Bytes, src: Bytes, dst: Bytes) -> None:
    for at in range(0, len(keys), STEP_KEYS):
        part = slice(at, at + STEP_KEYS)
        subkeys, layers = _subkeys(keys[part]), _sbox_key(keys[part])
        source, target = src[part].view("<u4"), dst[part].view("<u4")
        g, scratch = _Derive(layers), np.empty((7, len(source)), np.uint32)
        step(g, subkeys, source, target, scratch)
        for held in (subkeys, scratch):
            held.fill(0)
        g.wipe()


# --- Narrow: a few blocks, one at a time in Python's integers ------------------------------------


def _encrypt_one(k: list[int], s: list[list[int]], a: int, b: int, c: int, d: int) -> tuple[int, ...]:
    s0, s1, s2, s3 = s
    a, b, c, d = a ^ k[0], b ^ k[1], c ^ k[2], d ^ k[3]
    for r in range(8, 40, 2):
        t0 = s0[a & 255] ^ s1[a >> 8 & 255] ^ s2[a >> 16 & 255] ^ s3[a >> 24]
        t1 = s0[b >> 24] ^ s1[b & 255] ^ s2[b >> 8 & 255] ^ s3[b >> 16 & 255]
        c ^= t0 + t1 + k[r] & _MASK
        d = (d << 1 & _MASK | d >> 31) ^ (t0 + 2 * t1 + k[r + 1] & _MASK)
        a, b, c, d = c >> 1 | (c & 1) << 31, d, a, b
    return c ^ k[4], d ^ k[5], a ^ k[6], b ^ k[7]


def _decrypt_one(k: list[int], s: list[list[int]], a: int, b: int, c: int, d: int) -> tuple[int, ...]:
    s0, s1, s2, s3 = s
    a, b, c, d = a ^ k[4], b ^ k[5], c ^ k[6], d ^ k[7]
    for r in range(38, 6, -2):
        t0 = s0[a & 255] ^ s1[a >> 8 & 255] ^ s2[a >> 16 & 255] ^ s3[a >> 24]
        t1 = s0[b >> 24] ^ s1[b & 255] ^ s2[b >> 8 & 255] ^ s3[b >> 16 & 255]
        c = (c << 1 & _MASK | c >> 31) ^ (t0 + t1 + k[r] & _MASK)
        d ^= t0 + 2 * t1 + k[r + 1] & _MASK
        a, b, c, d = c, d >> 1 | (d & 1) << 31, a, b
    return c ^ k[0], d ^ k[1], a ^ k[2], b ^ k[3]


def _narrow(one: Any, schedule: Schedule, src: Bytes, dst: Bytes) -> None:
    k, s = schedule.narrow_tables()
    for at in range(0, len(src), 16):
        struct.pack_into("<4I", dst.data, at, *one(k, s, *struct.unpack_from("<4I", src.data, at)))


# --- The slots -----------------------------------------------------------------------------------


def encrypt_blocks(schedule: Schedule, src: Bytes, dst: Bytes) -> None:
    """Encrypt whole blocks (ECB). Timing: depends on key and data. Source: section 4."""
    if len(src) < 16 * WIDE_BLOCKS:
        _narrow(_encrypt_one, schedule, src, dst)
    else:
        _wide(_encrypt_step, schedule, src, dst)


def decrypt_blocks(schedule: Schedule, src: Bytes, dst: Bytes) -> None:
    """Decrypt whole blocks (ECB). Timing: depends on key and data."""
    if len(src) < 16 * WIDE_BLOCKS:
        _narrow(_decrypt_one, schedule, src, dst)
    else:
        _wide(_decrypt_step, schedule, src, dst)


def encrypt_each(keys: Bytes, src: Bytes, dst: Bytes) -> None:
    """Encrypt block i under key i. Timing: depends on keys and data."""
    _each(_encrypt_step, keys, src, dst)


def decrypt_each(keys: Bytes, src: Bytes, dst: Bytes) -> None:
    """Decrypt block i under key i. Timing: depends on keys and data."""
    _each(_decrypt_step, keys, src, dst)


xor = composed.xor

SLOTS = composed.derive(
    name="numpy",
    constant_time=False,
    expand_key=expand_key,
    wipe=wipe,
    encrypt_blocks=encrypt_blocks,
    decrypt_blocks=decrypt_blocks,
    encrypt_each=encrypt_each,
    decrypt_each=decrypt_each,
)

__all__ = ["GHASH", "SLOTS", "decrypt_blocks", "encrypt_blocks", "expand_key", "wipe", "xor"]
