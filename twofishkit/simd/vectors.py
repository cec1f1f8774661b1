"""LLVM vectors as Numba types, and the operations that every target has.

Usage, inside jitted code (`from twofishkit.simd import vectors as v`)::

    v.u8x64, v.u32x16, ...          a type is also a *type token*: an argument that helpers pass on,
                                    so that one helper serves all widths
    v.load(T, source, offset)       unaligned load; source is a 1-D C array of any integer dtype or
                                    an address (intp), offset is in BYTES
    v.store(target, offset, x)      the inverse; v.load_first/v.store_first(..., n) touch only the
                                    first n bytes (n = 0 ... size); v.load_masked/v.store_masked
    v.address(array)                its data pointer as an intp; v.stack(n) n bytes of 64-aligned stack
                                    as an address (n a literal or global int), v.wipe(address, n)
    v.zero(T)  v.splat(T, 7)        all lanes alike; v.constant(T, PATTERN) lanes from a pattern,
                                    repeated if shorter than T; v.iota(T) is 0, 1, 2, ...
    a + b  a - b  a * b  a & b  a | b  a ^ b  ~a  a << n  a >> n     lanewise modulo 2^bits; either
                                    operand may be an integer; shift counts are lanes or an integer
    a == b  a < b  ...              unsigned; give a mask; v.negative(a) is the top bit as a mask
    v.select(mask, a, b)            lanewise mask ? a : b; masks take & | ^ ~ too
    v.rotl(a, n)  v.rotr(a, n)      rotates; v.funnel_left(a, b, n) = high half of (a:b) << n
    v.mul_low_halves(a, b)          u64 lanes: product of the low 32 bits (pmuludq, umull)
    v.bitcast(T, a)                 the same bits; v.as_u8(a) ... v.as_u64(a) keep the width;
                                    v.convert(T, a) keeps the lane count: zero-extends or truncates
    v.extract(a, i)  v.insert(a, i, x)   one lane, as an unsigned integer
    v.low(a)  v.high(a)  v.concat(a, b)  halves
    v.shuffle(a, b, PATTERN)        lane i is (a ++ b)[PATTERN[i]]; the result has len(PATTERN) lanes
    v.shuffle_blocks(a, b, PATTERN) the same inside every 16-byte block, for any width
    v.unpack_low(a, b)  v.unpack_high(a, b)   x86 punpckl/h: interleave per 16-byte block
    v.reverse_blocks(a)             byte-reverse every 16-byte block
    v.lookup16(table, index)        byte i is table[index[i]] within its 16-byte block: pshufb or tbl;
                                    indices must be below 16
    v.n_bytes(T)  v.n_lanes(T)      compile-time constants; T may also be a vector

A PATTERN is a module-level ``lanes(3, 2, 1, 0)``: the values are part of its type, so it survives
being passed through helpers. A global or inline tuple of integers works too, but only directly.

Traps
-----
- Lanes are unsigned. Lane 0 is at the lowest address; all supported targets are little-endian.
- Operators accept equal vector types only; bitcast first.
- No operation reads its target's name except `lookup16`: it needs SSSE3 or NEON to be one
  instruction, and LLVM cannot select it on x86 below SSSE3 (the process aborts).
- Helpers are `@inline` (kernels/jit.py); a vector passed to a function that is not inlined travels
  by value, which is slow but right.
"""

import operator

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

_I8 = ir.IntType(8)
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)


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


def _token(argument):
    """The vector type that a type token names."""
    if isinstance(argument, types.TypeRef) and isinstance(argument.instance_type, Vector):
        return argument.instance_type
    raise TypingError(f"a vector type is needed here, such as u8x16, not {argument}")


def _vector(argument):
    if isinstance(argument, Vector):
        return argument
    raise TypingError(f"a vector is needed here, not {argument}")


def _pattern(argument):
    """The integers of a pattern: a `lanes` token or a tuple of literals."""
    if isinstance(argument, types.TypeRef) and isinstance(argument.instance_type, Lanes):
        return argument.instance_type.values
    if isinstance(argument, types.BaseTuple) and all(isinstance(t, types.IntegerLiteral) for t in argument):
        return tuple(t.literal_value for t in argument)
    raise TypingError(
        f"a pattern is needed here (lanes(...), or a tuple of integer constants), not {argument}"
    )


def _source(argument):
    """Check that an argument is memory: a 1-D C-contiguous array, or an address."""
    if isinstance(argument, types.Integer):
        return
    if isinstance(argument, types.Array) and argument.ndim == 1 and argument.layout == "C":
        return
    raise TypingError(f"an address or a one-dimensional C-contiguous array is needed here, not {argument}")


# Building LLVM values -------------------------------------------------------------------------


def _pointer(context, builder, source, source_type, offset, offset_type, element):
    """The address source + offset as a pointer to ``element``."""
    if isinstance(source_type, types.Array):
        base = builder.bitcast(
            context.make_array(source_type)(context, builder, source).data, _I8.as_pointer()
        )
    else:
        base = builder.inttoptr(context.cast(builder, source, source_type, types.intp), _I8.as_pointer())
    moved = builder.gep(base, [context.cast(builder, offset, offset_type, types.intp)])
    return builder.bitcast(moved, element.as_pointer())


def _resize(builder, value, from_type, bits):
    """An integer truncated, or extended by its own signedness, to ``bits`` bits."""
    if value.type.width == bits:
        return value
    if value.type.width > bits:
        return builder.trunc(value, ir.IntType(bits))
    extend = builder.sext if getattr(from_type, "signed", False) else builder.zext
    return extend(value, ir.IntType(bits))


def _broadcast(builder, value, vector):
    """All lanes equal to ``value`` (an LLVM integer of the lane's width)."""
    one = builder.insert_element(ir.Constant(vector.ir, ir.Undefined), value, ir.Constant(_I32, 0))
    zeros = ir.Constant(ir.VectorType(_I32, vector.lanes), None)
    return builder.shuffle_vector(one, ir.Constant(vector.ir, ir.Undefined), zeros)


def _constant(vector, values):
    lane = ir.IntType(vector.bits)
    mask = (1 << vector.bits) - 1
    return ir.Constant(vector.ir, [ir.Constant(lane, value & mask) for value in values])


def _shuffled(builder, a, b, indices):
    pattern = ir.Constant(ir.VectorType(_I32, len(indices)), [ir.Constant(_I32, i) for i in indices])
    return builder.shuffle_vector(a, b, pattern)


def call_llvm(builder, name, result, *arguments):
    """Call the LLVM intrinsic ``name``; result and argument types as given."""
    function_type = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), arguments)


# Operators ------------------------------------------------------------------------------------


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
            else _broadcast(builder, _resize(builder, value, t, vector.bits), vector)
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


# Memory ---------------------------------------------------------------------------------------


@intrinsic
def load(typingctx, vector, source, offset):
    """Load a vector from ``source`` + ``offset`` bytes, at any alignment."""
    result = _token(vector)
    _source(source)

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, args[1], source, args[2], offset, result.ir)
        return builder.load(pointer, align=1)

    return result(vector, source, offset), codegen


@intrinsic
def store(typingctx, target, offset, value):
    """Store a vector at ``target`` + ``offset`` bytes, at any alignment."""
    vector = _vector(value)
    _source(target)

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, args[0], target, args[1], offset, vector.ir)
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
    result = _token(vector)
    _source(source)

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, args[1], source, args[2], offset, _I8)
        buffer = cgutils.alloca_once(builder, result.ir)
        builder.store(ir.Constant(result.ir, None), buffer)
        _copy(
            builder,
            builder.bitcast(buffer, _I8.as_pointer()),
            pointer,
            context.cast(builder, args[3], n, types.intp),
        )
        return builder.load(buffer)

    return result(vector, source, offset, n), codegen


@intrinsic
def store_first(typingctx, target, offset, value, n):
    """Store the first ``n`` bytes of a vector; no byte beyond them is touched. See `load_first`."""
    vector = _vector(value)
    _source(target)

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, args[0], target, args[1], offset, _I8)
        buffer = cgutils.alloca_once(builder, vector.ir)
        builder.store(args[2], buffer)
        _copy(
            builder,
            pointer,
            builder.bitcast(buffer, _I8.as_pointer()),
            context.cast(builder, args[3], n, types.intp),
        )
        return context.get_dummy_value()

    return types.void(target, offset, value, n), codegen


@intrinsic
def load_masked(typingctx, vector, source, offset, mask):
    """Load the lanes whose mask is set and zeros elsewhere; other lanes' memory is not touched.

    One instruction with AVX-512 (bytes: BW); elsewhere LLVM branches lane by lane: use `load_first`.
    """
    result = _token(vector)
    _source(source)
    if mask != result.mask:
        raise TypingError(f"{result} is masked by {result.mask}, not {mask}")

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, args[1], source, args[2], offset, result.ir)
        name = f"llvm.masked.load.v{result.lanes}i{result.bits}.p0"
        return call_llvm(
            builder, name, result.ir, pointer, ir.Constant(_I32, 1), args[3], ir.Constant(result.ir, None)
        )

    return result(vector, source, offset, mask), codegen


@intrinsic
def store_masked(typingctx, target, offset, value, mask):
    """Store the lanes whose mask is set; other lanes' memory is not touched. See `load_masked`."""
    vector = _vector(value)
    _source(target)
    if mask != vector.mask:
        raise TypingError(f"{vector} is masked by {vector.mask}, not {mask}")

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, args[0], target, args[1], offset, vector.ir)
        name = f"llvm.masked.store.v{vector.lanes}i{vector.bits}.p0"
        call_llvm(builder, name, ir.VoidType(), args[2], pointer, ir.Constant(_I32, 1), args[3])
        return context.get_dummy_value()

    return types.void(target, offset, value, mask), codegen


@intrinsic
def address(typingctx, array):
    """The address of an array's first byte."""
    _source(array)

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, args[0], array, ir.Constant(_I64, 0), types.intp, _I8)
        return builder.ptrtoint(pointer, context.get_value_type(types.intp))

    return types.intp(array), codegen


@intrinsic(prefer_literal=True)
def stack(typingctx, n_bytes):
    """The address of ``n_bytes`` of uninitialised stack, 64-byte aligned, for the caller's lifetime."""
    if not isinstance(n_bytes, types.IntegerLiteral):
        raise TypingError("the size of stack memory must be a constant")

    def codegen(context, builder, sig, args):
        with builder.goto_entry_block():
            memory = builder.alloca(ir.ArrayType(_I8, n_bytes.literal_value))
            memory.align = 64
        return builder.ptrtoint(memory, context.get_value_type(types.intp))

    return types.intp(n_bytes), codegen


@intrinsic
def wipe(typingctx, target, n_bytes):
    """Overwrite ``n_bytes`` at an address or array with zeros; never optimised away."""
    _source(target)

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, args[0], target, ir.Constant(_I64, 0), types.intp, _I8)
        n = context.cast(builder, args[1], n_bytes, types.intp)
        volatile = ir.Constant(ir.IntType(1), 1)
        call_llvm(builder, "llvm.memset.p0i8.i64", ir.VoidType(), pointer, ir.Constant(_I8, 0), n, volatile)
        return context.get_dummy_value()

    return types.void(target, n_bytes), codegen


# Making and taking apart ----------------------------------------------------------------------


@intrinsic
def zero(typingctx, vector):
    """All lanes zero."""
    result = _token(vector)
    return result(vector), lambda context, builder, sig, args: ir.Constant(result.ir, None)


@intrinsic
def splat(typingctx, vector, value):
    """All lanes equal to an integer, taken modulo 2^bits."""
    result = _token(vector)

    def codegen(context, builder, sig, args):
        return _broadcast(builder, _resize(builder, args[1], value, result.bits), result)

    return result(vector, value), codegen


@intrinsic(prefer_literal=True)
def constant(typingctx, vector, pattern):
    """Lanes given by a pattern, which is repeated if it is shorter than the vector."""
    result = _token(vector)
    values = _pattern(pattern)
    if result.lanes % len(values):
        raise TypingError(f"{len(values)} values do not fill {result}")
    return result(vector, pattern), lambda context, builder, sig, args: _constant(
        result, values * (result.lanes // len(values))
    )


@intrinsic
def iota(typingctx, vector):
    """Lanes 0, 1, 2, ..."""
    result = _token(vector)
    return result(vector), lambda context, builder, sig, args: _constant(result, range(result.lanes))


@intrinsic
def extract(typingctx, value, index):
    """Lane ``index`` as an unsigned integer."""
    vector = _vector(value)

    def codegen(context, builder, sig, args):
        return builder.extract_element(args[0], context.cast(builder, args[1], index, types.int64))

    return vector.lane(value, index), codegen


@intrinsic
def insert(typingctx, value, index, lane):
    """The vector with lane ``index`` replaced by an integer."""
    vector = _vector(value)

    def codegen(context, builder, sig, args):
        new = _resize(builder, args[2], lane, vector.bits)
        return builder.insert_element(args[0], new, context.cast(builder, args[1], index, types.int64))

    return vector(value, index, lane), codegen


@intrinsic
def n_bytes(typingctx, vector):
    """The size in bytes of a vector or vector type; folds to a constant."""
    size = (vector if isinstance(vector, Vector) else _token(vector)).n_bytes
    return types.intp(vector), lambda context, builder, sig, args: context.get_constant(types.intp, size)


@intrinsic
def n_lanes(typingctx, vector):
    """The number of lanes of a vector or vector type; folds to a constant."""
    count = (vector if isinstance(vector, Vector) else _token(vector)).lanes
    return types.intp(vector), lambda context, builder, sig, args: context.get_constant(types.intp, count)


# Changing type --------------------------------------------------------------------------------


@intrinsic
def bitcast(typingctx, vector, value):
    """The same bits as another vector type of the same size."""
    result = _token(vector)
    if _vector(value).n_bytes != result.n_bytes:
        raise TypingError(f"{value} and {result} differ in size")
    return result(vector, value), lambda context, builder, sig, args: builder.bitcast(args[1], result.ir)


def _make_as(bits):
    def as_lanes(typingctx, value):
        result = _vector(value).with_lanes_of(bits)
        return result(value), lambda context, builder, sig, args: builder.bitcast(args[0], result.ir)

    as_lanes.__name__ = as_lanes.__qualname__ = f"as_u{bits}"
    as_lanes.__doc__ = f"The same bits as lanes of {bits} bits."
    return intrinsic(as_lanes)


as_u8, as_u16, as_u32, as_u64 = (_make_as(bits) for bits in (8, 16, 32, 64))


@intrinsic
def convert(typingctx, vector, value):
    """Each lane zero-extended or truncated to the lane of another type with as many lanes."""
    result = _token(vector)
    given = _vector(value)
    if given.lanes != result.lanes:
        raise TypingError(f"{given} and {result} differ in the number of lanes")

    def codegen(context, builder, sig, args):
        return (builder.zext if result.bits > given.bits else builder.trunc)(args[1], result.ir)

    return result(vector, value), codegen


# Arithmetic beyond operators ------------------------------------------------------------------


@intrinsic
def funnel_left(typingctx, a, b, n):
    """The high half of (a:b) << n in every lane; ``n`` is an integer, taken modulo the lane's bits."""
    vector = _vector(a)
    if a != b:
        raise TypingError(f"{a} and {b} differ")

    def codegen(context, builder, sig, args):
        count = _broadcast(builder, _resize(builder, args[2], n, vector.bits), vector)
        name = f"llvm.fshl.v{vector.lanes}i{vector.bits}"
        return call_llvm(builder, name, vector.ir, args[0], args[1], count)

    return vector(a, b, n), codegen


def _make_rotate(direction):
    def rotate(typingctx, value, n):
        vector = _vector(value)

        def codegen(context, builder, sig, args):
            count = _broadcast(builder, _resize(builder, args[1], n, vector.bits), vector)
            name = f"llvm.fsh{direction}.v{vector.lanes}i{vector.bits}"
            return call_llvm(builder, name, vector.ir, args[0], args[0], count)

        return vector(value, n), codegen

    rotate.__name__ = rotate.__qualname__ = f"rot{direction}"
    rotate.__doc__ = (
        f"Every lane rotated {'left' if direction == 'l' else 'right'} by an integer number of bits."
    )
    return intrinsic(rotate)


rotl = _make_rotate("l")
rotr = _make_rotate("r")


@intrinsic
def mul_low_halves(typingctx, a, b):
    """u64 lanes: (a mod 2^32) * (b mod 2^32), one instruction (pmuludq, umull) everywhere."""
    vector = _vector(a)
    if a != b or vector.bits != 64:
        raise TypingError(f"two equal vectors of 64-bit lanes are needed, not {a} and {b}")

    def codegen(context, builder, sig, args):
        low = _constant(vector, [0xFFFFFFFF] * vector.lanes)
        return builder.mul(builder.and_(args[0], low), builder.and_(args[1], low))

    return vector(a, b), codegen


@intrinsic
def select(typingctx, mask, a, b):
    """Lane by lane: mask ? a : b."""
    vector = _vector(a)
    if a != b or mask != vector.mask:
        raise TypingError(f"cannot select between {a} and {b} by {mask}")
    return vector(mask, a, b), lambda context, builder, sig, args: builder.select(*args)


@intrinsic
def negative(typingctx, value):
    """The top bit of every lane as a mask."""
    vector = _vector(value)

    def codegen(context, builder, sig, args):
        return builder.icmp_signed("<", args[0], ir.Constant(vector.ir, None))

    return vector.mask(value), codegen


# Moving lanes ---------------------------------------------------------------------------------


@intrinsic(prefer_literal=True)
def shuffle(typingctx, a, b, pattern):
    """Lane i is lane pattern[i] of a followed by b; the result has as many lanes as the pattern."""
    vector = _vector(a)
    indices = _pattern(pattern)
    if a != b or not all(0 <= i < 2 * vector.lanes for i in indices):
        raise TypingError(f"cannot shuffle {a} and {b} by {indices}")
    result = Vector(vector.bits, len(indices))
    return result(a, b, pattern), lambda context, builder, sig, args: _shuffled(
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
    vector = _vector(a)
    indices = _pattern(pattern)
    per_block = 128 // vector.bits
    if a != b or len(indices) != per_block or not all(0 <= i < 2 * per_block for i in indices):
        raise TypingError(f"cannot shuffle blocks of {a} and {b} by {indices}")

    def codegen(context, builder, sig, args):
        return _shuffled(builder, args[0], args[1], _in_blocks(vector, indices))

    return vector(a, b, pattern), codegen


def _make_unpack(name, first):
    def unpack(typingctx, a, b):
        vector = _vector(a)
        if a != b:
            raise TypingError(f"{a} and {b} differ")
        per_block = 128 // vector.bits
        start = per_block // 2 * first
        pattern = [i + side for i in range(start, start + per_block // 2) for side in (0, per_block)]

        def codegen(context, builder, sig, args):
            return _shuffled(builder, args[0], args[1], _in_blocks(vector, pattern))

        return vector(a, b), codegen

    unpack.__name__ = unpack.__qualname__ = name
    unpack.__doc__ = f"Interleave the {name[7:]} halves of each 16-byte block of a and b: a0 b0 a1 b1 ..."
    return intrinsic(unpack)


unpack_low = _make_unpack("unpack_low", 0)
unpack_high = _make_unpack("unpack_high", 1)


@intrinsic
def reverse_blocks(typingctx, value):
    """Reverse the bytes of every 16-byte block (whatever the lanes are)."""
    vector = _vector(value)
    octets = vector.with_lanes_of(8)
    indices = _in_blocks(octets, range(15, -1, -1))

    def codegen(context, builder, sig, args):
        as_bytes = builder.bitcast(args[0], octets.ir)
        return builder.bitcast(_shuffled(builder, as_bytes, as_bytes, indices), vector.ir)

    return vector(value), codegen


@intrinsic
def low(typingctx, value):
    """The lower half: half as many lanes."""
    vector = _vector(value)
    half = Vector(vector.bits, vector.lanes // 2)
    return half(value), lambda context, builder, sig, args: _shuffled(
        builder, args[0], args[0], range(half.lanes)
    )


@intrinsic
def high(typingctx, value):
    """The upper half: half as many lanes."""
    vector = _vector(value)
    half = Vector(vector.bits, vector.lanes // 2)
    indices = range(half.lanes, vector.lanes)
    return half(value), lambda context, builder, sig, args: _shuffled(builder, args[0], args[0], indices)


@intrinsic
def concat(typingctx, a, b):
    """a in the lower half, b in the upper half: twice as many lanes."""
    vector = _vector(a)
    if a != b:
        raise TypingError(f"{a} and {b} differ")
    double = Vector(vector.bits, 2 * vector.lanes)
    return double(a, b), lambda context, builder, sig, args: _shuffled(
        builder, args[0], args[1], range(double.lanes)
    )


_PSHUFB = {16: "llvm.x86.ssse3.pshuf.b.128", 32: "llvm.x86.avx2.pshuf.b", 64: "llvm.x86.avx512.pshuf.b.512"}


@intrinsic
def lookup16(typingctx, table, index):
    """Byte i is table[16 * (i // 16) + index[i]]; every index must be below 16.

    x86: pshufb of the vector's width (SSSE3, AVX2, AVX-512BW); aarch64: one tbl per 16 bytes.
    """
    vector = _vector(table)
    if table != index or vector.bits != 8:
        raise TypingError(f"two equal vectors of bytes are needed, not {table} and {index}")

    def codegen(context, builder, sig, args):
        if not builder.module.triple.startswith(("aarch64", "arm64")):
            return call_llvm(builder, _PSHUFB[vector.lanes], vector.ir, *args)
        parts = []
        for block in range(0, vector.lanes, 16):
            pair = [_shuffled(builder, value, value, range(block, block + 16)) for value in args]
            parts.append(call_llvm(builder, "llvm.aarch64.neon.tbl1.v16i8", pair[0].type, *pair))
        while len(parts) > 1:
            parts = [
                _shuffled(builder, parts[i], parts[i + 1], range(2 * parts[i].type.count))
                for i in range(0, len(parts), 2)
            ]
        return parts[0]

    return vector(table, index), codegen
