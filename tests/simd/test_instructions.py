"""Each function of `simd.x86`, and `lookup16`, `lookup256` and `clmul` of `simd.vectors`, against NumPy.

Every width whose CPU features this machine has is tested. A feature that is missing from the lists
below would show on a lesser machine: compiling the instruction ends the process.
"""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from twofishkit.kernels.target import lacking
from twofishkit.simd import vectors as v
from twofishkit.simd import x86

rng = np.random.default_rng(0x86)

PSHUFB = {v.u8x16: "ssse3", v.u8x32: "avx2", v.u8x64: "avx512bw"}
PCLMUL = {v.u64x2: {"pclmul"}, v.u64x4: {"avx2", "vpclmulqdq"}, v.u64x8: {"avx512f", "vpclmulqdq"}}
AFFINE = {v.u8x16: {"gfni"}, v.u8x32: {"gfni", "avx"}, v.u8x64: {"gfni", "avx512bw"}}


def need(*features):
    reason = lacking(frozenset(features))
    if reason:
        pytest.skip(reason)


def octets(n):
    return np.frombuffer(rng.bytes(n), np.uint8)


def ids(vector):
    return vector.name


@njit
def lookup(T, table, index, out):
    v.store(out, 0, v.lookup16(v.load(T, table, 0), v.load(T, index, 0)))


@pytest.mark.parametrize("vector", PSHUFB, ids=ids)
def test_lookup16(vector):
    need("x86-64", PSHUFB[vector])
    n = vector.n_bytes
    table, index, out = octets(n), octets(n) & 0x8F, np.zeros(n, np.uint8)
    lookup(vector, table, index, out)
    expected = np.take_along_axis(table.reshape(-1, 16), (index & 15).reshape(-1, 16).astype(int), 1)
    np.testing.assert_array_equal(out, np.where(index < 128, expected.reshape(-1), 0))


@njit
def long_lookups(T, tables, index, out):
    """Every index in each of four tables, then in a table for each block."""
    v.prepare_lookup256(tables, 0)
    size = v.n_bytes(T)
    for table in range(4):
        for at in range(0, 256, size):
            v.store(out, 256 * table + at, v.lookup256(tables, 16 * table, v.load(T, index, at)))
    for at in range(0, 256, size):
        v.store(out, 1024 + at, v.lookup256_each(tables, 64 - size, v.load(T, index, at)))


@pytest.mark.parametrize("vector", PSHUFB, ids=ids)
def test_lookup256(vector):
    need("x86-64", PSHUFB[vector])
    tables, index = octets(1024).reshape(4, 256), rng.permutation(256).astype(np.uint8)
    rows = np.ascontiguousarray(tables.reshape(4, 16, 16).swapaxes(0, 1)).reshape(-1)
    out = np.zeros(1280, np.uint8)
    long_lookups(vector, rows, index, out)
    np.testing.assert_array_equal(out[:1024].reshape(4, 256), tables[:, index])
    blocks = vector.n_bytes // 16
    table_of_block = 4 - blocks + np.arange(16) % blocks
    expected = tables[table_of_block[:, None], index.reshape(16, 16)]
    np.testing.assert_array_equal(out[1024:], expected.reshape(-1))


@njit
def shuffle_bytes(T, table, index, out):
    v.store(out, 0, x86.pshufb(v.load(T, table, 0), v.load(T, index, 0)))


@pytest.mark.parametrize("vector", PSHUFB, ids=ids)
def test_pshufb(vector):
    need("x86-64", PSHUFB[vector])
    n = vector.n_bytes
    table, index, out = octets(n), octets(n), np.zeros(n, np.uint8)
    shuffle_bytes(vector, table, index, out)
    chosen = np.take_along_axis(table.reshape(-1, 16), (index & 15).reshape(-1, 16).astype(int), 1)
    np.testing.assert_array_equal(out, np.where(index < 128, chosen.reshape(-1), 0))


@njit
def permute(T, table, index, out):
    v.store(out, 0, x86.vpermb(v.load(T, table, 0), v.load(T, index, 0)))


@pytest.mark.parametrize("vector", [v.u8x32, v.u8x64], ids=ids)
def test_vpermb(vector):
    need("x86-64", "avx512vbmi", "avx512vl")
    n = vector.n_bytes
    table, index, out = octets(n), octets(n), np.zeros(n, np.uint8)
    permute(vector, table, index, out)
    np.testing.assert_array_equal(out, table[index & (n - 1)])


@njit
def permute_two(table, index, out):
    low, high = v.load(v.u8x64, table, 0), v.load(v.u8x64, table, 64)
    v.store(out, 0, x86.vpermi2b(low, v.load(v.u8x64, index, 0), high))


def test_vpermi2b():
    need("x86-64", "avx512vbmi")
    table, index, out = octets(128), octets(64), np.zeros(64, np.uint8)
    permute_two(table, index, out)
    np.testing.assert_array_equal(out, table[index & 127])


@njit
def affine(T, x, matrix, out):
    v.store(out, 0, x86.gf2p8affineqb(v.load(T, x, 0), v.load(T, matrix, 0)))


@pytest.mark.parametrize("vector", AFFINE, ids=ids)
def test_gf2p8affineqb(vector):
    need("x86-64", *AFFINE[vector])
    n = vector.n_bytes
    x, matrix, out = octets(n), octets(n), np.zeros(n, np.uint8)
    affine(vector, x, matrix, out)
    for i in range(n):
        rows = matrix[i // 8 * 8 : i // 8 * 8 + 8][::-1]
        bits = [int(x[i] & row).bit_count() & 1 for row in rows]
        assert out[i] == sum(bit << k for k, bit in enumerate(bits))


@njit
def multiply(T, a, b, out):
    x, y = v.load(T, a, 0), v.load(T, b, 0)
    n = v.n_bytes(T)
    v.store(out, 0, v.clmul(x, y, 0x00))
    v.store(out, n, v.clmul(x, y, 0x01))
    v.store(out, 2 * n, v.clmul(x, y, 0x10))
    v.store(out, 3 * n, v.clmul(x, y, 0x11))
    v.store(out, 4 * n, x86.pclmulqdq(x, y, 0x00))
    v.store(out, 5 * n, x86.pclmulqdq(x, y, 0x01))
    v.store(out, 6 * n, x86.pclmulqdq(x, y, 0x10))
    v.store(out, 7 * n, x86.pclmulqdq(x, y, 0x11))


def carryless(a, b):
    product = 0
    for i in range(64):
        if b >> i & 1:
            product ^= a << i
    return product


@pytest.mark.parametrize("vector", PCLMUL, ids=ids)
def test_carryless_multiply(vector):
    need("x86-64", *PCLMUL[vector])
    lanes = vector.lanes
    a, b = (np.frombuffer(rng.bytes(8 * lanes), np.uint64) for _ in range(2))
    out = np.zeros((2, 4, lanes // 2, 2), np.uint64)
    multiply(vector, a, b, out.reshape(-1))
    for k, halves in enumerate((0x00, 0x01, 0x10, 0x11)):
        for block in range(lanes // 2):
            expected = carryless(int(a[2 * block + (halves & 1)]), int(b[2 * block + (halves >> 4)]))
            for results in out:
                low, high = (int(word) for word in results[k, block])
                assert low | high << 64 == expected


@njit
def halves_not_constant(a, halves):
    x = v.load(v.u64x2, a, 0)
    return v.extract(v.clmul(x, x, halves), 0)


def test_halves_must_be_literal():
    with pytest.raises(TypingError):
        halves_not_constant(np.zeros(2, np.uint64), 3)
