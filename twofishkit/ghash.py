"""GHASH and POLYVAL: the universal hashes of GCM and GCM-SIV, as tools of their own.

Both evaluate a polynomial over GF(2^128) whose coefficients are the 16-byte blocks of the
input: ``Y_i = (Y_(i-1) ^ X_i) . H`` from ``Y_0 = 0``. They differ in the order of bits and bytes
and in a factor x^-128 in POLYVAL's product.

Neither is a message authentication code: who knows one input and its digest can solve for H.
Use `GMAC`, `CMAC` or an AEAD to authenticate messages.
"""

import hmac

from twofishkit import backend
from twofishkit.blocks import BLOCK_BYTES, BlockHash, view
from twofishkit.buffers import Data, as_bytes, small
from twofishkit.errors import InvalidKey, InvalidTag


def _hash_key(h: Data) -> bytes:
    return small(h, "h", (BLOCK_BYTES,), "16 bytes", InvalidKey)


def padded_digest(state: BlockHash) -> bytes:
    """Return what the hash would be if its input ended here, zeros filling an unfinished block."""
    twin = state.copy()
    twin.pad()
    return twin.state.tobytes()


def check_digest(expected: bytes, tag: Data) -> None:
    """Raise InvalidTag unless tag equals expected, in a time that does not depend on where they differ."""
    given = tag if type(tag) is bytes else as_bytes(tag, "tag").tobytes()
    if len(given) != len(expected):
        raise InvalidTag(f"tag has {len(given)} bytes; it must have {len(expected)}")
    if not hmac.compare_digest(expected, given):
        raise InvalidTag("the tag does not belong to this data under this key")


class GHASH:
    """GHASH_H: ``Y_i = (Y_(i-1) ^ X_i) . H`` in the field and bit order of GCM.

    GHASH is defined on whole blocks. `update` takes chunks of any length; where the input ends
    inside a block, `digest` fills that block with zeros (so that zeros at the end do not change
    a digest, as long as they begin no new block). No length block is added: GCM adds its own.

    Parameters
    ----------
    h : bytes-like, 16 bytes
        The hash key H.

    Raises
    ------
    InvalidKey
        If h does not have 16 bytes.

    Timing: as the GHASH implementation in use; see ``python -m twofishkit info``.
    Source: NIST SP 800-38D, 6.4.

    Examples
    --------
    >>> h = bytes.fromhex("66e94bd4ef8a2c3b884cfa59ca342b2e")
    >>> GHASH(h).update(bytes.fromhex("0388dace60b6a392f328c2b971b2fe78")).digest().hex()
    '5e2ec746917062882c85b0685353deb7'
    """

    __slots__ = ("_state",)

    def __init__(self, h: Data) -> None:
        key = _hash_key(h)
        slots = backend.current().ghash
        self._state = BlockHash(slots.ghash, slots.ghash_key(view(key)))

    def update(self, data: Data) -> "GHASH":
        """Append a bytes-like or an array (C order of its elements); return the object itself."""
        self._state.update(as_bytes(data))
        return self

    def digest(self) -> bytes:
        """Return the 16 bytes of Y, zeros filling an unfinished block. More updates may follow."""
        return padded_digest(self._state)

    def verify(self, tag: Data) -> None:
        """Compare `digest` with a 16-byte tag in constant time.

        Raises
        ------
        InvalidTag
            If they differ, or if tag does not have 16 bytes.
        """
        check_digest(self.digest(), tag)

    def copy(self) -> "GHASH":
        """Return an independent object in the same state."""
        twin = GHASH.__new__(GHASH)
        twin._state = self._state.copy()
        return twin

    def __repr__(self) -> str:
        return f"<GHASH, {self._state.length} bytes hashed>"


class POLYVAL:
    """POLYVAL_H: ``S_i = (S_(i-1) ^ X_i) . H . x^-128`` in the little-endian field of GCM-SIV.

    POLYVAL is defined on whole blocks; chunks, and an input that ends inside a block, are treated
    as by `GHASH`.

    Parameters
    ----------
    h : bytes-like, 16 bytes
        The hash key H.

    Raises
    ------
    InvalidKey
        If h does not have 16 bytes.

    Timing: as the GHASH implementation in use; see ``python -m twofishkit info``.
    Source: RFC 8452, section 3.

    Examples
    --------
    >>> h = bytes.fromhex("25629347589242761d31f826ba4b757b")
    >>> x = bytes.fromhex("4f4f95668c83dfb6401762bb2d01a262d1a24ddd2721d006bbe45f20d3c9f362")
    >>> POLYVAL(h).update(x).digest().hex()
    'f7a3b47b846119fae5b7866cf5e5b77e'
    """

    __slots__ = ("_state",)

    def __init__(self, h: Data) -> None:
        key = _hash_key(h)
        slots = backend.current().ghash
        self._state = BlockHash(slots.polyval, slots.polyval_key(view(key)))

    def update(self, data: Data) -> "POLYVAL":
        """Append a bytes-like or an array (C order of its elements); return the object itself."""
        self._state.update(as_bytes(data))
        return self

    def digest(self) -> bytes:
        """Return the 16 bytes of S, zeros filling an unfinished block. More updates may follow."""
        return padded_digest(self._state)

    def verify(self, tag: Data) -> None:
        """Compare `digest` with a 16-byte tag in constant time.

        Raises
        ------
        InvalidTag
            If they differ, or if tag does not have 16 bytes.
        """
        check_digest(self.digest(), tag)

    def copy(self) -> "POLYVAL":
        """Return an independent object in the same state."""
        twin = POLYVAL.__new__(POLYVAL)
        twin._state = self._state.copy()
        return twin

    def __repr__(self) -> str:
        return f"<POLYVAL, {self._state.length} bytes hashed>"
