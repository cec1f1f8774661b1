"""ECB, the electronic codebook: C_i = E(P_i), each block on its own.

Equal blocks give equal ciphertext, so patterns stay visible, and blocks can be swapped unnoticed.
It is here to read existing data, and as the block cipher itself on arrays of any dtype.

Source: NIST SP 800-38A, 6.1.
"""

from twofishkit.buffers import Bytes, Data, Out, Result, byte_length, prepare
from twofishkit.cipher import BLOCK_SIZE, Cipher, as_cipher, describe
from twofishkit.modes.padding import check_padding, check_whole_blocks, decrypt_padded, encrypt_padded
from twofishkit.modes.streaming import BlockContext


class ECB:
    """Electronic codebook: every block encrypted on its own, C_i = E(P_i).

    Parameters
    ----------
    key : bytes-like or Twofish
        16, 24 or 32 bytes, or a `Twofish` to share.

    Raises
    ------
    InvalidKey, UnsupportedType
        As `Twofish`.

    Source: NIST SP 800-38A, 6.1.
    """

    __slots__ = ("_cipher",)

    def __init__(self, key: Data | Cipher) -> None:
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
        InvalidBuffer, UnsupportedType, StateError
            As for every mode: for buffers that cannot be used, or a wiped key.
        """
        schedule = self._cipher._schedule
        slot = self._cipher._kernels.cipher.encrypt_blocks
        if check_padding(padding):
            return encrypt_padded(lambda src, dst: slot(schedule, src, dst), data, out)
        check_whole_blocks(byte_length(data), "ECB")
        src, dst, finish = prepare(data, out)
        slot(schedule, src, dst)
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
        InvalidParameter, InvalidBuffer, UnsupportedType, StateError
            As for `encrypt`.
        """
        schedule = self._cipher._schedule
        slot = self._cipher._kernels.cipher.decrypt_blocks

        def last(src: Bytes, block: Bytes) -> None:
            slot(schedule, src[-BLOCK_SIZE:], block)

        if check_padding(padding):
            return decrypt_padded(lambda src, dst: slot(schedule, src, dst), last, data, out, "ECB")
        check_whole_blocks(byte_length(data), "ECB")
        src, dst, finish = prepare(data, out)
        slot(schedule, src, dst)
        return finish()

    def encryptor(self, *, padding: str | None = None) -> BlockContext:
        """A context that encrypts one message given in pieces: ``update(data)``, ``finalize()``.

        Raises
        ------
        InvalidParameter
            For an unknown padding.
        """
        slot = self._cipher._kernels.cipher.encrypt_blocks
        return BlockContext(self._cipher, slot, "ECB", padded=check_padding(padding), decrypting=False)

    def decryptor(self, *, padding: str | None = None) -> BlockContext:
        """A context that decrypts one message given in pieces: ``update(data)``, ``finalize()``.

        Raises
        ------
        InvalidParameter
            For an unknown padding.
        """
        slot = self._cipher._kernels.cipher.decrypt_blocks
        return BlockContext(self._cipher, slot, "ECB", padded=check_padding(padding), decrypting=True)

    def __repr__(self) -> str:
        return f"ECB({describe(self._cipher)})"
