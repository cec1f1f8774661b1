"""create_array: an array into a sealed file, row by row, without ever holding it."""

import math
import operator
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from twofishkit.errors import InvalidLength, InvalidParameter, StateError, UnsupportedType
from twofishkit.sealed import container, files, header, keys, payload, pipes, progress, remote
from twofishkit.sealed.files import Path

if TYPE_CHECKING:
    from twofishkit.buffers import Data


def create_array(
    path: Path,
    shape: "SupportsIndex | Sequence[SupportsIndex | None] | None",
    dtype: npt.DTypeLike,
    key: "Data | None" = None,
    *,
    passphrase: str | bytes | None = None,
    metadata: dict[str, Any] | None = None,
    progress: progress.Progress = False,
) -> "ArrayWriter":
    """Start a sealed file for an array that is written piece by piece.

    Parameters
    ----------
    path : str or path-like
        Replaced, if it exists, when the writer is closed, and not before: an exception or a killed
        process leaves what was there.
    shape : int or tuple of int
        The first may be None, if it is not known yet how many rows there will be.
    dtype : dtype
        Without Python objects.
    key, passphrase, metadata, progress
        As for `seal`.

    Returns
    -------
    ArrayWriter
        To be closed, best by ``with``: if the block raises, nothing is written.

    Raises
    ------
    InvalidKey, InvalidParameter, UnsupportedType, OSError
        As `save`.

    Examples
    --------
    >>> with tk.create_array("temps.tfk", (None, 180, 360), "f4", key) as out:
    ...     for day in days:
    ...         out.write(day)
    """
    return ArrayWriter(path, shape, np.dtype(dtype), key, passphrase, metadata, progress)


class ArrayWriter:
    """A sealed array that is being written. Made by `create_array`; for one thread at a time.

    Attributes
    ----------
    shape : tuple of int
        The first is None if it is not known yet.
    dtype : numpy.dtype
    rows : int
        Rows written so far.
    closed : bool
    """

    def __init__(
        self,
        path: Path,
        shape: Any,
        dtype: np.dtype[Any],
        key: Any,
        passphrase: Any,
        metadata: dict[str, Any] | None,
        report: progress.Progress,
    ) -> None:
        self.closed = True
        progress.check(report)
        local = remote.only_local(path)
        source = keys.new_source(key, passphrase)
        self.shape, self.dtype = _shape(shape), dtype
        self._row_bytes = dtype.itemsize * math.prod(n for n in self.shape[1:] if n is not None)
        rows = self.shape[0]
        if rows is None and not self._row_bytes:
            raise InvalidParameter(f"rows of {dtype} and shape {self.shape[1:]} have no bytes: say how many")
        total = None if rows is None else rows * self._row_bytes
        if (total or 0) > header.MAX_PAYLOAD or len(self.shape) > header.MAX_DIMENSIONS:
            raise InvalidParameter(f"shape is {shape!r}, which is more than a sealed array can have")
        described = (-1 if rows is None else rows, *self.shape[1:])
        fields = {"kind": "array", "payload_bytes": total, "dtype": dtype, "shape": described}
        sealing = container.begin(fields, source, metadata)
        self.rows = 0
        self._reporting = progress.reporting(report, total, "sealing")
        self._file = files.Replacement(local)
        try:
            files.write_all(self._file.file, sealing.start)
            self._sealer = pipes.Sealer(sealing.message, self._sink, self._reporting.__enter__())
        except BaseException:
            self._file.discard()
            raise
        self.closed = False

    def _sink(self, data: Any) -> None:
        files.write_all(self._file.file, data)

    def write(self, block: npt.ArrayLike) -> None:
        """Append rows, shape (n, ...), or one row, of one dimension less.

        Parameters
        ----------
        block : ndarray
            Of the array's dtype, or of one that it holds exactly.

        Raises
        ------
        InvalidLength
            If the shape does not fit, or these are more rows than the array has.
        UnsupportedType
            If the dtype does not fit.
        StateError
            If the writer has been closed.
        OSError
            If it cannot be written. The writer is then closed, and the file is what it was.
        """
        if self.closed:
            raise StateError("the array has been closed")
        data = self._fitting(block)
        try:
            for piece in payload.of(data, "block").pieces():
                self._sealer.write(piece)
        except BaseException:
            self.discard()
            raise
        self.rows += len(data)

    def _fitting(self, block: Any) -> npt.NDArray[Any]:
        """The block as rows of the right dtype, after all checks."""
        if not isinstance(block, (np.ndarray, np.generic)):
            raise UnsupportedType(
                f"block must be an array, and is of type {type(block).__name__};"
                " convert it first with numpy.asarray"
            )
        if isinstance(block, np.ma.MaskedArray):
            raise UnsupportedType("block is a masked array, whose mask would be lost; write .filled(value)")
        data = np.asarray(block)
        if data.ndim == len(self.shape) - 1:
            data = data[np.newaxis]
        if data.ndim != len(self.shape) or data.shape[1:] != self.shape[1:]:
            raise InvalidLength(f"a block of shape {np.shape(block)} for an array of shape {self.shape}")
        if data.dtype != self.dtype:
            if not np.can_cast(data.dtype, self.dtype, "safe"):
                raise UnsupportedType(
                    f"a block of dtype {data.dtype} for an array of {self.dtype}; convert it with astype"
                )
            data = data.astype(self.dtype)
        if self.shape[0] is not None and self.rows + len(data) > self.shape[0]:
            raise InvalidLength(
                f"{len(data)} more rows after {self.rows}, for an array of {self.shape[0]} rows"
            )
        # One order for all blocks, whatever theirs is.
        return data if data.flags.c_contiguous or not data.flags.f_contiguous else data.copy("C")

    def close(self) -> None:
        """Complete the file and put it in its place.

        Raises
        ------
        InvalidLength
            If rows are missing. Nothing is written then.
        OSError
            If it cannot be written; the file is what it was.
        """
        if self.closed:
            return
        if self.shape[0] is not None and self.rows != self.shape[0]:
            self.discard()
            raise InvalidLength(f"{self.rows} rows were written of {self.shape[0]}; no file was made")
        try:
            self._sealer.finish()
        except BaseException:
            self.discard()
            raise
        self.closed = True
        self._file.commit()
        self._reporting.__exit__(None, None, None)

    def discard(self) -> None:
        """Give up: no file is made, and one that was there stays."""
        if not self.closed:
            self.closed = True
            self._file.discard()
            self._reporting.__exit__(None, None, None)

    def __enter__(self) -> "ArrayWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        if not self.closed:
            self.discard()
            warnings.warn(
                "an ArrayWriter was neither closed nor discarded; no file was made",
                ResourceWarning,
                stacklevel=2,
                source=self,
            )

    def __repr__(self) -> str:
        state = "closed " if self.closed else ""
        return f"<{state}ArrayWriter, shape {self.shape}, dtype {self.dtype}, {self.rows} rows written>"


def _shape(shape: Any) -> tuple[int | None, ...]:
    given = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    try:
        sizes = tuple(n if n is None else operator.index(n) for n in given)
    except TypeError:
        raise UnsupportedType(f"shape must be integers, and is {shape!r}") from None
    if not sizes:
        raise InvalidParameter("an array without dimensions has no rows to be written; use save")
    if None in sizes[1:]:
        raise InvalidParameter(f"shape is {shape!r}; only the first axis may be None")
    if any(n is not None and not 0 <= n <= header.MAX_PAYLOAD for n in sizes):
        raise InvalidParameter(f"shape is {shape!r}; lengths are 0 to 2^52 - 1")
    return sizes
