"""How a cut-down Twofish comes to look random, round by round.

Every function draws its keys and blocks from ``seed``, the same on every machine, unless keys are
given. Bit j of a block is bit j mod 8 of byte j // 8, least significant first: bit j mod 32 of word j // 32.
"""

import numpy as np
import numpy.typing as npt

from twofishkit.buffers import Bytes, Data, as_bytes
from twofishkit.errors import InvalidLength, InvalidParameter
from twofishkit.lab.arguments import ROUNDS, as_keys, as_number, random_bytes
from twofishkit.lab.encryption import encrypt_each_round
from twofishkit.lab.looks import AvalancheLook, BalanceLook, HistogramLook, StrictLook
from twofishkit.lab.shown import Shown, show

#: Pairs encrypted at a time: their 17 states fit a megabyte or two.
_STEP = 4096


def avalanche(
    keys: Data | None = None,
    *,
    flip: str = "plaintext",
    rounds: int = ROUNDS,
    samples: int = 1024,
    key_bits: int = 128,
    seed: int = 0,
) -> Shown:
    """Hamming distances after each round between two blocks of which one bit, chosen at random, was flipped.

    Parameters
    ----------
    keys : uint8[16 | 24 | 32] or uint8[samples, 16 | 24 | 32], optional
        Random ones are drawn for each sample if none are given.
    flip : "plaintext" or "key"
        Where the bit is.
    rounds, samples : int
    key_bits : 128, 192 or 256, for random keys
    seed : int

    Returns
    -------
    int64[rounds + 1, samples]
        Row r: how many of the 128 bits differ after r rounds. 64 is what chance gives, with a standard
        deviation of 5.7.

    Raises
    ------
    InvalidParameter, InvalidKey, InvalidLength, UnsupportedType

    Examples
    --------
    >>> from twofishkit import lab
    >>> [round(float(mean)) for mean in lab.avalanche(rounds=6, samples=500).mean(axis=1)]
    [1, 16, 48, 64, 64, 65, 64]
    """
    key_rows, blocks = _inputs(keys, samples, key_bits, seed)
    length = _flipped_bits(flip, key_rows)
    numbers = random_bytes(seed, "bits", len(blocks), 2).astype(np.int64)
    bits = (numbers[:, 0] * 256 + numbers[:, 1]) % length
    masks = np.zeros((len(blocks), length // 8), np.uint8)
    masks[np.arange(len(blocks)), bits // 8] = 1 << (bits % 8)
    counts = [
        _set_bits(_differences(key_rows[part], blocks[part], masks[part], flip, rounds), axis=-1)
        for part in _steps(len(blocks), _STEP)
    ]
    return show(np.concatenate(counts).T.copy(), AvalancheLook(flip))


def strict_avalanche(
    keys: Data | None = None,
    *,
    flip: str = "plaintext",
    rounds: int = ROUNDS,
    samples: int = 256,
    key_bits: int = 128,
    seed: int = 0,
) -> Shown:
    """How often each output bit changes when each input bit is flipped, after each round.

    Parameters and errors are those of `avalanche`.

    Returns
    -------
    float64[rounds + 1, n, 128]
        Entry [r, i, j] is the share of samples in which flipping input bit i, of n = 128 or ``key_bits``,
        changes output bit j of r rounds. The strict avalanche criterion wants 0.5; chance strays from
        it by 0.5 / sqrt(samples) or so.

    Notes
    -----
    Source: Webster and Tavares, On the Design of S-Boxes, 1985.

    Examples
    --------
    >>> from twofishkit import lab
    >>> matrix = lab.strict_avalanche(rounds=5, samples=64)
    >>> matrix.shape
    (6, 128, 128)
    >>> [round(float(each), 2) for each in (matrix[0].sum() / 128, matrix[5].mean())]
    [1.0, 0.5]
    """
    key_rows, blocks = _inputs(keys, samples, key_bits, seed)
    length = _flipped_bits(flip, key_rows)
    masks = np.packbits(np.eye(length, dtype=np.uint8), axis=1, bitorder="little")
    rounds = as_number(rounds, "rounds", 0, ROUNDS)
    totals = np.zeros((rounds + 1, length, 128), np.int64)
    for part in _steps(len(blocks), _STEP // length):
        differences = _differences(key_rows[part, None], blocks[part, None], masks, flip, rounds)
        bits = np.unpackbits(differences, axis=-1, bitorder="little")
        totals += bits.sum(axis=0, dtype=np.int64).transpose(1, 0, 2)
    return show(totals / len(blocks), StrictLook(flip, len(blocks)))


def bit_balance(
    keys: Data | None = None, *, rounds: int = ROUNDS, samples: int = 4096, key_bits: int = 128, seed: int = 0
) -> Shown:
    """The share of ones in each output bit after each round, for plaintexts that count from 0.

    Parameters
    ----------
    keys : uint8[16 | 24 | 32] or uint8[samples, 16 | 24 | 32], optional
        One random key is drawn for all samples if none is given.
    rounds, samples, key_bits, seed
        As for `avalanche`. Plaintext i is the number i, least significant byte first.

    Returns
    -------
    float64[rounds + 1, 128]
        0.5 is what chance gives, with a standard deviation of 0.5 / sqrt(samples).

    Raises
    ------
    InvalidParameter, InvalidKey, InvalidLength, UnsupportedType

    Examples
    --------
    >>> from twofishkit import lab
    >>> balance = lab.bit_balance()
    >>> [round(float(abs(balance[r] - 0.5).max()), 1) for r in (0, 1, 2)]
    [0.5, 0.5, 0.0]
    """
    samples = as_number(samples, "samples", 1, 1 << 24)
    if keys is None:
        keys = random_bytes(seed, "key", _key_bytes(key_bits))
    key_rows, _ = _inputs(keys, samples, key_bits, seed)
    numbers = np.zeros((samples, 2), "<u8")
    numbers[:, 0] = np.arange(samples)
    blocks = numbers.view(np.uint8)
    rounds = as_number(rounds, "rounds", 0, ROUNDS)
    totals = np.zeros((rounds + 1, 128), np.int64)
    for part in _steps(samples, _STEP):
        states = encrypt_each_round(key_rows[part], blocks[part], rounds)
        totals += np.unpackbits(states, axis=-1, bitorder="little").sum(axis=0, dtype=np.int64)
    return show(totals / samples, BalanceLook(samples))


def byte_histogram(data: Data) -> Shown:
    """How often each byte value occurs.

    Parameters
    ----------
    data : bytes-like or array of any dtype

    Returns
    -------
    int64[256]

    Examples
    --------
    >>> from twofishkit import lab
    >>> int(lab.byte_histogram(b"two fish")[ord("f")])
    1
    """
    counts = np.bincount(as_bytes(data), minlength=256)
    return show(counts, HistogramLook())


# --- Inputs and differences ----------------------------------------------------------------------


def _key_bytes(key_bits: int) -> int:
    if key_bits not in (128, 192, 256):
        raise InvalidParameter(f"key_bits is {key_bits!r}; it must be 128, 192 or 256")
    return key_bits // 8


def _inputs(keys: Data | None, samples: int, key_bits: int, seed: int) -> tuple[Bytes, Bytes]:
    """(uint8[samples, k] keys, uint8[samples, 16] blocks)."""
    samples = as_number(samples, "samples", 1, 1 << 24)
    if keys is None:
        rows = random_bytes(seed, "keys", samples, _key_bytes(key_bits))
    else:
        rows = as_keys(keys)
        if rows.shape[:-1] not in ((), (samples,)):
            raise InvalidLength(
                f"keys has shape {rows.shape}; it must be one key or one for each of {samples} samples"
            )
        rows = np.broadcast_to(rows, (samples, rows.shape[-1]))
    return rows, random_bytes(seed, "blocks", samples, 16)


def _flipped_bits(flip: str, keys: Bytes) -> int:
    if flip not in ("plaintext", "key"):
        raise InvalidParameter(f"flip is {flip!r}; it must be 'plaintext' or 'key'")
    return 128 if flip == "plaintext" else 8 * keys.shape[-1]


def _steps(count: int, step: int) -> list[slice]:
    return [slice(at, at + step) for at in range(0, count, step)]


def _differences(keys: Bytes, blocks: Bytes, masks: Bytes, flip: str, rounds: int) -> Bytes:
    """uint8[..., rounds + 1, 16]: the XOR of what the inputs give and what they give under masks."""
    base = encrypt_each_round(keys, blocks, rounds)
    if flip == "key":
        return base ^ encrypt_each_round(keys ^ masks, blocks, rounds)
    return base ^ encrypt_each_round(keys, blocks ^ masks, rounds)


_ONES = np.array([value.bit_count() for value in range(256)], np.uint8)


def _set_bits(data: Bytes, axis: int) -> npt.NDArray[np.int64]:
    counts: npt.NDArray[np.int64] = _ONES[data].sum(axis=axis, dtype=np.int64)
    return counts
