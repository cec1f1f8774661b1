"""Cases and answers: one question to a Twofish, and what came back.

Conventions, the same for every target
--------------------------------------
- An operation is ``MODE-encrypt``, ``MODE-decrypt`` for a mode of `CIPHER_MODES`, or one of
  `SINGLE_OPERATIONS`. ``xts`` and ``siv`` take two keys joined.
- ``iv`` is the IV, the first counter block, the XTS tweak (16 bytes) or the nonce.
- ``ctr`` counts all 128 bits of its block, big-endian. Other counters are modes of their own, see `COUNTERS`:
  an implementation that lacks them lacks a mode, and is right all the same.
- ``cmac`` gives the 16-byte tag as its data. ``ghash`` takes H as its key and whole blocks as data.
- ``siv`` always has one string of associated data, even an empty one; an empty ``iv`` is no nonce.
- ``subkeys`` gives K[0] ... K[39], ``sbox-key`` S_0, S_1, ... (S_i from key bytes 8i to 8i+7), each word as
  the number it is: most significant byte first.
- ``trace`` encrypts one block and tells the round states; see `twofishkit.reference.RoundState`.
"""

from dataclasses import dataclass, field
from typing import Literal

from twofishkit.reference import RoundState

AEADS = ("gcm", "ocb", "eax", "ccm", "siv")
#: CTR's forms: the bits that count, and their byte order. "little" are the first bytes of the block, least
#: significant first; "big" the last ones, as in NIST SP 800-38A. The rest of the block never changes.
COUNTERS: dict[str, tuple[int, Literal["big", "little"]]] = {
    "ctr": (128, "big"),
    "ctr64": (64, "big"),
    "ctr32": (32, "big"),
    "ctrle": (128, "little"),
    "ctr64le": (64, "little"),
    "ctr32le": (32, "little"),
}
CIPHER_MODES = ("ecb", "cbc", "cfb", "cfb8", "ofb", *COUNTERS, "xts", *AEADS)
SINGLE_OPERATIONS = ("subkeys", "sbox-key", "trace", "cmac", "ghash")
#: The first part of every operation, in the order in which reports list them.
MODES = ("subkeys", "sbox-key", "trace", *CIPHER_MODES, "cmac", "ghash")
OPERATIONS = tuple(
    operation
    for mode in MODES
    for operation in ([mode] if mode in SINGLE_OPERATIONS else [f"{mode}-encrypt", f"{mode}-decrypt"])
)

#: Bytes of a Twofish key.
KEY_SIZES = (16, 24, 32)
#: Modes that can be fed piece by piece, and modes that can write over their input.
CHUNKED = ("ecb", "cbc", "cfb", "cfb8", "ofb", *COUNTERS, "gcm", "ocb", "eax", "cmac", "ghash")
IN_PLACE = CIPHER_MODES

Status = Literal["ok", "refused", "unsupported", "error", "crashed", "timeout", "malformed"]


@dataclass(frozen=True)
class Case:
    """One question.

    Attributes
    ----------
    id : what tests and reports call it
    operation : one of `OPERATIONS`
    tag_length : bytes of tag that an AEAD makes, or accepts
    chunks : lengths of the pieces that ``data`` is fed in; empty for all at once
    in_place : the output is written over the input
    published : the answer that somebody else states; otherwise the reference is asked
    source : who states it
    """

    id: str
    operation: str
    key: bytes = field(repr=False)
    iv: bytes = b""
    aad: bytes = b""
    data: bytes = b""
    tag: bytes = b""
    tag_length: int = 16
    chunks: tuple[int, ...] = ()
    in_place: bool = False
    published: "Answer | None" = None
    source: str = ""

    @property
    def mode(self) -> str:
        """The operation without its direction."""
        return self.operation.removesuffix("-encrypt").removesuffix("-decrypt")

    @property
    def decrypting(self) -> bool:
        return self.operation.endswith("-decrypt")

    @property
    def pieces(self) -> tuple[bytes, ...]:
        """``data`` as it is fed in."""
        if not self.chunks:
            return (self.data,)
        ends = [sum(self.chunks[: i + 1]) for i in range(len(self.chunks))]
        return tuple(self.data[end - n : end] for end, n in zip(ends, self.chunks, strict=True))


@dataclass(frozen=True)
class Answer:
    """What a target, or the reference, made of a case.

    ``status`` is "ok", "refused" (the tag does not match), or why there is no answer:
    "unsupported", "error", "crashed", "timeout" or "malformed", with a ``message``.
    """

    data: bytes = b""
    tag: bytes = b""
    status: Status = "ok"
    message: str = ""
    states: tuple[RoundState, ...] = ()

    def agrees(self, expected: "Answer") -> bool:
        """Whether this is the answer that was expected. Round states count only where both tell them."""
        if (self.status, self.data, self.tag) != (expected.status, expected.data, expected.tag):
            return False
        return not (self.states and expected.states) or self.states == expected.states


REFUSED = Answer(status="refused")
UNSUPPORTED = Answer(status="unsupported")


def split_key(case: Case) -> tuple[bytes, bytes]:
    """The two keys of XTS and SIV."""
    half = len(case.key) // 2
    return case.key[:half], case.key[half:]


def key_bits(case: Case) -> int:
    """Size of one Twofish key."""
    return 8 * len(case.key) // (2 if case.mode in ("xts", "siv") else 1)
