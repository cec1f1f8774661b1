"""``selftest``: known answers for every mode under every backend that runs here.

The answers are a few of tests/vectors, chosen so that every mode and key size occurs, with a partial
last block where the mode has one; bulk answers reach the kernels that take many blocks at once.
"""

import argparse
import functools
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

import twofishkit as tk
from twofishkit import backend
from twofishkit.errors import TwofishKitError

Answer = dict[str, Any]

#: Checked under every GHASH too: whatever multiplies by H.
_HASHING = ("GCM", "GMAC", "GHASH", "POLYVAL")
#: Backends for which 64 KiB take too long.
_SLOW = ("reference",)
_TEXT_FIELDS = ("id", "mode", "ciphertext_sha256", "verified_with")


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "selftest",
        help="check every mode under every backend against known answers",
        description="Check every mode, key size and backend that runs here against known answers from other"
        " implementations. The exit code is 1 if one answer is wrong.",
    )
    parser.add_argument("--backend", metavar="NAME", help="only this backend")
    parser.set_defaults(run=run)


def known_answers() -> dict[str, Any]:
    """The embedded answers, hex strings as bytes."""
    text = resources.files("twofishkit.commands").joinpath("known_answers.json").read_text("utf-8")
    document: dict[str, Any] = json.loads(text)
    for name in ("answers", "bulk"):
        document[name] = [_decoded(answer) for answer in document[name]]
    document["sealed"] = _decoded(document["sealed"])
    return document


def _decoded(answer: Answer) -> Answer:
    return {
        name: bytes.fromhex(value) if isinstance(value, str) and name not in _TEXT_FIELDS else value
        for name, value in answer.items()
    }


def run(args: argparse.Namespace) -> int:
    names = backend.available() if args.backend is None else (args.backend,)
    document = known_answers()
    failures = 0
    for name in names:
        with backend.use(name):
            failures += _report(f"backend {name}", _cipher_checks(document, bulk=name not in _SLOW))
    if args.backend is None:
        for name in backend.available_ghash():
            with backend.use(ghash=name):
                chosen = [answer for answer in document["answers"] if answer["mode"] in _HASHING]
                failures += _report(f"ghash {name}", ((a["id"], functools.partial(check, a)) for a in chosen))
    if failures:
        print(f"twofishkit: selftest: {failures} wrong", file=sys.stderr)
    return 1 if failures else 0


def _cipher_checks(document: dict[str, Any], *, bulk: bool) -> Iterator[tuple[str, Callable[[], bool]]]:
    """(what is checked, the check) for the backend in force."""
    for answer in document["answers"]:
        yield f"{answer['mode']} {answer['id']}", functools.partial(check, answer)
    for answer in document["bulk"] if bulk else ():
        yield f"{answer['mode']} {answer['id']}", functools.partial(check_bulk, answer)
    sealed = document["sealed"]
    yield "sealed file", lambda: tk.unseal(sealed["blob"], sealed["key"]) == sealed["plaintext"]
    yield "xor", lambda: tk.xor(b"\x0f" * 1001, b"\x55" * 1001) == b"\x5a" * 1001


def _report(title: str, checks: Iterator[tuple[str, Callable[[], bool]]]) -> int:
    """Run checks, print what failed and a summary; the number of failures."""
    count = failures = 0
    for name, passes in checks:
        count += 1
        try:
            problem = None if passes() else "wrong answer"
        except TwofishKitError as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            failures += 1
            print(f"{title:<20}FAILED  {name}: {problem}")
    print(f"{title:<20}{'ok' if not failures else 'FAILED':<8}{count - failures} of {count}")
    return failures


def check(answer: Answer) -> bool:
    """Whether a known answer comes out, in both directions where there are two."""
    name, key, data = answer["mode"], answer["key"], answer["plaintext"]
    if name in ("CMAC", "GMAC", "GHASH", "POLYVAL"):
        made = tk.GMAC(key, answer["iv"]) if name == "GMAC" else getattr(tk, name)(key)
        return bool(made.update(data).digest() == answer["tag"])
    encrypt, decrypt = _directions(name, key, answer.get("iv"), answer.get("aad", b""), answer.get("tag"))
    expected = (answer["ciphertext"], answer.get("tag"))
    return bool(encrypt(data) == expected and decrypt(answer["ciphertext"]) == data)


def check_bulk(answer: Answer) -> bool:
    """Whether a long message, given by rule, is encrypted to the right digest, and decrypted again."""
    name = answer["id"]
    data = hashlib.shake_256(f"{name}/pt".encode()).digest(answer["length"])
    aad = hashlib.shake_256(f"{name}/aad".encode()).digest(answer["aad_length"])
    encrypt, decrypt = _directions(answer["mode"], answer["key"], answer.get("iv"), aad, answer.get("tag"))
    ciphertext, tag = encrypt(data)
    digest = hashlib.sha256(ciphertext).hexdigest()
    right = (digest, tag) == (answer["ciphertext_sha256"], answer.get("tag"))
    return right and decrypt(ciphertext) == data


def _directions(
    name: str, key: bytes, iv: bytes | None, aad: bytes, tag: bytes | None
) -> tuple[Callable[[bytes], tuple[bytes, bytes | None]], Callable[[bytes], bytes]]:
    """(plaintext -> (ciphertext, tag or None), ciphertext -> plaintext) of one mode and key."""
    mode: Any
    if name == "ECB":
        mode = tk.ECB(key)
        return lambda data: (mode.encrypt(data), None), mode.decrypt
    if name == "XTS":
        mode = tk.XTS(key)
        return lambda data: (mode.encrypt(data, iv), None), lambda data: mode.decrypt(data, iv)
    if tag is None:
        mode = getattr(tk, name)(key, iv)
        return lambda data: (mode.encrypt(data), None), mode.decrypt
    mode = tk.SIV(key) if name == "SIV" else getattr(tk, name)(key, tag_length=len(tag))
    nonce = iv or None if name == "SIV" else iv
    return (
        lambda data: mode.encrypt_detached(nonce, data, aad),
        lambda data: mode.decrypt_detached(nonce, data, tag, aad),
    )
