"""PKCS#7 padding, for the modes that process whole blocks only.

Padding appends k bytes of value k, 1 <= k <= 16, so that the length becomes a multiple of 16; a
message that is one already gets a whole block more. Nothing is padded unless asked for.

Traps. An attacker who can submit altered ciphertexts and learn whether the padding was valid (from
the error, from its text, or from how long things take) can decrypt messages byte by byte, without
the key: a padding oracle. `InvalidPadding` is such an answer. Padding is no integrity check either:
one wrong key in 256 or so gives valid padding. Authenticate what is decrypted: use `seal`, `GCM` or
another authenticated mode, or verify a MAC over IV and ciphertext first.

Source: RFC 5652, section 6.3.
"""

from collections.abc import Callable

import numpy as np

from twofishkit.buffers import Bytes, Data, Out, Result, as_bytes, byte_length, output_like, prepare, separate
from twofishkit.cipher import BLOCK_SIZE
from twofishkit.errors import InvalidLength, InvalidPadding, InvalidParameter

#: Encrypts or decrypts whole blocks, (src, dst), going on where the call before stopped.
Transform = Callable[[Bytes, Bytes], None]


def check_padding(padding: str | None) -> bool:
    """Whether to pad.

    Raises
    ------
    InvalidParameter
        For anything but None and "pkcs7".
    """
    if padding is None:
        return False
    if isinstance(padding, str) and padding == "pkcs7":
        return True
    raise InvalidParameter(f'padding is {padding!r}; it must be None or "pkcs7"')


def check_whole_blocks(n: int, mode: str) -> None:
    """Refuse a message of n bytes that is not whole blocks, and say what to do instead.

    Raises
    ------
    InvalidLength
    """
    if n % BLOCK_SIZE:
        raise InvalidLength(
            f"data has {n} bytes; {mode} processes whole blocks of {BLOCK_SIZE} bytes:"
            ' pass padding="pkcs7", or use a mode for any length such as CTR or GCM'
        )


def check_padded_length(n: int, mode: str) -> None:
    """Refuse a ciphertext of n bytes that padding cannot have led to.

    Raises
    ------
    InvalidLength
    """
    if n == 0 or n % BLOCK_SIZE:
        raise InvalidLength(
            f"data has {n} bytes; padded {mode} ciphertext is one or more whole blocks of {BLOCK_SIZE} bytes"
        )


def last_block(tail: Bytes) -> Bytes:
    """The block that ends a padded message: tail (0 to 15 bytes), then 16 - len(tail) times that number."""
    block = np.full(BLOCK_SIZE, BLOCK_SIZE - tail.size, np.uint8)
    block[: tail.size] = tail
    return block


def kept(block: Bytes) -> int:
    """How many bytes of the last decrypted block belong to the message: 0 to 15.

    All 16 bytes are looked at, whatever their values; but see the traps above.

    Raises
    ------
    InvalidPadding
    """
    values = block.tolist()
    count = values[-1]
    wrong = int(not 1 <= count <= BLOCK_SIZE)
    for distance, value in enumerate(reversed(values)):
        wrong |= (distance < count) & (value != count)
    if wrong:
        raise InvalidPadding(
            "the decrypted data does not end in PKCS#7 padding: wrong key, iv or mode, altered data, or data"
            " that was not padded"
        )
    return BLOCK_SIZE - int(count)


def encrypt_padded(transform: Transform, data: Data, out: Out) -> Result:
    """Pad and encrypt: out has len(data) rounded up to the next multiple of 16, never equal to it."""
    n = byte_length(data)
    whole = n - n % BLOCK_SIZE
    src, dst, finish = prepare(data, out, n=whole + BLOCK_SIZE, flat=True)
    last = last_block(src[whole:])  # before dst, which may be the same memory, is written
    transform(src[:whole], dst[:whole])
    transform(last, dst[whole:])
    return finish()


def decrypt_padded(
    transform: Transform, transform_last: Transform, data: Data, out: Out, mode: str
) -> Result:
    """Decrypt and remove padding.

    The last block is decrypted first: with the length of the message known, out can be checked
    and the rest decrypted straight into its place.

    Parameters
    ----------
    transform : callable
        Decrypts blocks from the first one on.
    transform_last : callable
        Decrypts the last block of the whole source, (src, dst uint8[16]), without touching any state.
    """
    n = byte_length(data)
    check_padded_length(n, mode)
    src = as_bytes(data)
    last = np.empty(BLOCK_SIZE, np.uint8)
    transform_last(src, last)
    whole = n - BLOCK_SIZE
    keep = kept(last)
    dst, finish = output_like(data, whole + keep, out, flat=True)
    src = separate(src, dst)
    transform(src[:whole], dst[:whole])
    dst[whole:] = last[:keep]
    return finish()
