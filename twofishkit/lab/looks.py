"""How the results of `statistics` show themselves: tables by round, and plots."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twofishkit.errors import InvalidLength
from twofishkit.lab import html


def panels_of(ax: Any, count: int, pyplot: Any, width: float, height: float) -> Any:
    """``count`` axes: those given, or new ones side by side."""
    if ax is None:
        size = (width * count, height)
        ax = pyplot.subplots(1, count, figsize=size, layout="constrained", squeeze=False)[1][0]
    panels = np.atleast_1d(ax)
    if panels.size != count:
        raise InvalidLength(f"{panels.size} axes were given, and there are {count} panels")
    return panels


_HEAD = ("rounds", "mean", "std", "min", "max")


def _text(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([title, *("  ".join(f"{cell:>6}" for cell in row) for row in (head, *rows))])


@dataclass(frozen=True)
class AvalancheLook:
    flip: str

    def _title(self, values: Any) -> str:
        return f"Avalanche: bits that change when one {self.flip} bit is flipped, {values.shape[1]} samples"

    def _rows(self, values: Any) -> list[list[str]]:
        return [
            [str(r), f"{row.mean():.2f}", f"{row.std():.2f}", str(row.min()), str(row.max())]
            for r, row in enumerate(values)
        ]

    def text(self, values: Any) -> str:
        return _text(self._title(values), _HEAD, self._rows(values))

    def html(self, values: Any) -> str:
        return html.table(self._title(values), _HEAD, self._rows(values))

    def draw(self, values: Any, ax: Any, pyplot: Any) -> Any:
        ax = ax or pyplot.subplots(figsize=(7, 3.6), layout="constrained")[1]
        rounds = np.arange(len(values))
        low, middle, high = np.percentile(values, [5, 50, 95], axis=1)
        ax.fill_between(rounds, low, high, alpha=0.25, linewidth=0, label="90 % of the samples")
        ax.plot(rounds, middle, marker="o", label="median")
        ax.axhline(64, color="grey", linestyle=":", label="chance")
        ax.set(xlabel="rounds", ylabel="output bits that change", ylim=(0, 128))
        ax.set_title(f"One {self.flip} bit flipped", fontsize="medium")
        ax.set_xticks(rounds)
        ax.legend(loc="lower right")
        return ax


@dataclass(frozen=True)
class StrictLook:
    flip: str
    samples: int

    #: Rounds that have a panel of their own: later ones look like these.
    PANELS = 7

    def _title(self) -> str:
        return f"Strict avalanche: output bits that change with each {self.flip} bit, {self.samples} samples"

    def _rows(self, values: Any) -> list[list[str]]:
        return [
            [str(r), f"{row.mean():.4f}", f"{row.std():.4f}", f"{row.min():.3f}", f"{row.max():.3f}"]
            for r, row in enumerate(values)
        ]

    def text(self, values: Any) -> str:
        return _text(self._title(), _HEAD, self._rows(values))

    def html(self, values: Any) -> str:
        return html.table(self._title(), _HEAD, self._rows(values))

    def draw(self, values: Any, ax: Any, pyplot: Any) -> Any:
        shown = values[: self.PANELS]
        panels = panels_of(ax, len(shown), pyplot, 2.1, 2.7)
        for r, (panel, matrix) in enumerate(zip(panels, shown, strict=True)):
            picture = panel.imshow(
                matrix, cmap="RdBu_r", vmin=0, vmax=1, interpolation="nearest", aspect="auto"
            )
            panel.set_title(f"{r} round{'' if r == 1 else 's'}", fontsize="medium")
            panel.set_xlabel("output bit")
        panels[0].set_ylabel(f"{self.flip} bit flipped")
        panels[0].figure.colorbar(picture, ax=list(panels), label="share of changes")
        return panels


@dataclass(frozen=True)
class BalanceLook:
    samples: int

    def _title(self) -> str:
        return f"Bit balance: share of ones in each output bit, {self.samples} counting plaintexts"

    def _rows(self, values: Any) -> list[list[str]]:
        sigma = 0.5 / self.samples**0.5
        return [
            [str(r), f"{row.min():.3f}", f"{row.max():.3f}", f"{np.abs(row - 0.5).max() / sigma:.1f}"]
            for r, row in enumerate(values)
        ]

    def text(self, values: Any) -> str:
        return _text(self._title(), ("rounds", "min", "max", "sigmas"), self._rows(values))

    def html(self, values: Any) -> str:
        head = ["rounds", "min", "max", "largest deviation from 0.5, in standard deviations"]
        return html.table(self._title(), head, self._rows(values))

    def draw(self, values: Any, ax: Any, pyplot: Any) -> Any:
        ax = ax or pyplot.subplots(figsize=(8, 3.2), layout="constrained")[1]
        picture = ax.imshow(values, cmap="RdBu_r", vmin=0, vmax=1, interpolation="nearest", aspect="auto")
        ax.figure.colorbar(picture, ax=ax, label="share of ones")
        ax.set(xlabel="output bit", ylabel="rounds")
        ax.set_title(f"Bit balance, {self.samples} counting plaintexts", fontsize="medium")
        return ax


@dataclass(frozen=True)
class HistogramLook:
    def text(self, values: Any) -> str:
        total = int(values.sum())
        if not total:
            return "Byte histogram of no bytes"
        chi2 = float(((values - total / 256) ** 2).sum() * 256 / total)
        return (
            f"Byte histogram of {total} bytes: {np.count_nonzero(values)} values occur, chi-squared"
            f" {chi2:.1f} (random bytes: 255 ± 22.6)"
        )

    def html(self, values: Any) -> str:
        top = int(values.max()) or 1
        bars = "".join(
            f"M{x} 64v-{height}h1v{height}z"
            for x, height in enumerate((64 * values // top).tolist())
            if height
        )
        return (
            '<figure style="margin:4px 8px"><svg width="512" height="128" viewBox="0 0 256 64" '
            'preserveAspectRatio="none"><path d="M0 0h256v64H0z" fill="rgba(128,128,128,.12)"/>'
            f'<path d="{bars}" fill="rgb(31,119,180)"/></svg>'
            f"<figcaption>{self.text(values)}</figcaption></figure>"
        )

    def draw(self, values: Any, ax: Any, pyplot: Any) -> Any:
        ax = ax or pyplot.subplots(figsize=(7, 3), layout="constrained")[1]
        ax.bar(np.arange(256), values, width=1)
        ax.axhline(values.sum() / 256, color="grey", linestyle=":", label="uniform")
        ax.set(xlabel="byte value", ylabel="occurrences", xlim=(-1, 256))
        ax.set_title(self.text(values).replace(": ", "\n", 1), fontsize="medium")
        ax.legend(loc="upper right")
        return ax
