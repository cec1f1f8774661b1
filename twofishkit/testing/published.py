"""Published vectors of Twofish, as they come with the package.

The document names the source of each: project, path, commit, licence. It is packed from this project's
``tests/vectors``, whose README says how they were verified.
"""

import functools
import gzip
import json
from importlib import resources
from typing import Any

from twofishkit.testing.cases import AEADS, REFUSED, Answer, Case

_FILE = "vectors.json.gz"


@functools.cache
def document() -> dict[str, Any]:
    """The whole document: "sources" by name, and "vectors", a list for each mode."""
    packed = (resources.files("twofishkit.testing") / "data" / _FILE).read_bytes()
    loaded: dict[str, Any] = json.loads(gzip.decompress(packed))
    return loaded


@functools.cache
def cases() -> tuple[Case, ...]:
    """Every vector in both directions, in the order of the modes."""
    loaded = document()
    return tuple(
        case
        for mode, rows in loaded["vectors"].items()
        for row in rows
        for case in _cases(mode, row, loaded["sources"])
    )


#: A row has a name, a source and these fields, hex, perhaps fewer at the end. The last one is "refused" for a
#: message that must be.
FIELDS = ("key", "iv", "aad", "plaintext", "ciphertext", "tag", "verdict")


def _cases(mode: str, row: list[str], sources: dict[str, str]) -> list[Case]:
    name, source, *fields = row
    *values, verdict = [*fields, *[""] * len(FIELDS)][: len(FIELDS)]
    key, iv, aad, plaintext, ciphertext, tag = map(bytes.fromhex, values)
    refused = verdict == "refused"
    return both_ways(
        f"{mode}/{name}", mode, sources[source], key, iv, aad, plaintext, ciphertext, tag, refused=refused
    )


def both_ways(
    name: str,
    mode: str,
    source: str,
    key: bytes,
    iv: bytes,
    aad: bytes,
    plaintext: bytes,
    ciphertext: bytes,
    tag: bytes,
    *,
    refused: bool = False,
) -> list[Case]:
    """The encryption and the decryption of a vector; a message that must be refused only has the second."""
    tag_length = len(tag) if mode in AEADS else 16
    common: dict[str, Any] = {"key": key, "iv": iv, "aad": aad, "source": source}
    if mode == "cmac":
        return [Case(name, mode, data=plaintext, published=Answer(tag), **common)]
    if mode in ("subkeys", "sbox-key", "ghash"):
        return [Case(name, mode, data=plaintext, published=Answer(ciphertext), **common)]
    decryption = Case(
        f"{name} decrypt",
        f"{mode}-decrypt",
        data=ciphertext,
        tag=tag,
        tag_length=tag_length,
        published=REFUSED if refused else Answer(plaintext),
        **common,
    )
    if refused:
        return [decryption]
    encryption = Case(
        name,
        f"{mode}-encrypt",
        data=plaintext,
        tag_length=tag_length,
        published=Answer(ciphertext, tag),
        **common,
    )
    return [encryption, decryption]
