"""Known mistakes of CTR with other counters than 128 bits, big-endian: where each goes wrong by itself."""

from collections.abc import Iterator
from typing import Literal

from twofishkit.reference.gf128 import BLOCK, xor
from twofishkit.reference.modes import blocks
from twofishkit.testing.cases import COUNTERS, Case
from twofishkit.testing.mistakes.kinds import Mistake, mode_mistakes
from twofishkit.testing.mistakes.modes import counting, each_piece_alone, keystream_rest_dropped
from twofishkit.testing.oracle import Expand, ModeFunction

Order = Literal["big", "little"]
_NAMES: dict[Order, str] = {"big": "big-endian", "little": "little-endian"}


def _at_the_other_end(counter_bits: int, byteorder: Order) -> ModeFunction:
    """The bytes that count are the last ones of the block where they should be the first, or the first."""
    n = counter_bits // 8

    def run(case: Case, expand: Expand) -> bytes:
        cipher, block, result = expand(case.key), case.iv, b""
        field = slice(0, n) if byteorder == "big" else slice(BLOCK - n, BLOCK)
        for part in blocks(case.data):
            result += xor(part, cipher.encrypt_block(block))
            count = (int.from_bytes(block[field], byteorder) + 1) % (1 << counter_bits)
            block = block[: field.start] + count.to_bytes(n, byteorder) + block[field.stop :]
        return result

    return run


def _of(mode: str) -> Iterator[tuple[str, tuple[str, ModeFunction]]]:
    counter_bits, byteorder = COUNTERS[mode]
    other: Order = "little" if byteorder == "big" else "big"
    yield "other-byte-order", (f"a {_NAMES[other]} counter", counting(counter_bits, little=other == "little"))
    little = byteorder == "little"
    if counter_bits < 128:
        title = f"a carry beyond the {counter_bits} bits of the counter"
        yield "carries-on", (title, counting(128, little=little))
        wrong, right = ("last", "first") if little else ("first", "last")
        title = f"the counter in the {wrong} bytes of the block in place of the {right}"
        yield "at-the-other-end", (title, _at_the_other_end(counter_bits, byteorder))
    lowest = "first" if little else "last"
    for bits in (8, 16, 32, 64):
        if bits < counter_bits:
            title = f"no carry beyond the {lowest} {bits} bits of the counter"
            yield f"{bits}-bits", (title, counting(bits, little=little))
    yield "pieces-restart", ("every piece started again from the IV", each_piece_alone)
    yield (
        "rest-dropped",
        ("the keystream left in a block dropped at the end of each piece", keystream_rest_dropped),
    )


MISTAKES: tuple[Mistake, ...] = tuple(
    mistake
    for mode in COUNTERS
    if mode != "ctr"  # its own are in `twofishkit.testing.mistakes.modes`
    for mistake in mode_mistakes(mode, {f"{mode}-{name}": function for name, function in _of(mode)})
)
