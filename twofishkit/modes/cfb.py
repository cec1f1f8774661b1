"""CFB, cipher feedback: C_i = P_i ^ E(R_i), where the register R_i holds the last 16 bytes of ciphertext.

The segment size is part of the mode's name here, and counted in bits: `CFB` has segments of 128 bits
(R_i = C_{i-1}; any length, a partial last segment included) and `CFB8` of 8 bits (the register
shifts by one byte; one block encryption for each byte). What other libraries call plain "CFB" is
either of the two: the wrong one still decrypts the first byte right.

Encryption is serial; decryption is parallel. An iv must be unpredictable, and altered ciphertext is
not noticed.

Source: NIST SP 800-38A, 6.3, with s = 128 and s = 8.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from twofishkit.buffers import Data, Out, Result, prepare
from twofishkit.cipher import Cipher, as_cipher, describe
from twofishkit.modes.batches import GROUPED_BELOW, batch, fixed_iv, groups, previous_blocks, state
from twofishkit.modes.streaming import ByteContext, FeedbackContext


class CFB:
    """Cipher feedback with segments of 128 bits: C_i = P_i ^ E(C_{i-1}), with C_0 = iv.

    Parameters
    ----------
    key : bytes-like or Twofish
        16, 24 or 32 bytes, or a `Twofish` to share.
    iv : bytes-like, optional
        16 bytes, unpredictable and new for each message. Only the batch methods work without.

    Raises
    ------
    InvalidNonce
        If the iv does not have 16 bytes.
    InvalidKey, UnsupportedType
        As `Twofish`.

    Source: NIST SP 800-38A, 6.3 with s = 128.
    """

    __slots__ = ("_cipher", "_iv")

    def __init__(self, key: Data | Cipher, iv: Data | None = None) -> None:
        self._iv = fixed_iv(iv)
        self._cipher = as_cipher(key)

    def encrypt(self, data: Data, *, out: Out = None) -> Result:
        """Encrypt a message of any length.

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
        InvalidBuffer, InvalidNonce, UnsupportedType, StateError
            For buffers that cannot be used, an object without iv, or a wiped key.
        """
        schedule = self._cipher._schedule
        iv = state(self._iv, "CFB")
        src, dst, finish = prepare(data, out)
        self._cipher._kernels.cipher.cfb_encrypt(schedule, iv, src, dst)
        return finish()

    def decrypt(self, data: Data, *, out: Out = None) -> Result:
        """Decrypt a message of any length: P_i = C_i ^ E(C_{i-1}).

        Parameters, results and errors are those of `encrypt`.
        """
        schedule = self._cipher._schedule
        iv = state(self._iv, "CFB")
        src, dst, finish = prepare(data, out)
        self._cipher._kernels.cipher.cfb_decrypt(schedule, iv, src, dst)
        return finish()

    def encrypt_many(self, ivs: npt.NDArray[np.uint8], data: npt.NDArray[Any], *, out: Out = None) -> Result:
        """Encrypt n independent messages of one length side by side, message i under iv i.

        Much faster than one after the other. The iv of the object is not used.

        Parameters
        ----------
        ivs : uint8[n, 16]
        data : ndarray
            Its first axis counts the messages, which may have any length in bytes.
        out : writable buffer, optional
            As many bytes as data; may be data itself.

        Returns
        -------
        An ndarray like data, or ``out``.

        Raises
        ------
        InvalidNonce, InvalidLength
            If shapes do not fit.
        UnsupportedType, InvalidBuffer, StateError
            If ivs or data are not arrays, out cannot be used, or the key was wiped.
        """
        schedule = self._cipher._schedule
        own, src, dst, finish = batch(ivs, data, out, "CFB", whole_blocks=False)
        self._cipher._kernels.cipher.cfb_encrypt_many(schedule, own, src, dst)
        return finish()

    def decrypt_many(self, ivs: npt.NDArray[np.uint8], data: npt.NDArray[Any], *, out: Out = None) -> Result:
        """Decrypt n independent messages of one length, message i under iv i.

        Parameters, results and errors are those of `encrypt_many`.
        """
        schedule = self._cipher._schedule
        slots = self._cipher._kernels.cipher
        own, src, dst, finish = batch(ivs, data, out, "CFB", whole_blocks=False)
        n, m = src.shape
        if m >= GROUPED_BELOW:
            for i in range(n):
                slots.cfb_decrypt(schedule, own[i], src[i], dst[i])
            return finish()
        for some in groups(n, m):
            keystream = previous_blocks(own[some], src[some])
            slots.encrypt_blocks(schedule, keystream.reshape(-1), keystream.reshape(-1))
            np.bitwise_xor(src[some], keystream[:, :m], out=dst[some])
        return finish()

    def encryptor(self) -> FeedbackContext:
        """A context that encrypts one message given in pieces: ``update(data)``, ``finalize()``."""
        slot = self._cipher._kernels.cipher.cfb_encrypt
        return FeedbackContext(self._cipher, slot, state(self._iv, "CFB"), decrypting=False)

    def decryptor(self) -> FeedbackContext:
        """A context that decrypts one message given in pieces: ``update(data)``, ``finalize()``."""
        slot = self._cipher._kernels.cipher.cfb_decrypt
        return FeedbackContext(self._cipher, slot, state(self._iv, "CFB"), decrypting=True)

    def __repr__(self) -> str:
        return f"CFB({describe(self._cipher)})"


class CFB8:
    """Cipher feedback with segments of 8 bits: c = p ^ first byte of E(R), then R shifts c in.

    Parameters
    ----------
    key : bytes-like or Twofish
        16, 24 or 32 bytes, or a `Twofish` to share.
    iv : bytes-like
        16 bytes, the first register: unpredictable and new for each message.

    Raises
    ------
    InvalidNonce
        If the iv does not have 16 bytes.
    InvalidKey, UnsupportedType
        As `Twofish`.

    Source: NIST SP 800-38A, 6.3 with s = 8.
    """

    __slots__ = ("_cipher", "_iv")

    def __init__(self, key: Data | Cipher, iv: Data) -> None:
        self._iv = fixed_iv(iv)
        self._cipher = as_cipher(key)

    def encrypt(self, data: Data, *, out: Out = None) -> Result:
        """Encrypt a message of any length, one block encryption for each byte.

        Parameters, results and errors are those of `CFB.encrypt`.
        """
        schedule = self._cipher._schedule
        iv = state(self._iv, "CFB8")
        src, dst, finish = prepare(data, out)
        self._cipher._kernels.cipher.cfb8_encrypt(schedule, iv, src, dst)
        return finish()

    def decrypt(self, data: Data, *, out: Out = None) -> Result:
        """Decrypt a message of any length, one block encryption for each byte.

        Parameters, results and errors are those of `CFB.encrypt`.
        """
        schedule = self._cipher._schedule
        iv = state(self._iv, "CFB8")
        src, dst, finish = prepare(data, out)
        self._cipher._kernels.cipher.cfb8_decrypt(schedule, iv, src, dst)
        return finish()

    def encryptor(self) -> ByteContext:
        """A context that encrypts one message given in pieces: ``update(data)``, ``finalize()``."""
        iv, slot = state(self._iv, "CFB8"), self._cipher._kernels.cipher.cfb8_encrypt
        return ByteContext(self._cipher, lambda schedule, src, dst: slot(schedule, iv, src, dst))

    def decryptor(self) -> ByteContext:
        """A context that decrypts one message given in pieces: ``update(data)``, ``finalize()``."""
        iv, slot = state(self._iv, "CFB8"), self._cipher._kernels.cipher.cfb8_decrypt
        return ByteContext(self._cipher, lambda schedule, src, dst: slot(schedule, iv, src, dst))

    def __repr__(self) -> str:
        return f"CFB8({describe(self._cipher)})"
