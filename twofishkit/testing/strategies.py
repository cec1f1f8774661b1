"""Hypothesis strategies for tests of anything that encrypts: keys, nonces, messages, arrays, pieces.

They lean towards what goes wrong: weak-looking keys, counters before a carry, lengths around whole blocks,
arrays that are strided, reversed, big-endian or empty. They shrink towards zeros and short messages.
Needs Hypothesis; nothing else of twofishkit does.
"""

from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from twofishkit.errors import InvalidParameter
from twofishkit.testing.cases import AEADS, COUNTERS, KEY_SIZES

_BLOCK = 16
#: Bytes of the nonces that a mode takes, shortest and longest (of what is worth trying).
_NONCES = {"gcm": (1, 64), "ocb": (1, 15), "eax": (0, 64), "ccm": (7, 13), "siv": (0, 64)}


def _bytes(length: int) -> st.SearchStrategy[bytes]:
    """Any bytes of one length; all zero, all ones and counting up more often than by chance."""
    special = [bytes(length), b"\xff" * length, bytes(i & 0xFF for i in range(length))]
    return st.one_of(st.sampled_from(special), st.binary(min_size=length, max_size=length))


def keys(bits: int | None = None, *, joined: bool = False) -> st.SearchStrategy[bytes]:
    """Twofish keys of 128, 192 or 256 bits.

    Parameters
    ----------
    bits : 128, 192 or 256, optional
        Of one key; by default any of the three.
    joined : bool
        Two different keys joined, as XTS and SIV take them.
    """
    if bits is not None and bits not in (128, 192, 256):
        raise InvalidParameter(f"a Twofish key has 128, 192 or 256 bits, not {bits}")
    sizes = st.sampled_from(KEY_SIZES) if bits is None else st.just(bits // 8)
    if not joined:
        return sizes.flatmap(_bytes)
    pairs = sizes.flatmap(lambda size: st.tuples(_bytes(size), _bytes(size)))
    return pairs.filter(lambda pair: pair[0] != pair[1]).map(b"".join)


def nonces(mode: str = "ctr") -> st.SearchStrategy[bytes]:
    """IVs, counters, tweaks or nonces that a mode takes.

    Parameters
    ----------
    mode : str
        "cbc", "cfb", "cfb8", "ofb", "ctr", "xts", "gcm", "ocb", "eax", "ccm" or "siv"; for "ctr" many are a
        few blocks before a carry, for "ctrle" of a little-endian counter.
    """
    if mode in COUNTERS:
        before = st.tuples(_bytes(_BLOCK), st.sampled_from((8, 16, 24, 32, 64, 96, 128)), st.integers(0, 40))
        order = 1 if COUNTERS[mode][1] == "big" else -1
        return st.one_of(_bytes(_BLOCK), before.map(lambda drawn: _before_a_carry(*drawn)[::order]))
    if mode in ("cbc", "cfb", "cfb8", "ofb", "xts"):
        return _bytes(_BLOCK)
    if mode not in AEADS:
        raise InvalidParameter(f"{mode!r} is not a mode that takes an IV or a nonce")
    shortest, longest = _NONCES[mode]
    usual = _bytes(12)
    return st.one_of(usual, st.integers(shortest, longest).flatmap(_bytes))


def _before_a_carry(block: bytes, bits: int, blocks: int) -> bytes:
    low = ((1 << bits) - 1 - blocks) % (1 << bits)
    return ((int.from_bytes(block, "big") >> bits << bits) | low).to_bytes(_BLOCK, "big")


def messages(
    max_size: int = 33 * _BLOCK, *, min_size: int = 0, whole_blocks: bool = False
) -> st.SearchStrategy[bytes]:
    """Plaintexts, often one byte around a multiple of 16.

    Parameters
    ----------
    max_size, min_size : int
        Bytes.
    whole_blocks : bool
        Only multiples of 16, for ECB and CBC.
    """
    if not 0 <= min_size <= max_size:
        raise InvalidParameter(
            f"messages have from 0 <= min_size <= max_size bytes, not {min_size} to {max_size}"
        )
    if whole_blocks:
        least, most = -(-min_size // _BLOCK), max_size // _BLOCK
        if least > most:
            raise InvalidParameter(f"there is no multiple of {_BLOCK} from {min_size} to {max_size}")
        return st.integers(least, most).flatmap(lambda blocks: _bytes(_BLOCK * blocks))
    edges = sorted(
        {
            length
            for blocks in range(max_size // _BLOCK + 2)
            for length in (_BLOCK * blocks - 1, _BLOCK * blocks, _BLOCK * blocks + 1)
            if min_size <= length <= max_size
        }
    )
    lengths = st.integers(min_size, max_size)
    if edges:
        lengths = st.one_of(lengths, st.sampled_from(edges))
    return lengths.flatmap(_bytes)


def _layouts(array: npt.NDArray[Any], layout: str) -> npt.NDArray[Any]:
    """The same values in the same shape, laid out otherwise in memory."""
    if layout == "fortran":
        return np.asfortranarray(array)
    if layout == "reversed" and array.ndim:
        return np.ascontiguousarray(array[::-1])[::-1]
    if layout == "strided" and array.ndim:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    if layout == "read-only":
        array = array.copy()
        array.flags.writeable = False
    if layout == "unaligned":
        raw = np.zeros(array.nbytes + 1, np.uint8)
        moved = raw[1:].view(array.dtype).reshape(array.shape)
        moved[...] = array
        return moved
    return array


#: How `arrays` lays them out.
LAYOUTS = ("c", "fortran", "reversed", "strided", "read-only", "unaligned")


@st.composite
def arrays(
    draw: st.DrawFn,
    max_side: int = 9,
    max_dims: int = 3,
    *,
    byteorder: Literal["?", "<", "=", ">"] = "?",
) -> npt.NDArray[Any]:
    """Arrays of any dtype without Python objects, of any layout: C, Fortran, reversed, strided, unaligned.

    Parameters
    ----------
    max_side, max_dims : int
        Bounds of the shape; 0-d and empty arrays come too.
    byteorder : str
        "?" for both.
    """
    dtype = draw(
        st.one_of(
            st.sampled_from([np.dtype("u1"), np.dtype("bool"), np.dtype("f8"), np.dtype("M8[ns]")]),
            hnp.integer_dtypes(endianness=byteorder),
            hnp.unsigned_integer_dtypes(endianness=byteorder),
            hnp.floating_dtypes(endianness=byteorder, sizes=(16, 32, 64)),
            hnp.complex_number_dtypes(endianness=byteorder, sizes=(64, 128)),
            hnp.datetime64_dtypes(endianness=byteorder),
            hnp.byte_string_dtypes(endianness=byteorder, min_len=1, max_len=5),
        )
    )
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=max_dims, min_side=0, max_side=max_side))
    count = int(np.prod(shape, dtype=int)) * dtype.itemsize
    raw = draw(st.binary(min_size=count, max_size=count))
    if dtype == np.bool_:
        raw = bytes(byte & 1 for byte in raw)
    array = np.frombuffer(raw, dtype).reshape(shape).copy()
    return _layouts(array, draw(st.sampled_from(LAYOUTS)))


@st.composite
def chunkings(draw: st.DrawFn, length: int, *, unit: int = 1, max_chunks: int = 12) -> tuple[int, ...]:
    """Lengths of pieces that add up to ``length``, some of them zero.

    Parameters
    ----------
    length : int
        Of the message; a multiple of ``unit``.
    unit : int
        Every piece is a multiple of it: 16 for ECB and CBC.
    max_chunks : int
        At most so many pieces.
    """
    if length < 0 or unit < 1 or length % unit:
        raise InvalidParameter(f"pieces that are multiples of {unit} cannot make {length} bytes")
    if max_chunks < 1:
        raise InvalidParameter(f"there is 1 piece or more, not {max_chunks}")
    cuts = draw(st.lists(st.integers(0, length // unit), max_size=max_chunks - 1))
    ends = [0, *sorted(unit * cut for cut in cuts), length]
    return tuple(b - a for a, b in pairwise(ends))
