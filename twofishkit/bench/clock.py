"""The processor's clock, calibrated by a loop whose length in cycles is known.

`Clock.measure` times a chain of additions and XORs, each of which needs the result before it: one
cycle an operation on every current processor, however wide. Counted cycles over measured time is
the frequency at that moment, turbo and throttling included: the "auto MHz" of the tables.
"""

import time
from collections.abc import Callable

_STEPS = 50_000
_CYCLES_PER_STEP = 4
_REPETITIONS = 3


def _chain(steps: int, addend: int, mask: int, start: int) -> int:
    """Four dependent operations a step; alternating add and XOR has no closed form to optimise to."""
    x = start
    for _ in range(steps):
        x = (x + addend) ^ mask
        x = (x + mask) ^ addend
    return x


def _compiled() -> Callable[[int, int, int, int], int] | None:
    """The chain as machine code, or None where Numba is missing or cannot compile."""
    try:
        import numba

        # Its four operations take 64-bit words: the arguments say so, and integers are not widened.
        function = numba.njit("uint64(int64, uint64, uint64, uint64)", nogil=True)(_chain)
    except Exception:
        return None
    result: Callable[[int, int, int, int], int] = function
    return result


class Clock:
    """Reads the frequency; `calibrated` is false where it cannot be known."""

    def __init__(self) -> None:
        self._chain = _compiled()

    @property
    def calibrated(self) -> bool:
        return self._chain is not None

    def measure(self) -> float | None:
        """The frequency in MHz right now (best of a few runs of 50 microseconds), or None."""
        if self._chain is None:
            return None
        best = min(self._once(self._chain) for _ in range(_REPETITIONS))
        return 1e3 * _STEPS * _CYCLES_PER_STEP / best

    def _once(self, chain: Callable[[int, int, int, int], int]) -> int:
        begin = time.perf_counter_ns()
        chain(_STEPS, 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, begin)
        return max(1, time.perf_counter_ns() - begin)
