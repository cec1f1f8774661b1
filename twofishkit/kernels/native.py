"""Block functions that kernels call by address, so that each mode is compiled once for all ciphers.

A *core* is a jitted function of six integers::

    core(schedule, src, dst, n, mask, scratch)      dst[i] = cipher(src[i]) ^ mask[i] for n >= 0 blocks

All but n are addresses; mask may be 0 for none. dst may be src, may be mask, and may be one block ahead of
either: a core works from the last block to the first, and reads a stretch before it writes it. That is what
CBC and CFB decryption in place need. scratch is SCRATCH_BYTES, aligned to 64 bytes, that the core may use and
the caller wipes. The core uses no more than `scratch_used` of it, and for one block nothing: scratch may then
be 0.

An encrypting core may also *count* (`counts`): it then takes 0 for src and encrypts counters. The first is
at scratch, and the next ones differ in their last four bytes, most significant first, modulo 2^32.

The schedule that a backend makes begins with the address of three words: the addresses of its two cores,
and whether the first counts. The mode kernels of `wide` call the cores from there with `encrypt` and
`decrypt`. The addresses may be filled in later: who only encrypts need not wait for the other core to be
compiled. An indirect call costs about 2 ns; in return one set of mode kernels serves every instruction
set, and a new one brings two functions.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

from twofishkit.forks import no_fork
from twofishkit.kernels.cache import attach
from twofishkit.kernels.jit import inline
from twofishkit.kernels.words import load_u64

_I64 = ir.IntType(64)
_CORE = ir.FunctionType(ir.VoidType(), [_I64] * 6)

#: Bytes at the start of a schedule that are no key material; the address comes first.
HEADER_BYTES = 64

#: What a core may use: 512 blocks and room for a batch that is not full; and for a few blocks.
SCRATCH_BYTES = 9 * 1024
FEW_BYTES = 256


@inline
def scratch_used(n_bytes):
    """How much of its scratch a core may have used for n bytes of blocks, in one call or several."""
    return min(n_bytes + 3072, SCRATCH_BYTES) if n_bytes > FEW_BYTES else FEW_BYTES


class Core:
    """A block function compiled on first use; see the module."""

    __slots__ = ("_address", "function", "name")

    def __init__(self, function):
        arguments = (types.intp,) * 6
        self.function = CFunc(
            function, (arguments, types.void), locals={}, options={"boundscheck": False, "nopython": True}
        )
        self.name = function.__name__
        self._address = 0

    @property
    def address(self):
        """Where the machine code starts; compiles it, or loads it from the cache, at first."""
        if not self._address:
            with no_fork:
                if not self._address:
                    self.function.py_func = self.function.__wrapped__  # the name by which `attach` knows it
                    attach(self.function).compile()
                    self._address = self.function.address
        return self._address

    def __repr__(self):
        return f"<Core {self.name}>"


def core(function):
    """Decorate a module-level function (schedule, src, dst, n, mask, scratch) as a `Core`."""
    return Core(function)


def _call(slot):
    @intrinsic
    def call(typingctx, schedule, src, dst, n, mask, scratch):
        def codegen(context, builder, sig, args):
            pair = builder.inttoptr(
                builder.load(builder.inttoptr(args[0], _I64.as_pointer())), _I64.as_pointer()
            )
            address = builder.load(builder.gep(pair, [ir.Constant(_I64, slot)]))
            builder.call(builder.inttoptr(address, _CORE.as_pointer()), args)
            return context.get_dummy_value()

        return types.void(*(types.intp,) * 6), codegen

    return call


@inline
def counts(schedule):
    """Whether the encrypting core takes 0 for src, see above."""
    return load_u64(np.intp(load_u64(schedule, 0)), 16) != np.uint64(0)


#: In jitted code: ``encrypt(schedule, src, dst, n, mask, scratch)`` calls the core that the schedule names.
encrypt = _call(0)
decrypt = _call(1)
