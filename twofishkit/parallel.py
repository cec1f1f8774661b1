"""Long inputs over several threads: the slots of a backend, split where blocks are independent.

Compiled kernels release the GIL, so threads of one small pool share the work. `threaded` wraps the
slots of a `Kernels`; mode logic does not notice. Serial modes and short inputs go straight through.

What a part needs to start in the middle is computed here: its counter, the ciphertext block before
it, its tweak or offset. GHASH is split by powers of H: with parts X and Y, Y of n blocks,

    GHASH(X || Y) = GHASH(X) * H^n  ^  GHASH(Y),

and a product is one call of the hash itself under another key. All parts but the first have the same
power of two of blocks, so that H^n takes a few squarings.

Source: NIST SP 800-38A (6.2, 6.3, 6.5), SP 800-38D (6.4), IEEE 1619-2007 (5.2), RFC 7253 (4.1).
"""

import dataclasses
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from twofishkit.errors import InvalidParameter
from twofishkit.slots import Bytes, GhashTable, Kernels, Schedule

#: Inputs below this are not worth waking another thread.
MIN_BYTES = 1 << 20
#: Parts for each thread, so that a thread that is held up does not hold up all.
PARTS_PER_THREAD = 4

_VARIABLE = "TWOFISHKIT_THREADS"
_FEEDBACK = 0x87
_MASK_128 = (1 << 128) - 1

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None


def usable_threads() -> int:
    """How many threads to use: TWOFISHKIT_THREADS, or the CPUs that this process may run on.

    Raises
    ------
    InvalidParameter
        If the variable is not a whole number from 1 on.
    """
    text = os.environ.get(_VARIABLE)
    if not text:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return check_threads(int(text) if text.strip().isdecimal() else text, _VARIABLE)


def check_threads(threads: object, name: str = "threads") -> int:
    """A number of threads, from 1 on, as int; raises InvalidParameter for anything else."""
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidParameter(f"{name} is {threads!r}; it must be a whole number from 1 on")
    return threads


def _forget_pool() -> None:
    """In a forked child: the pool's threads stayed behind."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _submit(work: Callable[[], None]) -> Future[None]:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(32, usable_threads()), thread_name_prefix="twofishkit")
        return _pool.submit(work)


def run(tasks: list[Callable[[], None]], threads: int) -> None:
    """Run all tasks, up to ``threads`` at once, the caller being one of the threads.

    Returns, or raises, only when no task is running any more: tasks write into the caller's buffers.
    """
    waiting = list(reversed(tasks))

    def drain() -> None:
        while True:
            try:
                task = waiting.pop()  # atomic
            except IndexError:
                return
            task()

    futures: list[Future[None]] = []
    try:
        for _ in range(min(threads, len(tasks)) - 1):
            futures.append(_submit(drain))
        drain()
    finally:
        waiting.clear()
        wait(futures)
    for future in futures:
        future.result()


def _ranges(n_bytes: int, threads: int) -> list[tuple[int, int]]:
    """Cut n bytes into ranges of whole blocks; the last one also has what is left of a block.

    All but the first have the same power of two of blocks.
    """
    blocks = (n_bytes + 15) // 16
    size = 1 << max(0, (blocks // (PARTS_PER_THREAD * threads)).bit_length() - 1)
    others = max(0, blocks - 1) // size
    first = blocks - others * size
    starts = [0, *(16 * (first + i * size) for i in range(others))]
    return list(zip(starts, [*starts[1:], n_bytes], strict=True))


def _integer(block: Bytes) -> int:
    return int.from_bytes(block.tobytes(), "little")


def _store(block: Bytes, value: int) -> None:
    block[:] = np.frombuffer(value.to_bytes(16, "little"), np.uint8)


def _advanced(counter: Bytes, blocks: int, bits: int, little_endian: bool) -> Bytes:
    """A counter block some blocks further on. Source: SP 800-38A, appendix B.1."""
    order = slice(None) if little_endian else slice(None, None, -1)
    value = _integer(counter[order])
    field = (1 << bits) - 1
    moved = np.empty(16, np.uint8)
    _store(moved, (value & ~field & _MASK_128) | ((value + blocks) & field))
    return moved[order].copy()


def _times(a: int, b: int) -> int:
    """Product in XTS's GF(2^128), bit i being the coefficient of alpha^i."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a <<= 1
        if a >> 128:
            a = (a & _MASK_128) ^ _FEEDBACK
        b >>= 1
    return product


def _power_of_alpha(n: int) -> int:
    """alpha^n in XTS's GF(2^128)."""
    result, base = 1, 2
    while n:
        if n & 1:
            result = _times(result, base)
        base = _times(base, base)
        n >>= 1
    return result


def _offset_change(ls: Bytes, before: int, after: int) -> Bytes:
    """Offset_before ^ Offset_after: a Gray code tells which L_j are in an offset. RFC 7253, 4.1."""
    gray = (before ^ before >> 1) ^ (after ^ after >> 1)
    total = np.zeros(16, np.uint8)
    for j in range(gray.bit_length()):
        if gray >> j & 1:
            total ^= ls[j]
    return total


class _Splitter:
    """The slots of a `Kernels`, each over up to ``threads`` threads; methods are slots."""

    def __init__(self, kernels: Kernels, threads: int) -> None:
        self.whole = kernels
        self.threads = threads

    # Blocks on their own, and rows on their own -----------------------------------------------

    def blocks(self, name: str) -> Callable[..., None]:
        slot = getattr(self.whole.cipher, name)

        def split(schedule: Schedule, src: Bytes, dst: Bytes) -> None:
            if src.size < MIN_BYTES:
                slot(schedule, src, dst)
                return
            ranges = _ranges(src.size, self.threads)
            run([partial(slot, schedule, src[a:b], dst[a:b]) for a, b in ranges], self.threads)

        return split

    def many(self, name: str) -> Callable[..., None]:
        slot = getattr(self.whole.cipher, name)

        def split(schedule: Schedule, ivs: Bytes, src: Bytes, dst: Bytes) -> None:
            rows = len(src)
            if src.size < MIN_BYTES or rows < 2:
                slot(schedule, ivs, src, dst)
                return
            # Rows run 256 side by side at best: no more parts than threads.
            cuts = [rows * i // min(self.threads, rows) for i in range(min(self.threads, rows) + 1)]
            run(
                [partial(slot, schedule, ivs[a:b], src[a:b], dst[a:b]) for a, b in pairwise(cuts)],
                self.threads,
            )

        return split

    # Chained decryption: a part starts from the ciphertext before it ----------------------------

    def chained(self, name: str) -> Callable[..., None]:
        slot = getattr(self.whole.cipher, name)

        def split(schedule: Schedule, iv: Bytes, src: Bytes, dst: Bytes) -> None:
            if src.size < MIN_BYTES:
                slot(schedule, iv, src, dst)
                return
            ranges = _ranges(src.size, self.threads)
            # Copied before anything runs: in place, the ciphertext is about to go.
            ivs = [iv, *(src[a - 16 : a].copy() for a, _ in ranges[1:])]
            run(
                [
                    partial(slot, schedule, v, src[a:b], dst[a:b])
                    for (a, b), v in zip(ranges, ivs, strict=True)
                ],
                self.threads,
            )
            iv[:] = ivs[-1]

        return split

    # Counters, tweaks, offsets ------------------------------------------------------------------

    def ctr(
        self, schedule: Schedule, counter: Bytes, bits: int, little: bool, src: Bytes, dst: Bytes
    ) -> None:
        slot = self.whole.cipher.ctr
        if src.size < MIN_BYTES:
            slot(schedule, counter, bits, little, src, dst)
            return
        ranges = _ranges(src.size, self.threads)
        counters = [_advanced(counter, a // 16, bits, little) for a, _ in ranges]
        run(
            [
                partial(slot, schedule, c, bits, little, src[a:b], dst[a:b])
                for (a, b), c in zip(ranges, counters, strict=True)
            ],
            self.threads,
        )
        counter[:] = counters[-1]

    def xts(self, name: str) -> Callable[..., None]:
        slot = getattr(self.whole.cipher, name)
        by_rows = self.many(name)

        def split(schedule: Schedule, tweaks: Bytes, src: Bytes, dst: Bytes) -> None:
            if len(src) > 1 or src.size < MIN_BYTES:
                by_rows(schedule, tweaks, src, dst)
                return
            start = _integer(tweaks[0])
            ranges = _ranges(src.size, self.threads)
            parts = []
            for a, _ in ranges:
                part = np.empty((1, 16), np.uint8)
                _store(part[0], _times(start, _power_of_alpha(a // 16)))
                parts.append(part)
            run(
                [
                    partial(slot, schedule, t, src[:, a:b], dst[:, a:b])
                    for (a, b), t in zip(ranges, parts, strict=True)
                ],
                self.threads,
            )
            tweaks[0] = parts[-1][0]

        return split

    def ocb(self, name: str) -> Callable[..., None]:
        slot = getattr(self.whole.cipher, name)

        def split(
            schedule: Schedule, ls: Bytes, offset: Bytes, checksum: Bytes, first: int, src: Bytes, dst: Bytes
        ) -> None:
            if src.size < MIN_BYTES:
                slot(schedule, ls, offset, checksum, first, src, dst)
                return
            ranges = _ranges(src.size, self.threads)
            offsets, sums = self._offsets(ls, offset, first, ranges)
            run(
                [
                    partial(slot, schedule, ls, o, s, first + a // 16, src[a:b], dst[a:b])
                    for (a, b), o, s in zip(ranges, offsets, sums, strict=True)
                ],
                self.threads,
            )
            offset[:] = offsets[-1]
            checksum ^= np.bitwise_xor.reduce(sums, axis=0)

        return split

    def ocb_hash(
        self, schedule: Schedule, ls: Bytes, offset: Bytes, total: Bytes, first: int, src: Bytes
    ) -> None:
        slot = self.whole.cipher.ocb_hash
        if src.size < MIN_BYTES:
            slot(schedule, ls, offset, total, first, src)
            return
        ranges = _ranges(src.size, self.threads)
        offsets, sums = self._offsets(ls, offset, first, ranges)
        run(
            [
                partial(slot, schedule, ls, o, s, first + a // 16, src[a:b])
                for (a, b), o, s in zip(ranges, offsets, sums, strict=True)
            ],
            self.threads,
        )
        offset[:] = offsets[-1]
        total ^= np.bitwise_xor.reduce(sums, axis=0)

    @staticmethod
    def _offsets(
        ls: Bytes, offset: Bytes, first: int, ranges: list[tuple[int, int]]
    ) -> tuple[list[Bytes], list[Bytes]]:
        """The offset before each part, and an empty sum for each."""
        offsets = [offset ^ _offset_change(ls, first - 1, first - 1 + a // 16) for a, _ in ranges]
        return offsets, [np.zeros(16, np.uint8) for _ in ranges]

    # GHASH --------------------------------------------------------------------------------------

    def ghash(self, table: GhashTable, y: Bytes, src: Bytes) -> None:
        hash_ = self.whole.ghash.ghash
        if src.size < MIN_BYTES:
            hash_(table, y, src)
            return

        def part(a: int, b: int, state: Bytes) -> None:
            hash_(table, state, src[a:b])

        self._hashed(table, y, src.size, part)

    def gcm_encrypt(
        self, schedule: Schedule, table: GhashTable, counter: Bytes, y: Bytes, src: Bytes, dst: Bytes
    ) -> None:
        self._gcm(self.whole.gcm_encrypt, schedule, table, counter, y, src, dst)

    def gcm_decrypt(
        self, schedule: Schedule, table: GhashTable, counter: Bytes, y: Bytes, src: Bytes, dst: Bytes
    ) -> None:
        self._gcm(self.whole.gcm_decrypt, schedule, table, counter, y, src, dst)

    def _gcm(
        self,
        slot: Callable[..., None],
        schedule: Schedule,
        table: GhashTable,
        counter: Bytes,
        y: Bytes,
        src: Bytes,
        dst: Bytes,
    ) -> None:
        if src.size < MIN_BYTES:
            slot(schedule, table, counter, y, src, dst)
            return

        def part(a: int, b: int, state: Bytes) -> None:
            slot(schedule, table, _advanced(counter, a // 16, 32, False), state, src[a:b], dst[a:b])

        self._hashed(table, y, src.size, part)
        counter[:] = _advanced(counter, (src.size + 15) // 16, 32, False)

    def _hashed(
        self, table: GhashTable, y: Bytes, n_bytes: int, part: Callable[[int, int, Bytes], None]
    ) -> None:
        """Run ``part(a, b, state)`` for all ranges, each with a state of its own; join the states in y."""
        ranges = _ranges(n_bytes, self.threads)
        states = [y, *(np.zeros(16, np.uint8) for _ in ranges[1:])]
        run(
            [partial(part, a, b, s) for (a, b), s in zip(ranges, states, strict=True)],
            self.threads,
        )
        if len(ranges) == 1:
            return
        size = (ranges[1][1] - ranges[1][0] + 15) // 16
        times_power = self.whole.ghash.ghash_key(self._power_of_h(table, size.bit_length() - 1))
        for state in states[1:]:
            product = np.zeros(16, np.uint8)
            self.whole.ghash.ghash(times_power, product, y)
            np.bitwise_xor(product, state, out=y)
        times_power.fill(0)

    def _power_of_h(self, table: GhashTable, log2: int) -> Bytes:
        """H^(2^log2): the hash of the field's one is H, and a key hashed under itself is its square."""
        one = np.zeros(16, np.uint8)
        one[0] = 0x80
        power = np.zeros(16, np.uint8)
        self.whole.ghash.ghash(table, power, one)
        for _ in range(log2):
            key, square = self.whole.ghash.ghash_key(power), np.zeros(16, np.uint8)
            self.whole.ghash.ghash(key, square, power)
            power = square
        return power


def threaded(kernels: Kernels, threads: int) -> Kernels:
    """The same kernels, with long inputs split over up to ``threads`` threads.

    The kernels must release the GIL. With one thread they are returned as they are.
    """
    if threads == 1:
        return kernels
    split = _Splitter(kernels, threads)
    slots: dict[str, Any] = {"ctr": split.ctr, "ocb_hash": split.ocb_hash}
    for make, names in (
        (split.blocks, ("encrypt_blocks", "decrypt_blocks")),
        (split.chained, ("cbc_decrypt", "cfb_decrypt", "cfb8_decrypt")),
        (split.many, ("cbc_encrypt_many", "cfb_encrypt_many", "ofb_many")),
        (split.xts, ("xts_encrypt", "xts_decrypt")),
        (split.ocb, ("ocb_encrypt", "ocb_decrypt")),
    ):
        slots.update((name, make(name)) for name in names)
    return dataclasses.replace(
        kernels,
        cipher=dataclasses.replace(kernels.cipher, **slots),
        ghash=dataclasses.replace(kernels.ghash, ghash=split.ghash),
        threads=threads,
        gcm_encrypt=split.gcm_encrypt,
        gcm_decrypt=split.gcm_decrypt,
        long_bytes=MIN_BYTES - 1,
    )
