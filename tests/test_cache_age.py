"""Directories of compiled kernels that nobody uses any more."""

import os
import time

import pytest

pytest.importorskip("numba", reason="there is nothing to cache without Numba")

from twofishkit.kernels import cache, cache_age

DAY = 24 * 60 * 60


def make(parent, name, *, days_unused):
    """A directory of kernels with a file in it, last used some days ago."""
    directory = parent / name
    directory.mkdir()
    (directory / "kernel.bin").write_bytes(b"code")
    then = time.time() - days_unused * DAY
    os.utime(directory, (then, then))
    return directory


def names(parent):
    return {path.name for path in parent.iterdir()}


NEW, OTHER = f"kernels-{'0' * 24}", f"kernels-{'a1' * 12}"


@pytest.fixture
def new(tmp_path):
    return make(tmp_path, NEW, days_unused=0)


@pytest.mark.parametrize(("days", "expected"), [(31, {NEW}), (29, {NEW, OTHER}), (0, {NEW, OTHER})])
def test_only_what_is_unused_for_a_month_goes(new, days, expected):
    make(new.parent, OTHER, days_unused=days)
    cache_age.remove_unused(new)
    assert names(new.parent) == expected
    assert names(new) == {"kernel.bin"}


def test_the_directory_itself_stays_whatever_its_age(tmp_path):
    directory = make(tmp_path, NEW, days_unused=400)
    cache_age.remove_unused(directory)
    assert names(directory) == {"kernel.bin"}


@pytest.mark.parametrize(
    "name", ["kernels", "kernels-mine", OTHER + "0", OTHER.upper(), "x" + OTHER, OTHER[:-1]]
)
def test_other_names_stay(new, name):
    make(new.parent, name, days_unused=400)
    cache_age.remove_unused(new)
    assert names(new.parent) == {NEW, name}


def test_files_and_links_stay_and_links_are_not_followed(new, tmp_path_factory):
    target = make(tmp_path_factory.mktemp("elsewhere"), OTHER, days_unused=400)
    link, file = new.parent / OTHER, new.parent / f"kernels-{'f' * 24}"
    try:
        link.symlink_to(target, target_is_directory=True)
    except OSError as error:
        pytest.skip(f"no symbolic links here: {error}")
    file.touch()
    long_ago = time.time() - 400 * DAY
    os.utime(file, (long_ago, long_ago))
    # A link inside what is removed goes, its target does not.
    (make(new.parent, f"kernels-{'e' * 24}", days_unused=0) / "link").symlink_to(
        target, target_is_directory=True
    )
    os.utime(new.parent / f"kernels-{'e' * 24}", (long_ago, long_ago))
    cache_age.remove_unused(new)
    assert names(new.parent) == {NEW, link.name, file.name}
    assert names(target) == {"kernel.bin"}


@pytest.mark.skipif(os.name != "posix", reason="ownership is POSIX's")
def test_directories_of_other_users_stay(new, monkeypatch):
    make(new.parent, OTHER, days_unused=400)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    cache_age.remove_unused(new)
    assert names(new.parent) == {NEW, OTHER}


def test_what_cannot_be_read_or_removed_is_left(new, monkeypatch):
    make(new.parent, OTHER, days_unused=400)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        cache_age.remove_unused(new)
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        patch.setattr(os, "rmdir", refuse)
        cache_age.remove_unused(new)
    assert names(new.parent) == {NEW, OTHER}


@pytest.mark.parametrize(("days", "marked"), [(1.1, True), (0.9, False)])
def test_use_is_marked_once_a_day(tmp_path, days, marked):
    directory = make(tmp_path, NEW, days_unused=days)
    before = directory.stat().st_mtime
    cache_age.mark_used(directory)
    assert (directory.stat().st_mtime != before) == marked
    assert (time.time() - directory.stat().st_mtime < 60) == marked


def test_read_only_directory_is_not_marked(tmp_path, monkeypatch):
    directory = make(tmp_path, NEW, days_unused=40)

    def refuse(*args, **kwargs):
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", refuse)
    cache_age.mark_used(directory)
    cache_age.mark_used(directory / "gone")


def test_starting_a_directory_removes_and_using_one_marks(tmp_path, monkeypatch):
    monkeypatch.setenv("TWOFISHKIT_CACHE_DIR", str(tmp_path))
    find = cache._directory.__wrapped__
    make(tmp_path, OTHER, days_unused=31)
    used = find()
    assert names(tmp_path) == {used.name}
    make(tmp_path, OTHER, days_unused=31)
    os.utime(used, (0, 0))
    assert find() == used
    assert time.time() - used.stat().st_mtime < 60
    # Only a new directory is a reason to look at the others.
    assert names(tmp_path) == {used.name, OTHER}
