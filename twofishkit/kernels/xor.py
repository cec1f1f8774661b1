"""XOR of byte strings, a word at a time: any length, any alignment, any mix of offsets.

Whole vectors of 64 bytes first, then blocks of 16, then 8, then single bytes. Loads and stores state
no alignment, and every step reads both inputs before it writes, so that dst may be a or b; nothing
is touched outside the n bytes.

Long arrays go to NumPy, whose `bitwise_xor` runs at the speed of memory there. Below
`_NUMPY_BYTES` the call itself is most of the cost, and a compiled entry point is cheaper.

Timing: depends on the length only.
"""

import numpy as np

from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.words import load_u8, load_u64, store_u8, store_u64, xor_16, xor_64

#: From this many bytes on NumPy is as fast as a loop of our own.
_NUMPY_BYTES = 65536


@inline
def xor_bytes(dst, d, a, i, b, j, n):
    """dst[d : d+n] = a[i : i+n] ^ b[j : j+n], all offsets in bytes, for arrays of any dtype.

    The three ranges may be the same memory or disjoint; a partial overlap gives a wrong result.
    """
    done = 0
    while done + 64 <= n:
        xor_64(dst, d + done, a, i + done, b, j + done)
        done += 64
    while done + 16 <= n:
        xor_16(dst, d + done, a, i + done, b, j + done)
        done += 16
    if done + 8 <= n:
        store_u64(dst, d + done, load_u64(a, i + done) ^ load_u64(b, j + done))
        done += 8
    while done < n:
        store_u8(dst, d + done, load_u8(a, i + done) ^ load_u8(b, j + done))
        done += 1


@kernel("void(u1[::1], u1[::1], u1[::1])")
def xor_kernel(a, b, dst):
    """Dst = a ^ b for three arrays of one length; dst is a, is b, or is disjoint from both."""
    xor_bytes(dst, 0, a, 0, b, 0, dst.size)


@kernel("b1(u1[:], u1[:], u1[:])")
def xor_if_simple(a, b, out):
    """out = a ^ b if that is one loop over bytes; else nothing. Returns whether it was.

    Any arrays of one-byte elements and one dimension may be given: lengths, strides and overlap are
    checked here, where that costs a tenth of what it costs in Python. out must be writable.
    """
    n = out.size
    if n != a.size or n != b.size or n >= _NUMPY_BYTES:
        return False
    if n > 1 and (a.strides[0] != 1 or b.strides[0] != 1 or out.strides[0] != 1):
        return False
    first, second, target = np.intp(a.ctypes.data), np.intp(b.ctypes.data), np.intp(out.ctypes.data)
    if (first != target and abs(first - target) < n) or (second != target and abs(second - target) < n):
        return False
    xor_bytes(target, 0, first, 0, second, 0, n)
    return True


def xor(a, b, dst):
    """Dst = a ^ b for three arrays uint8[n]; dst is a, is b, or is disjoint from both."""
    if dst.size < _NUMPY_BYTES:
        xor_kernel(a, b, dst)
    else:
        np.bitwise_xor(a, b, out=dst)
