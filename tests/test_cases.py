"""What went wrong in other libraries, and does not here. Each test is named by its public report.

`HERE` and `ELSEWHERE` together hold every report that the project promises to be right about:
tested in this file, or in another one.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import twofishkit as tk
from twofishkit.reference import authenticated, expand_key
from twofishkit.reference import modes as reference

TESTS = Path(__file__).resolve().parent
KEY = bytes(range(32))
IV = bytes(range(100, 116))
NONCE = bytes(range(12))

#: Report -> name of the test in this module.
HERE: dict[str, str] = {}

#: Report -> the test, under tests, that is about it.
ELSEWHERE = {
    "gchq/CyberChef 469; tjfoc/gmsm 179": "aead/test_aes_wycheproof.py::test_gcm",
    "Legrandin/pycryptodome 582, 420": "contract/test_output.py::test_in_place",
    "pyca/cryptography 8175; pycryptodome 7": "contract/test_input.py::test_any_bytes_like_gives_bytes",
    "zarr-developers/numcodecs 39": "contract/test_input.py::test_arrays_keep_dtype_and_shape",
    "libtomcrypt notes/ocb3_tv.txt; ziglang/zig 24999": "contract/test_output.py::test_in_place",
    "numba 9288; stumpy 858": "contract/test_objects.py::test_eight_threads_on_one_object",
    "numba 7872": "test_concurrency.py::test_children_after_fork",
    "numba 4908, 1771, 5566": "test_cache.py::test_unusable_directory_means_no_cache_and_one_warning",
    "python/cpython 131286; keybase/python-twofish 4, 10": "compat/test_twofish.py::test_the_package_agrees",
    "AChep/keyguard-app 1306; tobischo/gokeepasslib 109": "recipes/test_stored_files.py::test_keepass",
    "veracrypt/VeraCrypt 1155": "recipes/test_stored_files.py::test_tcrypt",
    "libkeepass/pykeepass (vendored pure Python)": "recipes/test_stored_files.py::test_keepass_compares",
    "numba 9350, 9348": "test_cache.py::test_concurrent_cold_starts",
    "computationalmodelling/nbval 56, 38": (
        "docs/test_notebooks.py::test_stored_outputs_are_what_the_notebook_gives"
    ),
}


def report(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Say which report a test is about."""

    def mark(test: Callable[..., None]) -> Callable[..., None]:
        HERE[name] = test.__name__
        return test

    return mark


def test_every_report_has_its_place(shared_dir):
    table = (shared_dir / "CASES.md").read_text("utf-8")
    rows = re.findall(r"^\| (?!report|---)(.*?) \|", table, re.MULTILINE)
    assert len(rows) > 30
    assert set(rows) == set(HERE) | set(ELSEWHERE)


@pytest.mark.parametrize("place", sorted(set(ELSEWHERE.values())))
def test_the_tests_elsewhere_are_there(place):
    file, name = place.split("::")
    assert f"\ndef {name}(" in (TESTS / file).read_text("utf-8")


# --- Keys and blocks -----------------------------------------------------------------------------


@report("keybase/python-twofish 2")
def test_a_short_message_is_refused_with_a_hint(backend):
    for mode in (tk.ECB(KEY), tk.CBC(KEY, IV)):
        with pytest.raises(tk.InvalidLength, match=r"5 bytes.*16.*padding=") as caught:
            mode.encrypt(b"HELLO")
        assert isinstance(caught.value, ValueError)
        assert len(mode.encrypt(b"HELLO", padding="pkcs7")) == 16


@report("PyPI twofish 0.3.0")
def test_keys_are_never_padded(backend):
    for size in (*range(16), *range(17, 24), *range(25, 32), 33, 64):
        with pytest.raises(tk.InvalidKey, match=rf"{size} bytes.*16, 24 or 32"):
            tk.Twofish(b"k" * size)


@report("blluv/pgmm_decrypt 2")
def test_the_short_keys_of_games_are_a_clear_error(backend):
    for make in (tk.ECB, lambda key: tk.CBC(key, IV), tk.GCM, tk.CMAC):
        with pytest.raises(tk.InvalidKey, match=r"10 bytes.*16, 24 or 32") as caught:
            make(b"secretpass")
        assert "secretpass" not in str(caught.value)


@report("RustCrypto/block-ciphers 7; rubbingalcoholic/cowcrypt 4")
def test_words_leave_in_the_right_byte_order(backend):
    block = tk.Twofish(bytes(16)).encrypt_blocks(bytes(16))
    assert block.hex() == "9f589f5cf6122c32b6bfec2f2ae8c35a"


@report("decfpc/DelphiEncryptionCompendium 4")
def test_no_overflow_warning_whatever_numpy_is_told(backend):
    data = np.full(1056, 0xFF, np.uint8)
    with np.errstate(all="raise"):
        for size in (16, 24, 32):
            cipher = tk.Twofish(b"\xff" * size)
            for mode in (
                tk.ECB(cipher),
                tk.CBC(cipher, IV),
                tk.CTR(cipher, b"\xff" * 16),
                tk.CFB8(cipher, IV),
            ):
                assert (mode.decrypt(mode.encrypt(data)) == data).all()
            for mode in (tk.GCM(cipher), tk.OCB(cipher), tk.EAX(cipher), tk.CCM(cipher)):
                assert (mode.decrypt(NONCE, mode.encrypt(NONCE, data, data), data) == data).all()
            xts = tk.XTS((cipher, cipher))
            sectors = xts.encrypt(data, 2**64 - 1, sector_size=32)
            assert (xts.decrypt(sectors, 2**64 - 1, sector_size=32) == data).all()


@report("zdia/gorilla 181")
def test_no_two_backends_differ(backend):
    """Every vector runs under every backend in test_vectors_*.py; this compares more lengths."""
    rng = np.random.default_rng(181)
    for size in (16, 24, 32):
        key, data = rng.bytes(size), rng.bytes(16 * 70)
        cipher, oracle = tk.Twofish(key), expand_key(key)
        for blocks in (1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 70):
            part = data[: 16 * blocks]
            expected = reference.ecb_encrypt(oracle, part)
            assert cipher.encrypt_blocks(part) == expected
            assert cipher.decrypt_blocks(expected) == part


# --- Feedback and counter modes ------------------------------------------------------------------


@report("Legrandin/pycryptodome 78, 507; ricmoo/pyaes 19, 17")
def test_cfb_is_128_bits_and_cfb8_is_another_mode(backend):
    oracle, data = expand_key(KEY), bytes(range(77))
    for n in (0, 1, 7, 15, 16, 17, 31, 32, 33, 77):
        cfb, cfb8 = tk.CFB(KEY, IV).encrypt(data[:n]), tk.CFB8(KEY, IV).encrypt(data[:n])
        assert cfb == reference.cfb_encrypt(oracle, IV, data[:n])
        assert cfb8 == reference.cfb8_encrypt(oracle, IV, data[:n])
        assert cfb[:1] == cfb8[:1]
        assert n < 2 or cfb != cfb8
        assert tk.CFB(KEY, IV).decrypt(cfb) == data[:n]
        assert tk.CFB8(KEY, IV).decrypt(cfb8) == data[:n]


@report("Legrandin/pycryptodome 635")
def test_counters_are_big_endian_unless_said_otherwise(backend):
    cipher, zeros = tk.Twofish(KEY), bytes(48)
    counters = [bytes(15) + bytes([i]) for i in (5, 6, 7)]
    assert tk.CTR(cipher, counters[0]).encrypt(zeros) == cipher.encrypt_blocks(b"".join(counters))
    counters = [bytes([i]) + bytes(15) for i in (5, 6, 7)]
    little = tk.CTR(cipher, counters[0], byteorder="little")
    assert little.encrypt(zeros) == cipher.encrypt_blocks(b"".join(counters))
    with pytest.raises(tk.InvalidParameter, match="big"):
        tk.CTR(cipher, IV, byteorder="native")


def counter_blocks(start: bytes, bits: int, byteorder: str, count: int) -> bytes:
    """Counter blocks by integer arithmetic."""
    width = bits // 8
    at = slice(16 - width, 16) if byteorder == "big" else slice(0, width)
    first, blocks = int.from_bytes(start[at], byteorder), bytearray()
    for i in range(count):
        block = bytearray(start)
        block[at] = ((first + i) % (1 << bits)).to_bytes(width, byteorder)
        blocks += block
    return bytes(blocks)


@report("randombit/botan 1389; saghul/txiki.js 1018")
@pytest.mark.parametrize("byteorder", ["big", "little"])
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_carry_at_every_position_of_a_batch(backend, bits, byteorder):
    """Starts 2^32-k, 2^64-k and 2^128-k for k = 0 to 80, in each width of the counter."""
    cipher = tk.Twofish(KEY)
    blocks = 24 if backend == "reference" else 100
    for power in (32, 64, 128):
        for k in range(0, 81, 8) if backend == "reference" else range(81):
            start = ((2**power - k) % 2**128 | (0x5A << 120 if power < 128 else 0)).to_bytes(16, byteorder)
            wanted = cipher.encrypt_blocks(counter_blocks(start, bits, byteorder, blocks))
            mode = tk.CTR(cipher, start, counter_bits=bits, byteorder=byteorder)
            assert mode.encrypt(bytes(16 * blocks)) == wanted, (power, k)


@report("mirage/mirage-crypto 305; pycrypto 104")
def test_the_limit_is_on_the_number_of_blocks(backend):
    """Any start is fine and wraps; a counter that would come again is an error before output."""
    mode = tk.CTR(KEY, b"\xff" * 16, counter_bits=32)
    assert len(mode.encrypt(bytes(64))) == 64

    too_long = np.broadcast_to(np.uint8(0), 2**36 + 1)  # takes no memory
    with pytest.raises(tk.LimitExceeded, match=str(2**36)):
        mode.encrypt(too_long)
    with pytest.raises(tk.LimitExceeded):
        tk.CTR(KEY, bytes(16), counter_bits=32).encrypt(too_long)

    stream = mode.encryptor()
    stream.seek(2**32 - 1)
    out = np.full(17, 0xA5, np.uint8)
    with pytest.raises(tk.LimitExceeded):
        stream.update(bytes(17), out=out)
    assert (out == 0xA5).all()
    last = stream.update(bytes(16))
    assert last == tk.Twofish(KEY).encrypt_blocks(b"\xff" * 15 + b"\xfe")
    with pytest.raises(tk.LimitExceeded):
        stream.update(b"x")
    with pytest.raises(tk.LimitExceeded):
        mode.encryptor().seek(2**32)


@report("brix/crypto-js 537; pycryptodome 263, 491")
@pytest.mark.parametrize("size", [0, 8, 12, 15, 17, 32])
def test_a_counter_block_is_sixteen_bytes(backend, size):
    for make in (tk.CTR, tk.CBC, tk.CFB, tk.CFB8, tk.OFB):
        with pytest.raises(tk.InvalidNonce, match=f"{size} bytes.*16"):
            make(KEY, bytes(size))


@report("pycryptodome changelog, GH 175")
def test_ctr_is_exact_at_every_batch_edge_and_start(backend):
    cipher = tk.Twofish(KEY)
    total = 40 if backend == "reference" else 210
    keystream = cipher.encrypt_blocks(counter_blocks(IV, 128, "big", total))
    mode = tk.CTR(cipher, IV)
    step = 3 if backend == "reference" else 1
    for blocks in range(0, total, step):
        for rest in (0, 1, 15):
            n = 16 * blocks + rest
            assert mode.encrypt(bytes(n)) == keystream[:n]
    for first in range(0, total - 9, step):
        stream = mode.encryptor()
        stream.seek(first)
        assert stream.update(bytes(9)) + stream.update(bytes(130)) == keystream[16 * first : 16 * first + 139]


# --- Authenticated modes -------------------------------------------------------------------------


@report("earlephilhower/bearssl-esp8266 23")
def test_an_empty_gcm_nonce_is_refused(backend):
    mode = tk.GCM(KEY)
    for attempt in (
        lambda: mode.encrypt(b"", b"data"),
        lambda: mode.decrypt(b"", bytes(20)),
        lambda: mode.encrypt_detached(b"", b"data"),
        lambda: mode.decrypt_detached(b"", b"data", bytes(16)),
        lambda: mode.encryptor(b""),
        lambda: mode.decryptor(b""),
        lambda: tk.GMAC(KEY, b""),
    ):
        with pytest.raises(tk.InvalidNonce, match="at least 1 byte"):
            attempt()


@report("gchq/CyberChef 1546; DCIT/perl-CryptX 47")
def test_tag_lengths_are_fixed_and_tags_always_checked(backend):
    data, aad = b"twelve bytes", b"aad"
    full = tk.GCM(KEY).encrypt_detached(NONCE, data, aad)[1]
    for length in range(12, 17):
        mode = tk.GCM(KEY, tag_length=length)
        ciphertext, tag = mode.encrypt_detached(NONCE, data, aad)
        assert tag == full[:length]
        assert mode.decrypt_detached(NONCE, ciphertext, tag, aad) == data
        for other in (
            b"",
            tag[:-1],
            tag[:4],
            full + b"\0",
            full[: length - 1] + bytes([full[length - 1] ^ 1]),
        ):
            with pytest.raises(tk.InvalidTag):
                mode.decrypt_detached(NONCE, ciphertext, other, aad)
        with pytest.raises(tk.InvalidTag):
            mode.decrypt(NONCE, ciphertext, aad)
    allowed = {tk.GCM: range(12, 17), tk.OCB: range(8, 17), tk.EAX: range(8, 17), tk.CCM: range(4, 17, 2)}
    for make, lengths in allowed.items():
        for length in set(range(-1, 33)) - set(lengths):
            with pytest.raises(tk.InvalidParameter, match="tag"):
                make(KEY, tag_length=length)


@report("Mbed-TLS/mbedtls 362; pyca/cryptography 1821")
def test_the_limit_of_gcm_is_exact_and_typed(backend):
    too_long = np.broadcast_to(np.uint8(0), 2**36 - 32 + 1)  # takes no memory
    mode = tk.GCM(KEY)
    for attempt in (
        lambda: mode.encrypt(NONCE, too_long),
        lambda: mode.encrypt_detached(NONCE, too_long),
        lambda: mode.decrypt_detached(NONCE, too_long, bytes(16)),
        lambda: mode.decrypt(NONCE, np.broadcast_to(np.uint8(0), 2**36 - 32 + 17)),
        lambda: mode.encryptor(NONCE).update(too_long),
    ):
        with pytest.raises(tk.LimitExceeded, match=str(2**36 - 32 + 1)):
            attempt()
    # One byte less passes the check: what refuses it is the output buffer, looked at next.
    with pytest.raises(tk.InvalidBuffer):
        mode.encrypt_detached(NONCE, too_long[1:], out=bytearray(1))


# --- Buffers and splits --------------------------------------------------------------------------


@report("openssl/openssl 6498")
def test_chunked_in_place_never_overtakes_its_input(backend):
    """Chunks of every size, each encrypted onto itself, then decrypted onto itself."""
    oracle = expand_key(KEY)
    n = 16 * 20
    data = np.arange(n, dtype=np.uint16).astype(np.uint8)
    wanted = {
        tk.CTR: reference.ctr(oracle, IV, data.tobytes()),
        tk.CFB: reference.cfb_encrypt(oracle, IV, data.tobytes()),
        tk.CFB8: reference.cfb8_encrypt(oracle, IV, data.tobytes()),
        tk.OFB: reference.ofb(oracle, IV, data.tobytes()),
    }
    for make, ciphertext in wanted.items():
        for chunk in (1, 5, 15, 16, 17, 33, 48, 100):
            buffer, mode = data.copy(), make(KEY, IV)
            for context, result in ((mode.encryptor(), ciphertext), (mode.decryptor(), data.tobytes())):
                for start in range(0, n, chunk):
                    piece = buffer[start : start + chunk]
                    assert context.update(piece, out=piece) is piece
                assert context.finalize() == b""
                assert buffer.tobytes() == result, (make.__name__, chunk)


@report("Mbed-TLS/mbedtls 4302; intel/isa-l_crypto 130")
def test_xts_tails_are_equal_in_and_out_of_place(backend):
    first, second = expand_key(KEY), expand_key(KEY[::-1])
    mode = tk.XTS((KEY, KEY[::-1]))
    data = bytes(range(100, 200))
    for n in range(16, 101):
        wanted = reference.xts_encrypt(first, second, IV, data[:n])
        assert mode.encrypt(data[:n], IV) == wanted
        assert mode.decrypt(wanted, IV) == data[:n]
        buffer = bytearray(data[:n])
        assert mode.encrypt(buffer, IV, out=buffer) is buffer
        assert buffer == wanted
        mode.decrypt(buffer, IV, out=buffer)
        assert buffer == data[:n]


@report("OP-TEE/optee_os 2243")
def test_one_call_of_96_bytes_is_three_of_32(backend):
    data, oracle = bytes(range(96)), expand_key(KEY)
    wanted = {
        tk.CBC: reference.cbc_encrypt(oracle, IV, data),
        tk.CTR: reference.ctr(oracle, IV, data),
        tk.CFB: reference.cfb_encrypt(oracle, IV, data),
        tk.CFB8: reference.cfb8_encrypt(oracle, IV, data),
        tk.OFB: reference.ofb(oracle, IV, data),
    }
    for make, ciphertext in wanted.items():
        mode = make(KEY, IV)
        assert mode.encrypt(data) == ciphertext
        for context, source, result in (
            (mode.encryptor(), data, ciphertext),
            (mode.decryptor(), ciphertext, data),
        ):
            thirds = [context.update(source[start : start + 32]) for start in (0, 32, 64)]
            assert b"".join([*thirds, context.finalize()]) == result
    for make, encrypt in (
        (tk.GCM, authenticated.gcm_encrypt),
        (tk.OCB, authenticated.ocb_encrypt),
        (tk.EAX, authenticated.eax_encrypt),
    ):
        ciphertext, tag = encrypt(oracle, NONCE, data, IV)
        context = make(KEY).encryptor(NONCE, IV)
        thirds = [context.update(data[start : start + 32]) for start in (0, 32, 64)]
        assert b"".join([*thirds, context.finalize()]) == ciphertext
        assert context.tag == tag
    mac = tk.CMAC(KEY)
    for start in (0, 32, 64):
        mac.update(data[start : start + 32])
    assert mac.digest() == authenticated.cmac(oracle, data)


@report("Legrandin/pycryptodome 226; pyca/cryptography 5003")
@pytest.mark.slow
def test_four_gib_and_a_block(tmp_path):
    """A sparse file, encrypted in place; lengths and counters beyond 32 bits are checked at both ends."""
    size = (1 << 32) + 16
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(size)
    if shutil.disk_usage(tmp_path).free < 1.1 * size:
        pytest.skip("needs 5 GB of disk for the encrypted file")
    cipher = tk.Twofish(KEY)
    data = np.memmap(path, np.uint8, "r+")
    try:
        tk.CTR(cipher, bytes(16)).encrypt(data, out=data)
        for block in (0, 1, (1 << 28) - 1, 1 << 28):
            expected = cipher.encrypt_blocks(block.to_bytes(16, "big"))
            assert data[16 * block : 16 * block + 16].tobytes() == expected
        tag = tk.GCM(cipher).encrypt_detached(NONCE, data, out=data)[1]
        tk.GCM(cipher).decrypt_detached(NONCE, data, tag, out=data)
        tk.CTR(cipher, bytes(16)).decrypt(data, out=data)
        for start in range(0, size, 1 << 26):
            assert not data[start : start + (1 << 26)].any()
    finally:
        del data
        path.unlink()  # pytest would keep it
