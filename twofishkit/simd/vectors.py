"""LLVM vectors as Numba types, and the operations that every target has.

Usage, inside jitted code (`from twofishkit.simd import vectors as v`)::

    v.u8x64, v.u32x16, ...          a type is also a *type token*: an argument that helpers pass on,
                                    so that one helper serves all widths
    v.load(T, source, offset)       unaligned load; source is a C array of any integer dtype or
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
    v.resize(T, a)                  the first lanes of a, or a and unspecified lanes after it
    v.shuffle(a, b, PATTERN)        lane i is (a ++ b)[PATTERN[i]]; the result has len(PATTERN) lanes
    v.shuffle_blocks(a, b, PATTERN) the same inside every 16-byte block, for any width
    v.unpack_low(a, b)  v.unpack_high(a, b)   x86 punpckl/h: interleave per 16-byte block
    v.reverse_blocks(a)             byte-reverse every 16-byte block
    v.repeat(T, a)                  the 16-byte vector a in every 16-byte block
    v.rotate_blocks(a, n)           16-byte blocks moved n (a literal) places down, the first to the end
    v.lookup16(table, index)        byte i is table[index[i]] within its 16-byte block, or 0 from 128 on:
                                    pshufb or tbl; no index may lie in between
    v.lookup256(source, offset, index)   byte i is table[index[i]], a table of 256 bytes in memory: one of
                                    four side by side, see `targets`; v.lookup256_each has another table for
                                    each block; v.prepare_lookup256(source, offset) makes the tables ready
    v.clmul(a, b, 0x10)             u64 lanes: carry-less product, per 16-byte block, of the halves that the
                                    literal names (bit 0: of a, bit 4: of b): pclmulqdq or pmull
    v.n_bytes(T)  v.n_lanes(T)      compile-time constants; T may also be a vector

A PATTERN is a module-level ``lanes(3, 2, 1, 0)``: the values are part of its type, so it survives
being passed through helpers. A global or inline tuple of integers works too, but only directly.

Traps
-----
- Lanes are unsigned. Lane 0 is at the lowest address; all supported targets are little-endian.
- Operators accept equal vector types only; bitcast first.
- All operations work on every target, except `lookup16`, `lookup256` and `clmul`: they choose an
  instruction by architecture and need its CPU feature (see `x86` and `aarch64`), or compiling aborts
  the process.
- Helpers are `@inline` (kernels/jit.py); a vector passed to a function that is not inlined travels
  by value, which is slow but right.
"""

from twofishkit.simd.arithmetic import funnel_left, mul_low_halves, negative, rotl, rotr, select
from twofishkit.simd.lanes import (
    as_u8,
    as_u16,
    as_u32,
    as_u64,
    bitcast,
    concat,
    constant,
    convert,
    extract,
    high,
    insert,
    iota,
    low,
    n_bytes,
    n_lanes,
    repeat,
    resize,
    reverse_blocks,
    rotate_blocks,
    shuffle,
    shuffle_blocks,
    splat,
    unpack_high,
    unpack_low,
    zero,
)
from twofishkit.simd.memory import (
    address,
    load,
    load_first,
    load_masked,
    stack,
    store,
    store_first,
    store_masked,
    wipe,
)
from twofishkit.simd.targets import clmul, lookup16, lookup256, lookup256_each, prepare_lookup256
from twofishkit.simd.vectortypes import (
    Lanes,
    Vector,
    lanes,
    u8x16,
    u8x32,
    u8x64,
    u16x8,
    u16x16,
    u16x32,
    u32x4,
    u32x8,
    u32x16,
    u64x2,
    u64x4,
    u64x8,
)

__all__ = [
    "Lanes",
    "Vector",
    "address",
    "as_u8",
    "as_u16",
    "as_u32",
    "as_u64",
    "bitcast",
    "clmul",
    "concat",
    "constant",
    "convert",
    "extract",
    "funnel_left",
    "high",
    "insert",
    "iota",
    "lanes",
    "load",
    "load_first",
    "load_masked",
    "lookup16",
    "lookup256",
    "lookup256_each",
    "low",
    "mul_low_halves",
    "n_bytes",
    "n_lanes",
    "negative",
    "prepare_lookup256",
    "repeat",
    "resize",
    "reverse_blocks",
    "rotate_blocks",
    "rotl",
    "rotr",
    "select",
    "shuffle",
    "shuffle_blocks",
    "splat",
    "stack",
    "store",
    "store_first",
    "store_masked",
    "u8x16",
    "u8x32",
    "u8x64",
    "u16x8",
    "u16x16",
    "u16x32",
    "u32x4",
    "u32x8",
    "u32x16",
    "u64x2",
    "u64x4",
    "u64x8",
    "unpack_high",
    "unpack_low",
    "wipe",
    "zero",
]
