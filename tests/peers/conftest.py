"""Finds the peers, and decides what a missing one means.

On Linux CI, whose script installs them, all must be there, with all that they are known to have: a missing
one fails. Elsewhere it is a skip that says so.
"""

import os
import secrets
import sys

import pytest

from twofishkit.testing import peers

REQUIRED_IN_CI = ("libgcrypt", "botan", "nettle", "oxifish")


def lacking(what: str, name: str) -> None:
    """Skip the test, or fail it where the peer has to be there."""
    if os.environ.get("CI") == "true" and sys.platform == "linux" and name in REQUIRED_IN_CI:
        pytest.fail(f"{what}: CI on Linux must compare with {', '.join(REQUIRED_IN_CI)} (see .ci/run)")
    pytest.skip(what)


def the_peer(name: str) -> peers.Peer:
    peer = peers.named(name)
    if peer is None:
        lacking(f"{name} is not installed on this machine", name)
    return peer


@pytest.fixture(scope="session")
def seed() -> int:
    """New in each run; TWOFISHKIT_SEED repeats one. Every failure message names it."""
    return int(os.environ.get("TWOFISHKIT_SEED") or secrets.randbits(32))
