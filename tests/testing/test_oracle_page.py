"""docs/oracle.md: its code runs, its CI snippet works, and what it says of lines and options is true."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from tests.processes import ROOT
from tests.testing.build import SOURCE, built, compiler
from twofishkit.testing.cases import OPERATIONS, Case
from twofishkit.testing.commands import add_diff
from twofishkit.testing.mistakes import MISTAKES
from twofishkit.testing.targets import CommandTarget
from twofishkit.testing.targets.peer import NAMES

PAGE = (ROOT / "docs" / "oracle.md").read_text("utf-8")


def marked(language: str) -> list[str]:
    return re.findall(rf"^<!-- tested -->\n```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", marked("python"))
def test_python_code_runs(code, capsys):
    # Not the name of the file: Hypothesis would look for the functions' source at the same lines of it.
    exec(compile(code, "<docs/oracle.md>", "exec"), {"__name__": "oracle"})


def test_there_are_two_pieces_of_python():
    assert len(marked("python")) == 2


def test_ci_snippet_works(tmp_path):
    """Its commands, but for pip, in an empty directory with a target of one's own."""
    compiler()
    (workflow,) = marked("yaml")
    commands = re.findall(r"- run: (.*)", workflow)
    assert commands[0].startswith("pip install twofishkit")
    shutil.copy(SOURCE, tmp_path / "target.c")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TWOFISHKIT_BACKEND": "numpy"}
    # The plugin is found by its entry point where twofishkit is installed; this tree need not be.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    # Fewer cases than somebody else would ask.
    environment["PYTEST_ADDOPTS"] = (
        "-q -p twofishkit.testing.pytest_plugin -p no:cacheprovider"
        " --twofish-modes=subkeys,trace,cbc,ctr,eax --twofish-cases=60"
    )
    shell = shutil.which("bash")
    if shell is None or sys.platform == "win32":
        pytest.skip("needs bash")
    for command in commands[1:]:
        command = re.sub(r"^python ", f'"{sys.executable}" ', command)
        done = subprocess.run(
            [shell, "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stdout + done.stderr
    results = ET.parse(tmp_path / "twofish.xml").getroot().find("testsuite")
    assert results is not None
    assert int(results.get("tests", 0)) > 200
    assert results.get("failures") == results.get("errors") == "0"


def test_dialogue_of_the_page_is_what_is_spoken():
    asked = re.findall(r"^> (.*)\n< (.*)$", PAGE, re.MULTILINE)
    assert len(asked) == 2
    for request, answer in asked:
        done = subprocess.run(
            [str(built(0))], input=request + "\n", capture_output=True, text=True, timeout=60, check=True
        )
        # The example has no GCM: that dialogue is one with the reference.
        if "gcm" in request:
            code = "import sys; from twofishkit.testing import serve, oracle, FunctionTarget\n"
            code += "serve.serve(FunctionTarget(oracle.answer), sys.stdin, sys.stdout)"
            done = subprocess.run(
                [sys.executable, "-c", code], input=request + "\n", capture_output=True, text=True, cwd=ROOT
            )
        assert done.stdout.strip() == answer


def test_page_names_every_operation_and_option():
    for operation in OPERATIONS:
        mode = operation.removesuffix("-encrypt").removesuffix("-decrypt")
        assert re.search(rf"\b{mode}\b", PAGE), mode
    for option in ("taglen=", "chunks=", "inplace"):
        assert option in PAGE
    for name in NAMES:
        assert name in PAGE


def test_every_option_of_the_page_exists():
    parser = add_diff(argparse.ArgumentParser().add_subparsers())
    known = parser.format_help()
    for option in re.findall(r"`(--(?!twofish|junit)[a-z-]+)", PAGE):
        assert option in known, option


def test_number_of_mistakes_is_not_overstated():
    assert "more than 250 known mistakes" in PAGE
    assert len(MISTAKES) > 250


def test_example_in_c_has_the_mistakes_that_the_page_counts():
    assert "eight mistakes to build in" in PAGE
    target = CommandTarget([str(built(8))])
    assert target.answer(Case("", "ecb-encrypt", bytes(16), data=bytes(16))).status == "malformed"
    target.close()
    assert "8 answers nonsense" in SOURCE.read_text("utf-8")
