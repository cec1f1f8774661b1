"""The cores of each backend that has them, against the contract in `twofishkit.kernels.native`."""

import functools

import numpy as np
import pytest

pytest.importorskip("numba")

from twofishkit import backend
from twofishkit.kernels import native
from twofishkit.kernels.jit import kernel
from twofishkit.simd import vectors as v

NAMES = [name for name in backend.available() if backend.kernels(name).cipher.cores]
KEY = np.arange(32, dtype=np.uint8)
#: All that pass from one form to the next, in blocks, and what fills several batches.
LENGTHS = (*range(20), 31, 32, 33, 47, 48, 49, *range(60, 84), 127, 128, 129, 145, 511, 512, 513, 600, 1100)
LONGEST = 16 * max(LENGTHS)


@kernel("void(u1[::1], u1[::1], i8, i8, i8, i8, u1[::1], b1)")
def call(schedule, memory, src, dst, n, mask, scratch, decrypting):
    """A core on stretches of one memory, by offset; mask may be -1 for none."""
    start, room = v.address(memory), v.address(scratch)
    at = start + mask if mask >= 0 else 0
    room = room if n != 1 else 0
    if decrypting:
        native.decrypt(v.address(schedule), start + src, start + dst, n, at, room)
    else:
        native.encrypt(v.address(schedule), start + src, start + dst, n, at, room)


@kernel("i8(i8)")
def wiped(n_bytes):
    return native.scratch_used(n_bytes)


@functools.cache
def expanded(name):
    """A schedule whose cores are both compiled, as they are once their slots have been called."""
    slots = backend.kernels(name).cipher
    schedule, nothing = slots.expand_key(KEY), np.empty(0, np.uint8)
    slots.encrypt_blocks(schedule, nothing, nothing)
    slots.decrypt_blocks(schedule, nothing, nothing)
    return schedule


@functools.cache
def answers():
    """Blocks, what another backend makes of them in both directions, and masks."""
    slots = backend.kernels("numpy").cipher
    schedule, rng = slots.expand_key(KEY), np.random.default_rng(5)
    blocks, masks = rng.integers(0, 256, (2, LONGEST), dtype=np.uint8)
    encrypted, decrypted = np.empty_like(blocks), np.empty_like(blocks)
    slots.encrypt_blocks(schedule, blocks, encrypted)
    slots.decrypt_blocks(schedule, blocks, decrypted)
    return blocks, encrypted, decrypted, masks


#: Where source, destination and mask start, in a memory with room for three: offsets past multiples
#: of the longest stretch. None: no mask.
PLACES = {
    "apart, no mask": ((0, 16), (1, 32), None),
    "apart": ((0, 16), (1, 32), (2, 48)),
    "apart, unaligned": ((0, 3), (1, 34), (2, 77)),
    "in place": ((1, 32), (1, 32), (2, 48)),
    "in place, no mask": ((1, 32), (1, 32), None),
    "onto the mask": ((0, 16), (1, 32), (1, 32)),
    "a block ahead of the source": ((1, 32), (1, 48), (0, 16)),
    "a block ahead of the mask": ((0, 16), (1, 48), (1, 32)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("decrypting", [False, True], ids=["encrypt", "decrypt"])
@pytest.mark.parametrize("name", NAMES)
def test_a_core_reads_before_it_writes_and_nothing_else(name, decrypting, place):
    schedule = expanded(name)
    blocks, encrypted, decrypted, masks = answers()
    scratch = np.zeros(native.SCRATCH_BYTES + 128, np.uint8)
    scratch = scratch[-scratch.ctypes.data % 64 :][: native.SCRATCH_BYTES + 64]
    scratch[native.SCRATCH_BYTES :] = 0xA5
    src, dst, mask = (None if x is None else x[0] * LONGEST + x[1] for x in PLACES[place])
    for n in LENGTHS:
        memory = np.full(3 * LONGEST + 256, 0xA5, np.uint8)
        size = 16 * n
        if mask is not None:
            memory[mask : mask + size] = masks[:size]
        memory[src : src + size] = blocks[:size]
        expected = memory.copy()
        expected[dst : dst + size] = (decrypted if decrypting else encrypted)[:size]
        if mask is not None:
            expected[dst : dst + size] ^= masks[:size]
        call(schedule, memory, src, dst, n, -1 if mask is None else mask, scratch, decrypting)
        assert (memory == expected).all(), n
        assert (scratch[native.SCRATCH_BYTES :] == 0xA5).all(), n


@pytest.mark.parametrize("decrypting", [False, True], ids=["encrypt", "decrypt"])
@pytest.mark.parametrize("name", NAMES)
def test_a_core_leaves_nothing_beyond_the_scratch_that_is_wiped(name, decrypting):
    schedule = expanded(name)
    scratch = np.full(native.SCRATCH_BYTES + 64, 0xA5, np.uint8)
    scratch = scratch[-scratch.ctypes.data % 64 :][: native.SCRATCH_BYTES]
    for n in sorted(LENGTHS):
        call(schedule, np.zeros(2 * LONGEST, np.uint8), 0, LONGEST, n, 0, scratch, decrypting)
        left = scratch[wiped(16 * n) :]
        assert ((left == 0xA5) | (left == 0)).all(), n  # or wiped by the core itself
    assert ((scratch != 0xA5) & (scratch != 0)).any()
