"""A pytest plugin, ``-p tests.no_numba``: the suite as it runs where Numba is not installed.

Importing Numba or llvmlite fails from the start. What tests compiled code alone is left out.
"""

import sys
from pathlib import Path

import pytest

sys.modules["numba"] = sys.modules["llvmlite"] = None  # type: ignore[assignment]

#: Tests of compiled kernels and of what compiles them: without Numba there is nothing to test.
COMPILED_ONLY = ("tests/kernels", "tests/simd", "tests/bench", "tests/peers", "tests/test_backend.py")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "filterwarnings", "ignore:twofishkit falls back to its 'numpy' backend:RuntimeWarning"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    relative = collection_path.relative_to(config.rootpath).as_posix()
    return True if relative in COMPILED_ONLY else None
