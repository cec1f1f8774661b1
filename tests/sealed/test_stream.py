"""The chunk code beyond the published vectors: random access, any split, limits."""

import hashlib
import hmac

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA512
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from hypothesis import given
from hypothesis import strategies as st

from tests.sealed.aes_gcm import aes_gcm
from tests.sealed.conftest import KEY
from twofishkit.errors import FormatError, InvalidKey, InvalidLength, InvalidTag, LimitExceeded, WrongKey
from twofishkit.sealed import pipes, stream
from twofishkit.sealed.aead import TWOFISH_256_GCM
from twofishkit.sealed.stream import (
    CHUNK_BYTES,
    MAX_CHUNKS,
    PREFIX_BYTES,
    SHARED_CHUNKS,
    ChunkedMessage,
)

#: A batch of a cipher that several threads share, as the one here is.
SHARED_BYTES = SHARED_CHUNKS * CHUNK_BYTES

TAG = 16
SEALED_CHUNK = CHUNK_BYTES + TAG
AES = aes_gcm(256)
SALT = bytes(range(24))


def bits(data):
    return np.frombuffer(data, np.uint8)


def sealed_whole(data, aead=AES, context=b""):
    message = ChunkedMessage.create(aead, KEY, context, salt=SALT)
    out = np.empty(stream.sealed_length(len(data), TAG) - PREFIX_BYTES, np.uint8)
    assert message.seal(0, bits(data), out, last=True) == out.size
    return message.prefix, out


def data_of(n):
    return hashlib.shake_128(b"%d" % n).digest(n)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 76, 128, 129, 300])
def test_hkdf_expand(n):
    expected = HKDFExpand(SHA512(), n, b"info").derive(KEY) if n else b""
    assert stream.hkdf_expand(KEY, b"info", n) == expected


def test_derivation_is_as_the_specification_writes_it():
    info = b"c2sp.org/chunked-encryption@v1+" + b"twofishkit/AEAD_TWOFISH_256_GCM" + b"\0" + SALT + b"context"
    first = hmac.new(KEY, info + b"\1", "sha512").digest()
    second = hmac.new(KEY, first + info + b"\2", "sha512").digest()
    material = first + second
    assert stream.derive(TWOFISH_256_GCM, KEY, SALT, b"context") == (
        material[:32], material[32:44], material[44:76],
    )  # fmt: skip


def test_label_salt_and_context_all_matter():
    base = stream.derive(TWOFISH_256_GCM, KEY, SALT, b"a")
    others = [
        stream.derive(AES, KEY, SALT, b"a"),
        stream.derive(TWOFISH_256_GCM, bytes(32), SALT, b"a"),
        stream.derive(TWOFISH_256_GCM, KEY, bytes(24), b"a"),
        stream.derive(TWOFISH_256_GCM, KEY, SALT, b"b"),
    ]
    for other in others:
        assert all(x != y for x, y in zip(base, other, strict=True))


def test_each_chunk_is_one_aead_message_under_its_number():
    data = data_of(3 * CHUNK_BYTES + 7)
    _, sealed = sealed_whole(data)
    key, base_nonce, _ = stream.derive(AES, KEY, SALT, b"")
    for k in range(4):
        nonce = (int.from_bytes(base_nonce, "big") ^ k).to_bytes(12, "big")
        chunk = data[k * CHUNK_BYTES : (k + 1) * CHUNK_BYTES]
        assert AESGCM(key).encrypt(nonce, chunk, None) == sealed[k * SEALED_CHUNK :][:SEALED_CHUNK].tobytes()


@pytest.mark.parametrize("number", [0, 255, 256, 2**32 - 1, 2**32, MAX_CHUNKS - 2])
def test_chunk_numbers_up_to_the_limit(number):
    message = ChunkedMessage.create(AES, KEY, b"", salt=SALT)
    key, base_nonce, _ = stream.derive(AES, KEY, SALT, b"")
    chunk = data_of(CHUNK_BYTES)
    out = np.empty(SEALED_CHUNK, np.uint8)
    message.seal(number, bits(chunk), out, last=False)
    nonce = (int.from_bytes(base_nonce, "big") ^ number).to_bytes(12, "big")
    assert out.tobytes() == AESGCM(key).encrypt(nonce, chunk, None)
    back = np.empty(CHUNK_BYTES, np.uint8)
    message.open(number, out, back, last=False)
    assert back.tobytes() == chunk


def test_the_limit_of_chunks():
    message = ChunkedMessage.create(AES, KEY, b"", salt=SALT)
    out = np.empty(SEALED_CHUNK + TAG, np.uint8)
    message.seal(MAX_CHUNKS - 1, np.zeros(5, np.uint8), out, last=True)
    full = np.zeros(CHUNK_BYTES, np.uint8)
    for first, data, last in (
        (MAX_CHUNKS - 1, full, True),
        (MAX_CHUNKS, full, False),
        (MAX_CHUNKS, full[:5], True),
    ):
        with pytest.raises(LimitExceeded, match="limit of 274877906944 chunks"):
            message.seal(first, data, out, last=last)
    with pytest.raises(LimitExceeded):
        message.open(MAX_CHUNKS, np.zeros(TAG, np.uint8), out, last=True)
    most = MAX_CHUNKS * CHUNK_BYTES - 1
    assert stream.message_length(stream.sealed_length(most, TAG), TAG) == most
    with pytest.raises(LimitExceeded):
        stream.sealed_length(most + 1, TAG)
    with pytest.raises(FormatError):
        stream.message_length(stream.sealed_length(most, TAG) + 1 + TAG, TAG)


@given(st.integers(0, 10 * CHUNK_BYTES))
def test_lengths_are_inverse(n):
    assert stream.message_length(stream.sealed_length(n, TAG), TAG) == n


def test_exactly_the_right_lengths_are_possible():
    possible = {stream.sealed_length(n, TAG) for n in range(2 * CHUNK_BYTES + 100)}
    for length in range(max(possible)):
        if length in possible:
            stream.message_length(length, TAG)
        else:
            with pytest.raises(FormatError, match="truncated"):
                stream.message_length(length, TAG)


@pytest.mark.parametrize("aead", [AES, TWOFISH_256_GCM], ids=["aes", "twofish"])
def test_random_access(aead):
    data = data_of(70 * CHUNK_BYTES + 99)
    prefix, sealed = sealed_whole(data, aead)
    message = ChunkedMessage.resume(aead, KEY, b"", prefix)
    rng = np.random.default_rng(4)
    for _ in range(20):
        first, end = sorted(rng.integers(0, 72, 2).tolist())
        last = end == 71
        part = sealed[first * SEALED_CHUNK : min(end * SEALED_CHUNK, sealed.size)]
        if first == end:
            continue
        out = np.empty(part.size, np.uint8)
        n = message.open(first, part, out, last=last)
        assert out[:n].tobytes() == data[first * CHUNK_BYTES : end * CHUNK_BYTES]
        with pytest.raises(InvalidTag, match=f"chunk {first + 1} "):
            message.open(first + 1, part, out, last=last)


def test_parts_may_be_sealed_in_any_order():
    data = data_of(5 * CHUNK_BYTES + 3)
    _, expected = sealed_whole(data)
    message = ChunkedMessage.create(AES, KEY, b"", salt=SALT)
    out = np.empty_like(expected)
    for first, end in ((4, 6), (0, 1), (1, 4)):
        part = bits(data[first * CHUNK_BYTES : end * CHUNK_BYTES])
        message.seal(first, part, out[first * SEALED_CHUNK :], last=end == 6)
    assert np.array_equal(out, expected)


def test_shorter_chunks_only_at_the_end():
    message = ChunkedMessage.create(AES, KEY, b"")
    out = np.empty(2 * SEALED_CHUNK, np.uint8)
    with pytest.raises(InvalidLength, match="only the last chunk is shorter"):
        message.seal(0, np.zeros(CHUNK_BYTES + 1, np.uint8), out, last=False)
    with pytest.raises(FormatError, match="whole number of chunks"):
        message.open(0, np.zeros(SEALED_CHUNK + 1, np.uint8), out, last=False)


@pytest.mark.parametrize("n", [0, 1, 31, 33, 64])
def test_input_key_of_another_length(n):
    with pytest.raises(InvalidKey, match="must have 32"):
        ChunkedMessage.create(AES, bytes(n), b"")


@pytest.mark.parametrize("n", [0, 55, 57])
def test_prefix_of_another_length(n):
    with pytest.raises(FormatError):
        ChunkedMessage.resume(AES, KEY, b"", bytes(n))


def test_commitment_is_checked_first():
    prefix, _ = sealed_whole(b"x", context=b"context")
    with pytest.raises(WrongKey):
        ChunkedMessage.resume(AES, KEY, b"other", prefix)
    with pytest.raises(WrongKey):
        ChunkedMessage.resume(AES, bytes(32), b"context", prefix)
    with pytest.raises(WrongKey):
        ChunkedMessage.resume(aes_gcm(256).__class__(b"X", 32, 12, 16, AES.prepare), KEY, b"context", prefix)


@given(st.lists(st.integers(0, 3 * CHUNK_BYTES), max_size=12), st.booleans())
def test_any_split_into_pieces_gives_the_same(sizes, huge):
    if huge:
        sizes = [*sizes, SHARED_BYTES + 5, 3]
    data = data_of(sum(sizes))
    _, expected = sealed_whole(data)
    got = bytearray()
    sealer = pipes.Sealer(ChunkedMessage.create(AES, KEY, b"", salt=SALT), lambda piece: got.extend(piece))
    start = 0
    for size in sizes:
        sealer.write(bits(data[start : start + size]))
        start += size
    sealer.finish()
    assert sealer.total == len(data)
    assert got == expected.tobytes()


class Source:
    """Reads a buffer, and counts what was read."""

    def __init__(self, data):
        self.rest = data

    def __call__(self, buffer):
        n = min(buffer.size, len(self.rest))
        buffer[:n] = bits(self.rest[:n])
        self.rest = self.rest[n:]
        return n


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "n",
    [0, 1, CHUNK_BYTES, SHARED_BYTES - 1, SHARED_BYTES, SHARED_BYTES + 1, 2 * SHARED_BYTES + CHUNK_BYTES + 9],
)
def test_reading_in_batches(n, known):
    data = data_of(n)
    prefix, sealed = sealed_whole(data)
    source = Source(sealed.tobytes() + (b"after" if known else b""))
    message = ChunkedMessage.resume(AES, KEY, b"", prefix)
    parts = [part.tobytes() for part in pipes.open_batches(message, source, n if known else None)]
    assert b"".join(parts) == data
    assert max(map(len, parts)) <= SHARED_BYTES
    assert source.rest == (b"after" if known else b"")
    out = np.empty(n, np.uint8)
    pipes.open_into(message, Source(sealed.tobytes()), out)
    assert out.tobytes() == data


@pytest.mark.parametrize("known", [True, False])
def test_reading_what_was_cut(known):
    n = 2 * CHUNK_BYTES + 9
    prefix, sealed = sealed_whole(data_of(n))
    message = ChunkedMessage.resume(AES, KEY, b"", prefix)
    for cut in (
        0,
        1,
        15,
        16,
        SEALED_CHUNK - 1,
        SEALED_CHUNK,
        SEALED_CHUNK + 16,
        2 * SEALED_CHUNK,
        sealed.size - 1,
    ):
        with pytest.raises((FormatError, InvalidTag)):
            list(pipes.open_batches(message, Source(sealed.tobytes()[:cut]), n if known else None))
        out = np.ones(n, np.uint8)
        with pytest.raises((FormatError, InvalidTag)):
            pipes.open_into(message, Source(sealed.tobytes()[:cut]), out)
        assert not out.any()
