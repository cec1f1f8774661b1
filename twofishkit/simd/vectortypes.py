"""Vector types for Numba, and what the operations on them are built from.

Everything here is for the modules of this package; kernels import `vectors`.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import models, register_model

I8 = ir.IntType(8)
I32 = ir.IntType(32)
I64 = ir.IntType(64)


class Vector(types.Type):
    """``lanes`` unsigned integers of ``bits`` bits each (1 bit: a mask)."""

    def __init__(self, bits, lanes):
        self.bits = bits
        self.lanes = lanes
        super().__init__(name=f"u{bits}x{lanes}" if bits > 1 else f"mask{lanes}")

    @property
    def ir(self):
        return ir.VectorType(ir.IntType(self.bits), self.lanes)

    @property
    def n_bytes(self):
        return self.bits * self.lanes // 8

    @property
    def mask(self):
        return Vector(1, self.lanes)

    @property
    def lane(self):
        return types.Integer.from_bitwidth(self.bits, signed=False)

    def with_lanes_of(self, bits):
        return Vector(bits, self.bits * self.lanes // bits)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, fe_type.ir)


class Lanes(types.Type):
    """A tuple of integers as a type, hence known wherever code is compiled."""

    def __init__(self, values):
        self.values = values
        super().__init__(name=f"lanes{values}")


def lanes(*values):
    """Make a pattern for `constant`, `shuffle` and `shuffle_blocks`: ``lanes(3, 2, 1, 0)``."""
    return Lanes(tuple(int(value) for value in values))


u8x16, u8x32, u8x64 = (Vector(8, n) for n in (16, 32, 64))
u16x8, u16x16, u16x32 = (Vector(16, n) for n in (8, 16, 32))
u32x4, u32x8, u32x16 = (Vector(32, n) for n in (4, 8, 16))
u64x2, u64x4, u64x8 = (Vector(64, n) for n in (2, 4, 8))


# Reading argument types -----------------------------------------------------------------------


def token_argument(argument):
    """The vector type that a type token names."""
    if isinstance(argument, types.TypeRef) and isinstance(argument.instance_type, Vector):
        return argument.instance_type
    raise TypingError(f"a vector type is needed here, such as u8x16, not {argument}")


def vector_argument(argument):
    if isinstance(argument, Vector):
        return argument
    raise TypingError(f"a vector is needed here, not {argument}")


def pattern_argument(argument):
    """The integers of a pattern: a `lanes` token or a tuple of literals."""
    if isinstance(argument, types.TypeRef) and isinstance(argument.instance_type, Lanes):
        return argument.instance_type.values
    if isinstance(argument, types.BaseTuple) and all(isinstance(t, types.IntegerLiteral) for t in argument):
        return tuple(t.literal_value for t in argument)
    raise TypingError(
        f"a pattern is needed here (lanes(...), or a tuple of integer constants), not {argument}"
    )


def check_memory(argument):
    """Check that an argument is memory: a C-contiguous array or bytes-like object, or an address."""
    if isinstance(argument, types.Integer):
        return
    if isinstance(argument, types.Buffer) and argument.layout == "C":
        return
    raise TypingError(f"an address or a C-contiguous array or bytes object is needed here, not {argument}")


# Building LLVM values -------------------------------------------------------------------------


def pointer_to(context, builder, source, source_type, offset, offset_type, element):
    """The address source + offset as a pointer to ``element``."""
    if isinstance(source_type, types.Buffer):
        base = builder.bitcast(
            context.make_array(source_type)(context, builder, source).data, I8.as_pointer()
        )
    else:
        base = builder.inttoptr(context.cast(builder, source, source_type, types.intp), I8.as_pointer())
    moved = builder.gep(base, [context.cast(builder, offset, offset_type, types.intp)])
    return builder.bitcast(moved, element.as_pointer())


def resized(builder, value, from_type, bits):
    """An integer truncated, or extended by its own signedness, to ``bits`` bits."""
    if value.type.width == bits:
        return value
    if value.type.width > bits:
        return builder.trunc(value, ir.IntType(bits))
    extend = builder.sext if getattr(from_type, "signed", False) else builder.zext
    return extend(value, ir.IntType(bits))


def broadcast(builder, value, vector):
    """All lanes equal to ``value`` (an LLVM integer of the lane's width)."""
    one = builder.insert_element(ir.Constant(vector.ir, ir.Undefined), value, ir.Constant(I32, 0))
    zeros = ir.Constant(ir.VectorType(I32, vector.lanes), None)
    return builder.shuffle_vector(one, ir.Constant(vector.ir, ir.Undefined), zeros)


def constant_vector(vector, values):
    lane = ir.IntType(vector.bits)
    mask = (1 << vector.bits) - 1
    return ir.Constant(vector.ir, [ir.Constant(lane, value & mask) for value in values])


def shuffled(builder, a, b, indices):
    pattern = ir.Constant(ir.VectorType(I32, len(indices)), [ir.Constant(I32, i) for i in indices])
    return builder.shuffle_vector(a, b, pattern)


def call_llvm(builder, name, result, *arguments):
    """Call the LLVM intrinsic ``name``; result and argument types as given."""
    function_type = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), arguments)
