"""OFB, output feedback: the keystream is iv encrypted over and over, O_i = E(O_{i-1}), C_i = P_i ^ O_i.

The keystream is serial (`encrypt_many` runs messages side by side). An iv used twice under one key
reveals both messages, and altered ciphertext is not noticed.

Source: NIST SP 800-38A, 6.4.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from twofishkit.buffers import Data, Out, Result, prepare
from twofishkit.cipher import Cipher, as_cipher, describe
from twofishkit.modes.batches import batch, fixed_iv, state
from twofishkit.modes.streaming import KeystreamContext


class OFB:
    """Output feedback: C_i = P_i ^ O_i, where O_i = E(O_{i-1}) and O_0 = iv.

    Parameters
    ----------
    key : bytes-like or Twofish
        16, 24 or 32 bytes, or a `Twofish` to share.
    iv : bytes-like, optional
        16 bytes, never used twice under one key. Only the batch methods work without.

    Raises
    ------
    InvalidNonce
        If the iv does not have 16 bytes.
    InvalidKey, UnsupportedType
        As `Twofish`.

    Source: NIST SP 800-38A, 6.4.
    """

    __slots__ = ("_cipher", "_iv")

    def __init__(self, key: Data | Cipher, iv: Data | None = None) -> None:
        self._iv = fixed_iv(iv)
        self._cipher = as_cipher(key)

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
        InvalidBuffer, InvalidNonce, UnsupportedType, StateError
            For buffers that cannot be used, an object without iv, or a wiped key.
        """
        schedule = self._cipher._schedule
        iv = state(self._iv, "OFB")
        src, dst, finish = prepare(data, out)
        self._cipher._kernels.cipher.ofb(schedule, iv, src, dst)
        return finish()

    def decrypt(self, data: Data, *, out: Out = None) -> Result:
        """Decrypt a message of any length: the same as `encrypt`."""
        return self.encrypt(data, out=out)

    def encrypt_many(self, ivs: npt.NDArray[np.uint8], data: npt.NDArray[Any], *, out: Out = None) -> Result:
        """Encrypt or decrypt n independent messages of one length side by side, message i under iv i.

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
        own, src, dst, finish = batch(ivs, data, out, "OFB", whole_blocks=False)
        self._cipher._kernels.cipher.ofb_many(schedule, own, src, dst)
        return finish()

    def decrypt_many(self, ivs: npt.NDArray[np.uint8], data: npt.NDArray[Any], *, out: Out = None) -> Result:
        """Decrypt n independent messages of one length: the same as `encrypt_many`."""
        return self.encrypt_many(ivs, data, out=out)

    def encryptor(self) -> KeystreamContext:
        """A context that encrypts one message given in pieces: ``update(data)``, ``finalize()``."""
        iv, slot = state(self._iv, "OFB"), self._cipher._kernels.cipher.ofb
        return KeystreamContext(self._cipher, lambda schedule, src, dst: slot(schedule, iv, src, dst))

    def decryptor(self) -> KeystreamContext:
        """A context that decrypts one message given in pieces: the same as `encryptor`."""
        return self.encryptor()

    def __repr__(self) -> str:
        return f"OFB({describe(self._cipher)})"
