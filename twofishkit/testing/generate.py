"""Generated cases: the same for the same seed, on every machine, for ever.

Every operation has a stream of its own without an end, and `cases` takes from them in turn, so that
a small budget still reaches every mode. The first cases of a stream go through the edges: all key
sizes, empty and short messages, tails, carries at every width, pieces, writing in place, tags that
must be refused. All bytes come from SHAKE-256 of seed, operation and index.
"""

import functools
import hashlib
import itertools
from collections.abc import Collection, Iterator
from dataclasses import replace

from twofishkit.reference.gf128 import BLOCK, ZERO_BLOCK, dbl, ghash_multiply, xor
from twofishkit.testing import oracle
from twofishkit.testing.cases import AEADS, CHUNKED, COUNTERS, IN_PLACE, KEY_SIZES, OPERATIONS, Case

#: Lengths of messages, for modes that take any; others round up to what they take.
LENGTHS = (16, 0, 1, 49, 17, 33, 48, 31, 32, 64, 47, 100, 79, 0, 129, 5, 160, 15, 256, 300)
AAD_LENGTHS = (16, 0, 1, 49, 17, 33, 48, 31, 32, 64, 47, 100, 79, 0, 129, 5, 160, 15, 256, 300)
#: Lengths of nonces, where there is a choice.
NONCE_LENGTHS = {
    "gcm": (12, 12, 16, 8, 1, 12, 17, 60, 13),
    "ocb": (12, 12, 15, 1, 13, 8),
    "eax": (16, 12, 0, 17, 1, 32),
    "ccm": (12, 13, 7, 11, 8, 10, 9),
    "siv": (16, 0, 12, 1, 17),
}
TAG_LENGTHS = {
    "gcm": (16, 16, 12, 16, 13),
    "ocb": (16, 16, 8, 12),
    "eax": (16, 16, 8),
    "ccm": (16, 16, 4, 8, 10),
}
#: Blocks before a carry out of this many bits of a counter; None for a random start.
CARRIES = (None, 32, 128, 8, 64, 16, None, 96, 32, 24)
#: Ways to spoil an authenticated message; None leaves it valid.
DAMAGES = (
    None,
    "tag end",
    "tag start",
    None,
    "data",
    "aad",
    "nonce",
    "tag cut",
    "no tag",
    "tag zero",
    "tag middle",
)
#: Where CCM writes the length of associated data in six bytes.
LONG_AAD = 0xFF00


class _Stream:
    """Bytes and small numbers for one case."""

    def __init__(self, seed: int, operation: str, index: int) -> None:
        self._label = f"twofishkit/{seed}/{operation}/{index}/"

    def bytes(self, name: str, length: int) -> bytes:
        return hashlib.shake_256((self._label + name).encode()).digest(length)

    def below(self, name: str, bound: int) -> int:
        return int.from_bytes(self.bytes(name, 8), "big") % bound


def cases(seed: int = 0, operations: Collection[str] = OPERATIONS) -> Iterator[Case]:
    """Endless: the operations in turn, each going through its own stream."""
    wanted = [operation for operation in OPERATIONS if operation in operations]
    for index in itertools.count():
        for operation in wanted:
            yield case(seed, operation, index)


def case(seed: int, operation: str, index: int) -> Case:
    """Case ``index`` of one operation."""
    stream = _Stream(seed, operation, index)
    mode = operation.removesuffix("-encrypt").removesuffix("-decrypt")
    name = f"{operation}/{seed}/{index}"
    key_size = KEY_SIZES[index % 3]
    if mode in ("subkeys", "sbox-key"):
        return Case(name, operation, stream.bytes("key", key_size))
    if mode == "trace":
        return Case(name, operation, stream.bytes("key", key_size), data=stream.bytes("data", BLOCK))
    if mode == "ghash":
        blocks = (1, 2, 3, 0, 5, 8, 17)[index % 7]
        made = Case(name, operation, stream.bytes("key", BLOCK), data=stream.bytes("data", BLOCK * blocks))
        return _cut(made, stream, index)
    key = stream.bytes("key", key_size * (2 if mode in ("xts", "siv") else 1))
    # After the edges, lengths at random as well.
    past = index >= len(LENGTHS) and index % 2
    length = stream.below("length", 400) if past else LENGTHS[index % len(LENGTHS)]
    data = stream.bytes("data", _fitting(mode, length))
    made = Case(name, operation, key, data=data)
    if mode in AEADS:
        made = _with_nonce_and_aad(made, stream, index)
    elif mode not in ("ecb", "cmac"):
        made = replace(made, iv=_iv(mode, stream, index))
    made = _in_place(_cut(made, stream, index), index)
    return _encrypted(made, stream, index) if made.decrypting else made


def _fitting(mode: str, length: int) -> int:
    """The nearest length, upwards, that the mode takes."""
    if mode in ("ecb", "cbc"):
        return -(-length // BLOCK) * BLOCK
    if mode == "xts":
        return length + BLOCK if length < BLOCK else length
    return length


def _iv(mode: str, stream: _Stream, index: int) -> bytes:
    if mode not in COUNTERS:
        return stream.bytes("iv", BLOCK)
    block = _counter(stream, index)
    return block if COUNTERS[mode][1] == "big" else block[::-1]


def _counter(stream: _Stream, index: int) -> bytes:
    """A counter block a few blocks before a carry."""
    block, bits = stream.bytes("iv", BLOCK), CARRIES[index % len(CARRIES)]
    if bits is None:
        return block
    low = (1 << bits) - 1 - stream.below("before", 3)
    return ((int.from_bytes(block, "big") >> bits << bits) | low).to_bytes(BLOCK, "big")


def _with_nonce_and_aad(made: Case, stream: _Stream, index: int) -> Case:
    mode = made.mode
    aad_length = AAD_LENGTHS[index % len(AAD_LENGTHS)]
    if made.operation == "ccm-encrypt" and index == 7:
        aad_length = LONG_AAD
    nonce_lengths, tag_lengths = NONCE_LENGTHS[mode], TAG_LENGTHS.get(mode, (16,))
    made = replace(
        made,
        iv=stream.bytes("nonce", nonce_lengths[index % len(nonce_lengths)]),
        aad=stream.bytes("aad", aad_length),
        # Lengths of tags change more slowly, so that they meet all lengths of nonces.
        tag_length=tag_lengths[index // 2 % len(tag_lengths)],
    )
    if mode in ("gcm", "eax") and index % 4 == 2:
        # A counter that wraps inside the message: the nonce is made for it.
        made = replace(made, iv=_nonce_for(mode, made.key, _wrapping_j0(stream)))
        if len(made.data) < 4 * BLOCK:
            made = replace(made, data=stream.bytes("data", 4 * BLOCK + len(made.data)))
    return made


def _wrapping_j0(stream: _Stream) -> bytes:
    before = stream.below("before", 3)
    return stream.bytes("J0", 12) + ((1 << 32) - 1 - before).to_bytes(4, "big")


@functools.lru_cache(maxsize=256)
def _nonce_for(mode: str, key: bytes, J0: bytes) -> bytes:
    """The 16-byte nonce whose first counter block is J0 (GCM), or is J0 itself (EAX).

    GCM: J0 = (nonce . H ^ length block) . H is solved for the nonce. EAX: OMAC of two blocks.
    """
    cipher = oracle.expand(key)
    if mode == "eax":
        start = cipher.encrypt_block(ZERO_BLOCK)
        # E(E(0) ^ nonce ^ K1), where K1 = 2 . E(0).
        return xor(xor(cipher.decrypt_block(J0), start), dbl(start))
    H = int.from_bytes(cipher.encrypt_block(ZERO_BLOCK), "big")
    inverse = _inverse(H)
    once = ghash_multiply(int.from_bytes(J0, "big"), inverse) ^ (8 * BLOCK)
    return ghash_multiply(once, inverse).to_bytes(BLOCK, "big")


def _inverse(H: int) -> int:
    """H^(2^128 - 2) in the field of GHASH."""
    result, power = None, H
    for _ in range(127):
        power = ghash_multiply(power, power)
        result = power if result is None else ghash_multiply(result, power)
    assert result is not None
    return result


def _cut(made: Case, stream: _Stream, index: int) -> Case:
    """Every fourth case in pieces, some of them empty; whole blocks where the mode wants them."""
    if index % 4 != 1 or made.mode not in CHUNKED or not made.data:
        return made
    unit = BLOCK if made.mode in ("ecb", "cbc", "ghash") else 1
    longest = (1, 5, 16, 17, 40)[index // 4 % 5]
    chunks: list[int] = []
    left = len(made.data)
    while left:
        n = min(left, unit * (1 + stream.below(f"chunk {len(chunks)}", -(-longest // unit))))
        chunks.append(n)
        left -= n
        if stream.below(f"empty {len(chunks)}", 8) == 0:
            chunks.append(0)
    return replace(made, chunks=tuple(chunks))


def _in_place(made: Case, index: int) -> Case:
    return replace(made, in_place=index % 4 == 3 and made.mode in IN_PLACE and not made.chunks)


def _encrypted(made: Case, stream: _Stream, index: int) -> Case:
    """The decryption of what the case would encrypt; an authenticated message perhaps damaged."""
    encryption = replace(made, operation=f"{made.mode}-encrypt", chunks=(), in_place=False)
    answer = oracle.answer(encryption)
    made = replace(made, data=answer.data, tag=answer.tag)
    damage = DAMAGES[index % len(DAMAGES)] if made.mode in AEADS else None
    return damaged(made, damage, stream.below("bit", 8)) if damage else made


def damaged(valid: Case, damage: str, bit: int = 0) -> Case:
    """A message that must be refused: one thing changed in a valid one.

    Parameters
    ----------
    damage : one of `DAMAGES`; what is not there to be changed makes it "tag end"
    bit : which bit of a byte is changed
    """
    named = replace(valid, id=f"{valid.id} {damage}", published=None)
    if damage == "data" and valid.data:
        return replace(named, data=_flipped(valid.data, len(valid.data) // 2, bit))
    if damage == "aad" and valid.aad:
        return replace(named, aad=_flipped(valid.aad, len(valid.aad) // 2, bit))
    if damage == "nonce" and valid.iv:
        return replace(named, iv=_flipped(valid.iv, len(valid.iv) - 1, bit))
    if damage == "tag cut":
        return replace(named, tag=valid.tag[:-1])
    if damage == "no tag":
        return replace(named, tag=b"")
    if damage == "tag zero" and any(valid.tag):
        return replace(named, tag=bytes(len(valid.tag)))
    position = {"tag start": 0, "tag middle": len(valid.tag) // 2}.get(damage, len(valid.tag) - 1)
    return replace(named, tag=_flipped(valid.tag, position, bit))


def _flipped(data: bytes, position: int, bit: int) -> bytes:
    return data[:position] + bytes([data[position] ^ (1 << bit)]) + data[position + 1 :]
