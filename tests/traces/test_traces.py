"""Machine code of the table-free kernels leaves the same traces for all keys and data; `gather`'s does not."""

import pytest

from tests.traces.cases import (
    GATHER,
    SHUFFLE128,
    SHUFFLE256,
    CbcCase,
    CipherCase,
    GcmCase,
    GhashCase,
)
from tests.traces.tracing import AVX2, SSSE3, WESTMERE, need, outcomes

TARGETS = {"AVX2": AVX2, "SSSE3": SSSE3, "Westmere": WESTMERE}


def _ciphers(cipher, *shapes):
    return [CipherCase.of(cipher, *shape) for shape in shapes]


def _ghash(module, *lengths):
    return [GhashCase.of(module, n) for n in lengths]


#: One block alone (the serial modes); a few, whole batches, and a batch that is not full.
QUICK_SHAPES = (16, 1), (24, 1), (32, 1), (32, 27, True), (16, 40), (32, 40)
SLOW_SHAPES = [(24, n, bool(n & 1)) for n in (2, 3, 7, 8, 9, 13, 16, 17, 31, 32, 33, 64, 65, 129, 300)]

QUICK = {
    "AVX2": [
        *_ciphers(SHUFFLE256, *QUICK_SHAPES),
        *_ghash("ghash", 1, 5, 40),
        *_ghash("ghash_pclmul", 1, 5, 40),
        CbcCase.of(SHUFFLE256, 5),
    ],
    "SSSE3": _ciphers(SHUFFLE128, *QUICK_SHAPES),
}
SLOW = {
    "AVX2": [
        *_ciphers(SHUFFLE256, *SLOW_SHAPES),
        *_ghash("ghash", *range(2, 18), 100),
        *_ghash("ghash_pclmul", *range(2, 18), 100),
        GcmCase.of(SHUFFLE256, "gcm_pclmul", "ghash_pclmul", 1000),
        GcmCase.of(SHUFFLE256, "gcm_portable", "ghash", 1000),
    ],
    "SSSE3": [
        *_ciphers(SHUFFLE128, *SLOW_SHAPES),
        *_ghash("ghash", 1, 5, 40),
        CbcCase.of(SHUFFLE128, 5),
    ],
    "Westmere": _ghash("ghash_pclmul", 1, 5, 40),
}
#: What must be found to differ. Traced together with the others, by the same program.
TELLTALE = _ciphers(GATHER, (16, 1), (32, 1), (32, 40))


def _by_target(cases):
    return [
        pytest.param(target, case, id=f"{target}: {case.name}") for target in cases for case in cases[target]
    ]


@pytest.fixture(scope="session")
def quickly(tmp_path_factory):
    """Outcomes for a target, by name of case."""
    return _runner(tmp_path_factory, {**QUICK, "AVX2": QUICK["AVX2"] + TELLTALE})


@pytest.fixture(scope="session")
def thoroughly(tmp_path_factory):
    return _runner(tmp_path_factory, SLOW)


def _runner(tmp_path_factory, cases):
    done = {}

    def run(target):
        need(TARGETS[target])
        if target not in done:
            done[target] = None
            done[target] = outcomes(tmp_path_factory.mktemp(target), TARGETS[target], cases[target])
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
