"""XTS: ciphertext stealing, sectors, tweaks."""

import numpy as np
import pytest

import twofishkit as tk
from twofishkit.reference import modes as reference
from twofishkit.reference.block import expand_key

KEY = bytes(range(64))
FIRST, SECOND = expand_key(KEY[:32]), expand_key(KEY[32:])


def test_stealing_at_every_length_in_and_out_of_place(backend):
    """Mbed-TLS/mbedtls 4302; intel/isa-l_crypto 130: the tail was wrong in place. Lengths 16..100."""
    xts = tk.XTS(KEY)
    for n in range(16, 101):
        data = bytes(range(n))
        expected = reference.xts_encrypt(FIRST, SECOND, bytes([n]) * 16, data)
        assert xts.encrypt(data, bytes([n]) * 16) == expected, n
        assert xts.decrypt(expected, bytes([n]) * 16) == data, n
        buffer = bytearray(data)
        assert xts.encrypt(buffer, bytes([n]) * 16, out=buffer) is buffer
        assert buffer == expected, n
        xts.decrypt(buffer, bytes([n]) * 16, out=buffer)
        assert buffer == data, n


def test_sector_number_is_the_little_endian_tweak(backend):
    xts = tk.XTS(KEY)
    number = 0x0102030405060708090A
    for tweak in (number.to_bytes(16, "little"), bytearray(number.to_bytes(16, "little"))):
        assert xts.encrypt(bytes(16), number) == xts.encrypt(bytes(16), tweak)
    assert xts.encrypt(bytes(16), np.int64(7)) == xts.encrypt(bytes(16), 7)


@pytest.mark.parametrize("size", [16, 24, 512, 520, 4096])
def test_sectors_count_up(backend, size):
    n = 9 if size < 1000 else 3
    data = np.random.default_rng(5).integers(0, 256, (n, size), np.uint8)
    xts = tk.XTS(KEY)
    for first in (0, 2**64 - 4, 2**128 - n):
        one_by_one = [xts.encrypt(sector, first + i) for i, sector in enumerate(data)]
        at_once = xts.encrypt(data, first, sector_size=size)
        assert np.array_equal(at_once, one_by_one)
        assert np.array_equal(xts.decrypt(at_once, first, sector_size=size), data)
        assert np.array_equal(xts.encrypt(data, first.to_bytes(16, "little"), sector_size=size), at_once)


@pytest.mark.parametrize(("size", "n"), [(16, 600), (48, 257), (4096, 3), (9008, 2), (512, 300)])
def test_more_sectors_than_a_stretch(backend, size, n):
    """Numbers that carry on the way, against NumPy; in place too."""
    n = min(n, 3) if backend == "reference" else n
    data = np.random.default_rng(5).integers(0, 256, (n, size), np.uint8)
    xts = tk.XTS(KEY)
    for first in (0, 2**64 - n // 2, 2**128 - n):
        with tk.backend.use("numpy"):
            expected = tk.XTS(KEY).encrypt(data, first, sector_size=size)
        found = xts.encrypt(data, first, sector_size=size)
        assert np.array_equal(found, expected)
        assert xts.decrypt(found, first, sector_size=size, out=found) is found
        assert np.array_equal(found, data)


def test_keys_of_different_backends():
    """The two ciphers of a pair need not have been made for the same backend."""
    data = bytes(range(256)) * 20
    expected = tk.XTS(KEY).encrypt(data, 5, sector_size=512)
    with tk.backend.use("numpy"):
        of_numpy = tk.Twofish(KEY[:32]), tk.Twofish(KEY[32:])
    of_default = tk.Twofish(KEY[:32]), tk.Twofish(KEY[32:])
    for first, second in ((of_numpy[0], of_default[1]), (of_default[0], of_numpy[1])):
        xts = tk.XTS((first, second))
        assert xts.encrypt(data, 5, sector_size=512) == expected
        assert xts.decrypt(expected, 5, sector_size=512) == data


@pytest.mark.parametrize("size", [512, 520])
def test_more_sectors_than_a_group(size, monkeypatch):
    monkeypatch.setattr("twofishkit.modes.xts._GROUP_BYTES", 3 * size)
    data = np.random.default_rng(5).integers(0, 256, (10, size), np.uint8)
    xts = tk.XTS(KEY)
    found = xts.encrypt(data, 2**64 - 5, sector_size=size)
    for i, sector in enumerate(data):
        assert np.array_equal(xts.encrypt(sector, 2**64 - 5 + i), found[i])
    assert np.array_equal(xts.decrypt(found, 2**64 - 5, sector_size=size), data)


def test_no_sectors():
    assert tk.XTS(KEY).encrypt(b"", 0, sector_size=512) == b""


def test_errors():
    xts = tk.XTS(KEY)
    with pytest.raises(tk.InvalidLength, match=r"15 bytes.*at least 16"):
        xts.encrypt(bytes(15), 0)
    with pytest.raises(tk.InvalidLength, match=r"1000 bytes.*512"):
        xts.encrypt(bytes(1000), 0, sector_size=512)
    with pytest.raises(tk.InvalidParameter, match="15"):
        xts.encrypt(bytes(30), 0, sector_size=15)
    with pytest.raises(tk.UnsupportedType, match="sector_size"):
        xts.encrypt(bytes(32), 0, sector_size=16.0)
    with pytest.raises(tk.InvalidNonce, match="-1"):
        xts.encrypt(bytes(16), -1)
    with pytest.raises(tk.InvalidNonce):
        xts.encrypt(bytes(16), 1 << 128)
    with pytest.raises(tk.InvalidNonce, match="2 sectors"):
        xts.encrypt(bytes(32), (1 << 128) - 1, sector_size=16)
    with pytest.raises(tk.InvalidNonce, match="8 bytes"):
        xts.encrypt(bytes(16), bytes(8))
    with pytest.raises(tk.UnsupportedType, match="tweak"):
        xts.encrypt(bytes(16), "0" * 16)
    with pytest.raises(tk.UnsupportedType, match="tweak"):
        xts.encrypt(bytes(16), 1.0)


def test_keys():
    for size in (0, 16, 31, 40, 65, 128):
        with pytest.raises(tk.InvalidKey, match="32, 48 or 64"):
            tk.XTS(bytes(size))
    with pytest.raises(tk.InvalidKey, match="3 were given"):
        tk.XTS((bytes(16), bytes(16), bytes(16)))
    with pytest.raises(tk.InvalidKey, match="16 and 32"):
        tk.XTS((bytes(16), bytes(32)))
    pair = tk.XTS((tk.Twofish(KEY[:32]), KEY[32:]))
    assert pair.encrypt(bytes(40), 1) == tk.XTS(KEY).encrypt(bytes(40), 1)
    assert repr(pair) == "XTS(2 x <256-bit key>)"


def test_equal_keys_are_accepted(backend):
    """The Linux kernel's first XTS vector has two zero keys."""
    found = tk.XTS(bytes(32)).encrypt(bytes(32), 0)
    assert found.hex() == "4bc9444a11a3efac3074e44452779743a760b2452ef900909faafd896e9d4ae0"
