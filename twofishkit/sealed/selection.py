"""NumPy's indexing, taken apart for arrays that are read piece by piece.

A key such as ``[10:20, ..., ::-2]`` becomes, for each axis, the positions that are to be read, in
ascending order and none of them twice; and a second key that turns what was read into what was asked
for. That key has the same form as the given one (an integer where there was an integer, a slice for
a slice), so the result has the shape that NumPy would give it.

What has to be read is then described as *intervals* of bytes. Gaps shorter than a chunk are closed: no
whole chunk lies in them, so nothing is read that the selection does not touch.
"""

import operator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from twofishkit.sealed.stream import CHUNK_BYTES

#: Positions along an axis: ascending, without repetition, step at least 1.
Axis: TypeAlias = "range | npt.NDArray[np.int64]"
Offsets: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Selection:
    """What to read, and what to do with it.

    Attributes
    ----------
    axes : tuple of Axis
        One for each axis of the array.
    final : tuple
        Index for the array of what was read, whose shape is the lengths of the axes.
    """

    axes: tuple[Axis, ...]
    final: tuple[Any, ...]


def parse(key: Any, shape: tuple[int, ...]) -> Selection:
    """Take a key apart.

    Raises
    ------
    IndexError
        As NumPy: out of bounds, too many indices; and for what is not supported: more than one array
        of positions, masks of more than one dimension, names of fields.
    """
    items = list(key) if isinstance(key, tuple) else [key]
    taken = sum(item is not None and item is not Ellipsis for item in items)
    if taken > len(shape):
        raise IndexError(f"too many indices: the array has {len(shape)} dimensions, and {taken} were indexed")
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if not any(item is Ellipsis for item in items) and taken < len(shape):
        items += [slice(None)] * (len(shape) - taken)
        taken = len(shape)
    axes: list[Axis] = []
    final: list[Any] = []
    for item in items:
        if item is None:
            final.append(None)
        elif item is Ellipsis:
            axes += [range(n) for n in shape[len(axes) : len(axes) + len(shape) - taken]]
            final.append(Ellipsis)
        else:
            axis, index = _one(item, shape[len(axes)], len(axes))
            axes.append(axis)
            final.append(index)
    if sum(isinstance(axis, np.ndarray) for axis in axes) > 1:
        raise IndexError("only one axis at a time can be indexed with an array; index the result again")
    return Selection(tuple(axes), tuple(final))


def _one(item: Any, n: int, axis: int) -> tuple[Axis, Any]:
    """Positions along an axis of length n, and the index for what was read of it."""
    if isinstance(item, slice):
        positions = range(*item.indices(n))
        if positions.step > 0:
            return positions, slice(None)
        backwards = range(positions[-1], positions[0] + 1, -positions.step) if positions else range(0)
        return backwards, slice(None, None, -1)
    if not isinstance(item, (bool, np.bool_)):
        try:
            at = operator.index(item)
        except TypeError:
            return _array(item, n, axis)
        if not -n <= at < n:
            raise IndexError(f"index {at} is out of bounds for axis {axis} with size {n}")
        return range(at % n, at % n + 1), 0
    raise IndexError("a single bool is no index here")


def _array(item: Any, n: int, axis: int) -> tuple[Axis, Any]:
    """Positions from a mask or an array of integers."""
    if isinstance(item, (str, bytes)):
        raise IndexError("fields cannot be indexed here: read the elements, and index the result by name")
    given = np.asarray(item)
    if given.size == 0 and not isinstance(item, np.ndarray):
        given = given.astype(np.intp)
    if given.dtype == bool:
        if given.shape != (n,):
            raise IndexError(f"a mask of shape {given.shape} for axis {axis} with size {n}")
        chosen = np.flatnonzero(given).astype(np.int64)
        return chosen, np.arange(len(chosen))
    if given.dtype.kind not in "iu":
        raise IndexError("only integers, slices, ..., None and arrays of integers or bools are indices")
    if given.size and not (-n <= int(given.min()) and int(given.max()) < n):
        worst = int(given.min()) if int(given.min()) < -n else int(given.max())
        raise IndexError(f"index {worst} is out of bounds for axis {axis} with size {n}")
    wrapped = given.astype(np.int64)
    wrapped[wrapped < 0] += n
    positions, inverse = np.unique(wrapped, return_inverse=True)
    return positions, inverse.reshape(given.shape)


def is_whole(axis: Axis, n: int) -> bool:
    """Whether an axis of length n is read from end to end."""
    return isinstance(axis, range) and len(axis) == n


def merged(starts: Offsets, ends: Offsets) -> tuple[Offsets, Offsets]:
    """Ascending intervals, those joined between which there is less than a chunk."""
    if len(starts) < 2:
        return starts, ends
    apart = starts[1:] - ends[:-1] >= CHUNK_BYTES
    return starts[np.concatenate(([True], apart))], ends[np.concatenate((apart, [True]))]


def intervals(
    shape: tuple[int, ...], axes: tuple[Axis, ...], item_bytes: int, base: int = 0
) -> tuple[Offsets, Offsets]:
    """The bytes that a selection touches in an array in C order: where intervals start and end.

    Parameters
    ----------
    shape, axes : tuples of one length
        No axis is empty.
    item_bytes : int
    base : int
        Where the array begins.
    """
    starts, ends = np.zeros(1, np.int64), np.full(1, item_bytes, np.int64)
    stride = item_bytes
    for n, axis in zip(reversed(shape), reversed(axes), strict=True):
        if len(starts) == 1 and isinstance(axis, range) and _is_dense(axis, stride, int(ends[0] - starts[0])):
            starts, ends = starts + axis[0] * stride, ends + axis[-1] * stride
        else:
            rows = np.asarray(axis, np.int64)[:, None] * stride
            starts, ends = merged((rows + starts).reshape(-1), (rows + ends).reshape(-1))
        stride *= n
    return starts + base, ends + base


def _is_dense(axis: range, stride: int, touched: int) -> bool:
    """Whether rows, of which each is touched in one interval, come to one interval."""
    return len(axis) == 1 or axis.step * stride - touched < CHUNK_BYTES


def chunk_ranges(starts: Offsets, ends: Offsets) -> list[tuple[int, int]]:
    """(first, end) of the ranges of chunks that intervals touch: ascending and apart from each other."""
    first, end = starts // CHUNK_BYTES, (ends - 1) // CHUNK_BYTES + 1
    apart = first[1:] > end[:-1]
    firsts = first[np.concatenate(([True], apart))]
    return list(zip(firsts.tolist(), end[np.concatenate((apart, [True]))].tolist(), strict=True))
