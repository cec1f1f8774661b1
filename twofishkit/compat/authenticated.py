"""What the authenticated modes of `twofishkit.compat.pep272` have in common: the calls and their order.

An object serves one message: `update` with associated data, then `encrypt` and `digest`, or `decrypt` and
`verify`. What `decrypt` returns is **not verified** before `verify`: that is how these objects work, and why
twofishkit's own do not. `decrypt_and_verify` does both; nothing is returned if the tag does not fit.
"""

import hmac
from binascii import unhexlify
from typing import Any, Self

from twofishkit.buffers import Bytes, Data, as_bytes, byte_length
from twofishkit.cipher import BLOCK_SIZE
from twofishkit.compat.calls import MacMismatch, OutOfOrder, Output, check_output, given
from twofishkit.errors import InvalidParameter

_ANY_CALL = frozenset(("update", "encrypt", "decrypt", "digest", "verify"))
#: What may be called after a call.
AFTER = {
    "update": _ANY_CALL,
    "encrypt": frozenset(("encrypt", "digest")),
    "decrypt": frozenset(("decrypt", "verify")),
    "digest": frozenset(("digest",)),
    "verify": frozenset(("verify",)),
}
_REFUSED = {
    "update": "update() can only be called immediately after initialization",
    "encrypt": "encrypt() can only be called after initialization or an update()",
    "decrypt": "decrypt() can only be called after initialization or an update()",
    "digest": "digest() cannot be called when decrypting or validating a message",
    "verify": "verify() cannot be called when encrypting a message",
}


class AuthenticatedMode:
    """The calls and their order; a mode supplies ``_absorb``, ``_process`` and ``_tag``."""

    block_size = BLOCK_SIZE
    nonce: bytes

    _mac_len = BLOCK_SIZE
    _mac: bytes | None = None
    _allowed = _ANY_CALL

    def _step(self, call: str) -> None:
        if call not in self._allowed:
            raise OutOfOrder(_REFUSED[call])
        self._allowed = AFTER[call]

    def update(self, assoc_data: Data) -> Self:
        """Append associated data; only before the message. Returns the object itself."""
        self._step("update")
        self._absorb(as_bytes(assoc_data, "assoc_data"))
        return self

    def encrypt(self, plaintext: Data, output: Output = None) -> Any:
        """Encrypt the next piece; return it, or None if it is in output."""
        self._step("encrypt")
        self._check_length(byte_length(plaintext))
        check_output(plaintext, output)
        return given(self._process(plaintext, output, decrypting=False), output)

    def decrypt(self, ciphertext: Data, output: Output = None) -> Any:
        """Decrypt the next piece, which is not verified yet; return it, or None if it is in output."""
        self._step("decrypt")
        self._check_length(byte_length(ciphertext))
        check_output(ciphertext, output)
        return given(self._process(ciphertext, output, decrypting=True), output)

    def digest(self) -> bytes:
        """The tag of the message that was encrypted."""
        self._step("digest")
        return self._final_mac()

    def hexdigest(self) -> str:
        """The tag in hexadecimal."""
        return self.digest().hex()

    def verify(self, received_mac_tag: Data) -> None:
        """Compare the tag with one received.

        Raises
        ------
        MacMismatch
            A ValueError, if they differ.
        """
        self._step("verify")
        if not hmac.compare_digest(
            self._final_mac(), as_bytes(received_mac_tag, "received_mac_tag").tobytes()
        ):
            raise MacMismatch("MAC check failed")

    def hexverify(self, hex_mac_tag: str) -> None:
        """Compare the tag with one received in hexadecimal."""
        try:
            tag = unhexlify(hex_mac_tag)
        except ValueError:
            raise InvalidParameter("hex_mac_tag is not an even number of hexadecimal digits") from None
        self.verify(tag)

    def encrypt_and_digest(self, plaintext: Data, output: Output = None) -> tuple[Any, bytes]:
        """Encrypt all or the rest of the message; return (ciphertext or None, tag)."""
        return self.encrypt(plaintext, output), self.digest()

    def decrypt_and_verify(self, ciphertext: Data, received_mac_tag: Data, output: Output = None) -> Any:
        """Decrypt all or the rest of the message and verify it; return the plaintext or None.

        Raises
        ------
        MacMismatch
            A ValueError, if the tag does not fit; output then holds zeros.
        """
        result = self.decrypt(ciphertext, output)
        try:
            self.verify(received_mac_tag)
        except MacMismatch:
            if output is not None:
                memoryview(output).cast("B")[:] = bytes(byte_length(output))
            raise
        return result

    def _final_mac(self) -> bytes:
        if self._mac is None:
            self._mac = self._tag()[: self._mac_len]
        return self._mac

    def _check_length(self, n: int) -> None:
        """Raise if n more bytes are too many; before the output is looked at, as pycryptodome does."""

    def _absorb(self, aad: Bytes) -> None:
        raise NotImplementedError

    def _process(self, data: Data, output: Output, *, decrypting: bool) -> Any:
        raise NotImplementedError

    def _tag(self) -> bytes:
        raise NotImplementedError
