"""Drop-in for the PyPI package ``twofish`` 0.3.0, which needs a C compiler and fails on Python 3.12.

Replace ``from twofish import Twofish`` by ``from twofishkit.compat.twofish import Twofish``, or let code
of others find it: ``sys.modules["twofish"] = twofishkit.compat.twofish`` before that code is imported.

As the package does, and as `twofishkit.Twofish` does not, it takes keys of 1 to 32 bytes: shorter ones
are filled up with zero bytes to 16, 24 or 32. Two keys that differ in zero bytes at their end are then the
same key. One call processes one block; for many blocks or whole messages use `twofishkit`'s modes.
"""

from twofishkit import cipher
from twofishkit.errors import InvalidKey, InvalidLength, UnsupportedType


class Twofish:
    """The Twofish block cipher, one block at a time.

    Parameters
    ----------
    key : bytes
        1 to 32 bytes, filled up with zeros to the next of 16, 24 and 32.

    Raises
    ------
    ValueError
        ``invalid key length``, for an empty key or more than 32 bytes (an `InvalidKey`).
    TypeError
        If the key is not bytes (an `UnsupportedType`).
    """

    def __init__(self, key: bytes) -> None:
        if not 0 < len(key) <= 32:
            raise InvalidKey("invalid key length")
        _check_bytes(key)
        size = next(size for size in cipher.KEY_SIZES if len(key) <= size)
        #: The expanded key.
        self.key = cipher.Twofish(key.ljust(size, b"\0"))

    def encrypt(self, data: bytes) -> bytes:
        """Encrypt one block: C = E(P).

        Raises
        ------
        ValueError
            ``invalid block length``, unless data has 16 bytes (an `InvalidLength`).
        TypeError
            If data is not bytes (an `UnsupportedType`).
        """
        _check_block(data)
        result: bytes = self.key.encrypt_blocks(data)
        return result

    def decrypt(self, data: bytes) -> bytes:
        """Decrypt one block: P = D(C). Errors are those of `encrypt`."""
        _check_block(data)
        result: bytes = self.key.decrypt_blocks(data)
        return result


def _check_block(data: bytes) -> None:
    if len(data) != cipher.BLOCK_SIZE:
        raise InvalidLength("invalid block length")
    _check_bytes(data)


def _check_bytes(data: object) -> None:
    # The package's own words, for whatever is not bytes.
    if not isinstance(data, bytes):
        raise UnsupportedType("can not encrypt/decrypt unicode objects")
