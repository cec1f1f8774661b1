"""OCB3: authenticated encryption in one pass, one block encryption a block.

Each block is encrypted between two XORs with its offset, C_i = Offset_i ^ E(P_i ^ Offset_i), where
Offset_i = Offset_(i-1) ^ L_ntz(i) and L_j is the j-th doubling of a key-dependent block. The tag is
taken from the XOR of all plaintext blocks. Working in place is no special case: the checksum is
always taken over plaintext.
"""

import numpy as np

from twofishkit.blocks import BlockQueue, double, view, xor_blocks, zero_block
from twofishkit.buffers import Bytes, Data, as_bytes, small
from twofishkit.cipher import Cipher, as_cipher, describe
from twofishkit.errors import InvalidTag, LimitExceeded
from twofishkit.modes import aead
from twofishkit.modes.aead_streams import AeadDecryptor, AeadEncryptor

#: RFC 7253, 5.1 limits what one key may encrypt to 2^48 blocks; a single message cannot have more.
LIMIT_BYTES = 1 << 52

_NONCES = range(1, 16)


class OcbKey:
    """What is prepared once for a key: L_*, L_$ and L_0 ... L_48. Source: RFC 7253, 4.1.

    Attributes
    ----------
    l_star, l_dollar : bytes, 16
    ls : uint8[49, 16]
        L_i for blocks up to number 2^49 - 1.
    constants : uint8[51, 16]
        L_*, L_$ and all L_i.
    """

    __slots__ = ("cipher", "constants", "l_dollar", "l_star", "ls")

    def __init__(self, cipher: Cipher) -> None:
        self.cipher = cipher
        self.l_star = self.encipher(bytes(16))
        constants = [self.l_star]
        while len(constants) < 51:
            constants.append(double(constants[-1]))
        self.l_dollar = constants[1]
        self.constants = view(b"".join(constants)).reshape(-1, 16)
        self.ls = self.constants[2:]

    def encipher(self, block: bytes) -> bytes:
        """Return E(block)."""
        dst = zero_block()
        self.cipher._kernels.cipher.encrypt_blocks(self.cipher._schedule, view(block), dst)
        return dst.tobytes()


class AadHash:
    """HASH(K, A) of the associated data, in chunks of any length. Source: RFC 7253, 4.1."""

    __slots__ = ("_first", "_key", "_offset", "_queue", "_sum")

    def __init__(self, key: OcbKey) -> None:
        self._key = key
        self._offset, self._sum = zero_block(), zero_block()
        self._first = 1
        self._queue = BlockQueue()

    def update(self, src: Bytes) -> None:
        """Append src, uint8[n] with any n >= 0."""
        cipher = self._key.cipher
        for run in self._queue.feed(src):
            cipher._kernels.cipher.ocb_hash(
                cipher._schedule, self._key.ls, self._offset, self._sum, self._first, run
            )
            self._first += run.size // 16

    def digest(self) -> bytes:
        """Return the 16 bytes of HASH for what was appended so far."""
        total = self._sum.tobytes()
        if self._queue.held:
            offset = xor_blocks(self._offset, self._key.l_star)
            last = self._key.encipher(xor_blocks(self._queue.padded(0x80), offset))
            total = xor_blocks(total, last)
        return total


class OcbMessage:
    """One message under one nonce, block by block; satisfies `aead_streams.Message`."""

    __slots__ = ("_aad", "_checksum", "_first", "_key", "_offset")

    def __init__(self, key: OcbKey, nonce: bytes, tag_length: int) -> None:
        self._key = key
        self._offset = view(first_offset(key, nonce, tag_length)).copy()
        self._checksum = zero_block()
        self._first = 1
        self._aad = AadHash(key)

    def absorb_aad(self, src: Bytes) -> None:
        """Append associated data, any length."""
        self._aad.update(src)

    def encrypt(self, src: Bytes, dst: Bytes) -> None:
        """Encrypt the next whole blocks, or the rest of the message."""
        cipher = self._key.cipher
        whole = src.size - src.size % 16
        cipher._kernels.cipher.ocb_encrypt(
            cipher._schedule,
            self._key.ls,
            self._offset,
            self._checksum,
            self._first,
            src[:whole],
            dst[:whole],
        )
        self._first += whole // 16
        if src.size > whole:
            self._add_to_checksum(src[whole:])
            self._encrypt_rest(src[whole:], dst[whole:])

    def decrypt(self, src: Bytes, dst: Bytes) -> None:
        """Decrypt the next whole blocks, or the rest of the message."""
        cipher = self._key.cipher
        whole = src.size - src.size % 16
        cipher._kernels.cipher.ocb_decrypt(
            cipher._schedule,
            self._key.ls,
            self._offset,
            self._checksum,
            self._first,
            src[:whole],
            dst[:whole],
        )
        self._first += whole // 16
        if src.size > whole:
            self._encrypt_rest(src[whole:], dst[whole:])
            self._add_to_checksum(dst[whole:])

    def tag(self) -> bytes:
        """Return the tag, 16 bytes: E(Checksum ^ Offset ^ L_$) ^ HASH(K, A)."""
        block = xor_blocks(xor_blocks(self._checksum, self._offset), self._key.l_dollar)
        return xor_blocks(self._key.encipher(block), self._aad.digest())

    def _encrypt_rest(self, src: Bytes, dst: Bytes) -> None:
        """dst = src ^ E(Offset_*), the same in both directions; less than a block."""
        self._offset ^= view(self._key.l_star)
        pad = view(self._key.encipher(self._offset.tobytes()))
        np.bitwise_xor(src, pad[: src.size], out=dst)

    def _add_to_checksum(self, rest: Bytes) -> None:
        self._checksum[: rest.size] ^= rest
        self._checksum[rest.size] ^= 0x80


def first_offset(key: OcbKey, nonce: bytes, tag_length: int) -> bytes:
    """Return Offset_0 for a nonce of 1 to 15 bytes. Source: RFC 7253, 4.2."""
    formatted = (8 * tag_length % 128) << 121 | 1 << 8 * len(nonce) | int.from_bytes(nonce, "big")
    bottom = formatted % 64
    top = key.encipher((formatted - bottom).to_bytes(16, "big"))
    ktop = int.from_bytes(top, "big")
    # Stretch = Ktop || (first 64 bits of Ktop ^ its bits 9 to 72)
    stretch = ktop << 64 | (ktop >> 64) ^ (ktop >> 56 & (1 << 64) - 1)
    return (stretch >> 64 - bottom & (1 << 128) - 1).to_bytes(16, "big")


class OCB:
    """OCB3: authenticated encryption with associated data.

    Parameters
    ----------
    key : bytes-like of 16, 24 or 32 bytes, or a Twofish
    tag_length : int
        8 to 16 bytes; part of the nonce block, so that the same message with another tag length
        has another ciphertext. Tags of any other length are refused.

    Raises
    ------
    InvalidKey, InvalidParameter

    Notes
    -----
    Nonces have 1 to 15 bytes; never use one twice under the same key: that reveals equal blocks and
    allows forgeries. A message has at most 2^48 blocks, and so should have all messages of one key.

    Source: RFC 7253, with Twofish in place of AES.

    Examples
    --------
    >>> ocb = OCB(bytes(32))
    >>> blob = ocb.encrypt(b"unique nonce", b"secret", b"header")
    >>> ocb.decrypt(b"unique nonce", blob, b"header")
    b'secret'
    """

    __slots__ = ("_key", "tag_length")

    _tag_first = False

    def __init__(self, key: Data | Cipher, tag_length: int = 16) -> None:
        self.tag_length = aead.check_tag_length(tag_length, range(8, 17), "OCB")
        self._key = OcbKey(as_cipher(key))

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

    def _message(self, nonce: bytes) -> OcbMessage:
        return OcbMessage(self._key, nonce, self.tag_length)

    def _check_nonce(self, nonce: Data) -> bytes:
        return small(nonce, "nonce", _NONCES, "1 to 15 bytes")

    def _check_length(self, n: int, nonce: bytes) -> None:
        if n > LIMIT_BYTES:
            raise LimitExceeded(f"the message has {n} bytes; OCB allows 2^48 blocks of 16 bytes")

    def _check_aad(self, aad: Data) -> Bytes | bytes:
        return aad if type(aad) is bytes else aead.check_aad(aad)

    def _seal(self, nonce: bytes, aad: Bytes | bytes, src: Bytes, dst: Bytes) -> bytes:
        key = self._key
        seal = key.cipher._kernels.cipher.ocb_seal
        if seal is not None and src.size <= key.cipher._kernels.long_bytes:
            tag = bytearray(self.tag_length)
            seal(key.cipher._schedule, key.constants, nonce, aad, src, dst, tag)
            return bytes(tag)
        message = self._message(nonce)
        message.absorb_aad(as_bytes(aad))
        message.encrypt(src, dst)
        return message.tag()[: self.tag_length]

    def _open(
        self, nonce: bytes, aad: Bytes | bytes, src: Bytes, tag: bytes, dst: Bytes, fresh: bool
    ) -> None:
        key = self._key
        open_ = key.cipher._kernels.cipher.ocb_open
        longest = key.cipher._kernels.long_bytes
        if open_ is not None and src.size <= (longest if fresh else min(longest, aead.SCRATCH_BYTES)):
            scratch = dst if fresh else np.empty(src.size, np.uint8)
            if not open_(key.cipher._schedule, key.constants, nonce, aad, src, scratch, dst, tag):
                raise InvalidTag(aead.FORGED)
            return
        message = self._message(nonce)
        message.absorb_aad(as_bytes(aad))
        aead.decrypt_then_verify(message, self._message(nonce).decrypt, src, tag, dst, fresh)

    def __repr__(self) -> str:
        return f"OCB({describe(self._key.cipher)}, tag_length={self.tag_length})"
