"""Recipes as modules, and the files of other programs that they open."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.vectors_io import VECTORS, document

RECIPES = Path(__file__).resolve().parents[2] / "docs" / "recipes"
NAMES = ("keepass", "keepass1", "luks1", "mcrypt", "openpgp", "psafe3", "tcrypt", "tcrypt_old", "uber")
FILES = {entry["id"]: entry for entry in document("real_files.json")["files"]}


def load(name: str) -> ModuleType:
    """A recipe as a module; docs/ is no package."""
    loaded = sys.modules.get(f"recipe_{name}")
    if loaded is None:
        spec = importlib.util.spec_from_file_location(f"recipe_{name}", RECIPES / f"{name}.py")
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = loaded
        spec.loader.exec_module(loaded)
    return loaded


def of_kind(kind: str) -> list[dict]:
    return [entry for entry in FILES.values() if entry["kind"] == kind]


def by_id(entry: dict) -> str:
    return entry["id"]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def program(name: str) -> str:
    """The path of a program; without it the test is skipped, except where CI has to have it."""
    found = shutil.which(name)
    if not found:
        if os.environ.get("CI") == "true" and sys.platform == "linux":
            pytest.fail(f"CI on Linux must have {name} (see .ci/run)")
        pytest.skip(f"{name} is not installed on this machine")
    return found


def run_program(*command: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, timeout=120, **options)


@pytest.fixture
def real(request: pytest.FixtureRequest) -> Callable[[dict], bytes]:
    """The bytes of a stored file: ours from the repository, others' from the shared data (or skip)."""

    def read(entry: dict) -> bytes:
        path = VECTORS / entry["file"]
        if entry["license"] != "own data":
            path = request.getfixturevalue("shared_dir") / "vectors" / entry["file"]
        data = path.read_bytes()
        assert sha256(data) == entry["sha256"]
        return data

    return read


class Run:
    """Runs a recipe's command line in this process; what it said, its exit code, and what it left behind."""

    def __init__(self, directory: Path, capsys: pytest.CaptureFixture) -> None:
        self.directory, self._capsys = directory, capsys
        self.output = directory / "output"

    def file(self, data: bytes, name: str = "input") -> Path:
        path = self.directory / name
        path.write_bytes(data)
        return path

    def __call__(self, recipe: str, *arguments: object, password: str | None = None) -> tuple[int, str, str]:
        given = [str(argument) for argument in arguments]
        if password is not None:
            given += ["--password-file", str(self.file(password.encode() + b"\n", "password"))]
        self._capsys.readouterr()
        code = load(recipe).main(given)
        said = self._capsys.readouterr()
        return code, said.out, said.err

    def refused(self, recipe: str, code: int, *arguments: object, password: str | None = None) -> str:
        """Run; it must refuse with this exit code and one sentence, and write nothing."""
        before = {path for path in self.directory.iterdir() if path.name != "password"}
        got, out, err = self(recipe, *arguments, password=password)
        assert (got, out) == (code, ""), err
        assert err.startswith(f"{recipe}: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        assert {path for path in self.directory.iterdir() if path.name != "password"} == before
        return err


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture) -> Run:
    return Run(tmp_path, capsys)
