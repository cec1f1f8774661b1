"""Builds the example target in C, right and with mistakes."""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "examples" / "oracle" / "target.c"


@functools.cache
def _directory() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="twofishkit-target-")


def compiler() -> str:
    """A C compiler; on Linux CI a missing one fails, elsewhere it skips."""
    found = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if found is None:
        if os.environ.get("CI") == "true" and sys.platform == "linux":
            pytest.fail("CI on Linux has a C compiler (see .ci/run)")
        pytest.skip("there is no C compiler on this machine")
    return found


@functools.cache
def built(mistake: int = 0, *, library: bool = False) -> Path:
    """The program, or the shared library, with one of the mistakes that target.c lists."""
    name = f"target{mistake}" + (".so" if library else ".exe")
    path = Path(_directory().name) / name
    options = ["-shared", "-fPIC", "-DAS_LIBRARY"] if library else []
    command = [compiler(), "-std=c99", "-O2", "-Wall", "-Wextra", f"-DMISTAKE={mistake}"]
    subprocess.run([*command, *options, "-o", str(path), str(SOURCE)], check=True, timeout=120)
    return path
