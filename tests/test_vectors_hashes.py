"""GHASH, POLYVAL and XOR vectors through the public tools."""

import hashlib

import numpy as np
import pytest

import twofishkit as tk
from tests.vectors_io import document, vectors
from twofishkit import backend as backends


@pytest.fixture
def ghash_backend(ghash_name):
    with backends.use(ghash=ghash_name):
        yield ghash_name


def in_two(make, h: bytes, data: bytes, at: int) -> bytes:
    return make(h).update(data[:at]).update(data[at:]).digest()


def test_ghash(ghash_backend):
    for v in vectors("ghash.json"):
        assert tk.GHASH(v["H"]).update(v["input"]).digest() == v["output"], v["id"]
        assert in_two(tk.GHASH, v["H"], v["input"], len(v["input"]) // 3) == v["output"], v["id"]


def test_ghash_inputs_are_the_padded_parts(ghash_backend):
    """The block string of a GCM vector is made of its parts, which checks the vectors themselves."""
    seen = 0
    for v in vectors("ghash.json"):
        if v["field"] == "gcm" and "aad" in v:
            seen += 1
            lengths = (8 * len(v["aad"])).to_bytes(8, "big") + (8 * len(v["ciphertext"])).to_bytes(8, "big")
            padded = b"".join(part + bytes(-len(part) % 16) for part in (v["aad"], v["ciphertext"]))
            assert padded + lengths == v["input"], v["id"]
    assert seen > 100


def test_polyval_and_its_ghash_form(ghash_backend):
    for v in vectors("polyval.json"):
        assert tk.POLYVAL(v["H"]).update(v["input"]).digest() == v["output"], v["id"]
        assert in_two(tk.POLYVAL, v["H"], v["input"], len(v["input"]) // 2) == v["output"], v["id"]
        assert tk.GHASH(v["ghash_H"]).update(v["ghash_input"]).digest() == v["ghash_output"], v["id"]


def operands(v: dict) -> tuple[bytes, bytes]:
    made = tuple(hashlib.shake_256(f"xor/{side}/{v['seed']}".encode()).digest(v["n"]) for side in "ab")
    if "a" in v:
        assert made == (v["a"], v["b"])
    return made


def test_xor(backend):
    for v in vectors("xor.json"):
        a, b = operands(v)
        result = tk.xor(a, b)
        assert hashlib.sha256(result).hexdigest() == v["digest"], v["id"]
        assert result == v.get("result", result), v["id"]
        assert tk.xor(a, a) == bytes(v["n"])


def shifted(data: np.ndarray, offset: int) -> np.ndarray:
    """A copy of data that begins ``offset`` bytes after a 64-byte boundary."""
    room = np.empty(len(data) + offset + 64, np.uint8)
    start = -room.ctypes.data % 64 + offset
    view = room[start : start + len(data)]
    view[:] = data
    return view


def check_xor_at(n: int, a_offset: int, b_offset: int, out_offset: int) -> None:
    rng = np.random.default_rng(n)
    a, b = (shifted(rng.integers(0, 256, n, np.uint8), offset) for offset in (a_offset, b_offset))
    # Canaries on both sides of what is written.
    room = shifted(np.full(n + 16, 0xCC, np.uint8), out_offset)
    out = room[8 : n + 8]
    assert tk.xor(a, b, out=out) is out
    assert (out == a ^ b).all()
    assert (room[:8] == 0xCC).all()
    assert (room[n + 8 :] == 0xCC).all()


def test_xor_at_every_length_and_some_offsets(backend):
    """Every length 0 to 1024, the three offsets moving through 0 to 7 from length to length."""
    grid = document("xor.json")
    offsets = grid["src_a_offset"] + grid["extra_offsets"]
    for n in range(1025):
        check_xor_at(n, offsets[n % 15], offsets[n // 15 % 15], offsets[n // 7 % 15])


def test_xor_at_every_offset(backend):
    """All 512 combinations of the three offsets, at lengths around the widths of vectors."""
    grid = document("xor.json")
    for n in (1, 9, 33, 67):
        for a_offset in grid["src_a_offset"]:
            for b_offset in grid["src_b_offset"]:
                for out_offset in grid["dst_offset"]:
                    check_xor_at(n, a_offset, b_offset, out_offset)


def test_xor_in_place(backend):
    for n in (0, 1, 15, 16, 17, 63, 64, 65, 1024):
        rng = np.random.default_rng(n)
        a, b = rng.integers(0, 256, (2, n), np.uint8)
        expected = a ^ b
        left, right = a.copy(), b.copy()
        assert tk.xor(left, b, out=left) is left
        assert (left == expected).all()
        tk.xor(a, right, out=right)
        assert (right == expected).all()
        tk.xor(a, a, out=a)
        assert not a.any()


@pytest.mark.parametrize("shift", [1, 3, 8, 31])
def test_xor_with_a_shifted_output_is_right(backend, shift):
    rng = np.random.default_rng(shift)
    room, b = rng.integers(0, 256, 200 + shift, np.uint8), rng.integers(0, 256, 200, np.uint8)
    for source, target in ((room[:200], room[shift:]), (room[shift:], room[:200])):
        expected = source ^ b
        tk.xor(source, b, out=target)
        assert (target == expected).all()


@pytest.mark.parametrize("lengths", document("xor.json")["length_mismatch"])
def test_xor_wants_equal_lengths(backend, lengths):
    a, b = (bytes(n) for n in lengths)
    if len(a) == len(b):
        assert tk.xor(a, b) == b""
    else:
        with pytest.raises(tk.InvalidLength):
            tk.xor(a, b)


@pytest.mark.parametrize(("size", "n"), [(1, 2), (15, 16), (0, 1), (17, 16)])
def test_xor_wants_an_output_of_the_same_length(backend, size, n):
    out = np.full(size, 0xCC, np.uint8)
    with pytest.raises(tk.InvalidBuffer):
        tk.xor(bytes(n), bytes(n), out=out)
    assert (out == 0xCC).all()
