"""Large messages cost their input, their output and little else, whatever the call.

NumPy and bytes objects report their memory to tracemalloc, so the peak is counted and not guessed.
"""

import tracemalloc

import numpy as np
import pytest

import twofishkit as tk
from tests.aead.table import MODES
from twofishkit import InvalidTag
from twofishkit import backend as backends

MIB = 1 << 20
N = 6 * MIB
#: Half of the message: enough for scratch memory of a fixed size, too little for any copy.
ROOM = 3 * MIB


def peak(call):
    """(result, bytes allocated at the highest point beyond what there was before)"""
    tracemalloc.start()
    try:
        result = call()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def check(mode, made):
    made.decrypt(mode.nonce(), made.encrypt(mode.nonce(), bytes(5000)))  # kernels compile, tables fill
    nonce = mode.nonce()[:7] if mode.name == "CCM" else mode.nonce()
    data = np.zeros(N // 8)
    (ciphertext, tag), used = peak(lambda: made.encrypt_detached(nonce, data))
    assert N <= used < N + ROOM
    out = np.empty_like(data)
    _, used = peak(lambda: made.decrypt_detached(nonce, ciphertext, tag, out=out))
    assert used < ROOM
    with pytest.raises(InvalidTag):
        made.decrypt_detached(nonce, ciphertext, bytes(16), out=ciphertext)
    _, used = peak(lambda: made.decrypt_detached(nonce, ciphertext, tag, out=ciphertext))
    assert used < ROOM
    assert not ciphertext.any()
    joined, used = peak(lambda: made.encrypt(nonce, data))
    assert N <= used < N + ROOM
    text, used = peak(lambda: made.decrypt(nonce, memoryview(joined)))
    assert type(text) is bytes
    assert N <= used < N + ROOM


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_large_message_is_never_copied(mode):
    """Under the backend that serves by default."""
    check(mode, mode.make(mode.key()))


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.name in ("GCM", "OCB")], ids=str)
def test_nor_without_compiled_kernels(mode):
    with backends.use("numpy"):
        check(mode, mode.make(mode.key()))


def test_collected_ciphertext_is_not_copied_either():
    """A stream to be decrypted is kept until it is verified: once, as it grows."""
    gcm = tk.GCM(bytes(32))
    encryptor = gcm.encryptor(b"nonce")
    chunk = bytes(MIB)
    chunks = [encryptor.update(chunk) for _ in range(N // MIB)]
    chunks.append(encryptor.finalize())

    def decrypt():
        decryptor = gcm.decryptor(b"nonce")
        while chunks:
            decryptor.update(chunks.pop(0))
        return decryptor.finalize(encryptor.tag)

    plaintext, used = peak(decrypt)
    assert plaintext == bytes(N)
    assert used < 2 * N + N // 4 + ROOM
