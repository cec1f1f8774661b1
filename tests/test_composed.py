"""The composed slots at the edges of their pieces, and the algebra under them.

That each slot computes its mode is shown for every backend in tests/kernels/test_cipher_slots.py;
here the pieces are made so small that messages have many, and positions and carries meet their edges.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofishkit import backend, composed, positions
from twofishkit.reference import authenticated, block, gf128, modes

KEY = bytes(range(32))
BLOCK = st.binary(min_size=16, max_size=16)
ONE_IV = ("cbc_encrypt", "cbc_decrypt", "cfb_encrypt", "cfb_decrypt", "cfb8_encrypt", "cfb8_decrypt", "ofb")
WHOLE_BLOCKS = ("cbc_encrypt", "cbc_decrypt")


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8).copy()


@pytest.fixture(scope="module")
def numpy_backend():
    kernels = backend.kernels("numpy")
    return kernels, kernels.cipher.expand_key(array(KEY))


@pytest.fixture(params=[1, 2, 3, 7])
def small_pieces(request, monkeypatch):
    """A function that calls with small pieces and without, and gives both results."""

    def both(call):
        whole = call()
        with monkeypatch.context() as patch:
            patch.setattr(composed, "PIECE_BLOCKS", request.param)
            return whole, call()

    return both


@pytest.mark.parametrize("slot", ONE_IV)
@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 64, 112, 117, 240])
@pytest.mark.parametrize("in_place", [False, True])
def test_pieces_do_not_show_in_chained_modes(numpy_backend, small_pieces, slot, length, in_place):
    kernels, schedule = numpy_backend
    data = array(np.random.default_rng(length).bytes(length & ~15 if slot in WHOLE_BLOCKS else length))

    def call():
        src, iv = data.copy(), array(bytes(range(16)))
        dst = src if in_place else np.empty_like(src)
        getattr(kernels.cipher, slot)(schedule, iv, src, dst)
        return dst.tobytes(), iv.tobytes()

    whole, pieced = small_pieces(call)
    assert pieced == whole
    assert not len(data) or whole[0] != data.tobytes()


@pytest.mark.parametrize(("bits", "little"), [(b, o) for b in (32, 64, 128) for o in (False, True)])
@pytest.mark.parametrize("start", [b"\0" * 16, b"\xff" * 16, b"\xff" * 7 + b"\xfe" + b"\xff" * 7 + b"\xfd"])
def test_counter_blocks_count_as_the_standard_says(bits, little, start):
    counter = array(start)
    expected, value = b"", start
    for _ in range(40):
        expected += value
        value = modes.next_counter(value, bits, "little" if little else "big")
    assert positions.counter_blocks(counter, bits, little, 40).tobytes() == expected
    assert counter.tobytes() == value


@given(st.integers(1, 127), st.integers(0, 80), st.integers(1, 100), st.sampled_from([32, 64, 128]))
def test_counter_blocks_carry_at_every_place(power, before, count, bits):
    start = ((1 << power) - before) % (1 << 128)
    counter = array(start.to_bytes(16, "big"))
    with np.errstate(all="raise"):
        blocks = positions.counter_blocks(counter, bits, False, count).reshape(-1, 16)
    field = (1 << bits) - 1
    for n, counted in enumerate([*blocks, counter]):
        expected = start & ~field | start + n & field
        assert int.from_bytes(counted.tobytes(), "big") == expected


@pytest.mark.parametrize("little", [False, True])
def test_counter_continues_from_piece_to_piece(numpy_backend, small_pieces, little):
    kernels, schedule = numpy_backend
    data = array(np.random.default_rng(5).bytes(333))

    def call():
        counter, dst = array(b"\xff" * 15 + b"\xf8"), np.empty_like(data)
        kernels.cipher.ctr(schedule, counter, 128, little, data, dst)
        return dst.tobytes(), counter.tobytes()

    whole, pieced = small_pieces(call)
    assert pieced == whole
    order = "little" if little else "big"
    expected = modes.ctr(block.expand_key(KEY), b"\xff" * 15 + b"\xf8", data.tobytes(), byteorder=order)
    assert whole[0] == expected


@given(BLOCK, st.integers(0, 400))
def test_times_alpha_is_repeated_doubling(tweak, power):
    words = np.frombuffer(tweak, "<u8").reshape(1, 2).astype(np.uint64)
    with np.errstate(all="raise"):
        low, high = positions.times_alpha(words[:, 0], words[:, 1], power)
    expected = tweak
    for _ in range(power):
        expected = gf128.multiply_by_alpha(expected)
    assert int(low[0]) | int(high[0]) << 64 == int.from_bytes(expected, "little")


@given(BLOCK, st.integers(0, 12))
def test_times_alpha_to_powers_of_two(tweak, log):
    """Squaring the exponent step by step: x^(2p) is x^p twice."""
    words = np.frombuffer(tweak, "<u8").reshape(1, 2).astype(np.uint64)
    once = positions.times_alpha(words[:, 0], words[:, 1], 1 << log)
    twice = positions.times_alpha(*once, 1 << log)
    assert np.array_equal(twice, positions.times_alpha(words[:, 0], words[:, 1], 2 << log))


@pytest.mark.parametrize("count", [1, 2, 3, 64, 65, 300])
def test_xts_tweaks_are_the_powers_of_alpha(count):
    tweaks = array(np.random.default_rng(count).bytes(48)).reshape(3, 16)
    state = tweaks.copy()
    rows = positions.xts_tweaks(state, count)
    for tweak, row, left in zip(tweaks, rows, state, strict=True):
        value, expected = tweak.tobytes(), b""
        for _ in range(count):
            expected += value
            value = gf128.multiply_by_alpha(value)
        assert row.tobytes() == expected
        assert left.tobytes() == value


@pytest.mark.parametrize("slot", ["xts_encrypt", "xts_decrypt"])
@pytest.mark.parametrize("shape", [(1, 160), (5, 32), (3, 16), (2, 0), (0, 32)])
def test_pieces_do_not_show_in_xts(numpy_backend, small_pieces, slot, shape):
    kernels, schedule = numpy_backend
    data = array(np.random.default_rng(7).bytes(shape[0] * shape[1])).reshape(shape)

    def call():
        tweaks = array(np.random.default_rng(8).bytes(16 * shape[0])).reshape(-1, 16)
        dst = data.copy()
        getattr(kernels.cipher, slot)(schedule, tweaks, dst, dst)
        return dst.tobytes(), tweaks.tobytes()

    whole, pieced = small_pieces(call)
    assert pieced == whole


@pytest.mark.parametrize("slot", ["ocb_encrypt", "ocb_decrypt", "ocb_hash"])
@pytest.mark.parametrize("first", [1, 2, 7, 2**32 - 3, 2**40 - 5])
def test_pieces_do_not_show_in_ocb(numpy_backend, small_pieces, slot, first):
    kernels, schedule = numpy_backend
    ls = array(np.random.default_rng(1).bytes(45 * 16)).reshape(-1, 16)
    data = array(np.random.default_rng(2).bytes(320))

    def call():
        offset, total, dst = array(bytes(range(16))), array(bytes(16)), data.copy()
        sources = (dst,) if slot == "ocb_hash" else (dst, dst)
        getattr(kernels.cipher, slot)(schedule, ls, offset, total, first, *sources)
        return dst.tobytes(), offset.tobytes(), total.tobytes()

    whole, pieced = small_pieces(call)
    assert pieced == whole
    assert whole[1] != bytes(range(16))


@pytest.mark.parametrize("names", [("numpy", "numpy"), ("reference", "numpy"), ("numpy", "reference")])
@pytest.mark.parametrize("length", [0, 1, 16, 47, 48, 49, 96, 200])
@pytest.mark.parametrize("in_place", [False, True])
def test_gcm_over_small_pieces(monkeypatch, names, length, in_place):
    monkeypatch.setattr(composed, "GCM_PIECE_BYTES", 48)
    parts = backend.kernels(*names)
    kernels = composed.join(parts.cipher, parts.ghash, composed.xor)
    cipher = block.expand_key(KEY)
    h = cipher.encrypt_block(bytes(16))
    nonce, plaintext = b"a nonce of 12", np.random.default_rng(length).bytes(length)
    nonce = nonce[:12]
    ciphertext, _ = authenticated.gcm_encrypt(cipher, nonce, plaintext, b"")
    hashed = gf128.ghash(h, authenticated.zero_padded(ciphertext), bytes(range(16)))

    schedule, table = kernels.cipher.expand_key(array(KEY)), kernels.ghash.ghash_key(array(h))
    for call, source, target in (
        (kernels.gcm_encrypt, plaintext, ciphertext),
        (kernels.gcm_decrypt, ciphertext, plaintext),
    ):
        src, y = array(source), array(bytes(range(16)))
        dst = src if in_place else np.empty_like(src)
        counter = array(nonce + (2).to_bytes(4, "big"))
        call(schedule, table, counter, y, src, dst)
        assert dst.tobytes() == target
        assert y.tobytes() == hashed
        assert counter.tobytes() == nonce + (2 + -(-length // 16)).to_bytes(4, "big")


def test_given_slots_replace_derived_ones():
    def own(keys, src, dst):
        dst[:] = 0

    kernels = backend.kernels("reference")
    slots = composed.derive(
        name="mine",
        constant_time=True,
        expand_key=kernels.cipher.expand_key,
        wipe=kernels.cipher.wipe,
        encrypt_blocks=kernels.cipher.encrypt_blocks,
        decrypt_blocks=kernels.cipher.decrypt_blocks,
        encrypt_each=own,
    )
    assert slots.encrypt_each is own
    assert slots.decrypt_each is not own
    assert (slots.name, slots.constant_time) == ("mine", True)
