"""Asking a target and judging its answers."""

import time
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from twofishkit.errors import InvalidParameter
from twofishkit.testing import diagnose, generate, oracle, published
from twofishkit.testing.cases import KEY_SIZES, MODES, OPERATIONS, Answer, Case
from twofishkit.testing.shrink import shrink
from twofishkit.testing.targets import Target

#: After so many crashes in a row, or time-outs in all, an operation is left alone.
PATIENCE = 3
#: An operation whose first cases, two for each size of key, are unsupported is not there.
_FIRST = 2 * len(KEY_SIZES)
#: Questions for each case that the budget allows, where a target supports little of what it has.
_PER_CASE = 10
#: A target that starts with so many crashes and time-outs cannot be spoken to.
_SILENCE = 5
#: Failures of a mode that are kept as evidence.
_KEPT = 8


@dataclass(frozen=True)
class Failure:
    """A case that the target answers otherwise than expected."""

    case: Case
    expected: Answer
    got: Answer


@dataclass(frozen=True)
class Budget:
    """When to stop asking generated cases: after so many of them or so many seconds, whatever is first."""

    cases: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.cases is not None and self.cases < 0:
            raise InvalidParameter(f"a budget has 0 cases or more, not {self.cases}")
        if self.seconds is not None and self.seconds < 0:
            raise InvalidParameter(f"a budget has 0 seconds or more, not {self.seconds}")

    def deadline(self) -> float:
        """When the seconds are over, on `time.monotonic`."""
        return float("inf") if self.seconds is None else time.monotonic() + self.seconds


#: Reaches the edges of every mode.
BUDGET = Budget(cases=1000)


@dataclass
class ModeResult:
    """What came out for one mode."""

    mode: str
    passed: int = 0
    failed: int = 0
    unsupported: int = 0
    #: What the target says about cases that it does not support.
    reasons: set[str] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)
    smallest: Failure | None = None
    questions: int = 0
    causes: tuple[diagnose.Cause, ...] = ()
    notes: tuple[str, ...] = ()
    given_up: bool = False
    #: Only the block cipher's mistake once more.
    follows: bool = False


@dataclass
class Report:
    """What came out for a target."""

    target: str
    seed: int
    modes: dict[str, ModeResult]
    published: int = 0
    generated: int = 0
    #: Cases that got an answer: an output, a refusal, or an error that the target reported.
    answered: int = 0

    @property
    def failed(self) -> int:
        return sum(result.failed for result in self.modes.values())

    @property
    def asked(self) -> int:
        """Cases that the target answered in some way, also a wrong one."""
        return sum(result.passed + result.failed for result in self.modes.values())

    @property
    def exit_code(self) -> int:
        """0: all agree; 1: something differs; 2: nothing could be compared, as not one case was answered."""
        if not self.answered:
            return 2
        return 1 if self.failed else 0


def operations_of(modes: Collection[str]) -> tuple[str, ...]:
    """The operations of some modes. Raises InvalidParameter for a mode that there is not."""
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown:
        raise InvalidParameter(f"{unknown[0]!r} is not one of {', '.join(MODES)}")
    return tuple(
        operation for operation in OPERATIONS if operation.rpartition("-")[0] in modes or operation in modes
    )


def compare(
    target: Target,
    *,
    seed: int = 0,
    modes: Collection[str] = MODES,
    budget: Budget = BUDGET,
    with_published: bool = True,
    explain: bool = True,
) -> Report:
    """Ask a target the published vectors, then generated cases, and find out why it fails.

    Parameters
    ----------
    seed : which generated cases
    modes : those to ask
    budget : for generated cases; published ones are always all asked
    with_published : whether to ask those
    explain : whether to shrink failures and look for known mistakes
    """
    operations = operations_of(modes)
    report = Report(target.name, seed, {mode: ModeResult(mode) for mode in MODES if mode in modes})
    run = _Run(target, report)
    if with_published:
        for case in published.cases():
            if case.operation in operations:
                report.published += run.judge(case)
    run.spend(budget, generate.cases(seed, operations), operations)
    if explain and report.answered:
        run.explain()
    return report


class _Run:
    """One comparison under way."""

    def __init__(self, target: Target, report: Report) -> None:
        self._target, self._report = target, report
        self._crashes: Counter[str] = Counter()
        self._timeouts: Counter[str] = Counter()
        #: Whether the target has answered anything, if only that it does not have it.
        self._spoken = False

    def spend(self, budget: Budget, cases: Iterable[Case], operations: Collection[str]) -> None:
        """Ask generated cases until the budget is used up; what is unsupported costs nothing."""
        deadline, report = budget.deadline(), self._report
        asked: Counter[str] = Counter()
        missing: set[str] = set()
        supported: set[str] = set()
        most = None if budget.cases is None else _PER_CASE * budget.cases + _FIRST * len(operations)
        for case in cases:
            over = budget.cases is not None and report.generated >= budget.cases
            over = over or (most is not None and asked.total() >= most)
            if over or time.monotonic() >= deadline or self._done(operations, missing):
                return
            if case.operation in missing:
                continue
            asked[case.operation] += 1
            if self.judge(case):
                report.generated += 1
                supported.add(case.operation)
            elif asked[case.operation] == _FIRST and case.operation not in supported:
                missing.add(case.operation)

    def _done(self, operations: Collection[str], missing: set[str]) -> bool:
        """Whether there is nothing left to ask."""
        return all(operation in missing or self._given_up(operation) for operation in operations)

    def _given_up(self, operation: str) -> bool:
        if not self._spoken and self._crashes.total() + self._timeouts.total() >= _SILENCE:
            return True
        return self._crashes[operation] >= PATIENCE or self._timeouts[operation] >= PATIENCE

    def judge(self, case: Case) -> bool:
        """Ask one case; False if the target has no such thing, or is not asked any more."""
        if self._given_up(case.operation):
            return False
        expected, got = oracle.expected(case), self._target.answer(case)
        result = self._report.modes[case.mode]
        self._report.answered += got.status in ("ok", "refused", "error")
        self._spoken = self._spoken or got.status in ("ok", "refused", "error", "unsupported")
        if got.status == "unsupported":
            result.unsupported += 1
            result.reasons |= {got.message} if got.message else set()
            return False
        crashed = got.status in ("crashed", "malformed")
        self._crashes[case.operation] = self._crashes[case.operation] + 1 if crashed else 0
        # Time-outs cost time, one by one.
        self._timeouts[case.operation] += got.status == "timeout"
        result.given_up = result.given_up or self._given_up(case.operation)
        if got.agrees(expected):
            result.passed += 1
        else:
            result.failed += 1
            if len(result.failures) < _KEPT:
                result.failures.append(Failure(case, expected, got))
        return True

    def explain(self) -> None:
        diagnosis = diagnose.Diagnosis(self._target.answer)
        # The block cipher first: its mistakes explain failures of the modes, and of the schedule.
        order = sorted(self._report.modes.values(), key=lambda result: result.mode != "ecb")
        for result in order:
            if result.failures:
                self._explain(result, diagnosis)

    def _explain(self, result: ModeResult, diagnosis: diagnose.Diagnosis) -> None:
        telling = [failure for failure in result.failures if failure.got.status in ("ok", "refused")]
        if telling and not result.given_up:
            observed = [(failure.case, failure.got) for failure in telling]
            result.causes = diagnosis.causes(result.mode, observed)
        # The simplest question first, and rather one with an answer than a time-out.
        first = min(
            result.failures, key=lambda failure: (failure.got.status == "timeout", _size(failure.case))
        )
        case, got, result.questions = first.case, first.got, 0
        result.follows = self._known_already(result, diagnosis)
        if got.status != "timeout" and not result.follows:
            case, got, result.questions = shrink(case, got, self._target.answer)
        expected = first.expected if case == first.case else oracle.answer(case)
        result.smallest = Failure(case, expected, got)
        if got.states and (note := diagnose.first_difference(got.states, expected.states)):
            result.notes = (note,)
        elif telling and result.mode in ("ecb", "subkeys", "trace"):
            result.notes = diagnose.where(self._target.answer, case)

    def _known_already(self, result: ModeResult, diagnosis: diagnose.Diagnosis) -> bool:
        """Whether it is only the block cipher's mistake once more."""
        cipher = (diagnosis.cipher,)
        return result.mode != "ecb" and any(cause.mistakes == cipher for cause in result.causes)


def _size(case: Case) -> tuple[int, int, int]:
    return len(case.data) + len(case.aad), len(case.key), bool(case.chunks) + case.in_place
