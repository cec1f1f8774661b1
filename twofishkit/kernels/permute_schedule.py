"""Key schedule and building blocks of the `permute` kernels: AVX-512 byte permutes and GFNI.

A schedule is uint8[SCHEDULE_BYTES]: the header of `native`, four S-boxes of 256 bytes, K[0] ... K[39],
and K in pairs spread over a vector for `permute_few`. All 40 arguments of h, and all 256 entries of
each S-box, are looked up at once: 64 bytes at a time, q0 and q1 being four registers each.

Cost: about 110 look-ups of 64 bytes for a 128-bit key, 190 for a 256-bit key; under 0.4 microseconds.
Timing: constant; no address and no branch depends on the key, only on its length.
Source: "Twofish: A 128-Bit Block Cipher", section 4.3.
"""

import numpy as np

from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.native import HEADER_BYTES
from twofishkit.kernels.rounds import MDS_FEEDBACK, join_bytes, rs
from twofishkit.kernels.schedule import Q0, Q1
from twofishkit.kernels.words import load_u32, store_u32
from twofishkit.simd import vectors as v
from twofishkit.simd.x86 import gf2p8affineqb, vpermi2b

REQUIRES = frozenset({"x86-64", "avx512f", "avx512bw", "avx512vl", "avx512vbmi", "gfni"})

TABLES = HEADER_BYTES
SUBKEYS = TABLES + 4 * 256
PAIRS = SUBKEYS + 192
SCHEDULE_BYTES = PAIRS + 20 * 64


def multiplier(constant):
    """The bit matrix for gf2p8affineqb that multiplies by a constant in GF(2^8)/v(x), as 8 bytes."""
    columns = []  # columns[j] = constant * x^j
    for _ in range(8):
        columns.append(constant)
        constant = constant << 1 ^ (constant >> 7) * MDS_FEEDBACK
    rows = [sum((column >> i & 1) << j for j, column in enumerate(columns)) for i in range(8)]
    return rows[::-1]


TIMES_5B, TIMES_EF = v.lanes(*multiplier(0x5B)), v.lanes(*multiplier(0xEF))
IN_SECOND_HALF = v.lanes(*(8 * [0] + 8 * [1]))


@inline
def look_up(t0, t1, t2, t3, index):
    """256-entry table look-up of 64 bytes."""
    return v.select(v.negative(index), vpermi2b(t2, index, t3), vpermi2b(t0, index, t1))


@inline
def mds(y0, y1, y2, y3):
    """The MDS matrix times the column (y0, y1, y2, y3). Source: section 4.2."""
    x5b, xef = v.constant(v.u8x64, TIMES_5B), v.constant(v.u8x64, TIMES_EF)
    z0 = y0 ^ gf2p8affineqb(y1, xef) ^ gf2p8affineqb(y2 ^ y3, x5b)
    z1 = y3 ^ gf2p8affineqb(y0, x5b) ^ gf2p8affineqb(y1 ^ y2, xef)
    z2 = y2 ^ gf2p8affineqb(y1, x5b) ^ gf2p8affineqb(y0 ^ y3, xef)
    z3 = y1 ^ gf2p8affineqb(y3, x5b) ^ gf2p8affineqb(y0 ^ y2, xef)
    return z0, z1, z2, z3


@inline
def q(table, x):
    """q0 or q1 of 64 bytes; ``table`` is the global array."""
    return look_up(
        v.load(v.u8x64, table, 0),
        v.load(v.u8x64, table, 64),
        v.load(v.u8x64, table, 128),
        v.load(v.u8x64, table, 192),
        x,
    )


@inline
def h_bytes(x, j, l0, l1, l2, l3, k):
    """Byte position j of h before MDS; l0 ... are the key bytes of each lane. Source: section 4.3.5."""
    ends, even, low = j == 0 or j == 3, j == 0 or j == 2, j < 2
    if k >= 3:
        if k == 4:
            x = (q(Q1, x) if ends else q(Q0, x)) ^ l3
        x = (q(Q1, x) if low else q(Q0, x)) ^ l2
    x = (q(Q0, x) if even else q(Q1, x)) ^ l1
    x = (q(Q0, x) if low else q(Q1, x)) ^ l0
    return q(Q1, x) if even else q(Q0, x)


@inline
def splat_byte(word, j):
    """Byte j of a word in all lanes."""
    return v.splat(v.u8x64, np.uint32(word >> np.uint32(8 * j)) & np.uint32(0xFF))


@inline
def splat_two_bytes(even, odd, j):
    """Byte j of ``even`` in even lanes and of ``odd`` in odd lanes."""
    low = np.uint32(even >> np.uint32(8 * j)) & np.uint32(0xFF)
    high = np.uint32(odd >> np.uint32(8 * j)) & np.uint32(0xFF)
    return v.as_u8(v.splat(v.u16x32, np.uint32(low | np.uint32(high << np.uint32(8)))))


@inline
def subkey_column(key, k, j):
    """Position j of h for all 40 arguments: lane 2i is of A_i = h(2i rho, Me), lane 2i + 1 of B_i."""
    l0 = splat_two_bytes(load_u32(key, 0), load_u32(key, 4), j)
    l1 = splat_two_bytes(load_u32(key, 8), load_u32(key, 12), j)
    l2, l3 = l1, l1
    if k >= 3:
        l2 = splat_two_bytes(load_u32(key, 16), load_u32(key, 20), j)
        if k == 4:
            l3 = splat_two_bytes(load_u32(key, 24), load_u32(key, 28), j)
    return h_bytes(v.iota(v.u8x64), j, l0, l1, l2, l3, k)


@inline
def fill_subkeys(schedule, key, k, scratch):
    """K[0] ... K[39]. Source: section 4.3.2."""
    u0, u1, u2, u3 = join_bytes(
        *mds(
            subkey_column(key, k, 0),
            subkey_column(key, k, 1),
            subkey_column(key, k, 2),
            subkey_column(key, k, 3),
        )
    )
    v.store(scratch, 0, u0)
    v.store(scratch, 64, u1)
    v.store(scratch, 128, u2)
    v.store(scratch, 192, u3)
    second = v.constant(v.u32x16, IN_SECOND_HALF) != 0
    for i in range(20):
        lane = 2 * i  # its dword is number lane % 4 of block lane / 16 of vector lane / 4 % 4
        at = 64 * ((lane >> 2) & 3) + 16 * (lane >> 4) + 4 * (lane & 3)
        a, b = load_u32(scratch, at), load_u32(scratch, at + 4)
        b = np.uint32(np.uint32(b << np.uint32(8)) | np.uint32(b >> np.uint32(24)))
        a = np.uint32(a + b)
        b = np.uint32(a + b)
        b = np.uint32(np.uint32(b << np.uint32(9)) | np.uint32(b >> np.uint32(23)))
        store_u32(schedule, SUBKEYS + 8 * i, a)
        store_u32(schedule, SUBKEYS + 8 * i + 4, b)
        v.store(schedule, PAIRS + 64 * i, v.select(second, v.splat(v.u32x16, b), v.splat(v.u32x16, a)))


@inline
def fill_sbox(schedule, j, s0, s1, s2, s3, k):
    """The 256 entries of S-box j; s0 ... are the words of the S-box key as h takes them."""
    l0, l1, l2, l3 = splat_byte(s0, j), splat_byte(s1, j), splat_byte(s2, j), splat_byte(s3, j)
    for quarter in range(4):
        x = v.iota(v.u8x64) + v.splat(v.u8x64, 64 * quarter)
        v.store(schedule, TABLES + 256 * j + 64 * quarter, h_bytes(x, j, l0, l1, l2, l3, k))


@inline
def expand(schedule, key, k, scratch):
    """Fill all of a schedule but its header from k key words pairs at address ``key``."""
    fill_subkeys(schedule, key, k, scratch)
    words = rs(key, k)
    s0, s1 = v.extract(words, k - 1), v.extract(words, k - 2)
    s2, s3 = s1, s1
    if k >= 3:
        s2 = v.extract(words, k - 3)
        if k == 4:
            s3 = v.extract(words, 0)
    fill_sbox(schedule, 0, s0, s1, s2, s3, k)
    fill_sbox(schedule, 1, s0, s1, s2, s3, k)
    fill_sbox(schedule, 2, s0, s1, s2, s3, k)
    fill_sbox(schedule, 3, s0, s1, s2, s3, k)


@kernel("i8(u1[::1], u1[::1])")
def expand_into(memory, key):
    """Fill a schedule, all but its header, from 16, 24 or 32 key bytes; returns its offset in ``memory``.

    ``memory`` is uint8[SCHEDULE_BYTES + 64]; the schedule is aligned to 64 bytes within it.
    """
    start = -v.address(memory) & 63
    scratch = v.stack(256)
    expand(v.address(memory) + start, v.address(key), key.size >> 3, scratch)
    v.wipe(scratch, 256)
    return start
