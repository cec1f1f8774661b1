"""JSON from files: parsed strictly, in bounded depth, with one error for whatever is wrong."""

import json
from typing import Any, NoReturn

from twofishkit.errors import FormatError


def nesting(text: bytes) -> int:
    """Deepest nesting of arrays and objects, found without recursion; for any bytes."""
    depth = deepest = 0
    in_string = escaped = False
    for byte in text:
        if escaped:
            escaped = False
        elif in_string:
            escaped = byte == 0x5C  # backslash
            in_string = byte != 0x22  # quotation mark
        elif byte == 0x22:
            in_string = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return made


def loads(text: bytes, what: str, max_bytes: int, max_nesting: int) -> Any:
    """The value of a UTF-8 JSON text.

    Raises
    ------
    FormatError
        Naming ``what``: if it is too long or too deep, not JSON (NaN and Infinity are not), or
        names something twice.
    """
    if len(text) > max_bytes:
        raise FormatError(f"{what} has {len(text)} bytes; the limit is {max_bytes}")
    if text.count(b"[") + text.count(b"{") > max_nesting and nesting(text) > max_nesting:
        raise FormatError(f"{what} is nested more than {max_nesting} deep")
    try:
        return json.loads(text.decode("utf-8"), parse_constant=_constant, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:  # ValueError: bad UTF-8, syntax, huge integers
        raise FormatError(f"{what} is not valid JSON: {error}") from None
