"""NumPy dtypes as JSON text and back: never by pickle, never by evaluating anything.

A scalar dtype is a string as in NumPy's array interface: byte order, kind, bytes per element
(characters for U), unit for dates: "<f4", "|b1", ">c16", "<U12", "|S5", "<M8[ns]".

A structured dtype is a list of fields in the order of their offsets: [name, type] or
[name, type, shape], where type is again a dtype; a field with a title has [title, name] for a name.
Padding is a field with an empty name and a type "|Vn". So every byte of an element is accounted for.

Text from a file is hostile until proven otherwise: strings must match a pattern, nesting, number of
fields and sizes are limited, and only then does NumPy see them.
"""

import json
import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from twofishkit.errors import FormatError, UnsupportedType
from twofishkit.sealed import jsontext

MAX_TEXT_BYTES = 32768
MAX_NESTING = 8
MAX_FIELDS = 1024
MAX_ITEM_BYTES = 2**31 - 1

_SCALAR = re.compile(
    r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f(?:2|4|8|12|16)|[<>]c(?:8|16|24|32)|\|[SV][0-9]{1,10}|[<>]U[0-9]{1,9}"
    r"|[<>][mM]8(?:\[(?:[1-9][0-9]{0,8})?(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?",
    re.ASCII,
)


def encode(dtype: npt.DTypeLike) -> bytes:
    """The JSON text of a dtype, as ASCII.

    Raises
    ------
    UnsupportedType
        If elements are, or hold, Python objects; if the dtype is another package's own; if fields
        of a structured dtype overlap; or if it exceeds the limits of the format.
    """
    dtype = np.dtype(dtype)
    value = _encode(dtype)
    text = json.dumps(value, separators=(",", ":")).encode("ascii")
    try:
        same = decode(text) == dtype
    except FormatError as error:
        raise UnsupportedType(f"dtype {dtype} cannot be sealed: {error}") from None
    if not same:
        raise UnsupportedType(f"dtype {dtype} cannot be sealed: it would come back as {decode(text)}")
    return text


def _encode(dtype: np.dtype[Any]) -> Any:
    if dtype.hasobject:
        raise UnsupportedType(
            f"dtype {dtype} holds Python objects and cannot be sealed;"
            " convert the array to a fixed-size dtype first (numbers, or 'S' and 'U' for strings)"
        )
    if dtype.names is None:
        return dtype.str
    fields: list[Any] = []
    end = 0
    for name in dtype.names:
        inner, offset, *title = dtype.fields[name]  # type: ignore[index]
        if offset < end:
            raise UnsupportedType(
                f"dtype {dtype} has overlapping or reordered fields;"
                " copy the array to a plain structured dtype first"
            )
        if offset > end:
            fields.append(["", f"|V{offset - end}"])
        base, shape = inner.subdtype or (inner, ())
        label = [title[0], name] if title else name
        fields.append([label, _encode(base), list(shape)] if shape else [label, _encode(base)])
        end = offset + inner.itemsize
    if dtype.itemsize > end:
        fields.append(["", f"|V{dtype.itemsize - end}"])
    return fields


def decode(text: bytes) -> np.dtype[Any]:
    """The dtype that a JSON text describes.

    Raises
    ------
    FormatError
        If it is not one, exceeds the limits, or does not exist on this machine (long double).
    """
    # A field adds two levels: its list of fields, and itself; the innermost may have a shape.
    value = jsontext.loads(text, "dtype descriptor", MAX_TEXT_BYTES, 2 * MAX_NESTING + 1)
    if text.count(b",") > 4 * MAX_FIELDS:
        raise FormatError(f"dtype descriptor has more than {MAX_FIELDS} fields")
    return _decode(value, MAX_NESTING)


def _decode(value: Any, levels: int) -> np.dtype[Any]:
    if isinstance(value, str):
        return _scalar(value)
    if not isinstance(value, list) or levels == 0 or len(value) > MAX_FIELDS:
        raise FormatError(f"dtype descriptor: {_short(value)} is neither a type string nor a list of fields")
    names: list[str] = []
    formats: list[Any] = []
    offsets: list[int] = []
    titles: list[str | None] = []
    end = 0
    for field in value:
        title, name, dtype = _field(field, levels - 1)
        if name:
            names.append(name)
            titles.append(title)
            formats.append(dtype)
            offsets.append(end)
        end += dtype.itemsize
    labels = names + [title for title in titles if title is not None]
    if len(set(labels)) != len(labels):
        raise FormatError("dtype descriptor names a field twice")
    layout: Any = {"names": names, "formats": formats, "offsets": offsets, "itemsize": _item_bytes(end)}
    if any(title is not None for title in titles):
        layout["titles"] = titles
    made: np.dtype[Any] = np.dtype(layout)
    return made


def _field(field: Any, levels: int) -> tuple[str | None, str, np.dtype[Any]]:
    """(title, name, dtype) of one field; name is empty for padding."""
    if not isinstance(field, list) or len(field) not in (2, 3):
        raise FormatError(f"dtype descriptor: {_short(field)} is not [name, type] or [name, type, shape]")
    label, inner, *shape = field
    title, name = label if isinstance(label, list) and len(label) == 2 else (None, label)
    if not isinstance(name, str) or not isinstance(title, str | None) or (title is not None and not name):
        raise FormatError(f"dtype descriptor: {_short(label)} is not the name of a field")
    dtype = _decode(inner, levels)
    if not name and (shape or dtype.names is not None or dtype.kind != "V"):
        raise FormatError("dtype descriptor: only padding, of a type |Vn, has an empty name")
    return title, name, _subarray(dtype, shape[0]) if shape else dtype


def _subarray(dtype: np.dtype[Any], shape: Any) -> np.dtype[Any]:
    if not isinstance(shape, list) or not 1 <= len(shape) <= 32:
        raise FormatError(f"dtype descriptor: {_short(shape)} is not the shape of a field")
    if not all(type(n) is int and 0 <= n <= MAX_ITEM_BYTES for n in shape):
        raise FormatError(f"dtype descriptor: {_short(shape)} is not the shape of a field")
    # Without its zeros, the product shows what NumPy would have to multiply.
    _item_bytes(max(dtype.itemsize, 1) * math.prod(n for n in shape if n))
    made: np.dtype[Any] = np.dtype((dtype, tuple(shape)))
    return made


def _scalar(text: str) -> np.dtype[Any]:
    if _SCALAR.fullmatch(text) is None:
        raise FormatError(f"dtype descriptor: {_short(text)} is not a type that can be sealed")
    try:
        dtype = np.dtype(text)
    except (TypeError, ValueError, OverflowError):
        raise FormatError(f"dtype descriptor: this NumPy has no type {text!r}") from None
    if dtype.str != text:
        raise FormatError(f"dtype descriptor: {text!r} is not written as {dtype.str!r}")
    _item_bytes(dtype.itemsize)
    return dtype


def _item_bytes(n: int) -> int:
    if n > MAX_ITEM_BYTES:
        raise FormatError(f"dtype descriptor: elements of more than {MAX_ITEM_BYTES} bytes")
    return n


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."
