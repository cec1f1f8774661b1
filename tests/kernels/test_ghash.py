"""Every GHASH kernel that this machine runs, against the reference and published vectors."""

import ctypes
import importlib
import mmap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vectors_io import vectors
from twofishkit.kernels import ghash as portable
from twofishkit.kernels import ghash_clmul, ghash_vpclmul
from twofishkit.kernels.target import lacking
from twofishkit.reference import gf128

KERNELS = {
    "portable": ("ghash", "PORTABLE"),
    "pclmul": ("ghash_pclmul", "SLOTS"),
    "vpclmul": ("ghash_vpclmul", "SLOTS"),
    "pmull": ("ghash_pmull", "SLOTS"),
}
#: More blocks than two of the widest batches.
MANY = 2 * ghash_vpclmul.N + 40


@pytest.fixture(params=KERNELS)
def slots(request):
    module, attribute = KERNELS[request.param]
    module = importlib.import_module(f"twofishkit.kernels.{module}")
    reason = lacking(module.REQUIRES)
    if reason:
        pytest.skip(reason)
    found = getattr(module, attribute)
    assert found.name == request.param
    assert found.constant_time
    return found


def array(data):
    return np.frombuffer(bytes(data), np.uint8)


def ghash(slots, h, data, y=bytes(16)):
    state = array(y).copy()
    slots.ghash(slots.ghash_key(array(h)), state, array(data))
    return state.tobytes()


def polyval(slots, h, data, y=bytes(16)):
    state = array(y).copy()
    slots.polyval(slots.polyval_key(array(h)), state, array(data))
    return state.tobytes()


def test_published_ghash_vectors(slots):
    for v in vectors("ghash.json"):
        assert ghash(slots, v["H"], v["input"]) == v["output"], v["id"]


def test_published_polyval_vectors(slots):
    for v in vectors("polyval.json"):
        assert polyval(slots, v["H"], v["input"]) == v["output"], v["id"]
        assert ghash(slots, v["ghash_H"], v["ghash_input"]) == v["ghash_output"], v["id"]


def prefixes(hashed, h, data):
    """States of the reference after 0, 1, 2, ... blocks."""
    states = [bytes(16)]
    for i in range(0, len(data), 16):
        states.append(hashed(h, data[i : i + 16], states[-1]))
    return states


@pytest.mark.parametrize("name", ["ghash", "polyval"])
def test_every_number_of_blocks(slots, name):
    """Every batch edge and tail, one-shot and continued from a state that is not zero."""
    rng = np.random.default_rng(16)
    h, data = rng.bytes(16), rng.bytes(16 * MANY)
    expected = prefixes(getattr(gf128, name), h, data)
    table = getattr(slots, f"{name}_key")(array(h))
    absorb, source = getattr(slots, name), array(data)
    for n in range(MANY + 1):
        state = np.zeros(16, np.uint8)
        absorb(table, state, source[: 16 * n])
        assert state.tobytes() == expected[n], n
        absorb(table, state, source[16 * n :])
        assert state.tobytes() == expected[MANY], n


blocks = st.integers(0, 20) | st.sampled_from([31, 32, 33, 127, 128, 129, 255, 256, 257])


@given(
    h=st.binary(min_size=16, max_size=16),
    y=st.binary(min_size=16, max_size=16),
    sizes=st.lists(blocks, max_size=4),
    seed=st.binary(max_size=4),
)
def test_any_split_gives_the_one_shot_result(slots, h, y, sizes, seed):
    rng = np.random.default_rng(list(seed))
    parts = [rng.bytes(16 * n) for n in sizes]
    expected = gf128.ghash(h, b"".join(parts), y)
    assert ghash(slots, h, b"".join(parts), y) == expected
    for part in parts:
        y = ghash(slots, h, part, y)
    assert y == expected


@pytest.mark.parametrize("h", [bytes(16), bytes(15) + b"\1", b"\x80" + bytes(15), b"\xff" * 16])
@pytest.mark.parametrize("fill", [0x00, 0x01, 0x80, 0xFF])
def test_extreme_operands(slots, h, fill):
    """All ones give the most carries that the holes must hold; single bits, every reduction."""
    data = bytes([fill]) * (16 * 37)
    assert ghash(slots, h, data, b"\xff" * 16) == gf128.ghash(h, data, b"\xff" * 16)
    assert polyval(slots, h, data, b"\xff" * 16) == gf128.polyval(h, data, b"\xff" * 16)


def test_single_bits(slots):
    """x^i x^j for a sample of i and j: each has one bit set before it is reduced."""
    for i in range(0, 128, 3):
        for j in range(0, 128, 31):
            a, b = (1 << i).to_bytes(16, "little"), (1 << j).to_bytes(16, "little")
            assert polyval(slots, a, b) == gf128.polyval(a, b)


@pytest.mark.parametrize("offset", [1, 3, 8, 17])
def test_sources_at_any_address_read_only(slots, offset):
    data = array(np.random.default_rng(offset).bytes(offset + 16 * 70))
    h = bytes(range(16))
    state = np.zeros(16, np.uint8)
    slots.ghash(slots.ghash_key(array(h)), state, data[offset:])
    assert not data.flags.writeable
    assert state.tobytes() == gf128.ghash(h, data[offset:].tobytes())


def test_no_block_leaves_the_state(slots):
    y = bytes(range(100, 116))
    assert ghash(slots, b"\1" * 16, b"", y) == y
    assert polyval(slots, b"\1" * 16, b"", y) == y


def test_reads_only_its_source(slots):
    """Pages before and after the data are not readable: one byte beyond would end the process."""
    mprotect = getattr(ctypes.CDLL(None), "mprotect", None)
    if mprotect is None:
        pytest.skip("no mprotect on this system")
    mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    page = mmap.PAGESIZE
    memory = np.frombuffer(mmap.mmap(-1, 3 * page), np.uint8)
    middle = memory[page : 2 * page]
    middle[:] = array(np.random.default_rng(3).bytes(page))
    h = bytes(range(16))
    table = slots.ghash_key(array(h))
    ends = [memory.ctypes.data, memory.ctypes.data + 2 * page]
    assert [mprotect(end, page, mmap.PROT_NONE if hasattr(mmap, "PROT_NONE") else 0) for end in ends] == [
        0,
        0,
    ]
    try:
        for n in (1, 2, 3, 5, 7, 8, 9, 12, 15, 16, 17, 31, 40):
            for part in (middle[: 16 * n], middle[page - 16 * n :]):
                state = np.zeros(16, np.uint8)
                slots.ghash(table, state, part)
                assert state.tobytes() == gf128.ghash(h, part.tobytes())
    finally:
        for end in ends:
            mprotect(end, page, mmap.PROT_READ | mmap.PROT_WRITE)


def test_tables_hold_the_powers_of_h():
    """The tables of the carry-less kernels, recomputed from their definition."""
    h = bytes(range(7, 23))
    powers = [h]
    while len(powers) < ghash_vpclmul.N:
        powers.append(gf128.polyval(h, powers[-1]))
    words = [np.frombuffer(power, np.uint64) for power in powers]
    if not lacking(importlib.import_module("twofishkit.kernels.ghash_pclmul").REQUIRES):
        table = importlib.import_module("twofishkit.kernels.ghash_pclmul").polyval_key(array(h))
        n = ghash_clmul.N
        assert table[: 2 * n].reshape(n, 2).tolist() == [w.tolist() for w in words[:n][::-1]]
        assert table[2 * n :].tolist() == [int(w[0] ^ w[1]) for w in words[:n][::-1]]
    if not lacking(ghash_vpclmul.REQUIRES):
        table = ghash_vpclmul.polyval_key(array(h))
        start = -table.ctypes.data % 64 // 8
        table = table[start : start + 3 * ghash_vpclmul.N].reshape(-1, 3, 4, 2)
        # Group, half or fold, position, vector -> descending powers.
        for half, of in enumerate((lambda w: w[0], lambda w: w[1], lambda w: w[0] ^ w[1])):
            held = table[:, half].transpose(0, 2, 1).reshape(-1)
            assert held.tolist() == [int(of(w)) for w in words[::-1]]
    table = portable.polyval_key(array(h)).reshape(portable.PIECES, portable.GROUPS, 4, portable.LANES)
    pieces = np.bitwise_or.reduce(table, axis=2)[:, :, [0, 2, 1, 3]].reshape(portable.PIECES, -1)[:, ::-1]
    for k, w in enumerate(words[: portable.N]):
        low, high = int(w[0]), int(w[1])
        expected = []
        for half in (low, high, low ^ high):
            expected += [half & 0xFFFFFFFF, half >> 32, (half ^ half >> 32) & 0xFFFFFFFF]
        assert pieces[:, k].tolist() == expected
    for c in range(4):
        assert not np.any(table[:, :, c] & ~np.uint64(0x1111111111111111 << c))


def test_updates_from_within_jitted_code(slots):
    """`ghash_update` serves one-call GCM kernels: any start, any number of blocks."""
    from numba import njit

    update = importlib.import_module(f"twofishkit.kernels.{KERNELS[slots.name][0]}").ghash_update

    @njit
    def call(table, y, src, start, n_blocks):
        update(table, y, src, start, n_blocks)

    h, data = bytes(range(16)), np.random.default_rng(5).bytes(16 * 50)
    state = np.zeros(16, np.uint8)
    table = slots.ghash_key(array(h))
    call(table, state, array(data), 32, 40)
    call(table, state, array(data), 0, 0)
    assert state.tobytes() == gf128.ghash(h, data[32 : 32 + 640])
