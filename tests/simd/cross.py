"""Compile kernels for another architecture, without running them.

    python -m tests.simd.cross TRIPLE CPU FEATURES OUTPUT MODULE:KERNEL ...

Writes the kernels' assembly (OUTPUT ends in .s) or object code (.o) of the whole module; one OUTPUT,
several kernels only for .s. Run it as a process of its own: it bends Numba's code generator to the
other target, so that nothing compiled afterwards can run.
"""

import importlib
import sys
from pathlib import Path

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import codegen, cpu
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target


def retarget(triple, cpu_name, features):
    """Make Numba's code generator emit code for another target; return its target machine."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    generator = cpu_target.target_context.codegen()
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu_name, features=features, opt=3, reloc="pic"
    )

    def create_empty_module(name):
        module = ir.Module(name)
        module.triple = triple
        module.data_layout = str(machine.target_data)
        return module

    generator._tm = machine
    generator._data_layout = str(machine.target_data)
    generator._create_empty_module = create_empty_module
    generator._add_module = lambda module: None
    codegen.JITCodeLibrary._finalize_specific = lambda self: None
    # Nothing can be called: a built-in function, another each time, stands for the compiled one.
    cpu.CPUContext.get_executable = lambda self, library, fndesc, env: [].append
    return machine


def compiled_module(name):
    """The optimised LLVM module of a `Kernel` given as ``module:kernel``."""
    module, attribute = name.split(":")
    kernel = getattr(importlib.import_module(module), attribute)
    kernel.compile()
    (overload,) = kernel.dispatcher.overloads.values()
    with global_compiler_lock:
        overload.library._ensure_finalized()
    return overload.library._final_module


def main(triple, cpu_name, features, output, *names):
    machine = retarget(triple, cpu_name, features)
    modules = [compiled_module(name) for name in names]
    path = Path(output)
    if path.suffix == ".o":
        (module,) = modules
        path.write_bytes(machine.emit_object(module))
    else:
        path.write_text("\n".join(machine.emit_assembly(module) for module in modules))


if __name__ == "__main__":
    main(*sys.argv[1:])
