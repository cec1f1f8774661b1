"""XOR of two buffers of any kind, as a public tool: out[i] = a[i] ^ b[i].

The kernel works on wide words at any alignment (see `twofishkit.kernels.xor`). Arrays of uint8 with an
output of the same shape go straight to NumPy, which is as fast and checks overlap itself.
"""

import numpy as np

from twofishkit import backend
from twofishkit.buffers import Data, Out, Result, as_bytes, byte_length, output_like, separate
from twofishkit.errors import InvalidLength

_U8 = np.dtype(np.uint8)


def xor(a: Data, b: Data, out: Out = None) -> Result:
    """XOR two buffers byte by byte: out[i] = a[i] ^ b[i].

    Parameters
    ----------
    a, b : bytes-like or ndarray
        Of one length in bytes: a shorter one is neither repeated nor broadcast. Dtypes and shapes may
        differ; bytes are those of the elements in C order.
    out : writable buffer, optional
        Of the same length in bytes; may be a or b, or overlap them.

    Returns
    -------
    ``out`` if it is given, else an ndarray like a if a is one, else bytes.

    Raises
    ------
    InvalidLength
        If a and b differ in length.
    InvalidBuffer
        If out is read-only, not C-contiguous, or of another length.
    UnsupportedType
        If an argument cannot be read as bytes.

    Examples
    --------
    >>> xor(b"abc", b"ABC")
    b'   '
    """
    if (
        type(a) is type(b) is type(out) is np.ndarray
        and a.dtype is b.dtype is out.dtype is _U8
        and a.shape == b.shape == out.shape
        and out.flags.carray  # writable and C-contiguous
    ):
        # NumPy takes any strides and overlap, and with nothing to convert its call is the shortest way.
        return np.bitwise_xor(a, b, out=out)
    n, other = byte_length(a, "a"), byte_length(b, "b")
    if n != other:
        raise InvalidLength(f"a has {n} bytes and b has {other}; they must have as many")
    dst, finish = output_like(a, n, out)
    first, second = as_bytes(a, "a"), as_bytes(b, "b")
    if out is not None:
        first, second = separate(first, dst), separate(second, dst)
    backend.current().xor(first, second, dst)
    return finish()
