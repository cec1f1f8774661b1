"""What Numba compiles for, in terms of CPU features that are safe to use.

An instruction that the compile target lacks aborts the process when it is compiled, and one that the
processor lacks kills it when it runs. So a feature counts only if Numba's compile target names it
explicitly *and* the processor has it. `NUMBA_CPU_NAME=generic`, `NUMBA_CPU_FEATURES` and
`NUMBA_ENABLE_AVX=0` thereby do what they say.

Feature names are LLVM's (``avx512vbmi``, ``pclmul``, ``aes`` ...); the architecture itself is one
more: ``x86-64`` or ``aarch64``, because some names (``aes``) mean something else on each.
"""

import ctypes
import platform
import sys

import llvmlite.binding as llvm
import numba
from numba.core import codegen
from numba.core.compiler_lock import global_compiler_lock

from twofishkit.forks import wait_also_for
from twofishkit.kernels.jit import kernel

# Whoever compiles functions of his own with Numba in a thread holds this.
wait_also_for(global_compiler_lock)
# llvmlite's own lock: every call of LLVM holds it, the freeing of its objects by the garbage
# collector, in any thread at any time, among them.
if hasattr(llvm.ffi.lib, "_lock"):
    wait_also_for(llvm.ffi.lib._lock)

#: What every processor of an architecture has.
_BASELINE = {"x86-64": frozenset({"sse2"}), "aarch64": frozenset({"neon"})}
_AT_HWCAP = 16
_HWCAP_PMULL = 1 << 4


def architecture():
    """The architecture that Numba compiles for: ``x86-64``, ``aarch64`` or LLVM's name of another."""
    name = llvm.get_process_triple().split("-")[0]
    return {"x86_64": "x86-64", "amd64": "x86-64", "arm64": "aarch64", "arm64e": "aarch64"}.get(name, name)


def host_features():
    """Features of this processor, as LLVM and (for ``aes`` on Linux on aarch64) the kernel see them."""
    try:
        found = {name for name, present in llvm.get_host_cpu_features().items() if present}
    except RuntimeError:
        found = set()
    if architecture() == "aarch64" and sys.platform == "linux":
        getauxval = ctypes.CDLL(None).getauxval
        getauxval.restype, getauxval.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
        if getauxval(_AT_HWCAP) & _HWCAP_PMULL:
            found.add("aes")
    return frozenset(found)


def target_features():
    """Features that Numba was told to compile for: only what is switched on explicitly."""
    text = numba.config.CPU_FEATURES
    if text is None:
        text = codegen.get_host_cpu_features()
    switched_on = set()
    for word in text.split(","):
        if word.startswith("+"):
            switched_on.add(word[1:])
        elif word.startswith("-"):
            switched_on.discard(word[1:])
    return frozenset(switched_on)


def usable_features():
    """Features that kernels may use: explicit in the compile target and present in the processor."""
    here = architecture()
    return (target_features() & host_features()) | _BASELINE.get(here, frozenset()) | {here}


def lacking(required):
    """Which of the required features kernels may not use here, and why, as a phrase; or None."""
    missing = required - usable_features()
    if not missing:
        return None
    foreign = missing & _BASELINE.keys()
    if foreign:
        return f"it is written for {', '.join(sorted(foreign))} and this is {architecture()}"
    absent = missing - host_features()
    if absent:
        return f"this processor lacks {', '.join(sorted(absent))}"
    names = ", ".join(sorted(missing))
    return f"Numba is not compiling for {names} (NUMBA_CPU_NAME, NUMBA_CPU_FEATURES or NUMBA_ENABLE_AVX)"


def describe():
    """What `info` shows of the compiler: versions, CPU name and the usable features, sorted."""
    return {
        "numba": numba.__version__,
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
        "machine": platform.machine(),
        "cpu": numba.config.CPU_NAME or llvm.get_host_cpu_name(),
        "features": tuple(sorted(usable_features())),
    }


def obstacle():
    """Why Numba cannot serve in this process, or None: compiles (or loads) and runs one tiny function.

    The exception, if any, may be of every kind: a broken installation fails in many ways.
    """
    if numba.config.DISABLE_JIT:
        return "NUMBA_DISABLE_JIT is set"
    try:
        if successor(41) == 42:
            return None
    except Exception as error:
        return f"numba {numba.__version__} cannot compile: {type(error).__name__}: {error}"
    return f"numba {numba.__version__} compiles wrong code"


@kernel("i8(i8)")
def successor(x):
    """x + 1: the probe of `obstacle`."""
    return x + 1
