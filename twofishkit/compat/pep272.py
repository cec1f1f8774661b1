"""Twofish as a PEP 272 module, with the keywords, the order of calls and the errors of pycryptodome.

The line of many tutorials, ``from Crypto.Cipher import Twofish``, never worked: that library has no
Twofish. With this line in its place, what follows it does::

    from twofishkit.compat import pep272 as Twofish

    cipher = Twofish.new(key, Twofish.MODE_GCM)
    ciphertext, tag = cipher.encrypt_and_digest(b"secret")
    plaintext = Twofish.new(key, Twofish.MODE_GCM, nonce=cipher.nonce).decrypt_and_verify(ciphertext, tag)

Habits to know, all of them pycryptodome's: MODE_CFB has segments of 8 bits unless ``segment_size=128``; a
nonce or IV that is not given is random, and then an attribute; an object serves one message only; AEAD
objects hand out plaintext before its tag is checked. Where arguments are wrong, the type of the error is
the same (ValueError, TypeError) and its text may be clearer. Key wrapping (KW, KWP) is not here.

Source: PEP 272; pycryptodome's documentation of ``Crypto.Cipher``.
"""

from typing import Any

from twofishkit.buffers import Data
from twofishkit.cipher import BLOCK_SIZE, KEY_SIZES, Cipher, as_cipher
from twofishkit.compat import aead_modes, plain_modes
from twofishkit.errors import InvalidParameter, UnsupportedType
from twofishkit.modes.siv import SIV

MODE_ECB = 1
MODE_CBC = 2
MODE_CFB = 3
MODE_OFB = 5
MODE_CTR = 6
MODE_OPENPGP = 7
MODE_CCM = 8
MODE_EAX = 9
MODE_SIV = 10
MODE_GCM = 11
MODE_OCB = 12

#: Bytes of a block.
block_size = BLOCK_SIZE
#: Allowed bytes of a key; twice as many for MODE_SIV.
key_size = KEY_SIZES

_MAKERS = {
    MODE_ECB: plain_modes.EcbMode,
    MODE_CBC: plain_modes.new_cbc,
    MODE_CFB: plain_modes.new_cfb,
    MODE_OFB: plain_modes.new_ofb,
    MODE_CTR: plain_modes.new_ctr,
    MODE_OPENPGP: plain_modes.OpenPgpMode,
    MODE_CCM: aead_modes.CcmMode,
    MODE_EAX: aead_modes.EaxMode,
    MODE_GCM: aead_modes.GcmMode,
    MODE_OCB: aead_modes.OcbMode,
}
_WITH_IV = (MODE_CBC, MODE_CFB, MODE_OFB, MODE_OPENPGP)
_WITH_NONCE = (MODE_CCM, MODE_EAX, MODE_SIV, MODE_GCM, MODE_OCB)


def new(key: Data | Cipher, mode: int, *args: Any, **kwargs: Any) -> Any:
    """Make an object that encrypts or decrypts one message.

    Parameters
    ----------
    key : bytes-like
        16, 24 or 32 bytes (a `twofishkit.Twofish` does too); for MODE_SIV two keys joined.
    mode : int
        One of the ``MODE_*`` constants.
    *args
        At most one: the IV (CBC, CFB, OFB, OPENPGP) or the nonce (CCM, EAX, SIV, GCM, OCB).
    iv, IV : bytes-like
        16 bytes; for OPENPGP 18 to decrypt.
    segment_size : int
        CFB: bits, 8 by default, a multiple of 8 up to 128.
    nonce, initial_value, counter
        CTR: 0 to 15 bytes before the counter, and its start; or an object of ``Crypto.Util.Counter``.
    nonce, mac_len
        AEADs: lengths as each mode allows. CCM takes ``msg_len`` and ``assoc_len`` as well.
    use_aesni, use_clmul, threads
        Hints for pycryptodome's own code, taken and ignored.

    Returns
    -------
    An object with ``encrypt``, ``decrypt``, ``block_size``, and ``iv`` or ``nonce``; AEADs have ``update``,
    ``digest``, ``verify``, ``hexdigest``, ``hexverify``, ``encrypt_and_digest``, ``decrypt_and_verify`` too.

    Raises
    ------
    ValueError
        For a mode that is not here, and keys, IVs, nonces or numbers that do not fit.
    TypeError
        For arguments of the wrong type, unknown keywords, or too many arguments.
    """
    kwargs.pop("use_aesni", None)
    if mode not in (*_MAKERS, MODE_SIV):
        raise InvalidParameter("Mode not supported")
    if args:
        if mode == MODE_ECB:
            raise UnsupportedType("IV is not meaningful for the ECB mode")
        if len(args) > 1 or mode not in (*_WITH_IV, *_WITH_NONCE):
            raise UnsupportedType("Too many arguments for this mode")
        kwargs["IV" if mode in _WITH_IV else "nonce"] = args[0]
    if mode == MODE_SIV:
        return aead_modes.SivMode(SIV(key), kwargs)  # type: ignore[arg-type]
    maker: Any = _MAKERS[mode]
    return maker(as_cipher(key), kwargs)
