"""The pytest suite, run as somebody's CI would, in a process of its own."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from tests.processes import ROOT
from tests.testing.build import built


def pytest_run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Of the installed plugin, or of the one in this tree where twofishkit is not installed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TWOFISHKIT_BACKEND": "numpy"}
    environment.pop("PYTEST_ADDOPTS", None)
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others' plugins take longer than the tests
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "twofishkit.testing.pytest_plugin",
        "-p",
        "no:cacheprovider",
    ]
    return subprocess.run(
        [*command, "--pyargs", "twofishkit.testing.suite", *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_right_target_passes_and_junit_names_every_case(tmp_path):
    done = pytest_run(
        tmp_path, "--twofish-cmd", f'"{built(0)}"', "--twofish-cases=40", "--twofish-modes=ctr,cbc,cfb",
        "--junit-xml=report.xml",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    names = {case.get("name") for case in ET.parse(tmp_path / "report.xml").iter("testcase")}
    assert "test_generated[ctr-encrypt/0/4]" in names
    assert "test_published[cbc/linux-cbc-1-decrypt]" in names
    assert " skipped" in done.stdout
    assert " passed" in done.stdout


def test_mistaken_target_fails_and_is_explained(tmp_path):
    done = pytest_run(tmp_path, "--twofish-cmd", f'"{built(4)}"', "--twofish-cases=20", "--twofish-modes=ctr")
    assert done.returncode == 1
    assert "why: equals CTR with no carry beyond the last 32 bits of the counter" in done.stdout
    assert "expected  " in done.stdout
    assert "got       " in done.stdout
    assert "passed" in done.stdout


def test_mistake_of_the_cipher_is_named_in_a_mode(tmp_path):
    done = pytest_run(
        tmp_path, "--twofish-cmd", f'"{built(2)}"', "--twofish-cases=4", "--twofish-modes=cbc", "-x"
    )
    assert done.returncode == 1
    assert "why: equals Twofish with the PHT without the factor 2" in done.stdout


def test_target_that_answers_nothing_fails(tmp_path):
    silent = tmp_path / "silent.py"
    silent.write_text("for line in iter(input, None): print(line.split()[0], 'unsupported', flush=True)\n")
    done = pytest_run(
        tmp_path,
        "--twofish-cmd",
        f'"{sys.executable}" "{silent}"',
        "--twofish-cases=3",
        "--twofish-modes=siv",
    )
    assert done.returncode == 1
    assert "test_target_answers" in done.stdout


def test_without_a_target_it_is_misused(tmp_path):
    done = pytest_run(tmp_path, "--twofish-modes=siv", "--twofish-cases=1")
    assert done.returncode == 4
    assert "nothing to test: give --twofish-cmd" in done.stdout
    done = pytest_run(tmp_path, "--twofish-cmd=./no-such-program", "--twofish-modes=siv")
    assert done.returncode == 4
    assert "cannot start './no-such-program'" in done.stdout
