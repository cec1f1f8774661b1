"""Compiles kernels: one explicit signature each, on first call, through our own cache.

A `Kernel` calls the compiled entry point directly: no dispatch on argument types (120 ns less
than Numba's dispatcher), and read-only arrays are accepted for inputs. The price: arguments must
have the declared types exactly, which slots guarantee.

Kernels are module-level functions. A kernel that closes over a dispatcher or an intrinsic would
miss the cache in every process and leave a file behind each time.
"""

import functools
import importlib

from numba import njit

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


def inline(function):
    """Decorate a helper that kernels call: compiled into its callers, never on its own.

    Left to itself Numba would emit machine code for each helper too, and wrappers to call it from
    Python: a quarter of the time that kernels take to compile.
    """
    dispatcher = njit(nogil=True, boundscheck=False, error_model="numpy", forceinline=True)(function)
    compiler = getattr(dispatcher, "_compiler", None)  # a plain function with NUMBA_DISABLE_JIT
    if compiler is not None:
        compiler._customize_flags = _without_code
        dispatcher.add_overload = functools.partial(_add_overload, dispatcher)
    return dispatcher


def _without_code(flags):
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    return flags


def _add_overload(dispatcher, result):
    """What Numba's method does, with a name of its own instead of the entry point that there is none of."""
    result = result._replace(entry_point=object())
    dispatcher.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
    dispatcher.overloads[tuple(result.signature.args)] = result
