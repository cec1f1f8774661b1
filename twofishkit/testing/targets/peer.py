"""Twofishes that this machine already has, as targets: see `twofishkit.testing.peers`."""

from twofishkit.errors import InvalidParameter, InvalidTag
from twofishkit.testing import peers
from twofishkit.testing.cases import REFUSED, UNSUPPORTED, Answer, Case, key_bits


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
        unheard_of = case.mode not in peers.MODES or case.chunks or case.in_place or case.tag_length != 16
        if unheard_of or not peer.supports(case.mode, key_bits(case)):
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


def installed(name: str) -> PeerTarget:
    """The target for a Twofish that is installed.

    Raises
    ------
    InvalidParameter
        If there is none of this name; the message lists those that there are.
    """
    peer = peers.named(name)
    if peer is None:
        there = ", ".join(peer.name for peer in peers.find()) or "none"
        raise InvalidParameter(f"{name!r} is not installed; other Twofishes found here: {there}")
    return PeerTarget(peer)
