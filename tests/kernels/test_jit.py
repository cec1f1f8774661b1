"""Helpers of kernels: what Numba and LLVM make of them, and what not."""

import pytest
from numba import types
from numba.core.registry import cpu_target

from twofishkit.kernels.jit import inline, kernel


@inline
def _scaled(x, factor, upward):
    if upward:
        return x * factor
    return x - factor


@kernel("i8(i8)")
def _by_literals(x):
    return _scaled(_scaled(_scaled(x, 3, True), 4, True), 5, upward=False)


@pytest.fixture(scope="module")
def compiled():
    """The library of a kernel, and the only form of the helper that it calls with different literals."""
    # Compiled afresh: from the cache there would be no form of the helper at all.
    _by_literals.dispatcher._cache.disable()
    assert _by_literals(7) == 7 * 3 * 4 - 5
    (result,) = _by_literals.dispatcher.overloads.values()
    return result.library, _scaled.overloads


def test_one_form_for_all_literals(compiled):
    assert list(compiled[1]) == [(types.int64, types.int64, types.boolean)]


def test_helpers_are_inlined_and_have_no_machine_code(compiled):
    library, (helper,) = compiled[0], compiled[1].values()
    name = helper.fndesc.llvm_func_name
    assert name not in {function.name for function in library.get_defined_functions()}
    assert not cpu_target.target_context.codegen()._engine.is_symbol_defined(name)
