"""Arrays and bytes, sealed in memory or in a file: seal, unseal, save, load, inspect."""

import functools
import io
import os
import stat
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from twofishkit.buffers import as_bytes, output_like
from twofishkit.errors import FormatError
from twofishkit.sealed import container, files, keys, payload, pipes, remote, stream
from twofishkit.sealed.files import Path
from twofishkit.sealed.header import Header
from twofishkit.sealed.progress import Progress, reporting
from twofishkit.sealed.sources import Reader
from twofishkit.sealed.stream import Bytes, ChunkedMessage

if TYPE_CHECKING:
    from twofishkit.buffers import Data


class _Cursor:
    """Reads a buffer as a file is read."""

    def __init__(self, buffer: Bytes) -> None:
        self.rest = buffer

    def __call__(self, target: Bytes) -> int:
        n = min(target.size, self.rest.size)
        target[:n] = self.rest[:n]
        self.rest = self.rest[n:]
        return n


def seal(
    array: "Data",
    key: "Data | None" = None,
    *,
    passphrase: str | bytes | None = None,
    metadata: dict[str, Any] | None = None,
    progress: Progress = False,
) -> bytes:
    """Encrypt and authenticate an array, with its dtype, shape and order, or a bytes-like object.

    Parameters
    ----------
    array : ndarray, NumPy scalar or bytes-like
        Any dtype without Python objects. Not changed. Strided arrays are stored in C order.
    key : bytes-like of 32 bytes, optional
    passphrase : str or bytes, optional
        Instead of a key: one is made from it by scrypt, which takes 128 MiB for a moment.
    metadata : dict, optional
        What JSON can hold, up to 32 KiB. Authenticated but not encrypted: `inspect` shows it to
        anybody.
    progress : bool or callable
        True for a bar (`tqdm.auto`); a callable is given the bytes done and the bytes in all.

    Returns
    -------
    bytes
        For `unseal`. Two calls never give the same: each draws a random salt.

    Raises
    ------
    InvalidKey
        If the key has not exactly 32 bytes.
    InvalidParameter
        Unless exactly one of key and passphrase is given; if the metadata is too large.
    UnsupportedType
        If the array holds Python objects or is masked; if the metadata is not JSON.

    Source: docs/format.md; https://c2sp.org/chunked-encryption
    """
    source = keys.new_source(key, passphrase)
    content = payload.of(array)
    sealing = container.begin(content.fields, source, metadata)
    n = stream.sealed_length(content.n, container.TAG_BYTES) - stream.PREFIX_BYTES
    out, finish = output_like(b"", len(sealing.start) + n)
    out[: len(sealing.start)] = np.frombuffer(sealing.start, np.uint8)
    chunks = out[len(sealing.start) :]
    with reporting(progress, content.n, "sealing") as advance:
        if content.flat is not None:
            sealing.message.seal(0, content.flat, chunks, last=True, advance=advance)
            sealing.message.wipe()
        else:
            _seal_pieces(sealing, content, _Filler(chunks), advance)
    result: bytes = finish()
    return result


class _Filler:
    """Writes a buffer as a file is written."""

    def __init__(self, buffer: Bytes) -> None:
        self.rest = buffer

    def __call__(self, data: Bytes) -> None:
        self.rest[: data.size] = data
        self.rest = self.rest[data.size :]


def _seal_pieces(
    sealing: container.Sealing, content: payload.Payload, sink: Any, advance: stream.Advance | None
) -> None:
    sealer = pipes.Sealer(sealing.message, sink, advance)
    for piece in content.pieces():
        sealer.write(piece)
    sealer.finish()


def unseal(
    blob: "Data",
    key: "Data | None" = None,
    *,
    passphrase: str | bytes | None = None,
    progress: Progress = False,
) -> Any:
    """Verify and decrypt what `seal` made.

    Parameters
    ----------
    blob : bytes-like
    key, passphrase
        Whichever it was sealed with.
    progress : bool or callable
        As for `seal`.

    Returns
    -------
    ndarray or bytes
        A new array of the dtype, shape and order that was sealed; bytes for what was bytes-like.

    Raises
    ------
    WrongKey
        If this is not the key or passphrase, or the header was altered.
    InvalidTag
        If a chunk was altered, moved or repeated. Nothing is returned.
    FormatError
        If this is not sealed data, was cut or extended, or holds an archive (see `loadz`).
    """
    data = as_bytes(blob, "blob")
    cursor = _Cursor(data)
    description = container.read_header(cursor)
    source = keys.matching_source(description.scrypt, key, passphrase)
    _refuse_archive(description)
    whole = container.complete(description, data.size)
    message, _ = container.resume(description, cursor, source)
    out, finish = payload.empty_like(whole)
    with reporting(progress, out.size, "unsealing") as advance:
        message.open(0, cursor.rest, out, last=True, advance=advance)
    message.wipe()
    return finish()


def _refuse_archive(description: Header) -> None:
    if description.kind == "archive":
        raise FormatError("this is an archive of several arrays; open it with loadz")


def save(
    path: Path,
    array: "Data",
    key: "Data | None" = None,
    *,
    passphrase: str | bytes | None = None,
    metadata: dict[str, Any] | None = None,
    progress: Progress = False,
    storage_options: dict[str, Any] | None = None,
) -> None:
    """Seal an array or a bytes-like object into a file, atomically.

    The file appears whole or not at all: after a failure, a kill or a power cut the old file is
    there, or the new one. A new file can be read by its owner only; an existing one keeps its
    permissions. Needs up to 9 MiB of memory beside the array.

    Parameters
    ----------
    path : str or path-like
        Replaced if it exists. With the extra ``remote`` also any URL that fsspec knows.
    array, key, passphrase, metadata, progress
        As for `seal`.
    storage_options : dict, optional
        For fsspec.

    Raises
    ------
    OSError
        If the file cannot be written.
    InvalidKey, InvalidParameter, UnsupportedType
        As `seal`, before anything is written.
    """
    source = keys.new_source(key, passphrase)
    content = payload.of(array)
    sealing = container.begin(content.fields, source, metadata)
    with reporting(progress, content.n, "sealing") as advance, remote.replace(path, storage_options) as file:
        files.write_all(file, sealing.start)
        if content.flat is not None and files.POSITIONED and isinstance(file, io.FileIO):
            begin = len(sealing.start)
            put = lambda data, offset: files.write_at(file, data, begin + offset)  # noqa: E731
            pipes.seal_at(sealing.message, content.flat, put, advance)
        else:
            _seal_pieces(sealing, content, functools.partial(files.write_all, file), advance)


def load(
    path: Path,
    key: "Data | None" = None,
    *,
    passphrase: str | bytes | None = None,
    progress: Progress = False,
    storage_options: dict[str, Any] | None = None,
) -> Any:
    """Verify and decrypt a file that `save` wrote.

    Chunks are read and opened one after the other, straight into the result, which is returned only
    when all of them have been verified.

    Parameters
    ----------
    path : str or path-like
        With the extra ``remote`` also any URL that fsspec knows.
    key, passphrase
        Whichever it was sealed with.
    progress : bool or callable
        As for `seal`.
    storage_options : dict, optional
        For fsspec.

    Returns
    -------
    ndarray or bytes
        As `unseal`.

    Raises
    ------
    OSError
        If the file cannot be read.
    WrongKey, InvalidTag, FormatError
        As `unseal`.
    """
    path = remote.local_path(path)
    source = remote.open_source(path, storage_options, all_wanted=True)
    if source is not None:
        reader = Reader(source)
        whole, message = _describe(reader, lambda: source.size, key, passphrase)
        return _opened(whole, message, functools.partial(pipes.open_into, message, reader), progress)
    with open(path, "rb", buffering=0) as file:
        fill = functools.partial(files.fill, file)
        whole, message = _describe(fill, lambda: regular_size(file), key, passphrase)
        if not files.POSITIONED:
            return _opened(whole, message, functools.partial(pipes.open_into, message, fill), progress)
        begin = len(whole.encoded) + stream.PREFIX_BYTES
        get = lambda buffer, offset: files.fill_at(file, buffer, begin + offset)  # noqa: E731
        return _opened(whole, message, functools.partial(pipes.open_at, message, get), progress)


def _describe(
    fill: pipes.Fill, total: Callable[[], int], key: Any, passphrase: Any
) -> tuple[Header, ChunkedMessage]:
    """Read what precedes the chunks of an array."""
    description = container.read_header(fill)
    source = keys.matching_source(description.scrypt, key, passphrase)
    _refuse_archive(description)
    whole = container.complete(description, total())
    return whole, container.resume(description, fill, source)[0]


def _opened(
    whole: Header,
    message: ChunkedMessage,
    open_into: Callable[[Bytes, stream.Advance | None], None],
    progress: Progress,
) -> Any:
    out, finish = payload.empty_like(whole)
    with reporting(progress, out.size, "unsealing") as advance:
        open_into(out, advance)
    message.wipe()
    return finish()


def regular_size(file: IO[bytes]) -> int:
    """Length of an open regular file.

    Raises
    ------
    FormatError
        If it is a pipe or a device, whose length is not known.
    """
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise FormatError("not a regular file; read it first and use unseal")
    return status.st_size


def inspect(
    source: "Path | Data", key: "Data | None" = None, *, passphrase: str | bytes | None = None
) -> Header:
    """The header of sealed data: kind, dtype, shape, order, key source, metadata.

    Without a key nothing is verified: anybody could have written it. With the key or passphrase the
    header is authenticated; the chunks after it are not read.

    Parameters
    ----------
    source : str or path-like of a file, or bytes-like
    key, passphrase : optional

    Returns
    -------
    Header

    Raises
    ------
    FormatError
        If this is not sealed data.
    WrongKey
        If a key or passphrase is given and does not match, or the header was altered.
    """
    if isinstance(source, (str, os.PathLike)):
        with open(remote.only_local(source), "rb", buffering=0) as file:
            return _inspect(functools.partial(files.fill, file), key, passphrase)
    return _inspect(_Cursor(as_bytes(source, "source")), key, passphrase)


def _inspect(fill: pipes.Fill, key: Any, passphrase: Any) -> Header:
    description = container.read_header(fill)
    if key is not None or passphrase is not None:
        source = keys.matching_source(description.scrypt, key, passphrase)
        container.resume(description, fill, source)[0].wipe()
    return description
