"""What the project says about itself is true: commands, code and links in its documents."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import twofishkit

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])


def blocks(language: str) -> list[str]:
    """The fenced code of one language in the README."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    (block,) = blocks("sh")
    return block.strip().splitlines()


def test_readme_fits_two_screens() -> None:
    assert len(README.splitlines()) <= 82


def test_readme_sets_up_with_two_commands() -> None:
    main_job, tests = commands()
    assert main_job == "pip install . && python examples/seal_array.py"
    assert tests == 'pip install ".[test]" && python -m pytest'


def test_ci_runs_the_test_command_of_the_readme() -> None:
    bash = shutil.which("bash")
    if bash is None or sys.platform == "win32":
        pytest.skip("needs bash and sed")
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    (reads_command,) = re.findall(r"^test_command=.*$", script, re.MULTILINE)
    assert re.search(r'^eval "\$test_command"$', script, re.MULTILINE)
    found = subprocess.run(
        [bash, "-c", f'{reads_command}\nprintf %s "$test_command"'],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stdout == commands()[1]


def test_first_command_runs_an_example_that_works() -> None:
    example = commands()[0].split()[-1]
    done = subprocess.run(
        [sys.executable, example],
        cwd=ROOT,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["ready", "array", "sealed", "loaded", "refused", "refused"]
    assert "bit for bit" in lines[3]


def test_example_takes_an_array_of_ones_own(tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", np.arange(12, dtype=">i2").reshape(3, 4))
    done = subprocess.run(
        [sys.executable, "examples/seal_array.py", str(tmp_path / "mine.npy")],
        cwd=ROOT,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert ">i2[3, 4]" in done.stdout


def test_python_code_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = blocks("python")
    assert found
    for code in found:
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", document.read_text("utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


def test_changelog_knows_this_version_or_what_comes_next() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## \[(Unreleased|{re.escape(twofishkit.__version__)})\]", changelog, re.MULTILINE)


def _environment() -> dict[str, str]:
    """The example as a user runs it, importing this source tree whether or not it is installed."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
