"""Generated and published cases, and the shrinking of those that fail."""

import hashlib
import itertools
from dataclasses import replace

import pytest

import twofishkit as tk
from tests.testing import make_data
from twofishkit.errors import InvalidParameter
from twofishkit.reference.authenticated import cmac, gcm_j0
from twofishkit.testing import generate, oracle, protocol, published
from twofishkit.testing.cases import AEADS, CHUNKED, COUNTERS, MODES, OPERATIONS, Answer, Case
from twofishkit.testing.run import Budget, operations_of
from twofishkit.testing.shrink import shrink

FIRST = 24


def stream(operation: str, count: int = FIRST) -> list[Case]:
    return [generate.case(0, operation, index) for index in range(count)]


# --- generated --------------------------------------------------------------------------------------


def test_same_seed_gives_the_same_cases_on_every_machine():
    """Seeds are written into bug reports: what they mean may not change without notice."""
    counters = [name for name in OPERATIONS if name.startswith("ctr") and not name.startswith("ctr-")]
    others = [name for name in OPERATIONS if name not in counters]
    for operations, expected in ((others, DIGEST), (counters, DIGEST_OF_COUNTERS)):
        first = itertools.islice(generate.cases(7, operations), 500)
        lines = [protocol.request(i, case) for i, case in enumerate(first)]
        assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == expected


def test_operations_come_in_turn():
    first = list(itertools.islice(generate.cases(1), len(OPERATIONS)))
    assert [case.operation for case in first] == list(OPERATIONS)
    only = itertools.islice(generate.cases(1, ["cmac", "ctr-encrypt"]), 4)
    assert [case.operation for case in only] == ["ctr-encrypt", "cmac"] * 2


@pytest.mark.parametrize("operation", OPERATIONS)
def test_streams_reach_all_key_sizes_pieces_and_in_place(operation):
    cases = stream(operation)
    assert len({len(case.key) for case in cases}) == (1 if operation == "ghash" else 3)
    mode = cases[0].mode
    assert any(case.chunks for case in cases) is (mode in CHUNKED)
    assert all(sum(case.chunks) == len(case.data) for case in cases if case.chunks)
    assert all(b"".join(case.pieces) == case.data for case in cases)
    if mode in generate.IN_PLACE:
        assert any(case.in_place and len(case.data) > 32 for case in cases)


@pytest.mark.parametrize("mode", AEADS)
def test_damaged_messages_are_refused_and_the_others_accepted(mode):
    answers = [(case, oracle.answer(case)) for case in stream(f"{mode}-decrypt")]
    for case, answer in answers:
        is_damaged = " " in case.id
        assert answer.status == ("refused" if is_damaged else "ok"), case.id
    assert {case.id.split(" ", 1)[1] for case, _ in answers if " " in case.id} >= {
        "tag end",
        "tag start",
        "tag cut",
        "no tag",
        "data",
        "aad",
    }


@pytest.mark.parametrize("mode", COUNTERS)
def test_counters_wrap_at_every_width(mode):
    starts = [int.from_bytes(case.iv, COUNTERS[mode][1]) for case in stream(f"{mode}-encrypt")]
    blocks = [-(-len(case.data) // 16) for case in stream(f"{mode}-encrypt")]
    for bits in (8, 16, 32, 64, 128):
        wraps = [(start % (1 << bits)) + n > 1 << bits for start, n in zip(starts, blocks, strict=True)]
        assert any(wraps), bits


@pytest.mark.parametrize("mode", COUNTERS)
def test_counters_are_those_of_the_kernels(mode):
    bits, byteorder = COUNTERS[mode]
    for case in stream(f"{mode}-encrypt"):
        ctr = tk.CTR(case.key, case.iv, counter_bits=bits, byteorder=byteorder)
        assert oracle.answer(case).data == ctr.encrypt(case.data)


def test_nonces_are_made_for_counters_that_wrap():
    for operation, first in (("gcm-encrypt", 1), ("eax-encrypt", 0)):
        wrapping = 0
        for case in stream(operation):
            if len(case.iv) == 16:
                cipher = oracle.expand(case.key)
                if operation.startswith("gcm"):
                    J0 = gcm_j0(cipher.encrypt_block(bytes(16)), case.iv)
                else:
                    J0 = cmac(cipher, bytes(16) + case.iv)
                low = int.from_bytes(J0[12:], "big") + first
                wrapping += low + -(-len(case.data) // 16) > 1 << 32
        assert wrapping >= 3


def test_budget():
    assert Budget(seconds=0).deadline() < float("inf")
    assert Budget(cases=3).deadline() == float("inf")
    for wrong in ({"cases": -1}, {"seconds": -0.1}):
        with pytest.raises(InvalidParameter):
            Budget(**wrong)


def test_operations_of_modes():
    assert operations_of(["cmac", "ecb"]) == ("ecb-encrypt", "ecb-decrypt", "cmac")
    assert operations_of(MODES) == OPERATIONS
    with pytest.raises(InvalidParameter, match="'lrw' is not one of"):
        operations_of(["lrw"])


# --- published --------------------------------------------------------------------------------------


def test_packed_vectors_are_those_of_the_repository():
    assert published.document() == make_data.document()


def test_packed_vectors_are_small():
    assert make_data.TARGET.stat().st_size < 500 * 1024


def test_published_cases_have_sources_and_cover_every_mode():
    cases = published.cases()
    assert len(cases) > 3000
    assert {case.mode for case in cases} == set(MODES) - {"sbox-key", "trace"} - set(COUNTERS) | {"ctr"}
    assert all(case.source for case in cases)
    assert len({case.id for case in cases}) == len(cases)
    assert sum(case.published.status == "refused" for case in cases) > 300


def test_reference_agrees_with_published_cases():
    for case in published.cases()[::7]:
        assert oracle.answer(case).agrees(case.published), case.id


# --- shrinking --------------------------------------------------------------------------------------


def shrunk(case: Case, fails) -> tuple[Case, int]:
    """Shrink for a target that answers wrongly where ``fails`` says so."""

    def ask(asked: Case) -> Answer:
        return Answer(b"wrong") if fails(asked) else oracle.answer(asked)

    smaller, got, questions = shrink(case, ask(case), ask)
    assert got == Answer(b"wrong")
    assert fails(smaller)
    return smaller, questions


def test_message_shrinks_to_what_matters():
    case = replace(generate.case(0, "ctr-encrypt", 18), chunks=(100, 156))
    smaller, questions = shrunk(case, lambda asked: len(asked.data) > 16)
    assert smaller.data == bytes(17)
    assert smaller.key == bytes(16)
    assert smaller.iv == bytes(16)
    assert smaller.chunks == ()
    assert questions <= 150


def test_one_byte_of_the_key_is_left():
    smaller, _ = shrunk(generate.case(0, "ecb-encrypt", 0), lambda asked: asked.key[5] & 0x40 == 0x00)
    assert smaller.key == bytes(16)
    case = replace(generate.case(0, "ecb-encrypt", 0), key=bytes(range(1, 17)))
    smaller, _ = shrunk(case, lambda asked: asked.key[5] != 0)
    assert sum(map(bool, smaller.key)) == 1
    assert smaller.key[5] == 1


def test_key_size_that_matters_stays():
    smaller, _ = shrunk(generate.case(0, "cbc-encrypt", 5), lambda asked: len(asked.key) == 32)
    assert smaller.key == bytes(32)
    assert smaller.data == b""


def test_in_place_and_pieces_stay_where_they_matter():
    smaller, _ = shrunk(generate.case(0, "ocb-encrypt", 11), lambda asked: asked.in_place)
    assert smaller.in_place
    assert smaller.data == smaller.aad == b""
    smaller, _ = shrunk(generate.case(0, "ctr-encrypt", 9), lambda asked: len(asked.chunks) > 1)
    assert len(smaller.chunks) == 2
    assert sum(smaller.chunks) == len(smaller.data)


def test_decryption_shrinks_through_its_plaintext():
    case = generate.case(0, "gcm-decrypt", 3)
    assert oracle.answer(case).status == "ok"
    smaller, _ = shrunk(case, lambda asked: oracle.answer(asked).status == "ok")
    assert smaller.data == b""
    assert oracle.answer(smaller) == Answer(b"")


def test_refused_message_stays_refused():
    case = generate.case(0, "eax-decrypt", 4)
    smaller, _ = shrunk(case, lambda asked: True)
    assert oracle.answer(smaller).status == "refused"
    assert smaller.data == b""


def test_budget_of_questions_is_kept():
    case = generate.case(0, "ctr-encrypt", 18)

    def ask(asked: Case) -> Answer:
        counted.append(asked)
        return Answer(b"wrong")

    counted: list[Case] = []
    _, _, questions = shrink(case, Answer(b"wrong"), ask, budget=2)
    assert questions == len(counted) == 2


#: Of the first 500 requests of seed 7: those of other counters than CTR's own came later.
DIGEST = "5d5fd3f3faeb0d45f65a509c463ea8a1895dc95aad6652cb5381468b404bbaff"
DIGEST_OF_COUNTERS = "31c82e679b2621cc9502a819d8e6dac8f1b0f400c46606273ead2ef9b9c89aca"
