"""``info``: versions, and which backend serves here, and why."""

import argparse
import json
import platform
from typing import Any

import numpy as np

from twofishkit import __version__, backend

#: The CPU features that decide between kernels; --json has all of them.
_FEATURES = frozenset(
    ("ssse3", "avx2", "avx512bw", "avx512vbmi", "gfni", "pclmul", "vpclmulqdq", "neon", "aes")
)


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "info",
        help="show which backend was chosen and why",
        description="Show versions, which backends can run on this machine, which was chosen, and why.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    facts = {
        "twofishkit": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": np.__version__,
        "platform": platform.platform(),
        **backend.describe(),
    }
    if args.json:
        print(json.dumps(facts, indent=2))
    else:
        print("\n".join(_lines(facts)))
    return 1 if facts["error"] else 0


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [f"{name:<12}{facts[name]}" for name in ("twofishkit", "python", "numpy", "platform")]
    compiler = facts["compiler"]
    if compiler is None:
        lines.append(f"{'numba':<12}not usable: see the reasons below")
    else:
        lines.append(f"{'numba':<12}{compiler['numba']}, LLVM {compiler['llvm']}")
        lines.append(f"{'cpu':<12}{compiler['cpu']} ({compiler['machine']})")
        features = [name for name in compiler["features"] if name in _FEATURES]
        lines.append(f"{'features':<12}{' '.join(features) or 'none that the kernels could use'}")
        lines.append(f"{'cache':<12}{facts['cache'] or 'none: kernels are compiled anew in each process'}")
    for name, value in facts["environment"].items():
        lines.append(f"{'variable':<12}{name}={value}")
    for title, chosen, rows in (
        ("cipher", facts["cipher"], facts["ciphers"]),
        ("ghash", facts["ghash"], facts["ghashes"]),
    ):
        lines += ["", f"{title:<12}{chosen or 'none'}"]
        # A name may stand in several rows, best first: the first that runs is the one that serves.
        serving = next((row for row in rows if row["name"] == chosen and row["runs"]), None)
        lines += [_row(row, row is serving) for row in rows]
    if facts["error"]:
        lines += ["", f"error: {facts['error']}"]
    return lines


def _row(row: dict[str, Any], chosen: bool) -> str:
    state = "chosen" if chosen else "available" if row["runs"] else "unavailable"
    detail = row["reason"] if row["reason"] and not row["runs"] else _properties(row)
    return f"  {row['name']:<12}{state:<13}{detail}"


def _properties(row: dict[str, Any]) -> str:
    constant = {True: "constant time", False: "not constant time", None: ""}[row["constant_time"]]
    tables = "no tables" if row["tables"] == "none" else f"tables: {row['tables']}"
    return ", ".join(text for text in (constant, tables) if text)
