"""What can be tested: Python functions, programs, shared libraries, and Twofishes that are installed."""

from typing import Protocol

from twofishkit.testing.cases import Answer, Case
from twofishkit.testing.targets.command import CommandTarget
from twofishkit.testing.targets.function import BlockTarget, FunctionTarget
from twofishkit.testing.targets.library import LibraryTarget
from twofishkit.testing.targets.peer import PeerTarget, installed


class Target(Protocol):
    """Something that answers cases."""

    name: str

    def answer(self, case: Case) -> Answer:
        """What the target makes of a case. Never raises: failures are answers too."""

    def close(self) -> None:
        """Let go of processes and files."""


__all__ = [
    "BlockTarget",
    "CommandTarget",
    "FunctionTarget",
    "LibraryTarget",
    "PeerTarget",
    "Target",
    "installed",
]
