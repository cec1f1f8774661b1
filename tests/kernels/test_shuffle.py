"""The `shuffle` kernels of every width: constant time, edges of their paths, lesser targets, AArch64.

Equality with the reference for every slot is in test_cipher_slots.py.
"""

import ctypes
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import types

from tests.constant_time import leaks
from tests.simd import emulate
from twofishkit.kernels import shuffle, shuffle_schedule
from twofishkit.kernels.jit import Kernel
from twofishkit.kernels.native import FEW_BYTES, SCRATCH_BYTES
from twofishkit.kernels.schedule import Q0, Q1
from twofishkit.kernels.target import architecture, host_features, lacking
from twofishkit.reference import block

WIDTHS = {
    "128": (shuffle.REQUIRES_128, shuffle.encrypt_128, shuffle.decrypt_128, shuffle.SLOTS_128),
    "256": (shuffle.REQUIRES_256, shuffle.encrypt_256, shuffle.decrypt_256, shuffle.SLOTS_256),
    "512": (shuffle.REQUIRES_512, shuffle.encrypt_512, shuffle.decrypt_512, shuffle.SLOTS_512),
}
KERNELS_128 = [shuffle.expand_128, shuffle.encrypt_each_128, shuffle.decrypt_each_128]
KERNELS_256 = [shuffle.expand_256, shuffle.encrypt_each_256, shuffle.decrypt_each_256]
KEYS = [bytes(range(n)) for n in (16, 24, 32)]
rng = np.random.default_rng(0x5F)


def need(required):
    if architecture() == "aarch64":
        required = shuffle.REQUIRES_NEON if required == shuffle.REQUIRES_128 else required
    reason = lacking(required)
    if reason:
        pytest.skip(reason)


@pytest.fixture(params=WIDTHS)
def width(request):
    """(encrypting core, decrypting core, slots)"""
    required, *rest = WIDTHS[request.param]
    need(required)
    return rest


# Constant time ------------------------------------------------------------------------------------


def test_cores_are_constant_time(width):
    for core in width[:2]:
        assert leaks(Kernel(core.function.__wrapped__, types.void(*(types.intp,) * 6))) == []


@pytest.mark.parametrize(
    ("required", "kernel"),
    [(shuffle.REQUIRES_128, kernel) for kernel in KERNELS_128]
    + [(shuffle.REQUIRES_256, kernel) for kernel in KERNELS_256],
    ids=lambda value: repr(value) if isinstance(value, Kernel) else "",
)
def test_key_set_up_is_constant_time(required, kernel):
    need(required)
    assert leaks(kernel) == []


# Cores --------------------------------------------------------------------------------------------


@functools.cache
def pairs(key):
    """61 blocks and what they encrypt to, as arrays (61, 16)."""
    cipher = block.expand_key(key)
    blocks = [bytes((i * j + i) % 256 for j in range(16)) for i in range(61)]
    encrypted = [cipher.encrypt_block(plain) for plain in blocks]
    return tuple(np.frombuffer(b"".join(x), np.uint8).reshape(-1, 16) for x in (blocks, encrypted))


class Call:
    """A core with a schedule, as a function of addresses, with scratch of its own between guards."""

    def __init__(self, core, schedule):
        self.function = ctypes.CFUNCTYPE(None, *[ctypes.c_ssize_t] * 6)(core.address)
        self.schedule = schedule
        self.scratch = np.zeros(SCRATCH_BYTES + 64, np.uint8)

    def __call__(self, src, dst, n, mask=0):
        self.scratch[:] = 0xA5
        scratch = self.scratch.ctypes.data if n > 1 else 0
        self.function(self.schedule.ctypes.data, src, dst, n, mask, scratch)
        touched = np.flatnonzero(self.scratch != 0xA5)
        assert touched.size == 0 or touched.max() < SCRATCH_BYTES
        if 16 * n <= FEW_BYTES:
            assert not self.scratch[FEW_BYTES:][self.scratch[FEW_BYTES:] != 0xA5].any()


LENGTHS = [*range(1, 70), 79, 80, 96, 97, 127, 128, 129, 144, 160, 191, 192, 255, 256, 257, 289, 300, 513]


@pytest.mark.parametrize("key", KEYS, ids=len)
def test_every_path_and_border(width, key):
    """All numbers of blocks, with and without a mask; nothing beyond them is written."""
    encrypt_core, decrypt_core, slots = width
    schedule = slots.expand_key(np.frombuffer(key, np.uint8))
    plain, encrypted = pairs(key)
    encrypt, decrypt = Call(encrypt_core, schedule), Call(decrypt_core, schedule)
    for n in LENGTHS:
        order = (7 * np.arange(n) + n) % 61
        x, y = plain[order], encrypted[order]
        mask = np.frombuffer(rng.bytes(16 * n), np.uint8).reshape(n, 16)
        for call, source, result in ((encrypt, x, y), (decrypt, y, x)):
            for pad in (None, mask):
                out = np.zeros((n + 4, 16), np.uint8)
                call(source.ctypes.data, out.ctypes.data, n, 0 if pad is None else pad.ctypes.data)
                expected = result if pad is None else result ^ pad
                np.testing.assert_array_equal(out[:n], expected, err_msg=str(n))
                assert not out[n:].any()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 9, 15, 16, 17, 31, 33, 40, 63, 65, 100, 200, 300])
def test_destination_may_be_source_or_mask_or_one_block_ahead(width, n):
    """What CBC and CFB decryption in place rely on, see `native`."""
    encrypt_core, _, slots = width
    schedule = slots.expand_key(np.frombuffer(KEYS[2], np.uint8))
    encrypt = Call(encrypt_core, schedule)
    plain, encrypted = pairs(KEYS[2])
    order = (5 * np.arange(n) + n) % 61
    mask = np.frombuffer(rng.bytes(16 * n), np.uint8).reshape(n, 16)
    for ahead in (0, 1):
        memory = np.zeros((n + 1, 16), np.uint8)
        memory[:n] = plain[order]
        encrypt(memory.ctypes.data, memory[ahead:].ctypes.data, n, mask.ctypes.data)
        np.testing.assert_array_equal(memory[ahead : ahead + n], encrypted[order] ^ mask)
        memory = np.zeros((n + 1, 16), np.uint8)
        memory[:n] = mask
        source = plain[order]
        encrypt(source.ctypes.data, memory[ahead:].ctypes.data, n, memory.ctypes.data)
        np.testing.assert_array_equal(memory[ahead : ahead + n], encrypted[order] ^ mask)


def test_each_block_under_its_own_key(width):
    slots = width[2]
    for length in (16, 24, 32):
        keys = np.frombuffer(rng.bytes(5 * length), np.uint8).reshape(5, length)
        src = np.frombuffer(rng.bytes(80), np.uint8).reshape(5, 16)
        out = np.zeros_like(src)
        slots.encrypt_each(keys, src, out)
        for key, x, y in zip(keys, src, out, strict=True):
            assert block.expand_key(key.tobytes()).encrypt_block(x.tobytes()) == y.tobytes()
        slots.decrypt_each(keys, out, out)
        np.testing.assert_array_equal(out, src)


# Tables -------------------------------------------------------------------------------------------


def test_nibble_tables_are_q():
    """Each layer's tables, walked through as the key schedule does, give q0 or q1 of every byte."""
    tables = shuffle_schedule.Q_TABLES.reshape(4, 4, 4, 16).astype(int)
    for layer, positions in enumerate(shuffle_schedule._OTHERS):
        for j, q in enumerate(positions):
            t0, t1, t2, t3 = tables[layer, :, j]
            for x in range(256):
                low, high = x & 15, x >> 4
                a = low ^ high
                b = shuffle_schedule._low_share(low) ^ shuffle_schedule._high_share(high)
                packed = t0[a] ^ t1[b]
                y = t2[packed & 15] ^ t3[packed >> 4]
                # The last layer of h is divided by x^2.
                y = y if layer else shuffle_schedule._times(4, int(y))
                assert y == (Q0, Q1)[q][x]


# Other targets ------------------------------------------------------------------------------------

SSSE3 = {"NUMBA_CPU_NAME": "core2", "NUMBA_CPU_FEATURES": "+sse2,+ssse3"}
SSE4 = {"NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": "+sse2,+ssse3,+sse4.1,+sse4.2"}
AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+ssse3,+sse4.2,+avx,+avx2,+bmi2"}
NO_VBMI = {
    "NUMBA_CPU_NAME": "skylake-avx512",
    "NUMBA_CPU_FEATURES": "+ssse3,+avx2,+avx512f,+avx512bw,+avx512dq,+avx512vl",
}
#: No switch on AVX-512VL: narrow vectors must not need it.
BARE_AVX512 = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+ssse3,+avx2,+avx512f,+avx512bw"}
TARGETS = {
    "SSSE3": (SSSE3, "128"),
    "SSE4.2": (SSE4, "128"),
    "AVX2": (AVX2, "256"),
    "AVX-512 without VBMI": (NO_VBMI, "512"),
    "AVX-512 F and BW": (BARE_AVX512, "512"),
}

PROGRAM = """
import numpy as np
from tests.kernels import test_shuffle as t
from twofishkit import backend
from twofishkit.reference import modes

assert backend.available()[0] == "shuffle", backend.available()
widths = {w: row[1:] for w, row in t.WIDTHS.items() if not t.lacking(row[0])}
for width in widths.values():
    for key in t.KEYS:
        t.test_every_path_and_border(width, key)
    t.test_each_block_under_its_own_key(width)
cipher, iv, data = t.block.expand_key(t.KEYS[2]), bytes(range(16)), bytes(range(256)) * 8
slots, out = backend.kernels("shuffle", threads=1).cipher, np.zeros(2048, np.uint8)
schedule = slots.expand_key(np.frombuffer(t.KEYS[2], np.uint8))
slots.cbc_encrypt(schedule, np.frombuffer(iv, np.uint8).copy(), np.frombuffer(data, np.uint8), out)
assert out.tobytes() == modes.cbc_encrypt(cipher, iv, data)
slots.cbc_decrypt(schedule, np.frombuffer(iv, np.uint8).copy(), out, out)
assert out.tobytes() == data
print(next(w for w, (_, _, mine) in widths.items() if mine.expand_key is backend._load(
    backend._row(backend.CIPHERS, "shuffle", "backend")).expand_key))
"""


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_on_target(target, tmp_path):
    settings, widest = TARGETS[target]
    needed = {word[1:] for word in settings["NUMBA_CPU_FEATURES"].split(",")}
    if architecture() != "x86-64" or not needed <= host_features():
        pytest.skip(f"this machine cannot run code for {target}")
    environment = os.environ | settings | {"TWOFISHKIT_CACHE_DIR": str(tmp_path)}
    environment.pop("TWOFISHKIT_BACKEND", None)
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [widest]


def test_code_for_aarch64(tmp_path):
    """S-boxes are looked up four registers at a time, and everything is inlined."""
    name = "tests.kernels.shuffle_kernels:encrypt"
    listing = emulate.cross_compile(tmp_path / "shuffle.s", name).read_text()
    four = r"^\s+tbl\s+v\d+\.16b, \{ v\d+\.16b, v\d+\.16b, v\d+\.16b, v\d+\.16b \}"
    assert len(re.findall(four, listing, re.MULTILINE)) >= 3 * 4
    called = set(re.findall(r"^\s+bl\s+(\S+)", listing, re.MULTILINE))
    assert all("shuffle_kernels7encrypt" in name for name in called if name.startswith("_ZN")), called


@pytest.mark.slow
def test_under_emulation(tmp_path):
    if reason := emulate.missing():
        pytest.skip(reason)
    kernels = "tests.kernels.shuffle_kernels:"
    expand = emulate.AArch64Kernel(tmp_path, kernels + "expand", 2)
    encrypt = emulate.AArch64Kernel(tmp_path, kernels + "encrypt", 4)
    decrypt = emulate.AArch64Kernel(tmp_path, kernels + "decrypt", 4)
    for key in KEYS:
        schedule = np.zeros(shuffle.SCHEDULE_BYTES, np.uint8)
        expand(schedule, np.frombuffer(key, np.uint8))
        plain, encrypted = pairs(key)
        for n in (1, 3, 8, 9, 16, 17, 61):
            mask = np.frombuffer(rng.bytes(16 * n), np.uint8)
            for kernel, source, result in ((encrypt, plain, encrypted), (decrypt, encrypted, plain)):
                out = np.zeros(16 * n, np.uint8)
                kernel(schedule, np.ascontiguousarray(source[:n]).reshape(-1), out, mask)
                np.testing.assert_array_equal(out ^ mask, result[:n].reshape(-1))
