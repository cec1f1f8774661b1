"""Known mistakes of XTS: doubling the tweak, its keys, ciphertext stealing."""

from collections.abc import Callable

from twofishkit.reference import modes
from twofishkit.reference.gf128 import BLOCK, LOW_TERMS, dbl, multiply_by_alpha, xor
from twofishkit.testing.cases import Case, split_key
from twofishkit.testing.mistakes.kinds import Mistake, mode_mistakes
from twofishkit.testing.oracle import Expand, ModeFunction


def _times_alpha_big_endian(tweak: bytes) -> bytes:
    return dbl(tweak)


def _times_alpha_unreduced(tweak: bytes) -> bytes:
    doubled = (int.from_bytes(tweak, "little") << 1) % (1 << 128)
    return doubled.to_bytes(BLOCK, "little")


def _times_alpha_reduced_on_top(tweak: bytes) -> bytes:
    """0x87 in the last byte, with the carry as in little-endian order."""
    value = int.from_bytes(tweak, "little")
    doubled = (value << 1) % (1 << 128) ^ (LOW_TERMS << 120 if value >> 127 else 0)
    return doubled.to_bytes(BLOCK, "little")


def _times_alpha_bytewise(tweak: bytes) -> bytes:
    """Carries between the bytes are lost."""
    reduction = LOW_TERMS if tweak[-1] & 0x80 else 0
    return bytes([(tweak[0] << 1) & 0xFF ^ reduction, *((byte << 1) & 0xFF for byte in tweak[1:])])


def _xts(
    *,
    double: Callable[[bytes], bytes] = multiply_by_alpha,
    first: Callable[[bytes], bytes] = bytes,
    keys_exchanged: bool = False,
    one_key: bool = False,
    tweak_not_encrypted: bool = False,
    starts_doubled: bool = False,
    tail: str = "right",
) -> ModeFunction:
    """XTS with one step changed; ``tail`` names what is done with a last block of fewer bytes."""

    def run(case: Case, expand: Expand) -> bytes:
        key_1, key_2 = split_key(case)
        if keys_exchanged:
            key_1, key_2 = key_2, key_1
        cipher = expand(key_1)
        permute = cipher.decrypt_block if case.decrypting else cipher.encrypt_block
        tweak = first(case.iv)
        T = tweak if tweak_not_encrypted else expand(key_1 if one_key else key_2).encrypt_block(tweak)
        if starts_doubled:
            T = double(T)
        tail_bytes = len(case.data) % BLOCK
        plain_end = len(case.data) - tail_bytes - (BLOCK if tail_bytes else 0)
        result = []
        for block in modes.blocks(case.data[:plain_end]):
            result.append(xor(permute(xor(block, T)), T))
            T = double(T)
        if tail_bytes:
            first_tweak, second_tweak = T, double(T)
            if case.decrypting and tail != "tweaks of encryption":
                first_tweak, second_tweak = second_tweak, first_tweak
            last, partial = case.data[plain_end : plain_end + BLOCK], case.data[plain_end + BLOCK :]
            stolen = xor(permute(xor(last, first_tweak)), first_tweak)
            if tail == "kept":
                return b"".join([*result, xor(permute(xor(last, T)), T), partial])
            filled = partial + (bytes(BLOCK) if tail == "zero padded" else stolen)[tail_bytes:]
            final = xor(permute(xor(filled, second_tweak)), second_tweak)
            pair = (
                [stolen[:tail_bytes], final] if tail == "short block first" else [final, stolen[:tail_bytes]]
            )
            if tail == "one tweak":
                final = xor(permute(xor(filled, first_tweak)), first_tweak)
                pair = [final, stolen[:tail_bytes]]
            result += pair
        return b"".join(result)

    return run


#: XTS as it should be.
RIGHT = _xts()

_TABLES: dict[str, dict[str, tuple[str, ModeFunction]]] = {
    "xts": {
        "xts-tweak-big-endian": (
            "the tweak doubled in big-endian order",
            _xts(double=_times_alpha_big_endian),
        ),
        "xts-tweak-unreduced": (
            "the tweak doubled without the reduction by 0x87",
            _xts(double=_times_alpha_unreduced),
        ),
        "xts-tweak-reduced-on-top": (
            "0x87 added to the last byte of the tweak in place of the first",
            _xts(double=_times_alpha_reduced_on_top),
        ),
        "xts-tweak-bytewise": ("no carry between the bytes of the tweak", _xts(double=_times_alpha_bytewise)),
        "xts-tweak-not-doubled": ("the same tweak for every block", _xts(double=bytes)),
        "xts-tweak-doubled-first": ("the tweak doubled before the first block", _xts(starts_doubled=True)),
        "xts-tweak-not-encrypted": ("the tweak not encrypted", _xts(tweak_not_encrypted=True)),
        "xts-tweak-reversed": ("the bytes of the tweak in reverse order", _xts(first=lambda iv: iv[::-1])),
        "xts-keys-exchanged": ("the two keys exchanged", _xts(keys_exchanged=True)),
        "xts-one-key": ("the data key for the tweak too", _xts(one_key=True)),
        "xts-stealing-not-swapped": (
            "the short block before the whole one after stealing",
            _xts(tail="short block first"),
        ),
        "xts-stealing-tweak-order": (
            "the two tweaks of the stealing not exchanged in decryption",
            _xts(tail="tweaks of encryption"),
        ),
        "xts-stealing-one-tweak": ("one tweak for both blocks of the stealing", _xts(tail="one tweak")),
        "xts-stealing-zeros": ("zeros in place of the stolen bytes", _xts(tail="zero padded")),
        "xts-tail-kept": ("a last block of fewer bytes left as it is", _xts(tail="kept")),
    },
}

MISTAKES: tuple[Mistake, ...] = tuple(
    mistake for mode, table in _TABLES.items() for mistake in mode_mistakes(mode, table)
)
