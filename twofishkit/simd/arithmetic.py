"""Lanewise operators and arithmetic; see `vectors`."""

import operator

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic

from twofishkit.simd.vectortypes import (
    Vector,
    broadcast,
    call_llvm,
    constant_vector,
    resized,
    vector_argument,
)


def _type_operator(key, result):
    """Let Numba type ``key`` for two equal vectors, or a vector and an integer."""

    @infer_global(key)
    class _Template(AbstractTemplate):
        def generic(self, args, kws):
            if kws or len(args) != 2:
                return None
            a, b = args
            if isinstance(a, Vector) and (a == b or isinstance(b, types.Integer)):
                return signature(result(a), a, b)
            if isinstance(b, Vector) and isinstance(a, types.Integer):
                return signature(result(b), a, b)
            return None


def _define_operator(key, build, result=lambda vector: vector):
    def lower(context, builder, sig, args):
        vector = next(t for t in sig.args if isinstance(t, Vector))
        operands = [
            value
            if isinstance(t, Vector)
            else broadcast(builder, resized(builder, value, t, vector.bits), vector)
            for value, t in zip(args, sig.args, strict=True)
        ]
        return build(builder, *operands)

    _type_operator(key, result)
    lower_builtin(key, Vector, Vector)(lower)
    lower_builtin(key, Vector, types.Integer)(lower)
    lower_builtin(key, types.Integer, Vector)(lower)


for _name, _method in {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "and_": "and_",
    "or_": "or_",
    "xor": "xor",
    "lshift": "shl",
    "rshift": "lshr",
}.items():
    for _key in (getattr(operator, _name), getattr(operator, "i" + _name.rstrip("_"))):
        _define_operator(_key, getattr(ir.IRBuilder, _method))

for _name, _symbol in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    _define_operator(
        getattr(operator, _name),
        lambda builder, a, b, symbol=_symbol: builder.icmp_unsigned(symbol, a, b),
        result=lambda vector: vector.mask,
    )


@infer_global(operator.invert)
class _InvertTemplate(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], Vector):
            return signature(args[0], args[0])
        return None


@lower_builtin(operator.invert, Vector)
def _lower_invert(context, builder, sig, args):
    return builder.not_(args[0])


@intrinsic
def funnel_left(typingctx, a, b, n):
    """The high half of (a:b) << n in every lane; ``n`` is an integer, taken modulo the lane's bits."""
    vector = vector_argument(a)
    if a != b:
        raise TypingError(f"{a} and {b} differ")

    def codegen(context, builder, sig, args):
        count = broadcast(builder, resized(builder, args[2], n, vector.bits), vector)
        name = f"llvm.fshl.v{vector.lanes}i{vector.bits}"
        return call_llvm(builder, name, vector.ir, args[0], args[1], count)

    return vector(a, b, n), codegen


def _make_rotate(direction):
    def rotate(typingctx, value, n):
        vector = vector_argument(value)

        def codegen(context, builder, sig, args):
            if n == vector:
                count = args[1]
            else:
                count = broadcast(builder, resized(builder, args[1], n, vector.bits), vector)
            name = f"llvm.fsh{direction}.v{vector.lanes}i{vector.bits}"
            return call_llvm(builder, name, vector.ir, args[0], args[0], count)

        return vector(value, n), codegen

    rotate.__name__ = rotate.__qualname__ = f"rot{direction}"
    rotate.__doc__ = (
        f"Every lane rotated {'left' if direction == 'l' else 'right'} by an integer, or by a lane of bits."
    )
    return intrinsic(rotate)


rotl = _make_rotate("l")
rotr = _make_rotate("r")


@intrinsic
def mul_low_halves(typingctx, a, b):
    """u64 lanes: (a mod 2^32) * (b mod 2^32), one instruction (pmuludq, umull) everywhere."""
    vector = vector_argument(a)
    if a != b or vector.bits != 64:
        raise TypingError(f"two equal vectors of 64-bit lanes are needed, not {a} and {b}")

    def codegen(context, builder, sig, args):
        low = constant_vector(vector, [0xFFFFFFFF] * vector.lanes)
        return builder.mul(builder.and_(args[0], low), builder.and_(args[1], low))

    return vector(a, b), codegen


@intrinsic
def select(typingctx, mask, a, b):
    """Lane by lane: mask ? a : b."""
    vector = vector_argument(a)
    if a != b or mask != vector.mask:
        raise TypingError(f"cannot select between {a} and {b} by {mask}")
    return vector(mask, a, b), lambda context, builder, sig, args: builder.select(*args)


@intrinsic
def negative(typingctx, value):
    """The top bit of every lane as a mask."""
    vector = vector_argument(value)

    def codegen(context, builder, sig, args):
        return builder.icmp_signed("<", args[0], ir.Constant(vector.ir, None))

    return vector.mask(value), codegen
