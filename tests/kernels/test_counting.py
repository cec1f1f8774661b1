"""Cores that count (`twofishkit.kernels.native`): what they make of counters, and CTR that relies on it."""

import functools

import numpy as np
import pytest

pytest.importorskip("numba")

from twofishkit import backend
from twofishkit.kernels import native
from twofishkit.kernels.jit import kernel
from twofishkit.kernels.native import SCRATCH_BYTES
from twofishkit.reference.modes import next_counter
from twofishkit.simd import vectors as v

CORES = [name for name in backend.available() if backend.kernels(name).cipher.cores]
KEY = np.arange(32, dtype=np.uint8)
#: In blocks: all forms of a core, and several batches with and without a rest.
LENGTHS = (
    0,
    1,
    2,
    4,
    5,
    8,
    16,
    17,
    33,
    63,
    64,
    65,
    80,
    81,
    128,
    145,
    255,
    256,
    511,
    512,
    513,
    529,
    600,
    1100,
)


@kernel("b1(u1[::1])")
def counts(schedule):
    return native.counts(v.address(schedule))


@kernel("void(u1[::1], u1[::1], u1[::1], u1[::1], b1)")
def keystream(schedule, counter, out, mask, masked):
    """Keystream as a core makes it, XORed with a mask or not."""
    scratch = v.stack(SCRATCH_BYTES)
    v.store(scratch, 0, v.load(v.u64x2, counter, 0))
    masks = v.address(mask) if masked else 0
    native.encrypt(v.address(schedule), 0, v.address(out), out.size >> 4, masks, scratch)


@functools.cache
def expanded(name):
    return backend.kernels(name).cipher.expand_key(KEY)


COUNTING = [name for name in CORES if counts(expanded(name))]


def counters(start, n, bits=32):
    blocks = []
    for _ in range(n):
        blocks.append(start)
        start = next_counter(start, bits, "big")
    return np.frombuffer(b"".join(blocks), np.uint8), start


def encrypted(blocks):
    slots, result = backend.kernels("numpy").cipher, np.empty_like(blocks)
    slots.encrypt_blocks(slots.expand_key(KEY), blocks, result)
    return result


def test_permute_counts():
    if "permute" not in CORES:
        pytest.skip("this machine cannot run permute")
    assert "permute" in COUNTING


@pytest.mark.parametrize("last", [0, 2**32 - 1, 2**32 - 70, 2**32 - 530, 0x01FFFFF0, 0xFEDCBA98])
@pytest.mark.parametrize("name", COUNTING)
def test_a_core_counts_modulo_2_to_the_32(name, last):
    start, rng = bytes(range(0x81, 0x8D)) + last.to_bytes(4, "big"), np.random.default_rng(last)
    expected = encrypted(counters(start, max(LENGTHS))[0])
    for n in LENGTHS:
        out, mask = np.full(16 * n + 64, 0xA5, np.uint8), rng.integers(0, 256, 16 * n, np.uint8)
        block = np.frombuffer(start, np.uint8)
        keystream(expanded(name), block, out[: 16 * n], mask, False)
        assert (out[: 16 * n] == expected[: 16 * n]).all(), n
        out[: 16 * n] = mask
        keystream(expanded(name), block, out[: 16 * n], out[: 16 * n], True)
        assert (out[: 16 * n] == expected[: 16 * n] ^ mask).all(), n
        assert (out[16 * n :] == 0xA5).all(), n


#: Where a counter carries, in blocks from the start: about chunks, batches, and the ends of a message.
CARRIES = (1, 16, 17, 64, 255, 256, 257, 511, 512, 513, 700, 1023, 1024, 1100)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("name", CORES)
def test_ctr_carries_anywhere_in_a_long_message(name, bits):
    slots, n = backend.kernels(name).cipher, 1100
    for low_bits in (32, 64, 128):
        for carry in CARRIES:
            value = (0x5A << 120 | 2**low_bits - carry) % 2**128
            start = value.to_bytes(16, "big")
            blocks, after = counters(start, n, bits)
            expected = encrypted(blocks)
            for size in (16 * n, 16 * n - 5, 16 * 513, 16 * 513 - 1):
                src, dst = np.full(size, 0x3C, np.uint8), np.empty(size, np.uint8)
                counter = np.frombuffer(start, np.uint8).copy()
                slots.ctr(expanded(name), counter, bits, False, src, dst)
                assert (dst == expected[:size] ^ 0x3C).all(), (low_bits, carry, size)
                if size > 16 * (n - 1):
                    assert counter.tobytes() == after
