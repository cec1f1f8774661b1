"""Lines to cases and answers, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofishkit.reference import RoundState
from twofishkit.testing import protocol
from twofishkit.testing.cases import OPERATIONS, Answer, Case

fields = st.binary(max_size=40)
words = st.integers(0, 2**32 - 1)
chunks = st.lists(st.integers(0, 300), max_size=5).map(tuple)
cases = st.builds(
    Case,
    st.integers(1, 10**9).map(str),
    st.sampled_from(OPERATIONS),
    fields,
    fields,
    fields,
    fields,
    fields,
    st.integers(4, 16),
    chunks,
    st.booleans(),
)
states = st.builds(RoundState, st.integers(-1, 17), st.tuples(words, words, words, words))
rounds = st.builds(RoundState, st.integers(1, 16), st.tuples(words, words, words, words), words, words)
answers = st.builds(Answer, fields, fields, states=st.lists(st.one_of(states, rounds), max_size=4).map(tuple))


@given(cases)
def test_requests_come_back(case: Case):
    line = protocol.request(int(case.id), case)
    assert line.isascii()
    assert "\n" not in line
    assert protocol.parse_request(line) == (case.id, case)


@given(answers, st.integers(1, 10**9))
def test_answers_come_back(answer: Answer, number: int):
    assert protocol.parse_reply(number, protocol.reply(str(number), answer).splitlines()) == answer


@pytest.mark.parametrize("status", ["refused", "unsupported", "error"])
def test_statuses_come_back(status):
    answer = Answer(status=status, message="because" if status != "refused" else "")
    assert protocol.parse_reply(3, protocol.reply("3", answer).splitlines()) == answer


def test_line_is_as_documented():
    case = Case("x", "gcm-encrypt", b"\x01" * 16, b"\x02", b"", b"\x03", b"", 12, (1, 0), False)
    assert protocol.request(7, case) == f"7 gcm-encrypt {'01' * 16} 02 - 03 - taglen=12 chunks=1+0"
    in_place = Case("x", "cbc-decrypt", b"\x01" * 16, b"\x02" * 16, in_place=True)
    assert protocol.request(8, in_place) == f"8 cbc-decrypt {'01' * 16} {'02' * 16} - - - inplace"


def test_unknown_option_is_no_case():
    assert protocol.parse_request("5 ctr-encrypt 00 00 - - - counter=32") == ("5", None)


@pytest.mark.parametrize("line", ["1 ecb-encrypt 00", "1 ecb-encrypt 0 - - - -", "1 ecb-encrypt zz - - - -"])
def test_malformed_requests(line):
    with pytest.raises(protocol.MalformedLine):
        protocol.parse_request(line)


def test_output_that_ends_early():
    with pytest.raises(protocol.MalformedLine, match="ends before an answer"):
        protocol.parse_reply(1, ["1 round 0 0 0 0 0", "# only comments"])
