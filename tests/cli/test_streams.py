"""Pipes, terminals and processes: what cannot be seen from inside one process."""

import io
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import twofishkit as tk
from tests.cli.conftest import KEY, ROOT, names

WITH_KEY = ("--key-file", "../my.key")
posix = pytest.mark.skipif(os.name != "posix", reason="terminals and signals of POSIX")


@pytest.fixture
def sealed_stream(work):
    """The sealed form, of unknown length, of some data."""

    def make(data):
        from twofishkit.sealed import container, keys, pipes

        fields = {"kind": "bytes", "payload_bytes": None}
        sealing = container.begin(fields, keys.new_source(KEY, None))
        blob = bytearray(sealing.start)
        sealer = pipes.Sealer(sealing.message, lambda piece: blob.extend(piece))
        sealer.write(np.frombuffer(data, np.uint8))
        sealer.finish()
        return bytes(blob)

    return make


def test_pipes_both_ways(work, process):
    data = np.random.default_rng(1).bytes(2_500_000)
    sealed = process("seal", *WITH_KEY, "-", stdin=data)
    assert (sealed.returncode, sealed.stderr) == (0, b"")
    assert tk.unseal(sealed.stdout, KEY) == data
    opened = process("unseal", *WITH_KEY, "-", stdin=sealed.stdout)
    assert (opened.returncode, opened.stderr) == (0, b"")
    assert opened.stdout == data
    assert names(work) == []


class Stdio:
    """Standard streams of one run in this process."""

    def __init__(self, data):
        self.stdin = io.TextIOWrapper(io.BytesIO(data))
        self.stdout = io.TextIOWrapper(io.BytesIO())


@pytest.fixture
def piped(monkeypatch, capfd):
    """Run the command line in this process with a given standard input; (code, stdout, stderr)."""
    from twofishkit.cli import main

    def runner(data, *arguments):
        capfd.readouterr()
        streams = Stdio(data)
        monkeypatch.setattr(sys, "stdin", streams.stdin)
        monkeypatch.setattr(sys, "stdout", streams.stdout)
        code = main(arguments)
        streams.stdout.flush()
        return code, streams.stdout.buffer.getvalue(), capfd.readouterr().err

    return runner


@pytest.mark.parametrize("n", [0, 1, 16383, 16384, 64 * 16384, 64 * 16384 + 1])
def test_lengths(work, piped, n):
    data = bytes(n)
    code, sealed, _ = piped(data, "seal", *WITH_KEY, "-")
    assert code == 0
    assert piped(sealed, "unseal", *WITH_KEY, "-") == (0, data, "")


def test_array_through_pipes(work, piped):
    value = np.asfortranarray(np.arange(60_000.0).reshape(200, 300))
    file = io.BytesIO()
    np.save(file, value)
    code, sealed, _ = piped(file.getvalue(), "seal", *WITH_KEY, "--as", "npy", "-")
    assert code == 0
    assert np.array_equal(tk.unseal(sealed, KEY), value)
    assert piped(sealed, "unseal", *WITH_KEY, "-") == (0, file.getvalue(), "")


def test_npy_pipe_that_is_cut_or_too_long(work, piped):
    file = io.BytesIO()
    np.save(file, np.arange(10))
    for data in (file.getvalue()[:-1], file.getvalue() + b"x"):
        code, _, err = piped(data, "seal", *WITH_KEY, "--as", "npy", "-")
        assert code == 1
        assert "were expected" in err


def test_from_pipe_to_file(work, piped, sealed_stream):
    assert piped(b"data", "seal", *WITH_KEY, "-", "-o", "a.tfk") == (0, b"", "")
    assert tk.load("a.tfk", KEY) == b"data"
    assert piped((work / "a.tfk").read_bytes(), "unseal", *WITH_KEY, "-", "-o", "a") == (0, b"", "")
    assert (work / "a").read_bytes() == b"data"


def test_damage_in_a_pipe(work, piped, sealed_stream):
    blob = sealed_stream(bytes(40_000))
    for n in (0, 10, 52, 100, 108, 108 + 16400, 108 + 16401, len(blob) - 1):
        code, out, err = piped(blob[:n], "unseal", *WITH_KEY, "-", "-o", "a")
        assert (code, out) == (1, b"")
        assert err.count("\n") == 1
    code, _, err = piped(blob + b"x", "unseal", *WITH_KEY, "-", "-o", "a")
    assert code == 1
    code, _, err = piped(tk.seal(bytes(40_000), KEY) + b"x", "unseal", *WITH_KEY, "-", "-o", "a")
    assert (code, "trailing data" in err) == (1, True)
    code, _, err = piped(tk.seal(bytes(40_000), KEY)[:-1], "unseal", *WITH_KEY, "-", "-o", "a")
    assert (code, "truncated" in err) == (1, True)
    assert names(work) == []


def test_only_verified_chunks_reach_a_pipe(work, piped, sealed_stream):
    data = np.random.default_rng(2).bytes(80 * 16384)
    blob = bytearray(sealed_stream(data))
    blob[-5] ^= 1  # the tag of the last, empty chunk
    code, out, err = piped(bytes(blob), "unseal", *WITH_KEY, "-")
    assert code == 1
    assert "damaged" in err
    assert data.startswith(out)


def test_archive_and_open_ended_array_are_not_read_from_pipes(work, piped):
    tk.savez("a.tfk", key=KEY, a=b"x")
    code, _, err = piped((work / "a.tfk").read_bytes(), "unseal", *WITH_KEY, "-")
    assert (code, "not from a pipe" in err) == (1, True)
    from twofishkit.sealed import header

    made = header.build("array", None, dtype=np.dtype("<f8"), shape=(-1,))
    code, _, err = piped(made.encoded + bytes(100), "unseal", *WITH_KEY, "-")
    assert (code, "not from a pipe" in err) == (1, True)


def test_archive_to_a_pipe(work, piped):
    tk.savez("a.tfk", key=KEY, a=np.arange(5), b=b"x")
    code, out, _ = piped(b"", "unseal", *WITH_KEY, "a.tfk", "-o", "-")
    assert code == 0
    with np.load(io.BytesIO(out)) as found:
        assert np.array_equal(found["a"], np.arange(5))


def test_inspect_from_a_pipe(work, piped):
    code, out, _ = piped(tk.seal(np.zeros((2, 3)), KEY), "inspect", "-")
    assert code == 0
    assert b"shape     [2, 3]" in out


@posix
def test_reader_that_goes_away(work):
    """As with `head`: no traceback, no noise."""
    (work / "a").write_bytes(bytes(4 << 20))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "twofishkit", "seal", *WITH_KEY, "a", "-o", "-"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    assert child.stdout.read(10)
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait(60) == 1


class Terminal:
    """A pseudo-terminal on which a child process asks for passphrases."""

    def __init__(self, command, environment, **options):
        import fcntl
        import pty
        import struct
        import termios

        self.primary, secondary = pty.openpty()
        fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))

        def lead():
            # The child's controlling terminal: where getpass looks first.
            os.setsid()
            fcntl.ioctl(secondary, termios.TIOCSCTTY, 0)

        self.child = subprocess.Popen(
            command, stdin=options.get("stdin", secondary), stdout=options.get("stdout", secondary),
            stderr=secondary, env=environment, preexec_fn=lead, pass_fds=(),
        )  # fmt: skip
        os.close(secondary)
        self.seen = b""

    def expect(self, text):
        while text not in self.seen:
            piece = self._read()
            assert piece, self.seen
            self.seen += piece
        self.seen = self.seen[self.seen.index(text) + len(text) :]

    def send(self, line):
        time.sleep(0.1)  # getpass flushes what was typed before it turned the echo off
        os.write(self.primary, line)

    def _read(self):
        try:
            return os.read(self.primary, 4096)
        except OSError:  # the child has closed its end
            return b""

    def finish(self):
        while piece := self._read():
            self.seen += piece
        os.close(self.primary)
        return self.child.wait(60)


@pytest.fixture
def terminal(work):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def make(*arguments, **options):
        return Terminal([sys.executable, "-m", "twofishkit", *arguments], environment, **options)

    return make


@posix
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_passphrase_prompt(work, terminal):
    (work / "a").write_bytes(b"data")
    session = terminal("seal", "a")
    session.expect(b"Passphrase: ")
    session.send("süß\n".encode())
    session.expect(b"The same again: ")
    session.send("süß\n".encode())
    assert session.finish() == 0
    assert b"s\xc3" not in session.seen
    assert tk.load("a.tfk", passphrase="süß") == b"data"
    assert tk.sealed.inspect("a.tfk").scrypt.log2_n == 17

    session = terminal("seal", "a", "-o", "b")
    session.expect(b"Passphrase: ")
    session.send(b"one\n")
    session.expect(b"The same again: ")
    session.send(b"two\n")
    assert session.finish() == 2
    assert b"passphrases differ" in session.seen
    assert names(work) == ["a", "a.tfk"]


@posix
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_binary_output_to_a_terminal_is_refused(work, terminal):
    (work / "a").write_bytes(b"data")
    session = terminal("seal", *WITH_KEY, "a", "-o", "-")
    assert session.finish() == 2
    assert b"refusing to write binary data to a terminal" in session.seen


@posix
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_progress_bar_on_a_terminal_for_long_work(work, terminal):
    with open("a", "wb") as file:
        file.truncate(80 << 20)
    session = terminal("seal", *WITH_KEY, "a")
    assert session.finish() == 0
    assert b"sealing" in session.seen
    session = terminal("seal", *WITH_KEY, "--quiet", "a", "-o", "b")
    assert session.finish() == 0
    assert session.seen == b""


def test_no_terminal_and_no_key(work, process):
    (work / "a").write_bytes(b"data")
    result = process("seal", "a", start_new_session=True)
    assert result.returncode == 2
    assert b"no terminal to ask for a passphrase" in result.stderr
    assert result.stderr.count(b"\n") == 1
    assert names(work) == ["a"]


@posix
def test_interrupted_process_leaves_nothing(work):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "twofishkit", "seal", *WITH_KEY, "-", "-o", "a.tfk"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    child.stdin.write(bytes(3 << 20))
    child.stdin.flush()
    deadline = time.monotonic() + 60
    while not names(work) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [name.endswith(".tfk-tmp") for name in names(work)] == [True]
    child.send_signal(signal.SIGINT)
    child.stdin.close()
    assert child.stderr.read() == b"twofishkit: error: interrupted\n"
    child.stderr.close()
    assert child.wait(60) == 130
    assert names(work) == []


@posix
def test_memory_does_not_grow_with_the_stream(work):
    """96 MiB through a pipe take no more memory than 2 MiB do."""

    def peak(megabytes):
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "twofishkit", "seal", *WITH_KEY, "-"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment
        ) as child:
            feeder = threading.Thread(target=feed, args=(child, megabytes))
            feeder.start()
            _, status, usage = os.wait4(child.pid, 0)
            feeder.join()
            child.returncode = os.waitstatus_to_exitcode(status)
            assert child.returncode == 0
        return usage.ru_maxrss * 1024

    def feed(child, megabytes):
        for _ in range(megabytes):
            child.stdin.write(bytes(1 << 20))
        child.stdin.close()

    assert 0 < peak(96) < peak(2) + (16 << 20)
