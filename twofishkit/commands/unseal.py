"""``unseal``: sealed form back into a file or stream, in constant memory."""

import argparse
import functools
import os
import zipfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from twofishkit.commands import UsageError, npy, secret, streams
from twofishkit.commands.seal import SUFFIX
from twofishkit.errors import FormatError
from twofishkit.sealed import Archive, Header, container, files, keys, pipes
from twofishkit.sealed.stream import Bytes, ChunkedMessage


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "unseal",
        help="verify and decrypt a sealed file",
        description="Verify and decrypt a sealed file: an array into a .npy file, an archive of arrays into a"
        " .npz file, bytes into what they were. A file appears only when all of it has been verified."
        " Standard output is written as chunks are verified: only exit code 0 means that it is whole.",
    )
    parser.add_argument("input", metavar="INPUT", help="the sealed file; - for standard input")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"default: INPUT without {SUFFIX}, or standard output if INPUT is -",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    secret.add_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    with streams.source(args.input) as (file, size):
        fill = functools.partial(files.fill, file)
        header = container.read_header(fill)
        if size is not None and header.kind != "archive":
            header = container.complete(header, size)
        if header.dtype is not None and header.payload_bytes is None:
            raise FormatError("an array of unknown length: unseal it from a file, not from a pipe")
        if header.kind == "archive" and size is None:
            raise FormatError("an archive: unseal it from a file, not from a pipe")
        output = args.output or _default_output(args.input, header)
        streams.check_destination(output, force=args.force)
        given = secret.from_options(args, want="key" if header.scrypt is None else "passphrase")
        if header.kind == "archive":
            _unseal_archive(args, output, given)
            return 0
        source = keys.matching_source(header.scrypt, given.get("key"), given.get("passphrase"))
        message, _ = container.resume(header, fill, source)
        with (
            streams.destination(output, force=args.force) as out,
            streams.progress(header.payload_bytes, "unsealing", quiet=args.quiet) as advance,
        ):
            for part in _content(header, message, fill):
                files.write_all(out, part)
                advance(len(part))
    return 0


def _default_output(name: str, header: Header) -> str:
    if name == "-":
        return "-"
    if not name.endswith(SUFFIX) or os.path.basename(name) == SUFFIX:
        raise UsageError(f"{name} does not end in {SUFFIX}; say where to with -o FILE")
    stem = name.removesuffix(SUFFIX)
    suffix = {"bytes": "", "array": ".npy", "archive": ".npz"}[header.kind]
    return stem if stem.endswith(suffix) else stem + suffix


def _npy_start(header: Header) -> bytes:
    assert header.dtype is not None
    return npy.header(npy.Array(header.dtype, header.shape, header.order))


def _content(header: Header, message: ChunkedMessage, fill: pipes.Fill) -> Iterator[bytes | Bytes]:
    """The unsealed file, part by part."""
    if header.dtype is not None:
        yield _npy_start(header)
    yield from pipes.open_batches(message, fill, header.payload_bytes)
    message.wipe()
    if fill(np.empty(1, np.uint8)):
        raise FormatError("trailing data after the end of the sealed data")


def _unseal_archive(args: argparse.Namespace, output: str, given: secret.Secret) -> None:
    with Archive(args.input, **given) as archive:
        total = sum(archive.member(name).header.payload_bytes or 0 for name in archive)
        with (
            streams.destination(output, force=args.force) as out,
            streams.progress(total, "unsealing", quiet=args.quiet) as advance,
            zipfile.ZipFile(out, "w") as npz,
        ):
            for name in archive:
                _write_member(archive, name, npz, advance)


def _write_member(archive: Archive, name: str, npz: zipfile.ZipFile, advance: Any) -> None:
    header = archive.member(name).header
    inner = name if header.dtype is None else f"{name}.npy"
    # A fixed date, so that the same arrays give the same file.
    with npz.open(zipfile.ZipInfo(inner), "w", force_zip64=True) as out:
        if header.dtype is not None:
            out.write(_npy_start(header))
        for part in archive.parts(name):
            _write_part(out, part)
            advance(len(part))


def _write_part(out: IO[bytes], part: Bytes) -> None:
    out.write(memoryview(part))  # type: ignore[arg-type]
