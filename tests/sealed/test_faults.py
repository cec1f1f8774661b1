"""Kills, full disks, two writers, flipped bytes, cuts and hostile headers."""

import contextlib
import errno
import os
import random
import signal
import struct
import subprocess
import time
import tracemalloc

import numpy as np
import pytest

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit.errors import FormatError, InvalidTag, TwofishKitError
from twofishkit.sealed import files, header

OTHER = bytes(32)
OLD = np.arange(300_000)
NEW = np.arange(400_000)[::-1].copy()
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def contents(directory):
    return sorted(path.name for path in directory.iterdir())


def create(path):
    with tk.create_array(path, (None,), NEW.dtype, KEY) as out:
        for block in np.array_split(NEW, 10):
            out.write(block)


WRITERS = {
    "save": lambda path: tk.save(path, NEW, KEY),
    "create_array": create,
    "rekey": lambda path: tk.rekey(path, KEY, new_key=OTHER),
    "savez": lambda path: tk.savez(path, key=KEY, a=NEW, b=NEW[:1000]),
}
writers = pytest.mark.parametrize("writer", WRITERS)


def state(path):
    """'old' or 'new': what is in the file, all of it verified."""
    try:
        value = tk.load(path, KEY)
    except FormatError:
        assert np.array_equal(tk.loadz(path, KEY)["a"], NEW)
        return "new"
    except InvalidTag:
        assert np.array_equal(tk.load(path, OTHER), OLD)
        return "new"
    if value.size == OLD.size:
        assert np.array_equal(value, OLD)
        return "old"
    assert np.array_equal(value, NEW)
    return "new"


@needs_fork
@writers
@pytest.mark.parametrize("runs", [15, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork, while threads of the pool exist
def test_sigkill_at_a_random_point(tmp_path, writer, runs):
    """The old file or the new one, and nothing else after the next call."""
    path = tmp_path / "a"
    write = WRITERS[writer]
    tk.save(path, OLD, KEY)
    begin = time.monotonic()
    write(path)
    duration = 1.3 * (time.monotonic() - begin)
    rng = random.Random(writer)
    seen, left = set(), 0
    for _ in range(runs):
        tk.save(path, OLD, KEY)
        assert contents(tmp_path) == ["a"]
        child = os.fork()
        if child == 0:
            try:
                write(path)
            finally:
                os._exit(0)
        time.sleep(rng.uniform(0, duration))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        seen.add(state(path))
        left += len(contents(tmp_path)) - 1
    tk.save(path, OLD, KEY)
    assert contents(tmp_path) == ["a"]
    assert "old" in seen
    assert left > 0, "no run was killed while it wrote: the test has to wait for less"


@needs_fork
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_temporary_of_a_living_writer_stays(tmp_path):
    """Also that of another process, which nobody here knows of."""
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            out = tk.create_array(tmp_path / "theirs", 10, "u1", KEY)
            os.write(ready[1], b"x")
            os.read(go[0], 1)
            out.write(np.arange(10, dtype="u1"))
            out.close()
        finally:
            os._exit(0)
    os.read(ready[0], 1)
    ours = tk.create_array(tmp_path / "ours", 10, "u1", KEY)
    tk.save(tmp_path / "other", b"", KEY)
    assert len(contents(tmp_path)) == 3
    os.write(go[1], b"x")
    os.waitpid(child, 0)
    ours.write(np.zeros(10, "u1"))
    ours.close()
    for descriptor in (*ready, *go):
        os.close(descriptor)
    assert contents(tmp_path) == ["other", "ours", "theirs"]
    assert tk.load(tmp_path / "theirs", KEY)[9] == 9


def test_large_directories_are_not_searched_each_time(tmp_path, monkeypatch):
    for number in range(1100):
        (tmp_path / str(number)).touch()
    searched = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda directory: searched.append(directory) or scandir(directory))
    monkeypatch.setattr(files, "_SHARE", 1e-9)
    for _ in range(3):
        tk.save(tmp_path / "a", b"", KEY)
    assert len(searched) == 1
    files._next_search.clear()


def test_leftovers_are_known_by_their_names(tmp_path):
    for name in (
        "a.tmp",
        ".a.tmp",
        ".a.0123.tfk-tmp",
        "a.0123456789abcdef.tfk-tmp",
        ".a.0123456789abcdef.tfk-tmp.bak",
    ):
        (tmp_path / name).write_bytes(b"theirs")
    (tmp_path / ".x.0123456789abcdef.tfk-tmp").symlink_to(tmp_path / "a.tmp")
    (tmp_path / ".b.0123456789abcdef.tfk-tmp").write_bytes(b"left behind")
    before = contents(tmp_path)
    tk.save(tmp_path / "new", b"", KEY)
    assert contents(tmp_path) == sorted({*before, "new"} - {".b.0123456789abcdef.tfk-tmp"})


@contextlib.contextmanager
def small_disk(directory):
    """A file system of 4 MiB; where we may not mount one, a limit on the size of files."""
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(directory)]
    if os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0:
        try:
            yield errno.ENOSPC
        finally:
            subprocess.run(["umount", str(directory)], check=True)
        return
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(2.8 * (1 << 20)), before[1]))
    try:
        yield errno.EFBIG
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
@writers
def test_disk_full(tmp_path, writer):
    with small_disk(tmp_path / "disk") as code:
        path = tmp_path / "disk" / "a"
        tk.save(path, OLD, KEY)
        if writer == "rekey" and code == errno.EFBIG:
            pytest.skip("a file of the same size does not exceed a limit on sizes")
        with pytest.raises(OSError, match=os.strerror(code)):
            WRITERS[writer](path)
        assert contents(path.parent) == ["a"]
        assert state(path) == "old"


@needs_fork
@writers
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_read_only_directory(tmp_path, writer):
    path = tmp_path / "a"
    tk.save(path, OLD, KEY)
    path.chmod(0o644)
    for parent in list(tmp_path.parents)[:2]:
        parent.chmod(0o755)  # pytest's own directories, closed to others
    tmp_path.chmod(0o555)
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            try:
                WRITERS[writer](path)
            except PermissionError:
                os._exit(42)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
    tmp_path.chmod(0o700)
    assert contents(tmp_path) == ["a"]
    assert state(path) == "old"


def test_two_writers(tmp_path):
    """Whoever is done last wins; neither sees the other."""
    path = tmp_path / "a"
    first = tk.create_array(path, (None,), "i8", KEY)
    second = tk.create_array(path, (None,), "i8", KEY)
    for block in np.array_split(OLD, 7):
        first.write(block)
        second.write(block + 1)
    second.close()
    assert np.array_equal(tk.load(path, KEY), OLD + 1)
    first.close()
    assert np.array_equal(tk.load(path, KEY), OLD)
    assert contents(tmp_path) == ["a"]


@pytest.mark.parametrize("unknown", [False, True])
def test_every_byte_flipped_and_every_length(tmp_path, unknown):
    """Opened lazily, too, a file that was changed is always an error."""
    path = tmp_path / "a"
    array = np.arange(50, dtype="<u2").reshape(10, 5)
    with tk.create_array(path, (None if unknown else 10, 5), "<u2", KEY, metadata={"a": "b"}) as out:
        out.write(array)
    data = path.read_bytes()

    def read():
        with tk.open_array(path, KEY) as opened:
            return np.asarray(opened)

    assert np.array_equal(read(), array)
    for at in range(len(data)):
        altered = bytearray(data)
        altered[at] ^= 1 << at % 8
        path.write_bytes(altered)
        with pytest.raises(TwofishKitError):
            read()
        with pytest.raises(TwofishKitError):
            tk.load(path, KEY)
    for n in range(len(data)):
        path.write_bytes(data[:n])
        with pytest.raises(TwofishKitError):
            read()


def hostile(**changes):
    """An array's header with fields of the author's choice, and lengths that add up."""
    fields = {"payload": 800, "source": 0, "cost": 0, "order": 0, "shape": (100,), "salt": bytes(16)}
    fields |= {"dtype": b'"<f8"', "metadata": b""} | changes
    shape = struct.pack(f"<{len(fields['shape'])}Q", *fields["shape"])
    n = 52 + len(shape) + len(fields["dtype"]) + len(fields["metadata"])
    start = struct.pack("<8sHHI", b"\x89TFK\r\n\x1a\n", 1, 1, n)
    middle = struct.pack(
        "<QBBBB16sII",
        fields["payload"],
        fields["source"],
        fields["cost"],
        fields["order"],
        len(fields["shape"]),
        fields["salt"],
        len(fields["dtype"]),
        len(fields["metadata"]),
    )
    return start + middle + shape + fields["dtype"] + fields["metadata"]


HOSTILE = {
    "2^60 elements": {"shape": (1 << 60,), "payload": 1 << 63},
    "2^60 elements in few bytes": {"shape": (1 << 60,)},
    "2^51 bytes": {"shape": (1 << 48,), "payload": 1 << 51},
    "a size of -1": {"shape": (100, 2**64 - 1)},
    "a negative size": {"shape": (2**64 - 100,)},
    "negative sizes that multiply to a positive one": {"shape": (2**64 - 10, 2**64 - 10)},
    "zeros beside 2^62": {"shape": (0, 1 << 62), "payload": 0},
    "a huge scrypt": {"source": 1, "cost": 30, "salt": bytes(range(16))},
    "objects": {"dtype": b'"|O8"'},
    "an expression": {"dtype": b"\"__import__('os').system('x')\""},
    "2^31 bytes an element": {"dtype": b'"|V2147483648"'},
    "comma syntax": {"dtype": b'"f8,f8"'},
    "deep nesting": {"dtype": b"[" * 10_000 + b"]" * 10_000},
    "deep fields": {"dtype": b'[["a",' * 300 + b'"<f8"' + b"]]" * 300},
    "deep metadata": {"metadata": b'{"a":' * 6000 + b"1" + b"}" * 2000},
    "a huge subarray": {"dtype": b'[["a","<f8",[2147483647,2147483647,2147483647]]]'},
    "a number of 30000 digits": {"metadata": b'{"a":' + b"9" * 30_000 + b"}"},
    "many fields": {"dtype": b"[" + b",".join(b'["f%d","|i1"]' % i for i in range(2200)) + b"]"},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers_are_refused_fast_and_in_little_memory(tmp_path, name):
    path = tmp_path / "a"
    path.write_bytes(hostile(**HOSTILE[name]) + bytes(56 + 16 + 800))
    calls = (
        lambda: tk.load(path, KEY),
        lambda: tk.open_array(path, KEY),
        lambda: tk.load(path, passphrase="x"),
        lambda: tk.inspect(path, KEY),
        lambda: tk.unseal(path.read_bytes(), KEY),
    )
    tracemalloc.start()
    try:
        begin = time.monotonic()
        for call in calls:
            with pytest.raises((FormatError, InvalidTag)):
                call()
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
        assert time.monotonic() - begin < 5
    finally:
        tracemalloc.stop()


def test_what_is_hostile_is_all_that_is_wrong():
    assert header.parse(hostile()).shape == (100,)
