"""Reads the vector files of ``tests/vectors`` and turns their hex strings into bytes."""

import functools
import hashlib
import json
import struct
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).resolve().parent / "vectors"

#: Fields that hold hex strings, in any of the files but Wycheproof's, where "result" is a word.
# fmt: off
_HEX = frozenset((
    "key", "iv", "aad", "plaintext", "ciphertext", "tag", "pt", "ct", "msg", "input", "output", "H",
    "ghash_H", "ghash_input", "ghash_output", "a", "b", "result", "ciphertext_last32",
    "plaintext_first32", "stage_input", "pre_xor",
))
# fmt: on


def _decoded(record: dict[str, Any], hex_fields: frozenset[str] = _HEX) -> dict[str, Any]:
    return {k: bytes.fromhex(v) if k in hex_fields and isinstance(v, str) else v for k, v in record.items()}


@functools.cache
def document(name: str) -> dict[str, Any]:
    """The whole JSON document ``tests/vectors/<name>``."""
    return json.loads((VECTORS / name).read_text("utf-8"))


@functools.cache
def vectors(name: str) -> tuple[dict[str, Any], ...]:
    """The vectors of a file, hex fields as bytes. The count that the file states is checked."""
    loaded = document(name)
    records = tuple(_decoded(record) for record in loaded["vectors"])
    if not records or len(records) != loaded.get("count", len(records)):
        raise ValueError(f"{name} holds {len(records)} vectors and states {loaded.get('count')}")
    return records


@functools.cache
def wycheproof(name: str) -> tuple[dict[str, Any], ...]:
    """The tests of ``aes/<name>``, hex fields as bytes, each with the fields of its group."""
    loaded = document(f"aes/{name}")
    tests = tuple(
        {"group": {k: v for k, v in group.items() if k != "tests"}, **_decoded(test, _HEX - {"result"})}
        for group in loaded["testGroups"]
        for test in group["tests"]
    )
    if not tests or len(tests) != loaded["numberOfTests"]:
        raise ValueError(f"{name} holds {len(tests)} tests and states {loaded['numberOfTests']}")
    return tests


@functools.cache
def bulk(rule: str, label: str, length: int) -> bytes:
    """Data that large_digest.json gives by rule: "shake" of a label, or "sha1ctr"."""
    if rule == "shake":
        return hashlib.shake_256(label.encode()).digest(length)
    if rule == "sha1ctr":
        chunks = (hashlib.sha1(struct.pack("<I", i)).digest()[:16] for i in range(0, length, 16))
        return b"".join(chunks)[:length]
    raise ValueError(f"unknown rule {rule!r}")


def sample(records: tuple[dict[str, Any], ...], count: int) -> tuple[dict[str, Any], ...]:
    """About ``count`` records, spread evenly, first and last included."""
    if count >= len(records):
        return records
    return tuple(records[round(i * (len(records) - 1) / (count - 1))] for i in range(count))
