"""Known mistakes of CCM and SIV, of tag checks, and the whole list of the AEADs' mistakes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from twofishkit.errors import InvalidLength, InvalidNonce
from twofishkit.reference import modes
from twofishkit.reference.authenticated import cmac, one_padded, zero_padded
from twofishkit.reference.gf128 import BLOCK, ZERO_BLOCK, dbl, xor
from twofishkit.testing.cases import AEADS, Case, split_key
from twofishkit.testing.mistakes.aead import EAX, GCM, OCB, Check, Core, Eax, Gcm, Ocb, finished
from twofishkit.testing.mistakes.kinds import Mistake, mode_mistakes
from twofishkit.testing.oracle import Expand, ModeFunction, siv_strings


def encoded_aad_length(a: int) -> bytes:
    """Source: SP 800-38C, A.2.2."""
    if a < 2**16 - 2**8:
        return a.to_bytes(2, "big")
    return b"\xff\xfe" + a.to_bytes(4, "big")


@dataclass(frozen=True)
class Ccm:
    """The steps of CCM. Source: NIST SP 800-38C, 6 and A."""

    aad_flag: bool = True
    tag_flag: bool = True
    counter_flag: bool = True
    order: str = "big"
    aad_length: Callable[[int], bytes] = encoded_aad_length
    aad_padded: bool = True
    first_counter: int = 1
    tag_encrypted: bool = True
    hashes_ciphertext: bool = False
    uses_aad: bool = True

    def __call__(self, case: Case, expand: Expand) -> tuple[bytes, bytes]:
        cipher, nonce, aad = expand(case.key), case.iv, case.aad if self.uses_aad else b""
        q = 15 - len(nonce)
        if not 2 <= q <= 8:
            raise InvalidNonce("a CCM nonce is 7 to 13 bytes")
        if len(case.data) >= 1 << (8 * q):
            raise InvalidLength("too long for the length field")
        counter_0 = bytes([q - 1 if self.counter_flag else 0]) + nonce + bytes(q)
        counter = counter_0
        for _ in range(self.first_counter):
            counter = modes.next_counter(counter)
        out = modes.ctr(cipher, counter, case.data)
        hashed = out if case.decrypting is not self.hashes_ciphertext else case.data
        flags = q - 1
        flags += 64 * bool(aad) if self.aad_flag else 0
        flags += 8 * ((case.tag_length - 2) // 2) if self.tag_flag else 0
        B = bytes([flags]) + nonce + len(hashed).to_bytes(q, self.order)  # type: ignore[arg-type]
        if aad:
            before = self.aad_length(len(aad)) + aad
            B += zero_padded(before) if self.aad_padded else before
        Y = ZERO_BLOCK
        for block in modes.blocks(zero_padded(B + zero_padded(hashed))):
            Y = cipher.encrypt_block(xor(block, Y))
        return out, xor(Y, cipher.encrypt_block(counter_0)) if self.tag_encrypted else Y


_CCM: dict[str, tuple[str, Ccm]] = {
    "ccm-flag-without-aad": ("the bit for associated data left out of B_0", Ccm(aad_flag=False)),
    "ccm-flag-without-tag-length": ("the tag length left out of B_0", Ccm(tag_flag=False)),
    "ccm-counter-without-flags": ("the first byte of the counters zero", Ccm(counter_flag=False)),
    "ccm-length-little-endian": ("the length of the message in little-endian order", Ccm(order="little")),
    "ccm-aad-length-little-endian": (
        "the length of the associated data in little-endian order",
        Ccm(aad_length=lambda a: a.to_bytes(2, "little") if a < 0xFF00 else encoded_aad_length(a)),
    ),
    "ccm-aad-length-missing": ("the length of the associated data left out", Ccm(aad_length=lambda a: b"")),
    "ccm-aad-length-2-bytes": (
        "the length of associated data of 65280 bytes and more in 2 bytes",
        Ccm(aad_length=lambda a: (a % 2**16).to_bytes(2, "big")),
    ),
    "ccm-aad-not-padded": (
        "associated data and message joined without padding between",
        Ccm(aad_padded=False),
    ),
    "ccm-data-from-counter-0": ("the data encrypted from counter 0 on in place of 1", Ccm(first_counter=0)),
    "ccm-tag-not-encrypted": ("the tag not encrypted with counter 0", Ccm(tag_encrypted=False)),
    "ccm-hashes-ciphertext": (
        "the ciphertext authenticated in place of the plaintext",
        Ccm(hashes_ciphertext=True),
    ),
    "ccm-aad-ignored": ("the associated data ignored", Ccm(uses_aad=False)),
}


@dataclass(frozen=True)
class Siv:
    """The steps of SIV. Source: RFC 5297, 2."""

    strings: Callable[[Case], Sequence[bytes]] = siv_strings
    keys: Callable[[Case], tuple[bytes, bytes]] = split_key
    double: Callable[[bytes], bytes] = dbl
    first: Callable[[Any], bytes] = lambda cipher: cmac(cipher, ZERO_BLOCK)
    cleared: int = (1 << 63) | (1 << 31)
    counter_bits: int = 128
    xor_at_start: bool = False
    short_doubled: bool = True
    short_padding: Callable[[bytes], bytes] = one_padded

    def _s2v(self, cipher: Any, strings: Sequence[bytes], last: bytes) -> bytes:
        D = self.first(cipher)
        for string in strings:
            D = xor(self.double(D), cmac(cipher, string))
        if len(last) >= BLOCK and self.xor_at_start:
            return cmac(cipher, xor(last[:BLOCK], D) + last[BLOCK:])
        if len(last) >= BLOCK:
            return cmac(cipher, last[:-BLOCK] + xor(last[-BLOCK:], D))
        return cmac(cipher, xor(self.double(D) if self.short_doubled else D, self.short_padding(last)))

    def __call__(self, case: Case, expand: Expand) -> tuple[bytes, bytes]:
        mac_key, ctr_key = self.keys(case)
        mac_cipher, ctr_cipher, strings = expand(mac_key), expand(ctr_key), self.strings(case)
        V = case.tag if case.decrypting else self._s2v(mac_cipher, strings, case.data)
        counter = (int.from_bytes(V, "big") & ~self.cleared).to_bytes(BLOCK, "big")
        out = modes.ctr(ctr_cipher, counter, case.data, self.counter_bits)
        return out, self._s2v(mac_cipher, strings, out if case.decrypting else case.data)


_SIV: dict[str, tuple[str, Siv]] = {
    "siv-bits-not-cleared": ("bits 31 and 63 of the synthetic IV not cleared", Siv(cleared=0)),
    "siv-bit-63-not-cleared": ("bit 63 of the synthetic IV not cleared", Siv(cleared=1 << 31)),
    "siv-bit-31-not-cleared": ("bit 31 of the synthetic IV not cleared", Siv(cleared=1 << 63)),
    "siv-nonce-before-aad": (
        "the nonce before the associated data in S2V",
        Siv(strings=lambda case: siv_strings(case)[::-1]),
    ),
    "siv-nonce-ignored": ("the nonce left out of S2V", Siv(strings=lambda case: [case.aad])),
    "siv-aad-ignored": (
        "the associated data left out of S2V",
        Siv(strings=lambda case: siv_strings(case)[1:]),
    ),
    "siv-empty-aad-left-out": (
        "an empty string of associated data left out of S2V",
        Siv(strings=lambda case: [string for string in siv_strings(case) if string]),
    ),
    "siv-keys-exchanged": ("the two keys exchanged", Siv(keys=lambda case: split_key(case)[::-1])),
    "siv-not-doubled": ("D not doubled in S2V", Siv(double=bytes)),
    "siv-starts-with-zero": (
        "S2V starting with zero in place of CMAC(zero)",
        Siv(first=lambda cipher: ZERO_BLOCK),
    ),
    "siv-xor-at-start": (
        "D XORed to the start of the last string in place of its end",
        Siv(xor_at_start=True),
    ),
    "siv-short-not-doubled": (
        "D not doubled before a last string of less than a block",
        Siv(short_doubled=False),
    ),
    "siv-short-padding-zeros": (
        "zeros in place of 10* after a short last string",
        Siv(short_padding=zero_padded),
    ),
}


# --- all of them, and the checks of tags ------------------------------------------------------------

#: The modes as they should be.
RIGHT: dict[str, Core] = {"gcm": Gcm(), "ocb": Ocb(), "eax": Eax(), "ccm": Ccm(), "siv": Siv()}

_CHECKS: dict[str, tuple[str, Check]] = {
    "tag-not-checked": ("the tag not checked", lambda expected, tag: True),
    "tag-prefix-checked": (
        "only the first 8 bytes of the tag checked",
        lambda expected, tag: expected[:8] == tag[:8],
    ),
    "tag-first-byte-not-checked": (
        "the first byte of the tag not checked",
        lambda expected, tag: len(tag) == len(expected) and expected[1:] == tag[1:],
    ),
    "tag-cut-accepted": (
        "a tag that is cut off accepted, even an empty one",
        lambda expected, tag: expected[: len(tag)] == tag,
    ),
    "tag-never-accepted": ("every tag refused", lambda expected, tag: False),
}


def _checked(check: Check) -> ModeFunction:
    per_mode = {mode: finished(core, check) for mode, core in RIGHT.items()}
    return lambda case, expand: per_mode[case.mode](case, expand)


def _cores(table: dict[str, tuple[str, Any]]) -> dict[str, tuple[str, ModeFunction]]:
    return {name: (title, finished(core)) for name, (title, core) in table.items()}


MISTAKES: tuple[Mistake, ...] = (
    *(
        mistake
        for mode, table in (("gcm", GCM), ("ocb", OCB), ("eax", EAX), ("ccm", _CCM), ("siv", _SIV))
        for mistake in mode_mistakes(mode, _cores(table))
    ),
    *(Mistake(name, title, AEADS, function=_checked(check)) for name, (title, check) in _CHECKS.items()),
)
