"""Header and chunks joined: what every sealed blob and file consists of.

    header || salt || commitment || chunks

The header is the context of the chunked encryption, which thereby authenticates every byte of it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from twofishkit.errors import FormatError
from twofishkit.sealed import header, keys, stream
from twofishkit.sealed.aead import TWOFISH_256_GCM
from twofishkit.sealed.header import Header
from twofishkit.sealed.pipes import Fill
from twofishkit.sealed.stream import ChunkedMessage

TAG_BYTES = TWOFISH_256_GCM.tag_bytes


@dataclass(frozen=True)
class Sealing:
    """A sealed container about to be written: ``start`` comes first, then the message's chunks."""

    header: Header
    input_key: bytes
    message: ChunkedMessage

    @property
    def start(self) -> bytes:
        return self.header.encoded + self.message.prefix


def begin(fields: dict[str, Any], source: keys.KeySource, metadata: dict[str, Any] | None = None) -> Sealing:
    """Start a new container; fields are the arguments of `header.build` for its content."""
    description = header.build(**fields, scrypt=source.scrypt, metadata=metadata)
    input_key = source.input_key()
    message = ChunkedMessage.create(TWOFISH_256_GCM, input_key, description.encoded)
    return Sealing(description, input_key, message)


def read_header(fill: Fill) -> Header:
    """Read exactly one header, in at most 64 KiB of memory.

    Raises
    ------
    FormatError
        If there is none, or it is malformed.
    """
    start = _read(fill, header.START_BYTES)
    return header.parse(start + _read(fill, header.length(start) - header.START_BYTES))


def resume(description: Header, fill: Fill, source: keys.KeySource) -> tuple[ChunkedMessage, bytes]:
    """Read salt and commitment, which follow the header; the message and its input key.

    Raises
    ------
    WrongKey
        If the commitment does not match: wrong key or passphrase, or an altered header.
    """
    prefix = _read(fill, stream.PREFIX_BYTES)
    if len(prefix) < stream.PREFIX_BYTES:
        raise FormatError("truncated: the sealed data ends after its header")
    input_key = source.input_key()
    return ChunkedMessage.resume(TWOFISH_256_GCM, input_key, description.encoded, prefix), input_key


def complete(description: Header, total: int) -> Header:
    """The header of a container of ``total`` bytes, header included, with no length left unknown.

    Raises
    ------
    FormatError
        If the total is not what the header promises: something was cut off or added.
    """
    sealed = total - len(description.encoded)
    promised = description.payload_bytes
    if promised is None:
        return header.with_length(description, stream.message_length(sealed, TAG_BYTES))
    check_total(sealed, stream.sealed_length(promised, TAG_BYTES))
    return description


def check_total(given: int, promised: int) -> None:
    """Compare the length of sealed data with what its header or directory promises."""
    if given < promised:
        raise FormatError(f"truncated: {given} bytes of sealed data where the header promises {promised}")
    if given > promised:
        raise FormatError(f"{given - promised} bytes of trailing data after the end of the sealed data")


def _read(fill: Fill, n: int) -> bytes:
    buffer = np.empty(n, np.uint8)
    return buffer[: fill(buffer)].tobytes()
