"""The vector types that the tests of `simd.vectors` run over, and lanes to put in."""

import numpy as np

from twofishkit.simd import vectors as v

TYPES = (
    *(v.u8x16, v.u8x32, v.u8x64),
    *(v.u16x8, v.u16x16, v.u16x32),
    *(v.u32x4, v.u32x8, v.u32x16),
    *(v.u64x2, v.u64x4, v.u64x8),
)
OCTETS = (v.u8x16, v.u8x32, v.u8x64)
rng = np.random.default_rng(0x51D)


def dtype_of(vector):
    return np.dtype(f"uint{vector.bits}")


def operands(vector):
    """Two vectors' lanes: random ones, with equal lanes and extremes among them."""
    dtype = dtype_of(vector)
    a, b = (np.frombuffer(rng.bytes(vector.n_bytes), dtype).copy() for _ in range(2))
    b[0] = a[0]
    a[-1], b[-1] = np.iinfo(dtype).max, 0
    return a, b


def ids(vector):
    return vector.name
