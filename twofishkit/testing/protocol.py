"""The line protocol between the oracle and a program under test (docs/oracle.md has it in words).

A request is one line, an answer is one line or more, everything is ASCII, bytes are hex:

    7 gcm-encrypt KEY IV AAD DATA TAG [taglen=12] [chunks=5+11] [inplace]
    7 ok OUT [TAG]

An empty field is a single ``-``. Other answers: ``7 refused``, ``7 unsupported``, ``7 error TEXT``. Before
``ok`` a trace has lines ``7 round R X0 X1 X2 X3 [T0 T1]``, words as numbers. Lines that start with ``#`` are
comments.
"""

from collections.abc import Iterable

from twofishkit.reference import RoundState
from twofishkit.testing.cases import Answer, Case, Status

_EMPTY = "-"


class MalformedLine(ValueError):
    """A line that is not of the protocol; the message says what is wrong with it."""


def _hex(data: bytes) -> str:
    return data.hex() or _EMPTY


def _unhex(field: str) -> bytes:
    if field == _EMPTY:
        return b""
    try:
        return bytes.fromhex(field)
    except ValueError:
        raise MalformedLine(f"{field[:40]!r} is not hex") from None


def request(number: int, case: Case) -> str:
    """The line that asks a case, without its end."""
    fields = [str(number), case.operation]
    fields += map(_hex, (case.key, case.iv, case.aad, case.data, case.tag))
    if case.tag_length != 16:
        fields.append(f"taglen={case.tag_length}")
    if case.chunks:
        fields.append("chunks=" + "+".join(map(str, case.chunks)))
    if case.in_place:
        fields.append("inplace")
    return " ".join(fields)


def parse_request(line: str) -> tuple[str, Case | None]:
    """(number, case) of a request; None for a case with an option that is not known here."""
    number, operation, *fields = line.split()
    if len(fields) < 5:
        raise MalformedLine(f"a request has seven fields or more, not {len(fields) + 2}")
    key, iv, aad, data, tag = map(_unhex, fields[:5])
    tag_length, chunks, in_place = 16, (), False
    for option in fields[5:]:
        name, _, value = option.partition("=")
        if name == "taglen":
            tag_length = int(value)
        elif name == "chunks":
            chunks = tuple(map(int, value.split("+")))  # type: ignore[assignment]
        elif name == "inplace":
            in_place = True
        else:
            return number, None
    return number, Case(number, operation, key, iv, aad, data, tag, tag_length, chunks, in_place)


def reply(number: str, answer: Answer) -> str:
    """The lines of an answer, each with its end."""
    lines = [_round(number, state) for state in answer.states]
    if answer.status == "ok":
        tag = f" {answer.tag.hex()}" if answer.tag else ""
        lines.append(f"{number} ok {_hex(answer.data)}{tag}")
    else:
        text = " ".join(answer.message.split())
        lines.append(f"{number} {answer.status} {text}".rstrip())
    return "".join(f"{line}\n" for line in lines)


def _round(number: str, state: RoundState) -> str:
    words = [f"{word:08x}" for word in (*state.x, state.t0, state.t1) if word is not None]
    return " ".join([number, "round", str(state.r), *words])


_FINAL: dict[str, Status] = {"ok": "ok", "refused": "refused", "unsupported": "unsupported", "error": "error"}


def parse_reply(number: int, lines: Iterable[str]) -> Answer:
    """The answer to request ``number`` from the lines that a program printed, up to the final one.

    Raises
    ------
    MalformedLine
        If a line is not of the protocol, or belongs to another request.
    """
    states: list[RoundState] = []
    for line in lines:
        fields = line.split()
        if not fields or line.startswith("#"):
            continue
        if fields[0] != str(number) or len(fields) < 2:
            raise MalformedLine(f"{line[:60]!r} does not start with {number} and a status")
        kind, values = fields[1], fields[2:]
        if kind == "round":
            states.append(_parsed_round(values))
        elif kind in _FINAL:
            return _final(_FINAL[kind], values, tuple(states))
        else:
            raise MalformedLine(f"{kind[:40]!r} is none of round, ok, refused, unsupported, error")
    raise MalformedLine("the output ends before an answer")


def _final(status: Status, values: list[str], states: tuple[RoundState, ...]) -> Answer:
    if status != "ok":
        return Answer(status=status, message=" ".join(values)[:200])
    if not 1 <= len(values) <= 2:
        raise MalformedLine(f"ok is followed by the output and perhaps a tag, not by {len(values)} fields")
    tag = _unhex(values[1]) if len(values) == 2 else b""
    return Answer(_unhex(values[0]), tag, states=states)


def _parsed_round(values: list[str]) -> RoundState:
    if len(values) not in (5, 7):
        raise MalformedLine(f"a round has a number and 4 or 6 words, not {len(values)} fields")
    try:
        r, words = int(values[0]), [int(word, 16) for word in values[1:]]
    except ValueError:
        raise MalformedLine(f"{' '.join(values)[:60]!r} is not a round number and words in hex") from None
    t0, t1 = (words[4], words[5]) if len(words) == 6 else (None, None)
    return RoundState(r, (words[0], words[1], words[2], words[3]), t0, t1)
