"""Every known mistake is detected, and named: all of them, no exceptions."""

import pytest

from twofishkit.errors import TwofishKitError
from twofishkit.testing import diagnose, generate, oracle
from twofishkit.testing.cases import AEADS, MODES, OPERATIONS, Case
from twofishkit.testing.mistakes import (
    CIPHER_MISTAKES,
    MISTAKES,
    MODE_MISTAKES,
    Mistake,
    composed,
    macs,
    tweaked,
)
from twofishkit.testing.mistakes.aead import finished
from twofishkit.testing.mistakes.recipe import Recipe
from twofishkit.testing.run import Budget, compare
from twofishkit.testing.targets import FunctionTarget

#: Each mistake in each mode where it can show; those of the block cipher in ECB.
PLACES = [(mistake, "ecb") for mistake in CIPHER_MISTAKES] + [
    (mistake, mode) for mistake in MODE_MISTAKES for mode in mistake.modes
]
RIGHT = {
    **{mode: finished(core) for mode, core in composed.RIGHT.items()},
    "xts": tweaked.RIGHT,
    "cmac": macs.RIGHT,
}


def operations(mode: str) -> list[str]:
    return [name for name in OPERATIONS if name == mode or name.startswith(f"{mode}-")]


def made_of(mistake: Mistake) -> FunctionTarget:
    """A target that makes a mistake."""

    def answer(case: Case):
        # Through the diagnosis' own memory, which many targets share.
        given = diagnose._answer(mistake, None, case)
        if given is None:
            raise ValueError("not for this mistake")
        return given

    return FunctionTarget(answer, mistake.name)


def test_library_is_large_and_its_names_are_unique():
    assert len(MISTAKES) >= 200
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES)
    assert len({(mistake.title, mistake.modes) for mistake in MISTAKES}) == len(MISTAKES)
    assert {mode for mistake in MODE_MISTAKES for mode in mistake.modes} == set(MODES) - {
        "subkeys",
        "sbox-key",
        "trace",
    }


@pytest.mark.parametrize(("mistake", "mode"), PLACES, ids=lambda value: getattr(value, "name", value))
def test_mistake_is_detected_and_named(mistake: Mistake, mode: str):
    target = made_of(mistake)
    report = compare(
        target,
        modes=[mode],
        budget=Budget(cases=24 * len(operations(mode))),
        with_published=False,
        explain=False,
    )
    failures = report.modes[mode].failures
    assert failures, "not detected"
    causes = diagnose.Diagnosis(target.answer).causes(mode, [(each.case, each.got) for each in failures])
    assert [cause.mistakes for cause in causes] == [(mistake,)]
    assert causes[0].complete
    assert mistake.title in str(causes[0])


@pytest.mark.parametrize("mode", RIGHT)
def test_modes_taken_apart_are_the_modes_themselves(mode: str):
    for operation in operations(mode):
        for index in range(24):
            case = generate.case(3, operation, index)
            assert oracle.answer(case, function=RIGHT[mode]) == oracle.answer(case), case.id


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if name != "ghash"])
def test_recipe_without_a_change_is_twofish(operation: str):
    for index in range(4):
        case = generate.case(4, operation, index)
        assert oracle.answer(case, Recipe()) == oracle.answer(case)


@pytest.mark.parametrize("mode", MODES)
def test_no_mistake_is_seen_in_what_is_right(mode: str):
    target = FunctionTarget(oracle.answer)
    assert diagnose.Diagnosis(target.answer).causes(mode, ()) == ()


def named(name: str) -> Mistake:
    return next(mistake for mistake in MISTAKES if mistake.name == name)


def test_mistake_of_the_cipher_explains_modes_and_schedule():
    mistake = named("rs-words-reversed")
    modes = ("subkeys", "sbox-key", "trace", "ecb", "cbc", "gcm", "cmac", "ghash")
    report = compare(made_of(mistake), modes=modes, budget=Budget(cases=80), with_published=False)
    failing = {mode for mode, result in report.modes.items() if result.failed}
    assert failing == {"trace", "ecb", "cbc", "gcm", "cmac"}
    for mode in failing:
        assert [cause.mistakes for cause in report.modes[mode].causes] == [(mistake,)], mode
    assert report.modes["gcm"].follows
    assert report.modes["ecb"].notes == ("round 1, t0: expected d3b31765, got 5888d5e8",)


def test_mistake_of_the_schedule_is_told_with_its_first_subkey():
    report = compare(
        made_of(named("subkey-odd-not-rotated")), modes=["subkeys", "ecb"], budget=Budget(cases=30)
    )
    notes = report.modes["ecb"].notes
    assert notes[0].startswith("subkey K[1]: expected ")
    assert notes[1].startswith("after the input whitening, word 1: expected ")
    assert [cause.mistakes[0].name for cause in report.modes["subkeys"].causes] == ["subkey-odd-not-rotated"]


def test_two_mistakes_above_each_other_are_both_named():
    below, above = named("mds-transposed"), named("ctr-little-endian")

    def answer(case: Case):
        return above.answer(case, below.recipe) if case.mode == "ctr" else below.answer(case)

    report = compare(
        FunctionTarget(answer), modes=["ecb", "ctr"], budget=Budget(cases=60), with_published=False
    )
    (cause,) = report.modes["ctr"].causes
    assert cause.mistakes == (below, above)
    assert "the MDS matrix transposed and CTR with a little-endian counter" in str(cause)


def test_mistake_that_explains_a_part_is_named_with_how_much():
    some, rest = named("ctr-32-bits"), named("ctr-tail-kept")

    def answer(case: Case):
        return (some if case.decrypting else rest).answer(case)

    report = compare(FunctionTarget(answer), modes=["ctr"], budget=Budget(cases=60), with_published=False)
    names = {cause.mistakes[0].name for cause in report.modes["ctr"].causes}
    assert names <= {"ctr-32-bits", "ctr-tail-kept"}
    assert names
    assert not any(cause.complete for cause in report.modes["ctr"].causes)


def test_unknown_mistake_is_not_given_a_name():
    def answer(case: Case):
        return bytes(255 - byte for byte in oracle.answer(case).data)

    report = compare(FunctionTarget(answer), modes=["ecb"], budget=Budget(cases=20), with_published=False)
    assert report.modes["ecb"].failed
    assert report.modes["ecb"].causes == ()


def test_mistakes_refuse_what_the_reference_refuses():
    """A mistaken mode is still that mode: an impossible nonce is not a case for it."""
    for mode, length in (("gcm", 0), ("ocb", 16), ("ccm", 14)):
        case = Case("", f"{mode}-encrypt", bytes(16), iv=bytes(length))
        with pytest.raises(TwofishKitError):
            oracle.answer(case)
        for mistake in MODE_MISTAKES:
            if mistake.modes == (mode,):
                assert mistake.answer(case) is None, mistake.name
    assert set(AEADS) == set(composed.RIGHT)
