"""The five authenticated modes as one table, so that a rule for all of them is one test."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import twofishkit as tk
from twofishkit.reference import authenticated, expand_key

KEY_SIZES = (16, 24, 32)


@functools.lru_cache(maxsize=64)
def reference_cipher(key: bytes) -> Any:
    return expand_key(key)


@dataclass(frozen=True)
class Mode:
    """One mode: how to make it, what it accepts, and what the reference says.

    ``reference`` is (key, nonce, plaintext, aad, tag_length) -> (ciphertext, tag).
    """

    name: str
    nonce_lengths: tuple[int, ...]
    tag_lengths: tuple[int, ...]
    keys: int
    reference: Callable[..., tuple[bytes, bytes]]
    streams: bool
    tag_first: bool = False

    @property
    def public_class(self) -> Any:
        return getattr(tk, self.name)

    def make(self, key: bytes, tag_length: int = 16) -> Any:
        """The mode object for a key of ``keys`` times 16, 24 or 32 bytes."""
        if self.name == "SIV":
            return self.public_class(key)
        return self.public_class(key, tag_length=tag_length)

    def joined(self, ciphertext: bytes, tag: bytes) -> bytes:
        return tag + ciphertext if self.tag_first else ciphertext + tag

    def key(self, size: int = 32) -> bytes:
        return bytes(range(1, 1 + size * self.keys))

    def nonce(self) -> bytes:
        return bytes(range(200, 200 + (12 if 12 in self.nonce_lengths else self.nonce_lengths[-1])))

    def __str__(self) -> str:
        return self.name


def _one_key(function: Callable[..., tuple[bytes, bytes]]) -> Callable[..., tuple[bytes, bytes]]:
    def reference(key, nonce, plaintext, aad, tag_length):
        return function(reference_cipher(key), nonce, plaintext, aad, tag_length)

    return reference


def _siv(key, nonce, plaintext, aad, tag_length):
    half = len(key) // 2
    strings = list(aad) if isinstance(aad, list) else [aad]
    if nonce is not None:
        strings.append(nonce)
    ciphers = reference_cipher(key[:half]), reference_cipher(key[half:])
    return authenticated.siv_encrypt(*ciphers, plaintext, strings)


MODES = (
    Mode(
        "GCM",
        nonce_lengths=(12, 1, 8, 15, 16, 17, 60),
        tag_lengths=(12, 13, 14, 15, 16),
        keys=1,
        reference=_one_key(authenticated.gcm_encrypt),
        streams=True,
    ),
    Mode(
        "OCB",
        nonce_lengths=tuple(range(1, 16)),
        tag_lengths=tuple(range(8, 17)),
        keys=1,
        reference=_one_key(authenticated.ocb_encrypt),
        streams=True,
    ),
    Mode(
        "EAX",
        nonce_lengths=(0, 1, 12, 15, 16, 17, 33),
        tag_lengths=tuple(range(8, 17)),
        keys=1,
        reference=_one_key(authenticated.eax_encrypt),
        streams=True,
    ),
    Mode(
        "CCM",
        nonce_lengths=tuple(range(7, 14)),
        tag_lengths=tuple(range(4, 17, 2)),
        keys=1,
        reference=_one_key(authenticated.ccm_encrypt),
        streams=False,
    ),
    Mode(
        "SIV",
        nonce_lengths=(1, 12, 16, 33),
        tag_lengths=(16,),
        keys=2,
        reference=_siv,
        streams=False,
        tag_first=True,
    ),
)

STREAMS = tuple(mode for mode in MODES if mode.streams)
