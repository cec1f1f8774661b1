"""One function per AArch64 instruction that LLVM does not form by itself.

Vectors are those of `vectors`, 16 bytes wide. ``tbl`` needs NEON, which every AArch64 has; ``pmull``
on 64-bit lanes needs the feature ``aes`` (ARMv8 Cryptographic Extension, HWCAP bit 4).

====================  ========  ===========================================================
function              features  meaning
====================  ========  ===========================================================
tbl1(t, i)            neon      t[i], or 0 where i > 15
tbl2(t0, t1, i)       neon      (t0 ++ t1)[i], or 0 where i > 31; tbl3 and tbl4 alike
pmull(a, b, k)        aes       carry-less a[k & 1] * b[k >> 4], 128 bits; pmull2 for 0x11
====================  ========  ===========================================================
"""

from llvmlite import ir
from numba.core.errors import TypingError
from numba.extending import intrinsic

from twofishkit.simd.vectortypes import call_llvm, u8x16, u64x2
from twofishkit.simd.x86 import selector_argument


def _expect(vector, *arguments):
    if set(arguments) != {vector}:
        raise TypingError(f"{vector} is needed here, not {arguments}")


def build_tbl(builder, args):
    """tbl with the tables and then the index in ``args``."""
    return call_llvm(builder, f"llvm.aarch64.neon.tbl{len(args) - 1}.v16i8", u8x16.ir, *args)


def build_pmull(builder, a, b, selector):
    """pmull of the lanes of a and b that bits 0 and 4 of ``selector`` choose."""
    index = ir.IntType(32)
    x = builder.extract_element(a, ir.Constant(index, selector & 1))
    y = builder.extract_element(b, ir.Constant(index, selector >> 4))
    return builder.bitcast(call_llvm(builder, "llvm.aarch64.neon.pmull64", u8x16.ir, x, y), u64x2.ir)


@intrinsic
def tbl1(typingctx, t0, index):
    """Byte i is t0[index[i]], or 0 where the index exceeds 15."""
    _expect(u8x16, t0, index)
    return u8x16(t0, index), lambda context, builder, sig, args: build_tbl(builder, args)


@intrinsic
def tbl2(typingctx, t0, t1, index):
    """Byte i is (t0 ++ t1)[index[i]], or 0 where the index exceeds 31."""
    _expect(u8x16, t0, t1, index)
    return u8x16(t0, t1, index), lambda context, builder, sig, args: build_tbl(builder, args)


@intrinsic
def tbl3(typingctx, t0, t1, t2, index):
    """Byte i is (t0 ++ t1 ++ t2)[index[i]], or 0 where the index exceeds 47."""
    _expect(u8x16, t0, t1, t2, index)
    return u8x16(t0, t1, t2, index), lambda context, builder, sig, args: build_tbl(builder, args)


@intrinsic
def tbl4(typingctx, t0, t1, t2, t3, index):
    """Byte i is (t0 ++ t1 ++ t2 ++ t3)[index[i]], or 0 where the index exceeds 63."""
    _expect(u8x16, t0, t1, t2, t3, index)
    return u8x16(t0, t1, t2, t3, index), lambda context, builder, sig, args: build_tbl(builder, args)


@intrinsic(prefer_literal=True)
def pmull(typingctx, a, b, halves):
    """Carry-less product of two 64-bit lanes of u64x2 vectors: 128 bits.

    ``halves`` is a literal: bit 0 chooses the lane of a, bit 4 the lane of b, as `x86.pclmulqdq`.
    """
    _expect(u64x2, a, b)
    selector = selector_argument(halves)
    return u64x2(a, b, halves), lambda context, builder, sig, args: build_pmull(
        builder, args[0], args[1], selector
    )
