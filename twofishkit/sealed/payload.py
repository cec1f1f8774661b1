"""Arrays and bytes as the flat payload of a sealed message, and back."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from twofishkit.buffers import as_bytes, output_like
from twofishkit.errors import FormatError, UnsupportedType
from twofishkit.sealed import dtypes, header
from twofishkit.sealed.stream import BATCH_BYTES, Bytes


@dataclass(frozen=True)
class Payload:
    """What is to be sealed.

    Attributes
    ----------
    fields : dict
        The arguments of `header.build` that describe it.
    n : int
        Length in bytes.
    flat : uint8[n] or None
        The bytes, where they lie one after the other in memory.
    """

    fields: dict[str, Any]
    n: int
    flat: Bytes | None
    _array: npt.NDArray[Any] | None = None

    def pieces(self) -> Iterator[Bytes]:
        """The bytes in order; a strided array is gathered piece by piece, never as a whole."""
        if self.flat is not None:
            yield self.flat
            return
        assert self._array is not None
        # As opaque bytes: copied by dtype, the padding inside structured elements may be dropped.
        opaque = self._array.view(np.dtype((np.void, self._array.itemsize)))
        count = max(1, BATCH_BYTES // opaque.itemsize)
        blocks = np.nditer(opaque, ["external_loop", "buffered"], ["readonly"], order="C", buffersize=count)
        for block in blocks:
            yield np.ascontiguousarray(block).view(np.uint8)


def of(value: Any, name: str = "array") -> Payload:
    """Describe an array or a bytes-like object; copies nothing.

    Raises
    ------
    UnsupportedType
        For masked arrays, Python objects as elements, str, lists, and whatever has no buffer.
    """
    if isinstance(value, (list, tuple)):
        raise UnsupportedType(
            f"{name} must be an array or bytes-like, and is of type {type(value).__name__};"
            " convert it first with numpy.asarray"
        )
    if not isinstance(value, (np.ndarray, np.generic)) or isinstance(value, (bytes, str)):
        flat = as_bytes(value, name)
        return Payload({"kind": "bytes", "payload_bytes": flat.size}, flat.size, flat)
    if isinstance(value, np.ma.MaskedArray):
        raise UnsupportedType(
            f"{name} is a masked array, whose mask would be lost;"
            " seal .filled(value), or .data and .mask with savez"
        )
    array = np.asarray(value)
    dtypes.encode(array.dtype)
    order: Literal["C", "F"] = "C"
    flat_array: Bytes | None
    if array.nbytes == 0 or array.flags.c_contiguous:
        flat_array = _flat(array)
    elif array.flags.f_contiguous:
        order, flat_array = "F", _flat(array.T)
    else:
        flat_array = None
    fields = {"dtype": array.dtype, "shape": array.shape, "order": order}
    return Payload(
        {"kind": "array", "payload_bytes": array.nbytes, **fields}, array.nbytes, flat_array, array
    )


def _flat(array: npt.NDArray[Any]) -> Bytes:
    """The memory of a C-contiguous array as uint8[n]."""
    return array.reshape(-1).view(np.uint8) if array.nbytes else np.empty(0, np.uint8)


def empty_like(description: header.Header) -> tuple[Bytes, Callable[[], Any]]:
    """Memory for the payload that a complete header describes, uint8[n], and what gives the result."""
    assert description.payload_bytes is not None
    if description.dtype is None:
        return output_like(b"", description.payload_bytes)
    array = _new_array(description.shape, description.dtype, description.order)
    return _flat(array.T if description.order == "F" else array), lambda: array


def _new_array(shape: tuple[int, ...], dtype: np.dtype[Any], order: Literal["C", "F"]) -> npt.NDArray[Any]:
    try:
        if dtype.itemsize:
            return np.empty(shape, dtype, order)
        # numpy.empty makes "S0" an "S1"; the constructor itself does not.
        return np.ndarray(shape, dtype, order=order)
    except ValueError as error:  # more dimensions than this NumPy has
        raise FormatError(f"this NumPy cannot hold the array: {error}") from None
