"""Bytes-like objects and arrays in, arrays or bytes out: what every public method does with data.

Input is any bytes-like object (bytes, bytearray, memoryview, mmap, array.array, ...) or any NumPy
array whose dtype holds no Python objects. Its bytes are those of the elements in C order, whatever
the strides: a reversed, broadcast or Fortran-ordered array is read as the array it shows, never as
raw neighbouring memory. Only input that is not C-contiguous is copied.

Output goes to ``out`` if that is given (writable, C-contiguous, of exactly the right size in
bytes), else to a new array of the input's dtype and shape for an array, and to bytes for anything
else. ``out`` may be the input itself. If it overlaps the input in another way, the input is copied
first, so that the result is right all the same.

The usual order of work in a public method, so that errors come before any of it::

    n = byte_length(data)              # types are checked, nothing is copied
    ...                                # limits of the mode
    src, dst, finish = prepare(data, out)
    slot(schedule, src, dst)
    return finish()
"""

import functools
import importlib
import mmap
import sys
from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from twofishkit.errors import InvalidBuffer, InvalidNonce, TwofishKitError, UnsupportedType

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

    #: Anything that `as_bytes` accepts.
    Data: TypeAlias = ReadableBuffer | npt.NDArray[Any] | np.generic[Any]
    #: Anything that ``out=`` accepts.
    Out: TypeAlias = WriteableBuffer | npt.NDArray[Any] | None
else:
    Data: TypeAlias = Any
    Out: TypeAlias = Any

Bytes: TypeAlias = npt.NDArray[np.uint8]

#: What a public method returns: bytes, an array like the input, or the caller's ``out``.
Result: TypeAlias = Any

# Above this size, filling a fresh bytes object in place is cheaper than copying an array into one.
_COPY_LIMIT = 1 << 15

# NumPy's own limit for its arrays.
_HUGE_PAGES_FROM = 1 << 22

_U8 = np.dtype(np.uint8)
_ndarray, _empty, _frombuffer = np.ndarray, np.empty, np.frombuffer


def _memoryview(data: Any, name: str) -> memoryview:
    """A memoryview of a bytes-like object that is not an array; the place of all type errors."""
    try:
        if isinstance(data, str):  # NumPy's str_ would offer its UCS-4 buffer
            raise TypeError
        view = memoryview(data)
    except TypeError:
        kind = type(data).__name__
        if isinstance(data, str):
            hint = "; encode it first, for instance with .encode('utf-8')"
        elif hasattr(data, "__array__"):
            hint = "; convert it first with numpy.asarray"
        else:
            hint = ""
        raise UnsupportedType(
            f"{name} must be bytes-like or a NumPy array, and is of type {kind}{hint}"
        ) from None
    if "O" in view.format and _holds_objects(view):
        raise UnsupportedType(f"{name} is a buffer of Python objects, which have no bytes of their own")
    return view


def _holds_objects(view: memoryview) -> bool:
    # The letter may also be part of a field's name: only NumPy's reading of the format decides.
    try:
        return np.asarray(view).dtype.hasobject
    except (ValueError, TypeError, NotImplementedError):
        return True


def _array(data: Any, name: str) -> npt.NDArray[Any]:
    """The plain ndarray behind an array, a subclass or a NumPy scalar; objects and masks refused."""
    if type(data) is np.ndarray and not data.dtype.hasobject:
        return data
    if isinstance(data, np.ma.MaskedArray):
        raise UnsupportedType(
            f"{name} is a masked array, whose mask would be lost; pass .filled(value), or .data and .mask"
        )
    array = np.asarray(data)
    if array.dtype.hasobject:
        raise UnsupportedType(
            f"{name} has dtype {array.dtype}, whose elements are Python objects and not bytes;"
            " convert it to a fixed-size dtype first (numbers, or 'S' and 'U' for strings)"
        )
    return array


def _is_plain(data: Any) -> bool:
    """Whether an argument is already what slots take; most arrays are, and then all else is skipped."""
    return type(data) is _ndarray and data.dtype is _U8 and data.ndim == 1 and data.flags.c_contiguous


def _is_plain_and_writable(data: Any) -> bool:
    # Bytes are always aligned: "carray" is then C-contiguous and writable.
    return type(data) is _ndarray and data.dtype is _U8 and data.ndim == 1 and data.flags.carray


def _is_array(data: Any) -> bool:
    # np.bytes_ is bytes and np.str_ is str; as arrays they would lose trailing zeros.
    return isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, (bytes, str))


def _flat(array: npt.NDArray[Any]) -> Bytes:
    """The elements' bytes in C order: a view if the array is C-contiguous, else a copy."""
    if array.nbytes == 0:
        return np.empty(0, _U8)
    if not array.flags.c_contiguous:
        # Copied as opaque bytes: copying by dtype may drop the padding inside structured elements.
        array = np.ascontiguousarray(array.view(np.dtype((np.void, array.itemsize))))
    return array.reshape(-1).view(_U8)


def byte_length(data: Data, name: str = "data") -> int:
    """Length of data in bytes; checks its type and copies nothing.

    Raises
    ------
    UnsupportedType
        As `as_bytes`.
    """
    if type(data) is bytes:
        return len(data)
    if type(data) is _ndarray and data.dtype is _U8:
        return data.nbytes
    if _is_array(data):
        return _array(data, name).nbytes
    return _memoryview(data, name).nbytes


def as_bytes(data: Data, name: str = "data") -> Bytes:
    """The bytes of data as uint8[n]: a view where possible, else a copy in C order of elements.

    Parameters
    ----------
    data : bytes-like or ndarray
        Any strides, any dtype without Python objects. Read only, never written.
    name : str
        What error messages call it.

    Returns
    -------
    uint8[n], C-contiguous; read-only if data is.

    Raises
    ------
    UnsupportedType
        For str, object dtype, masked arrays, and whatever has no buffer.
    """
    if type(data) is bytes:
        return np.frombuffer(data, _U8)
    if _is_plain(data):
        plain: Bytes = data  # type: ignore[assignment]
        return plain
    if _is_array(data):
        return _flat(_array(data, name))
    view = _memoryview(data, name)
    if view.nbytes == 0:
        return np.empty(0, _U8)
    return np.frombuffer(view if view.c_contiguous else view.tobytes(), _U8)


def small(
    data: Data, name: str, lengths: Container[int], allowed: str, error: type[TwofishKitError] = InvalidNonce
) -> bytes:
    """A key, IV, nonce or tag as bytes of its own, after a check of its length.

    Parameters
    ----------
    data : bytes-like or ndarray
        Copied: later changes by the caller have no effect.
    name : str
        What error messages call it.
    lengths : container of int
        The allowed lengths in bytes.
    allowed : str
        The same in words, for the message, as in "16 bytes" or "16, 24 or 32 bytes".
    error : exception class
        Raised, with both lengths and never the contents, if the length is not allowed.
    """
    value = data if type(data) is bytes else as_bytes(data, name).tobytes()
    if len(value) not in lengths:
        raise error(f"{name} has {len(value)} bytes; it must have {allowed}")
    return value


def writable(out: Any, n: int, name: str = "out") -> Bytes:
    """The bytes of an output buffer as writable uint8[n].

    Raises
    ------
    UnsupportedType
        If it is not a buffer or holds Python objects.
    InvalidBuffer
        If it is read-only, not C-contiguous or not of exactly n bytes.
    """
    if _is_plain_and_writable(out) and out.size == n:
        fit: Bytes = out
        return fit
    view: Any  # both have nbytes
    if isinstance(out, np.ndarray):
        view = _array(out, name)
        readonly, contiguous = not view.flags.writeable, view.flags.c_contiguous
    else:
        view = _memoryview(out, name)
        readonly, contiguous = view.readonly, view.c_contiguous
    if readonly:
        raise InvalidBuffer(f"{name} is read-only; it must be a writable buffer of {n} bytes")
    if view.nbytes != n:
        raise InvalidBuffer(f"{name} has {view.nbytes} bytes; the result has exactly {n}")
    if not contiguous:
        raise InvalidBuffer(f"{name} is not C-contiguous; results are written to contiguous memory only")
    if n == 0:
        return np.empty(0, _U8)
    return _flat(view) if isinstance(view, np.ndarray) else np.frombuffer(view, _U8)


def _address(array: Bytes) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


class _FreshBytes:
    """A new bytes object and, through NumPy's array interface, the writable memory of it.

    CPython's own C code makes bytes in the same way: allocate, fill, hand out. The object is not
    visible to anybody else until it has been filled, so nobody sees it change. Only for lengths
    of two bytes or more: CPython shares the shorter ones.
    """

    def __init__(self, n: int) -> None:
        self.value = bytes(n)
        address = _address(np.frombuffer(self.value, _U8))
        if n >= _HUGE_PAGES_FROM:
            _advise_huge_pages(address, n)
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (n,),
            "data": (address, False),
        }


@functools.cache
def _madvise() -> Any:
    """The system's madvise, or None: huge pages are Linux's."""
    if sys.platform != "linux":
        return None
    ctypes = importlib.import_module("ctypes")
    try:
        function = ctypes.CDLL(None).madvise
    except (OSError, AttributeError):
        return None
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function


def _advise_huge_pages(address: int, n: int) -> None:
    """Ask for huge pages, as NumPy does for its arrays: touching new memory takes a fifth of the time."""
    madvise = _madvise()
    if madvise is not None:
        page = mmap.PAGESIZE
        begin, end = -(-address // page) * page, (address + n) // page * page
        madvise(begin, end - begin, getattr(mmap, "MADV_HUGEPAGE", 14))  # a refusal does no harm


def _new_bytes(n: int) -> tuple[Bytes, Callable[[], bytes]]:
    if n <= _COPY_LIMIT or sys.implementation.name != "cpython":
        dst = np.empty(n, _U8)
        return dst, dst.tobytes
    fresh = _FreshBytes(n)
    return np.asarray(fresh), lambda: fresh.value


def output_like(
    data: Data, n: int, out: Out = None, *, flat: bool = False
) -> tuple[Bytes, Callable[[], Result]]:
    """Memory for a result of n bytes, and what turns it into what the caller gets.

    Parameters
    ----------
    data : bytes-like or ndarray
        The input, already checked by `byte_length` or `as_bytes`; only its kind matters.
    n : int
        Bytes of the result. Unless flat, equal to the input's for an array.
    out : writable buffer, optional
        Used if given, and then returned by ``finish``.
    flat : bool
        For results longer or shorter than the input (joined tags, padding): an array input gives
        a one-dimensional uint8 array.

    Returns
    -------
    dst : uint8[n]
        Writable; contents undefined. May overlap the input if out does: see `separate`.
    finish : callable
        Called once, after dst was filled: out, or an array like data, or bytes.

    Raises
    ------
    UnsupportedType, InvalidBuffer
        As `writable`.
    """
    if out is not None:
        return writable(out, n), lambda: out
    if type(data) is bytes or not _is_array(data):
        return _new_bytes(n)
    if flat:
        result = np.empty(n, _U8)
        return result, lambda: result
    like: Any = data
    shaped = np.empty(like.shape, like.dtype)
    return _flat(shaped), lambda: shaped


def separate(src: Bytes, dst: Bytes, *, in_place: bool = True) -> Bytes:
    """Src, or a copy of it if writing to dst could change bytes of src that are still to be read.

    With ``in_place``, memory that starts at the same byte counts as separate: slots then read
    before they write. Without, any overlap makes a copy (for additional data, ...).
    """
    if in_place and src is dst:
        return src
    if not np.may_share_memory(src, dst) or (in_place and _address(src) == _address(dst)):
        return src
    return src.copy()


def prepare(
    data: Data, out: Out = None, name: str = "data", *, n: int | None = None, flat: bool = False
) -> tuple[Bytes, Bytes, Callable[[], Result]]:
    """Source and destination of a one-shot call: `as_bytes`, `output_like` and `separate`.

    Parameters
    ----------
    data : bytes-like or ndarray
    out : writable buffer, optional
    name : str
        What error messages call the data.
    n : int, optional
        Bytes of the result; by default those of the data.
    flat : bool
        As for `output_like`.

    Returns
    -------
    src : uint8[m]
        The input's bytes.
    dst : uint8[n]
        Starts at the same byte as src (in place), or shares no memory with it.
    finish : callable
        Gives what the caller gets.
    """
    if n is None and _is_plain_and_writable(out):
        # What fits needs no other checks. Most calls of bulk work come this way, many on one array in place.
        target: Bytes = out  # type: ignore[assignment]
        if data is out:
            return target, target, lambda: target
        if _is_plain(data) and data.size == target.size:  # type: ignore[union-attr]
            return separate(data, target), target, lambda: target  # type: ignore[arg-type]
    if n is None:
        n = len(data) if type(data) is bytes else byte_length(data, name)
    if type(data) is bytes and out is None and n <= _COPY_LIMIT:
        # Nothing to check. Short messages come this way, where each call of a function shows.
        short = _empty(n, _U8)
        return _frombuffer(data, _U8), short, short.tobytes
    if out is None and _is_plain(data):
        fresh = _empty(n, _U8)  # flat or not comes to the same
        return as_bytes(data), fresh, lambda: fresh
    dst, finish = output_like(data, n, out, flat=flat)
    src = as_bytes(data, name)
    return (src if out is None else separate(src, dst)), dst, finish
