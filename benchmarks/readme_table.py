"""Writes the README's table of speeds from a measured run.

    python -m twofishkit bench --json --keys 256 --sizes 64K > run.json
    python benchmarks/readme_table.py run.json

What stands between the two ``bench`` comments of README.md is replaced; nothing is typed by hand.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

README = Path(__file__).resolve().parents[1] / "README.md"
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
PEERS = ("libgcrypt", "botan", "nettle")


def table(document: dict[str, Any], key_bits: int = 256) -> list[str]:
    """Markdown lines: MiB/s and cycles per byte of each backend and peer, fastest backends first."""
    records = [each for each in document["results"] if each["key_bits"] == key_bits]
    ours = list(dict.fromkeys(each["implementation"] for each in records if each["ours"]))
    ours = [name for name in ours if name != "reference" and "," not in name]
    columns = ours + [f"{name} {document['peers'][name]}" for name in PEERS if name in document["peers"]]
    figures = {
        (each["operation"], each["implementation"]): each for each in records if each["section"] == "modes"
    }
    lines = ["| " + " | ".join(["", *columns]) + " |", "|---|" + "---:|" * len(columns)]
    for operation, title in ROWS:
        cells = [_cell(figures.get((operation, column))) for column in columns]
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
        f"MiB/s (cycles per byte) of one thread, {key_bits}-bit keys, messages of {size >> 10} KiB in place,"
        f" {machine['processor']} at {clock:.0f} MHz, Python {machine['python']}, Numba {machine['numba']}:"
    )


def main(path: str) -> None:
    document = json.loads(Path(path).read_text("utf-8"))
    block = "\n".join([_BEGIN, caption(document), "", *table(document), _END])
    text = README.read_text("utf-8")
    replaced, count = re.subn(f"{_BEGIN}.*?{_END}", lambda _: block, text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"README.md has no block between {_BEGIN} and {_END}")
    README.write_text(replaced, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
