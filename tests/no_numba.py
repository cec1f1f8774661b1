"""A pytest plugin, ``-p tests.no_numba``: the suite as it runs where Numba is not installed.

Importing Numba or llvmlite fails from the start. What tests compiled code alone is left out.
"""

import sys
from pathlib import Path

import pytest

sys.modules["numba"] = sys.modules["llvmlite"] = None  # type: ignore[assignment]

#: Tests of compiled kernels, of what compiles them and of what measures them (the bench's clock is a
#: compiled loop too): without Numba there is nothing to test.
COMPILED_ONLY = (
    "tests/kernels",
    "tests/simd",
    "tests/bench",
    "tests/peers",
    "tests/traces",
    "tests/test_backend.py",
    "tests/test_no_numba.py",
    "tests/test_constant_time.py",
)

#: Tests whose messages are sized for compiled kernels; the numpy backend's own cases are elsewhere.
TOO_LARGE = ("tests/aead/test_memory.py",)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "filterwarnings", "ignore:twofishkit falls back to its 'numpy' backend:RuntimeWarning"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    relative = collection_path.relative_to(config.rootpath).as_posix()
    return True if relative in COMPILED_ONLY + TOO_LARGE else None
