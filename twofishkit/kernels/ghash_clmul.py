"""GHASH and POLYVAL on 128-bit carry-less multiplies: the body of the pclmul and pmull kernels.

One block a vector (u64x2), Karatsuba: lo = x.0 h.0, hi = x.1 h.1, mid = (x.0 ^ x.1)(h.0 ^ h.1);
three multiplies a block, sums kept apart over `N` blocks, then

    mid ^= lo ^ hi;  mid ^= swap(lo) ^ lo.0 C;  y = hi ^ swap(mid) ^ mid.0 C

with C = x^63 + x^62 + x^57 (the field and C: see ghash.py). The products with C are shifts: on Zen 4
0.38 c/B, against 0.395 with two more multiplies.

A table holds H^N ... H^1 and then, for each, the XOR of its two halves. n < N blocks start at H^n.
Blocks are taken last to first, and the state enters with the first: so a CPU can multiply most of a
batch while it still reduces the one before.

Cost of a block of 16 bytes: 3 multiplies, 2 shuffles, 3 to 5 XORs, 2.5 loads.
"""

from twofishkit.kernels.ghash import load_block
from twofishkit.kernels.jit import inline
from twofishkit.simd import vectors as v

#: Blocks that share a reduction.
N = 16
#: Powers, two words each, then their folded halves.
TABLE_WORDS = 3 * N
_FOLDS = 16 * N
_SWAP = v.lanes(1, 0)
_LOW_HIGH = v.lanes(0, 3)


@inline
def _times_c(q):
    """C times the low half of each block. Shifts leave the multiplier free for the next blocks."""
    q = v.unpack_low(q, q)
    return v.shuffle_blocks((q << 63) ^ (q << 62) ^ (q << 57), (q >> 1) ^ (q >> 2) ^ (q >> 7), _LOW_HIGH)


@inline
def swap(x):
    """Exchange the halves of each block."""
    return v.shuffle_blocks(x, x, _SWAP)


@inline
def reduce(lo, mid, hi):
    """x^-128 (lo + mid x^64 + hi x^128), with ``mid`` still containing lo and hi (Karatsuba).

    Works on any number of blocks side by side.
    """
    mid ^= lo ^ hi
    mid ^= swap(lo) ^ _times_c(lo)
    return hi ^ swap(mid) ^ _times_c(mid)


@inline
def dot(a, b):
    """a b x^-128 in POLYVAL form, for each block. RFC 8452, 3."""
    return reduce(v.clmul(a, b, 0x00), v.clmul(a ^ swap(a), b ^ swap(b), 0x00), v.clmul(a, b, 0x11))


@inline
def _two_products(table, i, a, b):
    """Unreduced a H^(N-i) + b H^(N-i-1), as lo, mid, hi."""
    ha = v.load(v.u64x2, table, 16 * i)
    hb = v.load(v.u64x2, table, 16 * i + 16)
    folds = v.load(v.u64x2, table, _FOLDS + 8 * i)
    x = v.unpack_low(a, b) ^ v.unpack_high(a, b)
    lo = v.clmul(a, ha, 0x00) ^ v.clmul(b, hb, 0x00)
    hi = v.clmul(a, ha, 0x11) ^ v.clmul(b, hb, 0x11)
    return lo, v.clmul(x, folds, 0x00) ^ v.clmul(x, folds, 0x11), hi


@inline
def _batch(table, y, source, offset, n, order):
    """y = (y ^ X1) H^n ^ ... ^ Xn H for n = 1 ... N blocks."""
    lo = mid = hi = v.zero(v.u64x2)
    i = n - 2
    if n & 1:
        x = load_block(source, offset + 16 * (n - 1), order)
        if n == 1:
            x ^= y
        h = v.load(v.u64x2, table, 16 * (N - 1))
        lo = v.clmul(x, h, 0x00)
        mid = v.clmul(x ^ swap(x), h ^ swap(h), 0x00)
        hi = v.clmul(x, h, 0x11)
        i = n - 3
    while i >= 0:
        a = load_block(source, offset + 16 * i, order)
        b = load_block(source, offset + 16 * i + 16, order)
        if i == 0:
            a ^= y
        l, m, h = _two_products(table, N - n + i, a, b)
        lo, mid, hi = lo ^ l, mid ^ m, hi ^ h
        i -= 2
    return reduce(lo, mid, hi)


@inline
def absorb(table, y, source, offset, n_blocks, order):
    """y = (...(y ^ X1) H ^ X2) H ...) H for blocks at ``source`` + ``offset`` bytes.

    Parameters
    ----------
    table : uint64[TABLE_WORDS]   from `expand`
    y : u64x2                     state in POLYVAL form; returned updated
    source                        array or address
    order                         `ghash.GHASH_ORDER` or `ghash.POLYVAL_ORDER`

    Timing: depends on ``n_blocks`` only. Source: SP 800-38D, 6.4; RFC 8452, 3.
    """
    while n_blocks >= N:
        y = _batch(table, y, source, offset, N, order)
        offset += 16 * N
        n_blocks -= N
    if n_blocks:
        y = _batch(table, y, source, offset, n_blocks, order)
    return y


@inline
def expand(table, h):
    """Fill a table from H (u64x2, POLYVAL form)."""
    power = h
    for i in range(N - 1, -1, -1):
        v.store(table, 16 * i, power)
        table[2 * N + i] = v.extract(power, 0) ^ v.extract(power, 1)
        power = dot(power, h)
