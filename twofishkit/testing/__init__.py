"""The differential-testing kit: proves somebody's Twofish right, or says what is wrong with it.

`compare` asks a target published and generated cases and tells why it fails; targets are Python
functions (`FunctionTarget`, `BlockTarget`), programs (`CommandTarget`), shared libraries
(`LibraryTarget`) and Twofishes that are installed (`installed`). Hypothesis strategies are in
`twofishkit.testing.strategies`, a pytest suite in `twofishkit.testing.suite`, and the command lines
are ``python -m twofishkit diff``, ``kat`` and ``vectors``. See docs/oracle.md.

The expected values are published ones and those of `twofishkit.reference`: numba is not needed.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twofishkit.testing.cases import Answer, Case
    from twofishkit.testing.mistakes import MISTAKES, Mistake
    from twofishkit.testing.report import text
    from twofishkit.testing.run import Budget, Report, compare
    from twofishkit.testing.targets import (
        BlockTarget,
        CommandTarget,
        FunctionTarget,
        LibraryTarget,
        PeerTarget,
        Target,
        installed,
    )

_MODULES = {
    "Answer": "cases",
    "BlockTarget": "targets",
    "Budget": "run",
    "Case": "cases",
    "CommandTarget": "targets",
    "FunctionTarget": "targets",
    "LibraryTarget": "targets",
    "MISTAKES": "mistakes",
    "Mistake": "mistakes",
    "PeerTarget": "targets",
    "Report": "run",
    "Target": "targets",
    "compare": "run",
    "installed": "targets",
    "text": "report",
}

__all__ = [
    "MISTAKES",
    "Answer",
    "BlockTarget",
    "Budget",
    "Case",
    "CommandTarget",
    "FunctionTarget",
    "LibraryTarget",
    "Mistake",
    "PeerTarget",
    "Report",
    "Target",
    "compare",
    "installed",
    "text",
]


def __getattr__(name: str) -> Any:
    # The benchmarks use the peers alone: the mistakes' tables are computed when they are wanted.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
