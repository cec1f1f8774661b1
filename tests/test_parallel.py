"""Inputs split over threads give what one thread gives, bit for bit, for every slot that is split.

The smallest split is lowered to nothing, so that short inputs are cut into all their possible parts;
one test keeps it as it is.
"""

import itertools
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twofishkit as tk
from twofishkit import backend, parallel
from twofishkit.errors import InvalidParameter

KEY = np.arange(32, dtype=np.uint8)
COMPILED = [name for name in backend.available() if name not in ("numpy", "reference")]
if not COMPILED:
    pytest.skip("no compiled backend runs here, and only those are split", allow_module_level=True)


@pytest.fixture(params=COMPILED)
def both(request, monkeypatch):
    """The kernels of a backend on one thread, and on three with no smallest size."""
    monkeypatch.setattr(parallel, "MIN_BYTES", 1)
    return backend.kernels(request.param, threads=1), backend.kernels(request.param, threads=3)


def random(rng, *shape):
    return rng.integers(0, 256, shape, np.uint8)


LENGTHS = (1, 15, 16, 17, 31, 33, 16 * 12, 16 * 13 - 1, 16 * 24, 16 * 25, 1000, 4096, 5003)
LENGTHS_OF_BLOCKS = tuple(16 * n for n in (1, 2, 11, 12, 13, 24, 25, 63, 64, 257))


def same(one, many, name, *arguments):
    """Call a slot of both on copies; results, and states left behind, are equal. In place too."""
    results = []
    for kernels, in_place in ((one, False), (many, False), (many, True)):
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        src = copies[-1]
        dst = src if in_place else np.zeros_like(src)
        group = kernels if name.startswith("gcm") else kernels.cipher
        schedule = kernels.cipher.expand_key(KEY)
        getattr(group, name)(schedule, *copies, dst)
        results.append([dst, *copies[:-1]])
    for other in results[1:]:
        for ours, theirs in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["encrypt_blocks", "decrypt_blocks"])
def test_blocks(both, name):
    rng = np.random.default_rng(1)
    for n in LENGTHS_OF_BLOCKS:
        same(*both, name, random(rng, n))


@pytest.mark.parametrize("name", ["cbc_decrypt", "cfb_decrypt", "cfb8_decrypt"])
def test_chained_decryption(both, name):
    rng = np.random.default_rng(2)
    for n in LENGTHS_OF_BLOCKS if name == "cbc_decrypt" else LENGTHS[2:]:
        if name == "cfb_decrypt" and n % 16:
            continue  # the register after a partial block is of no use, and not compared
        same(*both, name, random(rng, 16), random(rng, n))


@pytest.mark.parametrize("n", [17, 500, 5003])
def test_cfb_with_a_partial_block(both, n):
    rng = np.random.default_rng(3)
    iv, src = random(rng, 16), random(rng, n)
    out = []
    for kernels in both:
        dst = np.zeros_like(src)
        kernels.cipher.cfb_decrypt(kernels.cipher.expand_key(KEY), iv.copy(), src, dst)
        out.append(dst)
    np.testing.assert_array_equal(*out)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("little", [False, True])
def test_ctr_wraps_between_and_inside_parts(both, bits, little):
    rng = np.random.default_rng(4)
    for n in LENGTHS:
        for back in (0, 1, 2, 7, 12, 13, 100):
            value = (1 << bits) - back & (1 << bits) - 1
            block = bytearray(random(rng, 16).tobytes())
            width = bits // 8
            field = value.to_bytes(width, "little" if little else "big")
            if little:
                block[:width] = field
            else:
                block[16 - width :] = field
            same(*both, "ctr", np.frombuffer(block, np.uint8), bits, little, random(rng, n))


@pytest.mark.parametrize("name", ["xts_encrypt", "xts_decrypt"])
def test_xts_of_one_long_unit_and_of_many(both, name):
    rng = np.random.default_rng(5)
    for n in LENGTHS_OF_BLOCKS:
        same(*both, name, random(rng, 1, 16), random(rng, 1, n))
        same(*both, name, random(rng, 7, 16), random(rng, 7, n))


@pytest.mark.parametrize("name", ["ocb_encrypt", "ocb_decrypt"])
@pytest.mark.parametrize("first", [1, 2, 8, 15, 1000])
def test_ocb(both, name, first):
    rng = np.random.default_rng(6)
    for n in LENGTHS_OF_BLOCKS:
        same(*both, name, random(rng, 24, 16), random(rng, 16), random(rng, 16), first, random(rng, n))


def test_ocb_hash(both):
    rng = np.random.default_rng(7)
    for n in LENGTHS_OF_BLOCKS:
        ls, offset, total, src = random(rng, 24, 16), random(rng, 16), random(rng, 16), random(rng, n)
        left = []
        for kernels in both:
            states = offset.copy(), total.copy()
            kernels.cipher.ocb_hash(kernels.cipher.expand_key(KEY), ls, *states, 5, src)
            left.append(np.concatenate(states))
        np.testing.assert_array_equal(*left)


@pytest.mark.parametrize("name", ["cbc_encrypt_many", "cfb_encrypt_many", "ofb_many"])
def test_many_messages(both, name):
    rng = np.random.default_rng(8)
    for rows in (1, 2, 3, 10, 300):
        same(*both, name, random(rng, rows, 16), random(rng, rows, 48))


@pytest.mark.parametrize("name", ["gcm_encrypt", "gcm_decrypt"])
def test_gcm(both, name):
    rng = np.random.default_rng(9)
    table = both[0].ghash.ghash_key(random(rng, 16))
    for n in LENGTHS:
        counter = random(rng, 16)
        counter[12:] = 255  # wraps inside the message
        results = []
        for kernels in both:
            src = random(np.random.default_rng(n), n)
            dst, left, y = np.zeros_like(src), counter.copy(), np.arange(16, dtype=np.uint8)
            getattr(kernels, name)(kernels.cipher.expand_key(KEY), table, left, y, src, dst)
            results.append((dst, left, y))
        for ours, theirs in zip(*results, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@given(h=st.binary(min_size=16, max_size=16), blocks=st.integers(0, 200), threads=st.integers(2, 5))
def test_ghash_by_powers_of_h(h, blocks, threads):
    src = random(np.random.default_rng(blocks), 16 * blocks)
    states = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "MIN_BYTES", 1)
        for count in (1, threads):
            ghash = backend.kernels(threads=count).ghash
            y = np.arange(16, dtype=np.uint8)
            ghash.ghash(ghash.ghash_key(np.frombuffer(h, np.uint8).copy()), y, src)
            states.append(y)
    np.testing.assert_array_equal(*states)


@given(n_bytes=st.integers(1, 1 << 40), threads=st.integers(1, 64))
def test_ranges_cover_everything_once(n_bytes, threads):
    ranges = parallel._ranges(n_bytes, threads)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == n_bytes
    assert all(a < b for a, b in ranges)
    assert all(end == start for (_, end), (start, _) in itertools.pairwise(ranges))
    blocks = {-(-(b - a) // 16) for a, b in ranges[1:]}
    assert len(blocks) <= 1
    assert all(size & size - 1 == 0 for size in blocks)
    assert len(ranges) <= 2 * parallel.PARTS_PER_THREAD * threads


def test_long_messages_through_the_public_api_with_eight_callers():
    """From MIN_BYTES on inputs are split for good; eight callers share the pool."""
    data = np.random.default_rng(10).integers(0, 256, parallel.MIN_BYTES + 5, np.uint8)
    with backend.use(threads=1):
        expected = tk.GCM(bytes(32)).encrypt(bytes(12), data, b"aad")
    with backend.use(threads=4):
        gcm = tk.GCM(bytes(32))
    results = [None] * 8

    def call(i):
        results[i] = gcm.decrypt(bytes(12), gcm.encrypt(bytes(12), data, b"aad"), b"aad")

    np.testing.assert_array_equal(gcm.encrypt(bytes(12), data, b"aad"), expected)
    threads = [threading.Thread(target=call, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, data)


@pytest.mark.parametrize("short", [True, False])
def test_whole_messages_are_split_from_min_bytes_on(short, monkeypatch):
    """Below, one call of one kernel; then threads, and the same result."""
    calls, run = [], parallel.run
    monkeypatch.setattr(parallel, "run", lambda tasks, threads: (calls.append(threads), run(tasks, threads)))
    data = np.random.default_rng(11).integers(0, 256, parallel.MIN_BYTES - 16 * short, np.uint8)
    for mode, call in (
        (tk.GCM, lambda mode: mode.encrypt_detached(bytes(12), data)[0]),
        (tk.OCB, lambda mode: mode.encrypt_detached(bytes(12), data)[0]),
        (lambda key: tk.XTS(2 * key), lambda mode: mode.encrypt(data, 0)),
    ):
        with backend.use(threads=2):
            threaded = mode(bytes(32))
        with backend.use(threads=1):
            alone = mode(bytes(32))
        calls.clear()
        assert np.array_equal(call(threaded), call(alone))
        assert calls == ([] if short else [2])


def test_an_exception_waits_for_all_parts():
    started, finished = threading.Event(), []

    def slow():
        started.set()
        threading.Event().wait(0.05)
        finished.append(True)

    def broken():
        started.wait(5)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        parallel.run([broken, slow], 2)
    assert finished == [True]


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_odd_numbers_of_threads_are_refused(threads):
    with pytest.raises(InvalidParameter, match="whole number"):
        backend.use(threads=threads)


@pytest.mark.parametrize("text", ["0", "two", "-3", "1.5"])
def test_the_environment_variable_is_checked(text, monkeypatch):
    monkeypatch.setenv("TWOFISHKIT_THREADS", text)
    with pytest.raises(InvalidParameter, match="TWOFISHKIT_THREADS"):
        backend.kernels()


def test_the_environment_variable_is_obeyed(monkeypatch):
    monkeypatch.setenv("TWOFISHKIT_THREADS", "3")
    assert parallel.usable_threads() == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_pool_is_made_anew_after_fork():
    code = """
import os, numpy as np, twofishkit as tk
from twofishkit import backend
backend.use(threads=3)
data = np.zeros(1 << 21, np.uint8)
expected = tk.CTR(bytes(32), bytes(16)).encrypt(data)
pid = os.fork()
if pid == 0:
    ok = np.array_equal(tk.CTR(bytes(32), bytes(16)).encrypt(data), expected)
    os._exit(0 if ok else 1)
assert os.waitpid(pid, 0)[1] == 0
"""
    warnings_off = ["-W", "ignore::DeprecationWarning"]  # 3.12 warns of fork in a threaded process
    subprocess.run([sys.executable, *warnings_off, "-c", code], check=True, timeout=120)
