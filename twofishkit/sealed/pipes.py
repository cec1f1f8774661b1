"""Sealing and opening in constant memory: pieces of any size in, batches of chunks out."""

import threading
from collections.abc import Callable, Iterator

import numpy as np

from twofishkit.errors import FormatError
from twofishkit.sealed.stream import CHUNK_BYTES, Advance, Bytes, ChunkedMessage

#: Fills a writable buffer as far as it can; fewer bytes than asked for mean the end.
Fill = Callable[[Bytes], int]


class Sealer:
    """Seals a message that arrives in pieces.

    Parameters
    ----------
    message : ChunkedMessage
        A new one; its prefix is for the caller to write.
    sink : callable
        Given sealed bytes, uint8[n], valid only during the call.
    advance : callable, optional
        Called with message bytes as they have been passed on.
    """

    def __init__(
        self, message: ChunkedMessage, sink: Callable[[Bytes], object], advance: Advance | None = None
    ) -> None:
        self._message, self._sink, self._advance = message, sink, advance
        #: As many chunks at a time are best written.
        self.batch_chunks = message.batch_chunks
        self._pending = np.empty(message.batch_chunks * CHUNK_BYTES, np.uint8)
        self._sealed = np.empty(
            message.batch_chunks * message.sealed_chunk_bytes + message.tag_bytes, np.uint8
        )
        self._held = 0
        self._next = 0
        #: Message bytes taken so far.
        self.total = 0

    def write(self, data: Bytes) -> None:
        """Take the next bytes of the message, uint8[n]; they are not needed after the call."""
        self.total += data.size
        while data.size:
            if self._held == 0 and data.size >= CHUNK_BYTES:
                # Whole chunks are sealed from where they are.
                taken = min(data.size - data.size % CHUNK_BYTES, self._pending.size)
                self._seal(data[:taken], last=False)
            else:
                taken = min(data.size, self._pending.size - self._held)
                self._pending[self._held : self._held + taken] = data[:taken]
                self._held += taken
                if self._held == self._pending.size:
                    self._held = 0
                    self._seal(self._pending, last=False)
            data = data[taken:]

    def finish(self) -> None:
        """Seal what is left as the end of the message."""
        self._seal(self._pending[: self._held], last=True)
        self._message.wipe()

    def _seal(self, data: Bytes, *, last: bool) -> None:
        self._sink(self._sealed[: self._message.seal(self._next, data, self._sealed, last=last)])
        self._next += data.size // CHUNK_BYTES
        if self._advance is not None and data.size:
            self._advance(data.size)


def open_batches(message: ChunkedMessage, fill: Fill, n: int | None = None) -> Iterator[Bytes]:
    """Open chunks as they are read; yields verified parts of the message, in order.

    A part is valid only until the next one is asked for. Only when the iterator has ended is it
    known that the message is whole.

    Parameters
    ----------
    message : ChunkedMessage
    fill : callable
        Reads sealed bytes, from chunk 0 on.
    n : int, optional
        Length of the message, where it is known: then nothing after its end is read.

    Raises
    ------
    FormatError, InvalidTag
        As soon as they show.
    """
    chunks = _batch_chunks(message, n)
    sealed = np.empty(chunks * message.sealed_chunk_bytes, np.uint8)
    opened = np.empty(chunks * CHUNK_BYTES, np.uint8)
    for chunk, want, last in _reads(message, n):
        got = fill(sealed[:want])
        if got < want and n is not None:
            raise FormatError("truncated: the sealed data ends before its payload does")
        # With an unknown length, only the end of the input tells that a batch is the last one.
        last = last or got < want
        done = message.open(chunk, sealed[:got], opened, last=last)
        yield opened[:done]
        if last:
            break


def _batch_chunks(message: ChunkedMessage, n: int | None) -> int:
    """Chunks that a batch of a message of n bytes has at most."""
    return message.batch_chunks if n is None else min(message.batch_chunks, n // CHUNK_BYTES + 1)


def _reads(message: ChunkedMessage, n: int | None) -> Iterator[tuple[int, int, bool]]:
    """(first chunk, sealed bytes, whether they end the message) of each batch; endless without n."""
    chunk, count = 0, message.batch_chunks
    while n is None or n - chunk * CHUNK_BYTES >= count * CHUNK_BYTES:
        yield chunk, count * message.sealed_chunk_bytes, False
        chunk += count
    rest = n - chunk * CHUNK_BYTES
    yield chunk, rest + (rest // CHUNK_BYTES + 1) * message.tag_bytes, True


def open_into(message: ChunkedMessage, fill: Fill, out: Bytes, advance: Advance | None = None) -> None:
    """Open a message of known length, batch by batch, straight into out, uint8[n].

    On any error out is zeroed, so that nothing unverified survives.
    """
    sealed = np.empty(_batch_chunks(message, out.size) * message.sealed_chunk_bytes, np.uint8)
    try:
        for chunk, want, last in _reads(message, out.size):
            if fill(sealed[:want]) < want:
                raise FormatError("truncated: the sealed data ends before its payload does")
            message.open(chunk, sealed[:want], out[chunk * CHUNK_BYTES :], last=last, advance=advance)
    except BaseException:
        out[:] = 0
        raise


def seal_at(
    message: ChunkedMessage,
    data: Bytes,
    put: Callable[[Bytes, int], object],
    advance: Advance | None = None,
) -> None:
    """Seal a whole message, several threads each putting what they have sealed at its place.

    Parameters
    ----------
    message : ChunkedMessage
    data : uint8[n]
    put : callable
        Given sealed bytes, valid only during the call, and their offset from chunk 0 on.
    advance : callable, optional
    """
    buffers = _Buffers(message)

    def work(source: int, target: int, chunk: int, count: int, size: int) -> None:
        sealed = buffers.mine(count)
        put(sealed[: message.seal_rows(data[source:], sealed, chunk, count, size)], target)

    message.each_batch(work, 0, data.size, True, advance)
    message.wipe()


def open_at(
    message: ChunkedMessage,
    get: Callable[[Bytes, int], int],
    out: Bytes,
    advance: Advance | None = None,
) -> None:
    """Open a message of known length into out, several threads each getting what they open.

    On any error out is zeroed, so that nothing unverified survives.

    Parameters
    ----------
    message : ChunkedMessage
    get : callable
        Fills a buffer from an offset, from chunk 0 on; the bytes that it found.
    out : uint8[n]
    advance : callable, optional
    """
    buffers = _Buffers(message)

    def work(target: int, source: int, chunk: int, count: int, size: int) -> None:
        sealed = buffers.mine(count)[: count * (size + message.tag_bytes)]
        if get(sealed, source) < sealed.size:
            raise FormatError("truncated: the sealed data ends before its payload does")
        message.open_rows(sealed, out[target:], chunk, count, size)

    try:
        message.each_batch(work, 0, out.size, True, advance)
    except BaseException:
        out[:] = 0
        raise


class _Buffers(threading.local):
    """Room for one batch of sealed chunks, for each thread its own."""

    def __init__(self, message: ChunkedMessage) -> None:
        self._chunk_bytes = message.sealed_chunk_bytes
        self._buffer = np.empty(0, np.uint8)

    def mine(self, count: int) -> Bytes:
        """At least count sealed chunks."""
        if self._buffer.size < count * self._chunk_bytes:
            self._buffer = np.empty(count * self._chunk_bytes, np.uint8)
        return self._buffer
