"""What is timed besides the modes: GHASH, XOR, key set-up, short messages and threads."""

from collections.abc import Iterator, Sequence

import numpy as np

import twofishkit as tk
from twofishkit import backend, parallel
from twofishkit.bench.cases import MODES, Call, Mode, key_of, scratch
from twofishkit.bench.measure import Case, Group
from twofishkit.testing.peers import Peer, find
from twofishkit.testing.peers.openssl import find_yardsticks

#: Bytes of the short messages whose latency is measured.
SHORT = 64
_XOR_SIZES = (8, 2 << 10, 32 << 10, 1 << 20)


def ghash_groups(sizes: Sequence[int]) -> Iterator[Group]:
    """GHASH over whole messages: each of our implementations, then OpenSSL's."""
    for size in sizes:
        cases = [_ghash_case(name) for name in backend.available_ghash()]
        cases += [
            Case(
                f"{each.name} {each.version}",
                False,
                lambda size, each=each: each.bulk_ghash(scratch(size)),  # type: ignore[misc]
            )
            for each in find_yardsticks()
        ]
        yield Group("ghash", "ghash", 0, size, tuple(cases))


def _ghash_case(name: str) -> Case:
    def prepare(size: int) -> Call:
        slots = backend.kernels(ghash_name=name, threads=1).ghash
        table, state, data = slots.ghash_key(scratch(16)), np.zeros(16, np.uint8), scratch(size)
        return lambda: slots.ghash(table, state, data)

    return Case(name, True, prepare)


def xor_groups() -> Iterator[Group]:
    """``xor(a, b, out=)`` and NumPy's own."""
    for size in _XOR_SIZES:
        cases = (Case("twofishkit", True, _xor), Case("numpy", False, _numpy_xor))
        yield Group("xor", "xor", 0, size, cases, whole=True)


def _xor(size: int) -> Call:
    a, b, out = scratch(size), scratch(size), scratch(size)
    return lambda: tk.xor(a, b, out=out)


def _numpy_xor(size: int) -> Call:
    a, b, out = scratch(size), scratch(size), scratch(size)
    return lambda: np.bitwise_xor(a, b, out=out)


def key_groups(key_bits: Sequence[int], backends: Sequence[str]) -> Iterator[Group]:
    """From key bytes to an object that can encrypt: ours as `Twofish(key)` and as the bare kernel."""
    for bits in key_bits:
        cases = [_twofish_case(name, bits) for name in backends]
        cases += [_schedule_case(name, bits) for name in backends]
        cases += [_peer_key_case(peer, bits) for peer in find() if peer.supports("ecb", bits)]
        yield Group("key set-up", "key set-up", bits, 0, tuple(cases))


def _twofish_case(name: str, bits: int) -> Case:
    key = key_of(bits)
    return Case(name, True, lambda size: lambda: tk.Twofish(key), lambda: backend.use(name, threads=1))


def _schedule_case(name: str, bits: int) -> Case:
    def prepare(size: int) -> Call:
        slots, key = backend.kernels(name, threads=1).cipher, np.frombuffer(key_of(bits), np.uint8).copy()
        return lambda: slots.expand_key(key)

    return Case(f"{name}, expand_key", True, prepare)


def _peer_key_case(peer: Peer, bits: int) -> Case:
    return Case(f"{peer.name} {peer.version}", False, lambda size: peer.key_setup(key_of(bits)))


def short_groups(backends: Sequence[str]) -> Iterator[Group]:
    """64 bytes through an object that is there already: what one call from Python costs."""
    for name in ("ctr", "gcm"):
        cases = [_short_case(name, each) for each in backends]
        cases += [_short_peer_case(name, peer) for peer in find() if peer.supports(name, 256)]
        yield Group("short messages", f"{name} enc", 256, SHORT, tuple(cases), whole=True)


def thread_groups(size: int, backends: Sequence[str]) -> Iterator[Group]:
    """A long message over one thread, two, four ... and all that this process may use."""
    most = parallel.usable_threads()
    counts = [*(1 << i for i in range(most.bit_length()) if 1 << i < most), most]
    for mode in (mode for mode in MODES if mode.name in ("ctr", "gcm")):
        cases = [_thread_case(mode, name, threads) for name in backends for threads in counts]
        yield Group("threads", f"{mode.name} enc", 256, size, tuple(cases), whole=True)


def _thread_case(mode: Mode, name: str, threads: int) -> Case:
    def prepare(size: int) -> Call:
        return mode.ours(key_of(256), key_of(8 * mode.iv_bytes), scratch(size), False)

    title = f"{name}, {threads} thread{'s' if threads > 1 else ''}"
    return Case(title, True, prepare, lambda: backend.use(name, threads=threads))


def _short_case(mode: str, name: str) -> Case:
    def prepare(size: int) -> Call:
        data, nonce = bytes(size), bytes(12)
        if mode == "ctr":
            ctr = tk.CTR(key_of(256), bytes(16))
            return lambda: ctr.encrypt(data)
        gcm = tk.GCM(key_of(256))
        return lambda: gcm.encrypt(nonce, data)

    return Case(name, True, prepare, lambda: backend.use(name, threads=1))


def _short_peer_case(mode: str, peer: Peer) -> Case:
    def prepare(size: int) -> Call:
        buffer = scratch(size)
        call = peer.bulk(mode, key_of(256), bytes(16 if mode == "ctr" else 12), buffer)

        def keeping_buffer() -> object:
            call()
            return buffer

        return keeping_buffer

    return Case(f"{peer.name} {peer.version}", False, prepare)
