"""Known mistakes of the modes that only hide data, and of CMAC and GHASH."""

from collections.abc import Callable
from dataclasses import replace

from twofishkit.reference import modes
from twofishkit.reference.authenticated import zero_padded
from twofishkit.reference.gf128 import (
    BLOCK,
    ZERO_BLOCK,
    xor,
)
from twofishkit.testing.cases import Case
from twofishkit.testing.mistakes.kinds import Mistake, mode_mistakes
from twofishkit.testing.oracle import Expand, ModeFunction, answer

#: The two directions of a mode as the reference has them.
Direction = Callable[[modes.BlockCipher, bytes, bytes], bytes]


# --- cutting into pieces and in place, for several modes --------------------------------------------


def each_piece_alone(case: Case, expand: Expand) -> bytes:
    """Every piece is processed as a message of its own: the state is not carried over."""
    alone = (replace(case, data=piece, chunks=()) for piece in case.pieces)
    return b"".join(answer(piece, expand).data for piece in alone)


def keystream_rest_dropped(case: Case, expand: Expand) -> bytes:
    """The keystream left over in a block at the end of a piece is not used for the next piece."""
    padded, positions = b"", list[int]()
    for piece in case.pieces:
        positions += range(len(padded), len(padded) + len(piece))
        padded = zero_padded(padded + piece)
    whole = answer(replace(case, data=padded, chunks=()), expand).data
    return bytes(whole[position] for position in positions)


def _iv_ignored(case: Case, expand: Expand) -> bytes:
    return answer(replace(case, iv=ZERO_BLOCK), expand).data


_IV_IGNORED = ("an IV of zeros in place of the one given", _iv_ignored)


# --- ECB and CBC ------------------------------------------------------------------------------------


def _only_the_first_block(case: Case, expand: Expand) -> bytes:
    cipher = expand(case.key)
    permute = cipher.decrypt_block if case.decrypting else cipher.encrypt_block
    head = case.data[:BLOCK]
    return (permute(head) if head else b"") + case.data[BLOCK:]


def _cbc_without_chaining(case: Case, expand: Expand) -> bytes:
    return answer(replace(case, operation=f"ecb-{case.operation[4:]}"), expand).data


def _cbc_chains_plaintext(case: Case, expand: Expand) -> bytes:
    cipher, previous, result = expand(case.key), case.iv, b""
    for block in modes.blocks(case.data):
        out = (
            xor(cipher.decrypt_block(block), previous)
            if case.decrypting
            else cipher.encrypt_block(xor(block, previous))
        )
        previous = out if case.decrypting else block
        result += out
    return result


def _cbc_iv_after(case: Case, expand: Expand) -> bytes:
    """C_j = E(P_j) ^ C_(j-1)."""
    cipher, previous, result = expand(case.key), case.iv, b""
    for block in modes.blocks(case.data):
        if case.decrypting:
            out, previous = cipher.decrypt_block(xor(block, previous)), block
        else:
            out = previous = xor(cipher.encrypt_block(block), previous)
        result += out
    return result


def _decrypting_in_place(wrong: Direction) -> ModeFunction:
    """Right, except that decryption in place chains what it has already written."""

    def run(case: Case, expand: Expand) -> bytes:
        if case.decrypting and case.in_place:
            return wrong(expand(case.key), case.iv, case.data)
        return answer(case, expand).data

    return run


def _cbc_decrypt_chaining_output(cipher: modes.BlockCipher, iv: bytes, data: bytes) -> bytes:
    previous, result = iv, b""
    for block in modes.blocks(data):
        previous = xor(cipher.decrypt_block(block), previous)
        result += previous
    return result


def _cfb_decrypt_chaining_output(cipher: modes.BlockCipher, iv: bytes, data: bytes) -> bytes:
    previous, result = iv, b""
    for block in modes.blocks(data):
        previous = xor(block, cipher.encrypt_block(previous))
        result += previous
    return result


# --- CFB, OFB and CTR -------------------------------------------------------------------------------


def _another_mode(mode: str) -> ModeFunction:
    """Another mode, in the same direction."""

    def run(case: Case, expand: Expand) -> bytes:
        direction = "decrypt" if case.decrypting else "encrypt"
        return answer(replace(case, operation=f"{mode}-{direction}"), expand).data

    return run


def _cfb_decrypted_as_encrypted(case: Case, expand: Expand) -> bytes:
    return modes.cfb_encrypt(expand(case.key), case.iv, case.data)


def _cfb_with_inverse_cipher(case: Case, expand: Expand) -> bytes:
    cipher = expand(case.key)
    return (
        modes.cfb_decrypt(_Inverted(cipher), case.iv, case.data)
        if case.decrypting
        else (modes.cfb_encrypt(cipher, case.iv, case.data))
    )


class _Inverted:
    """The cipher the other way round."""

    def __init__(self, cipher: modes.BlockCipher) -> None:
        self.encrypt_block = cipher.decrypt_block
        self.decrypt_block = cipher.encrypt_block


def _cfb8_variant(*, last_byte: bool = False, shift_right: bool = False) -> ModeFunction:
    def run(case: Case, expand: Expand) -> bytes:
        cipher, register, result = expand(case.key), case.iv, bytearray()
        for byte in case.data:
            result.append(byte ^ cipher.encrypt_block(register)[-1 if last_byte else 0])
            fed = bytes([byte if case.decrypting else result[-1]])
            register = fed + register[:-1] if shift_right else register[1:] + fed
        return bytes(result)

    return run


def _cfb8_feeds_plaintext(case: Case, expand: Expand) -> bytes:
    cipher, register, result = expand(case.key), case.iv, bytearray()
    for byte in case.data:
        result.append(byte ^ cipher.encrypt_block(register)[0])
        register = register[1:] + bytes([result[-1] if case.decrypting else byte])
    return bytes(result)


def counting(
    counter_bits: int = 128, *, little: bool = False, first: Callable[[bytes], bytes] = bytes
) -> ModeFunction:
    """CTR with another counter than `Case.mode` has, or from another first block."""

    def run(case: Case, expand: Expand) -> bytes:
        order = "little" if little else "big"
        return modes.ctr(expand(case.key), first(case.iv), case.data, counter_bits, order)  # type: ignore[arg-type]

    return run


def _ctr_without_counting(case: Case, expand: Expand) -> bytes:
    stream = expand(case.key).encrypt_block(case.iv)
    return b"".join(xor(block, stream) for block in modes.blocks(case.data))


def _ctr_tail_kept(case: Case, expand: Expand) -> bytes:
    """A last block of fewer bytes is not encrypted."""
    whole = len(case.data) // BLOCK * BLOCK
    return modes.ctr(expand(case.key), case.iv, case.data[:whole]) + case.data[whole:]


_TABLES: dict[str, dict[str, tuple[str, ModeFunction]]] = {
    "ecb": {
        "ecb-only-first-block": ("blocks after the first left as they are", _only_the_first_block),
    },
    "cbc": {
        "cbc-iv-ignored": _IV_IGNORED,
        "cbc-without-chaining": ("no chaining (ECB)", _cbc_without_chaining),
        "cbc-chains-plaintext": (
            "plaintext blocks chained in place of ciphertext blocks",
            _cbc_chains_plaintext,
        ),
        "cbc-xor-after-cipher": ("the chaining XOR on the other side of the block cipher", _cbc_iv_after),
        "cbc-decrypt-in-place": (
            "decryption in place chaining the plaintext that it has just written",
            _decrypting_in_place(_cbc_decrypt_chaining_output),
        ),
        "cbc-pieces-restart": ("every piece started again from the IV", each_piece_alone),
    },
    "cfb": {
        "cfb8-for-cfb": ("segments of 8 bits (CFB-8 for CFB-128)", _another_mode("cfb8")),
        "ofb-for-cfb": ("OFB in place of CFB", _another_mode("ofb")),
        "cfb-iv-ignored": _IV_IGNORED,
        "cfb-decrypt-feeds-plaintext": (
            "the plaintext fed back in decryption, as if it encrypted",
            _cfb_decrypted_as_encrypted,
        ),
        "cfb-decrypt-inverse-cipher": (
            "the inverse block cipher in decryption",
            _cfb_with_inverse_cipher,
        ),
        "cfb-decrypt-in-place": (
            "decryption in place feeding back the plaintext that it has just written",
            _decrypting_in_place(_cfb_decrypt_chaining_output),
        ),
        "cfb-pieces-restart": ("every piece started again from the IV", each_piece_alone),
    },
    "cfb8": {
        "cfb-for-cfb8": ("segments of 128 bits (CFB-128 for CFB-8)", _another_mode("cfb")),
        "cfb8-last-byte": (
            "the last byte of the encrypted register in place of the first",
            _cfb8_variant(last_byte=True),
        ),
        "cfb8-shifts-right": ("the register shifted the other way", _cfb8_variant(shift_right=True)),
        "cfb8-feeds-plaintext": ("the plaintext fed back in place of the ciphertext", _cfb8_feeds_plaintext),
        "cfb8-pieces-restart": ("every piece started again from the IV", each_piece_alone),
    },
    "ofb": {
        "cfb-for-ofb": ("CFB in place of OFB", _another_mode("cfb")),
        "ofb-iv-ignored": _IV_IGNORED,
        "ofb-pieces-restart": ("every piece started again from the IV", each_piece_alone),
        "ofb-rest-dropped": (
            "the keystream left in a block dropped at the end of each piece",
            keystream_rest_dropped,
        ),
    },
    "ctr": {
        "ctr-little-endian": ("a little-endian counter", counting(little=True)),
        "ctr-8-bits": ("no carry beyond the last 8 bits of the counter", counting(8)),
        "ctr-16-bits": ("no carry beyond the last 16 bits of the counter", counting(16)),
        "ctr-32-bits": ("no carry beyond the last 32 bits of the counter", counting(32)),
        "ctr-64-bits": ("no carry beyond the last 64 bits of the counter", counting(64)),
        "ctr-counts-first": (
            "the counter incremented before its first use",
            counting(first=modes.next_counter),
        ),
        "ctr-nonce-96": (
            "the last 32 bits of the IV replaced by a counter from 0",
            counting(first=lambda iv: iv[:12] + bytes(4)),
        ),
        "ctr-not-counting": ("the same counter for every block", _ctr_without_counting),
        "ctr-tail-kept": ("a last block of fewer bytes left as it is", _ctr_tail_kept),
        "ctr-pieces-restart": ("every piece started again from the IV", each_piece_alone),
        "ctr-rest-dropped": (
            "the keystream left in a block dropped at the end of each piece",
            keystream_rest_dropped,
        ),
    },
}

MISTAKES: tuple[Mistake, ...] = tuple(
    mistake for mode, table in _TABLES.items() for mistake in mode_mistakes(mode, table)
)
