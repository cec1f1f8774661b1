"""Mode objects: no state, many threads, a wiped key, and what their repr shows."""

import threading

import pytest

import twofishkit as tk
from tests.contract.rows import KEY
from tests.contract.samples import DATA, N


def test_calls_leave_no_state(mode, row, expected):
    for _ in range(2):
        assert row.encrypt(mode, DATA, None) == expected
        if row.lengths(16):
            row.encrypt(mode, DATA[:16], None)
        assert row.decrypt(mode, expected, None) == DATA
        if row.encryptor:
            row.encryptor(mode).update(DATA[:23])


def test_eight_threads_on_one_object(mode, row):
    """numba 9288, stumpy 858: processes aborted when threads called kernels at once."""
    n = 96 * 4
    messages = [bytes((i + k) % 256 for i in range(n)) for k in range(8)]
    wanted = [row.encrypt(mode, message, None) for message in messages]
    start = threading.Barrier(8)
    failures = []

    def work(message: bytes, result: bytes) -> None:
        start.wait()
        try:
            for _ in range(3):
                assert row.encrypt(mode, message, None) == result
                assert row.decrypt(mode, result, None) == message
                buffer = bytearray(message)
                if not row.joined:
                    row.encrypt(mode, buffer, buffer)
                    assert buffer == result
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(messages, wanted, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_wiped_key_is_refused(backend, row):
    ciphers = row.ciphers()
    mode = row.make(*ciphers)
    ciphertext = row.encrypt(mode, DATA, None)
    context = row.encryptor(mode) if row.encryptor else None
    for cipher in ciphers:
        cipher.wipe()
        cipher.wipe()  # a second time does no harm
    for call, given_, n in ((row.encrypt, DATA, len(ciphertext)), (row.decrypt, ciphertext, N)):
        out = bytearray(b"\xa5" * n)
        with pytest.raises(tk.StateError, match="wiped"):
            call(mode, given_, out)
        assert out == b"\xa5" * n
        with pytest.raises(tk.StateError, match="wiped"):
            call(mode, given_, None)
    if context is not None:
        with pytest.raises(tk.StateError, match="wiped"):
            context.update(DATA)


def test_repr_shows_the_key_size_and_no_key(mode, row):
    text = repr(mode)
    assert text == repr(row.mode())
    assert text.startswith(row.name.split()[0])
    assert "256" in text
    assert KEY[:2].hex() not in text
    assert repr(KEY)[2:8] not in text
    assert "0x" not in text
