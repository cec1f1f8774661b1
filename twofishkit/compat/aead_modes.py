"""The authenticated modes of `twofishkit.compat.pep272`: GCM, EAX, CCM, OCB and SIV."""

import secrets
from typing import Any

import numpy as np

from twofishkit.blocks import BlockHash, view, xor_blocks
from twofishkit.buffers import Bytes, Data, as_bytes, byte_length, small
from twofishkit.cipher import BLOCK_SIZE, Cipher, as_index
from twofishkit.compat.authenticated import AFTER, AuthenticatedMode
from twofishkit.compat.calls import (
    MacMismatch,
    MessageTooLong,
    OutOfOrder,
    Output,
    check_output,
    given,
    refuse_unknown,
)
from twofishkit.errors import InvalidLength, InvalidNonce, InvalidParameter, InvalidTag, UnsupportedType
from twofishkit.modes.ccm import encoded_aad_length
from twofishkit.modes.cmac import CmacState
from twofishkit.modes.ctr import CTR
from twofishkit.modes.gcm import LIMIT_BYTES, GcmKey
from twofishkit.modes.ocb import OcbKey, OcbMessage
from twofishkit.modes.siv import SIV
from twofishkit.modes.streaming import KeystreamContext


class GcmMode(AuthenticatedMode):
    """GCM with a nonce of any length but zero and tags of 4 to 16 bytes."""

    def __init__(self, cipher: Cipher, parameters: dict[str, Any]) -> None:
        parameters.pop("threads", None)
        parameters.pop("use_clmul", None)
        self.nonce = _nonce(parameters, 16, range(1, 1 << 61), "at least 1 byte")
        self._mac_len = _mac_len(parameters, range(4, 17))
        refuse_unknown(parameters, "GCM")
        self._key = GcmKey(cipher)
        counter, self._mask = self._key.start(self.nonce)
        self._stream = KeystreamContext(cipher, lambda _, src, dst: self._key.crypt(counter, src, dst))
        self._hash = BlockHash(cipher._kernels.ghash.ghash, self._key.table)
        self._aad_bytes = self._bytes = 0

    def _absorb(self, aad: Bytes) -> None:
        self._hash.update(aad)
        self._aad_bytes += aad.size

    def _process(self, data: Data, output: Output, *, decrypting: bool) -> Any:
        n = byte_length(data)
        if self._bytes + n > LIMIT_BYTES:
            raise MessageTooLong(f"{'Cipher' if decrypting else 'Plain'}text exceeds maximum length")
        if not self._bytes:
            self._hash.pad()
        if decrypting:
            self._hash.update(as_bytes(data))
        result = self._stream.update(data, out=output)
        if not decrypting:
            self._hash.update(as_bytes(result))
        self._bytes += n
        return result

    def _tag(self) -> bytes:
        self._hash.pad()
        return self._key.tag(self._hash.state, self._mask, self._aad_bytes, self._bytes)


class EaxMode(AuthenticatedMode):
    """EAX with a nonce of any length but zero and tags of 2 to 16 bytes."""

    def __init__(self, cipher: Cipher, parameters: dict[str, Any]) -> None:
        self.nonce = _nonce(parameters, 16, range(1, 1 << 61), "at least 1 byte")
        self._mac_len = _mac_len(parameters, range(2, 17))
        refuse_unknown(parameters, "EAX")
        plain = CmacState(cipher)
        nonce_mac, self._aad_mac, self._message_mac = (
            plain.copy().update(view(bytes(15) + bytes((t,)))) for t in range(3)
        )
        self._nonce_mac = nonce_mac.update(view(self.nonce)).digest()
        self._stream = CTR(cipher, self._nonce_mac).encryptor()

    def _absorb(self, aad: Bytes) -> None:
        self._aad_mac.update(aad)

    def _process(self, data: Data, output: Output, *, decrypting: bool) -> Any:
        if decrypting:
            self._message_mac.update(as_bytes(data))
        result = self._stream.update(data, out=output)
        if not decrypting:
            self._message_mac.update(as_bytes(result))
        return result

    def _tag(self) -> bytes:
        return xor_blocks(xor_blocks(self._nonce_mac, self._aad_mac.digest()), self._message_mac.digest())


class CcmMode(AuthenticatedMode):
    """CCM. Without ``msg_len``, all of the message goes into one call of `encrypt` or `decrypt`."""

    def __init__(self, cipher: Cipher, parameters: dict[str, Any]) -> None:
        self.nonce = _nonce(parameters, 11, range(7, 14), "7 to 13 bytes")
        self._mac_len = _mac_len(parameters, range(4, 17, 2))
        self._message_bytes = _announced(parameters, "msg_len")
        self._declared_aad_bytes = _announced(parameters, "assoc_len")
        refuse_unknown(parameters, "CCM")
        self._check_total(self._message_bytes or 0)
        self._pieces = self._message_bytes is not None
        self._aad = bytearray()
        self._bytes = 0
        self._started = False
        length_bytes = 15 - len(self.nonce)
        self._stream = CTR(cipher, bytes((length_bytes - 1,)) + self.nonce + bytes(length_bytes)).encryptor()
        self._mask: bytes = self._stream.update(bytes(BLOCK_SIZE))
        self._hash = BlockHash(cipher._kernels.cipher.cbc_mac, cipher._schedule)

    def _check_total(self, n: int) -> None:
        if n >> 8 * (15 - len(self.nonce)):
            raise MessageTooLong(f"Message too long for a {len(self.nonce)}-byte nonce")

    def _absorb(self, aad: Bytes) -> None:
        self._aad += aad.data
        if self._declared_aad_bytes is not None and len(self._aad) > self._declared_aad_bytes:
            raise MessageTooLong("Associated data longer than declared")

    def _start(self, n: int) -> None:
        """Begin the MAC: the first block, which holds the lengths, and the associated data."""
        if self._declared_aad_bytes is not None and len(self._aad) < self._declared_aad_bytes:
            raise InvalidLength("Associated data is too short")
        if self._started:
            return
        if self._message_bytes is None:
            self._check_total(n)
            self._message_bytes = n
        length_bytes = 15 - len(self.nonce)
        flags = (0x40 if self._aad else 0) | (self._mac_len - 2) // 2 << 3 | length_bytes - 1
        first = bytes((flags,)) + self.nonce + self._message_bytes.to_bytes(length_bytes, "big")
        self._hash.update(view(first + encoded_aad_length(len(self._aad)) + self._aad))
        self._hash.pad()
        self._started = True

    def _check_length(self, n: int) -> None:
        self._start(n)
        announced = self._message_bytes or 0
        if self._bytes + n > announced:
            self._bytes += n  # such a message cannot go on: it stays too long
            raise MessageTooLong(f"Message longer than declared ({self._bytes} bytes vs {announced} bytes)")

    def _process(self, data: Data, output: Output, *, decrypting: bool) -> Any:
        if not self._pieces:
            self._allowed = AFTER["verify" if decrypting else "digest"]
        self._bytes += byte_length(data)
        if not decrypting:
            self._hash.update(as_bytes(data))
        result = self._stream.update(data, out=output)
        if decrypting:
            self._hash.update(as_bytes(result))
        return result

    def _tag(self) -> bytes:
        self._start(0)
        if self._bytes != self._message_bytes:
            raise InvalidLength("Message is too short")
        self._hash.pad()
        return xor_blocks(self._hash.state, self._mask)


class OcbMode(AuthenticatedMode):
    """OCB3. Whole blocks come out as they are complete; a call without data gives the rest."""

    def __init__(self, cipher: Cipher, parameters: dict[str, Any]) -> None:
        parameters.pop("threads", None)
        self.nonce = _nonce(parameters, 15, range(1, 16), "1 to 15 bytes")
        self._mac_len = _mac_len(parameters, range(8, 17))
        refuse_unknown(parameters, "OCB")
        self._message = OcbMessage(OcbKey(cipher), self.nonce, self._mac_len)
        self._pending = b""

    def _step(self, call: str) -> None:
        if call not in self._allowed and call in ("digest", "verify"):
            raise OutOfOrder(f"{call}() cannot be called now for this cipher")
        super()._step(call)

    def encrypt(self, plaintext: Data | None = None, output: Output = None) -> Any:
        """Encrypt the next piece, or without data what remains; `digest` needs the latter first."""
        return self._some("encrypt", "digest", plaintext, output)

    def decrypt(self, ciphertext: Data | None = None, output: Output = None) -> Any:
        """Decrypt the next piece, or without data what remains; `verify` needs the latter first."""
        return self._some("decrypt", "verify", ciphertext, output)

    def encrypt_and_digest(self, plaintext: Data, output: Output = None) -> tuple[Any, bytes]:
        """Encrypt all or the rest of the message; return (ciphertext, tag)."""
        return self.encrypt(plaintext, output) + self.encrypt(), self.digest()

    def decrypt_and_verify(self, ciphertext: Data, received_mac_tag: Data, output: Output = None) -> Any:
        """Decrypt all or the rest of the message and verify it; return the plaintext."""
        plaintext = self.decrypt(ciphertext, output) + self.decrypt()
        self.verify(received_mac_tag)
        return plaintext

    def _some(self, call: str, then: str, data: Data | None, output: Output) -> bytes:
        if output is not None:
            raise UnsupportedType("objects in OCB mode take no output=, since pieces come out late")
        self._step(call)
        self._allowed = frozenset((then if data is None else call,))
        joined = self._pending + (b"" if data is None else as_bytes(data).tobytes())
        ready = len(joined) if data is None else len(joined) - len(joined) % BLOCK_SIZE
        self._pending = joined[ready:]
        result = np.empty(ready, np.uint8)
        getattr(self._message, call)(view(joined)[:ready], result)
        return result.tobytes()

    def _absorb(self, aad: Bytes) -> None:
        self._message.absorb_aad(aad)

    def _tag(self) -> bytes:
        return self._message.tag()


class SivMode(AuthenticatedMode):
    """SIV: associated data is a list of strings, one for each `update`; the nonce may be left out."""

    def __init__(self, siv: SIV, parameters: dict[str, Any]) -> None:
        self._nonce: bytes | None = None
        if parameters.get("nonce") is not None:
            self._nonce = self.nonce = _nonce(parameters, 16, range(1, 1 << 61), "at least 1 byte")
        parameters.pop("nonce", None)
        refuse_unknown(parameters, "SIV")
        self._siv = siv
        self._strings: list[bytes] = []

    def _absorb(self, aad: Bytes) -> None:
        self._check_strings(1)
        self._strings.append(aad.tobytes())

    def _check_strings(self, more: int) -> None:
        if len(self._strings) + more > 127:
            raise UnsupportedType("Too many components passed to S2V")

    def encrypt(self, plaintext: Data, output: Output = None) -> Any:
        """Refused: the tag decides the keystream. Use `encrypt_and_digest`."""
        raise OutOfOrder("encrypt() not allowed for SIV mode. Use encrypt_and_digest() instead.")

    def decrypt(self, ciphertext: Data, output: Output = None) -> Any:
        """Refused: use `decrypt_and_verify`."""
        raise OutOfOrder("decrypt() not allowed for SIV mode. Use decrypt_and_verify() instead.")

    def encrypt_and_digest(self, plaintext: Data, output: Output = None) -> tuple[Any, bytes]:
        """Encrypt the message; return (ciphertext or None, tag)."""
        self._step("encrypt")
        self._allowed = AFTER["digest"]
        check_output(plaintext, output)
        self._check_strings(1 + (self._nonce is not None))
        ciphertext, self._mac = self._siv.encrypt_detached(
            self._nonce, as_bytes(plaintext).data, self._strings, out=output
        )
        return given(ciphertext, output), self._mac

    def decrypt_and_verify(self, ciphertext: Data, received_mac_tag: Data, output: Output = None) -> Any:
        """Decrypt and verify the message; return the plaintext or None.

        Raises
        ------
        MacMismatch
            A ValueError, if the tag does not fit; output is then as it was.
        """
        self._step("decrypt")
        self._allowed = AFTER["verify"]
        check_output(ciphertext, output)
        self._check_strings(1 + (self._nonce is not None))
        try:
            plaintext = self._siv.decrypt_detached(
                self._nonce, as_bytes(ciphertext).data, received_mac_tag, self._strings, out=output
            )
        except InvalidTag:
            raise MacMismatch("MAC check failed") from None
        self._mac = as_bytes(received_mac_tag).tobytes()
        return given(plaintext, output)

    def _tag(self) -> bytes:
        """S2V of the strings alone, for `digest` and `verify` without a message."""
        if not self._strings:
            return CmacState(self._siv._mac_cipher).update(view(bytes(BLOCK_SIZE))).digest()
        return self._siv.encrypt_detached(None, self._strings[-1], self._strings[:-1])[1]


def _nonce(parameters: dict[str, Any], default: int, lengths: range, allowed: str) -> bytes:
    nonce = parameters.pop("nonce", None)
    if nonce is None:
        return secrets.token_bytes(default)
    return small(nonce, "nonce", lengths, allowed, InvalidNonce)


def _announced(parameters: dict[str, Any], name: str) -> int | None:
    """A length that CCM is told before the bytes come."""
    n = parameters.pop(name, None)
    if n is None:
        return None
    n = as_index(n, name)
    if n < 0:
        raise InvalidParameter(f"'{name}' is {n}; it must not be negative")
    return n


def _mac_len(parameters: dict[str, Any], allowed: range) -> int:
    n = as_index(parameters.pop("mac_len", BLOCK_SIZE), "mac_len")
    if n not in allowed:
        even = "" if allowed.step == 1 else "even and "
        raise InvalidParameter(f"'mac_len' is {n}; it must be {even}in the range {allowed.start}..16")
    return n
