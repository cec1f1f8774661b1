"""Twofishes that this machine already has, as targets: see `twofishkit.testing.peers`."""

import functools
import importlib
from collections.abc import Callable
from typing import Any

from twofishkit.errors import InvalidParameter, InvalidTag
from twofishkit.testing import peers
from twofishkit.testing.cases import REFUSED, UNSUPPORTED, Answer, Case, key_bits
from twofishkit.testing.targets.function import BlockTarget
from twofishkit.testing.targets.tomcrypt import TomcryptTarget


class PeerTarget:
    """One peer. It has no pieces, no in-place calls and no tags of other lengths than 16 bytes.

    An input that the library refuses (libgcrypt an OCB nonce of 1 byte, Botan an empty CBC message) is
    unsupported, with what it says as the reason.
    """

    def __init__(self, peer: peers.Peer) -> None:
        self._peer = peer
        self.name = f"{peer.name} {peer.version}"

    def answer(self, case: Case) -> Answer:
        peer = self._peer
        known = case.mode in (*peers.MODES, *peers.COUNTER_MODES)
        if not known or case.chunks or case.in_place or case.tag_length != 16:
            return UNSUPPORTED
        if not peer.supports(case.mode, key_bits(case)):
            return UNSUPPORTED
        if case.decrypting and case.mode in peers.AEADS and len(case.tag) != 16:
            return UNSUPPORTED  # their interfaces take 16 bytes
        try:
            return self._ask(case)
        except InvalidTag:
            return REFUSED
        except Exception as error:  # whatever another library may raise
            return Answer(status="unsupported", message=str(error)[:200])

    def _ask(self, case: Case) -> Answer:
        if case.decrypting:
            plaintext = self._peer.decrypt(case.mode, case.key, case.iv, case.data, case.aad, case.tag)
            return Answer(plaintext)
        data, tag = self._peer.encrypt(case.mode, case.key, case.iv, case.data, case.aad)
        return Answer(tag) if case.mode == "cmac" else Answer(data, tag)

    def close(self) -> None:
        """Libraries stay loaded."""


def _twofish_package() -> BlockTarget | None:
    """The PyPI package ``twofish`` (keybase): a bare block cipher."""
    try:
        module = importlib.import_module("twofish")
    except Exception:  # it needs imp, which Python 3.12 has no more, and a library beside it
        return None

    def encrypt(key: bytes, block: bytes) -> bytes:
        return bytes(module.Twofish(key).encrypt(block))

    def decrypt(key: bytes, block: bytes) -> bytes:
        return bytes(module.Twofish(key).decrypt(block))

    return BlockTarget(encrypt, decrypt, "twofish (PyPI)")


#: What may be installed, and how it is looked for.
_FINDERS: dict[str, Callable[[], Any]] = {
    **{name: functools.partial(peers.named, name) for name in ("libgcrypt", "botan", "nettle", "oxifish")},
    "libtomcrypt": TomcryptTarget.find,
    "twofish": _twofish_package,
}
NAMES = tuple(_FINDERS)


def installed(name: str) -> PeerTarget | TomcryptTarget | BlockTarget:
    """The target for a Twofish that is installed: one of `NAMES`.

    Raises
    ------
    InvalidParameter
        If there is none of this name; the message lists those that there are.
    """
    found = _FINDERS[name]() if name in _FINDERS else None
    if found is None:
        there = ", ".join(other for other, find in _FINDERS.items() if find() is not None) or "none"
        raise InvalidParameter(f"{name!r} is not installed; other Twofishes found here: {there}")
    return found if isinstance(found, TomcryptTarget | BlockTarget) else PeerTarget(found)
