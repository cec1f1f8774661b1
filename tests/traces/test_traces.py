"""Machine code of the table-free kernels leaves one trace for all keys and data; `gather`'s does not."""

import pytest

from tests.traces.cases import QUICK, QUICK_AND_TELLTALE, SLOW, TELLTALE
from tests.traces.compile import TARGETS
from tests.traces.tracing import need, outcomes


def _by_target(cases):
    return [
        pytest.param(target, case, id=f"{target}: {case.name}") for target in cases for case in cases[target]
    ]


@pytest.fixture(scope="session")
def quickly(tmp_path_factory, compiled):
    """Outcomes for a target, by name of case."""
    return _runner(tmp_path_factory, compiled, QUICK_AND_TELLTALE, slow=False)


@pytest.fixture(scope="session")
def thoroughly(tmp_path_factory, compiled):
    return _runner(tmp_path_factory, compiled, SLOW, slow=True)


def _runner(tmp_path_factory, compiled, cases, slow):
    done = {}

    def run(target):
        need(TARGETS[target])
        if target not in done:
            done[target] = None
            kernels = compiled(target, slow)
            done[target] = outcomes(tmp_path_factory.mktemp("traces"), kernels, cases[target])
        if done[target] is None:
            pytest.fail(f"the program for {target} could not be made or run: see the first failure")
        return done[target]

    return run


def check(case, outcome):
    """Right results, so that the code was run at all, and equal traces."""
    for before, after in zip(case.trials, outcome.memories, strict=True):
        assert case.is_right(before, after)
    for i, call in enumerate(case.calls):
        assert all(len(pieces[i].splitlines()) > 100 for pieces in outcome.pieces), call.kernel
        assert outcome.difference(i) is None, call.kernel


@pytest.mark.parametrize(("target", "case"), _by_target(QUICK))
def test_traces_are_equal(quickly, target, case):
    check(case, quickly(target)[case.name])


@pytest.mark.slow
@pytest.mark.parametrize(("target", "case"), _by_target(SLOW))
def test_traces_are_equal_for_more_sizes(thoroughly, target, case):
    check(case, thoroughly(target)[case.name])


@pytest.mark.parametrize("case", TELLTALE, ids=lambda case: case.name)
def test_traces_tell_of_tables(quickly, case):
    """The key schedule of `gather` and both its cores are right, and are found out, call by call."""
    outcome = quickly("AVX2")[case.name]
    for before, after in zip(case.trials, outcome.memories, strict=True):
        assert case.is_right(before, after)
    for i, call in enumerate(case.calls):
        assert outcome.difference(i) is not None, call.kernel
