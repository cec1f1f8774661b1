"""The cache of compiled kernels: where it is, whom it trusts, what it survives."""

import os
import shutil
import stat
import sys
import warnings
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="there is nothing to cache without Numba")

from numba import njit

from tests.processes import ROOT, finish, run, start
from twofishkit.kernels import cache
from twofishkit.kernels.cache import KernelCache

posix = pytest.mark.skipif(os.name != "posix", reason="ownership and modes are POSIX's")

SOURCES_ONLY = shutil.ignore_patterns("__pycache__")

#: Compiles one small kernel, prints its answer and what the cache did.
PROBE = """
import warnings
from twofishkit.kernels import cache, target
kernel = target.successor
answer, stats = kernel(41), kernel.dispatcher.stats
print(answer, sum(stats.cache_hits.values()), cache.cache_directory())
"""


@pytest.fixture
def private(tmp_path):
    directory = tmp_path / "private"
    directory.mkdir(mode=0o700)
    return directory


# --- Where ---------------------------------------------------------------------------------------


def test_parent_directory_follows_the_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("TWOFISHKIT_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    for platform, expected in (
        ("linux", tmp_path / "xdg" / "twofishkit"),
        ("darwin", tmp_path / "Library" / "Caches" / "twofishkit"),
        ("win32", tmp_path / "local" / "twofishkit" / "Cache"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "platform", platform)
            assert cache.user_cache_directory() == expected
    monkeypatch.setattr(sys, "platform", "linux")
    for ignored in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert cache.user_cache_directory() == tmp_path / ".cache" / "twofishkit"


def test_variable_names_the_parent_or_turns_the_cache_off(monkeypatch, tmp_path):
    monkeypatch.setenv("TWOFISHKIT_CACHE_DIR", str(tmp_path))
    assert cache.user_cache_directory() == tmp_path
    monkeypatch.setenv("TWOFISHKIT_CACHE_DIR", "")
    assert cache.user_cache_directory() is None


def test_directory_is_made_private_and_used_again(tmp_path):
    variables = {"TWOFISHKIT_CACHE_DIR": str(tmp_path / "a" / "b")}
    first, second = run(PROBE, **variables).split(), run(PROBE, **variables).split()
    assert first[:2] == ["42", "0"]
    assert second[:2] == ["42", "1"]
    assert first[2] == second[2]
    directory = Path(first[2])
    assert directory.parent == (tmp_path / "a" / "b").resolve()
    assert len(list(directory.iterdir())) == 1
    if os.name == "posix":
        for made in (directory, directory.parent):
            assert stat.S_IMODE(made.stat().st_mode) == 0o700


# --- Whom it trusts ------------------------------------------------------------------------------


@posix
def test_private_directory_is_trusted(private):
    assert cache.refusal(private) is None


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722, 0o1777, 0o720])
def test_directory_that_others_can_write_to_is_refused(private, mode):
    private.chmod(mode)
    assert cache.refusal(private) == "others can write to it"


@posix
def test_directory_of_another_user_is_refused(private, monkeypatch):
    owner = os.geteuid()
    if owner == 0:
        os.chown(private, 4321, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert cache.refusal(private) == "it belongs to another user"


@posix
def test_links_and_files_are_refused(private, tmp_path):
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(private)
    file.touch()
    assert cache.refusal(link) == cache.refusal(file) == "it is not a directory"


@posix
def test_directory_that_others_can_replace_is_refused(private):
    public = private / "public"
    public.mkdir()
    inner = public / "inner"
    inner.mkdir(mode=0o700)
    public.chmod(0o777)
    assert cache.refusal(inner) == f"others can replace it, since anybody can write to {public}"
    public.chmod(0o1777)
    assert cache.refusal(inner) is None


# --- What it survives ----------------------------------------------------------------------------


def unusable(tmp_path) -> dict[str, dict[str, str]]:
    """Environments in which there can be no cache directory, for root as well."""
    file = tmp_path / "file"
    file.touch()
    public = tmp_path / "public"
    public.mkdir()
    public.chmod(0o777)
    home = {"HOME": str(file), "XDG_CACHE_HOME": "", "LOCALAPPDATA": str(file), "USERPROFILE": str(file)}
    return {"home": home, "public": {"TWOFISHKIT_CACHE_DIR": str(public)}}


@posix
@pytest.mark.parametrize("case", ["home", "public"])
def test_unusable_directory_means_no_cache_and_one_warning(tmp_path, case, monkeypatch):
    monkeypatch.delenv("TWOFISHKIT_CACHE_DIR", raising=False)
    out, err = finish(start(PROBE, "-Walways", **unusable(tmp_path)[case]))
    assert out == "42 0 None"
    assert err.count("RuntimeWarning") == 1
    assert "compiles its kernels anew in each process" in err
    assert "others can write to it" in err or case == "home"


def test_turned_off_cache_does_not_warn():
    assert run(PROBE, TWOFISHKIT_CACHE_DIR="") == "42 0 None"


def compiled(directory, function=None):
    """A small function, compiled or loaded through a cache in a directory; and its dispatcher."""

    def triple(x):
        return 3 * x

    dispatcher = njit(function or triple)
    dispatcher._cache = KernelCache(dispatcher.py_func, directory)
    return dispatcher.compile("i8(i8)"), dispatcher


def hits(dispatcher) -> int:
    return sum(dispatcher.stats.cache_hits.values())


def test_second_dispatcher_loads_what_the_first_compiled(private):
    first, dispatcher = compiled(private)
    assert hits(dispatcher) == 0
    second, dispatcher = compiled(private)
    assert hits(dispatcher) == 1
    assert first(14) == second(14) == 42


DAMAGES = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[:-1],
    "short": lambda content: content[:20],
    "flipped": lambda content: content[:-100] + bytes([content[-100] ^ 1]) + content[-99:],
    "checksum": lambda content: bytes(32) + content[32:],
    "foreign": lambda content: b"\x80\x04]\x94." * 100,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_file_is_a_miss_and_is_replaced(private, damage):
    compiled(private)
    (file,) = private.iterdir()
    good = file.read_bytes()
    file.write_bytes(DAMAGES[damage](good))
    entry, dispatcher = compiled(private)
    assert (entry(14), hits(dispatcher)) == (42, 0)
    entry, dispatcher = compiled(private)
    assert (entry(14), hits(dispatcher)) == (42, 1)
    assert list(private.iterdir()) == [file]


def test_damaged_content_with_a_right_checksum_is_a_miss_too(private):
    """A file from a Numba whose pickles mean something else."""
    import hashlib

    compiled(private)
    (file,) = private.iterdir()
    file.write_bytes(hashlib.sha256(b"not a pickle").digest() + b"not a pickle")
    entry, dispatcher = compiled(private)
    assert (entry(14), hits(dispatcher)) == (42, 0)


def test_functions_that_close_over_numbers_have_files_of_their_own(private):
    def times(n):
        def multiply(x):
            return n * x

        return multiply

    for n in (2, 3, 2, 3):
        entry, _ = compiled(private, times(n))
        assert entry(10) == 10 * n
    assert len(list(private.iterdir())) == 2


def test_signatures_have_files_of_their_own(private):
    _, dispatcher = compiled(private)
    dispatcher.compile("f8(f8)")
    assert len(list(private.iterdir())) == 2
    _, dispatcher = compiled(private)
    dispatcher.compile("f8(f8)")
    assert hits(dispatcher) == 2
    assert dispatcher(1.5) == 4.5


def test_flush_forgets_one_function(private):
    _, dispatcher = compiled(private)
    compiled(private, abs_of)
    dispatcher._cache.flush()
    (left,) = private.iterdir()
    assert "abs_of" in left.name


def abs_of(x):
    return abs(x)


def test_directory_that_vanishes_costs_one_warning(private, monkeypatch):
    monkeypatch.setattr(cache, "_warned", False)
    gone = private / "gone"
    with pytest.warns(RuntimeWarning, match="compiles its kernels anew"):
        entry, _ = compiled(gone)
    assert entry(14) == 42
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled(gone)
    assert caught == []


def test_filled_directory_serves_without_being_writable(tmp_path, monkeypatch):
    """Root may write anywhere, so a file system that is full stands for one that is read-only."""
    monkeypatch.setenv("TWOFISHKIT_CACHE_DIR", str(tmp_path))
    filled = cache._directory.__wrapped__()
    (filled / "kernel.bin").touch()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.tempfile, "TemporaryFile", full)
    assert cache._directory.__wrapped__() == filled
    (filled / "kernel.bin").unlink()
    with pytest.raises(OSError, match="No space left"):
        cache._directory.__wrapped__()


def test_concurrent_cold_starts(tmp_path):
    """Four processes fill one new directory at once; a fifth finds everything."""
    variables = {"TWOFISHKIT_CACHE_DIR": str(tmp_path / "new")}
    for process in [start(PROBE, **variables) for _ in range(4)]:
        out, err = finish(process)
        assert out.split()[0] == "42"
        assert err == ""
    answer, found, directory = run(PROBE, **variables).split()
    assert (answer, found) == ("42", "1")
    assert [path.suffix for path in Path(directory).iterdir()] == [".bin"]


# --- What the directory's name depends on --------------------------------------------------------


@pytest.fixture
def copied_package(tmp_path):
    package = tmp_path / "twofishkit"
    for folder in cache.SOURCE_FOLDERS:
        shutil.copytree(
            ROOT / "twofishkit" / folder, package / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    return package


def test_digest_depends_on_every_source_and_on_nothing_else(copied_package):
    first = cache.digest(copied_package)
    assert first == cache.digest(ROOT / "twofishkit")
    (copied_package / "modes.py").write_text("unrelated")
    (copied_package / "kernels" / "notes.txt").write_text("unrelated")
    assert cache.digest(copied_package) == first
    seen = {first}
    for source in sorted(copied_package.rglob("*/*.py")):
        with source.open("a") as file:
            file.write("# edited\n")
        seen.add(cache.digest(copied_package))
    assert len(seen) == 1 + len(list(copied_package.rglob("*/*.py")))
    (copied_package / "simd" / "new.py").touch()
    assert cache.digest(copied_package) not in seen


@pytest.mark.parametrize("option", ["OPT", "BOUNDSCHECK"])
def test_digest_depends_on_numbas_options(monkeypatch, copied_package, option):
    import numba

    before = cache.digest(copied_package)
    monkeypatch.setattr(numba.config, option, "something else")
    assert cache.digest(copied_package) != before


def test_sources_that_are_not_files_are_an_error(copied_package):
    shutil.rmtree(copied_package / "simd")
    with pytest.raises(FileNotFoundError, match="no sources in"):
        cache.digest(copied_package)


def test_edited_helper_is_compiled_anew(tmp_path):
    """The reason for all this: a kernel's own file is unchanged, what it calls is not."""
    copy = tmp_path / "edited"
    shutil.copytree(ROOT / "twofishkit", copy / "twofishkit", ignore=SOURCES_ONLY)
    kernels = copy / "twofishkit" / "kernels"
    (kernels / "helper.py").write_text(
        "from twofishkit.kernels.jit import inline\n@inline\ndef h(x):\n    return x + 1\n"
    )
    (kernels / "user.py").write_text(
        "from twofishkit.kernels.helper import h\nfrom twofishkit.kernels.jit import kernel\n"
        "@kernel('i8(i8)')\ndef k(x):\n    return h(x)\n"
    )
    script = "from twofishkit.kernels.user import k; print(k(1), sum(k.dispatcher.stats.cache_hits.values()))"
    variables = {"PYTHONPATH": str(copy), "TWOFISHKIT_CACHE_DIR": str(tmp_path / "cache")}
    assert run(script, **variables) == "2 0"
    assert run(script, **variables) == "2 1"
    helper = kernels / "helper.py"
    helper.write_text(helper.read_text().replace("x + 1", "x + 9"))
    assert run(script, **variables) == "10 0"
