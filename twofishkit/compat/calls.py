"""What all objects of `twofishkit.compat.pep272` share: the order of calls, ``output=``, and errors.

An error is of the type that pycryptodome raises and of twofishkit's own at the same time, so that code
written for either catches it.
"""

from typing import Any, TypeAlias

import numpy as np

from twofishkit.buffers import Data, byte_length
from twofishkit.errors import InvalidLength, InvalidTag, LimitExceeded, StateError, UnsupportedType

#: ``output=`` of a call: as many bytes as the input, or None.
Output: TypeAlias = bytearray | memoryview | None


class OutOfOrder(StateError, TypeError):
    """A method was called at a time when it must not be."""


class MessageTooLong(LimitExceeded, OverflowError):
    """The message does not fit the counter or the nonce, or is longer than was announced."""


class MacMismatch(InvalidTag, ValueError):
    """The tag is not that of the message: wrong key or nonce, or the message was altered."""


def check_output(data: Data, output: Output) -> None:
    """Raise unless output is None or can take the result for data.

    Raises
    ------
    UnsupportedType
        If output is not a writable buffer.
    InvalidLength
        If it does not have as many bytes as data.
    """
    if output is None:
        return
    writable = isinstance(output, bytearray) or (isinstance(output, memoryview) and not output.readonly)
    if not writable and not isinstance(output, np.ndarray):
        raise UnsupportedType("output must be a bytearray or a writeable memoryview")
    if byte_length(output, "output") != byte_length(data):
        raise InvalidLength(f"output must have the same length as the input  ({byte_length(data)} bytes)")


def given(result: Any, output: Output) -> Any:
    """What a call returns: the result, or None if it is in output."""
    return result if output is None else None


def refuse_unknown(parameters: dict[str, Any], mode: str) -> None:
    """Raise for keywords that nobody has taken; names only, since a value may be secret.

    Raises
    ------
    UnsupportedType
        A TypeError, as for any call with an unexpected keyword.
    """
    if parameters:
        raise UnsupportedType(f"Unknown parameters for {mode}: {', '.join(sorted(parameters))}")
