"""Other people's Twofish, found on this machine or not, behind one small interface.

The bench runs them beside twofishkit, the differential tests run them against it. Nothing here is
installed by twofishkit: a peer is whatever shared library or package happens to be present.

Conventions, the same for every peer
------------------------------------
- ``mode`` is a lower-case name of `MODES` or `COUNTER_MODES`. ``key_bits`` is the size of one Twofish key;
  XTS and SIV take two keys joined, so their ``key`` has twice as many bits.
- ``iv`` is the IV, the first counter block, the tweak or the nonce; empty for ECB and CMAC.
- `Peer.encrypt` returns (ciphertext, tag). The tag is empty for modes without one. CMAC has an empty
  ciphertext, and its tag is the CMAC of ``data``.
- For SIV ``aad`` is always one string of S2V, even when it is empty; an empty ``iv`` is no nonce.
"""

import functools
from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from twofishkit.testing.peers.botan import Botan
from twofishkit.testing.peers.libgcrypt import Libgcrypt
from twofishkit.testing.peers.nettle import Nettle
from twofishkit.testing.peers.oxi import Oxifish

MODES = ("ecb", "cbc", "cfb", "cfb8", "ofb", "ctr", "xts", "gcm", "ocb", "eax", "ccm", "siv", "cmac")
#: CTR with other counters than 128 bits, big-endian, which some have: `twofishkit.testing.cases.COUNTERS`.
COUNTER_MODES = ("ctr64", "ctr32", "ctrle", "ctr64le", "ctr32le")
AEADS = ("gcm", "ocb", "eax", "ccm", "siv")


class Peer(Protocol):
    """One implementation of Twofish that is not ours."""

    name: str
    version: str

    def supports(self, mode: str, key_bits: int) -> bool:
        """Whether `encrypt` and `decrypt` work for this mode and key size."""

    def encrypt(self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"") -> tuple[bytes, bytes]:
        """(ciphertext, tag) of one whole message, unpadded; tags are 16 bytes."""

    def decrypt(
        self, mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"", tag: bytes = b""
    ) -> bytes:
        """The plaintext of one whole message.

        Raises
        ------
        InvalidTag
            If the peer refuses the tag. (For CMAC: if the tag is not that of ``data``.)
        """

    def bulk(
        self, mode: str, key: bytes, iv: bytes, buffer: npt.NDArray[np.uint8], *, decrypt: bool = False
    ) -> Callable[[], object]:
        """A call that processes ``buffer`` as one message, key already set up: for timing.

        Every call starts again with ``iv``, and an AEAD makes its tag. The buffer is overwritten
        where the peer can work in place. The buffer must outlive the call. AEADs encrypt only.
        """

    def key_setup(self, key: bytes) -> Callable[[], object]:
        """A call that expands ``key`` once, into memory that is there already: for timing."""


@functools.cache
def find() -> tuple[Peer, ...]:
    """Every peer that this machine has, looked for once.

    `TWOFISHKIT_PEER_LIBGCRYPT`, `..._BOTAN` and `..._NETTLE` name a shared library to use instead of
    the installed one; an empty value hides the peer.
    """
    found = (Libgcrypt.find(), Botan.find(), Nettle.find(), Oxifish.find())
    return tuple(peer for peer in found if peer is not None)


def named(name: str) -> Peer | None:
    """The peer called ``name`` (libgcrypt, botan, nettle, oxifish), or None where it is missing."""
    return next((peer for peer in find() if peer.name == name), None)
