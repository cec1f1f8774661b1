"""Compile kernels to object files for the target that the environment names.

    python -m tests.traces.compile FOLDER MODULE:NAME ...

Each name is a `Core` or a `Kernel`. Writes FOLDER/0.o, FOLDER/1.o, ... with the machine code that Numba
would run, and prints the symbol to call in each, a line each. A process of its own, because Numba's target
is fixed by the environment when it is imported.
"""

import importlib
import sys
from pathlib import Path

from twofishkit.kernels.jit import Kernel


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
        print(symbol)


if __name__ == "__main__":
    main(*sys.argv[1:])
