"""GMAC: the tag of a GCM message that is all associated data."""

from twofishkit.buffers import Data, as_bytes, byte_length
from twofishkit.cipher import Cipher, as_cipher, describe
from twofishkit.errors import LimitExceeded
from twofishkit.ghash import check_digest
from twofishkit.modes.aead import AAD_LIMIT_BYTES
from twofishkit.modes.gcm import GcmKey, GcmMessage, check_nonce


class GMAC:
    """GMAC_K(nonce, M), 16 bytes, of a message given in chunks of any length.

    Unlike `CMAC` it needs a nonce: two messages under the same key and nonce let anybody forge.

    Parameters
    ----------
    key : bytes-like of 16, 24 or 32 bytes, or a Twofish
    nonce : bytes-like of one byte or more

    Raises
    ------
    InvalidKey, InvalidNonce

    Source: NIST SP 800-38D.

    Examples
    --------
    >>> mac = GMAC(bytes(16), b"unique nonce").update(b"mess").update(b"age")
    >>> mac.verify(GMAC(bytes(16), b"unique nonce").update(b"message").digest())
    """

    __slots__ = ("_cipher", "_length", "_message")

    def __init__(self, key: Data | Cipher, nonce: Data) -> None:
        checked = check_nonce(nonce)
        self._cipher = as_cipher(key)
        self._message = GcmMessage(GcmKey(self._cipher), checked)
        self._length = 0

    def update(self, data: Data) -> "GMAC":
        """Append a bytes-like or an array (C order of its elements); return the object itself.

        Raises
        ------
        LimitExceeded
            If the message would have 2^61 bytes or more; the chunk is not consumed.
        StateError
            If the key was wiped.
        """
        self._cipher._schedule  # noqa: B018 - raises once the key is wiped
        n = self._length + byte_length(data)
        if n > AAD_LIMIT_BYTES:
            raise LimitExceeded(f"the message would have {n} bytes; GMAC allows 2^61 - 1")
        self._message.absorb_aad(as_bytes(data))
        self._length = n
        return self

    def digest(self) -> bytes:
        """Return the MAC of what was appended so far. More updates may follow.

        Raises
        ------
        StateError
            If the key was wiped.
        """
        self._cipher._schedule  # noqa: B018 - raises once the key is wiped
        return self._message.tag()

    def verify(self, tag: Data) -> None:
        """Compare `digest` with a 16-byte tag in constant time.

        Raises
        ------
        InvalidTag
            If they differ, or if tag does not have 16 bytes.
        StateError
            If the key was wiped.
        """
        check_digest(self.digest(), tag)

    def copy(self) -> "GMAC":
        """Return an independent object in the same state."""
        twin = GMAC.__new__(GMAC)
        twin._cipher = self._cipher
        twin._message = self._message.copy()
        twin._length = self._length
        return twin

    def __repr__(self) -> str:
        return f"GMAC({describe(self._cipher)})"
