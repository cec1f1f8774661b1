"""Every round of one block, as a table; and two such traces side by side.

States are in the convention of the submission's ``ecb_ival.txt``: the four words *without* the swap of
halves, so that odd rounds change words 2 and 3, even rounds words 0 and 1.

A trace is as secret as its key: from two states that follow each other the subkeys between them can be
worked out. What is shown leaves the subkeys out unless they are asked for; that keeps a key from being
read off a screen by accident, and nothing more.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from twofishkit.buffers import Data
from twofishkit.errors import InvalidKey, InvalidLength, UnsupportedType
from twofishkit.lab import html
from twofishkit.lab.arguments import as_blocks, as_keys
from twofishkit.lab.shown import Shown, show
from twofishkit.reference import expand_key
from twofishkit.reference.block import RoundState

#: One row of a trace; see `trace`.
STATE = np.dtype([("r", "i1"), ("x", "u4", 4), ("t0", "u4"), ("t1", "u4"), ("K", "u4", 4)])
#: One row of a comparison; see `compare`.
DIFFERENCE = np.dtype([("r", "i1"), ("x", "u4", 4), ("t0", "u4"), ("t1", "u4"), ("bits", "i4")])

_LABELS = {-1: "plaintext", 0: "whitened", 17: "ciphertext"}
_WORDS = ("x0", "x1", "x2", "x3")


@dataclass(frozen=True)
class _TraceLook:
    key_bits: int
    subkeys: bool

    def _title(self) -> str:
        return f"Twofish, {self.key_bits}-bit key: one block through 16 rounds"

    def text(self, values: Any) -> str:
        head = "  ".join(f"{each:8}" for each in (*_WORDS, "t0", "t1"))
        lines = [self._title(), f"{'':>10}  {head.rstrip()}"]
        for row in values:
            cells = [f"{word:08X}" for word in row["x"]]
            if _is_round(row):
                cells += [f"{row['t0']:08X}", f"{row['t1']:08X}"]
            if self.subkeys:
                cells += ["K"] + [f"{word:08X}" for word in _used(row)]
            lines.append(f"{_label(row):>10}  {'  '.join(cells)}".rstrip())
        return "\n".join(lines)

    def html(self, values: Any) -> str:
        head = ["", *_WORDS, "t0", "t1", *(["subkeys"] if self.subkeys else []), "bits that changed", ""]
        rows = []
        before = values[0]["x"]
        for row in values:
            changed = [int(word) for word in row["x"] ^ before]
            cells = [_label(row)]
            cells += [html.word(int(word), change) for word, change in zip(row["x"], changed, strict=True)]
            cells += [html.word(int(row[name])) if _is_round(row) else "" for name in ("t0", "t1")]
            if self.subkeys:
                cells.append(" ".join(html.word(int(word)) for word in _used(row)))
            cells += [html.bits(changed), str(sum(word.bit_count() for word in changed))]
            rows.append(cells)
            before = row["x"]
        note = "Marked: digits that differ from the row above. "
        note += "A trace is as secret as its key: states that follow each other determine the subkeys."
        return html.table(self._title(), head, rows, note)

    def draw(self, values: Any, ax: Any, pyplot: Any) -> Any:
        ax = ax or pyplot.subplots(figsize=(9, 3.2), layout="constrained")[1]
        ax.imshow(_bit_matrix(values["x"]), cmap="Greys", aspect="auto", interpolation="nearest")
        _bit_axes(ax, values["r"], self._title())
        return ax


@dataclass(frozen=True, eq=False)
class _ComparisonLook:
    first: Any
    second: Any

    def _title(self) -> str:
        differs = self.first["x"] != self.second["x"]
        if not differs.any():
            return "Two traces: no state differs"
        row, word = np.argwhere(differs)[0]
        return f"Two traces: the first difference is in {_place(self.first[row])}, word x{word}"

    def text(self, values: Any) -> str:
        lines = [self._title(), f"{'':>10}  {'first':36}  {'second':36}  bits"]
        for row, first, second in zip(values, self.first, self.second, strict=True):
            states = (" ".join(f"{word:08X}" for word in each["x"]).ljust(36) for each in (first, second))
            lines.append(f"{_label(row):>10}  {'  '.join(states)}  {row['bits']:4}")
        return "\n".join(lines)

    def html(self, values: Any) -> str:
        head = ["", *(f"{word} first" for word in _WORDS), *(f"{word} second" for word in _WORDS)]
        head += ["bits that differ", ""]
        rows = []
        for row, first, second in zip(values, self.first, self.second, strict=True):
            changed = [int(word) for word in row["x"]]
            cells = [_label(row)]
            for each in (first, second):
                cells += [
                    html.word(int(word), change) for word, change in zip(each["x"], changed, strict=True)
                ]
            rows.append([*cells, html.bits(changed), str(row["bits"])])
        return html.table(self._title(), head, rows, "Marked: digits in which the two differ.")

    def draw(self, values: Any, ax: Any, pyplot: Any) -> Any:
        ax = ax or pyplot.subplots(figsize=(9, 3.2), layout="constrained")[1]
        ax.imshow(_bit_matrix(values["x"]), cmap="Oranges", aspect="auto", interpolation="nearest")
        _bit_axes(ax, values["r"], self._title())
        return ax


def _is_round(row: Any) -> bool:
    return 1 <= int(row["r"]) <= 16


def _label(row: Any) -> str:
    return _LABELS.get(int(row["r"]), f"round {row['r']}")


def _place(row: Any) -> str:
    place = _label(row)
    return place if _is_round(row) else f"the {place} block"


def _used(row: Any) -> Any:
    """The subkeys that come in with this row: 4 for a whitening, 2 for a round, none for the plaintext."""
    return row["K"][: {-1: 0, 0: 4, 17: 4}.get(int(row["r"]), 2)]


def _bit_matrix(words: Any) -> Any:
    """uint8[n, 128] from uint32[n, 4]: the bits of each word, most significant first."""
    return np.unpackbits(words.astype(">u4").view(np.uint8), axis=1)


def _bit_axes(ax: Any, rows: Any, title: str) -> None:
    ax.set_title(title, fontsize="medium")
    ax.set_xlabel("bit of the state, most significant first in each word")
    ax.set_ylabel("round")
    ax.set_xticks([16, 48, 80, 112], _WORDS)
    ax.set_xticks([31.5, 63.5, 95.5], minor=True)
    ax.tick_params(axis="x", which="major", length=0)
    ax.set_yticks(
        range(len(rows)), [{-1: "in", 17: "out"}.get(int(r), str(r)) for r in rows], fontsize="small"
    )


def trace(key: Data, block: Data, subkeys: bool = False) -> Shown:
    """Encrypt one block and keep every state on the way.

    Parameters
    ----------
    key : bytes-like or uint8[16 | 24 | 32]
    block : bytes-like or uint8[16]
    subkeys : bool
        Whether tables and text show the subkeys too. The array has them in any case.

    Returns
    -------
    structured array of 19 rows
        r = -1 (the plaintext), 0 (after the input whitening), 1 to 16 (after each round), 17 (the
        ciphertext). Fields: ``r``; ``x``, the four words without the swap of halves; ``t0`` and ``t1``,
        the outputs of g in this round (0 outside rounds); ``K``, the subkeys that came in: K[0..3] for
        r = 0, K[4..7] for r = 17, two in each round, and 0 after them.

    Raises
    ------
    InvalidKey, InvalidLength, UnsupportedType
        If key or block are not one key and one block.

    Notes
    -----
    Computed by `twofishkit.reference`. A trace is as secret as its key.

    Examples
    --------
    >>> from twofishkit import lab
    >>> t = lab.trace(bytes(16), bytes(16))
    >>> [f"{word:08X}" for word in t["x"][1]]
    ['52C54DDE', '11F0626D', '7CAC9D4A', '4D1B4AAA']
    >>> for line in str(t).splitlines()[:5]:
    ...     print(line)
    Twofish, 128-bit key: one block through 16 rounds
                x0        x1        x2        x3        t0        t1
     plaintext  00000000  00000000  00000000  00000000
      whitened  52C54DDE  11F0626D  7CAC9D4A  4D1B4AAA
       round 1  52C54DDE  11F0626D  C38DCAA4  7A0A91B6  C06D4949  41B9BFC1
    """
    key_row, block_row = as_keys(key), as_blocks(block)
    if key_row.ndim != 1:
        raise InvalidKey(f"key has shape {key_row.shape}; a trace is of one key")
    if block_row.ndim != 1:
        raise InvalidLength(f"block has shape {block_row.shape}; a trace is of one block of 16 bytes")
    schedule = expand_key(key_row.tobytes())
    states: list[RoundState] = []
    schedule.encrypt_block(block_row.tobytes(), states)
    table = np.zeros(len(states), STATE)
    for row, state in zip(table, states, strict=True):
        row["r"], row["x"], row["t0"], row["t1"] = state.r, state.x, state.t0 or 0, state.t1 or 0
        start = {-1: 0, 0: 0, 17: 4}.get(state.r, 2 * state.r + 6)
        count = len(_used(row))
        row["K"][:count] = schedule.K[start : start + count]
    return show(table, _TraceLook(8 * key_row.size, subkeys))


def compare(trace1: Shown, trace2: Shown) -> Shown:
    """Two traces side by side, and what differs between them.

    Parameters
    ----------
    trace1, trace2 : results of `trace`

    Returns
    -------
    structured array of 19 rows
        Fields: ``r``; ``x``, ``t0``, ``t1``, the XOR of the two traces'; ``bits``, how many bits of x
        differ. What is shown names the first round and word that differ.

    Raises
    ------
    UnsupportedType
        If one of the two is not a trace.

    Examples
    --------
    One bit of the plaintext, after four rounds:

    >>> from twofishkit import lab
    >>> lab.compare(lab.trace(bytes(16), bytes(16)), lab.trace(bytes(16), b"\\1" + bytes(15)))["bits"][:6]
    array([ 1,  1, 34, 59, 57, 62], dtype=int32)
    """
    for each in (trace1, trace2):
        if getattr(each, "dtype", None) != STATE or len(each) != 19:
            raise UnsupportedType("compare takes two results of twofishkit.lab.trace")
    first, second = np.array(trace1), np.array(trace2)
    table = np.zeros(len(first), DIFFERENCE)
    table["r"] = first["r"]
    for name in ("x", "t0", "t1"):
        table[name] = first[name] ^ second[name]
    table["bits"] = _bit_matrix(table["x"]).sum(axis=1)
    return show(table, _ComparisonLook(first, second))
