"""Why a target differs: known mistakes that answer as it does, and where its round states leave ours."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from twofishkit.reference import RoundState
from twofishkit.testing import generate, oracle
from twofishkit.testing.cases import OPERATIONS, Answer, Case
from twofishkit.testing.mistakes import CIPHER_MISTAKES, MODE_MISTAKES, Mistake
from twofishkit.testing.mistakes.kinds import ON_THE_CIPHER

#: Cases of each operation that are asked to tell mistakes apart. They are the same in every run.
PROBES = 24
_PROBES_OF_ECB = 10
#: Wrong answers that are looked at for mistakes which explain some of them.
_PARTS = 8
#: Bytes of a case that is only tried on what the others leave.
_LONG = 1024
#: The seed that users get unless they ask for another: what it asked is remembered here.
_PROBE_SEED = 0
#: Answers that say something about the algorithm.
_TELLING = ("ok", "refused")

Ask = Callable[[Case], Answer]
#: A case and what the target made of it.
Observed = tuple[Case, Answer]


@dataclass(frozen=True)
class Cause:
    """Known mistakes whose answers are those of the target.

    Attributes
    ----------
    mistakes : what the target equals; more than one if they had to be made together
    explained, of : failures that the mistakes give byte for byte, and failures in all
    """

    mistakes: tuple[Mistake, ...]
    mode: str
    explained: int
    of: int

    @property
    def complete(self) -> bool:
        return self.explained == self.of

    def __str__(self) -> str:
        text = " and ".join(mistake.equals(self.mode).removeprefix("equals ") for mistake in self.mistakes)
        count = f"all {self.of}" if self.complete else f"{self.explained} of {self.of}"
        return f"equals {text} (gives {count} wrong answers byte for byte)"


@functools.cache
def probes(mode: str) -> tuple[Case, ...]:
    """The cases that tell the mistakes of a mode apart."""
    operations = [name for name in OPERATIONS if name == mode or name.startswith(f"{mode}-")]
    count = _PROBES_OF_ECB if mode == "ecb" else PROBES
    return tuple(
        generate.case(_PROBE_SEED, operation, index) for index in range(count) for operation in operations
    )


@functools.lru_cache(maxsize=20000)
def _answer(mistake: Mistake, below: Mistake | None, case: Case) -> Answer | None:
    """What a mistake makes of a probe, remembered; ``below`` is a mistake of the block cipher."""
    if below is None or below.recipe is None:
        return mistake.answer(case)
    return mistake.answer(case, below.recipe)


@dataclass
class Diagnosis:
    """The causes found so far; a mistake of the block cipher shows in every mode."""

    ask: Ask
    cipher: Mistake | None = None
    _known: dict[str, tuple[Cause, ...]] = field(default_factory=dict)

    def causes(self, mode: str, failures: Sequence[Observed]) -> tuple[Cause, ...]:
        """Why the target fails in a mode: as a rule one cause, or none that is known.

        Parameters
        ----------
        failures : failing cases of this mode, and what the target answered
        """
        observed = [*failures, *((case, self.ask(case)) for case in probes(mode))]
        observed = [(case, got) for case, got in observed if got.status in _TELLING]
        wrong = [(case, got) for case, got in observed if not got.agrees(oracle.expected(case))]
        if not wrong:
            return ()
        observed = _quickest_first(wrong, [pair for pair in observed if pair not in wrong])
        whole = [mistakes for mistakes in self._candidates(mode) if _gives_all(mistakes, observed)]
        found = tuple(Cause(mistakes, mode, len(wrong), len(wrong)) for mistakes in self._preferred(whole))
        if not found:
            found = self._partly(mode, wrong)
        elif mode == "ecb" and len(found) == 1 and found[0].mistakes[0].recipe:
            self.cipher = found[0].mistakes[0]
        return found

    def _candidates(self, mode: str) -> list[tuple[Mistake, ...]]:
        in_mode = [mistake for mistake in MODE_MISTAKES if mode in mistake.modes]
        singles = [(mistake,) for mistake in (*CIPHER_MISTAKES, *in_mode) if mode in mistake.modes]
        both = [(self.cipher, mistake) for mistake in in_mode] if self.cipher else []
        return [*singles, *both]

    def _preferred(self, whole: list[tuple[Mistake, ...]]) -> list[tuple[Mistake, ...]]:
        """The mistake of the block cipher that is known already, where it is among them."""
        known = (self.cipher,)
        return [known] if known in whole else whole  # type: ignore[list-item]

    def _partly(self, mode: str, wrong: Sequence[Observed]) -> tuple[Cause, ...]:
        """Mistakes that explain some failures: perhaps there are two."""
        # A refusal, or a byte or two, can be right by accident.
        wrong = [(case, got) for case, got in wrong if len(got.data) + len(got.tag) >= 16]
        wrong = _quickest_first(wrong, ())[:_PARTS]
        counts = [
            (sum(_gives(mistakes, pair) for pair in wrong), mistakes) for mistakes in self._candidates(mode)
        ]
        best = max((count for count, _ in counts), default=0)
        if not best:
            return ()
        return tuple(Cause(mistakes, mode, best, len(wrong)) for count, mistakes in counts if count == best)[
            :3
        ]


def _quickest_first(wrong: Sequence[Observed], right: Sequence[Observed]) -> list[Observed]:
    """Wrong and right answers in turn, short cases first: this rules most mistakes out at once."""
    ranked = [
        (len(case.data) + len(case.aad) > _LONG, rank, bool(side), (case, got))
        for side, observed in enumerate((wrong, right))
        for rank, (case, got) in enumerate(
            sorted(observed, key=lambda pair: len(pair[0].data) + len(pair[0].aad))
        )
    ]
    return [pair for *_, pair in sorted(ranked, key=lambda entry: entry[:3])]


def _gives(mistakes: tuple[Mistake, ...], pair: Observed) -> bool:
    case, got = pair
    plain = replace(case, published=None, source="")
    below = mistakes[0] if len(mistakes) == 2 else None
    answer = _answer(mistakes[-1], below, plain)
    return answer is not None and (answer.status, answer.data, answer.tag) == (got.status, got.data, got.tag)


def _gives_all(mistakes: tuple[Mistake, ...], observed: Sequence[Observed]) -> bool:
    return all(_gives(mistakes, pair) for pair in observed)


# --- round states ---------------------------------------------------------------------------------


def first_difference(got: Sequence[RoundState], expected: Sequence[RoundState]) -> str | None:
    """The first word of the round states that differs, in words; None if all that are told agree.

    States are compared by their ``r``; rounds that the target leaves out are not held against it.
    """
    right = {state.r: state for state in expected}
    for state in sorted(got, key=lambda state: state.r):
        if state.r not in right:
            return f"there is no step {state.r}: steps are -1 and 0 (input), 1 to 16 (rounds), 17 (output)"
        for name, mine, theirs in _words(right[state.r], state):
            if theirs is not None and mine != theirs:
                return f"{_step(state.r)}, {name}: expected {mine:08x}, got {theirs:08x}"
    return None


def _words(right: RoundState, state: RoundState) -> list[tuple[str, int | None, int | None]]:
    # t0 and t1 are computed first in a round.
    inside = [("t0", right.t0, state.t0), ("t1", right.t1, state.t1)] if right.t0 is not None else []
    return inside + [(f"word {i}", right.x[i], state.x[i]) for i in range(4)]


def _step(r: int) -> str:
    names = {-1: "input words", 0: "after the input whitening", 17: "after the output whitening"}
    return names.get(r, f"round {r}")


def first_subkey(got: bytes, expected: bytes) -> str | None:
    """The first of K[0..39] that differs, in words."""
    for i in range(40):
        mine, theirs = expected[4 * i : 4 * i + 4], got[4 * i : 4 * i + 4]
        if mine != theirs:
            return f"subkey K[{i}]: expected {mine.hex()}, got {theirs.hex() or 'nothing'}"
    return None


def where(ask: Ask, case: Case) -> tuple[str, ...]:
    """The first differing subkey and round state for the key of a case, where the target tells them.

    Parameters
    ----------
    case : a failing case of any mode on the block cipher; with a single block of ECB, the trace is of it
    """
    if case.mode not in ON_THE_CIPHER or case.mode in ("xts", "siv"):
        return ()
    found = []
    asked = Case("subkeys", "subkeys", case.key)
    got = ask(asked)
    if got.status == "ok" and (note := first_subkey(got.data, oracle.answer(asked).data)):
        found.append(note)
    block = case.data if case.operation in ("ecb-encrypt", "trace") and len(case.data) == 16 else bytes(16)
    asked = Case("trace", "trace", case.key, data=block)
    got = ask(asked)
    if got.states and (note := first_difference(got.states, oracle.answer(asked).states)):
        found.append(note)
    return tuple(found)
