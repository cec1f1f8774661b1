"""A program as a target, over the line protocol of `twofishkit.testing.protocol`.

One process serves many cases. It is started when the first case is asked, killed when a case takes too
long or the lines are not of the protocol, and started again for the next case. Threads read its output, so
that nothing here depends on pipes that can be polled.
"""

import os
import queue
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO

from twofishkit.errors import InvalidParameter
from twofishkit.testing import protocol
from twofishkit.testing.cases import Answer, Case

#: Seconds for one case, unless asked otherwise.
TIME_LIMIT = 10.0
#: Lines of standard error that are kept to explain a crash.
_STDERR_LINES = 5
_STDERR_CHARACTERS = 500


class CommandTarget:
    """A program that answers one case after the other.

    Parameters
    ----------
    command : str or sequence of str
        The program and its arguments; a string is split as a shell would, and no shell runs.
    time_limit : float
        Seconds for one case.
    name : str, optional
        For reports, in place of the command.

    Raises
    ------
    InvalidParameter
        If the command is empty, or the program cannot be started.
    """

    def __init__(
        self, command: str | Sequence[str], *, time_limit: float = TIME_LIMIT, name: str | None = None
    ) -> None:
        arguments = split_command(command) if isinstance(command, str) else list(command)
        if not arguments:
            raise InvalidParameter("the command to test is empty")
        if not time_limit > 0:
            raise InvalidParameter(f"the time limit for a case is more than 0 seconds, not {time_limit}")
        self.name = name or (command if isinstance(command, str) else shlex.join(arguments))
        self._arguments, self._time_limit = arguments, time_limit
        self._process: _Process | None = None
        self._number = 0
        self._start()

    def _start(self) -> "_Process":
        if self._process is None:
            try:
                self._process = _Process(self._arguments)
            except OSError as error:
                reason = error.strerror or str(error)
                raise InvalidParameter(f"cannot start {self._arguments[0]!r}: {reason}") from None
        return self._process

    def answer(self, case: Case) -> Answer:
        self._number += 1
        try:
            process = self._start()
        except InvalidParameter as error:  # it could be started before
            return Answer(status="crashed", message=str(error))
        try:
            process.write(protocol.request(self._number, case))
            return protocol.parse_reply(self._number, process.lines(self._time_limit))
        except protocol.MalformedLine as error:
            self.close()
            return Answer(status="malformed", message=str(error))
        except TimeoutError:
            self.close()
            return Answer(status="timeout", message=f"no answer within {self._time_limit:g} s")
        except EOFError:
            message = process.last_words()
            self.close()
            return Answer(status="crashed", message=message)

    def close(self) -> None:
        """End the process. The next case starts another one."""
        if self._process is not None:
            self._process.end()
            self._process = None


def split_command(command: str) -> list[str]:
    """As a shell would, without running one; backslashes stay where they separate directories."""
    if os.name != "nt":
        return shlex.split(command)
    return [part.strip('"') for part in shlex.split(command, posix=False)]


class _Process:
    """One run of the program."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._popen = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="ascii",
            errors="replace",
            bufsize=1,
        )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._readers = [
            threading.Thread(target=self._read_output, args=(self._popen.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(self._popen.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read_output(self, stream: IO[str]) -> None:
        for line in stream:
            self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self, stream: IO[str]) -> None:
        for line in stream:
            self._stderr.append(line[:_STDERR_CHARACTERS])

    def write(self, line: str) -> None:
        assert self._popen.stdin is not None
        try:
            self._popen.stdin.write(line + "\n")
            self._popen.stdin.flush()
        except OSError:  # it has gone: reading finds out how
            raise EOFError from None

    def lines(self, time_limit: float) -> Iterator[str]:
        """Lines of output. Raises TimeoutError, and EOFError when there are no more."""
        deadline = time.monotonic() + time_limit
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise TimeoutError from None
            if line is None:
                raise EOFError
            yield line

    def last_words(self) -> str:
        """How the program ended, and what it said about it."""
        try:
            code = self._popen.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "closed its output and went on running"
        self._readers[1].join(timeout=1)
        said = " / ".join(line.strip() for line in self._stderr if line.strip())
        return _ending(code) + (f": {said}" if said else "")

    def end(self) -> None:
        self._popen.kill()
        self._popen.wait()
        for reader in self._readers:
            reader.join(timeout=1)
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            assert stream is not None
            try:
                stream.close()
            except OSError:  # what was written last could not be flushed
                continue


def _ending(code: int) -> str:
    if code < 0:
        try:
            return f"ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"ended by signal {-code}"
    return f"ended with exit code {code} before it answered"
