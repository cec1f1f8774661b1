"""CTR: carries, widths, byte orders, limits, positions. Wrong in many libraries, and quietly so."""

import numpy as np
import pytest

import twofishkit as tk
from twofishkit.reference import modes as reference
from twofishkit.reference.block import expand_key

KEY = bytes(range(16))
SCHEDULE = expand_key(KEY)


def keystream(iv: bytes, n_blocks: int, bits: int = 128, byteorder: str = "big") -> bytes:
    return reference.ctr(SCHEDULE, iv, bytes(16 * n_blocks), bits, byteorder)


@pytest.mark.parametrize("width", [32, 64, 128])
def test_carry_at_every_position_of_a_batch(backend, width):
    """randombit/botan 1389: the carry was lost in the wide path. Starts 2^width - k, k = 0..80."""
    n = 81 if backend != "reference" else 20
    whole = keystream(((1 << width) - 80).to_bytes(17, "big")[-16:], 161)
    for k in range(0, 81, 1 if backend != "reference" else 16):
        start = ((1 << width) - k) % (1 << 128)
        found = tk.CTR(KEY, start.to_bytes(16, "big")).encrypt(bytes(16 * n))
        assert found == whole[16 * (80 - k) :][: 16 * n], k


@pytest.mark.parametrize("byteorder", ["big", "little"])
@pytest.mark.parametrize("bits", [32, 64])
def test_a_narrow_counter_never_leaks_into_the_nonce(backend, bits, byteorder):
    """saghul/txiki.js 1018: a 32-bit counter carried into the nonce beside it."""
    for k in (0, 1, 2, 15, 16, 17, 31, 63, 64):
        field = ((1 << bits) - k) % (1 << bits)
        nonce = bytes(range(200, 216 - bits // 8))
        counter = field.to_bytes(bits // 8, byteorder)
        iv = nonce + counter if byteorder == "big" else counter + nonce
        mode = tk.CTR(KEY, iv, counter_bits=bits, byteorder=byteorder)
        assert mode.encrypt(bytes(16 * 70)) == keystream(iv, 70, bits, byteorder), k


def test_byte_order_is_big_unless_asked_for(backend):
    """Legrandin/pycryptodome 635: which end counts."""
    big = bytes(15) + b"\xff"
    little = big[::-1]
    E = SCHEDULE.encrypt_block
    assert tk.CTR(KEY, big).encrypt(bytes(32)) == E(big) + E(bytes(14) + b"\1\0")
    assert tk.CTR(KEY, little, byteorder="little").encrypt(bytes(32)) == E(little) + E(b"\0\1" + bytes(14))


def test_every_length_and_batch_edge(backend):
    """pycryptodome changelog, GH 175: wrong beyond 8 blocks."""
    whole = keystream(b"\xff" * 15 + b"\xf0", 150)
    mode = tk.CTR(KEY, b"\xff" * 15 + b"\xf0")
    lengths = range(0, 2400) if backend == "gather" else (0, 1, 127, 128, 129, 1023, 1024, 1025, 2047, 2400)
    for n in lengths:
        assert mode.encrypt(bytes(n)) == whole[:n]


@pytest.mark.parametrize("iv", [b"", bytes(8), bytes(12), bytes(15), bytes(17), bytes(32)])
def test_iv_is_sixteen_bytes(iv):
    """brix/crypto-js 537; pycryptodome 263, 491: short IVs repeated keystream, long ones were cut."""
    with pytest.raises(tk.InvalidNonce, match=f"iv has {len(iv)} bytes.*16"):
        tk.CTR(KEY, iv)


def test_leading_zeros_of_the_iv_count(backend):
    """pycryptodome 491: leading zeros were dropped."""
    iv = bytes(12) + b"\0\0\1\0"
    assert tk.CTR(KEY, iv).encrypt(bytes(16)) == SCHEDULE.encrypt_block(iv)


@pytest.mark.parametrize("bits", [0, 1, 8, 16, 31, 33, 96, 127, 129, -32])
def test_counter_widths(bits):
    with pytest.raises(tk.InvalidParameter, match="32, 64 or 128"):
        tk.CTR(KEY, bytes(16), counter_bits=bits)


@pytest.mark.parametrize("byteorder", ["Big", "network", "", None, b"big"])
def test_byte_orders(byteorder):
    with pytest.raises(tk.InvalidParameter, match=r'"big" or "little"'):
        tk.CTR(KEY, bytes(16), byteorder=byteorder)


def test_limit_is_on_the_count_and_before_output(backend):
    """mirage-crypto 305; pycrypto 104: the start value was limited, and keystream repeated after it."""
    mode = tk.CTR(KEY, b"\xff" * 16, counter_bits=32)
    assert len(mode.encrypt(bytes(64))) == 64  # starts at the last value, and wraps
    # 64 GiB and one byte, in no memory at all.
    too_long = np.broadcast_to(np.uint8(0), (1 << 36) + 1)
    out = bytearray(b"\xa5" * 16)
    with pytest.raises(tk.LimitExceeded, match=r"68719476737 bytes.*2\^32 blocks"):
        mode.encrypt(too_long, out=out)
    assert out == b"\xa5" * 16
    with pytest.raises(tk.LimitExceeded):
        mode.encryptor().update(too_long)
    # Exactly at the limit the length is accepted: the error is about out.
    with pytest.raises(tk.InvalidBuffer):
        mode.encrypt(too_long[1:], out=out)


def test_limit_of_a_context(backend):
    iv = b"\x77" * 12 + b"\0\0\0\5"
    context = tk.CTR(KEY, iv, counter_bits=32).encryptor()
    context.seek((1 << 32) - 2)
    first = context.update(bytes(20))
    out = bytearray(b"\xa5" * 13)
    with pytest.raises(tk.LimitExceeded):
        context.update(bytes(13), out=out)
    assert out == b"\xa5" * 13
    assert first + context.update(bytes(12)) == keystream(b"\x77" * 12 + b"\0\0\0\3", 2, 32)
    assert context.update(b"") == b""
    with pytest.raises(tk.LimitExceeded):
        context.update(b"x")
    context.seek(0)  # going back is allowed, as for reading the message again
    assert context.update(bytes(16)) == keystream(iv, 1)


@pytest.mark.parametrize("byteorder", ["big", "little"])
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_seek(backend, bits, byteorder):
    iv = b"\xff" * 15 + b"\xfe" if byteorder == "big" else b"\xfe" + b"\xff" * 15
    mode = tk.CTR(KEY, iv, counter_bits=bits, byteorder=byteorder)
    whole = mode.encrypt(bytes(16 * 40))
    context = mode.decryptor()
    for block in (7, 0, 39, 1, 2, 16):
        context.seek(block)
        n = min(37, len(whole) - 16 * block)
        assert context.update(bytes(n)) == whole[16 * block :][:n]
        assert context.update(bytes(3)) == whole[16 * block + n :][:3] or block == 39
    for far in ((1 << bits) - 1, 1 << (bits - 1)):
        context.seek(np.uint64(far) if bits == 64 else far)
        width = bits // 8
        field = int.from_bytes(iv[-width:] if byteorder == "big" else iv[:width], byteorder)
        counter = ((field + far) % (1 << bits)).to_bytes(width, byteorder)
        counter = iv[:-width] + counter if byteorder == "big" else counter + iv[width:]
        assert context.update(bytes(16)) == SCHEDULE.encrypt_block(counter)


def test_seek_refuses_what_is_no_block():
    context = tk.CTR(KEY, bytes(16), counter_bits=32).encryptor()
    with pytest.raises(tk.InvalidParameter, match="-1"):
        context.seek(-1)
    with pytest.raises(tk.LimitExceeded):
        context.seek(1 << 32)
    with pytest.raises(tk.UnsupportedType, match="float"):
        context.seek(1.0)
    assert context.update(bytes(16)) == SCHEDULE.encrypt_block(bytes(16))
    context.finalize()
    with pytest.raises(tk.StateError):
        context.seek(0)


def test_iv_is_copied(backend):
    iv = bytearray(16)
    mode = tk.CTR(KEY, iv)
    iv[0] = 1
    assert mode.encrypt(bytes(16)) == SCHEDULE.encrypt_block(bytes(16))


def test_repr_names_the_options():
    assert repr(tk.CTR(KEY, bytes(16))) == "CTR(<128-bit key>, counter_bits=128, byteorder='big')"
