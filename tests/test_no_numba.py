"""The suite where Numba cannot be imported: in another process, with the plugin `tests.no_numba`."""

import re
import subprocess
import sys

import pytest

from tests.processes import ROOT, environment

#: What shows most in little time: every mode's rules and vectors, arrays, files and the command line.
QUICK = (
    "tests/contract",
    "tests/test_cipher.py",
    "tests/test_public.py",
    "tests/test_vectors.py",
    "tests/test_vectors_hashes.py",
    "tests/test_vectors_modes.py",
    "tests/test_vectorised.py",
    "tests/modes/test_gcm.py",
    "tests/aead/test_aes_wycheproof.py",
    "tests/sealed/test_arrays.py",
    "tests/sealed/test_golden.py",
    "tests/sealed/test_stream_vectors.py",
)


def suite(*arguments: str, seconds: int, **variables: str) -> int:
    """Run pytest without Numba; how many tests passed. None may fail."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.no_numba", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    (passed,) = re.findall(r"(\d+) passed", run.stdout)
    return int(passed)


def test_quick_part_of_the_suite_passes():
    assert all((ROOT / path).exists() for path in QUICK)
    assert suite(*QUICK, "-v", seconds=500, TWOFISHKIT_TEST_BACKENDS="numpy") > 800


@pytest.mark.slow
def test_whole_suite_passes():
    assert suite("-v", seconds=3000) > 4000


def test_plugin_does_block_numba():
    script = """
import tests.no_numba
from twofishkit import backend
assert set(backend.available()) == set(backend.available_ghash()) == {"numpy", "reference"}
try:
    import numba
except ModuleNotFoundError:
    print("blocked")
"""
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
    assert run.stdout == "blocked\n"
