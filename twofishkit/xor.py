"""XOR of two buffers of any kind, as a public tool: out[i] = a[i] ^ b[i].

The kernel works on wide words at any alignment; see `twofishkit.kernels.xor`.
"""

from twofishkit import backend
from twofishkit.buffers import Data, Out, Result, as_bytes, byte_length, output_like, separate
from twofishkit.errors import InvalidLength


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
    n, other = byte_length(a, "a"), byte_length(b, "b")
    if n != other:
        raise InvalidLength(f"a has {n} bytes and b has {other}; they must have as many")
    dst, finish = output_like(a, n, out)
    first, second = as_bytes(a, "a"), as_bytes(b, "b")
    if out is not None:
        first, second = separate(first, dst), separate(second, dst)
    backend.current().xor(first, second, dst)
    return finish()
