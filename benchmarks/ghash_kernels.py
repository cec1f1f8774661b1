"""GHASH kernels alone, in cycles per byte: ``python benchmarks/ghash_kernels.py``.

Every kernel that this machine runs, and for comparison a scalar one that multiplies 64-bit integers
with holes, as portable C and Java do. Calls are made from compiled code: Python's part, about 200 ns
a call, is not measured. The state of one call enters the next. Best of many, clock calibrated between.
"""

import importlib
import time

import numpy as np
from numba import njit

from twofishkit.bench.clock import Clock
from twofishkit.kernels.jit import inline
from twofishkit.kernels.target import lacking

SIZES = (64, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 20)
MODULES = {
    "portable": "ghash",
    "pclmul": "ghash_pclmul",
    "vpclmul": "ghash_vpclmul",
    "pmull": "ghash_pmull",
}
SECONDS = 0.4
#: Nanoseconds a timed run: long beside the thousand that a call takes, short beside a time slice.
_RUN = 200_000

_CLASSES = tuple(np.uint64(0x1111111111111111 << k) for k in range(4))
_SWAPS = tuple((np.uint64(((1 << 64) - 1) // ((1 << k) + 1)), np.uint64(k)) for k in (1, 2, 4, 8, 16, 32))
_1, _2, _7, _57, _62, _63 = (np.uint64(n) for n in (1, 2, 7, 57, 62, 63))


# A scalar kernel, for the ratio -----------------------------------------------------------------


@inline
def _low_product(x, y):
    """The low 64 bits of a carry-less product: see the head of kernels/ghash.py."""
    m0, m1, m2, m3 = _CLASSES
    x0, x1, x2, x3 = x & m0, x & m1, x & m2, x & m3
    y0, y1, y2, y3 = y & m0, y & m1, y & m2, y & m3
    z0 = (x0 * y0) ^ (x1 * y3) ^ (x2 * y2) ^ (x3 * y1)
    z1 = (x0 * y1) ^ (x1 * y0) ^ (x2 * y3) ^ (x3 * y2)
    z2 = (x0 * y2) ^ (x1 * y1) ^ (x2 * y0) ^ (x3 * y3)
    z3 = (x0 * y3) ^ (x1 * y2) ^ (x2 * y1) ^ (x3 * y0)
    return (z0 & m0) | (z1 & m1) | (z2 & m2) | (z3 & m3)


@inline
def _reversed(x):
    for mask, shift in _SWAPS:
        x = ((x >> shift) & mask) | ((x & mask) << shift)
    return x


@inline
def _byte_swapped(words, i):
    x = words[i]
    for mask, shift in _SWAPS[3:]:
        x = ((x >> shift) & mask) | ((x & mask) << shift)
    return x


@njit(nogil=True, boundscheck=False, error_model="numpy")
def scalar_ghash(h, state, words, repetitions):
    """y = (...((y ^ X1) H ^ X2) H ...) H, one block at a time, Karatsuba with six 64-bit products.

    h : uint64[2]  x H in POLYVAL form; state : uint64[2]  in POLYVAL form, updated; words : uint64[2n]
    """
    h0, h1 = h[0], h[1]
    r0, r1 = _reversed(h0), _reversed(h1)
    y0, y1 = state[0], state[1]
    for _ in range(repetitions):
        for i in range(0, len(words), 2):
            y0 ^= _byte_swapped(words, i + 1)
            y1 ^= _byte_swapped(words, i)
            s0, s1 = _reversed(y0), _reversed(y1)
            a, b, c = _low_product(y0, h0), _low_product(y1, h1), _low_product(y0 ^ y1, h0 ^ h1)
            d, e, f = _low_product(s0, r0), _low_product(s1, r1), _low_product(s0 ^ s1, r0 ^ r1)
            d, e, f = _reversed(d) >> _1, _reversed(e) >> _1, _reversed(f) >> _1
            p0, p1, p2, p3 = a, d ^ c ^ a ^ b, b ^ f ^ d ^ e, e
            p1 ^= (p0 << _63) ^ (p0 << _62) ^ (p0 << _57)
            p2 ^= p0 ^ (p0 >> _1) ^ (p0 >> _2) ^ (p0 >> _7)
            p2 ^= (p1 << _63) ^ (p1 << _62) ^ (p1 << _57)
            p3 ^= p1 ^ (p1 >> _1) ^ (p1 >> _2) ^ (p1 >> _7)
            y0, y1 = p2, p3
    state[0], state[1] = y0, y1


def scalar_case(h, size):
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    value = int.from_bytes(h.tobytes(), "big") << 1
    value ^= (value >> 128) * ((1 << 128) | (0xC2 << 120) | 1)
    words = np.array([value & (1 << 64) - 1, value >> 64], np.uint64)
    state = np.zeros(2, np.uint64)

    def run(repetitions):
        scalar_ghash(words, state, data.view(np.uint64), repetitions)
        return state.view(np.uint8)[::-1].tobytes()

    return run


# Measuring ---------------------------------------------------------------------------------------


def kernel_case(module):
    """A function that makes a function that hashes a message a number of times, in compiled code."""
    update = module.ghash_update
    slots = getattr(module, "SLOTS", None) or module.PORTABLE

    @njit(nogil=True, boundscheck=False, error_model="numpy")
    def loop(table, y, source, repetitions):
        for _ in range(repetitions):
            update(table, y, source, 0, len(source) // 16)

    def case(h, size):
        data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
        table, state = slots.ghash_key(h), np.zeros(16, np.uint8)

        def run(repetitions):
            loop(table, state, data, repetitions)
            return state.tobytes()

        return run

    return case


def cycles_per_byte(run, size, clock):
    run(1)
    begin = time.perf_counter_ns()
    run(1 + 20_000 // size)
    one = (time.perf_counter_ns() - begin) / (1 + 20_000 // size)
    repetitions, best, mhz = 1 + int(_RUN / one), float("inf"), 0.0
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for _ in range(8):
            begin = time.perf_counter_ns()
            run(repetitions)
            best = min(best, (time.perf_counter_ns() - begin) / (repetitions * size))
        mhz = max(mhz, clock.measure())
    return best * mhz / 1000, mhz


def main():
    clock, h = Clock(), np.arange(3, 19, dtype=np.uint8)
    cases = {"scalar": scalar_case}
    for name, file in MODULES.items():
        module = importlib.import_module(f"twofishkit.kernels.{file}")
        if not lacking(module.REQUIRES):
            cases[name] = kernel_case(module)
    first = [case(h, 1 << 12)(1) for case in cases.values()]
    assert len(set(first)) == 1, "the kernels differ"
    print(f"{'c/B':10}" + "".join(f"{size:>10}" for size in SIZES) + "   auto MHz")
    measured = {}
    for name, case in cases.items():
        row = [cycles_per_byte(case(h, size), size, clock) for size in SIZES]
        measured[name] = dict(zip(SIZES, (figure for figure, _ in row), strict=True))
        print(f"{name:10}" + "".join(f"{figure:10.3f}" for figure, _ in row) + f"{row[-1][1]:11.0f}")
    if "pclmul" in measured:
        print(f"scalar : pclmul at 4 KiB = {measured['scalar'][4096] / measured['pclmul'][4096]:.1f}")


if __name__ == "__main__":
    main()
