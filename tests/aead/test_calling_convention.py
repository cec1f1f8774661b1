"""What all authenticated modes do with their arguments: buffers, dtypes, out=, overlap, errors."""

import array
import concurrent.futures
import mmap
import pickle

import numpy as np
import pytest

import twofishkit as tk
from tests.aead.table import MODES, STREAMS
from twofishkit import InvalidBuffer, InvalidKey, InvalidNonce, InvalidParameter, StateError, UnsupportedType

every_mode = pytest.mark.parametrize("mode", MODES, ids=str)

PLAINTEXT = bytes(range(100))
AAD = b"associated data"


def made(mode):
    return mode.make(mode.key())


def expected(mode, plaintext=PLAINTEXT, aad=AAD):
    """(ciphertext, tag) by the reference."""
    return mode.reference(mode.key(), mode.nonce(), plaintext, aad, 16)


def buffers(data):
    """The same bytes in every kind of buffer."""
    yield data
    yield bytearray(data)
    yield memoryview(b"xx" + data + b"yy")[2:-2]
    yield memoryview(bytes(b for byte in data for b in (byte, 0)))[::2]
    yield array.array("B", data)
    yield np.frombuffer(data, np.uint8)
    yield np.frombuffer(data[::-1], np.uint8)[::-1]
    with mmap.mmap(-1, len(data)) as mapped:
        mapped[:] = data
        yield mapped


@every_mode
def test_any_buffer_serves_for_any_argument(mode):
    ciphertext, tag = expected(mode)
    for data in buffers(PLAINTEXT):
        result = made(mode).encrypt_detached(mode.nonce(), data, AAD)
        assert (bytes(result[0]), result[1]) == (ciphertext, tag)
        assert type(result[0]) is (np.ndarray if isinstance(data, np.ndarray) else bytes)
        assert type(result[1]) is bytes
    for joined in buffers(mode.joined(ciphertext, tag)):
        assert bytes(made(mode).decrypt(mode.nonce(), joined, AAD)) == PLAINTEXT
    for nonce in buffers(mode.nonce()):
        assert made(mode).encrypt(nonce, PLAINTEXT, AAD) == mode.joined(ciphertext, tag)
    for aad in buffers(AAD):
        assert made(mode).encrypt(mode.nonce(), PLAINTEXT, aad) == mode.joined(ciphertext, tag)
    for given in buffers(tag):
        assert made(mode).decrypt_detached(mode.nonce(), ciphertext, given, AAD) == PLAINTEXT
    for key in buffers(mode.key()):
        assert mode.make(key).encrypt(mode.nonce(), PLAINTEXT, AAD) == mode.joined(ciphertext, tag)


ARRAYS = {
    "float32": np.linspace(-1, 1, 60, dtype=np.float32).reshape(3, 4, 5),
    "complex": np.arange(12, dtype=np.complex128).reshape(3, 4),
    "big-endian": np.arange(50, dtype=">i4"),
    "bool": np.arange(33) % 3 == 0,
    "datetime64": np.array(["2024-02-29", "NaT"], "datetime64[s]"),
    "structured": np.array([(1, 2.5), (3, 4.5)], [("a", "u2"), ("b", "<f8")]),
    "0-d": np.array(3.25),
    "empty": np.empty((0, 5), np.int16),
    "Fortran": np.asfortranarray(np.arange(60, dtype=np.uint16).reshape(6, 10)),
    "strided": np.arange(200, dtype=np.uint32).reshape(10, 20)[::2, 1::3],
    "reversed": np.arange(50, dtype=np.int64)[::-1],
    "broadcast": np.broadcast_to(np.arange(7, dtype=np.int8), (5, 7)),
}


@every_mode
@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_keep_dtype_and_shape_and_are_read_in_c_order(mode, kind):
    data = ARRAYS[kind]
    ciphertext, tag = expected(mode, data.tobytes())
    encrypted, got = made(mode).encrypt_detached(mode.nonce(), data, AAD)
    assert (encrypted.dtype, encrypted.shape, encrypted.tobytes(), got) == (
        data.dtype,
        data.shape,
        ciphertext,
        tag,
    )
    decrypted = made(mode).decrypt_detached(mode.nonce(), encrypted, tag, AAD)
    assert (decrypted.dtype, decrypted.shape, decrypted.tobytes()) == (data.dtype, data.shape, data.tobytes())
    joined = made(mode).encrypt(mode.nonce(), data, AAD)
    assert (joined.dtype, joined.shape) == (np.uint8, (data.nbytes + 16,))
    assert joined.tobytes() == mode.joined(ciphertext, tag)
    plain = made(mode).decrypt(mode.nonce(), joined, AAD)
    assert (plain.dtype, plain.shape, plain.tobytes()) == (np.uint8, (data.nbytes,), data.tobytes())


@every_mode
def test_out_takes_any_writable_buffer_of_the_right_size(mode):
    ciphertext, tag = expected(mode)
    joined = mode.joined(ciphertext, tag)
    for out in (bytearray(116), memoryview(bytearray(116)), np.empty(116, np.uint8), np.empty(29, np.uint32)):
        assert made(mode).encrypt(mode.nonce(), PLAINTEXT, AAD, out=out) is out
        assert bytes(out) == joined
    for out in (bytearray(100), np.empty((5, 5), np.float32)):
        assert made(mode).decrypt(mode.nonce(), joined, AAD, out=out) is out
        assert bytes(out) == PLAINTEXT
        assert made(mode).encrypt_detached(mode.nonce(), PLAINTEXT, AAD, out=out) == (out, tag)
        assert bytes(out) == ciphertext
        assert made(mode).decrypt_detached(mode.nonce(), ciphertext, tag, AAD, out=out) is out
        assert bytes(out) == PLAINTEXT


@every_mode
@pytest.mark.parametrize("n", [1, 15, 16, 17, 100, 1000])
def test_every_overlap_of_data_and_out_is_right(backend, mode, n):
    """Data and out at every distance in one memory, in all four methods."""
    plaintext = np.arange(n, dtype=np.uint8)
    ciphertext, tag = (np.frombuffer(part, np.uint8) for part in expected(mode, plaintext.tobytes()))
    joined = np.frombuffer(mode.joined(ciphertext.tobytes(), tag.tobytes()), np.uint8)
    calls = (
        (made(mode).encrypt, plaintext, joined),
        (made(mode).decrypt, joined, plaintext),
        (lambda *a, **k: made(mode).encrypt_detached(*a, **k)[0], plaintext, ciphertext),
        (lambda x, y, z, **k: made(mode).decrypt_detached(x, y, tag, z, **k), ciphertext, plaintext),
    )
    for call, before, after in calls:
        for shift in (-17, -16, -15, -1, 0, 1, 15, 16, 17):
            memory = np.zeros(n + 64, np.uint8)
            data, out = memory[20 : 20 + before.size], memory[20 + shift : 20 + shift + after.size]
            data[:] = before
            assert call(mode.nonce(), data, AAD, out=out) is out
            assert np.array_equal(out, after), shift


@every_mode
def test_nonce_aad_and_tag_may_lie_in_out(mode):
    """They are read, all of them, before out is written."""
    nonce_bytes = len(mode.nonce())
    memory = bytearray(100)
    memory[: len(AAD)] = AAD
    memory[40 : 40 + nonce_bytes] = mode.nonce()
    view = memoryview(memory)
    nonce, aad = view[40 : 40 + nonce_bytes], view[: len(AAD)]
    tag = made(mode).encrypt_detached(nonce, PLAINTEXT, aad, out=memory)[1]
    ciphertext = bytes(memory)
    assert (ciphertext, tag) == expected(mode)
    memory[: len(AAD)] = AAD
    memory[40 : 40 + nonce_bytes] = mode.nonce()
    memory[80:96] = tag
    made(mode).decrypt_detached(nonce, ciphertext, view[80:96], aad, out=memory)
    assert memory == PLAINTEXT


@every_mode
def test_an_unfit_out_is_refused_before_any_work(mode):
    readonly = np.zeros(116, np.uint8)
    readonly.flags.writeable = False
    unfit = {
        "read-only": (readonly, bytes(116)),
        "bytes": (bytearray(115), bytearray(117), np.zeros(100, np.uint8)),
        "C-contiguous": (np.zeros(232, np.uint8)[::2],),
    }
    for reason, outs in unfit.items():
        for out in outs:
            before = bytes(out)
            with pytest.raises(InvalidBuffer, match=reason):
                made(mode).encrypt(mode.nonce(), PLAINTEXT, AAD, out=out)
            assert bytes(out) == before
    with pytest.raises(InvalidBuffer):
        made(mode).decrypt_detached(mode.nonce(), PLAINTEXT, bytes(16), AAD, out=bytearray(99))


@every_mode
def test_what_is_no_buffer_is_refused_by_name(mode):
    mode_object = made(mode)
    for call in (
        lambda bad: mode_object.encrypt(bad, PLAINTEXT, AAD),
        lambda bad: mode_object.encrypt(mode.nonce(), bad, AAD),
        lambda bad: mode_object.encrypt(mode.nonce(), PLAINTEXT, bad),
        lambda bad: mode_object.decrypt(mode.nonce(), bad, AAD),
        lambda bad: mode_object.encrypt_detached(mode.nonce(), bad, AAD),
        lambda bad: mode_object.decrypt_detached(mode.nonce(), bad, bytes(16), AAD),
        lambda bad: mode_object.decrypt_detached(mode.nonce(), PLAINTEXT, bad, AAD),
    ):
        for bad in ("text", 5, np.array([None]), object()):
            with pytest.raises(UnsupportedType):
                call(bad)


@every_mode
def test_nonces_of_other_lengths_are_refused(mode):
    allowed = {
        "GCM": range(1, 200),
        "OCB": range(1, 16),
        "EAX": range(200),
        "CCM": range(7, 14),
        "SIV": range(1, 200),
    }[mode.name]
    for n in range(200):
        if n in allowed:
            assert len(made(mode).encrypt(bytes(n), b"")) == 16
            continue
        for call in (made(mode).encrypt, made(mode).encrypt_detached, made(mode).decrypt):
            with pytest.raises(InvalidNonce, match=f"nonce has {n} bytes; it must have "):
                call(bytes(n), PLAINTEXT)
        with pytest.raises(InvalidNonce):
            made(mode).decrypt_detached(bytes(n), PLAINTEXT, bytes(16))
        if mode.streams:
            for context in (made(mode).encryptor, made(mode).decryptor):
                with pytest.raises(InvalidNonce):
                    context(bytes(n))


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.name != "SIV"], ids=str)
def test_tag_lengths_that_the_mode_does_not_allow(mode):
    for length in {*range(-1, 20), 12.0, "12", None, 16.5} - set(mode.tag_lengths):
        with pytest.raises(InvalidParameter, match=f"tag_length is {length!r}; {mode} tags have "):
            mode.public_class(mode.key(), tag_length=length)
    assert mode.public_class(mode.key(), tag_length=np.int64(12)).tag_length == 12


def test_a_siv_tag_has_sixteen_bytes():
    assert tk.SIV(bytes(32)).tag_length == 16
    with pytest.raises(TypeError):
        tk.SIV(bytes(32), tag_length=12)


@every_mode
def test_keys_of_other_lengths_are_refused(mode):
    for n in set(range(70)) - {mode.keys * size for size in (16, 24, 32)}:
        with pytest.raises(InvalidKey):
            mode.make(bytes(n))


@every_mode
def test_a_shared_cipher_gives_the_same_as_its_key(mode):
    ciphers = [tk.Twofish(mode.key()[i * 32 : i * 32 + 32]) for i in range(mode.keys)]
    shared = mode.public_class(ciphers[0] if mode.keys == 1 else tuple(ciphers))
    ciphertext, tag = expected(mode)
    assert shared.encrypt_detached(mode.nonce(), PLAINTEXT, AAD) == (ciphertext, tag)


@every_mode
def test_after_a_wipe_nothing_works(backend, mode):
    """In whichever cipher the wiped key is; short and long messages take different ways."""
    for wiped in range(mode.keys):
        ciphers = [tk.Twofish(mode.key()[i * 32 : i * 32 + 32]) for i in range(mode.keys)]
        mode_object = mode.public_class(ciphers[0] if mode.keys == 1 else tuple(ciphers))
        contexts = [mode_object.encryptor(mode.nonce())] if mode.streams else []
        ciphers[wiped].wipe()
        for n in (0, 5, 100, 5000):
            for call in (mode_object.encrypt, mode_object.decrypt, mode_object.encrypt_detached):
                with pytest.raises(StateError, match="wiped"):
                    call(mode.nonce(), bytes(n + 16))
            with pytest.raises(StateError, match="wiped"):
                mode_object.decrypt_detached(mode.nonce(), bytes(n), bytes(16))
        for context in contexts:
            with pytest.raises(StateError, match="wiped"):
                context.update(bytes(100))


@every_mode
def test_repr_is_the_same_everywhere_and_shows_no_key(mode):
    shown = repr(made(mode))
    assert shown == repr(mode.make(mode.key()[::-1]))
    assert shown.startswith(f"{mode.name}(<256-bit key>")
    assert mode.key().hex() not in shown


@every_mode
def test_pickling_is_refused(mode):
    with pytest.raises(UnsupportedType):
        pickle.dumps(made(mode))


@every_mode
def test_the_shared_methods_are_documented(mode):
    for name in ("encrypt", "decrypt", "encrypt_detached", "decrypt_detached"):
        assert "Raises" in getattr(mode.public_class, name).__doc__


@every_mode
def test_eight_threads_may_share_an_object(mode):
    mode_object = made(mode)
    sizes = [0, 5, 64, 2000, 2048, 2049, 9000]
    wanted = {n: mode_object.encrypt(mode.nonce(), bytes(n), AAD) for n in sizes}

    def work(worker):
        for turn in range(40):
            n = sizes[(worker + turn) % len(sizes)]
            joined = mode_object.encrypt(mode.nonce(), bytes(n), AAD)
            assert joined == wanted[n]
            assert mode_object.decrypt(mode.nonce(), joined, AAD) == bytes(n)
        return worker

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(8))) == list(range(8))


@pytest.mark.parametrize("mode", STREAMS, ids=str)
def test_only_modes_that_can_stream_do(mode):
    assert hasattr(mode.public_class, "encryptor")
    assert {m.name for m in MODES if hasattr(m.public_class, "encryptor")} == {m.name for m in STREAMS}
