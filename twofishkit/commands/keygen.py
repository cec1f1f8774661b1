"""``keygen``: 32 random bytes, in a file that only its owner can read."""

import argparse
import os
import sys
from typing import Any

from twofishkit.cipher import generate_key
from twofishkit.commands import UsageError
from twofishkit.sealed import files


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "keygen",
        help="make a key file",
        description="Write 32 random bytes, as 64 hex digits, to a new file that only you can read.",
    )
    parser.add_argument("output", metavar="FILE", help="the key file to make; - for standard output")
    parser.add_argument("--raw", action="store_true", help="write 32 raw bytes instead of hex digits")
    parser.add_argument(
        "--force", action="store_true", help="replace an existing file: what its key has sealed is lost"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    key = generate_key()
    data = key if args.raw else key.hex().encode() + b"\n"
    if args.output == "-":
        if args.raw and sys.stdout.isatty():
            raise UsageError("refusing to write a raw key to a terminal")
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return 0
    with files.replace(args.output, overwrite=args.force) as file:
        files.write_all(file, data)
    os.chmod(args.output, 0o600)  # also where an older file was more open
    return 0
