"""Streaming contexts of GCM, OCB and EAX: order of calls, in place, and what comes out when."""

import numpy as np
import pytest

from tests.aead.table import STREAMS
from twofishkit import InvalidBuffer, InvalidTag, StateError, UnsupportedType

every_stream = pytest.mark.parametrize("mode", STREAMS, ids=str)

PLAINTEXT = bytes(range(256)) * 3 + b"the rest"
AAD = b"associated data, more than a block"


@pytest.fixture
def made(mode):
    return mode.make(mode.key())


@every_stream
def test_update_gives_whole_blocks_and_finalize_the_rest(backend, mode):
    mode_object = mode.make(mode.key(), 12)
    encryptor = mode_object.encryptor(mode.nonce(), AAD)
    given = taken = 0
    ciphertext = b""
    for n in (0, 1, 14, 1, 1, 31, 0, 33, 5, 200):
        ciphertext += encryptor.update(PLAINTEXT[given : given + n])
        given += n
        taken = given - given % 16
        assert len(ciphertext) == taken
    rest = encryptor.finalize()
    assert len(rest) == given - taken
    assert len(encryptor.tag) == 12
    assert ciphertext + rest + encryptor.tag == mode_object.encrypt(mode.nonce(), PLAINTEXT[:given], AAD)


@every_stream
@pytest.mark.parametrize("n", [0, 1, 16, 17, 100])
def test_one_byte_at_a_time(backend, mode, n, made):
    encryptor, decryptor = made.encryptor(mode.nonce()), made.decryptor(mode.nonce())
    for byte in AAD:
        encryptor.update_aad(bytes((byte,)))
        decryptor.update_aad(bytes((byte,)))
    ciphertext = b"".join(encryptor.update(PLAINTEXT[i : i + 1]) for i in range(n)) + encryptor.finalize()
    assert ciphertext + encryptor.tag == made.encrypt(mode.nonce(), PLAINTEXT[:n], AAD)
    for i in range(n):
        assert decryptor.update(ciphertext[i : i + 1]) == b""
    assert decryptor.finalize(encryptor.tag) == PLAINTEXT[:n]


@every_stream
def test_arrays_are_read_in_c_order_and_give_bytes(mode, made):
    array = np.arange(60, dtype=">u2").reshape(6, 10)[:, ::-1]
    encryptor = made.encryptor(mode.nonce(), array)
    ciphertext = encryptor.update(array) + encryptor.finalize()
    assert ciphertext + encryptor.tag == made.encrypt(mode.nonce(), array.tobytes(), array.tobytes())
    decryptor = made.decryptor(mode.nonce(), array)
    decryptor.update(np.frombuffer(ciphertext, np.uint8)[::-1][::-1])
    assert decryptor.finalize(np.frombuffer(encryptor.tag, np.uint8)) == array.tobytes()


@every_stream
@pytest.mark.parametrize("first", [0, 1, 15, 16, 17, 40])
def test_in_place_never_overwrites_what_was_not_read(backend, mode, first, made):
    """With bytes waiting, output runs ahead of input in the same memory."""
    waiting = first % 16
    ready = (waiting + 400) // 16 * 16
    whole = made.encrypt(mode.nonce(), PLAINTEXT[:first] + PLAINTEXT[:400])
    for shift in (0, -waiting, -16, 1, 16):
        memory = memoryview(bytearray(500))
        data, out = memory[32:432], memory[32 + shift : 32 + shift + ready]
        data[:] = PLAINTEXT[:400]
        encryptor = made.encryptor(mode.nonce())
        encryptor.update(PLAINTEXT[:first])
        assert encryptor.update(data, out=out) is out
        assert bytes(out) == whole[first - waiting : first - waiting + ready]


@every_stream
def test_the_order_of_calls_is_enforced(mode, made):
    encryptor = made.encryptor(mode.nonce(), b"")
    encryptor.update(b"")
    encryptor.update_aad(b"an empty chunk does not begin the data")
    with pytest.raises(StateError, match="after finalize"):
        _ = encryptor.tag
    encryptor.update(b"data")
    with pytest.raises(StateError, match="before the data"):
        encryptor.update_aad(b"late")
    encryptor.finalize()
    assert encryptor.tag == encryptor.tag
    for call in (lambda: encryptor.update(b""), lambda: encryptor.update_aad(b""), encryptor.finalize):
        with pytest.raises(StateError, match="finished"):
            call()
    decryptor = made.decryptor(mode.nonce())
    decryptor.update(b"data")
    with pytest.raises(StateError, match="before the data"):
        decryptor.update_aad(b"late")


@every_stream
def test_a_forged_stream_gives_nothing_and_is_finished(backend, mode, made):
    joined = made.encrypt(mode.nonce(), PLAINTEXT, AAD)
    ciphertext, tag = joined[:-16], joined[-16:]
    forgeries = {
        "tag": (ciphertext, tag[:-1] + bytes((tag[-1] ^ 1,)), AAD),
        "short tag": (ciphertext, tag[:12], AAD),
        "ciphertext": (b"\0" + ciphertext[1:], tag, AAD),
        "truncated": (ciphertext[:-1], tag, AAD),
        "aad": (ciphertext, tag, AAD[:-1]),
    }
    for text, given, aad in forgeries.values():
        decryptor = made.decryptor(mode.nonce(), aad)
        assert decryptor.update(text) == b""
        with pytest.raises(InvalidTag):
            decryptor.finalize(given)
        with pytest.raises(StateError, match="finished"):
            decryptor.finalize(tag)
        with pytest.raises(StateError, match="finished"):
            decryptor.update(b"")
    decryptor = made.decryptor(mode.nonce(), AAD)
    decryptor.update(ciphertext)
    assert decryptor.finalize(tag) == PLAINTEXT


@every_stream
def test_a_refused_argument_leaves_the_stream_as_it_was(mode, made):
    encryptor, decryptor = made.encryptor(mode.nonce(), AAD), made.decryptor(mode.nonce(), AAD)
    first = encryptor.update(PLAINTEXT[:20])
    for context in (encryptor, decryptor):
        with pytest.raises(UnsupportedType):
            context.update("text")
    with pytest.raises(InvalidBuffer):
        encryptor.update(PLAINTEXT[20:], out=bytearray(5))
    with pytest.raises(InvalidBuffer):
        encryptor.update(PLAINTEXT[20:], out=bytes(len(PLAINTEXT)))
    ciphertext = first + encryptor.update(PLAINTEXT[20:]) + encryptor.finalize()
    assert ciphertext + encryptor.tag == made.encrypt(mode.nonce(), PLAINTEXT, AAD)
    decryptor.update(ciphertext)
    with pytest.raises(UnsupportedType):
        decryptor.finalize("text")
    assert decryptor.finalize(encryptor.tag) == PLAINTEXT


@every_stream
def test_chunks_may_change_once_they_were_given(mode, made):
    """A context keeps copies, not references."""
    chunk, aad = bytearray(b"0123456789"), bytearray(AAD)
    encryptor, decryptor = made.encryptor(mode.nonce(), aad), made.decryptor(mode.nonce(), aad)
    aad[:] = bytes(len(aad))
    ciphertext = encryptor.update(chunk)
    chunk[:] = b"----------"
    ciphertext += encryptor.finalize()
    assert ciphertext + encryptor.tag == made.encrypt(mode.nonce(), b"0123456789", AAD)
    received = bytearray(ciphertext)
    decryptor.update(received)
    received[:] = bytes(10)
    assert decryptor.finalize(encryptor.tag) == b"0123456789"


@every_stream
def test_contexts_of_one_object_are_independent(mode, made):
    one, two = made.encryptor(mode.nonce(), b"one"), made.encryptor(mode.nonce(), b"two")
    texts = {one: b"", two: b""}
    for i in range(0, 100, 10):
        for context in texts:
            texts[context] += context.update(PLAINTEXT[i : i + 10])
    for context, aad in ((one, b"one"), (two, b"two")):
        joined = texts[context] + context.finalize() + context.tag
        assert joined == made.encrypt(mode.nonce(), PLAINTEXT[:100], aad)
