"""``inspect``: what the header of a sealed file says, without its key."""

import argparse
import functools
import json
from typing import Any

from twofishkit.commands import secret, streams
from twofishkit.errors import TwofishKitError
from twofishkit.sealed import Archive, Header, container, dtypes, files, keys
from twofishkit.sealed.stream import CHUNK_BYTES


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "inspect",
        help="show what a sealed file holds, without its key",
        description="Show the header of a sealed file. Without a key nothing is verified: anybody could have"
        " written it. With one the header is verified, and the members of an archive are listed.",
    )
    parser.add_argument("input", metavar="FILE", help="the sealed file; - for standard input")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    secret.add_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    with streams.source(args.input) as (file, size):
        fill = functools.partial(files.fill, file)
        header = container.read_header(fill)
        facts = _facts(header)
        problem = _length(facts, header, size)
        if secret.given(args):
            given = secret.from_options(args)
            source = keys.matching_source(header.scrypt, given.get("key"), given.get("passphrase"))
            container.resume(header, fill, source)[0].wipe()
            facts["verified"] = "header"
            if header.kind == "archive" and args.input != "-":
                with Archive(args.input, **given) as archive:
                    facts["members"] = {name: _facts(archive.member(name).header) for name in archive}
    _show(facts, as_json=args.json)
    if problem is not None:
        raise problem
    return 0


def _facts(header: Header) -> dict[str, Any]:
    facts: dict[str, Any] = {"kind": header.kind}
    if header.dtype is not None:
        facts["dtype"] = json.loads(dtypes.encode(header.dtype))
        facts["shape"] = list(header.shape)
        facts["order"] = header.order
    if header.kind != "archive":
        facts["bytes"] = header.payload_bytes
    if header.payload_bytes is not None and header.kind != "archive":
        facts["chunks"] = _chunks(header.payload_bytes)
    facts["key"] = "raw" if header.scrypt is None else f"passphrase, scrypt N = 2^{header.scrypt.log2_n}"
    if header.metadata:
        facts["metadata"] = dict(header.metadata)
    facts["verified"] = "nothing"
    return facts


def _chunks(payload_bytes: int) -> str:
    count = payload_bytes // CHUNK_BYTES + 1
    return f"{count} of {CHUNK_BYTES} bytes, the last of {payload_bytes % CHUNK_BYTES}"


def _length(facts: dict[str, Any], header: Header, size: int | None) -> TwofishKitError | None:
    """Fill in what the length of the file tells; returns what is wrong with it, to be raised at the end."""
    if size is None or header.kind == "archive":
        return None
    try:
        whole = container.complete(header, size)
    except TwofishKitError as error:
        return error
    facts["bytes"] = whole.payload_bytes
    assert whole.payload_bytes is not None
    facts["chunks"] = _chunks(whole.payload_bytes)
    if whole.dtype is not None:
        facts["shape"] = list(whole.shape)
    return None


def _show(facts: dict[str, Any], *, as_json: bool) -> None:
    # ASCII throughout: names and metadata may hold control characters that would reach the terminal.
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    for name, value in facts.items():
        if name == "members":
            for member, inner in value.items():
                print(f"{'member':<10}{json.dumps(member)}: {_line(inner)}")
        else:
            print(f"{name:<10}{value if isinstance(value, str) else json.dumps(value)}")


def _line(facts: dict[str, Any]) -> str:
    if "dtype" not in facts:
        return f"{facts['bytes']} bytes"
    return f"{json.dumps(facts['dtype'])} {json.dumps(facts['shape'])}"
