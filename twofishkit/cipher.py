"""Twofish with an expanded key: the object that every mode of operation works through."""

import operator
import secrets
from typing import Any, Protocol, Self

import numpy as np

from twofishkit import backend
from twofishkit.buffers import Data, Out, Result, as_bytes, byte_length, prepare
from twofishkit.errors import InvalidKey, InvalidLength, InvalidParameter, StateError, UnsupportedType
from twofishkit.slots import Kernels, Schedule

KEY_SIZES = (16, 24, 32)

#: Bytes in a block.
BLOCK_SIZE = 16


class Cipher(Protocol):
    """What modes need of a block cipher with 16-byte blocks; `Twofish` is one.

    ``_schedule`` is the expanded key for the slots of ``_kernels``; reading it raises `StateError`
    once the key has been wiped.
    """

    _kernels: Kernels
    _schedule: Schedule

    @property
    def key_size(self) -> int: ...


class Twofish:
    """The Twofish block cipher with one expanded key.

    Immutable and safe to use from many threads: make it once, and give it to any number of mode
    objects instead of the key.

    Parameters
    ----------
    key : bytes-like
        16, 24 or 32 bytes. Never padded or truncated.

    Raises
    ------
    InvalidKey
        For a key of any other length.
    BackendUnavailable
        If ``TWOFISHKIT_BACKEND`` names a backend that cannot run here.

    Notes
    -----
    The backend is the one current when the object is made (see `twofishkit.backend`).

    Source: Schneier et al., Twofish: A 128-Bit Block Cipher, 1998.
    """

    __slots__ = ("__weakref__", "_kernels", "_key_size", "_schedule")

    _kernels: Kernels
    _schedule: Schedule

    def __init__(self, key: Data) -> None:
        given = as_bytes(key, "key")
        if given.size not in KEY_SIZES:
            raise InvalidKey(f"key has {given.size} bytes; a Twofish key has 16, 24 or 32 bytes")
        self._kernels = backend.current()
        self._key_size = given.size
        own = given.copy()  # aligned, writable, and wiped again
        try:
            self._schedule = self._kernels.cipher.expand_key(own)
        finally:
            own.fill(0)

    def __getattr__(self, name: str) -> Any:
        # Python comes here only for names that are not set. `wipe` deletes the schedule, so the
        # check for a wiped key costs nothing as long as there is one.
        if name == "_schedule":
            raise StateError("this Twofish object was wiped; make a new one from the key")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    @property
    def key_size(self) -> int:
        """Bytes of the key: 16, 24 or 32."""
        return self._key_size

    @property
    def block_size(self) -> int:
        """Bytes of a block: 16."""
        return BLOCK_SIZE

    @property
    def backend(self) -> str:
        """Name of the backend that does the work."""
        return self._kernels.cipher.name

    def encrypt_blocks(self, blocks: Data, *, out: Out = None) -> Result:
        """Encrypt each 16-byte block on its own: C_i = E(P_i).

        This is the raw block cipher. Equal blocks give equal results; to protect data use
        `twofishkit.seal` or an authenticated mode.

        Parameters
        ----------
        blocks : uint8[..., 16] or bytes-like
            Bytes-like objects hold whole blocks, one after the other.
        out : writable buffer, optional
            As many bytes as blocks; may be blocks itself.

        Returns
        -------
        uint8[..., 16] for an array, bytes for bytes-like input, ``out`` if it is given.

        Raises
        ------
        InvalidLength
            If the last axis is not 16, or the length is not a multiple of 16.
        UnsupportedType
            For an array of another dtype than uint8 (`ECB` takes any).
        InvalidBuffer
            If out cannot take the result.
        StateError
            If the key was wiped.
        """
        return self._blocks(self._kernels.cipher.encrypt_blocks, blocks, out)

    def decrypt_blocks(self, blocks: Data, *, out: Out = None) -> Result:
        """Decrypt each 16-byte block on its own: P_i = D(C_i).

        Parameters, results and errors are those of `encrypt_blocks`.
        """
        return self._blocks(self._kernels.cipher.decrypt_blocks, blocks, out)

    def _blocks(self, slot: Any, blocks: Data, out: Out) -> Result:
        schedule = self._schedule
        if isinstance(blocks, np.ndarray):
            if blocks.dtype != np.uint8:
                raise UnsupportedType(
                    f"blocks has dtype {blocks.dtype}; it must be uint8 of shape (..., 16)"
                    " (ECB encrypts arrays of any dtype)"
                )
            if blocks.ndim == 0 or blocks.shape[-1] != BLOCK_SIZE:
                raise InvalidLength(f"blocks has shape {blocks.shape}; it must be (..., 16)")
        elif (n := byte_length(blocks, "blocks")) % BLOCK_SIZE:
            raise InvalidLength(f"blocks has {n} bytes; it must be whole blocks of 16 bytes")
        src, dst, finish = prepare(blocks, out, "blocks")
        slot(schedule, src, dst)
        return finish()

    def wipe(self) -> None:
        """Overwrite the expanded key. Every later use, through modes too, raises `StateError`.

        Wiping twice is fine. No other thread may be using the object. What can and cannot be
        erased from a Python process is described in ``docs/security.md``.
        """
        try:
            schedule = self._schedule
        except StateError:
            return
        del self._schedule
        self._kernels.cipher.wipe(schedule)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.wipe()

    def __repr__(self) -> str:
        return f"Twofish({describe(self)})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> Any:
        raise UnsupportedType(
            "a Twofish object is not pickled, since that would write its key down; send the key over a"
            " channel of your own and make the object there"
        )


def as_index(value: Any, name: str) -> int:
    """An integer argument as int.

    Raises
    ------
    UnsupportedType
        If it is not an integer.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise UnsupportedType(f"{name} must be an integer, and is of type {type(value).__name__}") from None


def describe(cipher: Cipher) -> str:
    """What `repr` may say of a key: its size. Never its bytes, and the same on every machine."""
    return f"<{8 * cipher.key_size}-bit key>"


def as_cipher(key: Data | Cipher) -> Cipher:
    """The cipher of a mode object: a `Twofish` (or look-alike) as it is, a key expanded.

    Raises
    ------
    InvalidKey, UnsupportedType
        As `Twofish`.
    """
    if isinstance(key, Twofish) or (hasattr(key, "_kernels") and hasattr(key, "key_size")):
        cipher: Cipher = key  # type: ignore[assignment]
        return cipher
    return Twofish(key)


def two_ciphers(key: Data | tuple[Any, Any], mode: str) -> tuple[Cipher, Cipher]:
    """The two ciphers of a mode that takes two keys joined (XTS, SIV), first half first.

    Parameters
    ----------
    key : bytes-like of 32, 48 or 64 bytes, or a pair of keys or `Twofish` objects of equal size
    mode : str
        What error messages call the mode.

    Raises
    ------
    InvalidKey
        For any other length, or keys of unequal size.
    """
    if isinstance(key, tuple):
        if len(key) != 2:
            raise InvalidKey(f"{mode} takes two keys, and {len(key)} were given")
        first, second = as_cipher(key[0]), as_cipher(key[1])
        if first.key_size != second.key_size:
            raise InvalidKey(
                f"the two keys of {mode} have {first.key_size} and {second.key_size} bytes, and must be equal"
            )
        return first, second
    joined = as_bytes(key, "key")
    if joined.size not in (32, 48, 64):
        raise InvalidKey(f"key has {joined.size} bytes; {mode} takes two keys joined, of 32, 48 or 64 bytes")
    half = joined.size // 2
    return Twofish(joined[:half]), Twofish(joined[half:])


def generate_key(size: int = 32) -> bytes:
    """A new random key from the operating system's generator.

    Parameters
    ----------
    size : int
        Bytes: 16, 24 or 32 for Twofish; 48 or 64 (and 32) for the two joined keys of XTS and SIV.

    Raises
    ------
    InvalidParameter
        For any other size.
    UnsupportedType
        If size is not an integer.
    """
    n = as_index(size, "size")
    if n not in (16, 24, 32, 48, 64):
        raise InvalidParameter(f"size is {n}; it must be 16, 24 or 32 (48 or 64 for two joined keys)")
    return secrets.token_bytes(n)
