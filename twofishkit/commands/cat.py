"""``cat``: part of a sealed array, as text or as a .npy file; reads only the chunks that it needs."""

import argparse
import re
from typing import Any

import numpy as np

from twofishkit.commands import UsageError, npy, secret, streams
from twofishkit.sealed import files, open_array
from twofishkit.sealed.arrays import inspect
from twofishkit.sealed.remote import is_url

_SLICE = re.compile(r"(-?\d*)(?::(-?\d*)(?::(-?\d*))?)?", re.ASCII)


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "cat",
        help="print part of a sealed array, or write it to a .npy file",
        description="Print part of a sealed array, or write it to a .npy file. Only the chunks that it lies"
        " in are read, verified and decrypted.",
    )
    parser.add_argument("input", metavar="FILE", help="the sealed file, or a URL that fsspec knows")
    parser.add_argument(
        "--slice",
        metavar="INDEX",
        default="...",
        help="as in Python, as in 10:20 or 3,:,::2 (--slice=-5: with a minus first); default: all",
    )
    parser.add_argument("--name", metavar="NAME", help="which array of an archive")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="a .npy file to write; - for standard output; text if not given",
    )
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")
    secret.add_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    index = parse_index(args.slice)
    if args.input == "-":
        raise UsageError("cat reads parts of a file, so it cannot read standard input; unseal can")
    if args.output is not None:
        streams.check_destination(args.output, force=args.force)
    want: secret.Want = None
    if not is_url(args.input):
        want = "key" if inspect(args.input).scrypt is None else "passphrase"
    with open_array(args.input, name=args.name, **secret.from_options(args, want=want)) as array:
        try:
            part = np.asarray(array[index])
        except IndexError as error:
            raise UsageError(f"--slice {args.slice}: {error}") from None
    if args.output is None:
        print(np.array2string(part, separator=", "))
        return 0
    described = npy.Array(part.dtype, part.shape, "C")
    with streams.destination(args.output, force=args.force) as out:
        files.write_all(out, npy.header(described))
        files.write_all(out, np.ascontiguousarray(part).reshape(-1).view(np.uint8) if part.nbytes else b"")
    return 0


def parse_index(text: str) -> tuple[Any, ...]:
    """The index that ``a[text]`` would have: integers, slices and ``...``, separated by commas.

    Raises
    ------
    UsageError
        If it is anything else.
    """
    return tuple(_one(item.strip(), text) for item in text.removesuffix(",").split(","))


def _one(item: str, text: str) -> Any:
    if item == "...":
        return Ellipsis
    match = _SLICE.fullmatch(item)
    if match is None or item in ("", "-") or "-" in match.groups():
        raise UsageError(f"--slice wants something as 10:20 or 3,:,::2, not {text!a}")
    numbers = [int(number) if number else None for number in match.groups()]
    if ":" not in item:
        return numbers[0]
    if numbers[2] == 0:
        raise UsageError("the step of a slice cannot be 0")
    return slice(*numbers)
