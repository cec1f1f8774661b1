"""CBC, cipher block chaining: C_i = E(P_i ^ C_{i-1}), C_0 = iv; P_i = D(C_i) ^ C_{i-1}.

Encryption is serial, one block after the other (`encrypt_many` runs messages side by side);
decryption is parallel. An iv must be unpredictable, and altered ciphertext is not noticed.

Source: NIST SP 800-38A, 6.2.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from twofishkit.buffers import Bytes, Data, Out, Result, byte_length, prepare
from twofishkit.cipher import BLOCK_SIZE, Cipher, as_cipher, describe
from twofishkit.modes.batches import GROUPED_BELOW, batch, fixed_iv, groups, previous_blocks, state
from twofishkit.modes.padding import check_padding, check_whole_blocks, decrypt_padded, encrypt_padded
from twofishkit.modes.streaming import BlockContext


class CBC:
    """Cipher block chaining: C_i = E(P_i ^ C_{i-1}), with C_0 = iv.

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

    Source: NIST SP 800-38A, 6.2.
    """

    __slots__ = ("_cipher", "_iv")

    def __init__(self, key: Data | Cipher, iv: Data | None = None) -> None:
        self._iv = fixed_iv(iv)
        self._cipher = as_cipher(key)

    def encrypt(self, data: Data, *, out: Out = None, padding: str | None = None) -> Result:
        """Encrypt whole blocks, or with padding any number of bytes.

        Parameters
        ----------
        data : bytes-like or ndarray
            A multiple of 16 bytes unless padding is given.
        out : writable buffer, optional
            As many bytes as data, with padding the next multiple of 16; may be (the start of) the
            memory of data.
        padding : None or "pkcs7"
            None by default.

        Returns
        -------
        ndarray or bytes
            An ndarray like data for an ndarray (with padding: uint8[n], one-dimensional), bytes for
            other input, ``out`` if it is given.

        Raises
        ------
        InvalidLength
            If data is not whole blocks and is not to be padded.
        InvalidParameter
            For an unknown padding.
        InvalidBuffer, InvalidNonce, UnsupportedType, StateError
            For buffers that cannot be used, an object without iv, or a wiped key.
        """
        schedule = self._cipher._schedule
        slot = self._cipher._kernels.cipher.cbc_encrypt
        iv = state(self._iv, "CBC")
        if check_padding(padding):
            return encrypt_padded(lambda src, dst: slot(schedule, iv, src, dst), data, out)
        check_whole_blocks(byte_length(data), "CBC")
        src, dst, finish = prepare(data, out)
        slot(schedule, iv, src, dst)
        return finish()

    def decrypt(self, data: Data, *, out: Out = None, padding: str | None = None) -> Result:
        """Decrypt whole blocks, and remove the padding if there is one.

        Parameters and results are those of `encrypt`; with padding, out must have exactly as many
        bytes as the message, which is 1 to 16 fewer than data.

        Raises
        ------
        InvalidLength
            If data is not whole blocks, or is empty where it must be padded.
        InvalidPadding
            If the message does not end in valid padding; out is then as it was. Whoever can provoke
            this error at will can decrypt: see `twofishkit.modes.padding`.
        InvalidParameter, InvalidBuffer, InvalidNonce, UnsupportedType, StateError
            As for `encrypt`.
        """
        schedule = self._cipher._schedule
        slot = self._cipher._kernels.cipher.cbc_decrypt
        iv = state(self._iv, "CBC")

        def last(src: Bytes, block: Bytes) -> None:
            before = src[-2 * BLOCK_SIZE : -BLOCK_SIZE] if src.size > BLOCK_SIZE else iv
            slot(schedule, before.copy(), src[-BLOCK_SIZE:], block)

        if check_padding(padding):
            return decrypt_padded(lambda src, dst: slot(schedule, iv, src, dst), last, data, out, "CBC")
        check_whole_blocks(byte_length(data), "CBC")
        src, dst, finish = prepare(data, out)
        slot(schedule, iv, src, dst)
        return finish()

    def encrypt_many(self, ivs: npt.NDArray[np.uint8], data: npt.NDArray[Any], *, out: Out = None) -> Result:
        """Encrypt n independent messages of one length side by side, message i under iv i.

        Much faster than one after the other: the blocks of one message are serial, those of
        different messages are not. The iv of the object is not used.

        Parameters
        ----------
        ivs : uint8[n, 16]
        data : ndarray
            Its first axis counts the messages; the bytes of each are a multiple of 16.
        out : writable buffer, optional
            As many bytes as data; may be data itself.

        Returns
        -------
        ndarray
            Like data, or ``out``.

        Raises
        ------
        InvalidNonce, InvalidLength
            If shapes do not fit.
        UnsupportedType, InvalidBuffer, StateError
            If ivs or data are not arrays, out cannot be used, or the key was wiped.
        """
        schedule = self._cipher._schedule
        own, src, dst, finish = batch(ivs, data, out, "CBC", whole_blocks=True)
        self._cipher._kernels.cipher.cbc_encrypt_many(schedule, own, src, dst)
        return finish()

    def decrypt_many(self, ivs: npt.NDArray[np.uint8], data: npt.NDArray[Any], *, out: Out = None) -> Result:
        """Decrypt n independent messages of one length, message i under iv i.

        Parameters, results and errors are those of `encrypt_many`.
        """
        schedule = self._cipher._schedule
        slots = self._cipher._kernels.cipher
        own, src, dst, finish = batch(ivs, data, out, "CBC", whole_blocks=True)
        n, m = src.shape
        if m >= GROUPED_BELOW:
            for i in range(n):
                slots.cbc_decrypt(schedule, own[i], src[i], dst[i])
            return finish()
        for some in groups(n, m):
            previous = previous_blocks(own[some], src[some])  # before dst, which may be src, is written
            slots.decrypt_blocks(schedule, src[some].reshape(-1), dst[some].reshape(-1))
            dst[some] ^= previous
        return finish()

    def encryptor(self, *, padding: str | None = None) -> BlockContext:
        """A context that encrypts one message given in pieces: ``update(data)``, ``finalize()``.

        Raises
        ------
        InvalidParameter, InvalidNonce
            For an unknown padding, or an object without iv.
        """
        iv, slot = state(self._iv, "CBC"), self._cipher._kernels.cipher.cbc_encrypt
        return BlockContext(
            self._cipher,
            lambda schedule, src, dst: slot(schedule, iv, src, dst),
            "CBC",
            padded=check_padding(padding),
            decrypting=False,
        )

    def decryptor(self, *, padding: str | None = None) -> BlockContext:
        """A context that decrypts one message given in pieces: ``update(data)``, ``finalize()``.

        Raises
        ------
        InvalidParameter, InvalidNonce
            For an unknown padding, or an object without iv.
        """
        iv, slot = state(self._iv, "CBC"), self._cipher._kernels.cipher.cbc_decrypt
        return BlockContext(
            self._cipher,
            lambda schedule, src, dst: slot(schedule, iv, src, dst),
            "CBC",
            padded=check_padding(padding),
            decrypting=True,
        )

    def __repr__(self) -> str:
        return f"CBC({describe(self._cipher)})"
