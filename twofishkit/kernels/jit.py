"""Compiles kernels: one explicit signature each, on first call, through our own cache.

A `Kernel` calls the compiled entry point directly: no dispatch on argument types (120 ns less
than Numba's dispatcher), and read-only arrays are accepted for inputs. The price: arguments must
have the declared types exactly, which slots guarantee.

Kernels are module-level functions. A kernel that closes over a dispatcher or an intrinsic would
miss the cache in every process and leave a file behind each time.
"""

import functools
import importlib

from numba import njit, types
from numba.core import codegen
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from twofishkit.forks import no_fork
from twofishkit.kernels.cache import attach


class Kernel:
    """A function compiled by Numba for one signature when it is first called.

    Attributes
    ----------
    dispatcher : the Numba dispatcher, for calls from other jitted code and for `inspect_asm`
    """

    __slots__ = ("_entry", "dispatcher", "signature")

    def __init__(self, function, signature):
        self.dispatcher = attach(njit(nogil=True, boundscheck=False, error_model="numpy")(function))
        self.signature = signature
        self._entry = None

    def compile(self):
        """Compile or load from the cache now; return the entry point.

        With NUMBA_DISABLE_JIT the Python function itself serves, where it uses no intrinsics.
        """
        if self._entry is None:
            with no_fork:
                compile_now = getattr(self.dispatcher, "compile", None)
                self._entry = compile_now(self.signature) if compile_now else self.dispatcher
        return self._entry

    def __call__(self, *args):
        return (self._entry or self.compile())(*args)

    def __reduce__(self):
        """By name, as functions are: copying and pickling what holds a kernel must not meet machine code."""
        return _kernel_named, (self.dispatcher.__module__, self.dispatcher.__name__)

    def __repr__(self):
        return f"<Kernel {self.dispatcher.__name__}{self.signature}>"


def _kernel_named(module, name):
    return getattr(importlib.import_module(module), name)


def kernel(signature):
    """Decorate a module-level function as a `Kernel`, e.g. ``@kernel("void(u4[::1], u1[::1])")``."""
    return lambda function: Kernel(function, signature)


class _HelperLibrary(codegen.JITCodeLibrary):
    """LLVM code that is linked into that of kernels and optimised there, with its constant arguments.

    What is overridden would optimise it here too, and hand it to LLVM's engine, which makes machine
    code of all that it gets.
    """

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalized = True


class _HelperCompiler(CompilerBase):
    """Numba's pipeline up to LLVM code: no wrappers to call it from Python or C, no machine code."""

    def define_pipelines(self):
        state = self.state
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        state.library = _HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


def inline(function):
    """Decorate a helper that kernels call: compiled into its callers, never on its own.

    Arguments are typed without the values of literals: one form of a helper serves ``f(x, 0)`` and
    ``f(x, 1)``, and LLVM, which sees the values when it has inlined the helper, does the rest. So what
    must be a literal to an intrinsic cannot be an argument of a helper: it is a global, or a part of a
    type (`vectors.lanes`).

    All this is most of the time to a first result: see docs/performance.md.
    """
    options = {"nogil": True, "boundscheck": False, "error_model": "numpy", "forceinline": True}
    dispatcher = njit(pipeline_class=_HelperCompiler, **options)(function)
    if hasattr(dispatcher, "add_overload"):  # with NUMBA_DISABLE_JIT it is the plain function
        dispatcher.add_overload = functools.partial(_add_overload, dispatcher)
        dispatcher.get_call_template = functools.partial(_get_call_template, dispatcher)
    return dispatcher


def _add_overload(dispatcher, result):
    """What Numba's method does, with a name of its own instead of the entry point that there is none of."""
    result = result._replace(entry_point=object())
    dispatcher.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
    dispatcher.overloads[tuple(result.signature.args)] = result


def _get_call_template(dispatcher, args, kws):
    """What Numba's method does, for arguments without the values of literals."""
    args = tuple(types.unliteral(argument) for argument in args)
    kws = {name: types.unliteral(argument) for name, argument in kws.items()}
    return type(dispatcher).get_call_template(dispatcher, args, kws)
