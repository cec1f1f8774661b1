"""Kernels of one instruction each, for test_aarch64.py to compile and to run under emulation."""

from twofishkit.kernels.jit import kernel
from twofishkit.simd import aarch64
from twofishkit.simd import vectors as v


@kernel("void(u1[::1], u1[::1], u1[::1])")
def lookups(tables, index, out):
    """tbl1 ... tbl4, then lookup16 of 32 bytes: 96 bytes. tables: 64 bytes, index: 32 bytes."""
    t0, t1 = v.load(v.u8x16, tables, 0), v.load(v.u8x16, tables, 16)
    t2, t3 = v.load(v.u8x16, tables, 32), v.load(v.u8x16, tables, 48)
    i = v.load(v.u8x16, index, 0)
    v.store(out, 0, aarch64.tbl1(t0, i))
    v.store(out, 16, aarch64.tbl2(t0, t1, i))
    v.store(out, 32, aarch64.tbl3(t0, t1, t2, i))
    v.store(out, 48, aarch64.tbl4(t0, t1, t2, t3, i))
    v.store(out, 64, v.lookup16(v.load(v.u8x32, tables, 0), v.load(v.u8x32, index, 0) & 15))


@kernel("void(u8[::1], u8[::1], u8[::1])")
def products(a, b, out):
    """Carry-less products of two 32-byte operands: pmull of the first blocks, clmul of all: 192 bytes."""
    x, y = v.load(v.u64x2, a, 0), v.load(v.u64x2, b, 0)
    v.store(out, 0, aarch64.pmull(x, y, 0x00))
    v.store(out, 16, aarch64.pmull(x, y, 0x01))
    v.store(out, 32, aarch64.pmull(x, y, 0x10))
    v.store(out, 48, aarch64.pmull(x, y, 0x11))
    xs, ys = v.load(v.u64x4, a, 0), v.load(v.u64x4, b, 0)
    v.store(out, 64, v.clmul(xs, ys, 0x00))
    v.store(out, 96, v.clmul(xs, ys, 0x01))
    v.store(out, 128, v.clmul(xs, ys, 0x10))
    v.store(out, 160, v.clmul(xs, ys, 0x11))
