"""Every case that the oracle has, one test each."""

import pytest

from twofishkit.testing import generate, oracle, report, run
from twofishkit.testing.cases import OPERATIONS, Case
from twofishkit.testing.suite.conftest import Diagnoses
from twofishkit.testing.targets import Target


def _judge(target: Target, diagnoses: Diagnoses, case: Case) -> None:
    got = target.answer(case)
    if got.status == "unsupported":
        pytest.skip(f"{case.operation} is unsupported here {got.message}".strip())
    expected = oracle.expected(case)
    if not got.agrees(expected):
        lines = [*report.describe(run.Failure(case, expected, got)), *diagnoses.why(case, got)]
        pytest.fail("\n".join(lines), pytrace=False)


def test_target_answers(target: Target) -> None:
    """At least one operation is there: otherwise all the rest is skipped, and looks like success."""
    firsts = [generate.case(0, operation, 0) for operation in OPERATIONS]
    assert any(target.answer(case).status in ("ok", "refused", "error") for case in firsts)


def test_published(target: Target, diagnoses: Diagnoses, case: Case) -> None:
    """A vector that somebody else published or verified."""
    _judge(target, diagnoses, case)


def test_generated(target: Target, diagnoses: Diagnoses, case: Case) -> None:
    """A case that the reference answers."""
    _judge(target, diagnoses, case)
