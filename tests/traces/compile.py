"""Compile kernels to object files for the target that the environment names.

    python -m tests.traces.compile FOLDER MODULE:NAME ...

Each name is a `Core` or a `Kernel`. Writes FOLDER/0.o, FOLDER/1.o, ... with the machine code that Numba
would run, the same as assembly in FOLDER/0.s, ..., and prints the symbol to call in each, a line each.
A process of its own, because Numba's target is fixed by the environment when it is imported.
"""

import importlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from twofishkit.kernels.jit import Kernel

ROOT = Path(__file__).parents[2]

#: What Numba is told.
AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+ssse3,+sse4.2,+avx,+avx2,+bmi2,+pclmul"}
SSSE3 = {"NUMBA_CPU_NAME": "core2", "NUMBA_CPU_FEATURES": "+sse2,+ssse3"}
WESTMERE = {"NUMBA_CPU_NAME": "westmere", "NUMBA_CPU_FEATURES": "+sse2,+ssse3,+sse4.2,+pclmul"}
AVX512 = {
    "NUMBA_CPU_NAME": "icelake-server",
    "NUMBA_CPU_FEATURES": "+ssse3,+avx2,+pclmul,+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512vbmi,"
    "+gfni,+vpclmulqdq",
}
TARGETS = {"AVX2": AVX2, "SSSE3": SSSE3, "Westmere": WESTMERE, "AVX-512": AVX512}


@dataclass(frozen=True)
class Compiled:
    """Machine code of one kernel: an object file, the symbol to call in it, and its assembly."""

    path: Path
    symbol: str

    @property
    def listing(self):
        return self.path.with_suffix(".s").read_text()


def compile_for(target, folder, names):
    """Compile kernels (``module:name``) in a process of their own; `Compiled` by name."""
    command = [sys.executable, "-m", "tests.traces.compile", folder, *names]
    environment = os.environ | target | {"TWOFISHKIT_CACHE_DIR": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    paths = [folder / f"{i}.o" for i in range(len(names))]
    pairs = zip(paths, done.stdout.split(), strict=True)
    return {name: Compiled(*pair) for name, pair in zip(names, pairs, strict=True)}


def machine_code(compiled):
    """(library, symbol) of a `Core` or `Kernel`, compiled in this process."""
    if isinstance(compiled, Kernel):
        compiled.compile()
        (overload,) = compiled.dispatcher.overloads.values()
        return overload.library, overload.fndesc.llvm_func_name
    assert compiled.address
    return compiled.function._library, compiled.function.native_name


def main(folder, *names):
    for i, name in enumerate(names):
        module, attribute = name.split(":")
        library, symbol = machine_code(getattr(importlib.import_module(module), attribute))
        Path(folder, f"{i}.o").write_bytes(library._get_compiled_object())
        Path(folder, f"{i}.s").write_text(library.get_asm_str())
        print(symbol)


if __name__ == "__main__":
    main(*sys.argv[1:])
