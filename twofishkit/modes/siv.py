"""SIV: deterministic authenticated encryption, whose tag is also the initial counter.

V = S2V(aad..., nonce, plaintext) is a MAC over a list of strings, and C = P ^ keystream from V with
bits 31 and 63 cleared. Two equal messages (same aad, same nonce) give equal results, and that is all
that a repeated nonce reveals. Plaintext is read twice, so there is no streaming.
"""

import numpy as np

from twofishkit.blocks import double, view, xor_blocks
from twofishkit.buffers import Bytes, Data, small
from twofishkit.cipher import Cipher, describe, two_ciphers
from twofishkit.errors import LimitExceeded
from twofishkit.modes import aead
from twofishkit.modes.cmac import CmacState

#: S2V takes 127 strings (one less than the bits of a block), the plaintext being one of them.
LIMIT_STRINGS = 126

_NONCES = range(1, 1 << 61)


class SivMessage:
    """One message: S2V over the strings before the plaintext, then over the plaintext in pieces.

    Parameters
    ----------
    cipher : Cipher
        For counter mode.
    mac : CmacState
        Of the S2V key, nothing absorbed; not changed.
    strings : list of uint8[n]
        The associated data and the nonce.
    n : int
        Bytes of plaintext to come.
    """

    __slots__ = ("_cipher", "_counter", "_d", "_head", "_mac", "_tail")

    def __init__(self, cipher: Cipher, mac: CmacState, strings: list[Bytes], n: int) -> None:
        self._cipher = cipher
        self._d = mac.copy().update(view(bytes(16))).digest()
        for string in strings:
            self._d = xor_blocks(double(self._d), mac.copy().update(string).digest())
        # D masks the last 16 bytes, which may straddle two blocks. Whole blocks before those bytes
        # go straight into the MAC; the 16 to 31 bytes from there on (or the whole of a message
        # shorter than that) are collected.
        self._mac = mac.copy()
        self._head = max(n - 16, 0) // 16 * 16
        self._tail = bytearray()
        self._counter = np.empty(0, np.uint8)

    def start(self, v: bytes) -> "SivMessage":
        """Set the counter: V with bits 31 and 63 (from the right) cleared. Source: RFC 5297, 2.5."""
        mask = ~(1 << 63 | 1 << 31)
        self._counter = np.frombuffer(
            bytearray((int.from_bytes(v, "big") & mask).to_bytes(16, "big")), np.uint8
        )
        return self

    def absorb(self, src: Bytes) -> None:
        """Append plaintext, any length."""
        direct = max(min(self._head - self._mac.length, src.size), 0)
        self._mac.update(src[:direct])
        self._tail += src[direct:].data

    def decrypt(self, src: Bytes, dst: Bytes) -> None:
        """Decrypt and authenticate the next whole blocks, or the rest."""
        self.crypt(src, dst)
        self.absorb(dst)

    def crypt(self, src: Bytes, dst: Bytes) -> None:
        """Encrypt or decrypt the next whole blocks, or the rest, without authentication."""
        cipher = self._cipher
        cipher._kernels.cipher.ctr(cipher._schedule, self._counter, 128, False, src, dst)

    def tag(self) -> bytes:
        """Return V, 16 bytes, once all of the plaintext was absorbed. Source: RFC 5297, 2.4."""
        tail = bytes(self._tail)
        if len(tail) >= 16:
            last = tail[:-16] + xor_blocks(tail[-16:], self._d)
        else:
            last = xor_blocks(double(self._d), (tail + b"\x80").ljust(16, b"\0"))
        return self._mac.copy().update(view(last)).digest()


class SIV:
    """Synthetic IV mode: authenticated encryption that tolerates a repeated or missing nonce.

    Parameters
    ----------
    key : bytes-like of 32, 48 or 64 bytes, or a pair of keys or Twofish objects
        The key of S2V and the key of counter mode, joined.

    Raises
    ------
    InvalidKey

    Notes
    -----
    ``nonce`` may be None; then equal messages give equal results. ``aad`` is a bytes-like, one
    string even if it is empty, or a list of them, none if the list is empty: the strings' borders are
    authenticated too. There are at most 126 strings, the nonce included. The tag has 16 bytes and
    comes before the ciphertext.

    Source: RFC 5297, with Twofish in place of AES.

    Examples
    --------
    >>> siv = SIV(bytes(range(64)))
    >>> blob = siv.encrypt(None, b"secret", [b"header", b"more"])
    >>> siv.decrypt(None, blob, [b"header", b"more"])
    b'secret'
    """

    __slots__ = ("_cipher", "_mac", "_mac_cipher")

    tag_length = 16
    _tag_first = True

    def __init__(self, key: Data | tuple[Data | Cipher, Data | Cipher]) -> None:
        self._mac_cipher, self._cipher = two_ciphers(key, "SIV")
        self._mac = CmacState(self._mac_cipher)

    encrypt = aead.encrypt
    decrypt = aead.decrypt
    encrypt_detached = aead.encrypt_detached
    decrypt_detached = aead.decrypt_detached

    def _check_nonce(self, nonce: Data | None) -> bytes | None:
        if nonce is None:
            return None
        return small(nonce, "nonce", _NONCES, "at least 1 byte, or be None")

    def _check_length(self, n: int, nonce: bytes | None) -> None:
        """Accept every length: no message that fits in memory exhausts the counter."""

    def _check_aad(self, aad: Data | list[Data] | tuple[Data, ...]) -> list[Bytes]:
        strings = aad if isinstance(aad, (list, tuple)) else [aad]
        if len(strings) > LIMIT_STRINGS:
            raise LimitExceeded(f"aad is a list of {len(strings)} strings; SIV allows {LIMIT_STRINGS}")
        return [aead.check_aad(string) for string in strings]

    def _message(self, nonce: bytes | None, aad: list[Bytes], n: int) -> SivMessage:
        self._mac_cipher._schedule, self._cipher._schedule  # noqa: B018 - raises once a key is wiped
        strings = aad if nonce is None else [*aad, view(nonce)]
        if len(strings) > LIMIT_STRINGS:
            raise LimitExceeded(
                f"aad is a list of {len(aad)} strings; with a nonce SIV allows {LIMIT_STRINGS - 1}"
            )
        return SivMessage(self._cipher, self._mac, strings, n)

    def _seal(self, nonce: bytes | None, aad: list[Bytes], src: Bytes, dst: Bytes) -> bytes:
        message = self._message(nonce, aad, src.size)
        message.absorb(src)
        v = message.tag()
        message.start(v).crypt(src, dst)
        return v

    def _open(
        self, nonce: bytes | None, aad: list[Bytes], src: Bytes, tag: bytes, dst: Bytes, fresh: bool
    ) -> None:
        message = self._message(nonce, aad, src.size).start(tag)

        def release(src: Bytes, dst: Bytes) -> None:
            message.start(tag).crypt(src, dst)

        aead.decrypt_then_verify(message, release, src, tag, dst, fresh)

    def __repr__(self) -> str:
        return f"SIV({describe(self._cipher)})"
