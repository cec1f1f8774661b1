"""``seal``: a file or stream into sealed form, in constant memory."""

import argparse
import functools
from typing import IO, Any

import numpy as np

from twofishkit.commands import UsageError, npy, secret, streams
from twofishkit.errors import FormatError
from twofishkit.sealed import container, files, keys, pipes
from twofishkit.sealed.stream import CHUNK_BYTES

SUFFIX = ".tfk"


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "seal",
        help="encrypt and authenticate a file",
        description="Encrypt and authenticate a file. A .npy file is sealed as an array, which keeps dtype"
        " and shape and which twofishkit.load reads; anything else is sealed as bytes.",
    )
    parser.add_argument("input", metavar="INPUT", help="the file to seal; - for standard input")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=f"default: INPUT{SUFFIX}, or standard output if INPUT is -"
    )
    parser.add_argument(
        "--as",
        dest="form",
        choices=("auto", "npy", "bytes"),
        default="auto",
        help="auto: npy if INPUT ends in .npy, otherwise bytes",
    )
    parser.add_argument(
        "--metadata",
        metavar="NAME=TEXT",
        action="append",
        default=[],
        help="a public label, readable without the key; may be repeated",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    secret.add_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    output = args.output or ("-" if args.input == "-" else args.input + SUFFIX)
    metadata = _metadata(args.metadata)
    as_npy = args.form == "npy" or (args.form == "auto" and args.input.endswith(".npy"))
    with streams.source(args.input) as (file, size):
        streams.check_destination(output, force=args.force)
        fields = _npy_fields(file) if as_npy else {"kind": "bytes", "payload_bytes": size}
        source = keys.new_source(**_both(secret.from_options(args, confirm=True)))
        sealing = container.begin(fields, source, metadata)
        total = sealing.header.payload_bytes
        with (
            streams.destination(output, force=args.force) as out,
            streams.progress(total, "sealing", quiet=args.quiet) as advance,
        ):
            files.write_all(out, sealing.start)
            sealer = pipes.Sealer(sealing.message, functools.partial(files.write_all, out))
            _pump(file, sealer, total, advance)
    return 0


def _both(given: secret.Secret) -> dict[str, Any]:
    return {"key": None, "passphrase": None} | given


def _metadata(labels: list[str]) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for label in labels:
        name, separator, text = label.partition("=")
        if not separator or not name:
            raise UsageError(f"--metadata wants NAME=TEXT, not {label!a}")
        if name in metadata:
            raise UsageError(f"--metadata {name!a} is given twice")
        metadata[name] = text
    return metadata


def _npy_fields(file: IO[bytes]) -> dict[str, Any]:
    array = npy.read_header(functools.partial(files.fill, file))
    n = array.dtype.itemsize
    for length in array.shape:
        n *= length
    return {
        "kind": "array",
        "payload_bytes": n,
        "dtype": array.dtype,
        "shape": array.shape,
        # One-dimensional arrays have one order, which is written as C.
        "order": array.order if len(array.shape) > 1 else "C",
    }


def _pump(file: IO[bytes], sealer: pipes.Sealer, total: int | None, advance: Any) -> None:
    buffer = np.empty(sealer.batch_chunks * CHUNK_BYTES, np.uint8)
    while n := files.fill(file, buffer):
        sealer.write(buffer[:n])
        advance(n)
        if n < buffer.size:
            break
    if total is not None and sealer.total != total:
        raise FormatError(f"the input has {sealer.total} bytes of data where {total} were expected")
    sealer.finish()
