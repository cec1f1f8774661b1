"""Known mistakes of the rounds: whitening, round keys, rotations, PHT, swaps, decryption."""

from collections.abc import Callable

from twofishkit.reference.block import MASK, rol, ror
from twofishkit.testing.mistakes.kinds import cipher_mistakes
from twofishkit.testing.mistakes.recipe import Recipe

Mix = Callable[[int, int], int]


def _signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


def _signed_ror(x: int, n: int) -> int:
    """``(x >> n) | (x << (32 - n))`` on a signed type, whose right shift repeats the sign."""
    return ((_signed(x) >> n) | (x << (32 - n))) & MASK


def _signed_rol(x: int, n: int) -> int:
    return ((x << n) | (_signed(x) >> (32 - n))) & MASK


def _xor(a: int, b: int) -> int:
    return a ^ b


def _mixes(mix_2: Mix, unmix_2: Mix, mix_3: Mix, unmix_3: Mix) -> Recipe:
    return Recipe(mix_2=mix_2, unmix_2=unmix_2, mix_3=mix_3, unmix_3=unmix_3)


def _right_first(x: int, F: int) -> int:
    return ror(x, 1) ^ F


def _left_first(x: int, F: int) -> int:
    return rol(x, 1) ^ F


def _right_last(x: int, F: int) -> int:
    return ror(x ^ F, 1)


def _left_last(x: int, F: int) -> int:
    return rol(x ^ F, 1)


def _round_keys(choose: Callable[[list[int]], list[int]]) -> Recipe:
    """Other round keys; K[0..7] stay."""
    return Recipe(arrange=lambda K: K[:8] + choose(K[8:]))


def _whitening(choose: Callable[[list[int]], list[int]]) -> Recipe:
    """Other whitening; K[8..39] stay."""
    return Recipe(arrange=lambda K: choose(K[:8]) + K[8:])


def _pairs_reversed(round_keys: list[int]) -> list[int]:
    return [round_keys[i + half] for i in reversed(range(0, 32, 2)) for half in (0, 1)]


def _swapped_pairs(round_keys: list[int]) -> list[int]:
    return [round_keys[i ^ 1] for i in range(32)]


def _only_decryption(mistaken: Recipe) -> Recipe:
    return Recipe(decrypting=mistaken)


MISTAKES = tuple(
    cipher_mistakes(
        {
            # --- whitening ---
            "input-whitening-missing": (
                "the input whitening left out",
                _whitening(lambda K: [0, 0, 0, 0, *K[4:]]),
            ),
            "output-whitening-missing": (
                "the output whitening left out",
                _whitening(lambda K: [*K[:4], 0, 0, 0, 0]),
            ),
            "whitening-missing": ("both whitenings left out", _whitening(lambda K: [0] * 8)),
            "whitening-exchanged": (
                "K[0..3] and K[4..7] exchanged in the whitening",
                _whitening(lambda K: K[4:] + K[:4]),
            ),
            "whitening-same": (
                "K[0..3] in the output whitening too",
                _whitening(lambda K: K[:4] + K[:4]),
            ),
            "whitening-reversed": (
                "the words of each whitening in reverse order",
                _whitening(lambda K: K[3::-1] + K[:3:-1]),
            ),
            "output-whitening-before-swap": (
                "the output whitening applied before the last swap is undone",
                Recipe(output_whitening=(6, 7, 4, 5)),
            ),
            # --- round keys ---
            "round-keys-from-0": (
                "round keys from K[0] on in place of K[8]",
                Recipe(arrange=lambda K: K[:8] + K[:32]),
            ),
            "round-keys-from-4": (
                "round keys from K[4] on in place of K[8]",
                Recipe(arrange=lambda K: K[:8] + K[4:36]),
            ),
            "round-keys-one-round-late": (
                "the round keys taken one round too late",
                _round_keys(lambda k: k[2:] + k[:2]),
            ),
            "round-keys-overlapping": (
                "K[r+8] and K[r+9] in place of K[2r+8] and K[2r+9]",
                _round_keys(lambda k: [k[r + half] for r in range(16) for half in (0, 1)]),
            ),
            "round-keys-exchanged": ("the two subkeys of each round exchanged", _round_keys(_swapped_pairs)),
            "round-keys-reversed": (
                "the round keys used from the last round to the first",
                _round_keys(_pairs_reversed),
            ),
            "round-keys-by-xor": ("round keys joined by XOR in place of addition", Recipe(add_key=_xor)),
            "round-keys-missing": ("the round keys left out", _round_keys(lambda k: [0] * 32)),
            # --- g and PHT ---
            "pht-without-2": (
                "the PHT without the factor 2",
                Recipe(pht=lambda a, b: ((a + b) & MASK, (a + b) & MASK)),
            ),
            "pht-doubles-t0": (
                "t0 doubled in place of t1 by the PHT",
                Recipe(pht=lambda a, b: ((a + b) & MASK, (2 * a + b) & MASK)),
            ),
            "pht-exchanged": (
                "the two outputs of the PHT exchanged",
                Recipe(pht=lambda a, b: ((a + 2 * b) & MASK, (a + b) & MASK)),
            ),
            "pht-missing": ("the PHT left out", Recipe(pht=lambda a, b: (a, b))),
            "pht-by-xor": (
                "XOR in place of addition in the PHT",
                Recipe(pht=lambda a, b: (a ^ b, a ^ (2 * b & MASK))),
            ),
            "g-input-not-rotated": (
                "the second input of g not rotated by 8",
                Recipe(second_g_input=lambda x: x),
            ),
            "g-input-rotated-right": (
                "the second input of g rotated right by 8",
                Recipe(second_g_input=lambda x: ror(x, 8)),
            ),
            # --- one-bit rotations ---
            "rotations-exchanged": (
                "the two one-bit rotations exchanged (word 2 left before the XOR, word 3 right after it)",
                _mixes(_left_first, _right_last, _right_last, _left_first),
            ),
            "rotations-both-before": (
                "word 2 rotated before the XOR in place of after it",
                _mixes(_right_first, lambda X, F: rol(X ^ F, 1), _left_first, _right_last),
            ),
            "rotations-both-after": (
                "word 3 rotated after the XOR in place of before it",
                _mixes(_right_last, _left_first, _left_last, _right_first),
            ),
            "rotations-on-wrong-side": (
                "word 2 rotated before the XOR and word 3 after it",
                _mixes(_right_first, lambda X, F: rol(X ^ F, 1), _left_last, _right_first),
            ),
            "rotations-wrong-way": (
                "word 2 rotated left and word 3 rotated right",
                _mixes(_left_last, _right_first, _right_first, _left_last),
            ),
            "rotation-2-missing": (
                "the rotation of word 2 left out",
                Recipe(mix_2=_xor, unmix_2=_xor),
            ),
            "rotation-3-missing": ("the rotation of word 3 left out", Recipe(mix_3=_xor, unmix_3=_xor)),
            "rotations-missing": ("both one-bit rotations left out", _mixes(_xor, _xor, _xor, _xor)),
            "rotations-signed": (
                "one-bit rotations on signed words, whose right shift repeats the sign",
                _mixes(
                    lambda R, F: _signed_ror(R ^ F, 1),
                    lambda X, F: _signed_rol(X, 1) ^ F,
                    lambda R, F: _signed_rol(R, 1) ^ F,
                    lambda X, F: _signed_ror(X ^ F, 1),
                ),
            ),
            "f-words-exchanged": (
                "F0 and F1 exchanged",
                Recipe(
                    # After the PHT the keys are added, so that both go along.
                    pht=lambda a, b: ((a + 2 * b) & MASK, (a + b) & MASK),
                    arrange=lambda K: K[:8] + _swapped_pairs(K[8:]),
                ),
            ),
            # --- rounds and swaps ---
            "swap-not-undone": ("the swap of the last round not undone", Recipe(undo_swap=False)),
            "rounds-15": ("15 rounds", Recipe(rounds=15)),
            "rounds-8": ("8 rounds", Recipe(rounds=8)),
            # --- decryption alone ---
            "decryption-rotations-of-encryption": (
                "the one-bit rotations of encryption in decryption",
                _only_decryption(Recipe(unmix_2=_right_last, unmix_3=_left_first)),
            ),
            "decryption-round-keys-of-encryption": (
                "the round keys of encryption, not reversed, in decryption",
                _only_decryption(_round_keys(_pairs_reversed)),
            ),
            "decryption-whitening-of-encryption": (
                "the whitenings of encryption, not exchanged, in decryption",
                _only_decryption(_whitening(lambda K: K[4:] + K[:4])),
            ),
            "decryption-rotations-missing": (
                "the one-bit rotations left out of decryption",
                _only_decryption(_mixes(_xor, _xor, _xor, _xor)),
            ),
            "decryption-round-keys-exchanged": (
                "the two subkeys of each round exchanged in decryption",
                _only_decryption(_round_keys(_swapped_pairs)),
            ),
            "decryption-swap-missing": (
                "the first swap left out of decryption",
                _only_decryption(Recipe(undo_swap=False)),
            ),
        }
    )
)
