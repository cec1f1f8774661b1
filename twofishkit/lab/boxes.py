"""Difference and linear tables of S-boxes.

Both say how far a box is from one that an attacker could predict: large entries of the difference
table carry differential attacks, large entries of the linear table linear ones.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from twofishkit.errors import InvalidLength, InvalidParameter, UnsupportedType
from twofishkit.lab import html
from twofishkit.lab.shown import Shown, show


@dataclass(frozen=True)
class _BoxLook:
    title: str
    row: str
    column: str
    signed: bool

    def _largest(self, values: Any) -> tuple[int, int]:
        """The largest absolute entry outside row 0, and how often it occurs there."""
        rest = np.abs(values[1:])
        largest = int(rest.max())
        return largest, int((rest == largest).sum())

    def text(self, values: Any) -> str:
        largest, count = self._largest(values)
        size = " x ".join(map(str, values.shape))
        sign = "±" if self.signed else ""
        return f"{self.title}, {size}: largest entry besides row 0 is {sign}{largest}, {count} times"

    def html(self, values: Any) -> str:
        largest, _ = self._largest(values)
        pixels = html.grey(np.abs(values), 0, largest)
        scale = max(1, 256 // len(values))
        return html.image(pixels, self.text(values), scale)

    def draw(self, values: Any, ax: Any, pyplot: Any) -> Any:
        ax = ax or pyplot.subplots(figsize=(5.6, 4.6), layout="constrained")[1]
        largest, _ = self._largest(values)
        low, colours = (-largest, "RdBu_r") if self.signed else (0, "Greys")
        picture = ax.imshow(values, cmap=colours, vmin=low, vmax=largest, interpolation="nearest")
        ax.figure.colorbar(picture, ax=ax, label="entry", extend="both" if self.signed else "max")
        ax.set_title(
            f"{self.title}: largest {'±' if self.signed else ''}{largest} besides row 0", fontsize="medium"
        )
        ax.set_xlabel(self.column)
        ax.set_ylabel(self.row)
        return ax


def _as_box(box: Any) -> tuple[npt.NDArray[np.int64], int, int]:
    """(the box, its number of entries, number of values it could have: both powers of 2)."""
    values = np.asarray(box)
    if values.dtype.kind not in "iu":
        raise UnsupportedType(f"box has dtype {values.dtype}; it must hold integers")
    n = values.size
    if values.ndim != 1 or not 2 <= n <= 256 or n & (n - 1):
        raise InvalidLength(
            f"box has shape {values.shape}; it must be one row of 2, 4, 8, ... or 256 entries"
        )
    if values.min() < 0 or values.max() > 255:
        raise InvalidParameter(
            f"box holds values from {values.min()} to {values.max()}; they must be 0 to 255"
        )
    return values.astype(np.int64), n, max(n, 1 << int(values.max()).bit_length())


def difference_table(box: Any) -> Shown:
    """D[a, b]: for how many x of an S-box is S(x) ^ S(x ^ a) = b.

    Parameters
    ----------
    box : integers[n]
        n = 2^k entries, at most 256: `q0`, a row of `sboxes`, or any other table.

    Returns
    -------
    int64[n, m]
        m = n for a permutation. Row 0 is n at b = 0.

    Raises
    ------
    InvalidLength, InvalidParameter, UnsupportedType
        If box is not such a table.

    Notes
    -----
    Source: Biham and Shamir, Differential Cryptanalysis of DES-like Cryptosystems, 1990; the paper, 7.2.3,
    where 10 is the largest entry for both q0 and q1.

    Examples
    --------
    >>> from twofishkit import lab
    >>> int(lab.difference_table(lab.q0)[1:].max())
    10
    """
    S, n, m = _as_box(box)
    x = np.arange(n)
    a = x[:, None]
    entries = a * m + (S[x] ^ S[x ^ a])
    counts = np.bincount(entries.ravel(), minlength=n * m).reshape(n, m)
    return show(
        counts, _BoxLook("Difference table", "input difference a", "output difference b", signed=False)
    )


def linear_table(box: Any) -> Shown:
    """L[a, b]: for how many x more than half of them is a.x = b.S(x) (dots are parities of the AND).

    Parameters and errors are those of `difference_table`.

    Returns
    -------
    int64[n, m]
        Row 0 is n / 2 at b = 0. Entries of a large absolute value are linear approximations that hold,
        or fail to hold, more often than they would by chance.

    Notes
    -----
    Source: Matsui, Linear Cryptanalysis Method for DES Cipher, 1993. Computed as a Walsh-Hadamard
    transform, half of sum over x of (-1)^(a.x + b.S(x)).

    Examples
    --------
    >>> from twofishkit import lab
    >>> int(abs(lab.linear_table(lab.q1)[1:]).max())
    32
    """
    S, n, m = _as_box(box)
    signs = _signs(max(n, m))
    sums = signs[:n, :n] @ signs[S, :m]  # floats, exact: integers up to 256
    halves = np.rint(sums / 2).astype(np.int64)
    return show(halves, _BoxLook("Linear table", "input mask a", "output mask b", signed=True))


def _signs(n: int) -> npt.NDArray[np.float64]:
    """float64[n, n]: (-1)^(a.x)."""
    signs = np.ones((1, 1))
    while len(signs) < n:
        signs = np.block([[signs, signs], [signs, -signs]])
    return signs
