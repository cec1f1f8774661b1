"""Writes the README's table of speeds from what was measured, ``docs/data/bench.json``.

    python benchmarks/readme_table.py

What stands between the two ``bench`` comments of README.md is replaced; nothing is typed by hand, and a test
compares the two. CONTRIBUTING.md says how to measure anew.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "docs" / "_extensions"))

import speed  # noqa: E402  (the same figures as on the page on speed)

README = ROOT / "README.md"
MEASURED = ROOT / "docs" / "data" / "bench.json"
_BEGIN, _END = "<!-- bench -->", "<!-- /bench -->"
ROWS = (
    ("ctr enc", "CTR"),
    ("gcm enc", "GCM"),
    ("xts enc", "XTS"),
    ("ocb enc", "OCB"),
    ("cbc dec", "CBC decryption"),
    ("cbc enc", "CBC encryption, one message"),
    ("cbc many enc", "CBC encryption, 256 messages"),
)
OURS = ("permute", "shuffle", "gather")
PEERS = ("libgcrypt", "botan", "nettle")


def table(document: dict[str, Any], key_bits: int = 256) -> list[str]:
    """Markdown lines: MiB/s and cycles per byte of the compiled backends and of the peers."""
    rows = speed.records(document, key_bits)
    ours = [name for name in OURS if any(name in row for row in rows.values())]
    columns = ours + [f"{name} {document['peers'][name]}" for name in PEERS if name in document["peers"]]
    lines = ["| " + " | ".join(["", *columns]) + " |", "|---|" + "---:|" * len(columns)]
    for operation, title in ROWS:
        cells = [_cell(rows.get(operation, {}).get(column)) for column in columns]
        lines.append("| " + " | ".join([title, *cells]) + " |")
    return lines


def _cell(record: dict[str, Any] | None) -> str:
    if record is None:
        return "-"
    cycles = record["cycles_per_byte"]
    return f"{record['mebibytes_per_sec']:.0f}" + ("" if cycles is None else f" ({cycles:.2f})")


def caption(document: dict[str, Any], key_bits: int = 256) -> str:
    machine = document["machine"]
    size = max(each["size_bytes"] for each in document["results"] if each["section"] == "modes")
    clock = max((each["auto_mhz"] or 0) for each in document["results"])
    return (
        f"MiB/s (cycles per byte) of one thread, {key_bits}-bit keys, up to {size >> 20} MiB in place;\n"
        f"{machine['processor']} at {clock:.0f} MHz, Python {machine['python']}, Numba {machine['numba']}:"
    )


def updated(text: str, document: dict[str, Any]) -> str:
    """The README with the figures of a document."""
    block = "\n".join([_BEGIN, caption(document), "", *table(document), _END])
    replaced, count = re.subn(f"{_BEGIN}.*?{_END}", lambda _: block, text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"README.md has no block between {_BEGIN} and {_END}")
    return replaced


if __name__ == "__main__":
    measured = json.loads(MEASURED.read_text("utf-8"))
    README.write_text(updated(README.read_text("utf-8"), measured), "utf-8")
