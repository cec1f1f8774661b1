"""Fits this project's docstrings to numpydoc.

A docstring here ends with lines such as ``Source: NIST SP 800-38A, 6.5.`` or ``Timing: constant.``, which
numpydoc would take for one more entry of the section above. They go to the notes.
"""

import re
from typing import Any

_CLOSING = re.compile(r"(Source|Timing|Cost): ")
_RULE = re.compile(r"-{3,}\s*$")


def move_closing_lines(lines: list[str]) -> None:
    """Move paragraphs that begin with Source, Timing or Cost to the section Notes, in place."""
    moved: list[str] = []
    kept: list[str] = []
    at = 0
    while at < len(lines):
        begins = _CLOSING.match(lines[at]) and (at == 0 or not lines[at - 1].strip())
        if not begins:
            kept.append(lines[at])
            at += 1
            continue
        moved.append("")
        while at < len(lines) and lines[at].strip():
            moved.append(lines[at])
            at += 1
    if moved and any(map(_RULE.match, kept)):
        at = _end_of_notes(kept)
        if at is None:
            moved[:0] = ["", "Notes", "-----"]
            at = len(kept)
        kept[at:at] = [*moved, ""]
        lines[:] = kept


def _end_of_notes(lines: list[str]) -> int | None:
    """Where the section Notes ends, or None if there is none."""
    starts = [i - 1 for i, line in enumerate(lines) if _RULE.match(line)]
    for i, start in enumerate(starts):
        if lines[start].strip() == "Notes":
            return starts[i + 1] if i + 1 < len(starts) else len(lines)
    return None


def _process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    move_closing_lines(lines)


def setup(app: Any) -> dict[str, Any]:
    # numpydoc listens with the default priority, 500.
    app.connect("autodoc-process-docstring", _process, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
