"""Twofish taken apart: every step that people get wrong is a field that can be replaced.

`Recipe()` is Twofish, made of the reference's own pieces (the kit's tests compare the two). A
mistake is a recipe with one field changed; it runs in both directions, as a consistent
implementation of that mistake would.

Cost: about 1 ms a key and 0.3 ms a block.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from twofishkit.reference import RoundState
from twofishkit.reference import block as reference
from twofishkit.reference.block import MASK, RHO, pht, rol, ror

Table = tuple[int, ...]
Pair = tuple[int, int]
#: For each of the four bytes of h: a permutation and a key byte, several times.
Steps = tuple[tuple[tuple[Table, int], ...], ...]


def join(numbers: Iterable[int]) -> bytes:
    """Words to bytes, least significant first."""
    return b"".join(word.to_bytes(4, "little") for word in numbers)


def add(a: int, b: int) -> int:
    """Modulo 2^32."""
    return (a + b) & MASK


def subkey_pair(A: int, B: int) -> Pair:
    """K_2i and K_2i+1 from the two values of h. Source: section 4.3."""
    even, odd = pht(A, rol(B, 8))
    return even, rol(odd, 9)


def even_and_odd(M: Sequence[int]) -> tuple[Table, Table]:
    """Me and Mo. Source: section 4.3."""
    return tuple(M[0::2]), tuple(M[1::2])


@functools.cache
def mds_columns(
    matrix: tuple[Table, ...] = reference.MDS, polynomial: int = reference.MDS_POLYNOMIAL
) -> Table:
    """MDS times one byte in each position, as 4 tables of 256 words after one another."""
    multiply = reference.multiply
    return tuple(
        sum(multiply(matrix[row][column], y, polynomial) << (8 * row) for row in range(4))
        for column in range(4)
        for y in range(256)
    )


RIGHT_MDS = mds_columns()


def rs_product(
    key_bytes: bytes, matrix: tuple[Table, ...] = reference.RS, polynomial: int = reference.RS_POLYNOMIAL
) -> int:
    """One word of the S-box key with another matrix or polynomial."""
    word = 0
    for row in range(4):
        for column, m in enumerate(key_bytes):
            word ^= reference.multiply(matrix[row][column], m, polynomial) << (8 * row)
    return word


@dataclass(frozen=True, eq=False)
class Recipe:
    """The steps of Twofish, in the order of the paper; calling it with a key gives a cipher."""

    key_bytes: Callable[[bytes], bytes] = bytes
    key_words: Callable[[bytes], Sequence[int]] = reference.words
    block_words: Callable[[bytes], Sequence[int]] = reference.words
    block_bytes: Callable[[Iterable[int]], bytes] = join
    q_before_l: tuple[tuple[Table, ...], ...] = reference.Q_BEFORE_L
    q_last: tuple[Table, ...] = reference.Q_LAST
    mds: Table = RIGHT_MDS
    rs: Callable[[bytes], int] = reference.rs
    #: From S_0, S_1, ... to the list L of h.
    sbox_key: Callable[[Sequence[int]], Sequence[int]] = lambda S: tuple(reversed(S))
    #: Byte i of a word of L.
    l_byte: Callable[[int, int], int] = lambda word, i: (word >> (8 * i)) & 0xFF
    #: The layers of h that a list of k words goes through, first to last.
    layers: Callable[[int], Iterable[int]] = lambda k: reversed(range(k))
    even_odd: Callable[[Sequence[int]], tuple[Table, Table]] = even_and_odd
    h_inputs: Callable[[int], Pair] = lambda i: (2 * i * RHO, (2 * i + 1) * RHO)
    subkey_pair: Callable[[int, int], Pair] = subkey_pair
    #: What is used as K[0..39]: whitening first, then two for each round.
    arrange: Callable[[list[int]], list[int]] = lambda K: K
    second_g_input: Callable[[int], int] = lambda R1: rol(R1, 8)
    pht: Callable[[int, int], Pair] = pht
    add_key: Callable[[int, int], int] = add
    mix_2: Callable[[int, int], int] = lambda R2, F0: ror(R2 ^ F0, 1)
    unmix_2: Callable[[int, int], int] = lambda X, F0: rol(X, 1) ^ F0
    mix_3: Callable[[int, int], int] = lambda R3, F1: rol(R3, 1) ^ F1
    unmix_3: Callable[[int, int], int] = lambda X, F1: ror(X ^ F1, 1)
    rounds: int = 16
    undo_swap: bool = True
    #: Which of K[4..7] whitens which word of the output.
    output_whitening: tuple[int, int, int, int] = (4, 5, 6, 7)
    #: Another recipe for decryption, where only that is mistaken.
    decrypting: "Recipe | None" = None

    def __call__(self, key: bytes) -> "Cipher":
        return _cipher(self, bytes(key))


@functools.lru_cache(maxsize=2048)
def _cipher(recipe: Recipe, key: bytes) -> "Cipher":
    """Remembered: cases share keys."""
    return Cipher(recipe, key)


class Cipher:
    """One key of a recipe; see `twofishkit.reference.KeySchedule`."""

    def __init__(self, recipe: Recipe, key: bytes) -> None:
        self.recipe = recipe
        key = recipe.key_bytes(bytes(key))
        self.S = [recipe.rs(key[i : i + 8]) for i in range(0, len(key), 8)]
        Me, Mo = recipe.even_odd(recipe.key_words(key))
        K: list[int] = []
        for_even, for_odd = self._steps(Me), self._steps(Mo)
        for i in range(20):
            even, odd = recipe.h_inputs(i)
            K += recipe.subkey_pair(self._h(even, for_even), self._h(odd, for_odd))
        self.K = recipe.arrange(K)
        self._for_g = self._steps(recipe.sbox_key(self.S))
        self._for_decryption = recipe.decrypting(key) if recipe.decrypting else self

    def _steps(self, L: Sequence[int]) -> Steps:
        """What each byte of h goes through for a list L: permutations, and key bytes between them."""
        recipe = self.recipe
        layers = tuple(recipe.layers(len(L)))
        return tuple(
            tuple((recipe.q_before_l[layer][i], recipe.l_byte(L[layer], i)) for layer in layers)
            for i in range(4)
        )

    def _h(self, X: int, steps: Steps) -> int:
        z, mds, q_last = 0, self.recipe.mds, self.recipe.q_last
        for i in range(4):
            x = (X >> (8 * i)) & 0xFF
            for permutation, key_byte in steps[i]:
                x = permutation[x] ^ key_byte
            z ^= mds[256 * i + q_last[i][x]]
        return z

    def g(self, X: int) -> int:
        return self._h(X, self._for_g)

    def _f(self, R0: int, R1: int, r: int) -> tuple[int, int, int, int]:
        """F0, F1 and the two values of g."""
        recipe, K = self.recipe, self.K
        t0, t1 = self.g(R0), self.g(recipe.second_g_input(R1))
        F0, F1 = recipe.pht(t0, t1)
        return recipe.add_key(F0, K[2 * r + 8]), recipe.add_key(F1, K[2 * r + 9]), t0, t1

    def encrypt_block(self, plaintext: bytes, trace: list[RoundState] | None = None) -> bytes:
        recipe, K = self.recipe, self.K
        states: list[RoundState] = []
        P = recipe.block_words(plaintext)
        R0, R1, R2, R3 = (P[i] ^ K[i] for i in range(4))
        states += [RoundState(-1, (P[0], P[1], P[2], P[3])), RoundState(0, (R0, R1, R2, R3))]
        for r in range(recipe.rounds):
            F0, F1, t0, t1 = self._f(R0, R1, r)
            R0, R1, R2, R3 = recipe.mix_2(R2, F0), recipe.mix_3(R3, F1), R0, R1
            # Round states are told without the swap.
            states.append(RoundState(r + 1, (R0, R1, R2, R3) if r % 2 else (R2, R3, R0, R1), t0, t1))
        last = (R2, R3, R0, R1) if recipe.undo_swap else (R0, R1, R2, R3)
        C = [word ^ K[k] for word, k in zip(last, recipe.output_whitening, strict=True)]
        states.append(RoundState(17, (C[0], C[1], C[2], C[3])))
        if trace is not None:
            trace += states
        return recipe.block_bytes(C)

    def decrypt_block(self, ciphertext: bytes) -> bytes:
        if self._for_decryption is not self:
            return self._for_decryption.decrypt_block(ciphertext)
        recipe, K = self.recipe, self.K
        C = recipe.block_words(ciphertext)
        last = [word ^ K[k] for word, k in zip(C, recipe.output_whitening, strict=True)]
        R0, R1, R2, R3 = (last[2], last[3], last[0], last[1]) if recipe.undo_swap else last
        for r in reversed(range(recipe.rounds)):
            F0, F1, _, _ = self._f(R2, R3, r)
            R0, R1, R2, R3 = R2, R3, recipe.unmix_2(R0, F0), recipe.unmix_3(R1, F1)
        return recipe.block_bytes([R0 ^ K[0], R1 ^ K[1], R2 ^ K[2], R3 ^ K[3]])
