"""Input and output of commands: files, or standard input and output for ``-``; progress on a terminal."""

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any

from twofishkit.commands import UsageError
from twofishkit.sealed import files

#: Shorter work shows no progress bar.
PROGRESS_BYTES = 64 << 20


@contextlib.contextmanager
def source(name: str) -> Iterator[tuple[IO[bytes], int | None]]:
    """An input to read from, and its length in bytes if that is known."""
    if name == "-":
        if sys.stdin.isatty():
            raise UsageError("standard input is a terminal; name a file, or pipe something in")
        yield sys.stdin.buffer, None
        return
    with open(name, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        yield file, status.st_size if stat.S_ISREG(status.st_mode) else None


def check_destination(name: str, *, force: bool) -> None:
    """Refuse early, before a passphrase is asked for, what `destination` would refuse.

    Raises
    ------
    FileExistsError, UsageError
    """
    if name == "-":
        if sys.stdout.isatty():
            raise UsageError("refusing to write binary data to a terminal; use -o FILE, or a pipe")
    elif not force and os.path.lexists(name):
        raise FileExistsError(0, "exists already; use --force to replace it", name)


@contextlib.contextmanager
def destination(name: str, *, force: bool) -> Iterator[IO[bytes]]:
    """An output to write to. A file appears only if the block ends well, and then whole."""
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with files.replace(name, overwrite=force) as file:
            yield file


@contextlib.contextmanager
def progress(total: int | None, label: str, *, quiet: bool) -> Iterator[Callable[[int], Any]]:
    """A function to call with the bytes done since the last call; draws a bar if that helps."""
    short = total is not None and total < PROGRESS_BYTES
    if quiet or short or not sys.stderr.isatty():
        yield lambda n: None
        return
    from tqdm import tqdm  # only where it is seen: it takes a while to import

    with tqdm(total=total, desc=label, unit="B", unit_scale=True, unit_divisor=1024, leave=False) as bar:
        yield bar.update
