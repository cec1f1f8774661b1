"""CCM: CBC-MAC of the plaintext, encrypted together with it in counter mode.

With the flags, nonce and message length in block B0: T = CBC-MAC(B0 || encoded aad || pad(P)),
C = P ^ keystream from counter block 1, tag = T ^ E(counter block 0). The counter and the length
field have L = 15 - len(nonce) bytes, so a long nonce means short messages. Two block encryptions a
block, and the length must be known beforehand: there is no streaming.
"""

from twofishkit.blocks import BlockHash, view, xor_blocks, zero_block
from twofishkit.buffers import Bytes, Data, small
from twofishkit.cipher import Cipher, as_cipher, describe
from twofishkit.errors import LimitExceeded
from twofishkit.modes import aead

_NONCES = range(7, 14)
_ZERO_BLOCK = view(bytes(16))


def encoded_aad_length(n: int) -> bytes:
    """Return the prefix that tells how long the associated data is. Source: SP 800-38C, A.2.2."""
    if n == 0:
        return b""
    if n < 0xFF00:
        return n.to_bytes(2, "big")
    if n < 1 << 32:
        return b"\xff\xfe" + n.to_bytes(4, "big")
    return b"\xff\xff" + n.to_bytes(8, "big")


class CcmMessage:
    """One message under one nonce.

    Parameters
    ----------
    cipher : Cipher
    nonce : bytes
    aad : uint8[m]
    n : int
        Bytes of the message.
    tag_length : int
    """

    __slots__ = ("_cipher", "_counter", "_first_counter", "_mac", "_mask")

    def __init__(self, cipher: Cipher, nonce: bytes, aad: Bytes, n: int, tag_length: int) -> None:
        self._cipher = cipher
        length_bytes = 15 - len(nonce)
        self._counter = view(bytes((length_bytes - 1,)) + nonce + bytes(length_bytes)).copy()
        self._mask = zero_block()
        self._crypt(self._counter, _ZERO_BLOCK, self._mask)
        self._first_counter = self._counter.copy()
        self._mac = BlockHash(cipher._kernels.cipher.cbc_mac, cipher._schedule)
        flags = (0x40 if aad.size else 0) | (tag_length - 2) // 2 << 3 | length_bytes - 1
        self._mac.update(view(bytes((flags,)) + nonce + n.to_bytes(length_bytes, "big")))
        self._mac.update(view(encoded_aad_length(aad.size)))
        self._mac.update(aad)
        self._mac.pad()

    def encrypt(self, src: Bytes, dst: Bytes) -> None:
        """Authenticate and encrypt the whole message."""
        self._mac.update(src)
        self._crypt(self._counter, src, dst)

    def decrypt(self, src: Bytes, dst: Bytes) -> None:
        """Decrypt and authenticate the next whole blocks, or the rest."""
        self._crypt(self._counter, src, dst)
        self._mac.update(dst)

    def release(self, src: Bytes, dst: Bytes) -> None:
        """Decrypt the whole message, which was verified, once more."""
        self._crypt(self._first_counter.copy(), src, dst)

    def _crypt(self, counter: Bytes, src: Bytes, dst: Bytes) -> None:
        # The counter never leaves its field: a message of the length allowed has fewer blocks.
        cipher = self._cipher
        cipher._kernels.cipher.ctr(cipher._schedule, counter, 128, False, src, dst)

    def tag(self) -> bytes:
        """Return the tag before truncation, 16 bytes."""
        self._mac.pad()
        return xor_blocks(self._mac.state, self._mask)


class CCM:
    """Counter mode with CBC-MAC: authenticated encryption with associated data.

    Parameters
    ----------
    key : bytes-like of 16, 24 or 32 bytes, or a Twofish
    tag_length : int
        4, 6, 8, 10, 12, 14 or 16 bytes; tags of any other length are refused. With 4 bytes one
        forgery in 2^32 tries succeeds.

    Raises
    ------
    InvalidKey, InvalidParameter

    Notes
    -----
    Nonces have 7 to 13 bytes and must not be used twice under one key. A message has less than
    2^(8 * (15 - len(nonce))) bytes: 64 KiB with 13 bytes of nonce, 16 MiB with 12.

    Source: NIST SP 800-38C; RFC 3610.

    Examples
    --------
    >>> ccm = CCM(bytes(32))
    >>> blob = ccm.encrypt(b"unique nonce", b"secret", b"header")
    >>> ccm.decrypt(b"unique nonce", blob, b"header")
    b'secret'
    """

    __slots__ = ("_cipher", "tag_length")

    _tag_first = False

    def __init__(self, key: Data | Cipher, tag_length: int = 16) -> None:
        self.tag_length = aead.check_tag_length(tag_length, range(4, 17, 2), "CCM")
        self._cipher = as_cipher(key)

    encrypt = aead.encrypt
    decrypt = aead.decrypt
    encrypt_detached = aead.encrypt_detached
    decrypt_detached = aead.decrypt_detached

    def _check_nonce(self, nonce: Data) -> bytes:
        return small(nonce, "nonce", _NONCES, "7 to 13 bytes")

    def _check_length(self, n: int, nonce: bytes) -> None:
        bits = 8 * (15 - len(nonce))
        if n >> bits:
            raise LimitExceeded(
                f"the message has {n} bytes; CCM with a nonce of {len(nonce)} bytes allows 2^{bits} - 1"
            )

    def _check_aad(self, aad: Data) -> Bytes:
        return aead.check_aad(aad)

    def _seal(self, nonce: bytes, aad: Bytes, src: Bytes, dst: Bytes) -> bytes:
        message = CcmMessage(self._cipher, nonce, aad, src.size, self.tag_length)
        message.encrypt(src, dst)
        return message.tag()[: self.tag_length]

    def _open(self, nonce: bytes, aad: Bytes, src: Bytes, tag: bytes, dst: Bytes, fresh: bool) -> None:
        message = CcmMessage(self._cipher, nonce, aad, src.size, self.tag_length)
        aead.decrypt_then_verify(message, message.release, src, tag, dst, fresh)

    def __repr__(self) -> str:
        return f"CCM({describe(self._cipher)}, tag_length={self.tag_length})"
