"""Several named arrays in one file: savez, loadz, and Archive, which opens members one by one.

    header (kind archive) || sealed directory || chunks of member 0 || chunks of member 1 || ...

The directory is an ordinary sealed message. For each member it holds the name, a header of its own
(dtype, shape, ...) and the salt and commitment of its chunks, so a member can be neither dropped nor
exchanged, not even for one of the same name from another archive under the same key; names, dtypes and
shapes are encrypted. The context of a member's chunks is the archive's header and salt, then the name and
the member's header: chunks of one member open nowhere else. Where a member's chunks begin follows from the
lengths of those before it, so nothing can overlap.
"""

import functools
import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np

from twofishkit.errors import FormatError, InvalidParameter, StateError, UnsupportedType
from twofishkit.sealed import arrays, container, files, header, keys, payload, pipes, remote, stream
from twofishkit.sealed.aead import TWOFISH_256_GCM
from twofishkit.sealed.files import Path
from twofishkit.sealed.header import Header
from twofishkit.sealed.progress import Progress, reporting
from twofishkit.sealed.stream import Bytes, ChunkedMessage

if TYPE_CHECKING:
    from twofishkit.buffers import Data

MAX_NAME_BYTES = 1024
MAX_MEMBERS = 65535
MAX_DIRECTORY_BYTES = 1 << 28

_COUNT = struct.Struct("<I")
_NAME = struct.Struct("<H")


@dataclass(frozen=True)
class Member:
    """One array of an archive: its name, header, salt and commitment, and where its chunks are."""

    name: str
    header: Header
    prefix: bytes
    offset: int = 0

    @property
    def chunk_bytes(self) -> int:
        """Length of its sealed chunks."""
        assert self.header.payload_bytes is not None
        return stream.sealed_length(self.header.payload_bytes, container.TAG_BYTES) - stream.PREFIX_BYTES


def _context(archive_header: Header, archive_salt: bytes, name: bytes, member_header: Header) -> bytes:
    return b"".join(
        (archive_header.encoded, archive_salt, _NAME.pack(len(name)), name, member_header.encoded)
    )


def _encode_name(name: str) -> bytes:
    if not isinstance(name, str):
        raise UnsupportedType(f"names of arrays must be str, and one is of type {type(name).__name__}")
    try:
        encoded = name.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidParameter(f"the name {name!a} has no UTF-8 form") from None
    if not 1 <= len(encoded) <= MAX_NAME_BYTES:
        raise InvalidParameter(f"a name of {len(encoded)} bytes; names have 1 to {MAX_NAME_BYTES}")
    return encoded


def savez(
    path: Path,
    arrays: "Mapping[str, Data] | None" = None,
    /,
    *,
    key: "Data | None" = None,
    passphrase: str | bytes | None = None,
    metadata: dict[str, Any] | None = None,
    progress: Progress = False,
    **named: "Data",
) -> None:
    """Seal several named arrays into one file, atomically.

    Parameters
    ----------
    path : str or path-like
        Replaced if it exists; written as by `save`.
    arrays : mapping of str to array, optional
        For names that cannot be keyword arguments.
    key, passphrase, metadata, progress
        As for `seal`. The metadata is public; names, dtypes and shapes are not.
    **named : ndarray or bytes-like

    Raises
    ------
    InvalidParameter
        If a name is given twice, is empty or too long; otherwise as `seal`.
    InvalidKey, UnsupportedType, OSError
        As `save`.
    """
    path = remote.only_local(path)
    source = keys.new_source(key, passphrase)
    twice = sorted(set(arrays or ()) & set(named))
    if twice:
        raise InvalidParameter(f"the name {twice[0]!a} is given twice")
    contents = [
        (_encode_name(name), payload.of(value, f"array {name!a}"))
        for name, value in {**(arrays or {}), **named}.items()
    ]
    if len(contents) > MAX_MEMBERS:
        raise InvalidParameter(f"{len(contents)} arrays; an archive holds up to {MAX_MEMBERS}")
    write(path, contents, source, metadata, progress, "sealing")


class Content(Protocol):
    """What a member of a new archive is made from; `payload.Payload` is one.

    Attributes
    ----------
    fields : dict
        The arguments of `header.build` that describe it.
    n : int
        Length in bytes.
    """

    @property
    def fields(self) -> dict[str, Any]: ...
    @property
    def n(self) -> int: ...
    def pieces(self) -> Iterator[Bytes]:
        """The bytes in order."""


def write(
    path: Path,
    contents: Sequence[tuple[bytes, Content]],
    source: keys.KeySource,
    metadata: dict[str, Any] | None,
    progress: Progress,
    label: str,
) -> None:
    """Write an archive of (encoded name, content), atomically."""
    headers = [header.build(**content.fields) for _, content in contents]
    size = _COUNT.size + sum(
        _NAME.size + len(name) + len(inner.encoded) + stream.PREFIX_BYTES
        for (name, _), inner in zip(contents, headers, strict=True)
    )
    sealing = container.begin({"kind": "archive", "payload_bytes": size}, source, metadata)
    total = sum(content.n for _, content in contents)
    with reporting(progress, total, label) as advance, files.replace(path) as file:
        _write(file, sealing, contents, headers, advance)


def _write(
    file: IO[bytes],
    sealing: container.Sealing,
    contents: Sequence[tuple[bytes, Content]],
    headers: list[Header],
    advance: stream.Advance | None,
) -> None:
    sink = functools.partial(files.write_all, file)
    salt = sealing.message.prefix[: stream.SALT_BYTES]
    contexts = [
        _context(sealing.header, salt, name, inner)
        for (name, _), inner in zip(contents, headers, strict=True)
    ]
    prefixes = [stream.new_prefix(TWOFISH_256_GCM, sealing.input_key, context) for context in contexts]
    directory = _COUNT.pack(len(contents)) + b"".join(
        _NAME.pack(len(name)) + name + inner.encoded + prefix
        for (name, _), inner, prefix in zip(contents, headers, prefixes, strict=True)
    )
    sink(sealing.start)
    _seal(sealing.message, [np.frombuffer(directory, np.uint8)], sink, None)
    for (_, content), context, prefix in zip(contents, contexts, prefixes, strict=True):
        message = ChunkedMessage.resume(TWOFISH_256_GCM, sealing.input_key, context, prefix)
        _seal(message, content.pieces(), sink, advance)


def _seal(message: ChunkedMessage, pieces: Any, sink: Any, advance: stream.Advance | None) -> None:
    sealer = pipes.Sealer(message, sink, advance)
    for piece in pieces:
        sealer.write(piece)
    sealer.finish()


def loadz(
    path: Path,
    key: "Data | None" = None,
    *,
    passphrase: str | bytes | None = None,
    progress: Progress = False,
) -> dict[str, Any]:
    """Verify and decrypt all arrays of a file that `savez` wrote.

    Parameters
    ----------
    path : str or path-like
    key, passphrase
        Whichever it was sealed with.
    progress : bool or callable
        As for `seal`.

    Returns
    -------
    dict of str to ndarray or bytes
        In the order in which they were saved.

    Raises
    ------
    WrongKey, InvalidTag, FormatError, OSError
        As `load`; nothing is returned if any member fails.
    """
    with Archive(path, key, passphrase=passphrase) as archive:
        total = sum(archive.member(name).header.payload_bytes or 0 for name in archive)
        with reporting(progress, total, "unsealing") as advance:
            return {name: archive._read(name, advance) for name in archive}


@dataclass(frozen=True)
class Directory:
    """The verified directory of an archive."""

    header: Header
    members: dict[str, Member]
    _salt: bytes
    _input_key: bytes = field(repr=False)

    def names(self) -> str:
        """The names of the members, for messages."""
        return ", ".join(map(ascii, self.members)) or "none"

    def member(self, name: str) -> Member:
        """What the directory says of a member.

        Raises
        ------
        InvalidParameter
            If there is none of this name.
        """
        try:
            return self.members[name]
        except KeyError:
            raise InvalidParameter(f"no member {name!a}; there are {self.names()}") from None

    def message(self, name: str) -> ChunkedMessage:
        """A member's chunks; its key has been verified."""
        member = self.member(name)
        context = _context(self.header, self._salt, name.encode("utf-8"), member.header)
        return ChunkedMessage.resume(TWOFISH_256_GCM, self._input_key, context, member.prefix)


def read_directory(description: Header, fill: pipes.Fill, total: int, key: Any, passphrase: Any) -> Directory:
    """Read and verify the directory, which follows the header, of an archive of ``total`` bytes.

    Raises
    ------
    WrongKey, InvalidTag, FormatError
        As `Archive`.
    """
    source = keys.matching_source(description.scrypt, key, passphrase)
    if description.kind != "archive":
        raise FormatError("this holds a single array or bytes; open it with load")
    size = description.payload_bytes
    assert size is not None
    if size > MAX_DIRECTORY_BYTES:
        raise FormatError(f"a directory of {size} bytes; the limit is {MAX_DIRECTORY_BYTES}")
    first = len(description.encoded) + stream.sealed_length(size, container.TAG_BYTES)
    if total < first:
        raise FormatError("truncated within the directory of the archive")
    message, input_key = container.resume(description, fill, source)
    directory = np.empty(size, np.uint8)
    pipes.open_into(message, fill, directory)
    message.wipe()
    members = {member.name: member for member in _members(directory.tobytes(), first)}
    end = max((member.offset + member.chunk_bytes for member in members.values()), default=first)
    container.check_total(total, end)
    return Directory(description, members, message.prefix[: stream.SALT_BYTES], input_key)


class Archive:
    """An open archive: its directory is verified, its members are read one by one, by name.

    Parameters
    ----------
    path : str or path-like
    key, passphrase
        Whichever it was sealed with.

    Attributes
    ----------
    header : Header
        The archive's own, with the metadata.

    Raises
    ------
    WrongKey, InvalidTag, FormatError, OSError
        As `load`.
    """

    def __init__(
        self, path: Path, key: "Data | None" = None, *, passphrase: str | bytes | None = None
    ) -> None:
        self._file = open(remote.only_local(path), "rb", buffering=0)  # noqa: SIM115  (closed by close)
        try:
            fill = functools.partial(files.fill, self._file)
            total = arrays.regular_size(self._file)
            self.header = container.read_header(fill)
            self._directory = read_directory(self.header, fill, total, key, passphrase)
        except BaseException:
            self._file.close()
            raise
        self._members = self._directory.members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __repr__(self) -> str:
        return f"<Archive of {len(self._members)} members>"

    def member(self, name: str) -> Member:
        """What the directory says of a member."""
        return self._directory.member(name)

    def message(self, name: str) -> ChunkedMessage:
        """A member's chunks, which begin at ``member(name).offset``; its key has been verified."""
        return self._directory.message(name)

    def read(self, name: str) -> Any:
        """Verify and decrypt one member.

        Raises
        ------
        InvalidTag, FormatError
            If it was altered or cut. Other members may be sound nevertheless.
        InvalidParameter
            If there is no such member.
        StateError
            If the archive has been closed.
        """
        return self._read(name, None)

    def _read(self, name: str, advance: stream.Advance | None) -> Any:
        out, finish = payload.empty_like(self.member(name).header)
        message, fill = self._begin(name)
        pipes.open_into(message, fill, out, advance)
        message.wipe()
        return finish()

    def parts(self, name: str) -> Iterator[Bytes]:
        """Verify and decrypt one member part by part, in constant memory: yields uint8[n].

        A part is valid until the next one is asked for. Raises as `read`.
        """
        message, fill = self._begin(name)
        yield from pipes.open_batches(message, fill, self.member(name).header.payload_bytes)
        message.wipe()

    def _begin(self, name: str) -> tuple[ChunkedMessage, pipes.Fill]:
        """A member's message, and what reads its chunks."""
        if self._file.closed:
            raise StateError("the archive has been closed")
        message = self.message(name)
        self._file.seek(self.member(name).offset, io.SEEK_SET)
        return message, functools.partial(files.fill, self._file)

    def close(self) -> None:
        """Close the file; of no further use."""
        self._file.close()

    def __enter__(self) -> "Archive":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _members(directory: bytes, first: int) -> Iterator[Member]:
    """The members in a verified directory; first is where the chunks of the first begin."""
    offset = first
    position = _COUNT.size
    names: set[str] = set()
    try:
        (count,) = _COUNT.unpack_from(directory)
        for _ in range(count):
            (n,) = _NAME.unpack_from(directory, position)
            position += _NAME.size
            name = directory[position : position + n].decode("utf-8")
            position += n
            n = header.length(directory[position : position + header.START_BYTES])
            inner = header.parse(directory[position : position + n])
            position += n
            prefix = directory[position : position + stream.PREFIX_BYTES]
            position += stream.PREFIX_BYTES
            if name in names or inner.kind == "archive" or inner.scrypt or inner.payload_bytes is None:
                raise FormatError(f"the directory of the archive has an impossible member {name!a}")
            names.add(name)
            member = Member(name, inner, prefix, offset)
            offset += member.chunk_bytes
            yield member
    except (struct.error, UnicodeDecodeError):
        raise FormatError("the directory of the archive is malformed") from None
    if position != len(directory):
        raise FormatError("the directory of the archive does not add up to its length")
