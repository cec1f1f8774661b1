"""Programs, libraries and functions as targets: right ones, wrong ones, and those that misbehave."""

import sys
import time

import pytest

from tests.testing.build import built
from twofishkit.errors import InvalidParameter, InvalidTag
from twofishkit.reference import expand_key
from twofishkit.testing import oracle, report
from twofishkit.testing.cases import Answer, Case
from twofishkit.testing.run import Budget, compare
from twofishkit.testing.targets import BlockTarget, CommandTarget, FunctionTarget, LibraryTarget, installed
from twofishkit.testing.targets.peer import NAMES

BLOCK = Case("zero", "ecb-encrypt", bytes(16), data=bytes(16))
RIGHT = oracle.answer(BLOCK)


def compared(mistake: int, **options):
    target = CommandTarget([str(built(mistake))], time_limit=options.pop("time_limit", 10))
    try:
        return compare(target, budget=Budget(cases=150), with_published=False, **options)
    finally:
        target.close()


def test_right_program_agrees_in_all_it_has():
    result = compared(0)
    assert result.exit_code == 0
    assert result.generated == 150
    supported = {mode for mode, each in result.modes.items() if each.passed}
    assert supported == {"subkeys", "trace", "ecb", "cbc", "ctr"}


@pytest.mark.parametrize(
    ("mistake", "mode", "name"),
    [
        (1, "ecb", "rs-words-reversed"),
        (2, "ecb", "pht-without-2"),
        (3, "ecb", "swap-not-undone"),
        (4, "ctr", "ctr-32-bits"),
        (5, "cbc", "cbc-decrypt-in-place"),
    ],
)
def test_mistaken_program_is_named(mistake: int, mode: str, name: str):
    result = compared(mistake, modes=("trace", "subkeys", mode))
    assert result.exit_code == 1
    (cause,) = result.modes[mode].causes
    assert [each.name for each in cause.mistakes] == [name]


@pytest.mark.parametrize(
    ("mistake", "difference"),
    [
        (1, "round 1, t0: expected "),
        (2, "round 1, word 3: expected "),
        (3, "after the output whitening, word 0"),
    ],
)
def test_first_differing_round_and_word_are_named(mistake: int, difference: str):
    result = compared(mistake, modes=("trace", "ecb"))
    assert any(note.startswith(difference) for note in result.modes["ecb"].notes)
    assert f"first difference: {difference}" in report.text(result)


def test_crash_is_reported_and_the_program_started_again():
    target = CommandTarget([str(built(6))])
    crashed = target.answer(Case("", "ecb-encrypt", bytes(32), data=bytes(16)))
    again = target.answer(BLOCK)
    target.close()
    assert crashed.status == "crashed"
    assert crashed.message.startswith("ended ")
    assert again == RIGHT


def test_crashing_program_is_shrunk_and_judged():
    result = compared(6, modes=("ecb",))
    smallest = result.modes["ecb"].smallest
    assert smallest is not None
    assert smallest.got.status == "crashed"
    assert smallest.case.key == bytes(32)
    assert smallest.case.data == b""
    assert result.exit_code == 1


def test_endless_loop_is_cut_off():
    target = CommandTarget([str(built(7))], time_limit=0.2)
    started = time.monotonic()
    late = target.answer(Case("", "ecb-encrypt", bytes(24), data=bytes(16)))
    again = target.answer(BLOCK)
    target.close()
    assert late == Answer(status="timeout", message="no answer within 0.2 s")
    assert again == RIGHT
    assert time.monotonic() - started < 60


def test_program_that_never_answers_is_left_alone():
    result = compared(7, modes=("cbc",), time_limit=0.05)
    cbc = result.modes["cbc"]
    assert cbc.given_up
    # Three time-outs for each direction.
    assert cbc.failed == 6
    assert "given up after crashes or time-outs" in report.text(result)


def test_nonsense_is_malformed():
    result = compared(8)
    assert result.exit_code == 2
    text = report.text(result)
    assert "malformed: 'banana' is not hex" in text
    assert "NOTHING COMPARED" in text


@pytest.mark.parametrize(
    ("code", "status", "message"),
    [
        ("print('1 ok')", "malformed", "not by 0 fields"),
        ("print('2 ok 00')", "malformed", "does not start with 1"),
        ("print('1 ok 0')", "malformed", "'0' is not hex"),
        ("print('1 round 1 0 0')", "malformed", "not 3 fields"),
        ("print('1 maybe')", "malformed", "'maybe' is none of"),
        ("print('# a comment\\n1 error no memory')", "error", "no memory"),
        ("print('1 unsupported')", "unsupported", ""),
        ("print('1 refused')", "refused", ""),
        ("import sys; sys.exit('no such key')", "crashed", "exit code 1 before it answered: no such key"),
    ],
)
def test_what_a_program_may_answer(code: str, status: str, message: str):
    target = CommandTarget([sys.executable, "-c", f"input()\n{code}"])
    answer = target.answer(BLOCK)
    target.close()
    assert answer.status == status
    assert message in answer.message


@pytest.mark.parametrize("command", ["", "./no-such-program", ["no-such-program-at-all", "x"]])
def test_program_that_cannot_be_started(command):
    with pytest.raises(InvalidParameter, match=r"empty|cannot start"):
        CommandTarget(command)


def test_time_limit_is_positive():
    with pytest.raises(InvalidParameter, match="more than 0 seconds"):
        CommandTarget([sys.executable], time_limit=0)


@pytest.mark.skipif(sys.platform == "win32", reason="the library exports nothing there without declarations")
class TestLibraries:
    def test_with_the_line_protocol(self):
        result = compare(LibraryTarget(built(0, library=True)), budget=Budget(cases=60), with_published=False)
        assert result.exit_code == 0
        assert result.modes["trace"].passed

    def test_with_functions_for_blocks(self):
        path = built(0, library=True)
        target = LibraryTarget(path, encrypt="twofish_encrypt", decrypt="twofish_decrypt")
        result = compare(target, budget=Budget(cases=40), with_published=False)
        assert result.exit_code == 0
        assert {mode for mode, each in result.modes.items() if each.passed} == {"ecb"}

    def test_mistake_is_named(self):
        target = LibraryTarget(built(3, library=True), encrypt="twofish_encrypt")
        result = compare(target, modes=("ecb",), budget=Budget(cases=20), with_published=False)
        assert [each.mistakes[0].name for each in result.modes["ecb"].causes] == ["swap-not-undone"]

    def test_missing_function(self):
        with pytest.raises(InvalidParameter, match="has no function nothing"):
            LibraryTarget(built(0, library=True), encrypt="nothing")

    def test_not_a_library(self, tmp_path):
        (tmp_path / "empty.so").write_bytes(b"")
        with pytest.raises(InvalidParameter, match="cannot load"):
            LibraryTarget(tmp_path / "empty.so")


def test_function_may_return_bytes_pairs_or_answers():
    for given, expected in [
        (b"ab", Answer(b"ab")),
        (bytearray(b"ab"), Answer(b"ab")),
        ((b"ab", b"t"), Answer(b"ab", b"t")),
        (Answer(status="refused"), Answer(status="refused")),
    ]:
        assert FunctionTarget(lambda case, given=given: given).answer(BLOCK) == expected


def test_exceptions_of_functions_are_answers():
    def raising(error: Exception):
        def function(case: Case) -> bytes:
            raise error

        return FunctionTarget(function).answer(BLOCK)

    assert raising(InvalidTag("no")).status == "refused"
    assert raising(NotImplementedError()).status == "unsupported"
    assert raising(ZeroDivisionError("by zero")) == Answer(
        status="error", message="ZeroDivisionError: by zero"
    )


def test_bare_block_cipher():
    def encrypt(key: bytes, block: bytes) -> bytes:
        return expand_key(key).encrypt_block(block)

    result = compare(BlockTarget(encrypt), budget=Budget(cases=20), with_published=False)
    assert result.exit_code == 0
    assert result.modes["ecb"].passed == 20
    assert result.target == "encrypt"


@pytest.mark.parametrize("name", NAMES)
def test_installed_twofishes_agree(name: str):
    try:
        target = installed(name)
    except InvalidParameter as error:
        pytest.skip(str(error))
    result = compare(target, seed=11, budget=Budget(cases=150), with_published=False)
    assert result.failed == 0
    assert result.generated == 150
    assert name.split()[0] in result.target


@pytest.mark.parametrize(
    ("name", "modes"),
    [
        ("botan", ("ctr64", "ctr32")),
        ("oxifish", ("ctr64", "ctr32")),
        ("libtomcrypt", ("ctr64", "ctr32", "ctrle", "ctr64le", "ctr32le")),
    ],
)
def test_other_counters_are_those_of_installed_twofishes(name: str, modes: tuple[str, ...]):
    try:
        target = installed(name)
    except InvalidParameter as error:
        pytest.skip(str(error))
    result = compare(target, modes=modes, budget=Budget(cases=20 * len(modes)), with_published=False)
    assert result.failed == 0
    assert all(each.passed >= 15 for each in result.modes.values())


def test_missing_twofish_is_told_with_what_there_is():
    with pytest.raises(InvalidParameter, match="'rijndael' is not installed; other Twofishes found here"):
        installed("rijndael")
