"""Operations that are one instruction on each architecture, under different names; see `vectors`.

They choose by the target's architecture alone. Whether the CPU has the instruction is for the
kernel's `REQUIRES` to say.
"""

from numba.extending import intrinsic

from twofishkit.simd import aarch64, x86
from twofishkit.simd.vectortypes import shuffled


def _is_aarch64(builder):
    return builder.module.triple.startswith(("aarch64", "arm64"))


def _by_blocks(builder, operate, values):
    """Apply ``operate`` to each 16-byte block of the operands and join the results."""
    lanes = 128 // values[0].type.element.width
    results = []
    for first in range(0, values[0].type.count, lanes):
        results.append(operate([shuffled(builder, x, x, range(first, first + lanes)) for x in values]))
    while len(results) > 1:
        pairs = zip(results[::2], results[1::2], strict=True)
        results = [shuffled(builder, low, high, range(2 * low.type.count)) for low, high in pairs]
    return results[0]


@intrinsic
def lookup16(typingctx, table, index):
    """Byte i is table[16 * (i // 16) + index[i]]; every index must be below 16.

    x86: pshufb of the vector's width (SSSE3, AVX2, AVX-512BW); aarch64: one tbl per 16 bytes.
    """
    vector = x86.expect(8, (16, 32, 64), table, index)

    def codegen(context, builder, sig, args):
        if _is_aarch64(builder):
            return _by_blocks(builder, lambda block: aarch64.build_tbl(builder, block), args)
        return x86.build_pshufb(builder, *args)

    return vector(table, index), codegen


@intrinsic(prefer_literal=True)
def clmul(typingctx, a, b, halves):
    """Carry-less product of two 64-bit halves in each 16-byte block: 128 bits each.

    ``halves`` is a literal: bit 0 chooses the half of a, bit 4 the half of b. x86: pclmulqdq of the
    vector's width (PCLMUL; wider: VPCLMULQDQ with AVX2 or AVX-512); aarch64: pmull or pmull2.
    """
    vector = x86.expect(64, (16, 32, 64), a, b)
    selector = x86.selector_argument(halves)

    def codegen(context, builder, sig, args):
        if _is_aarch64(builder):
            return _by_blocks(builder, lambda block: aarch64.build_pmull(builder, *block, selector), args[:2])
        return x86.build_pclmulqdq(builder, args[0], args[1], selector)

    return vector(a, b, halves), codegen
