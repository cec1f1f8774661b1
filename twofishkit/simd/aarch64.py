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
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from twofishkit.simd.vectors import call_llvm, u8x16, u64x2


def _expect(vector, *arguments):
    if set(arguments) != {vector}:
        raise TypingError(f"{vector} is needed here, not {arguments}")


def _table_lookup(builder, args):
    return call_llvm(builder, f"llvm.aarch64.neon.tbl{len(args) - 1}.v16i8", u8x16.ir, *args)


@intrinsic
def tbl1(typingctx, t0, index):
    """Byte i is t0[index[i]], or 0 where the index exceeds 15."""
    _expect(u8x16, t0, index)
    return u8x16(t0, index), lambda context, builder, sig, args: _table_lookup(builder, args)


@intrinsic
def tbl2(typingctx, t0, t1, index):
    """Byte i is (t0 ++ t1)[index[i]], or 0 where the index exceeds 31."""
    _expect(u8x16, t0, t1, index)
    return u8x16(t0, t1, index), lambda context, builder, sig, args: _table_lookup(builder, args)


@intrinsic
def tbl3(typingctx, t0, t1, t2, index):
    """Byte i is (t0 ++ t1 ++ t2)[index[i]], or 0 where the index exceeds 47."""
    _expect(u8x16, t0, t1, t2, index)
    return u8x16(t0, t1, t2, index), lambda context, builder, sig, args: _table_lookup(builder, args)


@intrinsic
def tbl4(typingctx, t0, t1, t2, t3, index):
    """Byte i is (t0 ++ t1 ++ t2 ++ t3)[index[i]], or 0 where the index exceeds 63."""
    _expect(u8x16, t0, t1, t2, t3, index)
    return u8x16(t0, t1, t2, t3, index), lambda context, builder, sig, args: _table_lookup(builder, args)


@intrinsic(prefer_literal=True)
def pmull(typingctx, a, b, halves):
    """Carry-less product of two 64-bit lanes of u64x2 vectors: 128 bits.

    ``halves`` is a literal: bit 0 chooses the lane of a, bit 4 the lane of b, as `x86.pclmulqdq`.
    """
    _expect(u64x2, a, b)
    if not isinstance(halves, types.IntegerLiteral) or halves.literal_value not in (0, 1, 16, 17):
        raise TypingError("the halves must be one of the literals 0x00, 0x01, 0x10, 0x11")
    lanes = (halves.literal_value & 1, halves.literal_value >> 4)

    def codegen(context, builder, sig, args):
        index = ir.IntType(32)
        factors = [
            builder.extract_element(value, ir.Constant(index, lane))
            for value, lane in zip(args, lanes, strict=False)
        ]
        product = call_llvm(builder, "llvm.aarch64.neon.pmull64", u8x16.ir, *factors)
        return builder.bitcast(product, u64x2.ir)

    return u64x2(a, b, halves), codegen
