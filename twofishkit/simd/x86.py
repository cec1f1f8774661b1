"""One function per x86-64 instruction that LLVM does not form by itself.

Vectors are those of `vectors`. Each function names the CPU feature (LLVM's spelling) that must be
among the features Numba compiles for: without it LLVM aborts the process when the kernel is
compiled. `backend.py` decides before that, from the `REQUIRES` of the kernel's module.

===================  ======================  ==================================================
function             features                meaning
===================  ======================  ==================================================
pshufb(t, i)         ssse3, avx2, avx512bw   per 16-byte block: t[i & 15], or 0 where bit 7 of i
vpermb(t, i)         avx512vbmi (+ avx512vl) u8x32, u8x64: t[i & (n - 1)]
vpermi2b(t, i, u)    avx512vbmi              u8x64: (t ++ u)[i & 127]
gf2p8affineqb(x, m)  gfni (+ avx, avx512f)   bytes of x times the 8x8 bit matrix in each u64 of m
pclmulqdq(a, b, k)   pclmul, vpclmulqdq      carry-less a[k & 1] * b[k >> 4] in each 16-byte block
===================  ======================  ==================================================

A blend on bit 7 (vpmovb2m, vpblendmb) needs no function: ``select(negative(x), a, b)``.
"""

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from twofishkit.simd.vectortypes import Vector, call_llvm

_PSHUFB = {16: "llvm.x86.ssse3.pshuf.b.128", 32: "llvm.x86.avx2.pshuf.b", 64: "llvm.x86.avx512.pshuf.b.512"}
_PCLMUL = {2: "llvm.x86.pclmulqdq", 4: "llvm.x86.pclmulqdq.256", 8: "llvm.x86.pclmulqdq.512"}


def expect(bits, sizes, *arguments):
    """Check that all arguments are one vector type with lanes of ``bits`` and a size in bytes listed."""
    first = arguments[0]
    if (
        isinstance(first, Vector)
        and first.bits == bits
        and first.n_bytes in sizes
        and len(set(arguments)) == 1
    ):
        return first
    raise TypingError(f"equal vectors of {bits}-bit lanes and {sizes} bytes are needed, not {arguments}")


def selector_argument(halves):
    """The halves that a carry-less product takes, from a literal argument."""
    if isinstance(halves, types.IntegerLiteral) and halves.literal_value in (0x00, 0x01, 0x10, 0x11):
        return halves.literal_value
    raise TypingError("the halves must be one of the literals 0x00, 0x01, 0x10, 0x11")


def build_pshufb(builder, table, index):
    return call_llvm(builder, _PSHUFB[table.type.count], table.type, table, index)


def build_pclmulqdq(builder, a, b, selector):
    return call_llvm(builder, _PCLMUL[a.type.count], a.type, a, b, ir.Constant(ir.IntType(8), selector))


@intrinsic
def pshufb(typingctx, table, index):
    """Bytes of each 16-byte block of ``table`` chosen by the low four bits of ``index``, or 0 by bit 7."""
    vector = expect(8, (16, 32, 64), table, index)

    return vector(table, index), lambda context, builder, sig, args: build_pshufb(builder, *args)


@intrinsic
def vpermb(typingctx, table, index):
    """Byte i is table[index[i] mod n], for u8x32 and u8x64 of n lanes."""
    vector = expect(8, (32, 64), table, index)

    def codegen(context, builder, sig, args):
        return call_llvm(builder, f"llvm.x86.avx512.permvar.qi.{8 * vector.n_bytes}", vector.ir, *args)

    return vector(table, index), codegen


@intrinsic
def vpermi2b(typingctx, low, index, high):
    """u8x64: byte i is (low ++ high)[index[i] mod 128]."""
    vector = expect(8, (64,), low, index, high)

    def codegen(context, builder, sig, args):
        return call_llvm(builder, "llvm.x86.avx512.vpermi2var.qi.512", vector.ir, *args)

    return vector(low, index, high), codegen


@intrinsic
def gf2p8affineqb(typingctx, value, matrix):
    """Each byte of ``value`` times the bit matrix in the 64-bit lane of ``matrix`` around it.

    Both are byte vectors. Row i, which gives bit i of the result, is byte 7 - i of the 64-bit lane.
    """
    vector = expect(8, (16, 32, 64), value, matrix)

    def codegen(context, builder, sig, args):
        name = f"llvm.x86.vgf2p8affineqb.{8 * vector.n_bytes}"
        return call_llvm(builder, name, vector.ir, *args, ir.Constant(ir.IntType(8), 0))

    return vector(value, matrix), codegen


@intrinsic(prefer_literal=True)
def pclmulqdq(typingctx, a, b, halves):
    """Carry-less product of two 64-bit halves in each 16-byte block: 128 bits each.

    ``halves`` is a literal: bit 0 chooses the half of a, bit 4 the half of b (0x00, 0x01, 0x10, 0x11).
    """
    vector = expect(64, (16, 32, 64), a, b)
    selector = selector_argument(halves)

    def codegen(context, builder, sig, args):
        return build_pclmulqdq(builder, args[0], args[1], selector)

    return vector(a, b, halves), codegen
