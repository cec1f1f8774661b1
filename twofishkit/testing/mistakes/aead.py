"""Known mistakes of GCM, OCB and EAX.

Each mode is written once more from the reference's pieces, with its steps as parameters; with the
defaults it is the mode itself (the kit's tests compare).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from twofishkit.errors import InvalidNonce, InvalidTag
from twofishkit.reference import modes
from twofishkit.reference.authenticated import cmac, ntz, one_padded, zero_padded
from twofishkit.reference.gf128 import BLOCK, ZERO_BLOCK, dbl, ghash, multiply_by_alpha, xor
from twofishkit.testing.cases import Case
from twofishkit.testing.mistakes.macs import GHASHES
from twofishkit.testing.mistakes.modes import keystream_rest_dropped
from twofishkit.testing.oracle import Expand, ModeFunction

#: One mode: (output, full tag) of a case, whatever tag came with it.
Core = Callable[[Case, Expand], tuple[bytes, bytes]]
#: Whether the tag that came with a case will do.
Check = Callable[[bytes, bytes], bool]


def _whole_tag(expected: bytes, tag: bytes) -> bool:
    return tag == expected


def finished(core: Core, check: Check = _whole_tag) -> ModeFunction:
    """A mode from its core: tags cut on encryption and checked on decryption."""

    def run(case: Case, expand: Expand) -> bytes | tuple[bytes, bytes]:
        out, tag = core(case, expand)
        expected = tag[: case.tag_length]
        if not case.decrypting:
            return out, expected
        if not check(expected, case.tag):
            raise InvalidTag("mistaken or not, this tag does not match")
        return out

    return run


# --- GCM --------------------------------------------------------------------------------------------


def _bits(data: bytes) -> int:
    return 8 * len(data)


def _two_lengths(a: int, b: int) -> bytes:
    return a.to_bytes(8, "big") + b.to_bytes(8, "big")


@dataclass(frozen=True)
class Gcm:
    """The steps of GCM. Source: NIST SP 800-38D, 7."""

    ghash: Callable[[bytes, bytes], bytes] = ghash
    long_nonce: Callable[["Gcm", bytes, bytes], bytes] = lambda self, H, nonce: self.ghash(
        H, zero_padded(nonce) + bytes(8) + _bits(nonce).to_bytes(8, "big")
    )
    short_nonce: Callable[["Gcm", bytes, bytes], bytes] = lambda self, H, nonce: nonce + b"\0\0\0\1"
    lengths: Callable[[bytes, bytes], bytes] = lambda aad, ciphertext: _two_lengths(
        _bits(aad), _bits(ciphertext)
    )
    first_counter: Callable[[bytes], bytes] = lambda J0: modes.next_counter(J0, 32)
    counter_bits: int = 32
    pad: Callable[[bytes], bytes] = zero_padded
    mask: Callable[[Any, bytes], bytes] = lambda cipher, J0: cipher.encrypt_block(J0)
    uses_aad: bool = True
    hashes_plaintext: bool = False
    hashes_output_in_place: bool = False
    pieces_padded: bool = False
    rest_dropped: bool = False

    def __call__(self, case: Case, expand: Expand) -> tuple[bytes, bytes]:
        cipher = expand(case.key)
        H = cipher.encrypt_block(ZERO_BLOCK)
        if not case.iv:
            raise InvalidNonce("a GCM nonce has at least 1 byte")
        J0 = (self.short_nonce if len(case.iv) == 12 else self.long_nonce)(self, H, case.iv)
        first = self.first_counter(J0)
        if self.rest_dropped:
            counting = replace(case, operation="ctr-encrypt", iv=first)
            out = keystream_rest_dropped(counting, expand)
        else:
            out = modes.ctr(cipher, first, case.data, self.counter_bits)
        hashed = case.data if case.decrypting else out
        if self.hashes_plaintext:
            hashed = out if case.decrypting else case.data
        if self.hashes_output_in_place and case.in_place and case.decrypting:
            hashed = out
        padded = self.pad(hashed)
        if self.pieces_padded and case.chunks:
            pieces = replace(case, data=hashed).pieces
            padded = b"".join(map(zero_padded, pieces))
        aad = case.aad if self.uses_aad else b""
        joined = self.pad(aad) + padded + self.lengths(aad, hashed)
        # Without padding GHASH itself fills up the last block.
        S = self.ghash(H, zero_padded(joined))
        return out, xor(S, self.mask(cipher, J0))


GCM: dict[str, tuple[str, Gcm]] = {
    **{
        f"gcm-ghash-{name}": (f"{title} in GHASH", Gcm(ghash=function))
        for name, (title, function) in GHASHES.items()
    },
    "gcm-lengths-in-bytes": (
        "the block of lengths in bytes",
        Gcm(lengths=lambda aad, ciphertext: _two_lengths(len(aad), len(ciphertext))),
    ),
    "gcm-lengths-exchanged": (
        "the two lengths exchanged",
        Gcm(lengths=lambda aad, ciphertext: _two_lengths(_bits(ciphertext), _bits(aad))),
    ),
    "gcm-lengths-little-endian": (
        "the two lengths in little-endian order",
        Gcm(
            lengths=lambda aad, ciphertext: (
                _bits(aad).to_bytes(8, "little") + _bits(ciphertext).to_bytes(8, "little")
            )
        ),
    ),
    "gcm-lengths-missing": ("the block of lengths left out", Gcm(lengths=lambda aad, ciphertext: b"")),
    "gcm-length-without-aad": (
        "zero as the length of the associated data",
        Gcm(lengths=lambda aad, ciphertext: _two_lengths(0, _bits(ciphertext))),
    ),
    "gcm-long-nonce-cut": (
        "J0 from the first 12 bytes of long nonces, short ones filled up with zeros",
        Gcm(long_nonce=lambda self, H, nonce: nonce[:12].ljust(12, b"\0") + b"\0\0\0\1"),
    ),
    "gcm-long-nonce-length-in-bytes": (
        "J0 of nonces that are not 12 bytes from their length in bytes",
        Gcm(long_nonce=lambda self, H, nonce: ghash(H, zero_padded(nonce) + len(nonce).to_bytes(16, "big"))),
    ),
    "gcm-long-nonce-without-length": (
        "J0 of nonces that are not 12 bytes without the block of their length",
        Gcm(long_nonce=lambda self, H, nonce: ghash(H, zero_padded(nonce))),
    ),
    "gcm-16-byte-nonce-as-j0": (
        "a nonce of 16 bytes taken for J0 itself",
        Gcm(
            long_nonce=lambda self, H, nonce: (
                nonce if len(nonce) == 16 else ghash(H, zero_padded(nonce) + _bits(nonce).to_bytes(16, "big"))
            )
        ),
    ),
    "gcm-short-nonce-hashed": (
        "J0 of a 12-byte nonce by GHASH too",
        Gcm(short_nonce=lambda self, H, nonce: self.long_nonce(self, H, nonce)),
    ),
    "gcm-j0-ends-in-0": (
        "J0 of a 12-byte nonce ending in 0 in place of 1",
        Gcm(short_nonce=lambda self, H, nonce: nonce + bytes(4)),
    ),
    "gcm-nonce-ignored": (
        "a nonce of zeros in place of the one given",
        Gcm(
            short_nonce=lambda self, H, nonce: bytes(15) + b"\1",
            long_nonce=lambda self, H, nonce: bytes(15) + b"\1",
        ),
    ),
    "gcm-data-from-j0": ("the data encrypted from J0 on in place of J0 + 1", Gcm(first_counter=bytes)),
    "gcm-counter-128-bits": (
        "a carry beyond the last 32 bits of the counter",
        Gcm(counter_bits=128, first_counter=modes.next_counter),
    ),
    "gcm-tag-not-encrypted": ("the tag not encrypted with E(J0)", Gcm(mask=lambda cipher, J0: ZERO_BLOCK)),
    "gcm-tag-masked-by-j1": (
        "the tag encrypted with E(J0 + 1)",
        Gcm(mask=lambda cipher, J0: cipher.encrypt_block(modes.next_counter(J0, 32))),
    ),
    "gcm-not-padded": ("associated data and ciphertext hashed without padding between", Gcm(pad=bytes)),
    "gcm-aad-ignored": ("the associated data ignored", Gcm(uses_aad=False)),
    "gcm-hashes-plaintext": ("the plaintext hashed in place of the ciphertext", Gcm(hashes_plaintext=True)),
    "gcm-decrypt-in-place": (
        "decryption in place hashing the plaintext that it has just written",
        Gcm(hashes_output_in_place=True),
    ),
    "gcm-pieces-padded": ("every piece filled up to whole blocks for GHASH", Gcm(pieces_padded=True)),
    "gcm-rest-dropped": (
        "the keystream left in a block dropped at the end of each piece",
        Gcm(rest_dropped=True),
    ),
}


# --- OCB --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ocb:
    """The steps of OCB3. Source: RFC 7253, 4."""

    double: Callable[[bytes], bytes] = dbl
    index: Callable[[int], int] = ntz
    stretch: Callable[[bytes], bytes] = lambda Ktop: Ktop + xor(Ktop[:8], Ktop[1:9])
    bottom_bits: int = 6
    tag_length_in_nonce: bool = True
    nonce_marker: int = 1
    checksum: str = "plaintext"
    checksum_padding: Callable[[bytes], bytes] = one_padded
    aad_padding: Callable[[bytes], bytes] = one_padded
    star_in_tail: bool = True
    dollar: bool = True
    uses_aad: bool = True

    def _L(self, cipher: Any) -> tuple[bytes, bytes, Callable[[int], bytes]]:
        star = cipher.encrypt_block(ZERO_BLOCK)
        dollar = self.double(star)

        def L(i: int) -> bytes:
            value = self.double(dollar)
            for _ in range(i):
                value = self.double(value)
            return value

        return star, dollar, L

    def _first_offset(self, cipher: Any, nonce: bytes, tag_length: int) -> bytes:
        if not 1 <= len(nonce) <= 15:
            raise InvalidNonce("an OCB nonce is 1 to 15 bytes")
        value = int.from_bytes(nonce, "big") | self.nonce_marker << (8 * len(nonce))
        if self.tag_length_in_nonce:
            value |= (8 * tag_length % 128) << 121
        bottom = value % (1 << self.bottom_bits)
        stretch = int.from_bytes(
            self.stretch(cipher.encrypt_block((value - bottom).to_bytes(BLOCK, "big"))), "big"
        )
        return ((stretch >> (64 - bottom)) % (1 << 128)).to_bytes(BLOCK, "big")

    def _hash(self, cipher: Any, aad: bytes) -> bytes:
        star, _, L = self._L(cipher)
        total = offset = ZERO_BLOCK
        for i, A in enumerate(modes.blocks(aad), 1):
            whole = len(A) == BLOCK
            offset = xor(offset, L(self.index(i)) if whole else star)
            total = xor(total, cipher.encrypt_block(xor(A if whole else self.aad_padding(A), offset)))
        return total

    def __call__(self, case: Case, expand: Expand) -> tuple[bytes, bytes]:
        cipher = expand(case.key)
        star, dollar, L = self._L(cipher)
        offset, checksum, result = self._first_offset(cipher, case.iv, case.tag_length), ZERO_BLOCK, []
        permute = cipher.decrypt_block if case.decrypting else cipher.encrypt_block
        for i, block in enumerate(modes.blocks(case.data), 1):
            whole = len(block) == BLOCK
            if whole:
                offset = xor(offset, L(self.index(i)))
                out = xor(permute(xor(block, offset)), offset)
            else:
                offset = xor(offset, star) if self.star_in_tail else offset
                out = xor(block, cipher.encrypt_block(offset))
            plain, hidden = (out, block) if case.decrypting else (block, out)
            wrong_here = self.checksum == "ciphertext" or (
                # What is at the input's place once the output was written over it.
                self.checksum == "in place" and case.in_place and not case.decrypting
            )
            summed = hidden if wrong_here else plain
            checksum = xor(checksum, summed if whole else self.checksum_padding(summed).ljust(BLOCK, b"\0"))
            result.append(out)
        tag = cipher.encrypt_block(xor(xor(checksum, offset), dollar if self.dollar else ZERO_BLOCK))
        return b"".join(result), xor(tag, self._hash(cipher, case.aad if self.uses_aad else b""))


OCB: dict[str, tuple[str, Ocb]] = {
    "ocb-in-place": (
        "encryption in place summing the ciphertext that it has just written",
        Ocb(checksum="in place"),
    ),
    "ocb-checksum-of-ciphertext": ("the checksum over the ciphertext", Ocb(checksum="ciphertext")),
    "ocb-tag-length-not-in-nonce": (
        "the tag length left out of the nonce block (as in OCB before RFC 7253)",
        Ocb(tag_length_in_nonce=False),
    ),
    "ocb-nonce-without-marker": ("the bit 1 before the nonce left out", Ocb(nonce_marker=0)),
    "ocb-stretch-not-shifted-copy": (
        "Ktop's halves XORed in the stretch in place of bytes 0-7 and 1-8",
        Ocb(stretch=lambda Ktop: Ktop + xor(Ktop[:8], Ktop[8:])),
    ),
    "ocb-offset-not-shifted": (
        "the first offset without the shift by the nonce's last 6 bits",
        Ocb(bottom_bits=0),
    ),
    "ocb-doubling-little-endian": ("L doubled in little-endian order", Ocb(double=multiply_by_alpha)),
    "ocb-index-from-1": ("L_1 in place of L_0, and so on", Ocb(index=lambda i: ntz(i) + 1)),
    "ocb-always-l0": ("L_0 for every block", Ocb(index=lambda i: 0)),
    "ocb-checksum-padding-zeros": (
        "zeros in place of 10* in the checksum of the tail",
        Ocb(checksum_padding=bytes),
    ),
    "ocb-aad-padding-zeros": (
        "zeros in place of 10* after the associated data",
        Ocb(aad_padding=zero_padded),
    ),
    "ocb-tail-without-star": ("the offset of the tail without L_*", Ocb(star_in_tail=False)),
    "ocb-tag-without-dollar": ("the tag without L_$", Ocb(dollar=False)),
    "ocb-aad-ignored": ("the associated data ignored", Ocb(uses_aad=False)),
}


# --- EAX --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Eax:
    """The steps of EAX. Source: Bellare, Rogaway, Wagner, figure 4."""

    prefixes: tuple[bytes, bytes, bytes] = (bytes(16), bytes(15) + b"\1", bytes(15) + b"\2")
    counter: Callable[[bytes, bytes], bytes] = lambda N, nonce: N
    counter_bits: int = 128
    parts: tuple[bool, bool, bool] = (True, True, True)
    hashes_plaintext: bool = False

    def __call__(self, case: Case, expand: Expand) -> tuple[bytes, bytes]:
        cipher = expand(case.key)
        N = cmac(cipher, self.prefixes[0] + case.iv)
        out = modes.ctr(cipher, self.counter(N, case.iv), case.data, self.counter_bits)
        hashed = out if case.decrypting is self.hashes_plaintext else case.data
        strings = (N, cmac(cipher, self.prefixes[1] + case.aad), cmac(cipher, self.prefixes[2] + hashed))
        tag = ZERO_BLOCK
        for string, counts in zip(strings, self.parts, strict=True):
            tag = xor(tag, string) if counts else tag
        return out, tag


EAX: dict[str, tuple[str, Eax]] = {
    "eax-without-prefixes": (
        "OMAC without the block that tells its three uses apart",
        Eax(prefixes=(b"", b"", b"")),
    ),
    "eax-prefixes-exchanged": (
        "the OMAC numbers of associated data and ciphertext exchanged",
        Eax(prefixes=(bytes(16), bytes(15) + b"\2", bytes(15) + b"\1")),
    ),
    "eax-prefix-in-first-byte": (
        "the OMAC number in the first byte of its block in place of the last",
        Eax(prefixes=(bytes(16), b"\1" + bytes(15), b"\2" + bytes(15))),
    ),
    "eax-nonce-as-counter": (
        "the nonce itself as the first counter",
        Eax(counter=lambda N, nonce: nonce[:16].ljust(16, b"\0")),
    ),
    "eax-counter-32-bits": ("no carry beyond the last 32 bits of the counter", Eax(counter_bits=32)),
    "eax-tag-without-nonce": ("the tag without OMAC of the nonce", Eax(parts=(False, True, True))),
    "eax-aad-ignored": ("the tag without OMAC of the associated data", Eax(parts=(True, False, True))),
    "eax-hashes-plaintext": ("OMAC of the plaintext in place of the ciphertext", Eax(hashes_plaintext=True)),
}
