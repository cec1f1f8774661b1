"""The header of NumPy's .npy files, read and written without its array: for streams.

Source: numpy.lib.format, format versions 1.0, 2.0 and 3.0.
"""

import ast
import struct
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from twofishkit.errors import FormatError, TwofishKitError, UnsupportedType
from twofishkit.sealed.pipes import Fill

MAGIC = b"\x93NUMPY"
MAX_HEADER_BYTES = 65536
_FIELDS = {"descr", "fortran_order", "shape"}


@dataclass(frozen=True)
class Array:
    """What an .npy header says of the array that follows it."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: Literal["C", "F"]


def read_header(fill: Fill) -> Array:
    """Read exactly the header.

    Raises
    ------
    FormatError
        If it is none.
    UnsupportedType
        If the array holds Python objects.
    """
    start = _read(fill, 8)
    if start[:6] != MAGIC or start[6] not in (1, 2, 3):
        raise FormatError("not a NumPy .npy file; seal it as bytes with --as bytes")
    (n,) = struct.unpack("<H", _read(fill, 2)) if start[6] == 1 else struct.unpack("<I", _read(fill, 4))
    if n > MAX_HEADER_BYTES:
        raise FormatError(f".npy header of {n} bytes; the limit is {MAX_HEADER_BYTES}")
    text = _read(fill, n)
    try:
        fields = ast.literal_eval(text.decode("utf-8" if start[6] == 3 else "latin-1").strip())
        return _checked(fields)
    except TwofishKitError:
        raise
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise FormatError("the header of the .npy file is malformed") from None


def _checked(fields: Any) -> Array:
    if not isinstance(fields, dict) or set(fields) != _FIELDS or not isinstance(fields["shape"], tuple):
        raise ValueError
    shape = fields["shape"]
    if not all(type(n) is int and n >= 0 for n in shape) or type(fields["fortran_order"]) is not bool:
        raise ValueError
    dtype: np.dtype[Any] = np.lib.format.descr_to_dtype(fields["descr"])
    if dtype.hasobject:
        raise UnsupportedType("the .npy file holds Python objects, which are not sealed")
    return Array(dtype, shape, "F" if fields["fortran_order"] else "C")


def _read(fill: Fill, n: int) -> bytes:
    buffer = np.empty(n, np.uint8)
    if fill(buffer) < n:
        raise FormatError("the .npy file ends within its header")
    return buffer.tobytes()


def header(array: Array) -> bytes:
    """The header that `numpy.save` writes for such an array."""
    fields = {
        "descr": np.lib.format.dtype_to_descr(array.dtype),
        "fortran_order": array.order == "F",
        "shape": array.shape,
    }
    text = "{" + "".join(f"{name!r}: {fields[name]!r}, " for name in sorted(fields)) + "}"
    # NumPy leaves room for the length of the first axis to grow in place.
    if array.shape:
        text += " " * (21 - len(repr(array.shape[-1 if array.order == "F" else 0])))
    try:
        encoded, version = text.encode("latin-1"), 1
    except UnicodeEncodeError:
        encoded, version = text.encode("utf-8"), 3
    # Version 2 is for longer headers than a dtype that can be sealed gives.
    layout = "<H" if version == 1 else "<I"
    start = len(MAGIC) + 2 + struct.calcsize(layout)
    encoded += b" " * (64 - (start + len(encoded) + 1) % 64) + b"\n"
    return MAGIC + bytes([version, 0]) + struct.pack(layout, len(encoded)) + encoded
