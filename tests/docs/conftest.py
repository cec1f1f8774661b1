"""The pages, built once for all tests of them."""

import subprocess
import sys

import pytest

from tests.processes import ROOT, environment

SCRIPT = ROOT / "docs" / "build.py"


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The directory of the HTML pages. Building fails on any warning and on any broken link."""
    directory = tmp_path_factory.mktemp("docs") / "html"
    done = subprocess.run(
        [sys.executable, SCRIPT, directory], env=environment(), capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return directory
