"""PKCS#7 padding on ECB and CBC: explicit, checked, and with out= known before it is written."""

import numpy as np
import pytest

import twofishkit as tk

KEY = bytes(range(24))
IV = bytes(range(16))


def modes() -> list:
    return [tk.ECB(KEY), tk.CBC(KEY, IV)]


@pytest.mark.parametrize("name", ["ECB", "CBC"])
def test_a_message_that_is_not_whole_blocks_says_what_to_do(name):
    """keybase/python-twofish 2: "HELLO" was refused without a hint."""
    mode = tk.ECB(KEY) if name == "ECB" else tk.CBC(KEY, IV)
    with pytest.raises(tk.InvalidLength) as caught:
        mode.encrypt(b"HELLO")
    text = str(caught.value)
    assert "5 bytes" in text
    assert f"{name} processes whole blocks of 16 bytes" in text
    assert 'padding="pkcs7"' in text
    assert isinstance(caught.value, ValueError)
    context = mode.encryptor()
    context.update(b"HELLO")
    with pytest.raises(tk.InvalidLength, match="5 bytes"):
        context.finalize()


def test_no_padding_unless_asked_for(backend):
    for mode in modes():
        assert len(mode.encrypt(bytes(32))) == 32
        assert mode.encrypt(b"") == b""
        assert len(mode.encrypt(bytes(32), padding="pkcs7")) == 48
        assert len(mode.encrypt(b"", padding="pkcs7")) == 16


@pytest.mark.parametrize("padding", ["PKCS7", "pkcs5", "zero", "", True, b"pkcs7", 7])
def test_other_paddings_are_refused(padding):
    for mode in modes():
        for call in (mode.encrypt, mode.decrypt):
            with pytest.raises(tk.InvalidParameter, match="pkcs7"):
                call(bytes(16), padding=padding)
        for context in (mode.encryptor, mode.decryptor):
            with pytest.raises(tk.InvalidParameter, match="pkcs7"):
                context(padding=padding)


ENDINGS = {
    "zero": bytes(16),
    "too long": bytes(15) + b"\x11",
    "much too long": bytes(15) + b"\xff",
    "seventeen throughout": b"\x11" * 16,
    "255 throughout": b"\xff" * 16,
    "one byte wrong": bytes(11) + b"\5\5\4\5\5",
    "first byte wrong": b"\x0f" + b"\x10" * 15,
    "second but one": bytes(13) + b"\2\3\3",
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("before", [0, 16, 48])
def test_invalid_padding_leaves_out_as_it_was(backend, ending, before):
    for mode in modes():
        ciphertext = mode.encrypt(bytes(before) + ENDINGS[ending])
        with pytest.raises(tk.InvalidPadding) as caught:
            mode.decrypt(ciphertext, padding="pkcs7")
        assert isinstance(caught.value, ValueError)
        for n in (before, before + 1, before + 15):
            out = bytearray(b"\xa5" * n)
            with pytest.raises(tk.InvalidPadding):
                mode.decrypt(ciphertext, out=out, padding="pkcs7")
            assert out == b"\xa5" * n
        context = mode.decryptor(padding="pkcs7")
        context.update(ciphertext)
        with pytest.raises(tk.InvalidPadding):
            context.finalize()


def test_every_padding_length(backend):
    for mode in modes():
        for n in range(34):
            data = bytes(range(100, 100 + n))
            ciphertext = mode.encrypt(data, padding="pkcs7")
            decrypted = mode.decrypt(ciphertext)
            assert decrypted == data + bytes([16 - n % 16]) * (16 - n % 16)
            out = bytearray(n)
            assert mode.decrypt(ciphertext, out=out, padding="pkcs7") is out
            assert out == data


@pytest.mark.parametrize("n", [0, 1, 15, 17, 31])
def test_padded_ciphertext_is_whole_blocks(n):
    for mode in modes():
        with pytest.raises(tk.InvalidLength, match=f"{n} bytes.*one or more whole blocks"):
            mode.decrypt(bytes(n), padding="pkcs7")
        context = mode.decryptor(padding="pkcs7")
        context.update(bytes(n))
        with pytest.raises(tk.InvalidLength, match="one or more whole blocks"):
            context.finalize()


def test_out_must_fit_the_message_and_not_the_blocks():
    mode = tk.CBC(KEY, IV)
    ciphertext = mode.encrypt(b"seventeen letters", padding="pkcs7")
    for n in (16, 18, 32):
        out = bytearray(b"\xa5" * n)
        with pytest.raises(tk.InvalidBuffer, match="17"):
            mode.decrypt(ciphertext, out=out, padding="pkcs7")
        assert out == b"\xa5" * n


def test_padding_in_place_at_both_ends_of_a_buffer(backend):
    """Grows by the padding in the memory of the message itself, and shrinks again."""
    for mode in modes():
        for n in (0, 5, 16, 33):
            data = np.random.default_rng(n).integers(0, 256, n, np.uint8)
            buffer = np.zeros(64, np.uint8)
            buffer[:n] = data
            size = n // 16 * 16 + 16
            mode.encrypt(buffer[:n], out=buffer[:size], padding="pkcs7")
            assert buffer[:size].tobytes() == mode.encrypt(data.tobytes(), padding="pkcs7")
            mode.decrypt(buffer[:size], out=buffer[:n], padding="pkcs7")
            assert np.array_equal(buffer[:n], data)


def test_a_context_holds_back_what_may_be_padding(backend):
    mode = tk.CBC(KEY, IV)
    ciphertext = mode.encrypt(bytes(32), padding="pkcs7")
    context = mode.decryptor(padding="pkcs7")
    assert context.update(ciphertext[:32]) == bytes(16)
    assert context.update(b"") == b""
    assert context.update(ciphertext[32:]) == bytes(16)
    assert context.finalize() == b""
