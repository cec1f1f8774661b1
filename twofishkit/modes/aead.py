"""The calling convention of all authenticated modes: what is shared between GCM, OCB, EAX, CCM, SIV.

A mode supplies six hooks (see `Mode`) that work on checked arguments; the four public methods here
check the arguments, prepare the buffers and join or split the tag. A mode class takes them over by
assignment (``encrypt = aead.encrypt``): one calling convention, no base class.

No unverified plaintext reaches the caller. Modes that authenticate the ciphertext (GCM, EAX) check
the tag before they decrypt. For those that authenticate the plaintext (OCB, CCM, SIV) see
`decrypt_then_verify`.
"""

import hmac
import operator
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from twofishkit.buffers import (
    Bytes,
    Data,
    Out,
    Result,
    as_bytes,
    byte_length,
    output_like,
    prepare,
    separate,
    small,
)
from twofishkit.errors import InvalidParameter, InvalidTag, LimitExceeded

# SP 800-38D allows 2^64 - 1 bits, whole bytes; the other modes' length fields hold as much or more.
AAD_LIMIT_BYTES = (1 << 61) - 1

#: Up to here `decrypt_then_verify` decrypts into scratch memory once, and copies.
SCRATCH_BYTES = 1 << 22
#: Beyond, it works in pieces and decrypts twice. Whole blocks; 8192 of them suit every backend.
PIECE_BYTES = 1 << 17

#: What InvalidTag says when a tag does not fit.
FORGED = "authentication failed: wrong key, nonce or associated data, or the data was altered"


class Mode(Protocol):
    """What an authenticated mode tells the shared methods; arguments of `seal` and `open` are checked."""

    tag_length: int
    #: True if the joined form is tag followed by ciphertext, false for ciphertext followed by tag.
    _tag_first: bool

    def _check_nonce(self, nonce: Any) -> Any:
        """Return the nonce as bytes (SIV: or None), or raise InvalidNonce."""

    def _check_length(self, n: int, nonce: Any) -> None:
        """Raise LimitExceeded unless a message under this (checked) nonce may have n bytes."""

    def _check_aad(self, aad: Any) -> Any:
        """Return the associated data as uint8[n] (SIV: a list of them), or raise."""

    def _seal(self, nonce: Any, aad: Any, src: Bytes, dst: Bytes) -> bytes:
        """Encrypt src to dst, which is src's memory or disjoint from it; return the tag.

        The associated data is read before dst is written: it may overlap dst.
        """

    def _open(self, nonce: Any, aad: Any, src: Bytes, tag: bytes, dst: Bytes, fresh: bool) -> None:
        """Decrypt src to dst, or raise InvalidTag.

        Then dst is as it was, or zeros if it is fresh: new memory that nobody else can see.
        """


def check_tag_length(tag_length: int, allowed: range, mode: str) -> int:
    """Return tag_length as an int, or raise InvalidParameter."""
    try:
        length = operator.index(tag_length)
    except TypeError:
        length = -1
    if length not in allowed:
        step = "" if allowed.step == 1 else ", even"
        raise InvalidParameter(
            f"tag_length is {tag_length!r}; {mode} tags have {allowed.start} to {allowed[-1]} bytes{step}"
        )
    return length


def check_aad(aad: Data) -> Bytes:
    """Return associated data as uint8[n], or raise LimitExceeded."""
    n = byte_length(aad, "aad")
    if n > AAD_LIMIT_BYTES:
        raise LimitExceeded(f"aad has {n} bytes; at most 2^61 - 1 can be authenticated")
    return as_bytes(aad, "aad")


def check_tag(expected: bytes, tag: bytes) -> None:
    """Raise InvalidTag unless tag is the beginning of expected, in constant time."""
    if not hmac.compare_digest(expected[: len(tag)], tag):
        raise InvalidTag(FORGED)


def tag_bytes(tag: Data, tag_length: int) -> bytes:
    """Return a detached tag as bytes, or raise InvalidTag if it does not have tag_length bytes."""
    if type(tag) is bytes and len(tag) == tag_length:
        return tag
    return small(
        tag, "tag", (tag_length,), f"{tag_length} bytes, as fixed when the object was made", InvalidTag
    )


def encrypt(self: Mode, nonce: Data | None, data: Data, aad: Any = b"", *, out: Out = None) -> Result:
    """Encrypt and authenticate data; return ciphertext and tag in one piece.

    Parameters
    ----------
    nonce : bytes-like
        Never use one twice under the same key; the class states the lengths allowed.
    data : bytes-like or ndarray of n bytes
    aad : bytes-like or ndarray
        Associated data: authenticated, not encrypted, not part of the result.
    out : writable buffer of n + tag_length bytes, optional
        May be, or begin with, the memory of data.

    Returns
    -------
    ndarray or bytes
        out if given; a 1-D uint8 array for an array; bytes for anything else. Ciphertext is followed
        by the tag, except for SIV, where the tag comes first.

    Raises
    ------
    InvalidNonce, LimitExceeded, UnsupportedType, InvalidBuffer, StateError
        Before anything is written.
    """
    checked_nonce = self._check_nonce(nonce)
    n = byte_length(data)
    self._check_length(n, checked_nonce)
    checked_aad = self._check_aad(aad)
    dst, finish = output_like(data, n + self.tag_length, out, flat=True)
    at = self.tag_length if self._tag_first else 0
    body = dst[at : at + n]
    src = as_bytes(data)
    if out is not None:
        src = separate(src, body)
    tag = self._seal(checked_nonce, checked_aad, src, body)
    at = 0 if self._tag_first else n
    dst[at : at + self.tag_length] = np.frombuffer(tag, np.uint8)
    return finish()


def decrypt(self: Mode, nonce: Data | None, data: Data, aad: Any = b"", *, out: Out = None) -> Result:
    """Check and decrypt what `encrypt` returned.

    Parameters
    ----------
    nonce, aad
        As given to `encrypt`.
    data : bytes-like or ndarray of n + tag_length bytes
        Ciphertext and tag in one piece.
    out : writable buffer of n bytes, optional
        May be, or overlap, the memory of data.

    Returns
    -------
    ndarray or bytes
        The plaintext: out if given; a 1-D uint8 array for an array; bytes for anything else.

    Raises
    ------
    InvalidTag
        If the tag does not fit, or data is shorter than a tag; out is then as it was.
    InvalidNonce, LimitExceeded, UnsupportedType, InvalidBuffer, StateError
        Before any work.
    """
    checked_nonce = self._check_nonce(nonce)
    n = byte_length(data) - self.tag_length
    if n < 0:
        raise InvalidTag(
            f"data has {n + self.tag_length} bytes, too few to hold a tag of {self.tag_length} bytes"
        )
    self._check_length(n, checked_nonce)
    checked_aad = self._check_aad(aad)
    dst, finish = output_like(data, n, out, flat=True)
    joined = as_bytes(data)
    if self._tag_first:
        tag, body = joined[: self.tag_length], joined[self.tag_length :]
    else:
        body, tag = joined[:n], joined[n:]
    if out is not None:
        body = separate(body, dst)
    self._open(checked_nonce, checked_aad, body, tag.tobytes(), dst, out is None)
    return finish()


def encrypt_detached(
    self: Mode, nonce: Data | None, data: Data, aad: Any = b"", *, out: Out = None
) -> tuple[Result, bytes]:
    """Encrypt and authenticate data; return (ciphertext, tag).

    Parameters
    ----------
    nonce, data, aad
        As for `encrypt`.
    out : writable buffer of the size of data, optional
        May be the memory of data.

    Returns
    -------
    ciphertext : ndarray or bytes
        out if given; an array of the dtype and shape of an array; bytes for anything else
    tag : bytes
        tag_length of them

    Raises
    ------
    InvalidNonce, LimitExceeded, UnsupportedType, InvalidBuffer, StateError
        Before anything is written.
    """
    checked_nonce = self._check_nonce(nonce)
    n = byte_length(data)
    self._check_length(n, checked_nonce)
    checked_aad = self._check_aad(aad)
    src, dst, finish = prepare(data, out)
    tag = self._seal(checked_nonce, checked_aad, src, dst)
    return finish(), tag


def decrypt_detached(
    self: Mode, nonce: Data | None, ciphertext: Data, tag: Data, aad: Any = b"", *, out: Out = None
) -> Result:
    """Check and decrypt what `encrypt_detached` returned.

    Parameters
    ----------
    nonce, aad
        As given to `encrypt_detached`.
    ciphertext : bytes-like or ndarray
    tag : bytes-like of tag_length bytes
    out : writable buffer of the size of ciphertext, optional
        May be the memory of ciphertext.

    Returns
    -------
    ndarray or bytes
        The plaintext: out if given; an array of the dtype and shape of an array; bytes for anything
        else.

    Raises
    ------
    InvalidTag
        If the tag does not fit or is not of tag_length bytes; out is then as it was.
    InvalidNonce, LimitExceeded, UnsupportedType, InvalidBuffer, StateError
        Before any work.
    """
    checked_nonce = self._check_nonce(nonce)
    n = byte_length(ciphertext, "ciphertext")
    self._check_length(n, checked_nonce)
    checked_tag = tag_bytes(tag, self.tag_length)
    checked_aad = self._check_aad(aad)
    src, dst, finish = prepare(ciphertext, out, "ciphertext")
    self._open(checked_nonce, checked_aad, src, checked_tag, dst, out is None)
    return finish()


class PlaintextMac(Protocol):
    """One message of a mode that authenticates the plaintext, while it is decrypted."""

    def decrypt(self, src: Bytes, dst: Bytes) -> None:
        """Decrypt the next whole blocks, or the rest of the message, and authenticate them."""

    def tag(self) -> bytes:
        """Return the tag, 16 bytes, of the message decrypted."""


def decrypt_then_verify(
    message: PlaintextMac,
    release: Callable[[Bytes, Bytes], None],
    src: Bytes,
    tag: bytes,
    dst: Bytes,
    fresh: bool,
) -> None:
    """Decrypt src to dst in a mode whose tag can only be checked on the plaintext.

    Fresh memory is filled straight away, and wiped if the tag does not fit. Otherwise dst must not
    change before the tag is known to fit: the plaintext goes into scratch memory and is copied. A
    message of more than `SCRATCH_BYTES` goes through a small buffer, to be forgotten there piece by
    piece, and is decrypted once more when its tag fits: any size works with a fixed amount of memory.

    Parameters
    ----------
    message : PlaintextMac
        At the beginning of the message, associated data absorbed.
    release : callable ``(src, dst)``
        Decrypts the whole message without authenticating it.
    src, dst : uint8[n]
        The same memory or disjoint.

    Raises
    ------
    InvalidTag
        And dst is as it was, or zeros if it is fresh.
    """
    n = src.size
    whole = fresh or n <= SCRATCH_BYTES
    scratch = dst if fresh else np.empty(n if whole else PIECE_BYTES, np.uint8)
    verified = False
    try:
        for start in range(0, n, PIECE_BYTES):
            piece = src[start : start + PIECE_BYTES]
            at = start if whole else 0
            message.decrypt(piece, scratch[at : at + piece.size])
        check_tag(message.tag(), tag)
        verified = True
        if not whole:
            release(src, dst)
        elif not fresh:
            dst[:] = scratch
    finally:
        if not (fresh and verified):
            scratch.fill(0)
