"""The target of the session, and its diagnosis."""

import argparse
import itertools
from collections.abc import Iterator

import pytest

from twofishkit.errors import InvalidParameter
from twofishkit.testing import diagnose, generate, published, run
from twofishkit.testing.cases import MODES, Answer, Case
from twofishkit.testing.commands import target_of
from twofishkit.testing.targets import Target

_OPTIONS = ("cmd", "python", "library", "installed", "encrypt", "decrypt", "time_limit")


def _arguments(config: pytest.Config) -> argparse.Namespace:
    return argparse.Namespace(**{name: config.getoption(f"twofish_{name}") for name in _OPTIONS})


def _operations(config: pytest.Config) -> tuple[str, ...]:
    names = str(config.getoption("twofish_modes"))
    try:
        return run.operations_of([name.strip() for name in names.split(",") if name.strip()] or MODES)
    except InvalidParameter as error:
        raise pytest.UsageError(f"--twofish-modes: {error}") from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each case, named after it."""
    if "case" not in metafunc.fixturenames:
        return
    config = metafunc.config
    operations = _operations(config)
    if metafunc.function.__name__ == "test_published":
        cases = [case for case in published.cases() if case.operation in operations]
    else:
        endless = generate.cases(config.getoption("twofish_seed"), operations)
        cases = list(itertools.islice(endless, config.getoption("twofish_cases")))
    metafunc.parametrize("case", cases, ids=[case.id.replace(" ", "-") for case in cases])


@pytest.fixture(scope="session")
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The Twofish under test."""
    try:
        found = target_of(_arguments(request.config))
    except InvalidParameter as error:
        pytest.exit(f"twofishkit: {error}", returncode=pytest.ExitCode.USAGE_ERROR)
    if found is None:
        pytest.exit(
            "twofishkit: nothing to test: give --twofish-cmd, --twofish-python, --twofish-library or"
            " --twofish-installed",
            returncode=pytest.ExitCode.USAGE_ERROR,
        )
    yield found
    found.close()


class Diagnoses:
    """Why the target fails, found once for each mode."""

    def __init__(self, target: Target) -> None:
        self._diagnosis = diagnose.Diagnosis(target.answer)
        self._causes: dict[str, tuple[diagnose.Cause, ...]] = {}

    def why(self, case: Case, got: Answer) -> list[str]:
        """Lines that name known mistakes which answer as the target does."""
        if got.status not in ("ok", "refused"):
            return []
        if case.mode != "ecb" and "ecb" not in self._causes:
            # A mistake of the block cipher is found there, and explains the modes.
            self._causes["ecb"] = self._diagnosis.causes("ecb", ())
        if case.mode not in self._causes:
            self._causes[case.mode] = self._diagnosis.causes(case.mode, [(case, got)])
        causes = self._causes[case.mode]
        return [f"why: {cause}" for cause in causes] or ["why: no known mistake gives these answers"]


@pytest.fixture(scope="session")
def diagnoses(target: Target) -> Diagnoses:
    """Shared by all failing tests."""
    return Diagnoses(target)
