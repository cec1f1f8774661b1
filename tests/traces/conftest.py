"""Kernels compiled for targets of which this machine may not run any: once, for traces and assembly alike."""

import sys

import pytest

from tests.traces import cases, kernels
from tests.traces.compile import TARGETS, compile_for
from tests.traces.tracing import kernels_of
from twofishkit.kernels.target import architecture


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """A function: the quick, or the slow, kernels of a target, `Compiled` by name."""
    traced = {False: cases.QUICK_AND_TELLTALE, True: cases.SLOW}
    listed = {False: kernels.QUICK, True: kernels.SLOW}
    done = {}

    def compile_all(target, slow=False):
        if sys.platform != "linux" or architecture() != "x86-64":
            pytest.skip("assembly and objects are read as Linux on x86-64 has them")
        if (target, slow) not in done:
            done[target, slow] = None
            names = [*kernels_of(traced[slow].get(target, ())), *listed[slow].get(target, ())]
            folder = tmp_path_factory.mktemp("kernels")
            done[target, slow] = compile_for(TARGETS[target], folder, list(dict.fromkeys(names)))
        if done[target, slow] is None:
            pytest.fail(f"kernels could not be compiled for {target}: see the first failure")
        return done[target, slow]

    return compile_all
