"""The right answer to a case, by the pure-Python reference.

`answer` takes the block cipher as a parameter, so that a mistaken Twofish can be put below right modes.
Nothing here imports numba or NumPy.
"""

import functools
from collections.abc import Callable
from typing import Any

from twofishkit.errors import InvalidTag
from twofishkit.reference import KeySchedule, RoundState, authenticated, expand_key, gf128, modes
from twofishkit.testing.cases import COUNTERS, REFUSED, Answer, Case, split_key

#: From a key to a cipher with ``encrypt_block`` and ``decrypt_block``, as the reference's modes want.
Expand = Callable[[bytes], Any]
#: One mode: the output, or (output, tag). Raises InvalidTag to refuse.
ModeFunction = Callable[[Case, Expand], bytes | tuple[bytes, bytes]]


@functools.lru_cache(maxsize=256)
def expand(key: bytes) -> KeySchedule:
    """The reference's key schedule, remembered: cases share keys."""
    return expand_key(key)


_EXPAND = expand


def _ecb(case: Case, expand: Expand) -> bytes:
    function = modes.ecb_decrypt if case.decrypting else modes.ecb_encrypt
    return function(expand(case.key), case.data)


def _cbc(case: Case, expand: Expand) -> bytes:
    function = modes.cbc_decrypt if case.decrypting else modes.cbc_encrypt
    return function(expand(case.key), case.iv, case.data)


def _cfb(case: Case, expand: Expand) -> bytes:
    function = modes.cfb_decrypt if case.decrypting else modes.cfb_encrypt
    return function(expand(case.key), case.iv, case.data)


def _cfb8(case: Case, expand: Expand) -> bytes:
    function = modes.cfb8_decrypt if case.decrypting else modes.cfb8_encrypt
    return function(expand(case.key), case.iv, case.data)


def _ofb(case: Case, expand: Expand) -> bytes:
    return modes.ofb(expand(case.key), case.iv, case.data)


def _ctr(case: Case, expand: Expand) -> bytes:
    counter_bits, byteorder = COUNTERS[case.mode]
    return modes.ctr(expand(case.key), case.iv, case.data, counter_bits, byteorder)


def _xts(case: Case, expand: Expand) -> bytes:
    data_cipher, tweak_cipher = map(expand, split_key(case))
    function = modes.xts_decrypt if case.decrypting else modes.xts_encrypt
    return function(data_cipher, tweak_cipher, case.iv, case.data)


def _aead(encrypt: Callable[..., tuple[bytes, bytes]], decrypt: Callable[..., bytes]) -> ModeFunction:
    def run(case: Case, expand: Expand) -> bytes | tuple[bytes, bytes]:
        cipher = expand(case.key)
        if case.decrypting:
            return decrypt(cipher, case.iv, case.data, case.tag, case.aad, case.tag_length)
        return encrypt(cipher, case.iv, case.data, case.aad, case.tag_length)

    return run


def siv_strings(case: Case) -> list[bytes]:
    """The associated strings of S2V: the associated data, then the nonce if there is one."""
    return [case.aad, case.iv] if case.iv else [case.aad]


def _siv(case: Case, expand: Expand) -> bytes | tuple[bytes, bytes]:
    mac_cipher, ctr_cipher = map(expand, split_key(case))
    if case.decrypting:
        return authenticated.siv_decrypt(mac_cipher, ctr_cipher, case.data, case.tag, siv_strings(case))
    return authenticated.siv_encrypt(mac_cipher, ctr_cipher, case.data, siv_strings(case))


def _cmac(case: Case, expand: Expand) -> bytes:
    return authenticated.cmac(expand(case.key), case.data)


def _ghash(case: Case, expand: Expand) -> bytes:
    return gf128.ghash(case.key, case.data)


def _words(numbers: list[int]) -> bytes:
    return b"".join(word.to_bytes(4, "big") for word in numbers)


def _subkeys(case: Case, expand: Expand) -> bytes:
    return _words(expand(case.key).K)


def _sbox_key(case: Case, expand: Expand) -> bytes:
    return _words(expand(case.key).S)


MODE_FUNCTIONS: dict[str, ModeFunction] = {
    "subkeys": _subkeys,
    "sbox-key": _sbox_key,
    "ecb": _ecb,
    "cbc": _cbc,
    "cfb": _cfb,
    "cfb8": _cfb8,
    "ofb": _ofb,
    **dict.fromkeys(COUNTERS, _ctr),
    "xts": _xts,
    "gcm": _aead(authenticated.gcm_encrypt, authenticated.gcm_decrypt),
    "ocb": _aead(authenticated.ocb_encrypt, authenticated.ocb_decrypt),
    "eax": _aead(authenticated.eax_encrypt, authenticated.eax_decrypt),
    "ccm": _aead(authenticated.ccm_encrypt, authenticated.ccm_decrypt),
    "siv": _siv,
    "cmac": _cmac,
    "ghash": _ghash,
}


def answer(case: Case, expand: Expand = expand, function: ModeFunction | None = None) -> Answer:
    """What a right implementation answers.

    Parameters
    ----------
    case : how the data are cut up, and whether they are overwritten, makes no difference here
    expand : another block cipher, for mistakes
    function : another mode, for mistakes

    Raises
    ------
    TwofishKitError
        If the case is not one that the mode accepts: a key, nonce or message of a wrong length.
    """
    if expand is _EXPAND and function is None:
        return _reference(case)
    return _answer(case, expand, function)


@functools.lru_cache(maxsize=4096)
def _reference(case: Case) -> Answer:
    """Remembered: a case is judged, shrunk and compared with mistakes."""
    return _answer(case, _EXPAND, None)


def _answer(case: Case, expand: Expand, function: ModeFunction | None) -> Answer:
    if case.operation == "trace" and function is None:
        states: list[RoundState] = []
        return Answer(expand(case.key).encrypt_block(case.data, states), states=tuple(states))
    try:
        result = (function or MODE_FUNCTIONS[case.mode])(case, expand)
    except InvalidTag:
        return REFUSED
    data, tag = result if isinstance(result, tuple) else (result, b"")
    return Answer(data, tag)


def expected(case: Case) -> Answer:
    """The published answer where there is one, otherwise the reference's."""
    return case.published or answer(case)
