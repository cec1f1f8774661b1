"""Known mistakes of CMAC and of GHASH alone."""

from collections.abc import Callable

from twofishkit.reference import modes
from twofishkit.reference.authenticated import cmac, zero_padded
from twofishkit.reference.gf128 import (
    BLOCK,
    LOW_TERMS,
    ZERO_BLOCK,
    dbl,
    ghash,
    multiply_by_alpha,
    polyval,
    xor,
)
from twofishkit.testing.cases import Case
from twofishkit.testing.mistakes.kinds import Mistake, mode_mistakes
from twofishkit.testing.oracle import Expand, ModeFunction


def _dbl_unreduced(block: bytes) -> bytes:
    return ((int.from_bytes(block, "big") << 1) % (1 << 128)).to_bytes(BLOCK, "big")


def _cmac(
    *,
    double: Callable[[bytes], bytes] = dbl,
    exchanged: bool = False,
    whitened: bool = True,
    padding: bytes = b"\x80",
    only_k1: bool = False,
    empty_is_whole: bool = False,
) -> ModeFunction:
    def run(case: Case, expand: Expand) -> bytes:
        cipher = expand(case.key)
        K1 = double(cipher.encrypt_block(ZERO_BLOCK))
        K2 = K1 if only_k1 else double(K1)
        if exchanged:
            K1, K2 = K2, K1
        message = case.data
        if not message and empty_is_whole:
            message = ZERO_BLOCK
        split = max(0, (len(message) - 1) // BLOCK * BLOCK)
        head, last = message[:split], message[split:]
        whole = len(last) == BLOCK
        last = last if whole else (last + padding).ljust(BLOCK, b"\0")
        if whitened:
            last = xor(last, K1 if whole else K2)
        C = ZERO_BLOCK
        for block in modes.blocks(head + last):
            C = cipher.encrypt_block(xor(C, block))
        return C

    return run


def _cmac_pieces_padded(case: Case, expand: Expand) -> bytes:
    """A piece that does not end with a block is filled up with zeros before the next."""
    pieces = [zero_padded(piece) for piece in case.pieces[:-1]] + [case.pieces[-1]]
    return cmac(expand(case.key), b"".join(pieces))


def bits_reversed(data: bytes) -> bytes:
    """The bits of each byte in the other order."""
    return bytes(int(f"{byte:08b}"[::-1], 2) for byte in data)


def ghash_bits_reversed(H: bytes, blocks: bytes) -> bytes:
    return bits_reversed(ghash(bits_reversed(H), bits_reversed(blocks)))


def ghash_big_endian_field(H: bytes, blocks: bytes) -> bytes:
    """The coefficient of x^0 in the least significant bit of the last byte, as in CMAC."""
    h, Y = int.from_bytes(H, "big"), 0
    for block in modes.blocks(blocks):
        Y ^= int.from_bytes(block, "big")
        product = 0
        for bit in reversed(range(128)):
            product <<= 1
            if product >> 128:
                product ^= (1 << 128) | LOW_TERMS
            if (Y >> bit) & 1:
                product ^= h
        Y = product
    return Y.to_bytes(BLOCK, "big")


def ghash_blocks_reversed(H: bytes, blocks: bytes) -> bytes:
    """The bytes of H, of each block and of the result in reverse order."""
    reversed_blocks = b"".join(block[::-1] for block in modes.blocks(blocks))
    return ghash(H[::-1], reversed_blocks)[::-1]


def ghash_last_product_missing(H: bytes, blocks: bytes) -> bytes:
    return xor(ghash(H, blocks[:-BLOCK]), blocks[-BLOCK:]) if blocks else ZERO_BLOCK


#: GHASHes that GCM is tried with too.
GHASHES: dict[str, tuple[str, Callable[[bytes, bytes], bytes]]] = {
    "bits-reversed": ("the bits of every byte in reverse order", ghash_bits_reversed),
    "big-endian-field": ("the field of CMAC, the last bit as x^0", ghash_big_endian_field),
    "blocks-reversed": ("the bytes of H and of every block in reverse order", ghash_blocks_reversed),
    "of-polyval": ("POLYVAL's product", polyval),
    "last-product-missing": ("the multiplication after the last block left out", ghash_last_product_missing),
}


def _on_ghash(function: Callable[[bytes, bytes], bytes]) -> ModeFunction:
    return lambda case, expand: function(case.key, case.data)


def _pieces_padded(case: Case, expand: Expand) -> bytes:
    return ghash(case.key, b"".join(zero_padded(piece) for piece in case.pieces))


#: CMAC as it should be.
RIGHT = _cmac()

_TABLES: dict[str, dict[str, tuple[str, ModeFunction]]] = {
    "cmac": {
        "cmac-subkeys-exchanged": ("K1 and K2 exchanged", _cmac(exchanged=True)),
        "cmac-subkeys-unreduced": (
            "K1 and K2 doubled without the reduction by 0x87",
            _cmac(double=_dbl_unreduced),
        ),
        "cmac-subkeys-little-endian": (
            "K1 and K2 doubled in little-endian order",
            _cmac(double=multiply_by_alpha),
        ),
        "cmac-only-k1": ("K1 in place of K2", _cmac(only_k1=True)),
        "cmac-no-subkeys": ("neither K1 nor K2 (CBC-MAC)", _cmac(whitened=False)),
        "cmac-padding-zeros": ("zeros in place of 10* as padding", _cmac(padding=b"")),
        "cmac-padding-01": ("a padding that starts with the byte 01 in place of 80", _cmac(padding=b"\1")),
        "cmac-empty-as-zeros": ("an empty message taken for a block of zeros", _cmac(empty_is_whole=True)),
        "cmac-pieces-padded": ("every piece filled up to whole blocks", _cmac_pieces_padded),
    },
    "ghash": {
        **{f"ghash-{name}": (title, _on_ghash(function)) for name, (title, function) in GHASHES.items()},
        "ghash-pieces-restart": (
            "every piece started again from zero, and the last one told",
            lambda case, expand: ghash(case.key, zero_padded(case.pieces[-1])),
        ),
    },
}

MISTAKES: tuple[Mistake, ...] = tuple(
    mistake for mode, table in _TABLES.items() for mistake in mode_mistakes(mode, table)
)
