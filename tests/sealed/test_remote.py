"""Files behind URLs: memory://, and a server on this machine that counts what it sends."""

import http.server
import threading

import numpy as np
import pytest

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit.errors import InvalidParameter, MissingDependency, StateError, WrongKey
from twofishkit.sealed import remote

fsspec = pytest.importorskip("fsspec", reason="needs the extra 'remote'")
ARRAY = np.arange(1 << 20).reshape(1024, 1024)  # 8 MiB, rows of 8 KiB


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves one file, whole or a range of it."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.reply(send=False)

    def do_GET(self):
        self.reply(send=True)

    def reply(self, *, send):
        data, wanted = self.server.data, self.headers.get("Range")
        body, code = data, 200
        if wanted and self.server.ranges:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            a, b = int(first), min(int(last) + 1, len(data)) if last else len(data)
            body, code = data[a:b], 206
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        if self.server.ranges:
            self.send_header("Accept-Ranges", "bytes")
        if code == 206:
            self.send_header("Content-Range", f"bytes {a}-{b - 1}/{len(data)}")
        self.end_headers()
        if send:
            with self.server.lock:
                self.server.requests += 1
                self.server.sent += len(body)
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    """A server; its ``data`` is what it serves, ``url`` where."""
    pytest.importorskip("aiohttp", reason="needs the extra 'remote'")
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    made.lock = threading.Lock()
    made.data, made.ranges, made.requests, made.sent = b"", True, 0, 0
    made.url = f"http://127.0.0.1:{made.server_port}/a.tfk"
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture
def memory():
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    yield fs
    fs.store.clear()


def test_memory(memory):
    tk.save("memory://dir/a.tfk", ARRAY, KEY, metadata={"a": 1})
    assert list(memory.store) == ["/dir/a.tfk"]
    assert np.array_equal(tk.load("memory://dir/a.tfk", KEY), ARRAY)
    with tk.open_array("memory://dir/a.tfk", KEY) as opened:
        assert "memory://dir/a.tfk" in repr(opened)
        assert np.array_equal(opened[100:200:7, ::-3], ARRAY[100:200:7, ::-3])
        assert np.array_equal(opened[[5, 900, 3]], ARRAY[[5, 900, 3]])
        assert np.array_equal(np.asarray(opened), ARRAY)
    assert memory.cat_file("/dir/a.tfk")[:4] == b"\x89TFK"


def test_strided_arrays_and_bytes(memory):
    tk.save("memory://a", ARRAY[::-2], KEY)
    assert np.array_equal(tk.load("memory://a", KEY), ARRAY[::-2])
    tk.save("memory://b", b"", KEY)
    assert tk.load("memory://b", KEY) == b""


def test_archives(memory, tmp_path):
    tk.savez(tmp_path / "z", key=KEY, a=ARRAY, b=np.arange(5))
    memory.pipe_file("/z", (tmp_path / "z").read_bytes())
    with tk.open_array("memory://z", KEY, name="b") as opened:
        assert opened[3] == 3


def test_a_failure_leaves_what_was_there(memory, monkeypatch):
    tk.save("memory://a", b"old", KEY)

    def stop(done, total):
        if done > 3 << 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tk.save("memory://a", ARRAY, KEY, progress=stop)
    assert tk.load("memory://a", KEY) == b"old"
    assert list(memory.store) == ["/a"]
    with pytest.raises(WrongKey):
        tk.load("memory://a", bytes(32))


def test_file_urls_are_local_files(tmp_path):
    tk.save(f"file://{tmp_path}/a", b"x", KEY)
    assert tk.load(tmp_path / "a", KEY) == b"x"
    assert tk.load(f"file://{tmp_path}/a", KEY) == b"x"
    with tk.open_array(f"file://{tmp_path}/a", KEY) as opened:
        assert opened.shape == (1,)


def test_http_fetches_ranges_only(server):
    server.data = tk.seal(ARRAY, KEY)
    with tk.open_array(server.url, KEY) as opened:
        assert (server.requests, server.sent) == (2, 8192 + 16)  # the beginning, and the last chunk
        server.requests = server.sent = 0
        assert np.array_equal(opened[500:502], ARRAY[500:502])  # exactly chunk 250
        assert (server.requests, server.sent) == (1, 16400)
        server.requests = server.sent = 0
        assert np.array_equal(opened[100:228], ARRAY[100:228])  # 1 MiB
        assert (server.requests, server.sent) == (1, 64 * 16400)
        server.requests = server.sent = 0
        assert np.array_equal(opened[::256, 0], ARRAY[::256, 0])
        assert (server.requests, server.sent) == (4, 4 * 16400)


def test_http_load(server):
    server.data = tk.seal(ARRAY, KEY)
    assert np.array_equal(tk.load(server.url, KEY), ARRAY)
    assert server.sent <= len(server.data) + 8192
    assert server.requests <= 5


def test_a_server_without_ranges(server):
    server.data, server.ranges = tk.seal(ARRAY, KEY), False
    with pytest.raises(OSError, match="does not serve ranges"):
        tk.open_array(server.url, KEY)
    server.requests = 0
    assert np.array_equal(tk.load(server.url, KEY), ARRAY)  # which wants all of it anyway
    assert server.requests == 1
    server.data = tk.seal(b"short", KEY)
    assert tk.load(server.url, KEY) == b"short"


def test_a_server_that_takes_no_files(server):
    with pytest.raises(OSError, match=r"nothing can be written there: 'http://127\.0\.0\.1"):
        tk.save(server.url, ARRAY, KEY)


def test_a_file_that_shrinks_on_the_server(server):
    server.data = tk.seal(ARRAY, KEY)
    with tk.open_array(server.url, KEY) as opened:
        server.data = server.data[: len(server.data) // 2 + 5]
        at = (len(server.data) - opened._start) // 16400  # the chunk that is cut
        with pytest.raises(StateError, match="has changed"):
            opened[2 * at : 2 * at + 2]


def test_missing_files_and_unknown_protocols(memory, server):
    with pytest.raises(FileNotFoundError):
        tk.load("memory://none", KEY)
    with pytest.raises(InvalidParameter, match="nonsense://x"):
        tk.load("nonsense://x", KEY)
    with pytest.raises(InvalidParameter, match="storage_options"):
        tk.save("local", b"", KEY, storage_options={})


LOCAL_ONLY = {
    "inspect": lambda path: tk.inspect(path),
    "loadz": lambda path: tk.loadz(path, KEY),
    "savez": lambda path: tk.savez(path, key=KEY, a=ARRAY),
    "rekey": lambda path: tk.rekey(path, KEY, new_key=bytes(32)),
    "create_array": lambda path: tk.create_array(path, 3, "u1", KEY),
}


@pytest.mark.parametrize("call", LOCAL_ONLY.values(), ids=LOCAL_ONLY)
def test_what_takes_no_urls_says_so(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memory:").mkdir()  # that this exists must not make it a path
    with pytest.raises(InvalidParameter, match="only save, load and open_array take URLs"):
        call("memory://a")
    assert list((tmp_path / "memory:").iterdir()) == []


def test_file_urls_where_no_others_are_taken(tmp_path):
    url = f"file://{tmp_path}/a"
    tk.savez(url, key=KEY, a=np.arange(3))
    tk.rekey(url, KEY, new_key=bytes(32))
    assert tk.loadz(url, bytes(32))["a"].tolist() == [0, 1, 2]
    with tk.create_array(url, 2, "u1", KEY) as out:
        out.write(np.ones(2, "u1"))
    assert tk.inspect(url).shape == (2,)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_without_fsspec(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(remote.importlib, "import_module", missing)
    with pytest.raises(MissingDependency, match=r"twofishkit\[remote\]"):
        tk.load("s3://bucket/a", KEY)


class Upload:
    """What an object store's file is to fsspec: nothing is there before it is committed."""

    def __init__(self, store, path):
        self.store, self.path, self.data, self.closed = store, path, b"", False

    def write(self, data):
        self.data += bytes(data)
        return len(data)

    def close(self):
        self.closed = True

    def commit(self):
        assert self.closed
        self.store[self.path] = self.data

    def discard(self):
        self.store["discarded"] = self.path


def test_object_stores_commit_or_discard(monkeypatch):
    class Store:
        protocol = ("s3", "s3a")

        def __init__(self):
            self.store = {}

        def open(self, path, mode, autocommit):
            assert (mode, autocommit) == ("wb", False)
            return Upload(self.store, path)

    store = Store()
    monkeypatch.setattr(remote, "_locate", lambda url, options: (store, "bucket/a"))
    tk.save("s3://bucket/a", np.arange(10), KEY)
    assert np.array_equal(tk.unseal(store.store["bucket/a"], KEY), np.arange(10))
    store.store.clear()
    with pytest.raises(RuntimeError), remote.replace("s3://bucket/a", None):
        raise RuntimeError
    assert store.store == {"discarded": "bucket/a"}


@pytest.mark.parametrize("path", ["s3://b/a", "memory://a", "simplecache::https://x/y", "FILE:///a"])
def test_urls(path):
    assert remote.is_url(path)


@pytest.mark.parametrize("path", ["a", "/a", "C:/a", "C:\\a", "a:b", "./s3:/a", b"s3://a", None, 3])
def test_paths(path):
    assert not remote.is_url(path)
