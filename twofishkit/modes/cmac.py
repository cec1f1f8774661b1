"""CMAC (OMAC1): a message authentication code from a block cipher.

The last block is masked with a subkey, K1 if it is whole and K2 if it was padded, which makes
CBC-MAC safe for messages of any length. The cost is one block encryption for a block of message,
one after the other.
"""

from twofishkit.blocks import BLOCK_BYTES, BlockHash, double, view, zero_block
from twofishkit.buffers import Bytes, Data, as_bytes
from twofishkit.cipher import Cipher, as_cipher, describe
from twofishkit.ghash import check_digest


class CmacState:
    """The CMAC of one message in progress; EAX and SIV use it as `CMAC` does.

    Parameters
    ----------
    cipher : Cipher
    """

    __slots__ = ("_hash", "_k1", "_k2")

    def __init__(self, cipher: Cipher) -> None:
        self._hash = BlockHash(cipher._kernels.cipher.cbc_mac, cipher._schedule, hold_last=True)
        zero = zero_block()
        cipher._kernels.cipher.encrypt_blocks(cipher._schedule, zero, zero)
        self._k1 = double(zero)
        self._k2 = double(self._k1)

    def update(self, src: Bytes) -> "CmacState":
        """Append src, uint8[n] with any n >= 0; return the object itself."""
        self._hash.update(src)
        return self

    def digest(self) -> bytes:
        """Return the MAC of what was appended so far, 16 bytes. Source: NIST SP 800-38B, 6.2."""
        queue = self._hash.queue
        last = queue.padded(0x80)
        last ^= view(self._k1 if queue.held == BLOCK_BYTES else self._k2)
        state = self._hash.state.copy()
        self._hash.absorb(self._hash.key, state, last)
        return state.tobytes()

    def copy(self) -> "CmacState":
        """Return an independent object in the same state."""
        twin = CmacState.__new__(CmacState)
        twin._hash = self._hash.copy()
        twin._k1, twin._k2 = self._k1, self._k2
        return twin

    @property
    def length(self) -> int:
        """Bytes appended so far."""
        return self._hash.length


class CMAC:
    """CMAC_K(M), 16 bytes, of a message given in chunks of any length.

    Parameters
    ----------
    key : bytes-like of 16, 24 or 32 bytes, or a Twofish

    Raises
    ------
    InvalidKey
        For a key of any other length.

    Source: NIST SP 800-38B; OMAC1 of Iwata and Kurosawa.

    Examples
    --------
    >>> key = bytes(range(16))
    >>> CMAC(key).update(b"").digest().hex()
    '0158eb365fccfdd94eba6be42b6659c4'
    """

    __slots__ = ("_cipher", "_state")

    def __init__(self, key: Data | Cipher) -> None:
        self._cipher = as_cipher(key)
        self._state = CmacState(self._cipher)

    def update(self, data: Data) -> "CMAC":
        """Append a bytes-like or an array (C order of its elements); return the object itself.

        Raises
        ------
        StateError
            If the key was wiped.
        """
        self._cipher._schedule  # noqa: B018 - raises once the key is wiped
        self._state.update(as_bytes(data))
        return self

    def digest(self) -> bytes:
        """Return the MAC of what was appended so far. More updates may follow.

        Raises
        ------
        StateError
            If the key was wiped.
        """
        self._cipher._schedule  # noqa: B018 - raises once the key is wiped
        return self._state.digest()

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

    def copy(self) -> "CMAC":
        """Return an independent object in the same state."""
        twin = CMAC.__new__(CMAC)
        twin._cipher = self._cipher
        twin._state = self._state.copy()
        return twin

    def __repr__(self) -> str:
        return f"CMAC({describe(self._cipher)})"
