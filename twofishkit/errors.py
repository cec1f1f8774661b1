"""Every exception that twofishkit raises on purpose.

All derive from `TwofishKitError`; each also derives from the built-in exception that a caller
would expect (`ValueError`, `TypeError`, `RuntimeError`), so both styles of handling work.
Messages say what was given and what is allowed, and never contain key bytes.
"""


class TwofishKitError(Exception):
    """Base class of every error that twofishkit raises on purpose."""


class InvalidKey(TwofishKitError, ValueError):
    """A key has the wrong length, or two keys that must differ are equal."""


class InvalidLength(TwofishKitError, ValueError):
    """A message has a length that the mode cannot process."""


class InvalidNonce(TwofishKitError, ValueError):
    """An IV, nonce, counter or tweak has the wrong length or value."""


class InvalidParameter(TwofishKitError, ValueError):
    """An option (tag length, counter width, padding name, ...) is not one of those allowed."""


class InvalidBuffer(TwofishKitError, ValueError):
    """An output buffer is read-only, not C-contiguous, or of the wrong size."""


class UnsupportedType(TwofishKitError, TypeError):
    """An argument is not bytes-like and not an array, or its dtype holds Python objects."""


class InvalidPadding(TwofishKitError, ValueError):
    """Decrypted data does not end in valid PKCS#7 padding."""


class LimitExceeded(TwofishKitError, ValueError):
    """A message is longer than the mode can encrypt safely under one nonce or counter."""


class InvalidTag(TwofishKitError):
    """Authentication failed: wrong key, nonce or associated data, or the data was altered."""


class FormatError(TwofishKitError, ValueError):
    """Sealed data is malformed: not twofishkit's, truncated, or from an unknown version."""


class WrongKey(InvalidTag):
    """Sealed data was not made with this key or passphrase, or its header was altered."""


class StateError(TwofishKitError, RuntimeError):
    """An object was used after it was finished, closed or wiped."""


class BackendUnavailable(TwofishKitError, RuntimeError):
    """The backend asked for cannot run on this machine; the message names what is missing."""


class MissingDependency(TwofishKitError, ImportError):
    """An optional package is not installed; the message names it and the extra that brings it."""
