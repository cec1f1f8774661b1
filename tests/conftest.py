"""Fixtures that every test may use.

``backend_name``   name of a cipher backend; the test runs once for each that this machine has, in
                   tests/kernels also for the widths of `shuffle` that are not its default here
``backend``        the same name, with that backend in force while the test runs
``ghash_name``     name of a GHASH implementation; once for each that this machine has
``shared_dir``     the project's shared data, beside the repository; the test is skipped without it

TWOFISHKIT_TEST_BACKENDS narrows the first two to a comma-separated list, for a quick look at one.
HYPOTHESIS_PROFILE=thorough runs the property tests twenty times as long.
"""

import faulthandler
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Fixtures that pick a backend are function-scoped and stay in force over all examples of a test.
_SUPPRESSED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
settings.register_profile("quick", deadline=None, max_examples=50, suppress_health_check=_SUPPRESSED)
settings.register_profile("thorough", deadline=None, max_examples=1000, suppress_health_check=_SUPPRESSED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


#: Names of single widths of `shuffle`: the same modes over other cores, so tests of kernels suffice.
_WIDTHS = ("shuffle256", "shuffle128")


def _cipher_backends(module: str) -> tuple[str, ...]:
    from twofishkit import backend

    available = backend.available()
    wanted = os.environ.get("TWOFISHKIT_TEST_BACKENDS")
    if not wanted:
        of_kernels = module.startswith("tests.kernels")
        return tuple(name for name in available if of_kernels or name not in _WIDTHS)
    names = tuple(name.strip() for name in wanted.split(","))
    missing = set(names) - set(available)
    if missing:
        raise pytest.UsageError(f"TWOFISHKIT_TEST_BACKENDS: {sorted(missing)} not among {available}")
    return names


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked slow may take longer than the limit in pyproject.toml."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(3600))


# pytest-timeout fails a test that hangs in Python. In a kernel, in a lock of LLVM's or at exit no Python
# runs any more: in CI a thread of faulthandler's then ends the process, with the stacks of all threads.

_in_ci = bool(os.environ.get("CI"))
_stderr = 2


def _end_after(seconds: float) -> None:
    if _in_ci:
        faulthandler.dump_traceback_later(seconds, exit=True, file=_stderr)


def pytest_configure(config: pytest.Config) -> None:
    global _stderr
    if _in_ci:
        _stderr = os.dup(2)  # the true one: pytest puts a file in its place while tests run
    _end_after(float(config.getini("timeout")))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = item.get_closest_marker("timeout")
    limit = marker.args[0] if marker else item.config.getini("timeout")
    _end_after(float(limit) + 60)


def pytest_unconfigure(config: pytest.Config) -> None:
    _end_after(120)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each backend; ask for the list only if a test wants it."""
    if "backend_name" in metafunc.fixturenames:
        names = _cipher_backends(metafunc.module.__name__)
        metafunc.parametrize("backend_name", names, indirect=True, scope="session")
    if "ghash_name" in metafunc.fixturenames:
        from twofishkit import backend

        metafunc.parametrize("ghash_name", backend.available_ghash(), indirect=True, scope="session")


@pytest.fixture(scope="session")
def backend_name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def ghash_name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def backend(backend_name: str) -> Iterator[str]:
    from twofishkit import backend as backends

    with backends.use(backend_name):
        yield backend_name


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The directory that holds ``vectors/`` with files which may not be committed here."""
    default = Path(__file__).resolve().parents[2] / "shared"
    directory = Path(os.environ.get("TWOFISHKIT_SHARED", default))
    if not (directory / "vectors").is_dir():
        pytest.skip(f"needs data that is not ours to distribute; {directory}/vectors is not there")
    return directory
