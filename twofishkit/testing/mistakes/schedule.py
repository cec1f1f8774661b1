"""Known mistakes of the key schedule and of h: bytes into words, RS, MDS, q, h, subkeys."""

from collections.abc import Iterable, Sequence

from twofishkit.reference import block as reference
from twofishkit.reference.block import MASK, pht, q0, q1, rol
from twofishkit.testing.mistakes.kinds import cipher_mistakes
from twofishkit.testing.mistakes.recipe import Pair, Recipe, join, mds_columns, rs_product, subkey_pair

AES_POLYNOMIAL = 0x11B


def big_endian_words(data: bytes) -> Sequence[int]:
    return [int.from_bytes(data[i : i + 4], "big") for i in range(0, len(data), 4)]


def big_endian_bytes(numbers: Iterable[int]) -> bytes:
    return b"".join(word.to_bytes(4, "big") for word in numbers)


def signed_words(data: bytes) -> Sequence[int]:
    """Words from bytes of a signed type: each byte's sign spreads over the bytes above it."""
    result = []
    for i in range(0, len(data), 4):
        word = 0
        for position, byte in enumerate(data[i : i + 4]):
            word |= (byte - 256 if byte & 0x80 else byte) << (8 * position)
        result.append(word & MASK)
    return result


def _transposed(matrix: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(zip(*matrix, strict=True))


def _q_with(*, rotate_left: bool = False, without_8a: bool = False, swapped_output: bool = False) -> Recipe:
    """Permutations built with one slip in the code of q."""

    def rotated(nibble: int) -> int:
        left = ((nibble << 1) & 0xF) | (nibble >> 3)
        return left if rotate_left else (nibble >> 1) | ((nibble << 3) & 0xF)

    def permutation(t: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
        table = []
        for x in range(256):
            a, b = x >> 4, x & 0xF
            for ta, tb in ((t[0], t[1]), (t[2], t[3])):
                eight_a = 0 if without_8a else (8 * a) & 0xF
                a, b = ta[a ^ b], tb[a ^ rotated(b) ^ eight_a]
            table.append(16 * a + b if swapped_output else 16 * b + a)
        return tuple(table)

    return _with_q(permutation(reference.Q0_NIBBLES), permutation(reference.Q1_NIBBLES))


def _with_q(new_q0: tuple[int, ...], new_q1: tuple[int, ...]) -> Recipe:
    def chosen(table: tuple[int, ...]) -> tuple[int, ...]:
        return new_q0 if table is q0 else new_q1

    return Recipe(
        q_before_l=tuple(tuple(map(chosen, row)) for row in reference.Q_BEFORE_L),
        q_last=tuple(map(chosen, reference.Q_LAST)),
    )


def _pht_without_2(A: int, B: int) -> Pair:
    B = rol(B, 8)
    return (A + B) & MASK, rol((A + B) & MASK, 9)


def _pht_doubles_a(A: int, B: int) -> Pair:
    B = rol(B, 8)
    return (A + B) & MASK, rol((2 * A + B) & MASK, 9)


def _subkeys(B_rotated: int, odd_rotated: int) -> Recipe:
    """Subkeys with other rotations; 0 is none."""

    def pair(A: int, B: int) -> Pair:
        even, odd = pht(A, rol(B, B_rotated) if B_rotated else B)
        return even, rol(odd, odd_rotated) if odd_rotated else odd

    return Recipe(subkey_pair=pair)


def _even_rotated(A: int, B: int) -> Pair:
    even, odd = pht(A, rol(B, 8))
    return rol(even, 9), odd


def _for_sizes(before: int, after: int) -> Recipe:
    """S-boxes of `before` key words made with the layers of `after` of them."""
    return Recipe(layers=lambda k: reversed(range(after if k == before else k)))


def _always_like_128(k: int) -> Sequence[int]:
    return (1, 0)


_BEFORE = reference.Q_BEFORE_L

MISTAKES = tuple(
    cipher_mistakes(
        {
            # --- bytes and words ---
            "key-words-big-endian": (
                "the bytes of each key word in big-endian order",
                Recipe(key_words=big_endian_words),
            ),
            "input-words-big-endian": (
                "the bytes of each input word in big-endian order",
                Recipe(block_words=big_endian_words),
            ),
            "output-words-big-endian": (
                "the bytes of each output word in big-endian order",
                Recipe(block_bytes=big_endian_bytes),
            ),
            "block-words-big-endian": (
                "the bytes of each input and output word in big-endian order",
                Recipe(block_words=big_endian_words, block_bytes=big_endian_bytes),
            ),
            "all-words-big-endian": (
                "the bytes of each key, input and output word in big-endian order",
                Recipe(
                    key_words=big_endian_words, block_words=big_endian_words, block_bytes=big_endian_bytes
                ),
            ),
            "key-and-rs-big-endian": (
                "the bytes of each key word in big-endian order, for RS too",
                Recipe(key_bytes=lambda key: join(big_endian_words(key))),
            ),
            "block-reversed": (
                "the 16 bytes of a block in reverse order, on input and on output",
                Recipe(
                    block_words=lambda block: reference.words(block[::-1]),
                    block_bytes=lambda numbers: join(numbers)[::-1],
                ),
            ),
            "key-reversed": (
                "the bytes of the whole key in reverse order",
                Recipe(key_bytes=lambda key: key[::-1]),
            ),
            "signed-key-bytes": (
                "key bytes of a signed type, whose sign spreads over the key words",
                Recipe(key_words=signed_words),
            ),
            "signed-block-bytes": (
                "block bytes of a signed type, whose sign spreads over the words",
                Recipe(block_words=signed_words),
            ),
            # --- key sizes ---
            "key-zero-padded-to-256": (
                "short keys padded with zeros to 256 bits",
                Recipe(key_bytes=lambda key: key.ljust(32, b"\0")),
            ),
            "key-192-zero-padded-to-256": (
                "192-bit keys padded with zeros to 256 bits",
                Recipe(key_bytes=lambda key: key.ljust(32, b"\0") if len(key) == 24 else key),
            ),
            "key-zero-padded-in-front": (
                "short keys padded with zeros in front to 256 bits",
                Recipe(key_bytes=lambda key: key.rjust(32, b"\0")),
            ),
            "key-repeated-to-256": (
                "short keys repeated up to 256 bits",
                Recipe(key_bytes=lambda key: (key + key)[:32]),
            ),
            "key-cut-to-128": (
                "only the first 128 bits of longer keys",
                Recipe(key_bytes=lambda key: key[:16]),
            ),
            "key-192-cut-to-128": (
                "only the first 128 bits of 192-bit keys",
                Recipe(key_bytes=lambda key: key[:16] if len(key) == 24 else key),
            ),
            "stage-192-skipped": (
                "the stage of h for 192-bit keys skipped",
                Recipe(layers=lambda k: [layer for layer in reversed(range(k)) if layer != 2]),
            ),
            "stage-256-skipped": ("the stage of h for 256-bit keys skipped", _for_sizes(4, 3)),
            "stages-192-256-skipped": (
                "the stages of h for 192-bit and 256-bit keys skipped",
                Recipe(layers=_always_like_128),
            ),
            # --- RS ---
            "rs-words-reversed": (
                "the RS words in reverse order",
                Recipe(sbox_key=tuple),
            ),
            "rs-polynomial-of-mds": (
                "the polynomial 0x169 of MDS in RS",
                Recipe(rs=lambda m: rs_product(m, polynomial=reference.MDS_POLYNOMIAL)),
            ),
            "rs-polynomial-of-aes": (
                "the polynomial 0x11B of AES in RS",
                Recipe(rs=lambda m: rs_product(m, polynomial=AES_POLYNOMIAL)),
            ),
            "rs-bytes-reversed": (
                "the eight key bytes of each RS product in reverse order",
                Recipe(rs=lambda m: reference.rs(m[::-1])),
            ),
            "rs-output-big-endian": (
                "the bytes of each RS word in big-endian order",
                Recipe(rs=lambda m: int.from_bytes(reference.rs(m).to_bytes(4, "little"), "big")),
            ),
            "rs-halves-exchanged": (
                "the two key words of each RS product exchanged",
                Recipe(rs=lambda m: reference.rs(m[4:] + m[:4])),
            ),
            "rs-skipped": (
                "key words in place of the RS words",
                Recipe(rs=lambda m: int.from_bytes(m[:4], "little")),
            ),
            # --- MDS ---
            "mds-polynomial-of-rs": (
                "the polynomial 0x14D of RS in MDS",
                Recipe(mds=mds_columns(polynomial=reference.RS_POLYNOMIAL)),
            ),
            "mds-polynomial-of-aes": (
                "the polynomial 0x11B of AES in MDS",
                Recipe(mds=mds_columns(polynomial=AES_POLYNOMIAL)),
            ),
            "mds-transposed": (
                "the MDS matrix transposed",
                Recipe(mds=mds_columns(_transposed(reference.MDS))),
            ),
            "mds-rows-reversed": (
                "the rows of MDS in reverse order",
                Recipe(mds=mds_columns(tuple(reversed(reference.MDS)))),
            ),
            "mds-columns-reversed": (
                "the columns of MDS in reverse order",
                Recipe(mds=mds_columns(tuple(tuple(reversed(row)) for row in reference.MDS))),
            ),
            "mds-aes": (
                "the matrix of AES (2, 3, 1, 1) as MDS",
                Recipe(mds=mds_columns(((2, 3, 1, 1), (1, 2, 3, 1), (1, 1, 2, 3), (3, 1, 1, 2)))),
            ),
            # --- q and h ---
            "q-exchanged": ("q0 and q1 exchanged", _with_q(q1, q0)),
            "q-last-exchanged": (
                "q0 and q1 exchanged in the last layer of h",
                Recipe(q_last=(q0, q1, q0, q1)),
            ),
            "q-layers-exchanged": (
                "the q order of layers 0 and 1 of h exchanged",
                Recipe(q_before_l=(_BEFORE[1], _BEFORE[0], _BEFORE[2], _BEFORE[3])),
            ),
            "q-bytes-reversed": (
                "the q order of every layer of h reversed over the four bytes",
                Recipe(q_before_l=tuple(row[::-1] for row in _BEFORE), q_last=reference.Q_LAST[::-1]),
            ),
            "q-192-layer-wrong": (
                "the q order of the layer for 192-bit keys exchanged",
                Recipe(q_before_l=(_BEFORE[0], _BEFORE[1], _BEFORE[0], _BEFORE[3])),
            ),
            "q-256-layer-wrong": (
                "the q order of the layer for 256-bit keys exchanged",
                Recipe(q_before_l=(*_BEFORE[:3], (q0, q1, q1, q0))),
            ),
            "q-rotates-left": ("the nibbles in q rotated left", _q_with(rotate_left=True)),
            "q-without-8a": ("the term 8a left out of q", _q_with(without_8a=True)),
            "q-output-exchanged": ("the two nibbles that leave q exchanged", _q_with(swapped_output=True)),
            "l-bytes-reversed": (
                "the bytes of each word of L used in reverse order in h",
                Recipe(l_byte=lambda word, i: (word >> (24 - 8 * i)) & 0xFF),
            ),
            # --- subkeys ---
            "me-mo-exchanged": (
                "the even and odd key words exchanged",
                Recipe(even_odd=lambda M: (tuple(M[1::2]), tuple(M[0::2]))),
            ),
            "me-mo-halves": (
                "the first and second half of the key in place of its even and odd words",
                Recipe(even_odd=lambda M: (tuple(M[: len(M) // 2]), tuple(M[len(M) // 2 :]))),
            ),
            "me-mo-reversed": (
                "the even and odd key words in reverse order",
                Recipe(even_odd=lambda M: (tuple(M[0::2])[::-1], tuple(M[1::2])[::-1])),
            ),
            "subkey-inputs-without-rho": (
                "h of 2i and 2i+1 without the factor rho in the subkeys",
                Recipe(h_inputs=lambda i: (2 * i, 2 * i + 1)),
            ),
            "subkey-inputs-not-doubled": (
                "h of i rho for both halves of a subkey pair",
                Recipe(h_inputs=lambda i: (i * reference.RHO, i * reference.RHO)),
            ),
            "subkey-b-not-rotated": ("B not rotated by 8 in the subkeys", _subkeys(0, 9)),
            "subkey-b-rotated-right": ("B rotated right by 8 in the subkeys", _subkeys(24, 9)),
            "subkey-odd-not-rotated": ("the odd subkeys not rotated by 9", _subkeys(8, 0)),
            "subkey-odd-rotated-right": ("the odd subkeys rotated right by 9", _subkeys(8, 23)),
            "subkey-rotations-exchanged": ("the rotations 8 and 9 of the subkeys exchanged", _subkeys(9, 8)),
            "subkey-even-rotated": (
                "the even subkeys rotated by 9 in place of the odd ones",
                Recipe(subkey_pair=_even_rotated),
            ),
            "subkey-pht-without-2": (
                "the PHT without the factor 2 in the subkeys",
                Recipe(subkey_pair=_pht_without_2),
            ),
            "subkey-pht-doubles-a": (
                "A doubled in place of B by the PHT of the subkeys",
                Recipe(subkey_pair=_pht_doubles_a),
            ),
            "subkey-pairs-exchanged": (
                "the two subkeys of each pair exchanged",
                Recipe(subkey_pair=lambda A, B: subkey_pair(A, B)[::-1]),
            ),
        }
    )
)
