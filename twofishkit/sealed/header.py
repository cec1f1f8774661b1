"""The header of sealed data: its grammar, and nothing of cryptography.

The header is public and comes first. It says what is sealed (bytes, an array, or an archive of
several), how the input key is made, and what the user wrote on the label. It is authenticated by
being the context of the chunked encryption that follows. `docs/format.md` has the byte table.

A header is hostile until the commitment has been checked: it is read in bounded memory, sizes are
compared with each other before anything of that size is allocated, and every byte is accounted for.
"""

import dataclasses
import json
import math
import struct
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from twofishkit.errors import FormatError, InvalidParameter, UnsupportedType
from twofishkit.sealed import dtypes, jsontext
from twofishkit.sealed.keys import SCRYPT_LOG2_N_ALLOWED, SCRYPT_SALT_BYTES, Scrypt

#: As PNG's: a byte above 127, a name, both kinds of line end and the end-of-file of old systems
#: show at once what a transfer in text mode does to a file.
MAGIC = b"\x89TFK\r\n\x1a\n"
VERSION = 1
START_BYTES = 16
MAX_BYTES = 65536
MAX_METADATA_BYTES = 32768
MAX_METADATA_NESTING = 16
MAX_DIMENSIONS = 64

# Start: magic, version, kind, length of the header. Then: payload length, key source, scrypt cost,
# order, dimensions, scrypt salt, length of the dtype descriptor, length of the metadata.
_START = struct.Struct("<8sHHI")
_REST = struct.Struct("<QBBBB16sII")
_FIXED_BYTES = START_BYTES + _REST.size
_UNKNOWN = 2**64 - 1
MAX_PAYLOAD = 2**52 - 1  # 2^38 chunks of 16 KiB, the last one shorter
_MAX_ARRAY = 2**63 - 1
_NO_SALT = bytes(SCRYPT_SALT_BYTES)

Kind = Literal["bytes", "array", "archive"]
_KINDS: tuple[Kind, ...] = ("bytes", "array", "archive")
_ORDERS: tuple[Literal["C", "F"], ...] = ("C", "F")


@dataclass(frozen=True)
class Header:
    """What a header says.

    Attributes
    ----------
    kind : "bytes", "array" or "archive"
    payload_bytes : int or None
        Length of what is sealed; None if it was not known beforehand, and follows from the whole.
    scrypt : Scrypt or None
        How a passphrase gives the key; None if sealed with a raw key.
    dtype : numpy.dtype or None
        Of an array.
    shape : tuple of int
        Of an array; () otherwise. The first is -1 if the length was not known beforehand.
    order : "C" or "F"
        In which order the elements of an array follow each other.
    metadata : mapping
        The user's, from JSON. Public: not encrypted.
    encoded : bytes
        The header as it stands in the file.
    """

    kind: Kind
    payload_bytes: int | None
    scrypt: Scrypt | None = None
    dtype: np.dtype[Any] | None = None
    shape: tuple[int, ...] = ()
    order: Literal["C", "F"] = "C"
    metadata: MappingProxyType[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    encoded: bytes = field(default=b"", repr=False)


def build(
    kind: Kind,
    payload_bytes: int | None,
    *,
    scrypt: Scrypt | None = None,
    dtype: np.dtype[Any] | None = None,
    shape: tuple[int, ...] = (),
    order: Literal["C", "F"] = "C",
    metadata: dict[str, Any] | None = None,
) -> Header:
    """A new header, encoded.

    Raises
    ------
    UnsupportedType
        If the dtype cannot be sealed, or the metadata is no dict or holds what JSON has not.
    InvalidParameter
        If the metadata is too large or nested too deeply.
    """
    descriptor = b"" if dtype is None else dtypes.encode(dtype)
    label = _metadata_text(metadata)
    length = _FIXED_BYTES + 8 * len(shape) + len(descriptor) + len(label)
    encoded = b"".join(
        (
            _START.pack(MAGIC, VERSION, _KINDS.index(kind), length),
            _REST.pack(
                _UNKNOWN if payload_bytes is None else payload_bytes,
                0 if scrypt is None else 1,
                0 if scrypt is None else scrypt.log2_n,
                _ORDERS.index(order),
                len(shape),
                _NO_SALT if scrypt is None else scrypt.salt,
                len(descriptor),
                len(label),
            ),
            struct.pack(f"<{len(shape)}Q", *(_UNKNOWN if n == -1 else n for n in shape)),
            descriptor,
            label,
        )
    )
    return parse(encoded)


def _metadata_text(metadata: dict[str, Any] | None) -> bytes:
    if metadata is None or metadata == {}:
        return b""
    if not isinstance(metadata, dict):
        raise UnsupportedType(f"metadata must be a dict, and is of type {type(metadata).__name__}")
    try:
        text = json.dumps(metadata, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise UnsupportedType(f"metadata must be what JSON can hold: {error}") from None
    try:
        back = jsontext.loads(text, "metadata", MAX_METADATA_BYTES, MAX_METADATA_NESTING)
    except FormatError as error:
        raise InvalidParameter(str(error)) from None
    if back != _as_json(metadata):
        raise UnsupportedType("metadata must have str keys only, at every level")
    return text


def _as_json(value: Any) -> Any:
    """The value with tuples as the lists they become; keys are left for the comparison to judge."""
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return [_as_json(item) for item in value] if isinstance(value, (list, tuple)) else value


def length(start: bytes) -> int:
    """Length of a header from its first 16 bytes: checked, and at most 64 KiB.

    Raises
    ------
    FormatError
        If this is not sealed data, was damaged in transfer, or is of a version from the future.
    """
    if not start.startswith(MAGIC):
        raise FormatError(_not_ours(start))
    if len(start) < START_BYTES:
        raise FormatError(f"truncated within the header, after {len(start)} bytes")
    _, version, _, n = _START.unpack(start[:START_BYTES])
    if version != VERSION:
        raise FormatError(f"format version {version}; this twofishkit reads version {VERSION}")
    if not _FIXED_BYTES <= n <= MAX_BYTES:
        raise FormatError(f"header of {n} bytes; it has {_FIXED_BYTES} to {MAX_BYTES}")
    return int(n)


def _not_ours(start: bytes) -> str:
    if MAGIC.startswith(start):
        return (
            f"truncated within the header, after {len(start)} bytes"
            if start
            else "no sealed data: it is empty"
        )
    if start[1:4] == MAGIC[1:4]:
        return "no sealed data, or sealed data damaged by a transfer as text"
    return "no sealed data: it does not begin as twofishkit's does"


def parse(encoded: bytes) -> Header:
    """The header in ``encoded``, which is exactly one header.

    Raises
    ------
    FormatError
        If anything in it is not as the format says.
    """
    n = length(encoded[:START_BYTES])
    if len(encoded) != n:
        raise FormatError(f"truncated within the header, after {len(encoded)} of {n} bytes")
    kind = _START.unpack_from(encoded)[2]
    payload, source, log2_n, order, ndim, salt, descriptor_bytes, metadata_bytes = _REST.unpack_from(
        encoded, START_BYTES
    )
    if kind >= len(_KINDS) or order >= len(_ORDERS) or ndim > MAX_DIMENSIONS:
        raise FormatError(
            f"unknown kind {kind} or order {order}, or {ndim} dimensions: the limit is {MAX_DIMENSIONS}"
        )
    shape_end = _FIXED_BYTES + 8 * ndim
    if shape_end + descriptor_bytes + metadata_bytes != n:
        raise FormatError("the parts of the header do not add up to its length")
    dimensions = struct.unpack_from(f"<{ndim}Q", encoded, _FIXED_BYTES)
    descriptor = encoded[shape_end : shape_end + descriptor_bytes]
    header = Header(
        kind=_KINDS[kind],
        payload_bytes=None if payload == _UNKNOWN else payload,
        scrypt=_scrypt(source, log2_n, salt),
        dtype=dtypes.decode(descriptor) if descriptor else None,
        shape=tuple(-1 if n == _UNKNOWN else n for n in dimensions),
        order=_ORDERS[order],
        metadata=_metadata(encoded[shape_end + descriptor_bytes :]),
        encoded=encoded,
    )
    _check_sizes(header)
    return header


def _scrypt(source: int, log2_n: int, salt: bytes) -> Scrypt | None:
    if source == 0 and log2_n == 0 and salt == _NO_SALT:
        return None
    if source != 1:
        raise FormatError(f"unknown key source {source}, or a raw key with scrypt parameters")
    if log2_n not in SCRYPT_LOG2_N_ALLOWED:
        raise FormatError(
            f"asks for scrypt with N = 2^{log2_n}; the limit is 2^{SCRYPT_LOG2_N_ALLOWED.stop - 1}"
        )
    return Scrypt(salt, log2_n)


def _metadata(text: bytes) -> MappingProxyType[str, Any]:
    if not text:
        return MappingProxyType({})
    value = jsontext.loads(text, "metadata", MAX_METADATA_BYTES, MAX_METADATA_NESTING)
    if not isinstance(value, dict):
        raise FormatError("metadata is JSON, but not an object")
    return MappingProxyType(value)


def _check_sizes(header: Header) -> None:
    payload = header.payload_bytes
    if payload is not None and payload > MAX_PAYLOAD:
        raise FormatError(f"payload of {payload} bytes; the limit is 2^52 - 1")
    if header.kind != "array":
        if header.dtype is not None or header.shape or header.order != "C":
            raise FormatError(f"a header of kind {header.kind} with a dtype, a shape or an order")
        if payload is None and header.kind == "archive":
            raise FormatError("an archive whose directory has no length")
        return
    if header.dtype is None:
        raise FormatError("an array without a dtype")
    open_ended = header.shape[:1] == (-1,)
    sizes = header.shape[1:] if open_ended else header.shape
    if -1 in sizes or open_ended != (payload is None) or (open_ended and header.order != "C"):
        raise FormatError("an array of which more is unknown than the length of its first axis")
    # NumPy multiplies all dimensions but zeros: that product has to fit too.
    if max(header.dtype.itemsize, 1) * math.prod(n for n in sizes if n) > _MAX_ARRAY:
        raise FormatError("an array of more than 2^63 - 1 bytes")
    row_bytes = header.dtype.itemsize * math.prod(sizes)
    if payload is None and row_bytes == 0:
        raise FormatError("an array of unknown length with rows of no bytes")
    if payload is not None and row_bytes != payload:
        raise FormatError(f"shape and dtype do not multiply to the payload's {payload} bytes")


def with_length(header: Header, n: int) -> Header:
    """The header with what was unknown filled in from the length of the payload.

    Raises
    ------
    FormatError
        If an array's payload is no whole number of its rows.
    """
    if header.payload_bytes is not None or header.dtype is None:
        return dataclasses.replace(header, payload_bytes=n)
    rows, rest = divmod(n, header.dtype.itemsize * math.prod(header.shape[1:]))
    if rest:
        raise FormatError(f"a payload of {n} bytes, which is no whole number of the array's rows")
    return dataclasses.replace(header, payload_bytes=n, shape=(rows, *header.shape[1:]))
