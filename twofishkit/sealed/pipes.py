"""Sealing and opening in constant memory: pieces of any size in, batches of chunks out."""

from collections.abc import Callable, Iterator

import numpy as np

from twofishkit.errors import FormatError
from twofishkit.sealed.stream import BATCH_BYTES, BATCH_CHUNKS, CHUNK_BYTES, Bytes, ChunkedMessage

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
    """

    def __init__(self, message: ChunkedMessage, sink: Callable[[Bytes], object]) -> None:
        self._message, self._sink = message, sink
        self._pending = np.empty(BATCH_BYTES, np.uint8)
        self._sealed = np.empty(BATCH_CHUNKS * message.sealed_chunk_bytes + message.tag_bytes, np.uint8)
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
                taken = min(data.size - data.size % CHUNK_BYTES, BATCH_BYTES)
                self._seal(data[:taken], last=False)
            else:
                taken = min(data.size, BATCH_BYTES - self._held)
                self._pending[self._held : self._held + taken] = data[:taken]
                self._held += taken
                if self._held == BATCH_BYTES:
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
    full = BATCH_CHUNKS * message.sealed_chunk_bytes
    sealed, opened = np.empty(full, np.uint8), np.empty(BATCH_BYTES, np.uint8)
    for chunk, want, last in _reads(message, n, full):
        got = fill(sealed[:want])
        if got < want and n is not None:
            raise FormatError("truncated: the sealed data ends before its payload does")
        # With an unknown length, only the end of the input tells that a batch is the last one.
        last = last or got < want
        done = message.open(chunk, sealed[:got], opened, last=last)
        yield opened[:done]
        if last:
            break


def _reads(message: ChunkedMessage, n: int | None, full: int) -> Iterator[tuple[int, int, bool]]:
    """(first chunk, sealed bytes, whether they end the message) of each batch; endless without n."""
    chunk = 0
    while n is None or n - chunk * CHUNK_BYTES >= BATCH_BYTES:
        yield chunk, full, False
        chunk += BATCH_CHUNKS
    rest = n - chunk * CHUNK_BYTES
    yield chunk, rest + (rest // CHUNK_BYTES + 1) * message.tag_bytes, True


def open_into(message: ChunkedMessage, fill: Fill, out: Bytes) -> None:
    """Open a message of known length, chunk by chunk, straight into out, uint8[n].

    On any error out is zeroed, so that nothing unverified survives.
    """
    full = BATCH_CHUNKS * message.sealed_chunk_bytes
    sealed = np.empty(full, np.uint8)
    try:
        for chunk, want, last in _reads(message, out.size, full):
            if fill(sealed[:want]) < want:
                raise FormatError("truncated: the sealed data ends before its payload does")
            message.open(chunk, sealed[:want], out[chunk * CHUNK_BYTES :], last=last)
    except BaseException:
        out[:] = 0
        raise
