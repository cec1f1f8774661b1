"""Every mode slot derived, with NumPy only, from a block cipher.

`derive` fills a whole `CipherSlots` from four functions (expand a key, wipe it, encrypt and decrypt
blocks), and `compose_gcm` joins a cipher and a GHASH into GCM's two halves. The `numpy` and
`reference` backends and the tests' AES adapter are made this way, so a new block function passes
every mode's tests before anybody writes a fused kernel for it.

Parallel directions (CTR, CBC and CFB decryption, XTS, OCB) hand `PIECE_BLOCKS` blocks at a time to
the block function; serial ones (CBC, CFB, OFB encryption) hand it one, or one of every message in
the ``_many`` forms.

Trap: in place, a block that a later step still needs (the previous ciphertext block) is read before
it is overwritten.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from twofishkit.positions import counter_blocks, ocb_offsets, words_of, xts_tweaks
from twofishkit.slots import Bytes, CipherSlots, GhashSlots, Kernels

#: Blocks handed to the block function at a time: what `vectorised` digests best.
PIECE_BLOCKS = 8192
#: Bytes that GCM encrypts before it hashes them, while they are still in the second-level cache.
GCM_PIECE_BYTES = 128 * 1024

BlockFunction = Callable[[Any, Bytes, Bytes], None]


def derive(
    *,
    name: str,
    constant_time: bool,
    expand_key: Callable[[Bytes], Any],
    wipe: Callable[[Any], None],
    encrypt_blocks: BlockFunction,
    decrypt_blocks: BlockFunction,
    **given: Callable[..., None],
) -> CipherSlots:
    """All slots of a cipher from its block functions.

    Parameters
    ----------
    name, constant_time
        as in `CipherSlots`
    expand_key, wipe, encrypt_blocks, decrypt_blocks
        the cipher; the block functions take (schedule, src, dst), whole blocks, also in place
    **given
        slots that the backend does better itself; they replace the derived ones

    Returns
    -------
    CipherSlots
    """
    derived: dict[str, Callable[..., Any]] = _serial(encrypt_blocks) | _chained(
        encrypt_blocks, decrypt_blocks
    )
    derived |= _counted(encrypt_blocks) | _tweaked(encrypt_blocks, decrypt_blocks)
    derived |= _keyed(expand_key, wipe, encrypt_blocks, decrypt_blocks)
    derived |= given
    return CipherSlots(
        name=name,
        constant_time=constant_time,
        cores=False,
        expand_key=expand_key,
        wipe=wipe,
        encrypt_blocks=encrypt_blocks,
        decrypt_blocks=decrypt_blocks,
        **derived,
    )


def compose_gcm(cipher: CipherSlots, ghash: GhashSlots) -> tuple[Callable[..., None], Callable[..., None]]:
    """GCM's two halves (`Kernels.gcm_encrypt`, `Kernels.gcm_decrypt`) from a cipher and a GHASH.

    Works over pieces of `GCM_PIECE_BYTES`, so that the second pass finds the data in the cache.
    Source: NIST SP 800-38D, 7.1 and 7.2.
    """
    ctr, absorb = cipher.ctr, ghash.ghash

    def hash_padded(table: Any, y: Bytes, ciphertext: Bytes) -> None:
        whole = len(ciphertext) & ~15
        absorb(table, y, ciphertext[:whole])
        if whole < len(ciphertext):
            last = np.zeros(16, np.uint8)
            last[: len(ciphertext) - whole] = ciphertext[whole:]
            absorb(table, y, last)

    def gcm_encrypt(schedule: Any, table: Any, counter: Bytes, y: Bytes, src: Bytes, dst: Bytes) -> None:
        for piece in _pieces(len(src), GCM_PIECE_BYTES):
            ctr(schedule, counter, 32, False, src[piece], dst[piece])
            hash_padded(table, y, dst[piece])

    def gcm_decrypt(schedule: Any, table: Any, counter: Bytes, y: Bytes, src: Bytes, dst: Bytes) -> None:
        for piece in _pieces(len(src), GCM_PIECE_BYTES):
            hash_padded(table, y, src[piece])
            ctr(schedule, counter, 32, False, src[piece], dst[piece])

    return gcm_encrypt, gcm_decrypt


def join(cipher: CipherSlots, ghash: GhashSlots, xor: Callable[[Bytes, Bytes, Bytes], None]) -> Kernels:
    """A cipher, a GHASH and an XOR as `Kernels`, with GCM composed of the first two."""
    gcm_encrypt, gcm_decrypt = compose_gcm(cipher, ghash)
    return Kernels(cipher, ghash, xor, gcm_encrypt, gcm_decrypt)


def xor(a: Bytes, b: Bytes, dst: Bytes) -> None:
    """dst = a ^ b; NumPy already works at memory speed."""
    np.bitwise_xor(a, b, out=dst)


def _pieces(length: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def _serial(encrypt: BlockFunction) -> dict[str, Callable[..., None]]:
    """Slots in which each block waits for the one before it; ``_many`` runs messages side by side."""

    def cbc_encrypt_many(schedule: Any, ivs: Bytes, src: Bytes, dst: Bytes) -> None:
        """C[i] = E(P[i] ^ C[i-1]). Source: NIST SP 800-38A, 6.2."""
        state = ivs.reshape(-1)
        for at in range(0, src.shape[1], 16):
            np.bitwise_xor(ivs, src[:, at : at + 16], out=ivs)
            encrypt(schedule, state, state)
            dst[:, at : at + 16] = ivs

    def cfb_encrypt_many(schedule: Any, ivs: Bytes, src: Bytes, dst: Bytes) -> None:
        """C[i] = P[i] ^ E(C[i-1]). Source: NIST SP 800-38A, 6.3 with s = 128."""
        state = ivs.reshape(-1)
        for at in range(0, src.shape[1], 16):
            encrypt(schedule, state, state)
            part = src[:, at : at + 16]
            ivs[:, : part.shape[1]] ^= part
            dst[:, at : at + 16] = ivs[:, : part.shape[1]]

    def ofb_many(schedule: Any, ivs: Bytes, src: Bytes, dst: Bytes) -> None:
        """O[i] = E(O[i-1]), C[i] = P[i] ^ O[i]. Source: NIST SP 800-38A, 6.4."""
        state = ivs.reshape(-1)
        for at in range(0, src.shape[1], 16):
            encrypt(schedule, state, state)
            part = src[:, at : at + 16]
            np.bitwise_xor(part, ivs[:, : part.shape[1]], out=dst[:, at : at + 16])

    def cfb8_encrypt(schedule: Any, iv: Bytes, src: Bytes, dst: Bytes) -> None:
        """c[i] = p[i] ^ first byte of E(register). Source: NIST SP 800-38A, 6.3 with s = 8."""
        output = np.empty(16, np.uint8)
        register = bytearray(iv.tobytes())
        for at, byte in enumerate(src.tobytes()):
            iv[:] = register
            encrypt(schedule, iv, output)
            register.append(byte ^ int(output[0]))
            del register[0]
            dst[at] = register[-1]
        iv[:] = register
        output.fill(0)

    def cbc_mac(schedule: Any, state: Bytes, src: Bytes) -> None:
        """state = E(state ^ block) for each block. Source: NIST SP 800-38B, 6.2, step 6."""
        for at in range(0, len(src), 16):
            np.bitwise_xor(state, src[at : at + 16], out=state)
            encrypt(schedule, state, state)

    def single(many: Callable[..., None]) -> Callable[..., None]:
        def run(schedule: Any, iv: Bytes, src: Bytes, dst: Bytes) -> None:
            many(schedule, iv.reshape(1, 16), src.reshape(1, -1), dst.reshape(1, -1))

        return run

    return {
        "cbc_encrypt": single(cbc_encrypt_many),
        "cfb_encrypt": single(cfb_encrypt_many),
        "ofb": single(ofb_many),
        "cfb8_encrypt": cfb8_encrypt,
        "cbc_encrypt_many": cbc_encrypt_many,
        "cfb_encrypt_many": cfb_encrypt_many,
        "ofb_many": ofb_many,
        "cbc_mac": cbc_mac,
    }


def _chained(encrypt: BlockFunction, decrypt: BlockFunction) -> dict[str, Callable[..., None]]:
    """The parallel directions of the chaining modes: all block inputs are known ciphertext."""

    def previous_blocks(iv: Bytes, piece: Bytes, inputs: Bytes) -> None:
        """inputs = iv || piece without its last block; iv = the last whole block of piece."""
        inputs[:16] = iv
        inputs[16:] = piece[: len(inputs) - 16]
        if len(piece) >= 16:
            end = len(piece) & ~15
            iv[:] = piece[end - 16 : end]

    def cbc_decrypt(schedule: Any, iv: Bytes, src: Bytes, dst: Bytes) -> None:
        """P[i] = D(C[i]) ^ C[i-1]. Source: NIST SP 800-38A, 6.2."""
        for piece in _pieces(len(src), 16 * PIECE_BLOCKS):
            ciphertext = src[piece]
            previous = np.empty(len(ciphertext), np.uint8)
            previous_blocks(iv, ciphertext, previous)
            decrypt(schedule, ciphertext, dst[piece])
            np.bitwise_xor(dst[piece], previous, out=dst[piece])

    def cfb_decrypt(schedule: Any, iv: Bytes, src: Bytes, dst: Bytes) -> None:
        """P[i] = C[i] ^ E(C[i-1]). Source: NIST SP 800-38A, 6.3 with s = 128."""
        for piece in _pieces(len(src), 16 * PIECE_BLOCKS):
            ciphertext = src[piece]
            keystream = np.empty(len(ciphertext) + 15 & ~15, np.uint8)
            previous_blocks(iv, ciphertext, keystream)
            encrypt(schedule, keystream, keystream)
            np.bitwise_xor(ciphertext, keystream[: len(ciphertext)], out=dst[piece])
            keystream.fill(0)

    def cfb8_decrypt(schedule: Any, iv: Bytes, src: Bytes, dst: Bytes) -> None:
        """p[i] = c[i] ^ first byte of E(register). Source: NIST SP 800-38A, 6.3 with s = 8."""
        for piece in _pieces(len(src), PIECE_BLOCKS):
            stream = np.concatenate((iv, src[piece]))
            count = len(stream) - 16
            windows = np.lib.stride_tricks.sliding_window_view(stream, 16)
            iv[:] = windows[count]
            # A copy: reshaping one window alone would give a read-only view of the stream.
            registers = windows[:count].copy().reshape(-1)
            encrypt(schedule, registers, registers)
            np.bitwise_xor(src[piece], registers[::16], out=dst[piece])
            registers.fill(0)

    return {"cbc_decrypt": cbc_decrypt, "cfb_decrypt": cfb_decrypt, "cfb8_decrypt": cfb8_decrypt}


def _counted(encrypt: BlockFunction) -> dict[str, Callable[..., None]]:
    def ctr(
        schedule: Any, counter: Bytes, counter_bits: int, little_endian: bool, src: Bytes, dst: Bytes
    ) -> None:
        """dst = src ^ E(counter) || E(counter + 1) ... Source: NIST SP 800-38A, 6.5."""
        for piece in _pieces(len(src), 16 * PIECE_BLOCKS):
            length = piece.stop - piece.start
            keystream = counter_blocks(counter, counter_bits, little_endian, (length + 15) // 16)
            encrypt(schedule, keystream, keystream)
            np.bitwise_xor(src[piece], keystream[:length], out=dst[piece])
            keystream.fill(0)

    return {"ctr": ctr}


def _tweaked(encrypt: BlockFunction, decrypt: BlockFunction) -> dict[str, Callable[..., None]]:
    """XTS and OCB: C = E(P ^ mask) ^ mask, with masks that depend on the position alone."""

    def xts(block: BlockFunction) -> Callable[..., None]:
        def run(schedule: Any, tweaks: Bytes, src: Bytes, dst: Bytes) -> None:
            """C = E(P ^ T) ^ T, T = T * alpha from block to block. Source: IEEE 1619-2018, 5.3.1."""
            units, length = src.shape
            columns = min(length, 16 * PIECE_BLOCKS)
            rows = 16 * PIECE_BLOCKS // max(columns, 16)
            for many in _pieces(units, rows):
                for part in _pieces(length, 16 * PIECE_BLOCKS):
                    masks = xts_tweaks(tweaks[many], (part.stop - part.start) // 16)
                    state = src[many, part] ^ masks
                    block(schedule, state.reshape(-1), state.reshape(-1))
                    np.bitwise_xor(state, masks, out=dst[many, part])

        return run

    def fold(total: Bytes, blocks: Bytes) -> None:
        """total ^= the XOR of all blocks."""
        words_of(total)[0] ^= np.bitwise_xor.reduce(words_of(blocks), axis=0)

    def ocb_encrypt(
        schedule: Any, ls: Bytes, offset: Bytes, checksum: Bytes, first: int, src: Bytes, dst: Bytes
    ) -> None:
        """C_i = E(P_i ^ Offset_i) ^ Offset_i, Checksum ^= P_i. Source: RFC 7253, 4.2."""
        for piece in _pieces(len(src), 16 * PIECE_BLOCKS):
            masks = ocb_offsets(ls, offset, first + piece.start // 16, (piece.stop - piece.start) // 16)
            state = src[piece].copy()
            fold(checksum, state)
            state ^= masks
            encrypt(schedule, state, state)
            np.bitwise_xor(state, masks, out=dst[piece])

    def ocb_decrypt(
        schedule: Any, ls: Bytes, offset: Bytes, checksum: Bytes, first: int, src: Bytes, dst: Bytes
    ) -> None:
        """P_i = D(C_i ^ Offset_i) ^ Offset_i, Checksum ^= P_i. Source: RFC 7253, 4.3."""
        for piece in _pieces(len(src), 16 * PIECE_BLOCKS):
            masks = ocb_offsets(ls, offset, first + piece.start // 16, (piece.stop - piece.start) // 16)
            state = src[piece] ^ masks
            decrypt(schedule, state, state)
            state ^= masks
            fold(checksum, state)
            dst[piece] = state
            state.fill(0)

    def ocb_hash(schedule: Any, ls: Bytes, offset: Bytes, total: Bytes, first: int, src: Bytes) -> None:
        """Sum ^= E(A_i ^ Offset_i). Source: RFC 7253, 4.1."""
        for piece in _pieces(len(src), 16 * PIECE_BLOCKS):
            masks = ocb_offsets(ls, offset, first + piece.start // 16, (piece.stop - piece.start) // 16)
            masks ^= src[piece]
            encrypt(schedule, masks, masks)
            fold(total, masks)

    return {
        "xts_encrypt": xts(encrypt),
        "xts_decrypt": xts(decrypt),
        "ocb_encrypt": ocb_encrypt,
        "ocb_decrypt": ocb_decrypt,
        "ocb_hash": ocb_hash,
    }


def _keyed(
    expand_key: Callable[[Bytes], Any],
    wipe: Callable[[Any], None],
    encrypt: BlockFunction,
    decrypt: BlockFunction,
) -> dict[str, Callable[..., None]]:
    """One block under each of many keys, one key after the other."""

    def each(block: BlockFunction) -> Callable[..., None]:
        def run(keys: Bytes, src: Bytes, dst: Bytes) -> None:
            for key, source, target in zip(keys, src, dst, strict=True):
                schedule = expand_key(key)
                block(schedule, source, target)
                wipe(schedule)

        return run

    return {"encrypt_each": each(encrypt), "decrypt_each": each(decrypt)}
