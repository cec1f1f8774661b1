"""``rekey``: another key or passphrase for a sealed file."""

import argparse
import os
from typing import Any

from twofishkit.commands import secret, streams
from twofishkit.sealed import inspect
from twofishkit.sealed import rekey as rekey_file


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "rekey",
        help="change the key or passphrase of a sealed file",
        description="Encrypt a sealed file anew under another key or passphrase. It is replaced when the new"
        " one is complete; whatever happens before leaves it as it was. Copies of the old file still open"
        " with the old key.",
    )
    parser.add_argument("input", metavar="FILE", help="the sealed file")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    secret.add_options(parser)
    secret.add_new_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    header = inspect(args.input)
    old = secret.from_options(args, want="key" if header.scrypt is None else "passphrase")
    new = secret.new_from_options(args)
    with streams.progress(os.path.getsize(args.input), "rekeying", quiet=args.quiet) as advance:
        done = 0

        def report(now: int, total: int | None) -> None:
            nonlocal done
            advance(now - done)
            done = now

        rekey_file(
            args.input, **old, new_key=new.get("key"), new_passphrase=new.get("passphrase"), progress=report
        )
    return 0
