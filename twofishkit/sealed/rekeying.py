"""rekey: another key or passphrase for a sealed file.

The keys of chunks are derived from the input key, so everything is encrypted anew: part by part, from
the old file into a new one, which replaces it when it is complete.
"""

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from twofishkit.sealed import archive, arrays, container, files, keys, pipes, remote
from twofishkit.sealed.files import Path
from twofishkit.sealed.header import Header
from twofishkit.sealed.progress import Progress, check, reporting
from twofishkit.sealed.stream import Bytes

if TYPE_CHECKING:
    from twofishkit.buffers import Data


def rekey(
    path: Path,
    key: "Data | None" = None,
    *,
    passphrase: str | bytes | None = None,
    new_key: "Data | None" = None,
    new_passphrase: str | bytes | None = None,
    progress: Progress = False,
) -> None:
    """Encrypt a sealed file anew under another key or passphrase, atomically and in constant memory.

    Content, names and metadata stay. Copies of the old file still open with the old key.

    Parameters
    ----------
    path : str or path-like
        What `save`, `savez` or `create_array` wrote.
    key, passphrase
        Whichever it was sealed with.
    new_key, new_passphrase
        Whichever it is to be sealed with.
    progress : bool or callable
        As for `seal`.

    Raises
    ------
    WrongKey, InvalidTag, FormatError, OSError
        As `load`, and the file is what it was.
    InvalidKey, InvalidParameter, UnsupportedType
        As `save`, before anything is read.
    """
    check(progress)
    path = remote.only_local(path)
    target = keys.new_source(new_key, new_passphrase)
    with open(path, "rb", buffering=0) as file:
        total = arrays.regular_size(file)
        fill = functools.partial(files.fill, file)
        description = container.read_header(fill)
        if description.kind == "archive":
            with archive.Archive(path, key, passphrase=passphrase) as opened:
                _rekey_archive(path, opened, target, progress)
            return
        source = keys.matching_source(description.scrypt, key, passphrase)
        whole = container.complete(description, total)
        message, _ = container.resume(description, fill, source)
        sealing = container.begin(fields(whole), target, dict(whole.metadata))
        with reporting(progress, whole.payload_bytes, "rekeying") as advance, files.replace(path) as out:
            files.write_all(out, sealing.start)
            sealer = pipes.Sealer(sealing.message, functools.partial(files.write_all, out), advance)
            for part in pipes.open_batches(message, fill, whole.payload_bytes):
                sealer.write(part)
            sealer.finish()
        message.wipe()


def fields(description: Header) -> dict[str, Any]:
    """The arguments of `header.build` for the content that a header describes."""
    named: dict[str, Any] = {"kind": description.kind, "payload_bytes": description.payload_bytes}
    if description.dtype is not None:
        named |= {"dtype": description.dtype, "shape": description.shape, "order": description.order}
    return named


class _Member:
    """A member of an open archive, as `archive.write` takes the contents of a new one."""

    def __init__(self, opened: archive.Archive, name: str) -> None:
        self._opened, self._name = opened, name
        description = opened.member(name).header
        assert description.payload_bytes is not None
        self.n = description.payload_bytes
        self.fields = fields(description)

    def pieces(self) -> Iterator[Bytes]:
        return self._opened.parts(self._name)


def _rekey_archive(path: Path, opened: archive.Archive, target: keys.KeySource, progress: Progress) -> None:
    contents = [(name.encode("utf-8"), _Member(opened, name)) for name in opened]
    archive.write(path, contents, target, dict(opened.header.metadata), progress, "rekeying")
