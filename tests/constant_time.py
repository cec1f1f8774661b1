"""Finds where a kernel's timing could depend on secrets, in its optimised LLVM code.

Everything that a kernel loads from memory counts as secret: keys, tables, messages, states. Its
arguments themselves (addresses, lengths) and what is computed from them are public. A kernel *leaks*
where a secret reaches

- an address, or the length or mask of a memory operation;
- the condition of a branch, or of a scalar select, which a compiler may turn into a branch;
- the index of a vector lane;
- a division, or a call of anything but an LLVM intrinsic.

What LLVM makes of the optimised code on the way to instructions is outside this proof: traces of the
machine code are compared elsewhere, where an emulator supports the instructions.
"""

import ctypes

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

#: Which operands of memory intrinsics must be public (by prefix of the name).
_MEMORY_INTRINSICS = {
    "llvm.memcpy": (0, 1, 2),
    "llvm.memmove": (0, 1, 2),
    "llvm.memset": (0, 2),
    "llvm.masked.load": (0, 1, 2),
    "llvm.masked.store": (1, 2, 3),
    "llvm.masked.gather": (0, 1, 2),
    "llvm.masked.scatter": (1, 2, 3),
}
_DIVISIONS = {"udiv", "sdiv", "urem", "srem", "fdiv", "frem"}


def _identity(value):
    return ctypes.cast(value._ptr, ctypes.c_void_p).value


def optimised_module(kernel):
    """The optimised LLVM module of a `Kernel`, compiled anew: cached ones cannot be inspected."""
    function = njit(nogil=True, boundscheck=False, error_model="numpy")(kernel.dispatcher.py_func)
    function.compile(kernel.signature)
    (overload,) = function.overloads.values()
    with global_compiler_lock:
        overload.library._ensure_finalized()
    return overload.library._final_module


def _instructions(module):
    """Instructions of the functions that are kernels, not Numba's wrappers for Python and for C."""
    found = []
    for function in module.functions:
        name = function.name
        if not function.is_declaration and name.startswith("_ZN") and not name.startswith("_ZN7cpython"):
            found += [i for block in function.blocks for i in block.instructions]
    return found


def _is_masked(operands):
    return bool(operands) and operands[-1].name.startswith("llvm.masked")


def _public_positions(instruction, operands):
    """Operands of one instruction that must be public; None if it may not see any secret at all."""
    opcode = instruction.opcode
    if opcode in _DIVISIONS:
        return range(len(operands))
    if opcode == "load":
        return (0,)
    if opcode == "store":
        return (1,)
    if opcode in ("br", "switch", "indirectbr"):
        return (0,)
    if opcode == "select":
        vector = str(operands[0].type).startswith("<")
        return () if vector else (0,)
    if opcode == "extractelement":
        return (1,)
    if opcode == "insertelement":
        return (2,)
    if opcode in ("call", "invoke"):
        callee = operands[-1].name
        if not callee.startswith("llvm."):
            return range(len(operands))
        return next((p for prefix, p in _MEMORY_INTRINSICS.items() if callee.startswith(prefix)), ())
    return ()


def leaks(kernel):
    """Instructions of a `Kernel` whose timing or addresses could depend on secrets, as text."""
    return leaks_of_module(optimised_module(kernel))


def leaks_of_module(module):
    """`leaks` of every function that Numba compiled into an LLVM module."""
    instructions = _instructions(module)
    assert instructions
    operands = {_identity(i): list(i.operands) for i in instructions}
    secret = {_identity(i) for i in instructions if i.opcode == "load"}
    secret |= {
        _identity(i)
        for i in instructions
        if i.opcode == "call" and "llvm.masked" in operands[_identity(i)][-1].name
    }
    assert secret
    before = -1
    while len(secret) != before:
        before = len(secret)
        for i in instructions:
            if any(_identity(o) in secret for o in operands[_identity(i)]):
                secret.add(_identity(i))
    found = []
    for i in instructions:
        mine = operands[_identity(i)]
        if any(_identity(mine[p]) in secret for p in _public_positions(i, mine) if p < len(mine)):
            found.append(str(i).strip())
    return found
