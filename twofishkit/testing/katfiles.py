"""Reads other people's files of known answers into cases.

Three kinds, told apart by what they look like: JSON in Wycheproof's form (and this project's own
``twofishkit-vectors``), response files of NIST's validation suites (``.rsp``), and the ``ecb_*.txt`` and
``cbc_*.txt`` of the AES submissions, Monte-Carlo tests included.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from twofishkit.errors import FormatError
from twofishkit.testing.cases import AEADS, COUNTERS, Case
from twofishkit.testing.published import both_ways

#: Names of modes in other people's files, longest first where one is part of another.
_MODE_NAMES = (
    ("siv", "siv"),
    ("gmac", "gcm"),
    ("gcm", "gcm"),
    ("ccm", "ccm"),
    ("eax", "eax"),
    ("ocb", "ocb"),
    ("xts", "xts"),
    ("cmac", "cmac"),
    ("omac", "cmac"),
    ("ghash", "ghash"),
    ("cfb8", "cfb8"),
    ("cfb", "cfb"),
    ("cbc", "cbc"),
    ("ofb", "ofb"),
    *((name, name) for name in sorted(COUNTERS, key=len, reverse=True)),
    ("ecb", "ecb"),
)


@dataclass(frozen=True)
class MonteCarlo:
    """One step of a Monte-Carlo test: 10,000 encryptions or decryptions, each of the one before."""

    id: str
    mode: str
    decrypting: bool
    key: bytes
    iv: bytes
    given: bytes
    expected: bytes


Known = Case | MonteCarlo


def mode_named(text: str) -> str | None:
    """The mode that a name of an algorithm or a file tells."""
    lowered = text.lower().replace("-", "").replace("_", "")
    return next((mode for name, mode in _MODE_NAMES if name in lowered), None)


def read(text: str, name: str = "-", mode: str | None = None) -> list[Known]:
    """The cases of a file.

    Parameters
    ----------
    text : the file
    name : its name, which may tell the mode
    mode : the mode, where nothing tells it

    Raises
    ------
    FormatError
        If the file is none of the three kinds, tells no mode, or has no vectors.
    """
    # A section of a response file starts with [ too.
    if re.match(r'\s*(\{|\[\s*["{\[\]])', text):
        known = list(_json(text, mode or mode_named(name)))
    elif re.search(r"^(KEYSIZE|I)\s*=", text, re.MULTILINE):
        known = list(_submission(text, name, mode))
    elif re.search(r"^\s*(Count|COUNT)\s*=", text, re.MULTILINE):
        known = list(_rsp(text, mode or mode_named(name)))
    else:
        raise FormatError(f"{name}: neither Wycheproof JSON, nor a NIST .rsp, nor a submission's ecb_*.txt")
    if not known:
        raise FormatError(f"{name}: no vectors of Twofish's modes in it")
    return known


def _hex(value: str | None, where: str) -> bytes:
    try:
        return bytes.fromhex(value or "")
    except ValueError:
        raise FormatError(f"{where}: {str(value)[:40]!r} is not hex") from None


# --- Wycheproof -------------------------------------------------------------------------------------


def _json(text: str, mode: str | None) -> Iterator[Known]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise FormatError(f"not JSON: {error}") from None
    if not isinstance(document, dict):
        raise FormatError("JSON of vectors is an object with testGroups or vectors")
    if "testGroups" in document:
        yield from _wycheproof(document, mode)
    elif str(document.get("format")).startswith("twofishkit-vectors/") and "vectors" in document:
        kind = mode or mode_named(str(document.get("kind")))
        for vector in document["vectors"]:
            found = mode_named(str(vector["mode"])) if "mode" in vector else kind
            if found is not None and _is_whole(vector):
                yield from _json_test(str(vector.get("id")), found, vector, vector.get("valid", True))
    else:
        raise FormatError("JSON of vectors has testGroups (Wycheproof) or vectors (twofishkit)")


def _is_whole(vector: dict[str, Any]) -> bool:
    """Whether input and output are given, and not only digests of them or rules to make them."""
    stated = not vector.keys().isdisjoint(("ct", "ciphertext", "tag", "mac", "output"))
    return stated and not any(name.endswith(("_rule", "_sha256")) for name in vector)


def _wycheproof(document: dict[str, Any], mode: str | None) -> Iterator[Known]:
    for group in document["testGroups"]:
        algorithm = f"{group.get('algorithm', '')} {document.get('algorithm', '')} {group.get('type', '')}"
        found = mode or mode_named(algorithm)
        if found is None:
            raise FormatError(f"{algorithm.strip()!r} tells no mode; give one")
        for test in group["tests"]:
            # "acceptable" leaves it to the implementation: nothing to compare with.
            if test.get("result") != "acceptable":
                size = {"tagSize": group["tagSize"]} if "tagSize" in group else {}
                yield from _json_test(f"tc{test['tcId']}", found, {**size, **test}, test["result"] == "valid")


def _json_test(name: str, mode: str, test: dict[str, Any], valid: bool) -> Iterator[Known]:
    def field(*names: str) -> bytes:
        return next((_hex(test[name], name) for name in names if test.get(name) is not None), b"")

    if mode == "ghash" and "input" in test:  # its input may be stated in parts as well
        plaintext, ciphertext = field("input"), field("output")
    else:
        plaintext, ciphertext = field("msg", "plaintext", "pt"), field("ct", "ciphertext")
    tag_length = int(test["tagSize"]) // 8 if "tagSize" in test else None
    yield from _vector(
        name,
        mode,
        key=field("key", "H"),
        iv=field("iv", "nonce"),
        aad=field("aad"),
        plaintext=plaintext,
        ciphertext=ciphertext,
        tag=field("tag", "mac"),
        valid=valid,
        tag_length=tag_length,
    )


def _vector(
    name: str,
    mode: str,
    *,
    key: bytes,
    iv: bytes,
    aad: bytes,
    plaintext: bytes,
    ciphertext: bytes,
    tag: bytes,
    valid: bool,
    tag_length: int | None = None,
) -> list[Case]:
    if not valid and mode not in AEADS:
        # An invalid MAC is one that is not the right one; invalid padding is not a matter of the cipher.
        return []
    made = both_ways(name, mode, "", key, iv, aad, plaintext, ciphertext, tag, refused=not valid)
    return [_with_tag_length(case, tag_length) for case in made]


def _with_tag_length(case: Case, tag_length: int | None) -> Case:
    if tag_length is None or case.mode not in AEADS:
        return case
    return replace(case, tag_length=tag_length)


# --- NIST .rsp --------------------------------------------------------------------------------------


def _rsp(text: str, mode: str | None) -> Iterator[Known]:
    sections: dict[str, str] = {}
    for number, lines in enumerate(_paragraphs(text)):
        fields: dict[str, str] = {}
        failing = False
        for line in lines:
            if line.startswith("["):
                name, _, value = line.strip("[]").partition("=")
                sections[name.strip().lower()] = value.strip()
                continue
            name, equals, value = line.partition("=")
            if equals:
                fields[name.strip().lower()] = value.strip()
            failing = failing or line.strip().upper() == "FAIL"
        if not fields.keys() & {"key", "h"}:
            continue
        found = mode_named(sections["mode"]) if "mode" in sections else mode
        if found is None:
            raise FormatError("neither the name nor a line [MODE = ...] tells the mode; give one")
        failing = failing or fields.get("result", "P").upper().startswith("F")
        yield from _rsp_vector(f"{found}/{fields.get('count', number)}", found, fields, sections, failing)


def _rsp_vector(
    name: str, mode: str, fields: dict[str, str], sections: dict[str, str], failing: bool
) -> list[Case]:
    def field(*names: str) -> bytes:
        return next((_hex(fields[name], f"{name} of {name}") for name in names if name in fields), b"")

    tag_length = None
    if "taglen" in fields:
        tag_length = int(fields["taglen"])
    elif "taglen" in sections:  # in bits, as NIST has it
        tag_length = int(sections["taglen"]) // 8
    return _vector(
        name,
        mode,
        key=field("key", "h"),
        iv=field("iv", "nonce", "i"),
        aad=field("aad", "adata"),
        plaintext=field("plaintext", "pt", "msg", "payload"),
        ciphertext=field("ciphertext", "ct"),
        tag=field("tag", "mac"),
        valid=not failing,
        tag_length=tag_length,
    )


def _paragraphs(text: str) -> Iterator[list[str]]:
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        line = line.strip()
        if line.startswith("#"):
            continue
        starts = re.match(r"count\s*=", line, re.IGNORECASE) and any("=" in held for held in lines)
        if (not line or starts or line.startswith("[")) and lines:
            yield lines
            lines = []
        if line:
            lines.append(line)


# --- the submission's files -------------------------------------------------------------------------


def _submission(text: str, name: str, mode: str | None) -> Iterator[Known]:
    heading = text[: text.find("KEYSIZE")]
    monte_carlo = "monte carlo" in heading.lower() or re.search(r"_[ed]_m\b", name + heading.lower())
    chaining = mode or ("cbc" if re.search(r"cipher block chaining|cbc_", name + heading, re.I) else "ecb")
    decrypting = bool(re.search(r"_d_m|decryption", (name + heading).lower()))
    held: dict[str, str] = {}
    for line in text.splitlines():
        label, equals, value = (part.strip() for part in line.partition("="))
        if not equals or label not in ("KEYSIZE", "I", "KEY", "IV", "PT", "CT"):
            continue
        if label == "KEYSIZE":
            held = {}
        held[label] = value
        last = "PT" if monte_carlo and decrypting else "CT"
        if label == last and {"KEY", "PT", "CT"} <= held.keys():
            yield from _submission_vector(held, chaining, bool(monte_carlo), decrypting)
            held.pop(last)
        elif label == "PT" and not monte_carlo and "CT" in held and "I" in held:
            # Files that put the ciphertext first.
            yield from _submission_vector(held, chaining, False, False)
            held.pop("CT")


def _submission_vector(held: dict[str, str], mode: str, monte_carlo: bool, decrypting: bool) -> list[Known]:
    name = f"{mode} KEYSIZE={held.get('KEYSIZE', '')} I={held.get('I', '')}"
    values = {label: _hex(held.get(label), f"{name} {label}") for label in ("KEY", "IV", "PT", "CT")}
    if monte_carlo:
        given, expected = (values["CT"], values["PT"]) if decrypting else (values["PT"], values["CT"])
        return [MonteCarlo(name, mode, decrypting, values["KEY"], values["IV"], given, expected)]
    return [*both_ways(name, mode, "", values["KEY"], values["IV"], b"", values["PT"], values["CT"], b"")]
