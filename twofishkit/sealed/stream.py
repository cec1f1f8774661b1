"""Long messages in authenticated chunks: the C2SP chunked-encryption construction.

A message of any length under a 32-byte input key, a random 24-byte salt and a context:

    key || base nonce || commitment = HKDF-Expand(SHA-512, input key,
        "c2sp.org/chunked-encryption@v1+" || AEAD label || 0x00 || salt || context)
    sealed = salt || commitment || chunk 0 || chunk 1 || ... || last chunk
    chunk k = AEAD(key, nonce = base nonce ^ k, no AAD, 16 KiB of the message)

The last chunk is always shorter than 16 KiB, and empty if the message is a multiple of 16 KiB: so
there is one valid length per message length, and truncation shows without a flag. The commitment
is checked before any chunk is opened: it decides whether key, salt and context are the right ones.

This file knows no cipher: the AEAD is a parameter (`Aead`), so that the published AES-GCM vectors
of the construction run through this very code. It knows no header either: that is the context.

Chunks are independent, so any range of them can be sealed or opened on its own: chunk k of the
sealed data starts at byte ``56 + k * (16384 + tag_bytes)`` and holds the message from ``k * 16384``.

Cost: two HMAC-SHA512 and one AEAD key setup per message, one AEAD call per 16 KiB.
Source: https://c2sp.org/chunked-encryption, version 1.
"""

import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from twofishkit import parallel
from twofishkit.errors import FormatError, InvalidKey, InvalidLength, InvalidTag, LimitExceeded, WrongKey

Bytes: TypeAlias = npt.NDArray[np.uint8]

CHUNK_BYTES = 16384
SALT_BYTES = 24
COMMITMENT_BYTES = 32
PREFIX_BYTES = SALT_BYTES + COMMITMENT_BYTES
MAX_CHUNKS = 1 << 38

#: Chunks handed to the AEAD at a time: large enough to hide Python's cost, small enough for caches.
BATCH_CHUNKS = 64
BATCH_BYTES = BATCH_CHUNKS * CHUNK_BYTES
#: The same where several threads share the work, and the least that each of them is given at a time.
SHARED_CHUNKS = 4 * BATCH_CHUNKS
MIN_SHARE_CHUNKS = 8

#: Told how many more bytes of the message are done.
Advance: TypeAlias = Callable[[int], object]

_INFO = b"c2sp.org/chunked-encryption@v1+"


class ChunkCipher(Protocol):
    """An AEAD under one key, for many chunks of one length at a time, without AAD.

    Attributes
    ----------
    threads : int
        How many threads may usefully call it at once.
    """

    threads: int

    def seal(self, nonces: Bytes, plaintexts: Bytes, sealed: Bytes) -> None:
        """Seal row i of plaintexts under row i of nonces into row i of sealed.

        Shapes: nonces uint8[n, nonce_bytes], plaintexts uint8[n, m], sealed uint8[n, m + tag_bytes];
        rows are contiguous and inputs and outputs share no memory.
        """

    def open(self, nonces: Bytes, sealed: Bytes, plaintexts: Bytes) -> int:
        """The inverse: how many leading rows are authentic.

        If that is fewer than n, plaintexts must not be used.
        """

    def wipe(self) -> None:
        """Overwrite the key material where that is possible; of no further use."""


@dataclass(frozen=True)
class Aead:
    """What the construction needs to know of an AEAD.

    Attributes
    ----------
    label : bytes
        Its name, for the key derivation; without a zero byte.
    key_bytes, nonce_bytes, tag_bytes : int
        nonce_bytes is at least 12.
    prepare : callable
        (key) -> `ChunkCipher`.
    """

    label: bytes
    key_bytes: int
    nonce_bytes: int
    tag_bytes: int
    prepare: Callable[[bytes], ChunkCipher]


def hkdf_expand(prk: bytes, info: bytes, n: int) -> bytes:
    """The first n bytes of T(1) || T(2) || ..., T(i) = HMAC-SHA512(prk, T(i-1) || info || i).

    Source: RFC 5869, 2.3.
    """
    blocks, block = b"", b""
    for i in range(1, -(-n // 64) + 1):
        block = hmac.digest(prk, block + info + bytes([i]), hashlib.sha512)
        blocks += block
    return blocks[:n]


def derive(aead: Aead, input_key: bytes, salt: bytes, context: bytes) -> tuple[bytes, bytes, bytes]:
    """Key, base nonce and commitment of one message."""
    if len(input_key) != aead.key_bytes:
        raise InvalidKey(f"the input key has {len(input_key)} bytes; it must have {aead.key_bytes}")
    info = _INFO + aead.label + b"\0" + salt + context
    material = hkdf_expand(input_key, info, aead.key_bytes + aead.nonce_bytes + COMMITMENT_BYTES)
    end_of_nonce = aead.key_bytes + aead.nonce_bytes
    return material[: aead.key_bytes], material[aead.key_bytes : end_of_nonce], material[end_of_nonce:]


def new_prefix(aead: Aead, input_key: bytes, context: bytes) -> bytes:
    """Salt and commitment of a new message, to be written before `ChunkedMessage.resume` seals it once."""
    salt = secrets.token_bytes(SALT_BYTES)
    return salt + derive(aead, input_key, salt, context)[2]


def sealed_length(message_bytes: int, tag_bytes: int) -> int:
    """Bytes of the sealed form, salt and commitment included.

    Raises
    ------
    LimitExceeded
        If the message needs more than 2^38 chunks.
    """
    chunks = message_bytes // CHUNK_BYTES + 1
    if chunks > MAX_CHUNKS:
        raise LimitExceeded(
            f"{message_bytes} bytes are too many for one message; the limit is {MAX_CHUNKS * CHUNK_BYTES - 1}"
        )
    return PREFIX_BYTES + message_bytes + chunks * tag_bytes


def message_length(sealed_bytes: int, tag_bytes: int) -> int:
    """Bytes of the message, from the length of its sealed form, salt and commitment included.

    Raises
    ------
    FormatError
        If no message has a sealed form of this length: it was cut.
    """
    if sealed_bytes < PREFIX_BYTES:
        raise FormatError(
            f"truncated: {max(sealed_bytes, 0)} bytes where salt and commitment are {PREFIX_BYTES}"
        )
    whole, rest = divmod(sealed_bytes - PREFIX_BYTES, CHUNK_BYTES + tag_bytes)
    if rest < tag_bytes:
        where = "between two chunks" if rest == 0 else "within a chunk"
        raise FormatError(
            f"truncated {where}, after {sealed_bytes} bytes of sealed data: its last chunk is missing"
        )
    if whole >= MAX_CHUNKS:
        raise FormatError(f"{sealed_bytes} bytes are more than the {MAX_CHUNKS} chunks a message may have")
    return whole * CHUNK_BYTES + rest - tag_bytes


class ChunkedMessage:
    """One message's key, ready to seal or open any range of its chunks.

    Made by `create` (a new message) or `resume` (a sealed one). Chunks of a message must be sealed
    only once: sealing other data under the same number would repeat a nonce.

    Attributes
    ----------
    prefix : bytes[56]
        Salt and commitment: what precedes chunk 0.
    tag_bytes : int
    sealed_chunk_bytes : int
        Length of every chunk but the last, when sealed.
    """

    __slots__ = ("_base_nonce", "_cipher", "prefix", "sealed_chunk_bytes", "tag_bytes")

    def __init__(self, aead: Aead, key: bytes, base_nonce: bytes, prefix: bytes) -> None:
        self._cipher = aead.prepare(key)
        self._base_nonce = np.frombuffer(base_nonce, np.uint8)
        self.prefix = prefix
        self.tag_bytes = aead.tag_bytes
        self.sealed_chunk_bytes = CHUNK_BYTES + aead.tag_bytes

    @classmethod
    def create(
        cls, aead: Aead, input_key: bytes, context: bytes, salt: bytes | None = None
    ) -> "ChunkedMessage":
        """A new message; the salt is random, and given only where a test must repeat itself."""
        salt = secrets.token_bytes(SALT_BYTES) if salt is None else salt
        key, base_nonce, commitment = derive(aead, input_key, salt, context)
        return cls(aead, key, base_nonce, salt + commitment)

    @classmethod
    def resume(cls, aead: Aead, input_key: bytes, context: bytes, prefix: bytes) -> "ChunkedMessage":
        """The message that begins with a prefix.

        Raises
        ------
        WrongKey
            If key, salt or context are not those that the commitment was made from.
        """
        if len(prefix) != PREFIX_BYTES:
            raise FormatError(f"truncated: {len(prefix)} bytes where salt and commitment are {PREFIX_BYTES}")
        salt, given = prefix[:SALT_BYTES], prefix[SALT_BYTES:]
        key, base_nonce, commitment = derive(aead, input_key, salt, context)
        if not hmac.compare_digest(commitment, given):
            raise WrongKey("wrong key or passphrase, or the header was altered")
        return cls(aead, key, base_nonce, prefix)

    def wipe(self) -> None:
        """Overwrite the key material where that is possible; the message is of no further use."""
        self._cipher.wipe()

    def _nonces(self, first: int, n: int) -> Bytes:
        """Base nonce ^ chunk number (big-endian) of n chunks from ``first`` on: uint8[n, nonce_bytes]."""
        nonces = np.tile(self._base_nonce, (n, 1))
        numbers = np.arange(first, first + n, dtype=np.uint64).astype(">u8")
        nonces[:, -8:] ^= numbers.view(np.uint8).reshape(n, 8)
        return nonces

    @property
    def threads(self) -> int:
        """How many threads may usefully seal or open parts at once."""
        return self._cipher.threads

    @property
    def batch_chunks(self) -> int:
        """How many chunks at a time are worth sealing or opening in one call."""
        return BATCH_CHUNKS if self._cipher.threads == 1 else SHARED_CHUNKS

    def _batches(self, first: int, n: int, last: bool) -> Iterator[tuple[int, int, int]]:
        """(chunk number, how many chunks, bytes in each) for n message bytes from chunk first on."""
        whole, rest = divmod(n, CHUNK_BYTES)
        if rest and not last:
            raise InvalidLength(f"{n} bytes are no multiple of {CHUNK_BYTES}; only the last chunk is shorter")
        if first + whole + last > MAX_CHUNKS:
            raise LimitExceeded(f"chunk number {first + whole} is beyond the limit of {MAX_CHUNKS} chunks")
        # Several parts for each thread, so that one that is held up does not hold up all.
        share = -(-whole // (parallel.PARTS_PER_THREAD * self._cipher.threads))
        step = min(BATCH_CHUNKS, max(share, MIN_SHARE_CHUNKS))
        for start in range(0, whole, step):
            yield first + start, min(step, whole - start), CHUNK_BYTES
        if last:
            yield first + whole, 1, rest

    def seal(
        self, first: int, message: Bytes, out: Bytes, *, last: bool, advance: Advance | None = None
    ) -> int:
        """Seal part of the message, from chunk number ``first`` on.

        Parameters
        ----------
        first : int
        message : uint8[n]
            Whole chunks; with ``last`` also the remaining 0 to 16383 bytes.
        out : uint8[>= n + tag_bytes * chunks]
            Filled from its start; shares no memory with message.
        advance : callable, optional
            Called with message bytes as they are done, by one thread at a time.

        Returns
        -------
        int
            Bytes of out that were filled.
        """

        def work(source: int, target: int, chunk: int, count: int, size: int) -> None:
            self.seal_rows(message[source:], out[target:], chunk, count, size)

        self.each_batch(work, first, message.size, last, advance)
        return message.size + (message.size // CHUNK_BYTES + last) * self.tag_bytes

    def open(
        self, first: int, sealed: Bytes, out: Bytes, *, last: bool, advance: Advance | None = None
    ) -> int:
        """Open and verify part of the sealed chunks, from chunk number ``first`` on.

        Parameters
        ----------
        first : int
        sealed : uint8[n]
            Whole sealed chunks; with ``last`` also the final, shorter one.
        out : uint8[>= message bytes]
            Filled from its start; shares no memory with sealed.
        advance : callable, optional
            Called with message bytes as they are done, by one thread at a time.

        Returns
        -------
        int
            Bytes of out that were filled.

        Raises
        ------
        FormatError
            If the length is not that of whole chunks, or with ``last`` the final chunk is missing.
        InvalidTag
            If a chunk is not authentic; what this call wrote to out is zeroed.
        """
        n = self.opened_bytes(sealed.size, last=last)

        def work(target: int, source: int, chunk: int, count: int, size: int) -> None:
            self.open_rows(sealed[source:], out[target:], chunk, count, size)

        try:
            self.each_batch(work, first, n, last, advance)
        except BaseException:
            out[:n] = 0
            raise
        return n

    def seal_rows(self, message: Bytes, out: Bytes, chunk: int, count: int, size: int) -> int:
        """Seal count chunks of size bytes, from the start of message to that of out; bytes filled."""
        full = count * (size + self.tag_bytes)
        self._cipher.seal(
            self._nonces(chunk, count),
            message[: count * size].reshape(count, size),
            out[:full].reshape(count, size + self.tag_bytes),
        )
        return full

    def open_rows(self, sealed: Bytes, out: Bytes, chunk: int, count: int, size: int) -> None:
        """The inverse of `seal_rows`. Raises InvalidTag; what is in out must then not be used."""
        authentic = self._cipher.open(
            self._nonces(chunk, count),
            sealed[: count * (size + self.tag_bytes)].reshape(count, size + self.tag_bytes),
            out[: count * size].reshape(count, size),
        )
        if authentic < count:
            raise InvalidTag(f"chunk {chunk + authentic} was altered, moved or cut")

    def each_batch(
        self,
        work: Callable[[int, int, int, int, int], None],
        first: int,
        n: int,
        last: bool,
        advance: Advance | None,
    ) -> None:
        """Cut n message bytes from chunk ``first`` on into batches, and have threads work on them.

        ``work`` is given: offset in the message, offset in its sealed form, number of the first chunk,
        how many chunks, and the bytes in each. It runs in several threads at once. If it raises,
        no further batch is begun.
        """
        lock = threading.Lock()

        def task(chunk: int, count: int, size: int) -> None:
            done = chunk - first
            work(done * CHUNK_BYTES, done * self.sealed_chunk_bytes, chunk, count, size)
            if advance is not None and count * size:
                with lock:
                    advance(count * size)

        batches = self._batches(first, n, last)
        if self._cipher.threads == 1 or n < parallel.MIN_BYTES:
            for batch in batches:
                task(*batch)
        else:
            parallel.run([partial(task, *batch) for batch in batches], self._cipher.threads)

    def opened_bytes(self, n: int, *, last: bool) -> int:
        """Message bytes in n bytes of sealed chunks. Raises FormatError as `open`."""
        if last:
            return message_length(PREFIX_BYTES + n, self.tag_bytes)
        if n % self.sealed_chunk_bytes:
            raise FormatError(f"{n} bytes are no whole number of chunks of {self.sealed_chunk_bytes} bytes")
        return n // self.sealed_chunk_bytes * CHUNK_BYTES
