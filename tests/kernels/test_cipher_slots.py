"""Every cipher slot of every backend against the reference: lengths, offsets, in place, continued.

A slot is called on memory between guard bytes, at any offset, from a read-only source or in place, and
in two calls that continue one another; the result must be what the mode's standard says, computed
by `twofishkit.reference`. Numba's and NumPy's arithmetic must not warn while at it.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vectors_io import sample, vectors
from twofishkit import backend
from twofishkit.errors import StateError
from twofishkit.reference import block, modes
from twofishkit.reference.gf128 import multiply_by_alpha, xor

GUARD = 0xA5
KEYS = [bytes(range(n)) for n in (16, 24, 32)] + [bytes(range(255, 255 - n, -1)) for n in (16, 24, 32)]
BLOCKS = st.binary(min_size=16, max_size=16)
OFFSETS = st.integers(0, 33)


@functools.cache
def reference(key):
    return block.expand_key(key)


@functools.cache
def expanded(backend_name, key):
    """The slots of a backend and its schedule of a key."""
    slots = backend.kernels(backend_name).cipher
    return slots, slots.expand_key(np.frombuffer(key, np.uint8))


def state(data):
    return np.frombuffer(data, np.uint8).copy()


def rows(data, count):
    return np.frombuffer(data, np.uint8).reshape(count, -1)


def counter_after(counter, n, bits, little):
    for _ in range(n):
        counter = modes.next_counter(counter, bits, "little" if little else "big")
    return counter


def last_block(register, data):
    return (register + data)[-16:]


def cbc_encrypt(cipher, iv, data):
    out = modes.cbc_encrypt(cipher, iv, data)
    return out, last_block(iv, out)


def cbc_decrypt(cipher, iv, data):
    return modes.cbc_decrypt(cipher, iv, data), last_block(iv, data)


def cfb_encrypt(cipher, iv, data):
    out = modes.cfb_encrypt(cipher, iv, data)
    return out, last_block(iv, out)


def cfb_decrypt(cipher, iv, data):
    return modes.cfb_decrypt(cipher, iv, data), last_block(iv, data)


def cfb8_encrypt(cipher, iv, data):
    out = modes.cfb8_encrypt(cipher, iv, data)
    return out, last_block(iv, out)


def cfb8_decrypt(cipher, iv, data):
    return modes.cfb8_decrypt(cipher, iv, data), last_block(iv, data)


def ofb(cipher, iv, data):
    out = modes.ofb(cipher, iv, data)
    return out, last_block(iv, xor(out, data))


@dataclass(frozen=True)
class Mode:
    """A slot (schedule, iv, src, dst) and its model (cipher, iv, data) -> (output, next iv)."""

    model: Callable[..., tuple[bytes, bytes]]
    unit: int = 16
    #: A message may end in a partial block, and then the iv that is left has no meaning.
    partial_end: bool = False
    longest: int = 33 * 16


MODES = {
    "cbc_encrypt": Mode(cbc_encrypt),
    "cbc_decrypt": Mode(cbc_decrypt),
    "cfb_encrypt": Mode(cfb_encrypt, partial_end=True),
    "cfb_decrypt": Mode(cfb_decrypt, partial_end=True),
    "ofb": Mode(ofb, partial_end=True),
    "cfb8_encrypt": Mode(cfb8_encrypt, unit=1, longest=70),
    "cfb8_decrypt": Mode(cfb8_decrypt, unit=1, longest=70),
}


class Placed:
    """Source and destination of a call, at offsets of larger memory, between guards; or one array."""

    def __init__(self, data, source_offset=0, offset=0, in_place=False):
        self.data, self.offset = data, offset
        self.memory = np.full(offset + len(data) + 40, GUARD, np.uint8)
        self.dst = self.memory[offset : offset + len(data)]
        if in_place:
            self.dst[:] = np.frombuffer(data, np.uint8)
            self.src = self.dst
        else:
            self.src = np.frombuffer(bytes(source_offset) + data, np.uint8)[source_offset:]

    def result(self):
        """What was written; nothing outside may have been."""
        assert (self.memory[: self.offset] == GUARD).all()
        assert (self.memory[self.offset + len(self.data) :] == GUARD).all()
        if self.src is not self.dst:
            assert self.src.tobytes() == self.data
        return self.dst.tobytes()


#: Lengths in blocks at which wide kernels pass from one batch, or one form, to the next.
EDGES = st.sampled_from([63, 64, 65, 79, 80, 81, 127, 128, 129, 145])


def message(draw, longest, unit):
    """Up to ``longest`` bytes, a multiple of ``unit``, or a length at the edge of a batch."""
    units = 16 // unit
    lengths = st.integers(0, longest // unit) | EDGES.map(lambda blocks: blocks * units)
    if unit == 1:
        lengths |= EDGES
    length = draw(lengths) * unit
    return np.random.default_rng(draw(st.integers(0, 99))).bytes(length)


@pytest.fixture(autouse=True)
def arithmetic_must_not_warn():
    with np.errstate(all="raise"):
        yield


def test_known_answers(backend_name):
    by_key = {}
    for vector in vectors("ecb_kat.json"):
        by_key.setdefault(vector["key"], []).append(vector)
    # One call a key, over all its blocks; every key of tables and variable keys is among them.
    for key, group in sample(tuple(by_key.items()), 150):
        slots = backend.kernels(backend_name).cipher
        schedule = slots.expand_key(np.frombuffer(key, np.uint8))
        plaintext = b"".join(vector["plaintext"] for vector in group)
        ciphertext = b"".join(vector["ciphertext"] for vector in group)
        out = np.empty(len(plaintext), np.uint8)
        slots.encrypt_blocks(schedule, np.frombuffer(plaintext, np.uint8), out)
        assert out.tobytes() == ciphertext
        slots.decrypt_blocks(schedule, np.frombuffer(ciphertext, np.uint8), out)
        assert out.tobytes() == plaintext


@given(st.data(), st.sampled_from(KEYS), OFFSETS, OFFSETS, st.booleans())
def test_blocks(backend_name, data, key, source_offset, offset, in_place):
    slots, schedule = expanded(backend_name, key)
    text = message(data.draw, 33 * 16, 16)
    for slot, model in (("encrypt_blocks", modes.ecb_encrypt), ("decrypt_blocks", modes.ecb_decrypt)):
        placed = Placed(text, source_offset, offset, in_place)
        getattr(slots, slot)(schedule, placed.src, placed.dst)
        assert placed.result() == model(reference(key), text)


@pytest.mark.parametrize("slot", MODES)
@settings(max_examples=30)
@given(st.data(), st.sampled_from(KEYS), BLOCKS, OFFSETS, OFFSETS, st.booleans())
def test_modes(backend_name, slot, data, key, iv, source_offset, offset, in_place):
    slots, schedule = expanded(backend_name, key)
    mode = MODES[slot]
    text = message(data.draw, mode.longest, 1 if mode.partial_end else mode.unit)
    if slot.startswith("cfb8"):
        text = text[:150]
    expected, next_iv = mode.model(reference(key), iv, text)
    placed = Placed(text, source_offset, offset, in_place)
    cut = data.draw(st.integers(0, len(text) // mode.unit), label="cut") * mode.unit
    chain = state(iv)
    getattr(slots, slot)(schedule, chain, placed.src[:cut], placed.dst[:cut])
    getattr(slots, slot)(schedule, chain, placed.src[cut:], placed.dst[cut:])
    assert placed.result() == expected
    if len(text) % mode.unit == 0:
        assert chain.tobytes() == next_iv


@settings(max_examples=60)
@given(
    st.data(),
    st.sampled_from(KEYS),
    BLOCKS,
    st.sampled_from([32, 64, 128]),
    st.booleans(),
    OFFSETS,
    OFFSETS,
    st.booleans(),
)
def test_ctr(backend_name, data, key, counter, bits, little, source_offset, offset, in_place):
    slots, schedule = expanded(backend_name, key)
    text = message(data.draw, 33 * 16, 1)
    expected = modes.ctr(reference(key), counter, text, bits, "little" if little else "big")
    placed = Placed(text, source_offset, offset, in_place)
    cut = data.draw(st.integers(0, len(text) // 16), label="cut") * 16
    chain = state(counter)
    slots.ctr(schedule, chain, bits, little, placed.src[:cut], placed.dst[:cut])
    slots.ctr(schedule, chain, bits, little, placed.src[cut:], placed.dst[cut:])
    assert placed.result() == expected
    assert chain.tobytes() == counter_after(counter, -(-len(text) // 16), bits, little)


@pytest.mark.parametrize("little", [False, True], ids=["big", "little"])
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_ctr_carries_at_every_position_of_a_batch(backend_name, bits, little):
    """Starts 2^32 - k, 2^64 - k, 2^128 - k for k = 0 ... 80: botan 1389, txiki.js 1018.

    One message of 81 blocks is judged against the keystream of each counter block by itself.
    """
    slots, schedule = expanded(backend_name, KEYS[2])
    order = "little" if little else "big"
    for power in (32, 64, 128):
        for k in (0, 1, 5, 16, 31, 33, 64, 79, 80) if backend_name == "reference" else range(81):
            start = ((2**power - k) % 2**128).to_bytes(16, order)
            blocks = [start]
            while len(blocks) < 81:
                blocks.append(modes.next_counter(blocks[-1], bits, order))
            expected = np.empty(81 * 16, np.uint8)
            slots.encrypt_blocks(schedule, np.frombuffer(b"".join(blocks), np.uint8), expected)
            out = np.empty(81 * 16, np.uint8)
            slots.ctr(schedule, state(start), bits, little, np.zeros(81 * 16, np.uint8), out)
            assert (out == expected).all(), (power, k)


MANY = {
    "cbc_encrypt_many": (cbc_encrypt, 16),
    "cfb_encrypt_many": (cfb_encrypt, 1),
    "ofb_many": (ofb, 1),
}


@pytest.mark.parametrize("slot", MANY)
@settings(max_examples=25)
@given(st.data(), st.sampled_from(KEYS), st.integers(0, 35) | EDGES, st.booleans(), OFFSETS)
def test_many_messages(backend_name, slot, data, key, count, in_place, offset):
    slots, schedule = expanded(backend_name, key)
    model, unit = MANY[slot]
    lengths = st.integers(0, (50 if count < 36 else 35) // unit).map(lambda units: units * unit)
    if count < 9:  # rows of whole cache lines, and some more
        lengths |= st.sampled_from([64, 112, 128, 192, 208, 256])
    length = data.draw(lengths)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    ivs, text = rng.bytes(16 * count), rng.bytes(length * count)
    placed = Placed(text, 3, offset, in_place)
    chains = np.frombuffer(ivs, np.uint8).copy().reshape(count, 16)
    getattr(slots, slot)(
        schedule, chains, placed.src.reshape(count, length), placed.dst.reshape(count, length)
    )
    expected = [
        model(reference(key), ivs[16 * i : 16 * i + 16], text[length * i : length * (i + 1)])
        for i in range(count)
    ]
    assert placed.result() == b"".join(out for out, _ in expected)
    if length % 16 == 0:
        assert chains.tobytes() == b"".join(iv for _, iv in expected)


@given(st.sampled_from(KEYS), BLOCKS, st.integers(0, 9))
def test_cbc_mac(backend_name, key, start, blocks):
    slots, schedule = expanded(backend_name, key)
    text = np.random.default_rng(blocks).bytes(16 * blocks)
    chain = state(start)
    slots.cbc_mac(schedule, chain, np.frombuffer(text, np.uint8))
    assert chain.tobytes() == cbc_encrypt(reference(key), start, text)[1]


def xts(permute, tweak, data):
    """One data unit of whole blocks under an encrypted tweak, and the tweak that is left."""
    out = b""
    for at in range(0, len(data), 16):
        out += xor(permute(xor(data[at : at + 16], tweak)), tweak)
        tweak = multiply_by_alpha(tweak)
    return out, tweak


@pytest.mark.parametrize("slot", ["xts_encrypt", "xts_decrypt"])
@settings(max_examples=40)
@given(st.data(), st.sampled_from(KEYS), st.integers(0, 20) | EDGES, st.booleans(), OFFSETS)
def test_xts(backend_name, slot, data, key, units, in_place, offset):
    slots, schedule = expanded(backend_name, key)
    length = 16 * data.draw(
        st.sampled_from([0, 1, 2, 3, 5, 15, 16, 17, 33] if units < 4 else [0, 1, 2, 3, 5])
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    tweaks, text = rng.bytes(16 * units), rng.bytes(length * units)
    placed = Placed(text, 1, offset, in_place)
    left = np.frombuffer(tweaks, np.uint8).copy().reshape(units, 16)
    getattr(slots, slot)(schedule, left, placed.src.reshape(units, length), placed.dst.reshape(units, length))
    cipher = reference(key)
    permute = cipher.encrypt_block if slot == "xts_encrypt" else cipher.decrypt_block
    expected = [
        xts(permute, tweaks[16 * i : 16 * i + 16], text[length * i : length * (i + 1)]) for i in range(units)
    ]
    assert placed.result() == b"".join(out for out, _ in expected)
    assert left.tobytes() == b"".join(tweak for _, tweak in expected)


def ocb_masks(ls, offset, first, count):
    """Offset_first, Offset_first+1, ... of RFC 7253."""
    masks = []
    for number in range(first, first + count):
        offset = xor(offset, ls[(number & -number).bit_length() - 1].tobytes())
        masks.append(offset)
    return masks


def xor_all(start, blocks):
    for item in blocks:
        start = xor(start, item)
    return start


@settings(max_examples=40)
@given(
    st.data(),
    st.sampled_from(KEYS),
    BLOCKS,
    BLOCKS,
    st.integers(1, 20) | st.integers(2**20 - 20, 2**20),
    st.booleans(),
    OFFSETS,
)
def test_ocb(backend_name, data, key, offset, checksum, first, in_place, place):
    slots, schedule = expanded(backend_name, key)
    cipher = reference(key)
    ls = np.random.default_rng(7).integers(0, 256, (24, 16), dtype=np.uint8)
    text = message(data.draw, 33 * 16, 16)
    plaintext = list(modes.blocks(text))
    masks = ocb_masks(ls, offset, first, len(plaintext))
    expected = [
        xor(cipher.encrypt_block(xor(P, mask)), mask) for P, mask in zip(plaintext, masks, strict=True)
    ]
    last, total = (masks or [offset])[-1], xor_all(checksum, plaintext)
    cut = 16 * data.draw(st.integers(0, len(plaintext)), label="cut")
    for slot, source, result in (
        ("ocb_encrypt", text, b"".join(expected)),
        ("ocb_decrypt", b"".join(expected), text),
    ):
        placed = Placed(source, 5, place, in_place)
        running, summed = state(offset), state(checksum)
        run = getattr(slots, slot)
        run(schedule, ls, running, summed, first, placed.src[:cut], placed.dst[:cut])
        run(schedule, ls, running, summed, first + cut // 16, placed.src[cut:], placed.dst[cut:])
        assert placed.result() == result
        assert running.tobytes() == last
        assert summed.tobytes() == total


@given(st.sampled_from(KEYS), BLOCKS, BLOCKS, st.integers(1, 40), st.integers(0, 33) | EDGES)
def test_ocb_hash(backend_name, key, offset, total, first, blocks):
    slots, schedule = expanded(backend_name, key)
    ls = np.random.default_rng(8).integers(0, 256, (24, 16), dtype=np.uint8)
    text = np.random.default_rng(blocks).bytes(16 * blocks)
    masks = ocb_masks(ls, offset, first, blocks)
    outputs = [
        reference(key).encrypt_block(xor(A, mask)) for A, mask in zip(modes.blocks(text), masks, strict=True)
    ]
    running, summed = state(offset), state(total)
    slots.ocb_hash(schedule, ls, running, summed, first, np.frombuffer(text, np.uint8))
    assert running.tobytes() == (masks or [offset])[-1]
    assert summed.tobytes() == xor_all(total, outputs)


@pytest.mark.parametrize("key_bytes", [16, 24, 32])
@given(st.integers(0, 20), st.booleans())
def test_each_key(backend_name, key_bytes, count, in_place):
    slots = backend.kernels(backend_name).cipher
    rng = np.random.default_rng(count)
    keys, text = rng.bytes(key_bytes * count), rng.bytes(16 * count)
    ciphers = [reference(keys[at : at + key_bytes]) for at in range(0, len(keys), key_bytes)]
    key_rows = np.frombuffer(keys, np.uint8).reshape(count, key_bytes)
    for slot, name in (("encrypt_each", "encrypt_block"), ("decrypt_each", "decrypt_block")):
        placed = Placed(text, 2, 7, in_place)
        getattr(slots, slot)(key_rows, placed.src.reshape(count, 16), placed.dst.reshape(count, 16))
        expected = [
            getattr(cipher, name)(piece) for cipher, piece in zip(ciphers, modes.blocks(text), strict=True)
        ]
        assert placed.result() == b"".join(expected)


def test_wiped_schedule_holds_nothing_of_the_key(backend_name):
    """Wiped schedules of two keys refuse to serve, or cannot be told apart by what they do."""
    slots = backend.kernels(backend_name).cipher

    def outcome(schedule):
        out = np.empty(64, np.uint8)
        try:
            slots.encrypt_blocks(schedule, np.arange(64, dtype=np.uint8), out)
        except StateError:
            return b""
        return out.tobytes()

    schedules = [slots.expand_key(np.full(32, byte, np.uint8)) for byte in (1, 2)]
    before = [outcome(schedule) for schedule in schedules]
    assert before[0] != before[1]
    for schedule in schedules:
        slots.wipe(schedule)
    after = [outcome(schedule) for schedule in schedules]
    assert after[0] == after[1]
    assert after[0] not in before
