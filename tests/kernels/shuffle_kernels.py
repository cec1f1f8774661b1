"""The `shuffle` cores of 16-byte vectors as kernels of arrays, to compile and run for AArch64."""

from twofishkit.kernels import shuffle
from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.native import SCRATCH_BYTES
from twofishkit.kernels.shuffle_schedule import EXPAND_BYTES
from twofishkit.simd import vectors as v


@inline
def _run(schedule, src, dst, mask, decrypting):
    scratch = v.stack(SCRATCH_BYTES)
    shuffle.cipher(
        *(v.u8x16, v.u32x4, v.u8x16, v.u32x4, 8),
        *(v.address(schedule), v.address(src), v.address(dst), src.size >> 4, v.address(mask), scratch),
        decrypting,
    )


@kernel("void(u1[::1], u1[::1], u1[::1], u1[::1])")
def encrypt(schedule, src, dst, mask):
    """dst = E(src) ^ mask."""
    _run(schedule, src, dst, mask, False)


@kernel("void(u1[::1], u1[::1], u1[::1], u1[::1])")
def decrypt(schedule, src, dst, mask):
    """dst = D(src) ^ mask."""
    _run(schedule, src, dst, mask, True)


@kernel("void(u1[::1], u1[::1])")
def expand(schedule, key):
    """Fill a schedule but for its header."""
    scratch = v.stack(EXPAND_BYTES)
    shuffle.expand(v.u8x16, v.address(schedule), v.address(key), key.size >> 3, scratch)
