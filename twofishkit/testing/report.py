"""What came out, for people and for machines."""

import importlib.util
import json
from collections.abc import Iterator
from typing import Any

from twofishkit.testing.cases import Answer, Case, key_bits
from twofishkit.testing.run import Failure, ModeResult, Report

#: Version of the JSON document; grows when a field changes its meaning or goes.
JSON_VERSION = 1

#: Characters of hex on one line.
_LONG = 96


def oracle_note() -> str:
    """Who says what is right."""
    numba = "not needed" if importlib.util.find_spec("numba") else "not installed and not needed"
    return f"published vectors and twofishkit's pure-Python reference (numba is {numba})"


def text(report: Report) -> str:
    """The report as lines, each mode's result and each failing mode's smallest input and cause."""
    lines = [
        f"target    {report.target}",
        f"oracle    {oracle_note()}",
        f"cases     {report.published} published, {report.generated} generated with seed {report.seed}",
        "",
    ]
    lines += [_summary(result) for result in report.modes.values() if result.passed + result.failed]
    missing = [mode for mode, result in report.modes.items() if not result.passed + result.failed]
    lines += [f"  unsupported, or not asked: {', '.join(missing)}"] if missing else []
    failing = [result for result in report.modes.values() if result.failures]
    # Where nothing was answered, one failure says it all.
    lines += [line for result in failing[: None if report.answered else 1] for line in _failing(result)]
    return "\n".join([*lines, "", _verdict(report), ""])


def _summary(result: ModeResult) -> str:
    asked = result.passed + result.failed
    state = "ok" if not result.failed else f"{result.failed} DIFFER"
    reasons = f" ({'; '.join(sorted(result.reasons)[:3])})" if result.reasons else ""
    left_out = f", {result.unsupported} unsupported{reasons}" if result.unsupported else ""
    given_up = ", given up after crashes or time-outs" if result.given_up else ""
    return f"  {result.mode:9} {asked:5} cases  {state}{left_out}{given_up}"


def _verdict(report: Report) -> str:
    if not report.asked:
        return "NOTHING COMPARED: the target supports none of the cases"
    if not report.answered:
        return "NOTHING COMPARED: the target has not answered one case"
    if not report.failed:
        return f"AGREES in all {report.asked} cases"
    modes = ", ".join(result.mode for result in report.modes.values() if result.failed)
    return f"DIFFERS in {report.failed} of {report.asked} cases: {modes}"


def _failing(result: ModeResult) -> Iterator[str]:
    yield ""
    yield f"{result.mode}: {result.failed} of {result.passed + result.failed} cases differ"
    for cause in result.causes:
        names = ", ".join(mistake.name for mistake in cause.mistakes)
        yield f"  why: {cause} [{names}]"
    if result.follows:
        return
    telling = any(failure.got.status in ("ok", "refused") for failure in result.failures)
    if telling and not result.causes and not result.given_up:
        yield "  why: no known mistake gives these answers"
    for note in result.notes:
        yield f"  first difference: {note}"
    shown = result.smallest or result.failures[0]
    how = f"after {result.questions} questions" if result.questions else "as asked"
    yield f"  smallest failing input found ({how}):"
    yield from (f"    {line}" for line in describe(shown))


def describe(failure: Failure) -> Iterator[str]:
    """One failing case: what was asked, what was expected and what came."""
    case = failure.case
    yield f"case      {case.id}"
    yield f"operation {case.operation}{_details(case)}"
    for name in ("key", "iv", "aad", "data", "tag"):
        value: bytes = getattr(case, name)
        if value or name in ("key", "data"):
            yield f"{name:9} {_hex(value)}"
    yield f"expected  {_answer(failure.expected)}"
    yield f"got       {_answer(failure.got)}"
    position = _first_difference(failure.expected, failure.got)
    if position:
        yield f"differs   {position}"
    if case.source:
        yield f"source    {case.source}"


def _details(case: Case) -> str:
    details = []
    if case.mode != "ghash":
        details.append(f"{key_bits(case)}-bit key")
    if case.tag_length != 16:
        details.append(f"{case.tag_length}-byte tag")
    if case.chunks:
        details.append("in pieces of " + "+".join(map(str, case.chunks)))
    if case.in_place:
        details.append("in place")
    return "".join(f", {detail}" for detail in details)


def _hex(value: bytes) -> str:
    if not value:
        return "(empty)"
    shown = value.hex()
    return shown if len(shown) <= 4 * _LONG else f"{shown[: 4 * _LONG]}... ({len(value)} bytes)"


def _answer(answer: Answer) -> str:
    if answer.status != "ok":
        return f"{answer.status}: {answer.message}" if answer.message else answer.status
    tag = f" tag {answer.tag.hex()}" if answer.tag else ""
    return f"{_hex(answer.data)}{tag}"


def _first_difference(expected: Answer, got: Answer) -> str:
    if expected.status != "ok" or got.status != "ok":
        return ""
    if expected.data != got.data:
        if len(expected.data) != len(got.data):
            return f"{len(got.data)} bytes of output in place of {len(expected.data)}"
        at = next(i for i, (a, b) in enumerate(zip(expected.data, got.data, strict=True)) if a != b)
        return f"from byte {at} of the output on (block {at // 16})"
    return "only in the tag" if expected.tag != got.tag else ""


def document(report: Report) -> dict[str, Any]:
    """The report for machines."""
    return {
        "format": f"twofishkit-diff/{JSON_VERSION}",
        "target": report.target,
        "oracle": oracle_note(),
        "seed": report.seed,
        "published": report.published,
        "generated": report.generated,
        "failed": report.failed,
        "exit_code": report.exit_code,
        "modes": [_mode_document(result) for result in report.modes.values()],
    }


def _mode_document(result: ModeResult) -> dict[str, Any]:
    smallest = result.smallest or (result.failures[0] if result.failures else None)
    return {
        "mode": result.mode,
        "passed": result.passed,
        "failed": result.failed,
        "unsupported": result.unsupported,
        "given_up": result.given_up,
        "causes": [
            {
                "mistakes": [mistake.name for mistake in cause.mistakes],
                "text": str(cause),
                "explained": cause.explained,
                "of": cause.of,
            }
            for cause in result.causes
        ],
        "first_differences": list(result.notes),
        "smallest": _failure_document(smallest) if smallest else None,
    }


def _failure_document(failure: Failure) -> dict[str, Any]:
    case = failure.case
    return {
        "id": case.id,
        "operation": case.operation,
        **{name: getattr(case, name).hex() for name in ("key", "iv", "aad", "data", "tag")},
        "tag_length": case.tag_length,
        "chunks": list(case.chunks),
        "in_place": case.in_place,
        "expected": _answer_document(failure.expected),
        "got": _answer_document(failure.got),
    }


def _answer_document(answer: Answer) -> dict[str, str]:
    return {
        "status": answer.status,
        "data": answer.data.hex(),
        "tag": answer.tag.hex(),
        "message": answer.message,
    }


def as_json(report: Report) -> str:
    """`document` as text."""
    return json.dumps(document(report), indent=2) + "\n"
