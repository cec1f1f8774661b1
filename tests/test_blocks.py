"""Streams cut into blocks: no byte lost, doubled or out of order, whatever the chunks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofishkit.blocks import BlockHash, BlockQueue, double, view, xor_blocks
from twofishkit.reference import gf128

CHUNKS = st.lists(st.one_of(st.integers(0, 70), st.sampled_from([0, 15, 16, 17, 32])), max_size=12)


@pytest.mark.parametrize("hold_last", [False, True])
@given(sizes=CHUNKS)
def test_runs_and_held_bytes_are_the_stream(hold_last, sizes):
    stream = bytes(i % 251 for i in range(sum(sizes)))
    queue, out, start = BlockQueue(hold_last), b"", 0
    for size in sizes:
        for run in queue.feed(view(stream[start : start + size])):
            assert run.size
            assert run.size % 16 == 0
            out += run.tobytes()
        start += size
        assert out + queue.block[: queue.held].tobytes() == stream[:start]
        if hold_last:
            assert 0 < queue.held <= 16 or start == 0
        else:
            assert queue.held == start % 16


def test_whole_blocks_are_not_copied():
    queue = BlockQueue()
    data = np.arange(100, dtype=np.uint8)
    (run,) = queue.feed(data)
    assert run.base is data
    assert run.size == 96


def test_padding_copying_and_clearing():
    queue = BlockQueue(hold_last=True)
    assert list(queue.feed(view(b"abc"))) == []
    assert queue.padded(0x80).tobytes() == b"abc\x80" + bytes(12)
    assert queue.padded().tobytes() == b"abc" + bytes(13)
    twin = queue.copy()
    assert list(twin.feed(view(b"0123456789ABC"))) == []
    assert (twin.held, queue.held) == (16, 3)
    assert twin.padded(0x80).tobytes() == b"abc0123456789ABC"
    assert [run.tobytes() for run in twin.feed(view(b"d"))] == [b"abc0123456789ABC"]
    queue.clear()
    assert (queue.held, queue.block.tobytes()) == (0, bytes(16))


@given(sizes=CHUNKS, cut=st.integers(0, 12))
def test_a_hash_and_its_copy_go_separate_ways(sizes, cut):
    def absorb(key, state, src):
        for block in src.reshape(-1, 16):
            state[:] = np.roll(state ^ block, key)

    def hashed(chunks):
        result = BlockHash(absorb, 3)
        for chunk in chunks:
            result.update(chunk)
        return result

    chunks = [np.full(size, i + 1, np.uint8) for i, size in enumerate(sizes)]
    first = hashed(chunks[:cut])
    twin = first.copy()
    for chunk in chunks[cut:]:
        twin.update(chunk)
    assert twin.length == sum(sizes)
    assert first.length == sum(sizes[:cut])
    for pair in ((twin, chunks), (first, chunks[:cut])):
        whole = hashed([np.concatenate([*pair[1], np.empty(0, np.uint8)])])
        for h in (pair[0], whole):
            h.pad()
            h.pad()
        assert pair[0].state.tobytes() == whole.state.tobytes()


@given(a=st.binary(min_size=16, max_size=16), b=st.binary(min_size=16, max_size=16))
def test_block_arithmetic_is_the_references(a, b):
    assert double(a) == double(view(a)) == gf128.dbl(a)
    assert xor_blocks(a, b) == xor_blocks(view(a), b) == gf128.xor(a, b)
