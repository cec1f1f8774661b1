"""The smallest failing input that a budget of questions finds."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from twofishkit.errors import TwofishKitError
from twofishkit.reference.gf128 import BLOCK
from twofishkit.testing import oracle
from twofishkit.testing.cases import AEADS, KEY_SIZES, Answer, Case

#: Questions to the target, unless asked otherwise.
BUDGET = 150

#: What the target answers to a case.
Ask = Callable[[Case], Answer]


def shrink(case: Case, got: Answer, ask: Ask, budget: int = BUDGET) -> tuple[Case, Answer, int]:
    """(smaller case, what the target answers to it, questions asked).

    A change is kept if the target still fails, and in the same way: a crash stays a crash, a wrong
    output a wrong output. Changes make messages shorter, pieces fewer, bytes zero; a message to be
    decrypted is made again from the smaller plaintext.
    """
    asked, changed = 0, True
    while changed:
        changed = False
        for candidate in _smaller(case):
            if asked >= budget:
                return case, got, asked
            expected = _expected(candidate)
            if expected is None:
                continue
            asked += 1
            answer = ask(candidate)
            if answer.status == got.status and not answer.agrees(expected):
                case, got, changed = candidate, answer, True
                break
    return case, got, asked


def _expected(case: Case) -> Answer | None:
    try:
        return oracle.answer(case)
    except TwofishKitError:
        return None


def _smaller(case: Case) -> Iterator[Case]:
    """Simpler cases, the boldest changes first; each has another question in it."""
    case = replace(case, published=None, source="")
    if case.in_place:
        yield replace(case, in_place=False)
    if case.chunks:
        yield replace(case, chunks=())
    valid = case.decrypting and (case.mode not in AEADS or oracle.answer(case).status == "ok")
    if valid:
        yield from _through_the_plaintext(case)
        return
    for changed in _simpler_fields(case):
        # A message that must be refused stays one, whatever else becomes of it.
        if not case.decrypting or _expected(changed) == Answer(status="refused"):
            yield changed


def _through_the_plaintext(case: Case) -> Iterator[Case]:
    """A valid ciphertext is made smaller by encrypting less."""
    plaintext = oracle.answer(case).data
    encryption = replace(case, operation=f"{case.mode}-encrypt", data=plaintext, tag=b"", chunks=())
    for simpler in _simpler_fields(encryption):
        answer = _expected(simpler)
        if answer is not None:
            cut = _cut(case.chunks, len(answer.data))
            yield replace(simpler, operation=case.operation, data=answer.data, tag=answer.tag, chunks=cut)


def _simpler_fields(case: Case) -> Iterator[Case]:
    for data in _shorter(case.data):
        yield replace(case, data=data, chunks=_cut(case.chunks, len(data)))
    for aad in _shorter(case.aad):
        yield replace(case, aad=aad)
    smallest = bytes(KEY_SIZES[0] * (2 if case.mode in ("xts", "siv") else 1))
    if case.mode != "ghash" and len(case.key) > len(smallest):
        yield replace(case, key=smallest)
    if len(case.chunks) > 2:
        yield replace(case, chunks=(case.chunks[0], sum(case.chunks[1:])))
    for name in ("key", "iv", "data", "aad"):
        value: bytes = getattr(case, name)
        for simpler in _more_zeros(value):
            yield replace(case, **{name: simpler})  # type: ignore[arg-type]
    if case.tag_length != 16 and not case.decrypting:
        yield replace(case, tag_length=16)


def _shorter(data: bytes) -> Iterator[bytes]:
    n = len(data)
    lengths = (0, 1, BLOCK, n // 2 // BLOCK * BLOCK, n // BLOCK * BLOCK, n - BLOCK, n - 1)
    for length in dict.fromkeys(lengths):
        if 0 <= length < n:
            yield data[:length]


def _more_zeros(value: bytes) -> Iterator[bytes]:
    """All zero; then half of it; then all but one byte of what is left."""
    n = len(value)
    if not any(value):
        return
    yield bytes(n)
    if n > 1:
        half = n // 2
        for zeroed in (bytes(half) + value[half:], value[:half] + bytes(n - half)):
            if zeroed != value:
                yield zeroed
    positions = [i for i in range(n) if value[i]]
    if len(positions) > 1:
        for i in positions[:8]:
            yield value[:i] + b"\0" + value[i + 1 :]
    elif value[positions[0]] not in (1, 0x80):
        for byte in (1, 0x80):
            yield bytes([*value[: positions[0]], byte, *value[positions[0] + 1 :]])


def _cut(chunks: tuple[int, ...], length: int) -> tuple[int, ...]:
    """The pieces of a shorter message."""
    if not chunks or not length:
        return ()
    kept: list[int] = []
    for n in chunks:
        kept.append(min(n, length - sum(kept)))
        if sum(kept) == length:
            return tuple(kept)
    return tuple([*kept, length - sum(kept)])
