"""GHASH and POLYVAL: the mathematics that all kernels share, and the portable kernel.

The field
---------
Everything is done in POLYVAL form (RFC 8452): a block is a little-endian integer whose bit i is the
coefficient of x^i, modulo x^128 + x^127 + x^126 + x^121 + 1, and the product is
dot(a, b) = a b x^-128. GHASH is the same function of byte-reversed blocks, with x H in place of H
(RFC 8452, appendix A): one byte reversal a block, one shift a key. Byte orders are the patterns
`GHASH_ORDER` and `POLYVAL_ORDER`, which kernels take as an argument.

With the 256-bit product as r3:r2:r1:r0 and C = x^63 + x^62 + x^57, x^-128 is two folds:
r2:r1 ^= r0 C ^ r0 x^64, then r3:r2 ^= r1 C ^ r1 x^64; the result is r3:r2.

N blocks share one reduction: y = (y ^ X1) H^N ^ X2 H^(N-1) ^ ... ^ XN H, products added before they
are reduced. Fewer than N blocks start at a lower power of H. Kernels keep powers in groups of as
many blocks as one vector holds, and put zero blocks in front of a count that is not a multiple.

The portable multiplication
---------------------------
No carry-less multiply is needed, no table is indexed by data. An integer multiplication whose
operands have only every fourth bit set adds at most 8 ones a column, so that carries stay in the
holes: bit 4i of the product is the carry-less one. With x = x0 + x1 + x2 + x3, xj having the bits
i = j mod 4, sixteen such products give a 32 x 32 -> 64 bit carry-less product; class k of the sum
is the XOR of xi hj, i + j = k mod 4. Karatsuba twice (128 -> 64 -> 32 bits) takes nine of those.
Lanes of a <4 x i64> are blocks, hence 36 vector multiplies (pmuludq, umull) a block, sums masked
once in 16 blocks. H's classes are in the key's table. A vector multiply is constant time on every
CPU that we know of, which scalar 64-bit multiplies are not.

Cost of a block of 16 bytes, in 32-byte operations: 36 multiplies, 36 XORs (18 as three-input logic),
9 ANDs. On Zen 4 1.46 c/B, of which multiplies alone are 1.13; 1.87 with AVX2 only, 4.3 with SSE2.

Traps: lane order within a group is 0, 2, 1, 3 (what two unpacks give). Upper halves of 64-bit lanes
hold other words: every operand is masked before it is multiplied.
"""

import numpy as np

from twofishkit.kernels.jit import inline, kernel
from twofishkit.simd import vectors as v
from twofishkit.slots import GhashSlots

#: CPU features that the portable kernel needs.
REQUIRES: frozenset[str] = frozenset()

#: Blocks that share a reduction, and blocks in a vector.
N, LANES = 16, 4
GROUPS = N // LANES

#: 32-bit products in a 128-bit one.
PIECES = 9
_VECTOR_BYTES = 32
_GROUP_BYTES = LANES * 16
_BATCH_BYTES = N * 16
#: A table holds PIECES x GROUPS x 4 classes x LANES words.
TABLE_WORDS = PIECES * GROUPS * 4 * LANES

#: Maps a block's bytes to POLYVAL form and back, for `vectors.shuffle_blocks`.
GHASH_ORDER = v.lanes(*range(15, -1, -1))
POLYVAL_ORDER = v.lanes(*range(16))

_CLASS = np.uint64(0x1111111111111111)
_LOW = np.uint64(0xFFFFFFFF)
_ONE, _32, _57, _62, _63 = (np.uint64(n) for n in (1, 32, 57, 62, 63))
_TWO, _THREE, _SEVEN = (np.uint64(n) for n in (2, 3, 7))
_SWAP = v.lanes(1, 0)
_HIGH = v.lanes(0, 3)
_NONE = np.uint64(0)
#: Stack bytes: words of a batch, sums of products, a padded tail.
_SUMS = PIECES * GROUPS * _VECTOR_BYTES
_TAIL = _SUMS + PIECES * 16
_SCRATCH_BYTES = _TAIL + _BATCH_BYTES


# Shared by all kernels ------------------------------------------------------------------------


@inline
def load_block(source, offset, order):
    """16 bytes at an array or address, in POLYVAL form (u64x2)."""
    block = v.load(v.u8x16, source, offset)
    return v.as_u64(v.shuffle_blocks(block, block, order))


@inline
def store_block(target, offset, block, order):
    """The inverse of `load_block`."""
    octets = v.as_u8(block)
    v.store(target, offset, v.shuffle_blocks(octets, octets, order))


@inline
def times_x(block):
    """x a in POLYVAL form: shift left, and fold the bit that falls out. RFC 8452, appendix A.

    By shifts in lanes: of a scalar mask LLVM makes a select by a bit of the key, and of one in lanes,
    with AVX-512, a load under a mask.
    """
    carries = block >> 63
    folded = (carries << 63) ^ (carries << 62) ^ (carries << 57)
    return (block << 1) ^ v.shuffle(carries, carries, _SWAP) ^ v.shuffle(v.zero(v.u64x2), folded, _HIGH)


# The portable kernel --------------------------------------------------------------------------


@inline
def _reduce(r0, r1, r2, r3):
    """x^-128 times a 256-bit polynomial given as four words; see the head of this file."""
    r1 ^= (r0 << _63) ^ (r0 << _62) ^ (r0 << _57)
    r2 ^= r0 ^ (r0 >> _ONE) ^ (r0 >> _TWO) ^ (r0 >> _SEVEN)
    r2 ^= (r1 << _63) ^ (r1 << _62) ^ (r1 << _57)
    r3 ^= r1 ^ (r1 >> _ONE) ^ (r1 >> _TWO) ^ (r1 >> _SEVEN)
    return v.insert(v.insert(v.zero(v.u64x2), 0, r2), 1, r3)


@inline
def _split(scratch, y, source, offset, first, order):
    """Write the nine Karatsuba pieces of each block of groups first ... to scratch[piece][group].

    ``y`` is added to the first block. Pieces are in the low halves of the lanes.
    """
    state = v.concat(y, v.zero(v.u64x2))
    for group in range(first, GROUPS):
        at = offset + (group - first) * _GROUP_BYTES
        blocks01 = v.load(v.u8x32, source, at)
        blocks23 = v.load(v.u8x32, source, at + 32)
        a = v.as_u64(v.shuffle_blocks(blocks01, blocks01, order)) ^ state
        b = v.as_u64(v.shuffle_blocks(blocks23, blocks23, order))
        state = v.zero(v.u64x4)
        low, high = v.unpack_low(a, b), v.unpack_high(a, b)
        at = group * _VECTOR_BYTES
        for half in (low, high, low ^ high):
            above = half >> 32
            for piece in (half, above, half ^ above):
                v.store(scratch, at, piece)
                at += GROUPS * _VECTOR_BYTES


@inline
def _multiply(table, scratch, first):
    """Sum over blocks of piece times piece of a power of H; a 64-bit sum for each kind of piece."""
    for piece in range(PIECES):
        z0 = z1 = z2 = z3 = v.zero(v.u64x4)
        for group in range(first, GROUPS):
            at = (piece * GROUPS + group) * _VECTOR_BYTES
            x = v.load(v.u64x4, scratch, at)
            x0, x1, x2, x3 = x & 0x11111111, x & 0x22222222, x & 0x44444444, x & 0x88888888
            h0 = v.load(v.u64x4, table, 4 * at)
            h1 = v.load(v.u64x4, table, 4 * at + 32)
            h2 = v.load(v.u64x4, table, 4 * at + 64)
            h3 = v.load(v.u64x4, table, 4 * at + 96)
            z0 ^= (
                v.mul_low_halves(x0, h0)
                ^ v.mul_low_halves(x1, h3)
                ^ v.mul_low_halves(x2, h2)
                ^ v.mul_low_halves(x3, h1)
            )
            z1 ^= (
                v.mul_low_halves(x0, h1)
                ^ v.mul_low_halves(x1, h0)
                ^ v.mul_low_halves(x2, h3)
                ^ v.mul_low_halves(x3, h2)
            )
            z2 ^= (
                v.mul_low_halves(x0, h2)
                ^ v.mul_low_halves(x1, h1)
                ^ v.mul_low_halves(x2, h0)
                ^ v.mul_low_halves(x3, h3)
            )
            z3 ^= (
                v.mul_low_halves(x0, h3)
                ^ v.mul_low_halves(x1, h2)
                ^ v.mul_low_halves(x2, h1)
                ^ v.mul_low_halves(x3, h0)
            )
        z = (z0 & _CLASS) | (z1 & (_CLASS << _ONE)) | (z2 & (_CLASS << _TWO)) | (z3 & (_CLASS << _THREE))
        v.store(scratch, _SUMS + 16 * piece, v.low(z) ^ v.high(z))


@inline
def _product(scratch, at):
    """The two halves of a 64 x 64 bit product, from its three Karatsuba sums."""
    low = v.load(v.u64x2, scratch, at)
    high = v.load(v.u64x2, scratch, at + 16)
    middle = v.load(v.u64x2, scratch, at + 32)
    p0 = v.extract(low, 0) ^ v.extract(low, 1)
    p1 = v.extract(high, 0) ^ v.extract(high, 1)
    p2 = v.extract(middle, 0) ^ v.extract(middle, 1) ^ p0 ^ p1
    return p0 ^ (p2 << _32), p1 ^ (p2 >> _32)


@inline
def _absorb_batch(table, scratch, y, source, offset, first, order):
    """y = (y ^ X1) H^n ^ ... ^ Xn H for the n = 4 (GROUPS - first) blocks at source + offset."""
    _split(scratch, y, source, offset, first, order)
    _multiply(table, scratch, first)
    a0, a1 = _product(scratch, _SUMS)
    b0, b1 = _product(scratch, _SUMS + 48)
    c0, c1 = _product(scratch, _SUMS + 96)
    return _reduce(a0, a1 ^ c0 ^ a0 ^ b0, b0 ^ c1 ^ a1 ^ b1, b1)


@inline
def absorb(table, y, source, offset, n_blocks, order):
    """y = (...(y ^ X1) H ^ X2) H ...) H for blocks at ``source`` + ``offset`` bytes.

    Parameters
    ----------
    table : uint64[TABLE_WORDS]   from `_expand`
    y : u64x2                     state in POLYVAL form; returned updated
    source                        array or address
    order                         `GHASH_ORDER` or `POLYVAL_ORDER`

    Timing: depends on ``n_blocks`` only. Source: SP 800-38D, 6.4; RFC 8452, 3.
    """
    scratch = v.stack(_SCRATCH_BYTES)
    end = offset + n_blocks * 16
    while end - offset >= _BATCH_BYTES:
        y = _absorb_batch(table, scratch, y, source, offset, 0, order)
        offset += _BATCH_BYTES
    rest = end - offset
    if rest:
        # Zero blocks in front fill the first group; y goes to the first block that is not one.
        first = (_BATCH_BYTES - rest) // _GROUP_BYTES
        at = scratch + _TAIL + (-rest) % _GROUP_BYTES
        v.store(scratch, _TAIL, v.zero(v.u64x4))
        v.store(scratch, _TAIL + 32, v.zero(v.u64x4))
        for i in range(0, rest, 16):
            v.store(at, i, v.load(v.u8x16, source, offset + i))
        store_block(at, 0, load_block(at, 0, order) ^ y, order)
        y = _absorb_batch(table, scratch, v.zero(v.u64x2), scratch, _TAIL, first, order)
    v.wipe(scratch, _SCRATCH_BYTES)
    return y


@inline
def _set_power(table, exponent, h):
    """Enter H^exponent (u64x2): its nine pieces, each in four classes."""
    group, block = (N - exponent) // LANES, (N - exponent) % LANES
    lane = ((block & 1) << 1) | (block >> 1)
    low, high = v.extract(h, 0), v.extract(h, 1)
    piece = 0
    for half in (low, high, low ^ high):
        for word in (half & _LOW, half >> _32, (half ^ (half >> _32)) & _LOW):
            at = (piece * GROUPS + group) * 4 * LANES + lane
            table[at] = word & _CLASS
            table[at + LANES] = word & (_CLASS << _ONE)
            table[at + 2 * LANES] = word & (_CLASS << _TWO)
            table[at + 3 * LANES] = word & (_CLASS << _THREE)
            piece += 1


@inline
def _expand(table, h):
    """Fill a table from H (u64x2, POLYVAL form); each power is made with the one before."""
    table[:] = _NONE
    _set_power(table, 1, h)
    scratch = v.stack(_SCRATCH_BYTES)
    for offset in range(0, _GROUP_BYTES, 16):
        v.store(scratch, _TAIL + offset, v.zero(v.u64x2))
    power = h
    for exponent in range(2, N + 1):
        v.store(scratch, _TAIL + _GROUP_BYTES - 16, power)
        zero = v.zero(v.u64x2)
        power = _absorb_batch(table, scratch, zero, scratch, _TAIL, GROUPS - 1, POLYVAL_ORDER)
        _set_power(table, exponent, power)
    v.wipe(scratch, _SCRATCH_BYTES)


@inline
def ghash_update(table, y, src, start, n_blocks):
    """Absorb ``n_blocks`` blocks of ``src`` from byte ``start``; y is uint8[16], updated in place."""
    state = load_block(y, 0, GHASH_ORDER)
    store_block(y, 0, absorb(table, state, src, start, n_blocks, GHASH_ORDER), GHASH_ORDER)


@kernel("void(u8[::1], u1[::1])")
def _expand_ghash(table, h):
    _expand(table, times_x(load_block(h, 0, GHASH_ORDER)))


@kernel("void(u8[::1], u1[::1])")
def _expand_polyval(table, h):
    _expand(table, load_block(h, 0, POLYVAL_ORDER))


@kernel("void(u8[::1], u1[::1], u1[::1])")
def ghash(table, y, src):
    """y = (...((y ^ X1) H ^ X2) H ...) H over the whole blocks of ``src``. See `GhashSlots`."""
    ghash_update(table, y, src, 0, len(src) // 16)


@kernel("void(u8[::1], u1[::1], u1[::1])")
def polyval(table, y, src):
    """`ghash` in POLYVAL's field and byte order."""
    state = load_block(y, 0, POLYVAL_ORDER)
    store_block(y, 0, absorb(table, state, src, 0, len(src) // 16, POLYVAL_ORDER), POLYVAL_ORDER)


def ghash_key(h):
    """The table for `ghash` from H, uint8[16]."""
    table = np.empty(TABLE_WORDS, np.uint64)
    _expand_ghash(table, h)
    return table


def polyval_key(h):
    """The table for `polyval` from H, uint8[16]."""
    table = np.empty(TABLE_WORDS, np.uint64)
    _expand_polyval(table, h)
    return table


PORTABLE = GhashSlots(
    name="portable",
    constant_time=True,
    ghash_key=ghash_key,
    ghash=ghash,
    polyval_key=polyval_key,
    polyval=polyval,
    gcm_module="twofishkit.kernels.gcm_portable",
)
