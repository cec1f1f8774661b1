"""open_array: an array in a sealed file, of which only what is used is read and verified."""

import contextlib
import math
import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from twofishkit import parallel
from twofishkit.errors import InvalidParameter, StateError, UnsupportedType
from twofishkit.sealed import archive, container, keys, remote, selection, stream
from twofishkit.sealed.files import Path
from twofishkit.sealed.header import Header
from twofishkit.sealed.selection import Axis
from twofishkit.sealed.sources import LocalFile, Reader, Source
from twofishkit.sealed.stream import CHUNK_BYTES, Bytes, ChunkedMessage

if TYPE_CHECKING:
    from twofishkit.buffers import Data

#: Read and opened at a time, and how far apart the first and the last of it may lie.
GROUP_BYTES = 8 << 20
HULL_BYTES = 64 << 20
#: Chunks that a thread opens at a time: fewer than would be shared among threads again.
_TASK_CHUNKS = 32
#: Rows that iteration reads ahead.
_ITERATION_BYTES = 1 << 20


def open_array(
    path: Path,
    key: "Data | None" = None,
    *,
    passphrase: str | bytes | None = None,
    name: str | None = None,
    storage_options: dict[str, Any] | None = None,
) -> "SealedArray":
    """Open a sealed array to read parts of it.

    The header and the last chunk are read and verified at once, so that a wrong key and a file that
    was cut show here; everything else when it is used.

    Parameters
    ----------
    path : str or path-like
        A file that `save`, `savez` or `create_array` wrote; or with the extra ``remote`` any URL that
        fsspec knows, of which only the parts that are used are fetched.
    key, passphrase
        Whichever it was sealed with.
    name : str, optional
        Which array of an archive.
    storage_options : dict, optional
        For fsspec.

    Returns
    -------
    SealedArray
        To be closed, best by ``with``. What was bytes-like is an array of uint8.

    Raises
    ------
    OSError
        If it cannot be read.
    WrongKey, InvalidTag, FormatError
        As `load`.
    InvalidParameter
        If an archive has no array of this name, or none was given; if a name was given for a
        single array.

    Examples
    --------
    >>> with tk.open_array("temps.tfk", key) as temps:
    ...     week = temps[10:17]
    """
    path = remote.local_path(path)
    source = remote.open_source(path, storage_options) or LocalFile(path)
    try:
        return SealedArray(source, *_describe(source, key, passphrase, name))
    except BaseException:
        source.close()
        raise


def _describe(
    source: Source, key: Any, passphrase: Any, name: str | None
) -> tuple[Header, ChunkedMessage, int]:
    """Header, message, and where its chunks begin."""
    fill = Reader(source)
    header = container.read_header(fill)
    if header.kind == "archive":
        directory = archive.read_directory(header, fill, source.size, key, passphrase)
        if name is None:
            raise InvalidParameter(f"an archive: say which array with name=; there are {directory.names()}")
        member = directory.member(name)
        return member.header, directory.message(name), member.offset
    if name is not None:
        raise InvalidParameter(f"a single array, not an archive: it has no array {name!a}")
    keysource = keys.matching_source(header.scrypt, key, passphrase)
    whole = container.complete(header, source.size)
    message, _ = container.resume(header, fill, keysource)
    return whole, message, len(header.encoded) + stream.PREFIX_BYTES


class SealedArray:
    """A read-only array in a sealed file. Made by `open_array`.

    Indexing reads, verifies and decrypts the chunks of 16 KiB that the selection touches, neighbours in one
    go and several threads at once, and gives a NumPy array of its own. Integers, slices, ``...`` and
    ``None`` work as NumPy's, and so does a mask or an array of integers on one axis. ``numpy.asarray``
    reads all of it. Any number of threads may read at once.

    Attributes
    ----------
    shape, dtype, ndim, size, itemsize, nbytes
        As of an ndarray.
    metadata : mapping
        What was sealed with it.
    closed : bool
    """

    def __init__(self, source: Source, header: Header, message: ChunkedMessage, start: int) -> None:
        assert header.payload_bytes is not None
        self._source, self._message, self._start = source, message, start
        self._payload_bytes = header.payload_bytes
        self.dtype: np.dtype[Any] = np.dtype(np.uint8) if header.dtype is None else header.dtype
        self.shape: tuple[int, ...] = (self._payload_bytes,) if header.dtype is None else header.shape
        self.metadata = header.metadata
        self._order = header.order
        # Copied by dtype, the padding inside structured elements may be dropped.
        self._element = np.dtype((np.void, self.itemsize)) if self.dtype.names is not None else self.dtype
        self._lock = threading.Lock()
        self._users = 0
        self._local = threading.local()
        self.closed = False
        last = self._payload_bytes // CHUNK_BYTES
        self._open_chunks([(last, last + 1, np.empty(self._payload_bytes % CHUNK_BYTES, np.uint8))])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self._payload_bytes

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        state = "closed " if self.closed else ""
        return f"<{state}SealedArray {self._source.name!r}, shape {self.shape}, dtype {self.dtype}>"

    def __getitem__(self, key: Any) -> Any:
        chosen = selection.parse(key, self.shape)
        with self._in_use():
            return self._read(chosen.axes)[chosen.final]

    def __iter__(self) -> Iterator[Any]:
        """Rows, one after the other; read some at a time."""
        n = len(self)
        step = max(1, _ITERATION_BYTES // max(1, self.nbytes // max(1, n)))
        return (row for at in range(0, n, step) for row in self[at : at + step])

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """All of it, for `numpy.asarray`. Always a copy: ``copy=False`` is refused."""
        if copy is False:
            raise ValueError("a sealed array cannot be an ndarray without a copy: it has to be decrypted")
        array: npt.NDArray[Any] = self[...]
        return array if dtype is None else array.astype(dtype, copy=False)

    def __reduce__(self) -> Any:
        raise UnsupportedType(
            "a SealedArray cannot be pickled: it holds a key; open the file where it is used,"
            " or use the Zarr codec for work on several machines"
        )

    def close(self) -> None:
        """Close the file and wipe the key. Reads under way in other threads end first, undisturbed."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            idle = self._users == 0
        if idle:
            self._release()

    def __enter__(self) -> "SealedArray":
        if self.closed:
            raise StateError("the array has been closed")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._lock:
            if self.closed:
                raise StateError("the array has been closed")
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                ended = self.closed and self._users == 0
            if ended:
                self._release()

    def _release(self) -> None:
        self._message.wipe()
        self._source.close()

    # Selections --------------------------------------------------------------------------------

    def _read(self, axes: tuple[Axis, ...]) -> npt.NDArray[Any]:
        """The elements at the positions of all axes."""
        counts = tuple(map(len, axes))
        if not self.itemsize or not math.prod(counts):
            # numpy.empty makes "S0" an "S1"; the constructor itself does not.
            return np.ndarray(counts, self.dtype)
        result: npt.NDArray[Any] = np.empty(counts, self._element, self._order)
        if self._order == "C":
            self._gather(0, self.shape, axes, result)
        else:
            self._gather(0, self.shape[::-1], axes[::-1], result.T)
        return result.view(self.dtype)

    def _gather(
        self, base: int, shape: tuple[int, ...], axes: tuple[Axis, ...], out: npt.NDArray[Any]
    ) -> None:
        """Fill out, C-contiguous, with a selection from the array in C order that begins at byte base."""
        if not axes:
            self._read_bytes(base, _flat(out))
            return
        row_bytes = self.itemsize * math.prod(shape[1:])
        axis = axes[0]
        whole_rows = all(map(selection.is_whole, axes[1:], shape[1:]))
        if whole_rows and isinstance(axis, range) and (axis.step == 1 or len(axis) == 1):
            self._read_bytes(base + axis[0] * row_bytes, _flat(out))
        elif row_bytes > HULL_BYTES:
            for at, row in enumerate(axis):
                self._gather(base + int(row) * row_bytes, shape[1:], axes[1:], out[at, ...])
        else:
            for a, b in self._groups(base, shape, axes, row_bytes):
                self._gather_rows(base, shape, (axis[a:b], *axes[1:]), out[a:b])

    def _groups(
        self, base: int, shape: tuple[int, ...], axes: tuple[Axis, ...], row_bytes: int
    ) -> Iterator[tuple[int, int]]:
        """Cut the positions of the first axis so that each part keeps to GROUP_BYTES and HULL_BYTES."""
        axis = axes[0]
        starts, ends = selection.intervals(shape[1:], axes[1:], self.itemsize)
        touched = int((ends - starts).sum()) + len(starts) * CHUNK_BYTES
        if isinstance(axis, range):
            pitch = axis.step * row_bytes
            count = max(1, min(GROUP_BYTES // min(pitch, touched), HULL_BYTES // pitch))
            yield from ((a, min(a + count, len(axis))) for a in range(0, len(axis), count))
            return
        # Chunks that a row adds to those of the rows before it.
        first = (base + axis * row_bytes + starts[0]) // CHUNK_BYTES
        end = (base + axis * row_bytes + ends[-1] - 1) // CHUNK_BYTES + 1
        new = np.minimum(end - np.maximum(first, np.concatenate(([0], end[:-1]))), -(-touched // CHUNK_BYTES))
        total = np.cumsum(new) * CHUNK_BYTES
        a = 0
        while a < len(axis):
            before = total[a - 1] if a else 0
            b = min(
                int(np.searchsorted(total, before + GROUP_BYTES, "right")),
                int(np.searchsorted(axis, axis[a] + HULL_BYTES // row_bytes)),
            )
            b = max(b, a + 1)
            yield a, b
            a = b

    def _gather_rows(
        self, base: int, shape: tuple[int, ...], axes: tuple[Axis, ...], out: npt.NDArray[Any]
    ) -> None:
        """Read the chunks of some rows to their places in a buffer, and select from that."""
        row_bytes = self.itemsize * math.prod(shape[1:])
        axis = axes[0]
        low, high = int(axis[0]), int(axis[-1]) + 1
        first = (base + low * row_bytes) // CHUNK_BYTES
        # Most of it is never touched, and then takes no memory.
        buffer = np.empty(base + high * row_bytes - first * CHUNK_BYTES + CHUNK_BYTES, np.uint8)
        chunks = selection.chunk_ranges(*selection.intervals(shape, axes, self.itemsize, base))
        self._open_chunks([(a, b, buffer[(a - first) * CHUNK_BYTES :]) for a, b in chunks])
        rows: npt.NDArray[Any] = np.ndarray(
            (high - low, *shape[1:]), self._element, buffer, base + low * row_bytes - first * CHUNK_BYTES
        )
        index = tuple(
            slice(axis.start, axis.stop, axis.step) if isinstance(axis, range) else axis for axis in axes[1:]
        )
        own = slice(0, None, axis.step) if isinstance(axis, range) else axis - low
        out[...] = rows[(own, *index)]

    # Bytes and chunks --------------------------------------------------------------------------

    def _read_bytes(self, start: int, out: Bytes) -> None:
        """Fill out with the payload from byte start on; whole chunks are opened straight into it."""
        end = start + out.size
        for low in range(start - start % CHUNK_BYTES, end, GROUP_BYTES):
            high = min(low + GROUP_BYTES, end)
            chunks, pieces = [], []
            inner, outer = -(-max(low, start) // CHUNK_BYTES), high // CHUNK_BYTES
            if inner < outer:
                chunks.append((inner, outer, out[inner * CHUNK_BYTES - start :]))
            # At the ends, chunks of which only a part is wanted.
            for chunk in {max(low, start) // CHUNK_BYTES, (high - 1) // CHUNK_BYTES} - set(
                range(inner, outer)
            ):
                piece = np.empty(CHUNK_BYTES, np.uint8)
                chunks.append((chunk, chunk + 1, piece))
                pieces.append((chunk * CHUNK_BYTES, piece))
            self._open_chunks(sorted(chunks, key=lambda part: part[0]))
            for at, piece in pieces:
                a, b = max(at, start), min(at + CHUNK_BYTES, end)
                out[a - start : b - start] = piece[a - at : b - at]

    def _open_chunks(self, parts: list[tuple[int, int, Bytes]]) -> None:
        """Read, verify and decrypt ranges of chunks: (first, end, where to), ascending."""
        pitch, last = self._message.sealed_chunk_bytes, self._payload_bytes // CHUNK_BYTES
        sealed_end = self._start + self._payload_bytes + (last + 1) * self._message.tag_bytes

        # Neighbours are fetched as one, wherever they go to.
        runs: list[tuple[int, int]] = []
        for a, b, _ in parts:
            runs[-1:] = [(runs[-1][0], b)] if runs and runs[-1][1] == a else [*runs[-1:], (a, b)]
        fetched = self._source.fetch(
            [(self._start + a * pitch, min(self._start + b * pitch, sealed_end)) for a, b in runs]
        )
        at = 0
        tasks: list[Callable[[], None]] = []
        for a, b, target in parts:
            while runs[at][1] < b:
                at += 1
            for c in range(a, b, _TASK_CHUNKS):
                d = min(c + _TASK_CHUNKS, b)
                sealed = fetched[at][(c - runs[at][0]) * pitch : (d - runs[at][0]) * pitch]
                tasks.append(partial(self._open_some, c, sealed, target[(c - a) * CHUNK_BYTES :], d > last))
        if len(tasks) == 1:
            tasks[0]()
        else:
            parallel.run(tasks, self._message.threads)

    def _open_some(self, first: int, sealed: Bytes, target: Bytes, last: bool) -> None:
        if self._source.changeable:
            buffer = getattr(self._local, "buffer", None)
            if buffer is None:
                buffer = self._local.buffer = np.empty(
                    _TASK_CHUNKS * self._message.sealed_chunk_bytes, np.uint8
                )
            self._source.check()
            buffer[: sealed.size] = sealed
            sealed = buffer[: sealed.size]
        try:
            self._message.open(first, sealed, target, last=last)
        finally:
            # A change explains a wrong tag better than the tag does.
            self._source.check()


def _flat(array: npt.NDArray[Any]) -> Bytes:
    return array.reshape(-1).view(np.uint8)
