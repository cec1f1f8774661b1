"""Nothing altered, cut, moved, repeated or added is ever returned."""

import numpy as np
import pytest

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit.errors import FormatError, InvalidTag, WrongKey
from twofishkit.sealed import inspect
from twofishkit.sealed.stream import CHUNK_BYTES

SEALED_CHUNK = CHUNK_BYTES + 16
REFUSED = (WrongKey, InvalidTag, FormatError)


@pytest.fixture(params=["unseal", "load"])
def opened(request, tmp_path):
    """Opens a blob in memory, or as a file."""
    if request.param == "unseal":
        return lambda blob: tk.unseal(blob, KEY)

    def load(blob):
        (tmp_path / "blob").write_bytes(blob)
        return tk.load(tmp_path / "blob", KEY)

    return load


@pytest.fixture(scope="module")
def small():
    value = np.arange(6, dtype=">f4").reshape(2, 3, order="F")
    return tk.seal(value, KEY, metadata={"a": 1})


@pytest.fixture(scope="module")
def long():
    """Four whole chunks and a short one; the parts of it."""
    blob = tk.seal(np.random.default_rng(1).bytes(4 * CHUNK_BYTES + 100), KEY)
    start = len(inspect(blob).encoded) + 56
    chunks = [blob[i : i + SEALED_CHUNK] for i in range(start, len(blob), SEALED_CHUNK)]
    assert [len(chunk) for chunk in chunks] == [SEALED_CHUNK] * 4 + [116]
    return blob[:start], chunks


def test_every_single_bit_flipped(small, opened):
    assert opened(small).shape == (2, 3)
    start = len(inspect(small).encoded)
    for i in range(len(small)):
        for bit in range(8) if i < start + 56 else (0, 7):
            altered = bytearray(small)
            altered[i] ^= 1 << bit
            expected = (WrongKey, FormatError) if i < start + 56 else InvalidTag
            with pytest.raises(expected):
                opened(altered)


def test_every_single_byte_replaced(small):
    for i in range(len(small)):
        for value in {0, 255, small[i] ^ 0x55} - {small[i]}:
            altered = bytearray(small)
            altered[i] = value
            with pytest.raises(REFUSED):
                tk.unseal(altered, KEY)


def test_every_truncation(small, opened):
    for n in range(len(small)):
        with pytest.raises(FormatError):
            opened(small[:n])


@pytest.mark.parametrize("extra", [b"\0", bytes(16), bytes(SEALED_CHUNK)])
def test_trailing_data(small, long, opened, extra):
    for blob in (small, long[0] + b"".join(long[1])):
        with pytest.raises(FormatError, match="trailing"):
            opened(blob + extra)


def rejected(opened, prefix, chunks, expected=REFUSED):
    with pytest.raises(expected):
        opened(prefix + b"".join(chunks))


def test_truncation_at_and_around_every_chunk_edge(long, opened):
    prefix, chunks = long
    blob = prefix + b"".join(chunks)
    for k in range(len(chunks) + 1):
        edge = len(prefix) + k * SEALED_CHUNK
        for n in (edge - 16, edge - 1, edge, edge + 1, edge + 15, edge + 16, edge + 17):
            if n < len(blob):
                with pytest.raises(FormatError, match="truncated"):
                    opened(blob[:n])


def test_swapped_duplicated_dropped_and_rotated_chunks(long, opened):
    prefix, chunks = long
    assert len(opened(prefix + b"".join(chunks))) == 4 * CHUNK_BYTES + 100
    for i in range(4):
        for j in range(4):
            if i != j:
                swapped = list(chunks)
                swapped[i], swapped[j] = swapped[j], swapped[i]
                rejected(opened, prefix, swapped, InvalidTag)
                copied = list(chunks)
                copied[i] = copied[j]
                rejected(opened, prefix, copied, InvalidTag)
        rejected(opened, prefix, chunks[:i] + chunks[i + 1 :], FormatError)
        rejected(opened, prefix, [*chunks[: i + 1], chunks[i], *chunks[i + 1 :]], FormatError)
    rejected(opened, prefix, chunks[1:4] + chunks[:1] + chunks[4:], InvalidTag)


def unknown_length(data):
    """Sealed bytes whose header does not state a length: only the chunks themselves do."""
    from twofishkit.sealed import container, keys, pipes

    sealing = container.begin({"kind": "bytes", "payload_bytes": None}, keys.new_source(KEY, None))
    chunks = bytearray()
    sealer = pipes.Sealer(sealing.message, lambda piece: chunks.extend(piece))
    sealer.write(np.frombuffer(data, np.uint8))
    sealer.finish()
    return sealing.start, bytes(chunks)


def test_unknown_length_is_cut_and_extended_in_vain(opened):
    data = np.random.default_rng(2).bytes(2 * CHUNK_BYTES + 5)
    start, chunks = unknown_length(data)
    assert opened(start + chunks) == data
    for n in (
        0,
        1,
        16,
        SEALED_CHUNK,
        SEALED_CHUNK + 1,
        SEALED_CHUNK + 16,
        2 * SEALED_CHUNK,
        2 * SEALED_CHUNK + 20,
    ):
        rejected(opened, start, [chunks[:n]])
    last = chunks[2 * SEALED_CHUNK :]
    rejected(opened, start, [chunks, b"\0"])
    rejected(opened, start, [chunks, last])
    rejected(opened, start, [chunks[:SEALED_CHUNK], last])
    rejected(opened, start, [last])
    rejected(opened, start, [chunks[: 2 * SEALED_CHUNK], chunks[:SEALED_CHUNK], last])


def test_parts_of_two_messages_do_not_mix(opened):
    value = bytes(2 * CHUNK_BYTES)
    one, two = tk.seal(value, KEY), tk.seal(value, KEY)
    start = len(one) - 2 * SEALED_CHUNK - 16
    rejected(opened, one[:start], [two[start:]], InvalidTag)
    rejected(opened, one[: start - 56], [two[start - 56 : start], one[start:]])
    rejected(opened, one[: start - 32], [two[start - 32 :]], WrongKey)
    for k in range(2):
        edge = start + k * SEALED_CHUNK
        rejected(
            opened, one[:edge], [two[edge : edge + SEALED_CHUNK], one[edge + SEALED_CHUNK :]], InvalidTag
        )


def test_header_of_another_message_does_not_fit(opened):
    """The same bytes under a header of the same length that says something else."""
    a = tk.seal(np.zeros(4, "<f4"), KEY)
    b = tk.seal(np.zeros(4, "<i4"), KEY)
    n = len(inspect(a).encoded)
    assert n == len(inspect(b).encoded)
    rejected(opened, b[:n], [a[n:]], WrongKey)


def test_error_says_which_chunk(long):
    prefix, chunks = long
    altered = bytearray(prefix + b"".join(chunks))
    altered[len(prefix) + 3 * SEALED_CHUNK + 5] ^= 1
    with pytest.raises(InvalidTag, match="chunk 3 "):
        tk.unseal(altered, KEY)


def test_nothing_unverified_is_left_in_memory_that_the_caller_sees(long):
    """The chunk code zeroes what it wrote before it raises."""
    from twofishkit.sealed.aead import TWOFISH_256_GCM
    from twofishkit.sealed.stream import ChunkedMessage

    data = np.full(3 * CHUNK_BYTES, 0xAA, np.uint8)
    message = ChunkedMessage.create(TWOFISH_256_GCM, KEY, b"")
    sealed = np.empty(3 * SEALED_CHUNK + 16, np.uint8)
    message.seal(0, data, sealed, last=True)
    sealed[2 * SEALED_CHUNK] ^= 1
    out = np.full(3 * CHUNK_BYTES, 0x55, np.uint8)
    with pytest.raises(InvalidTag):
        message.open(0, sealed, out, last=True)
    assert not out.any()
