"""Files that appear whole or not at all.

A file is written beside its destination under a temporary name, with mode 0600, flushed to the
disk, and only then renamed over the destination; then the directory is flushed too. Whoever looks,
and whenever the process dies, finds the old file or the new one. A failure removes the temporary.

A process that was killed cannot: what it left is removed by the next one that writes into the
directory. A writer holds a lock (flock) on its temporary, which the system releases when the process
dies, however it dies. So a temporary that can be locked has no owner any more.
"""

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from typing import IO, Any, TypeAlias

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

from twofishkit.errors import InvalidParameter
from twofishkit.sealed.stream import Bytes

Path: TypeAlias = str | os.PathLike[str]

_TEMPORARY = re.compile(r"\..*\.[0-9a-f]{16}\.tfk-tmp", re.DOTALL)
#: In directories of more entries, looking for what was left behind may take this part of the time.
_MANY, _SHARE = 1000, 1 / 20

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


class Replacement:
    """A file being written that becomes ``path`` on `commit`, or nothing on `discard`.

    Attributes
    ----------
    file : unbuffered binary file

    Parameters and errors: as of `replace`.
    """

    def __init__(self, path: Path, *, overwrite: bool = True) -> None:
        self._overwrite = overwrite
        self._target = _destination(path)
        if not overwrite and os.path.lexists(self._target):
            raise FileExistsError(errno.EEXIST, "File exists", os.fsdecode(path))
        self._directory, name = os.path.split(self._target)
        _remove_leftovers(self._directory)
        self._temporary, self.file = _new_temporary(self._directory, name)

    def commit(self) -> None:
        """Make it the real file. If that fails, nothing is left of it."""
        try:
            with contextlib.suppress(FileNotFoundError):
                os.chmod(self._temporary, stat.S_IMODE(os.stat(self._target).st_mode))
            os.fsync(self.file.fileno())
            if os.name != "posix":
                self.file.close()  # Windows renames only closed files
            _publish(self._temporary, self._target, self._overwrite)
        except BaseException:
            self.discard()
            raise
        self.file.close()
        _flush_directory(self._directory)

    def discard(self) -> None:
        """Remove the temporary file."""
        if os.name != "posix":
            self.file.close()
        # The lock is held until it is gone.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._temporary)
        self.file.close()


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
    replacement = Replacement(path, overwrite=overwrite)
    try:
        yield replacement.file
    except BaseException:
        replacement.discard()
        raise
    replacement.commit()


def _new_temporary(directory: str, name: str) -> tuple[str, IO[bytes]]:
    """A new file beside ``name``, locked: its name, and the file."""
    # Names have up to 255 bytes, and characters up to four.
    label = os.fsencode(name)[:100].decode("utf-8", "ignore")
    while True:
        temporary = os.path.join(directory, f".{label}.{secrets.token_hex(8)}.tfk-tmp")
        file: IO[bytes] = open(os.open(temporary, _NEW, 0o600), "wb", buffering=0)  # noqa: SIM115
        # Before it was locked, somebody else may have taken it for one that was left behind.
        if _lock(file.fileno(), wait=True) is None or os.fstat(file.fileno()).st_nlink:
            return temporary, file
        file.close()


def _lock(descriptor: int, *, wait: bool) -> bool | None:
    """Lock a file until it is closed: whether that was possible; None if there are no locks here."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


#: Large directory -> when it is to be searched again, by the monotonic clock.
_next_search: dict[str, float] = {}


def _remove_leftovers(directory: str) -> None:
    """Remove temporaries in a directory whose writers have died; never raises."""
    begin = time.monotonic()
    if begin < _next_search.get(directory, begin):
        return
    count = 0
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            count += 1
            if _TEMPORARY.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    _remove_leftover(entry.path)
    if count > _MANY:
        end = time.monotonic()
        _next_search[directory] = end + (end - begin) / _SHARE
    else:
        _next_search.pop(directory, None)


def _remove_leftover(path: str) -> None:
    if fcntl is None:
        os.unlink(path)  # refused while its writer has it open
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        if ours and _lock(descriptor, wait=False):
            os.unlink(path)
    finally:
        os.close(descriptor)


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


#: Whether several threads can read and write at places of their own in one file.
POSITIONED = hasattr(os, "pwrite") and hasattr(os, "preadv")


def write_at(file: IO[bytes], data: Bytes, offset: int) -> None:
    """Write a whole buffer at an offset; the file's own position stays."""
    view: memoryview = memoryview(data)  # type: ignore[arg-type]
    while view:
        n = os.pwrite(file.fileno(), view, offset)
        view, offset = view[n:], offset + n


def fill_at(file: IO[bytes], buffer: Bytes, offset: int) -> int:
    """Read from an offset until a buffer is full or the file ends; the number of bytes read."""
    view: memoryview = memoryview(buffer)  # type: ignore[arg-type]
    done = 0
    while done < len(view):
        n = os.preadv(file.fileno(), [view[done:]], offset + done)
        if not n:
            break
        done += n
    return done
