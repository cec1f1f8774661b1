"""EAX: counter mode and three CMACs; nonces of any length.

With OMAC_t(M) = CMAC([t] || M), [t] being the number t in one block: N = OMAC_0(nonce) is the first
counter block, and tag = N ^ OMAC_1(aad) ^ OMAC_2(ciphertext).
"""

from twofishkit.blocks import view, xor_blocks
from twofishkit.buffers import Bytes, Data, small
from twofishkit.cipher import Cipher, as_cipher, describe
from twofishkit.modes import aead
from twofishkit.modes.aead_streams import AeadDecryptor, AeadEncryptor
from twofishkit.modes.cmac import CmacState

_NONCES = range(1 << 61)


class EaxMessage:
    """One message under one nonce, block by block; satisfies `aead_streams.Message`."""

    __slots__ = ("_aad_mac", "_cipher", "_counter", "_mac", "_nonce_mac")

    def __init__(self, cipher: Cipher, omacs: tuple[CmacState, ...], nonce: bytes) -> None:
        self._cipher = cipher
        nonce_mac, self._aad_mac, self._mac = (omac.copy() for omac in omacs)
        self._nonce_mac = nonce_mac.update(view(nonce)).digest()
        self._counter = view(self._nonce_mac).copy()

    def absorb_aad(self, src: Bytes) -> None:
        """Append associated data, any length."""
        self._aad_mac.update(src)

    def absorb_ciphertext(self, src: Bytes) -> None:
        """Append ciphertext that is not to be decrypted yet."""
        self._mac.update(src)

    def encrypt(self, src: Bytes, dst: Bytes) -> None:
        """Encrypt the next whole blocks, or the rest of the message."""
        self.release(src, dst)
        self._mac.update(dst)

    def release(self, src: Bytes, dst: Bytes) -> None:
        """Encrypt or decrypt without authentication: for ciphertext that was verified."""
        cipher = self._cipher
        cipher._kernels.cipher.ctr(cipher._schedule, self._counter, 128, False, src, dst)

    def tag(self) -> bytes:
        """Return the tag, 16 bytes."""
        self._cipher._schedule  # noqa: B018 - raises once the key is wiped
        return xor_blocks(xor_blocks(self._nonce_mac, self._aad_mac.digest()), self._mac.digest())


class EAX:
    """EAX: authenticated encryption with associated data and nonces of any length.

    Parameters
    ----------
    key : bytes-like of 16, 24 or 32 bytes, or a Twofish
    tag_length : int
        8 to 16 bytes; tags of any other length are refused.

    Raises
    ------
    InvalidKey, InvalidParameter

    Notes
    -----
    A nonce may have any length, even none, and must not be used twice under one key. Of random ones
    16 bytes serve for 2^48 messages.

    Source: Bellare, Rogaway, Wagner, The EAX Mode of Operation, FSE 2004.

    Examples
    --------
    >>> eax = EAX(bytes(32))
    >>> blob = eax.encrypt(b"unique nonce", b"secret", b"header")
    >>> eax.decrypt(b"unique nonce", blob, b"header")
    b'secret'
    """

    __slots__ = ("_cipher", "_omacs", "tag_length")

    _tag_first = False

    def __init__(self, key: Data | Cipher, tag_length: int = 16) -> None:
        self.tag_length = aead.check_tag_length(tag_length, range(8, 17), "EAX")
        self._cipher = as_cipher(key)
        plain = CmacState(self._cipher)
        self._omacs = tuple(plain.copy().update(view(bytes(15) + bytes((t,)))) for t in range(3))

    encrypt = aead.encrypt
    decrypt = aead.decrypt
    encrypt_detached = aead.encrypt_detached
    decrypt_detached = aead.decrypt_detached

    def encryptor(self, nonce: Data, aad: Data = b"") -> AeadEncryptor:
        """Return a context that encrypts one message chunk by chunk."""
        checked = self._check_nonce(nonce)
        return AeadEncryptor(self, checked, self._message(checked), aad)

    def decryptor(self, nonce: Data, aad: Data = b"") -> AeadDecryptor:
        """Return a context that collects one message and decrypts it once its tag is verified."""
        return AeadDecryptor(self, nonce, aad)

    def _message(self, nonce: bytes) -> EaxMessage:
        self._cipher._schedule  # noqa: B018 - raises once the key is wiped
        return EaxMessage(self._cipher, self._omacs, nonce)

    def _check_nonce(self, nonce: Data) -> bytes:
        return small(nonce, "nonce", _NONCES, "less than 2^61 bytes")

    def _check_length(self, n: int, nonce: bytes) -> None:
        """Accept every length: no message that fits in memory exhausts a 128-bit counter."""

    def _check_aad(self, aad: Data) -> Bytes:
        return aead.check_aad(aad)

    def _seal(self, nonce: bytes, aad: Bytes, src: Bytes, dst: Bytes) -> bytes:
        message = self._message(nonce)
        message.absorb_aad(aad)
        message.encrypt(src, dst)
        return message.tag()[: self.tag_length]

    def _open(self, nonce: bytes, aad: Bytes, src: Bytes, tag: bytes, dst: Bytes, fresh: bool) -> None:
        message = self._message(nonce)
        message.absorb_aad(aad)
        message.absorb_ciphertext(src)
        aead.check_tag(message.tag(), tag)
        message.release(src, dst)

    def __repr__(self) -> str:
        return f"EAX({describe(self._cipher)}, tag_length={self.tag_length})"
