"""Where sealed data is read from, any part at any time: a file that is mapped into memory.

Pages of a mapped file may change while they are looked at, and reading beyond the end of a file that
was cut would kill the process. So whoever reads takes a copy, and verifies and decrypts that; and the
length and date of the file are compared with those at the beginning before each part is read.
"""

import contextlib
import mmap
import os
import stat
from typing import Protocol

import numpy as np

from twofishkit.errors import FormatError, StateError
from twofishkit.sealed.files import Path
from twofishkit.sealed.stream import Bytes


class Source(Protocol):
    """Sealed data of a known length.

    Attributes
    ----------
    name : str
        For messages and `repr`.
    size : int
        Bytes in all.
    changeable : bool
        Whether what `fetch` gives may still change, and has to be copied before it is verified.
    """

    name: str
    size: int
    changeable: bool

    def fetch(self, ranges: list[tuple[int, int]]) -> list[Bytes]:
        """The bytes from a to b for each (a, b), which lie within the data.

        Raises
        ------
        StateError
            If the file has changed since it was opened.
        OSError
            If it cannot be read.
        """

    def check(self) -> None:
        """Raise StateError if the file is seen to have changed since it was opened."""

    def close(self) -> None:
        """Nothing is read any more, and nothing that `fetch` gave is used any more."""


class Reader:
    """Reads a source from its beginning, as a file is read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._at = 0

    def __call__(self, target: Bytes) -> int:
        n = min(target.size, self._source.size - self._at)
        if n:
            target[:n] = self._source.fetch([(self._at, self._at + n)])[0]
        self._at += n
        return n


class LocalFile:
    """A regular file, mapped."""

    changeable = True

    def __init__(self, path: Path) -> None:
        self.name = os.fsdecode(path)
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  (closed by close)
        try:
            status = os.fstat(self._file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise FormatError("not a regular file; read it first and use unseal")
            self.size = status.st_size
            self._modified = status.st_mtime_ns
            # An empty file cannot be mapped.
            self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) if self.size else None
        except BaseException:
            self._file.close()
            raise
        self._bytes = np.empty(0, np.uint8) if self._map is None else np.frombuffer(self._map, np.uint8)

    def fetch(self, ranges: list[tuple[int, int]]) -> list[Bytes]:
        self.check()
        return [self._bytes[a:b] for a, b in ranges]

    def check(self) -> None:
        status = os.fstat(self._file.fileno())
        if (status.st_size, status.st_mtime_ns) != (self.size, self._modified):
            raise StateError(f"{self.name} has changed since it was opened; open it again")

    def close(self) -> None:
        self._bytes = np.empty(0, np.uint8)
        if self._map is not None:
            # Frames of an exception may still refer to it; it goes when they do.
            with contextlib.suppress(BufferError):
                self._map.close()
        self._file.close()
