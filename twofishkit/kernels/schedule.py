"""The key schedule of `gather`, compiled: from key bytes to subkeys and key-dependent S-box tables.

A schedule is uint8[SCHEDULE_BYTES]: the header of `native`; four tables of 256 words, each an S-box
composed with its column of MDS, so that

    g(X) = T0[X & 255] ^ T1[X >> 8 & 255] ^ T2[X >> 16 & 255] ^ T3[X >> 24];

and the subkeys K[0] ... K[39].

Names and order are the paper's ("Twofish: A 128-Bit Block Cipher", 15 June 1998; sections below are
its). The small tables are computed from their definitions when this file is imported.

Cost: 40 h for K, and k + 1 look-ups for each of 1024 entries, k = 2, 3, 4 words of S-box key.
Timing: depends on the key, through table indices.
"""

import numpy as np

from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.native import HEADER_BYTES
from twofishkit.kernels.words import (
    byte,
    load_u8,
    load_u32,
    rotl,
    stack_u32,
    store_u32,
    store_u32_scalar,
    wipe_words,
)
from twofishkit.simd import vectors as v

#: Number of subkeys.
SUBKEYS = 40

#: Where the tables and the subkeys are in a schedule, and its size.
TABLES_AT = HEADER_BYTES
SUBKEYS_AT = TABLES_AT + 4 * 1024
SCHEDULE_BYTES = SUBKEYS_AT + 4 * SUBKEYS

MDS_POLYNOMIAL = 0x169  # v(x) = x^8 + x^6 + x^5 + x^3 + 1, section 4.2
RS_POLYNOMIAL = 0x14D  # w(x) = x^8 + x^6 + x^3 + x^2 + 1, section 4.3

# Section 4.3.5: the 4-bit permutations t0, t1, t2, t3 of q0 and of q1, one hex digit an entry.
Q0_NIBBLES = "817D6F320B59ECA4", "ECB81235F4A6709D", "BA5E6D90C8F32471", "D7F4126E9B3085CA"
Q1_NIBBLES = "28BDF76E31940AC5", "1E2B4C376DA5F908", "4C75169A0ED82B3F", "B951C3DE647F208A"

_MDS = (
    (0x01, 0xEF, 0x5B, 0x5B),
    (0x5B, 0xEF, 0xEF, 0x01),
    (0xEF, 0x5B, 0x01, 0xEF),
    (0xEF, 0x01, 0xEF, 0x5B),
)
_RS = (
    (0x01, 0xA4, 0x55, 0x87, 0x5A, 0x58, 0xDB, 0x9E),
    (0xA4, 0x56, 0x82, 0xF3, 0x1E, 0xC6, 0x68, 0xE5),
    (0x02, 0xA1, 0xFC, 0xC1, 0x47, 0xAE, 0x3D, 0x19),
    (0xA4, 0x55, 0x87, 0x5A, 0x58, 0xDB, 0x9E, 0x03),
)


def _q(nibbles):
    """All 256 values of a q-permutation. Source: section 4.3.5."""
    t0, t1, t2, t3 = (np.array([int(digit, 16) for digit in row]) for row in nibbles)

    def mix(a, b):
        return a ^ b, a ^ (b >> 1 | b << 3 & 15) ^ (8 * a & 15)

    a, b = np.divmod(np.arange(256), 16)
    a, b = mix(a, b)
    a, b = mix(t0[a], t1[b])
    return (16 * t3[b] + t2[a]).astype(np.uint8)


def _multiples(constant, polynomial):
    """constant * y in GF(2^8), for all bytes y."""
    y = np.arange(256)
    product = np.zeros(256, np.int64)
    while constant:
        product ^= y * (constant & 1)
        y = y << 1 ^ (y >> 7) * polynomial
        constant >>= 1
    return product


def _columns(matrix, polynomial):
    """Columns[j][y]: column j of the matrix times y as a word, row i in byte i."""
    words = [
        sum(_multiples(row[j], polynomial) << 8 * i for i, row in enumerate(matrix))
        for j in range(len(matrix[0]))
    ]
    return np.array(words).astype(np.uint32)


Q0, Q1 = _q(Q0_NIBBLES), _q(Q1_NIBBLES)

#: MDS_Q[j][y]: column j of MDS times q(y), with the q that comes last in byte position j.
MDS_Q = np.stack(
    [column[q] for column, q in zip(_columns(_MDS, MDS_POLYNOMIAL), (Q1, Q0, Q1, Q0), strict=True)]
)

#: RS_COLUMNS[j][m]: RS times a vector of eight bytes is the XOR of one entry of each.
RS_COLUMNS = _columns(_RS, RS_POLYNOMIAL)


@inline
def h(y0, y1, y2, y3, lists, at, k):
    """h(X, L) for the bytes y0 ... y3 of X and L = lists[at], ..., lists[at + k - 1].

    Source: section 4.3.2 and figure 2.
    """
    if k == 4:
        l3 = lists[at + 3]
        y0 = np.uint8(Q1[y0] ^ byte(l3, 0))
        y1 = np.uint8(Q0[y1] ^ byte(l3, 1))
        y2 = np.uint8(Q0[y2] ^ byte(l3, 2))
        y3 = np.uint8(Q1[y3] ^ byte(l3, 3))
    if k >= 3:
        l2 = lists[at + 2]
        y0 = np.uint8(Q1[y0] ^ byte(l2, 0))
        y1 = np.uint8(Q1[y1] ^ byte(l2, 1))
        y2 = np.uint8(Q0[y2] ^ byte(l2, 2))
        y3 = np.uint8(Q0[y3] ^ byte(l2, 3))
    l0, l1 = lists[at], lists[at + 1]
    return np.uint32(
        MDS_Q[0, Q0[Q0[y0] ^ byte(l1, 0)] ^ byte(l0, 0)]
        ^ MDS_Q[1, Q0[Q1[y1] ^ byte(l1, 1)] ^ byte(l0, 1)]
        ^ MDS_Q[2, Q1[Q0[y2] ^ byte(l1, 2)] ^ byte(l0, 2)]
        ^ MDS_Q[3, Q1[Q1[y3] ^ byte(l1, 3)] ^ byte(l0, 3)]
    )


@inline
def split_key(key, at, k, lists):
    """Fill lists uint32[12] with Me, Mo and S, four words each, from 8 * k key bytes at ``at``.

    S is in the order in which h takes it, S_{k-1} first. Source: section 4.3.
    """
    for i in range(k):
        lists[i] = load_u32(key, at + 8 * i)
        lists[4 + i] = load_u32(key, at + 8 * i + 4)
        word = np.uint32(0)
        for j in range(8):
            word = np.uint32(word ^ RS_COLUMNS[j, load_u8(key, at + 8 * i + j)])
        lists[8 + k - 1 - i] = word


@inline
def fill_subkeys(lists, k, subkeys):
    """K[2i] = A + B and K[2i+1] = rol(A + 2B, 9), with A = h(2i rho, Me), B = rol(h((2i+1) rho, Mo), 8).

    Source: section 4.3.3.
    """
    for i in range(20):
        x, y = np.uint8(2 * i), np.uint8(2 * i + 1)
        a = h(x, x, x, x, lists, 0, k)
        b = rotl(h(y, y, y, y, lists, 4, k), 8)
        store_u32(subkeys, 8 * i, np.uint32(a + b))
        store_u32(subkeys, 8 * i + 4, rotl(np.uint32(a + 2 * b), 9))


@inline
def fill_table(schedule, j, k, lists, q3, q2, q1, q0):
    """Table j of g: S-box j, whose layers are q3 (256-bit keys), q2 (192 too), q1, q0, then MDS."""
    at = TABLES_AT + 1024 * j
    l0, l1, l2, l3 = byte(lists[8], j), byte(lists[9], j), byte(lists[10], j), byte(lists[11], j)
    for x in range(256):
        y = np.uint8(x)
        if k == 4:
            y = np.uint8(q3[y] ^ l3)
        if k >= 3:
            y = np.uint8(q2[y] ^ l2)
        store_u32_scalar(schedule, at + 4 * x, MDS_Q[j, q0[q1[y] ^ l1] ^ l0])


@kernel("i8(u1[::1], u1[::1])")
def expand_into(memory, key):
    """Fill a schedule, all but its header, from 16, 24 or 32 key bytes; returns its offset in ``memory``.

    ``memory`` is uint8[SCHEDULE_BYTES + 64]; the schedule is aligned to 64 bytes within it.
    Timing: depends on the key.
    """
    start = -v.address(memory) & 63
    schedule, k = v.address(memory) + start, key.size >> 3
    lists = stack_u32(12)
    split_key(key, 0, k, lists)
    fill_subkeys(lists, k, schedule + SUBKEYS_AT)
    fill_table(schedule, 0, k, lists, Q1, Q1, Q0, Q0)
    fill_table(schedule, 1, k, lists, Q0, Q1, Q1, Q0)
    fill_table(schedule, 2, k, lists, Q0, Q0, Q0, Q1)
    fill_table(schedule, 3, k, lists, Q1, Q0, Q1, Q1)
    wipe_words(lists)
    return start
