"""Times several implementations of one task fairly: interleaved, best of many.

Rounds go over all implementations in turn, so that a slow moment of the machine hits all alike; the
best round of each counts, since whatever else ran can only have added time. The clock is read
beside every timing.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from twofishkit.bench.clock import Clock

_PROBE_BYTES = 1024


@dataclass(frozen=True)
class Case:
    """One implementation of a task.

    Attributes
    ----------
    implementation : what the table calls it
    ours : whether it is twofishkit's
    prepare : (bytes) -> a call that processes so many bytes; set-up is done by prepare
    within : makes the context in which both run, such as a choice of backend
    """

    implementation: str
    ours: bool
    prepare: Callable[[int], Callable[[], object]]
    within: Callable[[], AbstractContextManager[object]] = nullcontext


@dataclass(frozen=True)
class Group:
    """A task, and what is compared at it; the first case is the one that ratios refer to.

    Attributes
    ----------
    section : which table it belongs to
    operation : "ctr enc", "ghash", ...
    key_bits : 0 where there is no key
    size : bytes that one call processes; 0 where the call itself is what counts (key set-up)
    whole : whether ``size`` may not be reduced for slow implementations
    """

    section: str
    operation: str
    key_bits: int
    size: int
    cases: tuple[Case, ...]
    whole: bool = False


@dataclass(frozen=True)
class Plan:
    """How long to measure.

    Attributes
    ----------
    rounds : at least so many
    most_rounds : at most so many
    patience : stop after so many rounds in a row in which no case got faster by one percent
    slice_ns : about the time of one case in one round (one call, if that takes longer)
    slowest_call_ns : messages are made shorter for implementations that would need longer for one
    """

    rounds: int = 7
    most_rounds: int = 60
    patience: int = 4
    slice_ns: int = 1_500_000
    slowest_call_ns: int = 15_000_000


QUICK = Plan(rounds=3, most_rounds=6, patience=2, slice_ns=500_000, slowest_call_ns=5_000_000)
_GAIN = 0.99


@dataclass(frozen=True)
class Result:
    """The best round of one case, and derived figures."""

    section: str
    operation: str
    key_bits: int
    size: int
    implementation: str
    ours: bool
    ns_per_call: float
    mhz: float | None
    ratio: float = 1.0

    @property
    def ns_per_byte(self) -> float | None:
        return self.ns_per_call / self.size if self.size else None

    @property
    def mib_per_second(self) -> float | None:
        return self.size / self.ns_per_call * 1e9 / 2**20 if self.size else None

    @property
    def cycles_per_call(self) -> float | None:
        return None if self.mhz is None else self.ns_per_call * self.mhz / 1e3

    @property
    def cycles_per_byte(self) -> float | None:
        return None if self.mhz is None or not self.size else self.ns_per_call * self.mhz / 1e3 / self.size


def measure(group: Group, plan: Plan, clock: Clock) -> list[Result]:
    """Time every case of a group; results in the group's order.

    ``ratio`` is the time per byte (or per call) relative to the first case.
    """
    runs = [_Run.prepare(case, group, plan) for case in group.cases]
    quiet = 0
    for done in range(1, plan.most_rounds + 1):
        gained = [run.round(clock) for run in runs]
        quiet = 0 if any(gained) else quiet + 1
        if done >= plan.rounds and quiet >= plan.patience:
            break
    results = [
        Result(
            section=group.section,
            operation=group.operation,
            key_bits=group.key_bits,
            size=run.size,
            implementation=run.case.implementation,
            ours=run.case.ours,
            ns_per_call=run.best,
            mhz=run.mhz,
        )
        for run in runs
    ]
    return list(_with_ratios(results))


def _with_ratios(results: list[Result]) -> Iterator[Result]:
    costs = [result.ns_per_byte or result.ns_per_call for result in results]
    for result, cost in zip(results, costs, strict=True):
        yield replace(result, ratio=cost / costs[0])


class _Run:
    """The running best of one case."""

    def __init__(self, case: Case, size: int, call: Callable[[], object], repeats: int) -> None:
        self.case, self.size, self._call, self._repeats = case, size, call, repeats
        self.best = float("inf")
        self.mhz: float | None = None

    @classmethod
    def prepare(cls, case: Case, group: Group, plan: Plan) -> "_Run":
        """Compile, choose a size that this implementation can manage, count calls per round."""
        size = group.size if group.whole else min(group.size, _PROBE_BYTES)
        with case.within():
            while size < group.size:
                spent = _warm_nanoseconds(case.prepare(size))
                growth = min(8, plan.slowest_call_ns // spent)
                if growth < 2:
                    break
                size = min(group.size, size << (growth.bit_length() - 1))
            call = case.prepare(size)
            once = _warm_nanoseconds(call)
        return cls(case, size, call, max(1, round(plan.slice_ns / once)))

    def round(self, clock: Clock) -> bool:
        """Time the case once more; say whether it was notably faster than ever before."""
        mhz = clock.measure()
        with self.case.within():
            spent = _nanoseconds(self._call, self._repeats) / self._repeats
        gained = spent < _GAIN * self.best
        if spent < self.best:
            self.best, self.mhz = spent, mhz
        return gained


def _nanoseconds(call: Callable[[], object], repeats: int) -> int:
    begin = time.perf_counter_ns()
    for _ in itertools.repeat(None, repeats):
        call()
    return max(1, time.perf_counter_ns() - begin)


def _warm_nanoseconds(call: Callable[[], object]) -> int:
    """Nanoseconds of one warm call: the first may compile, and does not count."""
    call()
    return min(_nanoseconds(call, 1) for _ in range(3))
