"""Loads, stores and stack memory; see `vectors`."""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from twofishkit.simd.vectortypes import (
    I8,
    I32,
    I64,
    call_llvm,
    check_memory,
    pointer_to,
    token_argument,
    vector_argument,
)


@intrinsic
def load(typingctx, vector, source, offset):
    """Load a vector from ``source`` + ``offset`` bytes, at any alignment."""
    result = token_argument(vector)
    check_memory(source)

    def codegen(context, builder, sig, args):
        pointer = pointer_to(context, builder, args[1], source, args[2], offset, result.ir)
        return builder.load(pointer, align=1)

    return result(vector, source, offset), codegen


@intrinsic
def store(typingctx, target, offset, value):
    """Store a vector at ``target`` + ``offset`` bytes, at any alignment."""
    vector = vector_argument(value)
    check_memory(target)

    def codegen(context, builder, sig, args):
        pointer = pointer_to(context, builder, args[0], target, args[1], offset, vector.ir)
        builder.store(args[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(target, offset, value), codegen


def _copy(builder, target, source, n):
    """memcpy of ``n`` bytes between two i8 pointers."""
    name = "llvm.memcpy.p0i8.p0i8.i64"
    call_llvm(builder, name, ir.VoidType(), target, source, n, ir.Constant(ir.IntType(1), 0))


@intrinsic
def load_first(typingctx, vector, source, offset, n):
    """Load the first ``n`` bytes of a vector and zeros after; no byte beyond them is read.

    Goes through the stack (about 20 cycles), so that every target has it. Timing: depends on ``n``.
    """
    result = token_argument(vector)
    check_memory(source)

    def codegen(context, builder, sig, args):
        pointer = pointer_to(context, builder, args[1], source, args[2], offset, I8)
        buffer = cgutils.alloca_once(builder, result.ir)
        builder.store(ir.Constant(result.ir, None), buffer)
        _copy(
            builder,
            builder.bitcast(buffer, I8.as_pointer()),
            pointer,
            context.cast(builder, args[3], n, types.intp),
        )
        return builder.load(buffer)

    return result(vector, source, offset, n), codegen


@intrinsic
def store_first(typingctx, target, offset, value, n):
    """Store the first ``n`` bytes of a vector; no byte beyond them is touched. See `load_first`."""
    vector = vector_argument(value)
    check_memory(target)

    def codegen(context, builder, sig, args):
        pointer = pointer_to(context, builder, args[0], target, args[1], offset, I8)
        buffer = cgutils.alloca_once(builder, vector.ir)
        builder.store(args[2], buffer)
        _copy(
            builder,
            pointer,
            builder.bitcast(buffer, I8.as_pointer()),
            context.cast(builder, args[3], n, types.intp),
        )
        return context.get_dummy_value()

    return types.void(target, offset, value, n), codegen


@intrinsic
def load_masked(typingctx, vector, source, offset, mask):
    """Load the lanes whose mask is set and zeros elsewhere; other lanes' memory is not touched.

    One instruction with AVX-512 (bytes: BW); elsewhere LLVM branches lane by lane: use `load_first`.
    """
    result = token_argument(vector)
    check_memory(source)
    if mask != result.mask:
        raise TypingError(f"{result} is masked by {result.mask}, not {mask}")

    def codegen(context, builder, sig, args):
        pointer = pointer_to(context, builder, args[1], source, args[2], offset, result.ir)
        name = f"llvm.masked.load.v{result.lanes}i{result.bits}.p0"
        return call_llvm(
            builder, name, result.ir, pointer, ir.Constant(I32, 1), args[3], ir.Constant(result.ir, None)
        )

    return result(vector, source, offset, mask), codegen


@intrinsic
def store_masked(typingctx, target, offset, value, mask):
    """Store the lanes whose mask is set; other lanes' memory is not touched. See `load_masked`."""
    vector = vector_argument(value)
    check_memory(target)
    if mask != vector.mask:
        raise TypingError(f"{vector} is masked by {vector.mask}, not {mask}")

    def codegen(context, builder, sig, args):
        pointer = pointer_to(context, builder, args[0], target, args[1], offset, vector.ir)
        name = f"llvm.masked.store.v{vector.lanes}i{vector.bits}.p0"
        call_llvm(builder, name, ir.VoidType(), args[2], pointer, ir.Constant(I32, 1), args[3])
        return context.get_dummy_value()

    return types.void(target, offset, value, mask), codegen


@intrinsic
def address(typingctx, array):
    """The address of an array's first byte."""
    check_memory(array)

    def codegen(context, builder, sig, args):
        pointer = pointer_to(context, builder, args[0], array, ir.Constant(I64, 0), types.intp, I8)
        return builder.ptrtoint(pointer, context.get_value_type(types.intp))

    return types.intp(array), codegen


@intrinsic(prefer_literal=True)
def stack(typingctx, n_bytes):
    """The address of ``n_bytes`` of uninitialised stack, 64-byte aligned, for the caller's lifetime."""
    if not isinstance(n_bytes, types.IntegerLiteral):
        raise TypingError("the size of stack memory must be a constant")

    def codegen(context, builder, sig, args):
        with builder.goto_entry_block():
            memory = builder.alloca(ir.ArrayType(I8, n_bytes.literal_value))
            memory.align = 64
        return builder.ptrtoint(memory, context.get_value_type(types.intp))

    return types.intp(n_bytes), codegen


@intrinsic
def wipe(typingctx, target, n_bytes):
    """Overwrite ``n_bytes`` at an address or array with zeros; never optimised away."""
    check_memory(target)

    def codegen(context, builder, sig, args):
        pointer = pointer_to(context, builder, args[0], target, ir.Constant(I64, 0), types.intp, I8)
        n = context.cast(builder, args[1], n_bytes, types.intp)
        volatile = ir.Constant(ir.IntType(1), 1)
        call_llvm(builder, "llvm.memset.p0i8.i64", ir.VoidType(), pointer, ir.Constant(I8, 0), n, volatile)
        return context.get_dummy_value()

    return types.void(target, n_bytes), codegen
