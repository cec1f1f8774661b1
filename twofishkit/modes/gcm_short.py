"""GCM for short messages with the usual 12-byte nonce, with as little Python around it as possible.

A message of 64 bytes is dominated by what surrounds the kernels: every new array costs as much as
encrypting it. So the message is put together in a buffer that exists already, laid out such that one
call of the counter-mode kernel gives E(J0) and the ciphertext, and one call of GHASH takes all of
its input::

    | aad, padded ...       last block of aad | ciphertext, padded | lengths |
                          | E(J0), before that |

Buffers are kept in a list, taken from its end and put back. `list.pop` and `list.append` are atomic,
so any number of threads may share a key. Keystream and plaintext are overwritten before a buffer is
put back.

Source: NIST SP 800-38D, 7.1 and 7.2.
"""

import struct
from hmac import compare_digest
from typing import TypeAlias

import numpy as np

from twofishkit.buffers import Bytes
from twofishkit.cipher import Cipher
from twofishkit.slots import GhashTable

NONCE_BYTES = 12
MAX_BYTES = 2048
MAX_AAD_BYTES = 64

_START = MAX_AAD_BYTES  # where the message begins
_MASK = _START - 16  # where E(J0) comes out
_BUFFER_BYTES = _START + MAX_BYTES + 16
_ZEROS = bytes(_BUFFER_BYTES)
_BLOCK = bytes(16)
_FIRST_COUNT = b"\0\0\0\1"

# Struct methods write into a bytearray, and read from it, in half the time of a slice.
_put_counter = struct.Struct("12s4s").pack_into
_put_block = struct.Struct("16s").pack_into
_words = struct.Struct(">QQ")
_put_words, _get_words, _block_of_words = _words.pack_into, _words.unpack_from, _words.pack

# The hashed text, the plaintext, the counter block and the state of GHASH: each as a bytearray,
# which takes bytes fast, and as the array of the same memory, which kernels want.
_Scratch: TypeAlias = tuple[bytearray, Bytes, bytearray, Bytes, bytearray, Bytes, bytearray, Bytes]


def _new_scratch() -> _Scratch:
    text, plain = bytearray(_BUFFER_BYTES), bytearray(_BUFFER_BYTES)
    counter, y = bytearray(16), bytearray(16)
    return (
        *(text, np.frombuffer(text, np.uint8), plain, np.frombuffer(plain, np.uint8)),
        *(counter, np.frombuffer(counter, np.uint8), y, np.frombuffer(y, np.uint8)),
    )


class ShortMessages:
    """Encrypts and decrypts short messages under one key.

    Parameters
    ----------
    cipher : Cipher
    table : GhashTable
        Of H, for the GHASH of the cipher's kernels.
    tag_length : int
    """

    __slots__ = ("_cipher", "_ctr", "_free", "_ghash", "_table", "_tag_length")

    def __init__(self, cipher: Cipher, table: GhashTable, tag_length: int) -> None:
        self._cipher = cipher
        self._ctr = cipher._kernels.cipher.ctr
        self._ghash = cipher._kernels.ghash.ghash
        self._table = table
        self._tag_length = tag_length
        self._free: list[_Scratch] = []

    def seal(self, nonce: bytes, data: bytes, aad: bytes) -> bytes:
        """Return ciphertext and tag of a message within the limits of this module."""
        schedule = self._cipher._schedule
        scratch = self._take()
        text, text_array, _, _, counter, counter_array, y, y_array = scratch
        end = _START + len(data)
        _put_counter(counter, 0, nonce, _FIRST_COUNT)
        text[_MASK:end] = _BLOCK + data
        part = text_array[_MASK:end]
        self._ctr(schedule, counter_array, 32, False, part, part)
        mask = _get_words(text, _MASK)
        tag = self._tag(text, text_array, end, aad, y, y_array, mask)
        ciphertext: bytes = text_array[_START:end].tobytes()
        self._free.append(scratch)
        return ciphertext + tag

    def open(self, nonce: bytes, data: bytes, aad: bytes) -> bytes | None:
        """Return the plaintext of what `seal` returned, or None if the tag does not fit.

        Data has a tag's length or more.
        """
        schedule = self._cipher._schedule
        scratch = self._take()
        text, text_array, plain, plain_array, counter, counter_array, y, y_array = scratch
        n = len(data) - self._tag_length
        end = _START + n
        _put_counter(counter, 0, nonce, _FIRST_COUNT)
        text[_MASK:end] = _BLOCK + data[:n]
        self._ctr(schedule, counter_array, 32, False, text_array[_MASK:end], plain_array[_MASK:end])
        mask = _get_words(plain, _MASK)
        tag = self._tag(text, text_array, end, aad, y, y_array, mask)
        genuine = compare_digest(tag, data[n:])
        plaintext = plain_array[_START:end].tobytes() if genuine else None
        plain[_MASK:end] = _ZEROS[_MASK:end]
        self._free.append(scratch)
        return plaintext

    def _take(self) -> _Scratch:
        try:
            return self._free.pop()
        except IndexError:
            return _new_scratch()

    def _tag(
        self,
        text: bytearray,
        text_array: Bytes,
        end: int,
        aad: bytes,
        y: bytearray,
        y_array: Bytes,
        mask: tuple[int, int],
    ) -> bytes:
        """Return the tag of the ciphertext in text[_START:end]; y is zero before and after.

        The block before the ciphertext, where E(J0) may still be, is overwritten.
        """
        start, bits = _START, 8 * (end - _START)
        if aad:
            padding = -len(aad) % 16
            start -= len(aad) + padding
            text[start:_START] = aad + _ZEROS[:padding]
        else:
            _put_block(text, _MASK, _BLOCK)
        if padding := (_START - end) % 16:
            text[end : end + padding] = _ZEROS[:padding]
            end += padding
        _put_words(text, end, 8 * len(aad), bits)
        self._ghash(self._table, y_array, text_array[start : end + 16])
        high, low = _get_words(y)
        _put_block(y, 0, _BLOCK)
        return _block_of_words(high ^ mask[0], low ^ mask[1])[: self._tag_length]
