"""Packs ``tests/vectors`` into the file that the installed oracle reads.

    python -m tests.testing.make_data

Left out: repetitions inside a mode, and messages beyond `LONGEST`, which the suite has in tests/vectors.
"""

import gzip
import json
from pathlib import Path
from typing import Any

from tests import vectors_io
from twofishkit.testing.cases import CIPHER_MODES, COUNTERS

TARGET = Path(__file__).resolve().parents[2] / "twofishkit" / "testing" / "data" / "vectors.json.gz"
LONGEST = 512
FILES = {
    "ecb": ("ecb_kat.json", "mode_ecbm.json"),
    **{
        mode: (f"mode_{mode}.json",)
        for mode in (*CIPHER_MODES[1:], "cmac")
        if mode == "ctr" or mode not in COUNTERS
    },
}


def _hex(value: bytes | None) -> str:
    return "" if value is None else value.hex()


def _row(vector: dict[str, Any], source: str) -> list[str]:
    fields = [_hex(vector.get(name)) for name in ("key", "iv", "aad", "plaintext", "ciphertext", "tag")]
    if vector.get("valid") is False:
        fields.append("refused")
    while not fields[-1]:
        fields.pop()
    return [vector["id"], source, *fields]


def _source(entry: dict[str, str]) -> str:
    parts = [entry["project"], entry.get("path", ""), entry.get("commit", "")[:12], entry.get("license", "")]
    return ", ".join(part for part in parts if part)


def document() -> dict[str, Any]:
    """What the file holds."""
    sources: dict[str, str] = {}
    rows: dict[str, list[list[str]]] = {}
    ival = vectors_io.document("ecb_ival_trace.json")

    def take(mode: str, file: str, vectors: Any) -> None:
        known = vectors_io.document(file)["sources"]
        for vector in vectors:
            name = f"{vector['source']}"
            sources.setdefault(name, _source(known[name]))
            if sources[name] != _source(known[name]):
                name = f"{name}/{file.removesuffix('.json')}"
                sources[name] = _source(known[vector["source"]])
            if len(vector.get("plaintext") or b"") <= LONGEST and len(vector.get("aad") or b"") <= LONGEST:
                rows.setdefault(mode, []).append(_row(vector, name))

    for trace in ival["vectors"]:
        sources.setdefault("OPWS", _source(ival["sources"]["OPWS"]))
        subkeys = "".join(trace["subkeys"])
        rows.setdefault("subkeys", []).append([trace["id"], "OPWS", trace["key"], "", "", "", subkeys])
    for mode, files in FILES.items():
        for file in files:
            take(mode, file, vectors_io.vectors(file))
    for vector in vectors_io.vectors("aead_reject.json"):
        take(vector["mode"].lower(), "aead_reject.json", [vector])
    take(
        "ghash",
        "ghash.json",
        [
            {
                **vector,
                "key": vector["H"],
                "plaintext": vector["input"],
                "ciphertext": vector["output"],
                "aad": None,
            }
            for vector in vectors_io.vectors("ghash.json")
            if vector["source"] != "CAVS"
        ],
    )
    return {"sources": sources, "vectors": rows}


def packed(content: dict[str, Any]) -> bytes:
    """The bytes of the file; the same wherever they are made."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=True)
    return gzip.compress(text.encode("ascii"), compresslevel=9, mtime=0)


if __name__ == "__main__":
    TARGET.write_bytes(packed(document()))
    print(f"{TARGET}: {TARGET.stat().st_size} bytes")
