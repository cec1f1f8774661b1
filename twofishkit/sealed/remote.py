"""Sealed files behind a URL, through fsspec: the extra ``remote``.

Reading asks for ranges of bytes and never for the whole. Writing puts the new file in place only when it
is complete, as far as the storage allows: object stores and local files show nothing before the end
of an upload; elsewhere a temporary is written beside the destination and then moved over it.
"""

import contextlib
import errno
import importlib
import re
import secrets
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from twofishkit.errors import InvalidParameter, MissingDependency, StateError
from twofishkit.sealed import files
from twofishkit.sealed.stream import Bytes

#: As fsspec's: a protocol, perhaps with others chained to it. One letter is a Windows drive.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+(?:::|://)")
#: Read with the first bytes, so that the header and what follows take one request.
_HEAD_BYTES = 8192
#: Object stores, on which a file is not there before its upload has been completed.
_PUBLISHING = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl"}


def is_url(path: Any) -> bool:
    """Whether a path is one for fsspec. ``file://`` is too."""
    return isinstance(path, str) and _URL.match(path) is not None


def _locate(url: str, storage_options: dict[str, Any] | None) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the path on it."""
    try:
        fsspec = importlib.import_module("fsspec.core")
    except ImportError:
        raise MissingDependency(
            f"{url} is a URL, and fsspec is not installed; pip install 'twofishkit[remote]'"
        ) from None
    try:
        fs, path = fsspec.url_to_fs(url, **(storage_options or {}))
    except ImportError as error:  # fsspec knows the protocol, and names the package that it needs
        raise MissingDependency(f"{url}: {error}") from None
    except ValueError as error:
        raise InvalidParameter(f"{url}: {error}") from None
    return fs, path


def _check_options(path: Any, storage_options: dict[str, Any] | None) -> None:
    if storage_options is not None and not is_url(path):
        raise InvalidParameter("storage_options are for URLs, and path is none")


def local_path(path: Any) -> Any:
    """The path itself, or that of a ``file://`` URL."""
    if is_url(path) and path.lower().startswith("file://"):
        return _locate(path, None)[1]
    return path


def only_local(path: Any) -> Any:
    """As `local_path`, for what works on local files only.

    Raises
    ------
    InvalidParameter
        If it is the URL of anything else.
    """
    path = local_path(path)
    if is_url(path):
        raise InvalidParameter(f"{path} is a URL; only save, load and open_array take URLs")
    return path


def open_source(
    path: Any, storage_options: dict[str, Any] | None = None, *, all_wanted: bool = False
) -> "RemoteFile | None":
    """What reads from a URL; None if the path is a local one.

    ``all_wanted``: all of it is going to be read, so that a server may send all of it.
    """
    _check_options(path, storage_options)
    if not is_url(path):
        return None
    return RemoteFile(path, *_locate(path, storage_options), all_wanted)


class RemoteFile:
    """A `sources.Source` behind a URL."""

    changeable = False

    def __init__(self, url: str, fs: Any, path: str, all_wanted: bool = False) -> None:
        self.name = url
        self._fs, self._path = fs, path
        size = fs.info(path).get("size")
        if size is None:
            raise OSError(errno.EOPNOTSUPP, "the server does not tell how long the file is", url)
        self.size = int(size)
        self._head = np.empty(0, np.uint8)
        if self.size:
            n = min(_HEAD_BYTES, self.size)
            head = fs.cat_file(path, 0, n)
            # What a server without ranges sends is the whole file.
            self._head = self._checked(head, self.size if all_wanted and len(head) == self.size else n)

    def fetch(self, ranges: list[tuple[int, int]]) -> list[Bytes]:
        wanted = [(a, b) for a, b in ranges if b > self._head.size]
        got = dict(zip(wanted, self._ranges(wanted), strict=True))
        return [got[(a, b)] if (a, b) in got else self._head[a:b] for a, b in ranges]

    def _ranges(self, ranges: list[tuple[int, int]]) -> list[Bytes]:
        if not ranges:
            return []
        starts, ends = [a for a, _ in ranges], [b for _, b in ranges]
        if len(ranges) == 1:
            parts = [self._fs.cat_file(self._path, starts[0], ends[0])]
        else:
            parts = self._fs.cat_ranges([self._path] * len(ranges), starts, ends, on_error="raise")
        return [self._checked(part, b - a) for (a, b), part in zip(ranges, parts, strict=True)]

    def _checked(self, part: bytes, n: int) -> Bytes:
        if len(part) > n:
            raise OSError(errno.EOPNOTSUPP, "the server does not serve ranges of bytes", self.name)
        if len(part) < n:
            raise StateError(f"{self.name} has changed since it was opened; open it again")
        return np.frombuffer(part, np.uint8)

    def check(self) -> None:
        """A change shows when a chunk fails to verify: asking each time would cost a request."""

    def close(self) -> None:
        self._head = np.empty(0, np.uint8)


@contextlib.contextmanager
def replace(path: Any, storage_options: dict[str, Any] | None) -> Iterator[IO[bytes]]:
    """A binary file that becomes ``path`` when the block ends without an exception: file or URL."""
    _check_options(path, storage_options)
    path = local_path(path)
    if not is_url(path):
        with files.replace(path) as file:
            yield file
        return
    fs, inner = _locate(path, storage_options)
    if not _PUBLISHING & ({fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)):
        yield from _moved(fs, inner, path)
        return
    upload = fs.open(inner, "wb", autocommit=False)
    try:
        yield upload
        upload.close()
    except BaseException:
        upload.closed = True  # closing would send what there is
        with contextlib.suppress(Exception):
            upload.discard()
        raise
    upload.commit()


def _moved(fs: Any, path: str, url: str) -> Iterator[IO[bytes]]:
    parent, slash, name = path.rpartition("/")
    temporary = f"{parent}{slash}.{name[:100]}.{secrets.token_hex(8)}.tfk-tmp"
    try:
        opened = fs.open(temporary, "wb")
    except NotImplementedError:
        raise OSError(errno.EOPNOTSUPP, "nothing can be written there", url) from None
    try:
        with opened as file:
            yield file
        fs.mv(temporary, path)
    except BaseException:
        with contextlib.suppress(Exception):
            fs.rm_file(temporary)
        raise
