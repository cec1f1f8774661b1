"""CFB and CFB8: which is which, and partial segments."""

import pytest

import twofishkit as tk
from twofishkit.reference.block import expand_key

KEY = bytes(range(16))
IV = bytes(range(16, 32))
E = expand_key(KEY).encrypt_block


def test_cfb_is_128_bits_and_cfb8_is_8(backend):
    """pycryptodome 78, pyaes 19: CFB-8 against CFB-128, under one name."""
    assert tk.CFB(KEY, IV).encrypt(bytes(32)) == E(IV) + E(E(IV))
    first = E(IV)[0]
    second = E(IV[1:] + bytes([first]))[0]
    assert tk.CFB8(KEY, IV).encrypt(bytes(2)) == bytes([first, second])
    data = b"the first byte is right even if the mode is wrong"
    assert tk.CFB(KEY, IV).encrypt(data)[0] == tk.CFB8(KEY, IV).encrypt(data)[0]
    assert tk.CFB(KEY, IV).encrypt(data)[1:] != tk.CFB8(KEY, IV).encrypt(data)[1:]


@pytest.mark.parametrize("n", range(1, 34))
def test_a_partial_last_segment_is_a_prefix(backend, n):
    """pycryptodome 507, pyaes 17: a partial last segment was refused."""
    data = bytes(range(n))
    for mode in (tk.CFB(KEY, IV), tk.CFB8(KEY, IV)):
        ciphertext = mode.encrypt(data)
        assert len(ciphertext) == n
        assert ciphertext == mode.encrypt(data + bytes(40))[:n]
        assert mode.decrypt(ciphertext) == data
