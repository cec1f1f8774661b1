"""Files that appear whole or not at all.

A file is written beside its destination under a temporary name, with mode 0600, flushed to the
disk, and only then renamed over the destination; then the directory is flushed too. Whoever looks,
and whenever the process dies, finds the old file or the new one. A failure removes the temporary.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from typing import IO, Any, TypeAlias

from twofishkit.errors import InvalidParameter
from twofishkit.sealed.stream import Bytes

Path: TypeAlias = str | os.PathLike[str]

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def _destination(path: Path) -> str:
    """The file behind a path, symbolic links followed: a link stays, its target is replaced."""
    target = os.path.realpath(os.fsdecode(path))
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", os.fsdecode(path))
    if not stat.S_ISREG(mode):
        raise InvalidParameter(f"{os.fsdecode(path)} is not a regular file and cannot be replaced by one")
    return target


@contextlib.contextmanager
def replace(path: Path, *, overwrite: bool = True) -> Iterator[IO[bytes]]:
    """An unbuffered binary file that becomes ``path`` when the block ends without an exception.

    A file that was there keeps its permissions; a new one is readable by its owner only.

    Parameters
    ----------
    path : str or path-like
    overwrite : bool
        If false, an existing file is an error, also one that appears meanwhile.

    Raises
    ------
    OSError
        As the operating system has it: no such directory, permission denied, no space left, ...
    InvalidParameter
        If path is neither new nor a regular file.
    """
    target = _destination(path)
    if not overwrite and os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "File exists", os.fsdecode(path))
    directory, name = os.path.split(target)
    temporary = os.path.join(directory, f".{name[:100]}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, _NEW, 0o600)
    try:
        with open(descriptor, "wb", buffering=0) as file:
            yield file
            with contextlib.suppress(FileNotFoundError):
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
            os.fsync(file.fileno())
        _publish(temporary, target, overwrite)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _flush_directory(directory)


def _publish(temporary: str, target: str, overwrite: bool) -> None:
    if overwrite:
        os.replace(temporary, target)
        return
    try:
        os.link(temporary, target)  # fails if the target exists, unlike a rename
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "File exists", target) from None
        os.replace(temporary, target)
        return
    os.unlink(temporary)


def _flush_directory(directory: str) -> None:
    if os.name != "posix":
        return  # Windows cannot open a directory; its rename is in the journal
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(file: IO[bytes], data: Any) -> None:
    """Write a whole buffer to an unbuffered file, which may take less at a time."""
    view = memoryview(data).cast("B")
    while view:
        view = view[file.write(view) :]


def fill(file: IO[bytes], buffer: Bytes) -> int:
    """Read until a buffer is full or the file ends; the number of bytes read."""
    view: memoryview = memoryview(buffer)  # type: ignore[arg-type]
    done = 0
    while done < len(view):
        n = file.readinto(view[done:])  # type: ignore[attr-defined]
        if not n:
            break
        done += n
    return done
