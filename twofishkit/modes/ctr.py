"""CTR, counter mode: C_i = P_i ^ E(T_i), where T_0 = iv and T_{i+1} = T_i + 1.

Parallel in both directions, any length, random access. A counter block used twice under one key
reveals both messages, and altered ciphertext is not noticed: `GCM` is CTR with a tag.

The iv is the whole first counter block, nonce and counter together, and always 16 bytes: padding a
shorter one would be a guess that other libraries make differently, and a wrong guess repeats
keystream. Which bytes of it count is told by two parameters:

=============  ==============================================================================
counter_bits   the field that counts, modulo 2^counter_bits; the other bytes never change
byteorder      "big": the last bytes of the block, most significant first (NIST, OpenSSL, GCM);
               "little": the first bytes, least significant first
=============  ==============================================================================

The field may start anywhere and wraps; the limit is on the number of blocks, 2^counter_bits, since
only then does a counter block come again.

Source: NIST SP 800-38A, 6.5 and appendix B.1.
"""

from typing import Literal

import numpy as np

from twofishkit.buffers import Bytes, Data, Out, Result, byte_length, prepare, small
from twofishkit.cipher import BLOCK_SIZE, Cipher, as_cipher, as_index, describe
from twofishkit.errors import InvalidParameter, LimitExceeded
from twofishkit.modes.streaming import CounterContext
from twofishkit.slots import SHORT_BYTES


class CTR:
    """Counter mode: C_i = P_i ^ E(iv + i).

    Parameters
    ----------
    key : bytes-like or Twofish
        16, 24 or 32 bytes, or a `Twofish` to share.
    iv : bytes-like
        Exactly 16 bytes, the first counter block. No counter block may be used twice under one key.
    counter_bits : 128, 64 or 32
        Width of the field that counts.
    byteorder : "big" or "little"
        Where in the block the field is, and its byte order.

    Raises
    ------
    InvalidNonce
        If the iv does not have 16 bytes.
    InvalidParameter
        For another width or byte order.
    InvalidKey, UnsupportedType
        As `Twofish`.

    Source: NIST SP 800-38A, 6.5.
    """

    __slots__ = ("_cipher", "_counter_bits", "_iv", "_iv_bytes", "_little_endian", "_message", "_slot")

    def __init__(
        self, key: Data | Cipher, iv: Data, *, counter_bits: int = 128, byteorder: str = "big"
    ) -> None:
        if as_index(counter_bits, "counter_bits") not in (32, 64, 128):
            raise InvalidParameter(f"counter_bits is {counter_bits}; it must be 32, 64 or 128")
        if byteorder not in ("big", "little"):
            raise InvalidParameter(f'byteorder is {byteorder!r}; it must be "big" or "little"')
        allowed = "exactly 16: the whole first counter block, nonce and counter together"
        self._iv_bytes = small(iv, "iv", (BLOCK_SIZE,), allowed)
        self._iv = np.frombuffer(self._iv_bytes, np.uint8)
        self._counter_bits = int(counter_bits)
        self._little_endian = byteorder == "little"
        self._cipher = as_cipher(key)
        self._slot = self._cipher._kernels.cipher.ctr
        self._message = self._cipher._kernels.ctr_message

    def encrypt(self, data: Data, *, out: Out = None) -> Result:
        """Encrypt or decrypt a message of any length.

        Parameters
        ----------
        data : bytes-like or ndarray
        out : writable buffer, optional
            As many bytes as data; may be data itself.

        Returns
        -------
        An ndarray like data for an ndarray, bytes for other input, ``out`` if it is given.

        Raises
        ------
        LimitExceeded
            If the message has more than 2^counter_bits blocks.
        InvalidBuffer, UnsupportedType, StateError
            For buffers that cannot be used, or a wiped key.
        """
        schedule = self._cipher._schedule
        message = self._message
        if message is not None and type(data) is bytes and out is None and len(data) <= SHORT_BYTES:
            # Such messages are dominated by Python: one compiled call on the bytes as they are.
            short = bytearray(len(data))
            message(schedule, self._iv_bytes, self._counter_bits, self._little_endian, data, short)
            return bytes(short)
        if self._counter_bits == 32 and byte_length(data) > BLOCK_SIZE << 32:
            # Wider counters outlast any memory.
            raise LimitExceeded(
                f"data has {byte_length(data)} bytes; a 32-bit counter gives 2^32 blocks,"
                f" {BLOCK_SIZE << 32} bytes"
            )
        src, dst, finish = prepare(data, out)
        self._slot(schedule, self._iv.copy(), self._counter_bits, self._little_endian, src, dst)
        return finish()

    def decrypt(self, data: Data, *, out: Out = None) -> Result:
        """Decrypt a message of any length: the same as `encrypt`."""
        return self.encrypt(data, out=out)

    def encryptor(self) -> CounterContext:
        """A context that encrypts one message given in pieces.

        ``update(data)``, ``finalize()``, and ``seek(block)`` to go on at any block.
        """
        slot, bits, little_endian = self._slot, self._counter_bits, self._little_endian

        def advance(schedule: object, counter: Bytes, src: Bytes, dst: Bytes) -> None:
            slot(schedule, counter, bits, little_endian, src, dst)

        return CounterContext(self._cipher, advance, self._counter_at, 1 << bits)

    def decryptor(self) -> CounterContext:
        """A context that decrypts one message given in pieces: the same as `encryptor`."""
        return self.encryptor()

    def _counter_at(self, block: int) -> Bytes:
        """The counter of a block, iv + block in the field that counts, as a new uint8[16]."""
        width = self._counter_bits // 8
        byteorder: Literal["little", "big"] = "little" if self._little_endian else "big"
        counter = self._iv.copy()
        field = counter[:width] if self._little_endian else counter[-width:]
        value = (int.from_bytes(field.tobytes(), byteorder) + block) % (1 << self._counter_bits)
        field[:] = np.frombuffer(value.to_bytes(width, byteorder), np.uint8)
        return counter

    def __repr__(self) -> str:
        byteorder = "little" if self._little_endian else "big"
        return f"CTR({describe(self._cipher)}, counter_bits={self._counter_bits}, byteorder={byteorder!r})"
