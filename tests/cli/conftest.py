import os
import subprocess
import sys
from pathlib import Path

import pytest

from twofishkit.cli import main
from twofishkit.sealed import keys

ROOT = Path(__file__).resolve().parents[2]
KEY = bytes(range(32))


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    """No keys from outside, and passphrases that cost a millisecond."""
    monkeypatch.delenv("TWOFISHKIT_KEY", raising=False)
    monkeypatch.delenv("TWOFISHKIT_PASSPHRASE", raising=False)
    monkeypatch.setattr(keys, "SCRYPT_LOG2_N", 4)


@pytest.fixture
def work(tmp_path, monkeypatch):
    """An empty directory to work in, with a key file beside it."""
    directory = tmp_path / "work"
    directory.mkdir()
    (tmp_path / "my.key").write_text(KEY.hex() + "\n")
    (tmp_path / "my.key").chmod(0o600)
    monkeypatch.chdir(directory)
    return directory


class Outcome:
    """What a run of the command line came to."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(capfdbinary):
    """Run the command line in this process."""

    def runner(*arguments):
        capfdbinary.readouterr()
        try:
            code = main([os.fspath(argument) for argument in arguments])
        except SystemExit as leaving:  # argparse: --help, --version, errors
            code = leaving.code
        captured = capfdbinary.readouterr()
        return Outcome(code, captured.out, captured.err.decode())

    return runner


@pytest.fixture
def fails(run):
    """Run it, and expect a code and one line on stderr that holds a text; nothing on stdout."""

    def runner(code, text, *arguments):
        outcome = run(*arguments)
        assert (outcome.code, outcome.out) == (code, b""), outcome.err
        assert outcome.err.startswith("twofishkit"), outcome.err
        assert outcome.err.count("\n") == 1, outcome.err
        assert "error: " in outcome.err
        assert text in outcome.err
        assert "Traceback" not in outcome.err
        return outcome

    return runner


@pytest.fixture
def process():
    """Run the command line as a process of its own."""

    def runner(*arguments, stdin=b"", env=None, **options):
        environment = os.environ | {"PYTHONPATH": str(ROOT)} | (env or {})
        command = [sys.executable, "-m", "twofishkit", *map(os.fspath, arguments)]
        return subprocess.run(
            command, input=stdin, capture_output=True, timeout=180, check=False, env=environment, **options
        )

    return runner


def names(directory):
    return sorted(path.name for path in directory.iterdir())
