"""Operations that are one instruction on each architecture, under different names; see `vectors`.

They choose by the target's architecture alone. Whether the CPU has the instruction is for the
kernel's `REQUIRES` to say.
"""

import functools

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from twofishkit.simd import aarch64, x86
from twofishkit.simd.vectortypes import (
    I8,
    I64,
    Vector,
    call_llvm,
    check_memory,
    constant_vector,
    pointer_to,
    shuffled,
)

#: From one row of a 256-byte table to the next: four tables lie side by side.
ROW_BYTES = 64


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
    """Byte i is table[16 * (i // 16) + index[i]], or 0 where index[i] >= 128; no index may lie between.

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


# Tables of 256 bytes --------------------------------------------------------------------------
#
# A table is 16 rows of 16 bytes, of which a byte shuffle looks up one. On x86 its index is wanted with
# bit 7 clear only where the row is the right one, since a set bit makes the result zero. Of four rows h,
# h + 4, h + 8, h + 12, which differ in bits 7 and 6 of the index, those come from one saturating addition
# to x and to x ^ 0x80:
#
#     x + 0x40    clear below 0x40       x           clear below 0x80 (and wanted from 0x40 on)
#
# so that below 0x40 two rows answer: the first holds its difference from the second (`prepare_lookup256`).
# Bits 5 and 4 choose between groups of four by blends: for each vector 16 shuffles, 13 XORs, 2 additions,
# 3 blends and the 3 to 5 operations of their masks.
# AArch64 looks up four rows at once, with 0 for indices beyond them.


def _row_loader(builder, pointer, vector, each):
    """Loads row h for all 16-byte blocks of a vector alike, or (each) of one table for each block."""

    def load(h):
        row = vector if each else Vector(8, 16)
        at = builder.bitcast(builder.gep(pointer, [ir.Constant(I64, ROW_BYTES * h)]), row.ir.as_pointer())
        value = builder.load(at, align=1)
        return (
            value if row == vector else shuffled(builder, value, value, [i % 16 for i in range(vector.lanes)])
        )

    return load


def _lookup256_x86(builder, vector, row, x):
    def all_lanes(value):
        return constant_vector(vector, [value] * vector.lanes)

    def plus_0x40(index):
        return call_llvm(builder, f"llvm.uadd.sat.v{vector.lanes}i8", vector.ir, index, all_lanes(0x40))

    def bit(value):
        return builder.icmp_unsigned("!=", builder.and_(x, all_lanes(value)), all_lanes(0))

    flipped = builder.xor(x, all_lanes(0x80))
    indices = plus_0x40(x), x, plus_0x40(flipped), flipped

    def four_rows(h):
        found = [x86.build_pshufb(builder, row(h + 4 * k), indices[k]) for k in range(4)]
        return functools.reduce(builder.xor, found)

    bit5, bit4 = bit(0x20), bit(0x10)
    even = builder.select(bit5, four_rows(2), four_rows(0))
    odd = builder.select(bit5, four_rows(3), four_rows(1))
    return builder.select(bit4, odd, even)


def _lookup256_aarch64(builder, vector, row, x):
    rows = [row(h) for h in range(16)]

    def one_block(operands):
        x, *rows = operands
        found = []
        for h in range(0, 16, 4):
            below = constant_vector(Vector(8, 16), [16 * h] * 16)
            found.append(aarch64.build_tbl(builder, [*rows[h : h + 4], builder.sub(x, below)]))
        return functools.reduce(builder.or_, found)

    return _by_blocks(builder, one_block, [x, *rows])


def _make_lookup256(name, each, doc):
    def lookup(typingctx, source, offset, index):
        vector = x86.expect(8, (16, 32, 64), index)
        check_memory(source)

        def codegen(context, builder, sig, args):
            pointer = pointer_to(context, builder, args[0], source, args[1], offset, I8)
            row = _row_loader(builder, pointer, vector, each)
            # No instruction, but rows are loaded after it: a loop around would have LLVM load them before
            # the loop, find itself without registers for them, and spill.
            if each:
                builder.fence("acquire", "singlethread")
            look_up = _lookup256_aarch64 if _is_aarch64(builder) else _lookup256_x86
            return look_up(builder, vector, row, args[2])

        return vector(source, offset, index), codegen

    lookup.__name__ = lookup.__qualname__ = name
    lookup.__doc__ = doc
    return intrinsic(lookup)


lookup256 = _make_lookup256(
    "lookup256", False, "Byte i is table[index[i]]; the table's row h is at source + offset + 64 h."
)
lookup256_each = _make_lookup256(
    "lookup256_each", True, "As `lookup256`, with a table for each 16-byte block, 16 bytes after one another."
)


@intrinsic
def prepare_lookup256(typingctx, source, offset):
    """Turn four tables (row h of each side by side in 64 bytes) into what `lookup256` reads, in place.

    ``source`` is an address. x86: rows 0-3 and 8-11 become differences; aarch64: nothing to do.
    """
    check_memory(source)

    def codegen(context, builder, sig, args):
        if not _is_aarch64(builder):
            pointer = pointer_to(context, builder, args[0], source, args[1], offset, I8)
            wide = Vector(8, ROW_BYTES)
            for h in (0, 1, 2, 3, 8, 9, 10, 11):
                first, second = (
                    builder.bitcast(
                        builder.gep(pointer, [ir.Constant(I64, ROW_BYTES * i)]), wide.ir.as_pointer()
                    )
                    for i in (h, h + 4)
                )
                difference = builder.xor(builder.load(first, align=1), builder.load(second, align=1))
                builder.store(difference, first, align=1)
        return context.get_dummy_value()

    return types.void(source, offset), codegen
