"""XOR of two buffers of any kind, as a public tool: out[i] = a[i] ^ b[i].

The kernel works on wide words at any alignment (see `twofishkit.kernels.xor`). Arrays of uint8 with an
output of the same shape go straight to NumPy, which is as fast and checks overlap itself.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from twofishkit import backend
from twofishkit.buffers import Data, Out, Result, as_bytes, byte_length, output_like, separate
from twofishkit.errors import InvalidLength

_U8 = np.dtype(np.uint8)


_ndarray = np.ndarray
#: The compiled XOR that checks its arguments itself; found at the first call.
_simple: Callable[[Any, Any, Any], bool] | None = None


def _find_simple() -> Callable[[Any, Any, Any], bool]:
    global _simple
    kernel = backend.current().xor_if_simple
    # The bare entry point: what Python adds around it is half of the time for short arrays.
    _simple = kernel.compile() if kernel is not None else _never
    return _simple


def _never(a: Any, b: Any, out: Any) -> bool:
    """What serves without compiled kernels: nothing is simple."""
    return False


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
    ndarray or bytes
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
    if type(a) is type(b) is type(out) is _ndarray and out.flags.writeable:
        # A compiled entry point does not check dimensions; elements of another size are a TypeError.
        if a.ndim == b.ndim == out.ndim == 1:
            try:
                if (_simple or _find_simple())(a, b, out):
                    return out
            except TypeError:
                pass
        same = a.dtype is b.dtype is out.dtype is _U8 and a.shape == b.shape == out.shape
        if same and out.flags.c_contiguous:
            # NumPy takes any strides and overlap, and long arrays at the speed of memory.
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
