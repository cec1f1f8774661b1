"""encrypt_many and decrypt_many: shapes, dtypes, out=, long and short messages, and errors."""

import numpy as np
import pytest

import twofishkit as tk
from twofishkit.modes import batches

KEY = bytes(range(32))
MODES = [tk.CBC, tk.CFB, tk.OFB]


def ivs(n: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (n, 16), np.uint8)


def one_by_one(mode, data: np.ndarray) -> list[bytes]:
    return [mode(KEY, iv).encrypt(item.tobytes()) for iv, item in zip(ivs(len(data)), data, strict=True)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["f8", ">i2", "c16", "M8[s]", "S16"])
def test_arrays_of_any_dtype_and_shape(backend, mode, dtype):
    data = np.frombuffer(np.random.default_rng(2).bytes(5 * 96), dtype).reshape(5, 3, -1)
    found = mode(KEY).encrypt_many(ivs(5), data)
    assert (found.dtype, found.shape) == (data.dtype, data.shape)
    assert [item.tobytes() for item in found] == one_by_one(mode, data)
    assert mode(KEY).decrypt_many(ivs(5), found).tobytes() == data.tobytes()


@pytest.mark.parametrize("mode", MODES)
def test_layouts(mode):
    base = np.random.default_rng(3).integers(0, 256, (32, 6), np.uint8)
    for data in (base.T, base.T[::-1], np.asfortranarray(base.T), np.broadcast_to(base.T[0], (6, 32))):
        spread = np.repeat(ivs(6), 2, axis=1)[:, ::2]
        assert not spread.flags.c_contiguous
        found = mode(KEY).encrypt_many(spread, data)
        assert [item.tobytes() for item in found] == one_by_one(mode, data)


@pytest.mark.parametrize("mode", MODES)
def test_ivs_are_not_changed(backend, mode):
    given = ivs(4)
    given.flags.writeable = False
    mode(KEY).encrypt_many(given, np.zeros((4, 32), np.uint8))
    mode(KEY).decrypt_many(given, np.zeros((4, 32), np.uint8))
    assert np.array_equal(given, ivs(4))


@pytest.mark.parametrize("mode", MODES)
def test_out_and_overlap(backend, mode):
    n, m = 5, 48
    data = np.random.default_rng(4).integers(0, 256, (n, m), np.uint8)
    expected = b"".join(one_by_one(mode, data))
    out = np.full(n * m // 8, 7, np.int64)
    assert mode(KEY).encrypt_many(ivs(n), data, out=out) is out
    assert out.tobytes() == expected
    for shift in (-17, -1, 1, 16, 48, 50):
        memory = np.zeros(n * m + 200, np.uint8)
        source = memory[100 : 100 + n * m].reshape(n, m)
        source[:] = data
        target = memory[100 + shift :][: n * m]
        mode(KEY).encrypt_many(ivs(n), source, out=target)
        assert target.tobytes() == expected, shift
        memory[100 : 100 + n * m] = bytearray(expected)
        mode(KEY).decrypt_many(ivs(n), source, out=target)
        assert target.tobytes() == data.tobytes(), shift


@pytest.mark.parametrize("mode", MODES)
def test_groups_and_long_messages(mode, monkeypatch):
    """Decryption goes message by message from some length on, and in groups below it."""
    monkeypatch.setattr(batches, "_GROUP_BYTES", 1 << 10)
    for n, m in ((21, 112), (3, batches.GROUPED_BELOW + 16), (300, 16)):
        data = np.random.default_rng(5).integers(0, 256, (n, m), np.uint8)
        found = mode(KEY).encrypt_many(ivs(n), data)
        assert [item.tobytes() for item in found] == one_by_one(mode, data)
        assert np.array_equal(mode(KEY).decrypt_many(ivs(n), found), data)
        mode(KEY).decrypt_many(ivs(n), found, out=found)
        assert np.array_equal(found, data)


@pytest.mark.parametrize("mode", MODES)
def test_nothing(mode):
    assert mode(KEY).encrypt_many(ivs(0), np.empty((0, 32))).shape == (0, 32)
    assert mode(KEY).decrypt_many(ivs(3), np.empty((3, 0), "f4")).shape == (3, 0)


@pytest.mark.parametrize("mode", MODES)
def test_errors_before_work(mode):
    good, data = ivs(4), np.zeros((4, 32), np.uint8)
    out = np.full(128, 0xA5, np.uint8)
    cases = [
        (bytes(64), data, tk.UnsupportedType, "ivs must be a uint8 array"),
        (good.astype("i4"), data, tk.UnsupportedType, "int32"),
        (good.reshape(-1), data, tk.InvalidNonce, r"\(64,\).*\(n, 16\)"),
        (good[:, :12], data, tk.InvalidNonce, r"\(4, 12\)"),
        (good[:3], data, tk.InvalidLength, "3 ivs"),
        (good, data.reshape(-1), tk.InvalidLength, r"\(128,\)"),
        (good, np.zeros(()), tk.InvalidLength, r"\(\)"),
        (good, data.tobytes(), tk.UnsupportedType, "type bytes"),
        (good, np.full((4, 32), None), tk.UnsupportedType, "object"),
        (good, np.ma.masked_array(data), tk.UnsupportedType, "mask"),
        (good, np.zeros((4, 16), np.uint8), tk.InvalidBuffer, "64"),
    ]
    if mode is tk.CBC:
        cases.append((good, np.zeros((4, 31), np.uint8), tk.InvalidLength, "31 bytes"))
    for given, message, error, text in cases:
        for call in (mode(KEY).encrypt_many, mode(KEY).decrypt_many):
            with pytest.raises(error, match=text):
                call(given, message, out=out)
            assert (out == 0xA5).all()


@pytest.mark.parametrize("mode", MODES)
def test_an_object_without_iv_serves_batches_only(mode):
    name = mode.__name__
    for call in (
        lambda: mode(KEY).encrypt(bytes(16)),
        lambda: mode(KEY).decrypt(bytes(16)),
        lambda: mode(KEY).encryptor(),
        lambda: mode(KEY).decryptor(),
    ):
        with pytest.raises(tk.InvalidNonce, match=rf"{name}\(key, iv\)"):
            call()


@pytest.mark.parametrize("mode", MODES)
def test_wiped(mode):
    cipher = tk.Twofish(KEY)
    made = mode(cipher)
    cipher.wipe()
    for call in (made.encrypt_many, made.decrypt_many):
        with pytest.raises(tk.StateError):
            call(ivs(2), np.zeros((2, 16), np.uint8))


@pytest.mark.parametrize("mode", [tk.CBC, tk.CFB, tk.CFB8, tk.OFB])
@pytest.mark.parametrize("n", [0, 8, 12, 15, 17])
def test_iv_lengths(mode, n):
    with pytest.raises(tk.InvalidNonce, match=f"iv has {n} bytes; it must have 16"):
        mode(KEY, bytes(n))


@pytest.mark.parametrize("mode", [tk.CBC, tk.CFB, tk.CFB8, tk.OFB])
def test_iv_is_copied(mode):
    iv = bytearray(16)
    made = mode(KEY, iv)
    iv[3] = 1
    assert made.encrypt(bytes(16)) == mode(KEY, bytes(16)).encrypt(bytes(16))
    assert made.encrypt(bytes(16)) != mode(KEY, iv).encrypt(bytes(16))
