"""How measuring works: structure and arithmetic. Never how fast anything is."""

import contextlib
import time

import pytest

from twofishkit.bench import clock
from twofishkit.bench.clock import Clock
from twofishkit.bench.measure import Case, Group, Plan, Result, measure

PLAN = Plan(rounds=2, most_rounds=2, slice_ns=1000, slowest_call_ns=5_000_000)


class FixedClock(Clock):
    """3000 MHz, always."""

    def __init__(self) -> None:
        self.readings = 0

    def measure(self) -> float:
        self.readings += 1
        return 3000.0


def result(**changes) -> Result:
    fields = {
        "section": "modes",
        "operation": "ctr enc",
        "key_bits": 256,
        "size": 1 << 20,
        "implementation": "x",
        "ours": True,
        "ns_per_call": float(1 << 20),
        "mhz": 3000.0,
    }
    return Result(**{**fields, **changes})


def test_figures_follow_from_nanoseconds_size_and_clock() -> None:
    one_ns_a_byte = result()
    assert one_ns_a_byte.ns_per_byte == 1
    assert one_ns_a_byte.mib_per_second == pytest.approx(1e9 / 2**20)
    assert one_ns_a_byte.cycles_per_byte == pytest.approx(3)
    assert one_ns_a_byte.cycles_per_call == pytest.approx(3 * 2**20)


def test_without_a_clock_there_are_no_cycles() -> None:
    blind = result(mhz=None)
    assert blind.cycles_per_byte is None
    assert blind.cycles_per_call is None
    assert blind.ns_per_byte == 1


def test_without_a_size_there_are_no_figures_per_byte() -> None:
    key_set_up = result(size=0, ns_per_call=1500.0)
    assert key_set_up.ns_per_byte is None
    assert key_set_up.mib_per_second is None
    assert key_set_up.cycles_per_byte is None
    assert key_set_up.cycles_per_call == pytest.approx(4500)


def test_ratios_refer_to_the_first_case_and_order_is_kept() -> None:
    def sleeping(seconds: float) -> Case:
        return Case(f"sleeps {seconds}", True, lambda size: lambda: time.sleep(seconds))

    group = Group("modes", "sleep", 0, 64, (sleeping(0.001), sleeping(0.0)))
    results = measure(group, PLAN, FixedClock())
    assert [each.implementation for each in results] == ["sleeps 0.001", "sleeps 0.0"]
    assert results[0].ratio == 1
    assert results[1].ratio == pytest.approx(results[1].ns_per_call / results[0].ns_per_call)


def test_implementations_take_turns() -> None:
    calls: list[str] = []

    def noting(name: str) -> Case:
        return Case(name, True, lambda size: lambda: calls.append(name))

    group = Group("modes", "note", 0, 64, (noting("a"), noting("b")))
    measure(group, Plan(rounds=3, most_rounds=3, slice_ns=1), fixed := FixedClock())
    # One call a round, after those that prepared each case.
    assert calls[-6:] == ["a", "b"] * 3
    assert fixed.readings == 6


def test_rounds_go_on_while_somebody_gets_faster() -> None:
    """A busy machine shows its best late: four rounds without progress end it, not a fixed number."""
    calls = 0

    def prepare(size: int):
        def call() -> None:
            nonlocal calls
            calls += 1
            time.sleep(max(0.0, 0.008 - 0.001 * calls))

        return call

    plan = Plan(rounds=1, most_rounds=40, patience=3, slice_ns=1)
    measure(Group("modes", "x", 0, 64, (Case("warming up", True, prepare),)), plan, fixed := FixedClock())
    assert 4 < fixed.readings <= 40


def test_a_slow_implementation_gets_a_smaller_message_and_says_so() -> None:
    def slow(size: int):
        return lambda: time.sleep(size * 2e-6)

    group = Group("modes", "slow", 0, 1 << 20, (Case("slow", True, slow),))
    (slowed,) = measure(group, PLAN, FixedClock())
    assert 1024 <= slowed.size < 1 << 14
    assert slowed.size & (slowed.size - 1) == 0


def test_a_quick_implementation_gets_the_whole_message() -> None:
    sizes: list[int] = []
    case = Case("quick", True, lambda size: lambda: sizes.append(size))
    (quick,) = measure(Group("modes", "quick", 0, 1 << 20, (case,)), PLAN, FixedClock())
    assert quick.size == 1 << 20
    assert sizes[-1] == 1 << 20


def test_a_whole_message_is_never_reduced() -> None:
    group = Group(
        "xor", "xor", 0, 4096, (Case("slow", True, lambda size: lambda: time.sleep(0.01)),), whole=True
    )
    (kept,) = measure(group, PLAN, FixedClock())
    assert kept.size == 4096


def test_cases_are_prepared_and_run_within_their_context() -> None:
    inside: list[bool] = []
    active = False

    @contextlib.contextmanager
    def context():
        nonlocal active
        active = True
        yield
        active = False

    def prepare(size: int):
        inside.append(active)
        return lambda: inside.append(active)

    measure(Group("modes", "x", 0, 64, (Case("x", True, prepare, context),)), PLAN, FixedClock())
    assert all(inside)
    assert not active


def test_clock_reads_a_plausible_frequency_where_numba_compiles() -> None:
    pytest.importorskip("numba", reason="without Numba the frequency cannot be known")
    reading = Clock().measure()
    # Not a timing: any processor of the last decades, however loaded, is between these.
    assert reading is not None
    assert 10 < reading < 20_000


def test_clock_without_numba_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_compiled", lambda: None)
    blind = Clock()
    assert not blind.calibrated
    assert blind.measure() is None


def test_the_chain_is_a_chain() -> None:
    """Each step depends on the one before: the result is that of the four operations, repeated."""
    expected = 1
    for _ in range(3):
        expected = _step(expected)
    compiled = clock._compiled()
    if compiled is None:
        pytest.skip("Numba does not compile here")
    assert compiled(3, 5, 9, 1) == expected


def _step(x: int) -> int:
    word = (1 << 64) - 1
    x = ((x + 5) & word) ^ 9
    return ((x + 9) & word) ^ 5
