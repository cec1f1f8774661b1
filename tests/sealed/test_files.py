"""Files appear whole or not at all, whatever happens."""

import errno
import os
import signal
import stat
import threading

import numpy as np
import pytest

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit.errors import FormatError, InvalidParameter, InvalidTag, UnsupportedType
from twofishkit.sealed import files, pipes

OLD = np.arange(5)
posix = pytest.mark.skipif(os.name != "posix", reason="permissions and signals of POSIX")


def contents(directory):
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture
def path(tmp_path):
    """A sealed file that is already there."""
    tk.save(tmp_path / "a.tfk", OLD, KEY)
    return tmp_path / "a.tfk"


def assert_old(path):
    assert np.array_equal(tk.load(path, KEY), OLD)
    assert contents(path.parent) == [path.name]


def test_replaces_an_existing_file(path):
    tk.save(path, b"new", KEY)
    assert tk.load(path, KEY) == b"new"
    assert contents(path.parent) == ["a.tfk"]


@pytest.mark.parametrize("make", [str, os.fsencode, lambda path: path], ids=["str", "bytes", "path"])
def test_kinds_of_path(tmp_path, make):
    tk.save(make(tmp_path / "ü"), b"x", KEY)
    assert tk.load(make(tmp_path / "ü"), KEY) == b"x"


def test_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tk.save("a", b"x", KEY)
    assert tk.load("a", KEY) == b"x"


def test_name_as_long_as_the_file_system_allows(tmp_path):
    tk.save(tmp_path / ("n" * 255), b"x", KEY)
    assert tk.load(tmp_path / ("n" * 255), KEY) == b"x"


@posix
def test_new_file_is_private_and_an_old_one_keeps_its_mode(tmp_path):
    tk.save(tmp_path / "a", b"x", KEY)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    (tmp_path / "a").chmod(0o644)
    tk.save(tmp_path / "a", b"y", KEY)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


@posix
def test_symbolic_link_stays_and_its_target_is_replaced(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    tk.save(link, b"new", KEY)
    assert link.is_symlink()
    assert tk.load(path, KEY) == b"new"


@pytest.mark.parametrize("error", [OSError(errno.EIO, "injected"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_failure_in_the_middle_of_writing_leaves_the_old_file(path, monkeypatch, error, after):
    calls = []

    def failing(real):
        def call(*arguments):
            if len(calls) == after:
                raise error
            calls.append(1)
            real(*arguments)

        return call

    for name in ("write_all", "write_at"):
        monkeypatch.setattr(files, name, failing(getattr(files, name)))
    with pytest.raises(type(error)):
        tk.save(path, bytes(3 << 20), KEY)
    with pytest.raises(type(error)):
        tk.savez(path, key=KEY, a=bytes(3 << 20))
    assert_old(path)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failure_of_a_system_call_leaves_the_old_file(path, monkeypatch, step):
    def failing(*_):
        raise OSError(errno.EIO, "injected")

    monkeypatch.setattr(os, step, failing)
    with pytest.raises(OSError, match="injected"):
        tk.save(path, b"new", KEY)
    monkeypatch.undo()
    assert_old(path)


def test_failure_while_sealing_leaves_the_old_file(path, monkeypatch):
    def failing(self, data, *, last):
        raise RuntimeError("injected")

    monkeypatch.setattr(pipes.Sealer, "_seal", failing)
    with pytest.raises(RuntimeError):
        tk.save(path, np.zeros(1 << 20)[::2], KEY)
    assert_old(path)


def test_data_reaches_the_disk_before_the_name(path, monkeypatch):
    order = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, real=real, name=name: (order.append(name), real(*a))[1])
    tk.save(path, b"new", KEY)
    assert order == (["fsync", "replace", "fsync"] if os.name == "posix" else ["fsync", "replace"])


def test_wrong_arguments_touch_nothing(path):
    with pytest.raises(UnsupportedType):
        tk.save(path, [1, 2], KEY)
    with pytest.raises(UnsupportedType):
        tk.savez(path, key=KEY, a=np.zeros(2), b="text")
    assert_old(path)


def test_missing_directory_and_directory_as_a_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        tk.save(tmp_path / "none" / "a", b"x", KEY)
    with pytest.raises(IsADirectoryError):
        tk.save(tmp_path, b"x", KEY)
    with pytest.raises(FileNotFoundError):
        tk.load(tmp_path / "none", KEY)
    assert contents(tmp_path) == []


@posix
def test_devices_and_pipes_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for special in (tmp_path / "pipe", "/dev/null"):
        with pytest.raises(InvalidParameter, match="regular file"):
            tk.save(special, b"x", KEY)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(FormatError, match="empty"):
        tk.load("/dev/null", KEY)


@posix
def test_disk_full_leaves_the_old_file(path):
    """A limit on the size of files stands in for a full disk: the write fails in the middle."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            tk.save(path, bytes(3 << 20), KEY)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert_old(path)


@posix
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux's /dev/full")
def test_no_space_left_is_reported():
    with (
        open("/dev/full", "wb", buffering=0) as file,
        pytest.raises(OSError, match=os.strerror(errno.ENOSPC)),
    ):
        files.write_all(file, b"x")


def save_as_nobody(path):
    """In a child process: save without root's right to write anywhere; exits 0 if that was refused."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    try:
        tk.save(path, b"new", KEY)
    except PermissionError:
        os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_read_only_directory(path):
    for parent in list(path.parents)[1:3]:
        parent.chmod(0o755)  # pytest's own directories, closed to others
    path.parent.chmod(0o555)
    try:
        child = os.fork()
        if child == 0:
            try:
                save_as_nobody(path)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        path.parent.chmod(0o700)
    assert_old(path)


NEW = b"new" * 1_000_000


def save_and_die(path, step):
    """In a child process: save, and be killed at the step-th call of the writing path."""
    count = 0

    def counted(real):
        def call(*arguments, **named):
            nonlocal count
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **named)

        return call

    files.write_all = counted(files.write_all)
    files.write_at = counted(files.write_at)
    for name in ("fsync", "replace", "open", "chmod"):
        setattr(os, name, counted(getattr(os, name)))
    tk.save(path, NEW, KEY)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork while other tests' threads may exist
def test_kill_at_any_point_leaves_the_old_file_or_the_new_one(path):
    seen = set()
    for step in range(1, 40):
        child = os.fork()
        if child == 0:
            try:
                save_and_die(path, step)
                os._exit(0)
            finally:
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        value = tk.load(path, KEY)
        assert value == NEW if isinstance(value, bytes) else np.array_equal(value, OLD)
        seen.add(isinstance(value, bytes))
        if status == 0:
            break
        assert status == -signal.SIGKILL
        for left in path.parent.glob(".a.tfk.*.tfk-tmp"):
            assert stat.S_IMODE(left.stat().st_mode) == 0o600
        # The next call, of whatever file in this directory, takes away what was left.
        tk.save(path.with_name("b"), b"", KEY)
        path.with_name("b").unlink()
        assert contents(path.parent) == ["a.tfk"]
    else:
        raise AssertionError("the writer never got to its end")
    assert seen == {True, False}
    assert contents(path.parent) == ["a.tfk"]


def test_no_overwrite(path):
    with pytest.raises(FileExistsError), files.replace(path, overwrite=False):
        raise AssertionError("the block must not run")
    assert_old(path)
    with files.replace(path.with_name("b"), overwrite=False) as file:
        file.write(b"x")
    assert path.with_name("b").read_bytes() == b"x"


def test_no_overwrite_of_a_file_that_appears_meanwhile(tmp_path):
    with pytest.raises(FileExistsError), files.replace(tmp_path / "a", overwrite=False):
        (tmp_path / "a").write_bytes(b"theirs")
    assert (tmp_path / "a").read_bytes() == b"theirs"
    assert contents(tmp_path) == ["a"]


def test_no_overwrite_on_a_file_system_without_hard_links(tmp_path, monkeypatch):
    def no_links(*_):
        raise OSError(errno.EPERM, "injected")

    monkeypatch.setattr(os, "link", no_links)
    with files.replace(tmp_path / "a", overwrite=False) as file:
        file.write(b"x")
    assert contents(tmp_path) == ["a"]
    with pytest.raises(FileExistsError), files.replace(tmp_path / "b", overwrite=False):
        (tmp_path / "b").write_bytes(b"theirs")
    assert contents(tmp_path) == ["a", "b"]


def test_eight_writers_and_readers_at_once(path):
    """Every reader sees one whole version."""
    versions = [np.full(100_000, i, "<u4") for i in range(8)]
    tk.save(path, versions[0], KEY)
    problems = []

    def work(version):
        try:
            for _ in range(3):
                tk.save(path, version, KEY)
                got = tk.load(path, KEY)
                assert (got == got[0]).all()
                assert got.shape == (100_000,)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(version,)) for version in versions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert contents(path.parent) == ["a.tfk"]


class _Short:
    """A file that shrinks after its size was looked at."""

    def __init__(self, file, n):
        self._file, self._left = file, n

    def readinto(self, buffer):
        n = min(len(buffer), self._left, 1000)  # and gives little at a time
        self._left -= n
        return self._file.readinto(buffer[:n])


def test_file_that_shrinks_while_it_is_read(tmp_path):
    import functools

    from twofishkit.sealed import container, keys, payload

    tk.save(tmp_path / "a", bytes(100_000), KEY)
    with open(tmp_path / "a", "rb", buffering=0) as file:
        fill = functools.partial(files.fill, _Short(file, 90_000))
        description = container.read_header(fill)
        message, _ = container.resume(description, fill, keys.new_source(KEY, None))
        out, _ = payload.empty_like(description)
        out[:] = 1
        with pytest.raises(FormatError, match="truncated"):
            pipes.open_into(message, fill, out)
    assert not out.any()


def test_failed_load_returns_nothing_and_wipes_what_it_read(tmp_path, monkeypatch):
    from twofishkit.sealed import payload

    tk.save(tmp_path / "a", np.full(3 << 20, 0xAA, np.uint8), KEY)
    data = bytearray((tmp_path / "a").read_bytes())
    data[-100] ^= 1
    (tmp_path / "a").write_bytes(data)
    made = []
    real = payload.empty_like
    monkeypatch.setattr(payload, "empty_like", lambda header: made.append(real(header)) or made[0])
    with pytest.raises(InvalidTag):
        tk.load(tmp_path / "a", KEY)
    assert not made[0][0].any()
