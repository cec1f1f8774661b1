"""Key schedule and building blocks of the `shuffle` kernels: q by 16-entry look-ups.

A schedule is uint8[SCHEDULE_BYTES]: the header of `native`; four S-boxes of 256 bytes as `lookup256` wants
them, row h (entries 16 h ... 16 h + 15) of all four side by side in 64 bytes; then K[0] ... K[39].
The S-boxes are divided by x^2, because then the MDS matrix needs only doublings (see `mds`).

h is computed for 16 arguments and all four byte positions at once, one in each 16-byte block of 64
bytes, with tables of q0 or q1 in each block as the position wants. One q on bytes with nibbles (high, low):

1. a = high ^ low, b = high ^ (low rotated right by 1) ^ 8 high
2. t0[a], t1[b] and the same mixing again: two look-ups in tables of bytes that hold both results
3. t2, t3: two more look-ups in tables whose entries are moved into place, and in the last q of h
   divided by x^2 as well

The first q of h has its argument known before, so its results are constants.

Cost, for 64 bytes: 16 operations a q, k of them; 19 rows of 64 bytes.
Timing: constant; no address and no branch depends on the key, only on its length.
Source: "Twofish: A 128-Bit Block Cipher", sections 4.2, 4.3.
"""

import numpy as np

from twofishkit.kernels.jit import inline
from twofishkit.kernels.native import HEADER_BYTES
from twofishkit.kernels.rounds import MDS_FEEDBACK, join_bytes, rs
from twofishkit.kernels.schedule import Q0, Q0_NIBBLES, Q1, Q1_NIBBLES
from twofishkit.kernels.words import load_u64
from twofishkit.simd import vectors as v

ROWS = HEADER_BYTES
SUBKEYS = ROWS + 16 * 64
SCHEDULE_BYTES = SUBKEYS + 192
#: Scratch for `expand`.
EXPAND_BYTES = 192

#: Which q comes at each byte position: first for k = 2, 3, 4; then, counted from the last, the others.
_FIRST = (0, 1, 0, 1), (1, 1, 0, 0), (1, 0, 0, 1)
_OTHERS = (1, 0, 1, 0), (0, 0, 1, 1), (0, 1, 0, 1), (1, 1, 0, 0)


def _times(constant, byte):
    """Product in GF(2^8)/v(x), section 4.2."""
    product = 0
    while constant:
        product ^= byte * (constant & 1)
        byte = byte << 1 ^ (byte >> 7) * MDS_FEEDBACK
        constant >>= 1
    return product


def _low_share(x):
    """What the low nibble adds to b."""
    return x >> 1 | x << 3 & 15


def _high_share(x):
    """What the high nibble adds to b."""
    return x ^ 8 * x & 15


#: x^-2, since 5B is x^-2 + 1.
_QUARTER = 0x5A


def _q_tables(q, factor):
    """The four tables of a q, whose results are multiplied by ``factor``."""
    t0, t1, t2, t3 = ([int(digit, 16) for digit in row] for row in (Q0_NIBBLES, Q1_NIBBLES)[q])
    return (
        [x | _high_share(x) << 4 for x in t0],
        [x | _low_share(x) << 4 for x in t1],
        [_times(factor, x) for x in t2],
        [_times(factor, x << 4) for x in t3],
    )


def _layers():
    """Q_TABLES: for each layer counted from the last, four tables; each has 16 bytes for every position."""
    rows = []
    for i, layer in enumerate(_OTHERS):
        tables = [_q_tables(q, 1 if i else _QUARTER) for q in layer]
        rows += [[tables[j][t] for j in range(4)] for t in range(4)]
    return np.array(rows, np.uint8).ravel()


def _first_layer():
    """FIRST_Q: for each k, for each row, the first q of its 16 arguments at every position."""
    rows = [[(Q0, Q1)[q][16 * h : 16 * h + 16] for q in positions] for positions in _FIRST for h in range(16)]
    return np.array(rows, np.uint8).ravel()


Q_TABLES, FIRST_Q = _layers(), _first_layer()
#: In block j, byte j of the first and of the second of two words, alternating.
KEY_BYTES = np.array([[j, j + 4] * 8 for j in range(4)], np.uint8).ravel()

LOW_SHARE = v.lanes(*map(_low_share, range(16)))
HIGH_SHARE = v.lanes(*map(_high_share, range(16)))
LOW_TIMES_4 = v.lanes(*(_times(4, x) for x in range(16)))
HIGH_TIMES_4 = v.lanes(*(_times(4, x << 4) for x in range(16)))
EVEN, ODD = v.lanes(0, 2, 4, 6), v.lanes(1, 3, 5, 7)


@inline
def nibbles(T, x):
    """The low and the high nibbles."""
    return x & 15, v.bitcast(T, v.as_u16(x) >> 4) & 15


@inline
def times_2(T, y):
    """x y in GF(2^8)/v(x)."""
    return (y + y) ^ v.select(v.negative(y), v.splat(T, MDS_FEEDBACK & 0xFF), v.zero(T))


@inline
def times_4(T, y):
    """x^2 y in GF(2^8)/v(x)."""
    low, high = nibbles(T, y)
    return v.lookup16(v.constant(T, LOW_TIMES_4), low) ^ v.lookup16(v.constant(T, HIGH_TIMES_4), high)


@inline
def mds(T, u0, u1, u2, u3):
    """The MDS matrix times x^2 (u0, u1, u2, u3).

    With 1 = x^-2 x^2, 5B = x^-2 (x^2 + 1) and EF = x^-2 (x^2 + x + 1) each row is x^2 times the sum of
    all, plus the sum of all but one (where the 1 is), plus x times the one or two at EF.
    Source: section 4.2.
    """
    u12, u03 = u1 ^ u2, u0 ^ u3
    twice_12, twice_03 = times_2(T, u12), times_2(T, u03)
    common = times_2(T, twice_12 ^ twice_03) ^ u12 ^ u03
    return (
        common ^ u0 ^ times_2(T, u1),
        common ^ u3 ^ twice_12,
        common ^ u2 ^ twice_03,
        common ^ u1 ^ times_2(T, u0 ^ u2),
    )


@inline
def _q(T, x, layer, part):
    """q0 or q1 of all bytes, as ``layer`` wants it in each block; blocks from ``part`` bytes on."""
    at = 256 * layer + part
    low, high = nibbles(T, x)
    a = low ^ high
    b = v.lookup16(v.constant(T, LOW_SHARE), low) ^ v.lookup16(v.constant(T, HIGH_SHARE), high)
    a, b = nibbles(T, v.lookup16(v.load(T, Q_TABLES, at), a) ^ v.lookup16(v.load(T, Q_TABLES, at + 64), b))
    return v.lookup16(v.load(T, Q_TABLES, at + 128), a) ^ v.lookup16(v.load(T, Q_TABLES, at + 192), b)


@inline
def _key_bytes(T, pair, part):
    """The bytes of two words (the lower the first) as lanes of h meet them."""
    words = v.repeat(T, v.as_u8(v.splat(v.u64x2, pair)))
    return v.lookup16(words, v.load(T, KEY_BYTES, part))


@inline
def _fill_rows(T, target, n, p0, p1, p2, p3, k):
    """Rows 0 ... n - 1 of h before MDS: the arguments 16 row + lane, at each position in its block.

    p0 ... p3 are L_0 ... L_3, each as a pair of words, for even and for odd arguments.
    """
    for part in range(0, 64, v.n_bytes(T)):
        l0, l1 = _key_bytes(T, p0, part), _key_bytes(T, p1, part)
        l2, l3 = _key_bytes(T, p2, part), _key_bytes(T, p3, part)
        for row in range(n):
            x = v.load(T, FIRST_Q, 1024 * (k - 2) + 64 * row + part)
            if k == 4:
                x = _q(T, x ^ l3, 3, part)
            if k >= 3:
                x = _q(T, x ^ l2, 2, part)
            x = _q(T, x ^ l1, 1, part)
            v.store(target, 64 * row + part, _q(T, x ^ l0, 0, part))


@inline
def _four_subkeys(x, y):
    """K of the words A_i, B_i (not yet rotated by 8), A_i+1, ...: eight words, in order. Source: 4.3.3."""
    a, b = v.shuffle(x, y, EVEN), v.rotl(v.shuffle(x, y, ODD), 8)
    even = a + b
    odd = v.rotl(even + b, 9)
    return v.unpack_low(even, odd), v.unpack_high(even, odd)


@inline
def _fill_subkeys(T, schedule, key, k, scratch):
    """K[0] ... K[39], and eight words of no meaning."""
    p0, p1 = load_u64(key, 0), load_u64(key, 8)
    p2, p3 = p1, p1
    if k >= 3:
        p2 = load_u64(key, 16)
    if k == 4:
        p3 = load_u64(key, 24)
    _fill_rows(T, scratch, 3, p0, p1, p2, p3, k)
    for at in range(0, 192, 64):
        z0, z1, z2, z3 = mds(
            v.u8x16,
            v.load(v.u8x16, scratch, at),
            v.load(v.u8x16, scratch, at + 16),
            v.load(v.u8x16, scratch, at + 32),
            v.load(v.u8x16, scratch, at + 48),
        )
        w0, w1, w2, w3 = join_bytes(z0, z1, z2, z3)
        k0, k1 = _four_subkeys(w0, w1)
        k2, k3 = _four_subkeys(w2, w3)
        v.store(schedule, SUBKEYS + at, k0)
        v.store(schedule, SUBKEYS + at + 16, k1)
        v.store(schedule, SUBKEYS + at + 32, k2)
        v.store(schedule, SUBKEYS + at + 48, k3)


@inline
def _twice(word):
    """A word for even and for odd arguments."""
    return np.uint64(np.uint64(word) | np.uint64(np.uint64(word) << np.uint64(32)))


@inline
def expand(T, schedule, key, k, scratch):
    """Fill all of a schedule but its header from k pairs of key words at address ``key``."""
    _fill_subkeys(T, schedule, key, k, scratch)
    words = rs(key, k)
    s0, s1 = _twice(v.extract(words, k - 1)), _twice(v.extract(words, k - 2))
    s2, s3 = s1, s1
    if k >= 3:
        s2 = _twice(v.extract(words, k - 3))
    if k == 4:
        s3 = _twice(v.extract(words, 0))
    _fill_rows(T, schedule + ROWS, 16, s0, s1, s2, s3, k)
    v.prepare_lookup256(schedule, ROWS)
