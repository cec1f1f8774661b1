"""Words in memory: loads and stores at any byte offset, rotations, scratch on the stack.

Kernels see data as bytes and compute in 32- and 64-bit words. The functions here read and write
such words anywhere in a C-contiguous array of any dtype and any number of dimensions, or after an
address (intp); offsets count bytes from there. They are plain LLVM operations, so that they compile for
every target, and an offset need not be a multiple of anything.

Traps
-----
- Nothing checks an offset against the array's size.
- Words are in the byte order of the machine. Twofish, XTS and OCB want the least significant
  byte first; every target of Numba stores words like that, and importing this file on another
  is refused. Big-endian fields (counters) go through `swap_bytes`.
- ``uint32 op uint32`` is uint64 in Numba and ``uint64 op int`` may be float64: hence `rotl`, and
  ``np.uint32(...)`` or ``np.uint64(...)`` around every sum and shift in the kernels.
"""

import sys

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import RequireLiteralValue
from numba.extending import intrinsic

from twofishkit.kernels.jit import inline

if sys.byteorder != "little":
    raise ImportError("twofishkit's kernels need a machine that stores the least significant byte first")

_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_BLOCK = ir.VectorType(_I32, 4)
_WIDE = ir.VectorType(_I64, 8)


def _address(context, builder, array_type, array, offset, pointee):
    """Pointer to ``pointee`` at ``offset`` bytes after the array's first element, or after an address."""
    if isinstance(array_type, types.Integer):
        data = builder.inttoptr(array, _I8.as_pointer())
    else:
        data = builder.bitcast(context.make_array(array_type)(context, builder, array).data, _I8.as_pointer())
    return builder.bitcast(builder.gep(data, [offset]), pointee.as_pointer())


def _is_contiguous(array_type):
    """Whether a type is memory that the functions here can read: a C-contiguous array, or an address."""
    if isinstance(array_type, types.Integer):
        return array_type == types.intp
    return isinstance(array_type, types.Buffer) and array_type.layout == "C"


def _load(numba_type, llvm_type):
    def typer(typingctx, array, offset):
        if not _is_contiguous(array):
            return None

        def codegen(context, builder, signature, args):
            address = _address(context, builder, signature.args[0], *args, llvm_type)
            return builder.load(address, align=1)

        return numba_type(array, types.intp), codegen

    return typer


def _store(numba_type, llvm_type):
    def typer(typingctx, array, offset, value):
        if not _is_contiguous(array):
            return None

        def codegen(context, builder, signature, args):
            address = _address(context, builder, signature.args[0], args[0], args[1], llvm_type)
            builder.store(args[2], address, align=1)
            return context.get_dummy_value()

        return types.void(array, types.intp, numba_type), codegen

    return typer


#: load_u8(array, offset) -> uint8, and so on for wider words.
load_u8 = intrinsic(_load(types.uint8, _I8))
load_u32 = intrinsic(_load(types.uint32, _I32))
load_u64 = intrinsic(_load(types.uint64, _I64))
#: store_u8(array, offset, value), and so on for wider words.
store_u8 = intrinsic(_store(types.uint8, _I8))
store_u32 = intrinsic(_store(types.uint32, _I32))
store_u64 = intrinsic(_store(types.uint64, _I64))


def _xor(llvm_type):
    def typer(typingctx, dst, d, a, i, b, j):
        if not (_is_contiguous(dst) and _is_contiguous(a) and _is_contiguous(b)):
            return None

        def codegen(context, builder, signature, args):
            dst_type, _, a_type, _, b_type, _ = signature.args
            dst, d, a, i, b, j = args
            left = builder.load(_address(context, builder, a_type, a, i, llvm_type), align=1)
            right = builder.load(_address(context, builder, b_type, b, j, llvm_type), align=1)
            address = _address(context, builder, dst_type, dst, d, llvm_type)
            builder.store(builder.xor(left, right), address, align=1)
            return context.get_dummy_value()

        return types.void(dst, types.intp, a, types.intp, b, types.intp), codegen

    return typer


#: xor_16(dst, d, a, i, b, j): 16 bytes of dst from d on = a from i on ^ b from j on. Both inputs
#: are read before dst is written. xor_64 does 64 bytes, in vectors as wide as the target has.
xor_16 = intrinsic(_xor(_BLOCK))
xor_64 = intrinsic(_xor(_WIDE))


@inline
def load_words(memory, offset):
    """The four uint32 words of the block at a byte offset."""
    return (
        load_u32(memory, offset),
        load_u32(memory, offset + 4),
        load_u32(memory, offset + 8),
        load_u32(memory, offset + 12),
    )


@inline
def store_words(memory, offset, words):
    """Write four words as the block at a byte offset."""
    w0, w1, w2, w3 = words
    store_u32(memory, offset, w0)
    store_u32(memory, offset + 4, w1)
    store_u32(memory, offset + 8, w2)
    store_u32(memory, offset + 12, w3)


@intrinsic
def store_u32_scalar(typingctx, array, offset, value):
    """The same as store_u32, in a loop that must stay scalar; the address is a multiple of 4.

    LLVM turns a loop over table loads into hardware gathers, at two thirds of the speed. It leaves a
    loop alone that has an atomic store, which by itself is an ordinary store instruction.
    """
    if not _is_contiguous(array):
        return None

    def codegen(context, builder, signature, args):
        address = _address(context, builder, signature.args[0], args[0], args[1], _I32)
        builder.store_atomic(args[2], address, "monotonic", 4)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.uint32), codegen


@intrinsic
def opaque(typingctx, x):
    """x as an int64 of which LLVM knows nothing: a loop that ends there is not unrolled.

    LLVM would unroll the rounds of a cipher around all that they contain; that takes seconds.
    """

    def codegen(context, builder, signature, args):
        return builder.asm(ir.FunctionType(_I64, [_I64]), "", "=r,0", args, side_effect=False)

    return types.int64(types.int64), codegen


@intrinsic
def rotl(typingctx, x, n):
    """Rotate a uint32 left by n bits."""

    def codegen(context, builder, signature, args):
        rotate = builder.module.declare_intrinsic("llvm.fshl", [_I32], ir.FunctionType(_I32, [_I32] * 3))
        return builder.call(rotate, [args[0], args[0], builder.trunc(args[1], _I32)])

    return types.uint32(types.uint32, types.int64), codegen


@intrinsic
def byte(typingctx, x, n):
    """Byte n of a uint32 as a uint8, byte 0 the least significant."""

    def codegen(context, builder, signature, args):
        bits = builder.shl(builder.trunc(args[1], _I32), ir.Constant(_I32, 3))
        return builder.trunc(builder.lshr(args[0], bits), _I8)

    return types.uint8(types.uint32, types.int64), codegen


@intrinsic
def swap_bytes(typingctx, x):
    """Reverse the eight bytes of a uint64."""

    def codegen(context, builder, signature, args):
        return builder.bswap(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx, x):
    """Number of zero bits below the lowest one bit of an int64; 64 for zero."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], cgutils.false_bit)

    return types.int64(types.int64), codegen


@intrinsic(prefer_literal=True)
def stack_u32(typingctx, count):
    """A uint32[count] array on the stack, not initialised; ``count`` is a literal.

    It is valid until the kernel that asked for it returns. A call in a loop gives the same memory
    each time.
    """
    if not isinstance(count, types.IntegerLiteral):
        raise RequireLiteralValue("stack_u32 needs a literal size")
    array_type = types.Array(types.uint32, 1, "C")

    def codegen(context, builder, signature, args):
        size = count.literal_value
        with builder.goto_entry_block():
            memory = builder.alloca(ir.ArrayType(_I32, size))
        memory.align = 64
        array = context.make_array(array_type)(context, builder)
        context.populate_array(
            array,
            data=builder.bitcast(memory, array.data.type),
            shape=[context.get_constant(types.intp, size)],
            strides=[context.get_constant(types.intp, 4)],
            itemsize=context.get_constant(types.intp, 4),
            meminfo=None,
        )
        return array._getvalue()

    return array_type(count), codegen


@intrinsic
def wipe_words(typingctx, array):
    """Set every element of a uint32 array to zero with a memset that the compiler must keep."""
    if not (_is_contiguous(array) and array.dtype == types.uint32 and array.ndim == 1):
        return None

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        memory = builder.bitcast(view.data, _I8.as_pointer())
        size = builder.mul(view.nitems, view.itemsize)
        memset = builder.module.declare_intrinsic("llvm.memset", [_I8.as_pointer(), _I64])
        builder.call(memset, [memory, ir.Constant(_I8, 0), size, cgutils.true_bit])
        return context.get_dummy_value()

    return types.void(array), codegen
