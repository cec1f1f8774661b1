"""Making, converting and rearranging lanes; see `vectors`."""

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from twofishkit.simd.vectortypes import (
    Vector,
    broadcast,
    constant_vector,
    pattern_argument,
    resized,
    shuffled,
    token_argument,
    vector_argument,
)


@intrinsic
def zero(typingctx, vector):
    """All lanes zero."""
    result = token_argument(vector)
    return result(vector), lambda context, builder, sig, args: ir.Constant(result.ir, None)


@intrinsic
def splat(typingctx, vector, value):
    """All lanes equal to an integer, taken modulo 2^bits."""
    result = token_argument(vector)

    def codegen(context, builder, sig, args):
        return broadcast(builder, resized(builder, args[1], value, result.bits), result)

    return result(vector, value), codegen


@intrinsic(prefer_literal=True)
def constant(typingctx, vector, pattern):
    """Lanes given by a pattern, which is repeated if it is shorter than the vector."""
    result = token_argument(vector)
    values = pattern_argument(pattern)
    if result.lanes % len(values):
        raise TypingError(f"{len(values)} values do not fill {result}")
    return result(vector, pattern), lambda context, builder, sig, args: constant_vector(
        result, values * (result.lanes // len(values))
    )


@intrinsic
def iota(typingctx, vector):
    """Lanes 0, 1, 2, ..."""
    result = token_argument(vector)
    return result(vector), lambda context, builder, sig, args: constant_vector(result, range(result.lanes))


@intrinsic
def extract(typingctx, value, index):
    """Lane ``index`` as an unsigned integer."""
    vector = vector_argument(value)

    def codegen(context, builder, sig, args):
        return builder.extract_element(args[0], context.cast(builder, args[1], index, types.int64))

    return vector.lane(value, index), codegen


@intrinsic
def insert(typingctx, value, index, lane):
    """The vector with lane ``index`` replaced by an integer."""
    vector = vector_argument(value)

    def codegen(context, builder, sig, args):
        new = resized(builder, args[2], lane, vector.bits)
        return builder.insert_element(args[0], new, context.cast(builder, args[1], index, types.int64))

    return vector(value, index, lane), codegen


@intrinsic
def n_bytes(typingctx, vector):
    """The size in bytes of a vector or vector type; folds to a constant."""
    size = (vector if isinstance(vector, Vector) else token_argument(vector)).n_bytes
    return types.intp(vector), lambda context, builder, sig, args: context.get_constant(types.intp, size)


@intrinsic
def n_lanes(typingctx, vector):
    """The number of lanes of a vector or vector type; folds to a constant."""
    count = (vector if isinstance(vector, Vector) else token_argument(vector)).lanes
    return types.intp(vector), lambda context, builder, sig, args: context.get_constant(types.intp, count)


# Changing type --------------------------------------------------------------------------------


@intrinsic
def bitcast(typingctx, vector, value):
    """The same bits as another vector type of the same size."""
    result = token_argument(vector)
    if vector_argument(value).n_bytes != result.n_bytes:
        raise TypingError(f"{value} and {result} differ in size")
    return result(vector, value), lambda context, builder, sig, args: builder.bitcast(args[1], result.ir)


def _make_as(bits):
    def as_lanes(typingctx, value):
        result = vector_argument(value).with_lanes_of(bits)
        return result(value), lambda context, builder, sig, args: builder.bitcast(args[0], result.ir)

    as_lanes.__name__ = as_lanes.__qualname__ = f"as_u{bits}"
    as_lanes.__doc__ = f"The same bits as lanes of {bits} bits."
    return intrinsic(as_lanes)


as_u8, as_u16, as_u32, as_u64 = (_make_as(bits) for bits in (8, 16, 32, 64))


@intrinsic
def convert(typingctx, vector, value):
    """Each lane zero-extended or truncated to the lane of another type with as many lanes."""
    result = token_argument(vector)
    given = vector_argument(value)
    if given.lanes != result.lanes:
        raise TypingError(f"{given} and {result} differ in the number of lanes")

    def codegen(context, builder, sig, args):
        return (builder.zext if result.bits > given.bits else builder.trunc)(args[1], result.ir)

    return result(vector, value), codegen


# Moving lanes ---------------------------------------------------------------------------------


@intrinsic(prefer_literal=True)
def shuffle(typingctx, a, b, pattern):
    """Lane i is lane pattern[i] of a followed by b; the result has as many lanes as the pattern."""
    vector = vector_argument(a)
    indices = pattern_argument(pattern)
    if a != b or not all(0 <= i < 2 * vector.lanes for i in indices):
        raise TypingError(f"cannot shuffle {a} and {b} by {indices}")
    result = Vector(vector.bits, len(indices))
    return result(a, b, pattern), lambda context, builder, sig, args: shuffled(
        builder, args[0], args[1], indices
    )


def _in_blocks(vector, pattern):
    """Indices that apply a pattern of one 16-byte block pair to every block."""
    per_block = 128 // vector.bits
    return [
        block + i if i < per_block else block + i - per_block + vector.lanes
        for block in range(0, vector.lanes, per_block)
        for i in pattern
    ]


@intrinsic(prefer_literal=True)
def shuffle_blocks(typingctx, a, b, pattern):
    """`shuffle` by a pattern of 128 / bits indices inside each pair of 16-byte blocks."""
    vector = vector_argument(a)
    indices = pattern_argument(pattern)
    per_block = 128 // vector.bits
    if a != b or len(indices) != per_block or not all(0 <= i < 2 * per_block for i in indices):
        raise TypingError(f"cannot shuffle blocks of {a} and {b} by {indices}")

    def codegen(context, builder, sig, args):
        return shuffled(builder, args[0], args[1], _in_blocks(vector, indices))

    return vector(a, b, pattern), codegen


def _make_unpack(name, first):
    def unpack(typingctx, a, b):
        vector = vector_argument(a)
        if a != b:
            raise TypingError(f"{a} and {b} differ")
        per_block = 128 // vector.bits
        start = per_block // 2 * first
        pattern = [i + side for i in range(start, start + per_block // 2) for side in (0, per_block)]

        def codegen(context, builder, sig, args):
            return shuffled(builder, args[0], args[1], _in_blocks(vector, pattern))

        return vector(a, b), codegen

    unpack.__name__ = unpack.__qualname__ = name
    unpack.__doc__ = f"Interleave the {name[7:]} halves of each 16-byte block of a and b: a0 b0 a1 b1 ..."
    return intrinsic(unpack)


unpack_low = _make_unpack("unpack_low", 0)
unpack_high = _make_unpack("unpack_high", 1)


@intrinsic
def reverse_blocks(typingctx, value):
    """Reverse the bytes of every 16-byte block (whatever the lanes are)."""
    vector = vector_argument(value)
    octets = vector.with_lanes_of(8)
    indices = _in_blocks(octets, range(15, -1, -1))

    def codegen(context, builder, sig, args):
        as_bytes = builder.bitcast(args[0], octets.ir)
        return builder.bitcast(shuffled(builder, as_bytes, as_bytes, indices), vector.ir)

    return vector(value), codegen


@intrinsic
def low(typingctx, value):
    """The lower half: half as many lanes."""
    vector = vector_argument(value)
    half = Vector(vector.bits, vector.lanes // 2)
    return half(value), lambda context, builder, sig, args: shuffled(
        builder, args[0], args[0], range(half.lanes)
    )


@intrinsic
def high(typingctx, value):
    """The upper half: half as many lanes."""
    vector = vector_argument(value)
    half = Vector(vector.bits, vector.lanes // 2)
    indices = range(half.lanes, vector.lanes)
    return half(value), lambda context, builder, sig, args: shuffled(builder, args[0], args[0], indices)


@intrinsic
def concat(typingctx, a, b):
    """a in the lower half, b in the upper half: twice as many lanes."""
    vector = vector_argument(a)
    if a != b:
        raise TypingError(f"{a} and {b} differ")
    double = Vector(vector.bits, 2 * vector.lanes)
    return double(a, b), lambda context, builder, sig, args: shuffled(
        builder, args[0], args[1], range(double.lanes)
    )


@intrinsic
def repeat(typingctx, vector, block):
    """A vector of 16 bytes in every 16-byte block of a wider one with the same lanes."""
    result = token_argument(vector)
    given = vector_argument(block)
    if given.bits != result.bits or given.n_bytes != 16:
        raise TypingError(f"{given} is not a block of {result}")
    indices = [i % given.lanes for i in range(result.lanes)]
    return result(vector, block), lambda context, builder, sig, args: shuffled(
        builder, args[1], args[1], indices
    )


@intrinsic(prefer_literal=True)
def rotate_blocks(typingctx, value, n):
    """16-byte blocks moved n (a literal) places down, the first ones to the end; n modulo their number."""
    vector = vector_argument(value)
    if not isinstance(n, types.IntegerLiteral):
        raise TypingError("the number of blocks must be a literal")
    step = n.literal_value * (128 // vector.bits)
    indices = [(i + step) % vector.lanes for i in range(vector.lanes)]
    return vector(value, n), lambda context, builder, sig, args: shuffled(builder, args[0], args[0], indices)


@intrinsic
def resize(typingctx, vector, a):
    """The first lanes of ``a`` as a shorter, equal or longer vector; lanes beyond ``a`` are unspecified.

    Costs no instruction.
    """
    result = token_argument(vector)
    given = vector_argument(a)
    if given.bits != result.bits:
        raise TypingError(f"{given} and {result} differ in their lanes")

    def codegen(context, builder, sig, args):
        if given == result:
            return args[1]
        indices = [i if i < given.lanes else given.lanes for i in range(result.lanes)]
        return shuffled(builder, args[1], ir.Constant(given.ir, ir.Undefined), indices)

    return result(vector, a), codegen
