"""Traces of kernels' machine code: every instruction's address and every address that it reads or writes.

A *case* is a sequence of calls on one stretch of memory, the arena. All cases are linked, with the machine
code of the kernels as Numba makes it, into one static program, which runs each case for several *trials*
(contents of the arena) under ``valgrind --tool=lackey --trace-mem=yes``. Each call is between two empty
functions, whose addresses cut the trace into pieces. Since the same process makes all trials with the
same arena and stack, the pieces of a constant-time kernel are equal, byte for byte, with all that it
calls (memcpy, memset) included.

What a trace cannot show: how long an instruction takes. (`tests.constant_time` finds divisions of
secrets, `tests.traces.assembly` shifts by them.)

Needs Linux on x86-64 and::

    apt-get install valgrind gcc libc6-dev binutils
"""

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from twofishkit.kernels.target import host_features

TOOLS = "valgrind", "gcc", "objcopy", "nm"


def need(target):
    """Skip where traces cannot be taken; fail where CI, whose script installs the tools, lacks one."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip("traces are taken on Linux on x86-64 only")
    lacking = [tool for tool in TOOLS if shutil.which(tool) is None]
    if not lacking and not _links_statically():
        lacking = ["a static C library"]
    if lacking:
        reason = f"traces need {', '.join(lacking)} (tests/traces/tracing.py says how)"
        if os.environ.get("CI") == "true":
            pytest.fail(f"{reason}: CI on Linux must take them (see .ci/run)")
        pytest.skip(reason)
    absent = {word[1:] for word in target["NUMBA_CPU_FEATURES"].split(",")} - host_features()
    if absent:
        pytest.skip(f"this processor lacks {', '.join(sorted(absent))}")


def _links_statically():
    command = ["gcc", "-static", "-x", "c", "-", "-o", "/dev/null"]
    return subprocess.run(command, input=b"int main(void) { return 0; }", capture_output=True).returncode == 0


# Cases --------------------------------------------------------------------------------------------


class Layout:
    """Where the fields of an arena are, each aligned to 64 bytes."""

    def __init__(self, **sizes):
        self.fields, self.size = {}, 0
        for name, size in sizes.items():
            self.fields[name] = self.size, size
            self.size += -(-size // 64) * 64

    def address(self, name):
        """A field's address, for a `Core`, as C."""
        return f"(long)(arena + {self.fields[name][0]})"

    def array(self, name, item_bytes=1):
        """A field as an array, for a `Kernel`: owner, parent, items, item size, data, shape, stride."""
        at, size = self.fields[name]
        items = size // item_bytes
        return f"0L, 0L, {items}L, {item_bytes}L, arena + {at}, {items}L, {item_bytes}L"

    def contents(self, **values):
        """An arena with these fields, the rest zero."""
        memory = bytearray(self.size)
        for name, value in values.items():
            at, size = self.fields[name]
            assert len(value) == size
            memory[at : at + size] = value
        return bytes(memory)

    def field(self, memory, name):
        at, size = self.fields[name]
        return memory[at : at + size]


@dataclass(frozen=True)
class Call:
    """A kernel (``module:name``), arguments in C, and whether it is a `Core` or a `Kernel`.

    The first argument of a kernel of modes leads to the cores ``through``, as the schedule's first word.
    """

    kernel: str
    arguments: tuple[str, ...]
    is_core: bool
    through: tuple[str, str] | None = None

    def expression(self, index):
        arguments = self.arguments if self.is_core else ("&result", "&exception", *self.arguments)
        return f"kernel_{index[self.kernel]}({', '.join(arguments)})"

    def preparation(self, index):
        if self.through is None:
            return ""
        pair = ", ".join(f"(void *)kernel_{index[name]}" for name in self.through)
        return f"static void *const pair[2] = {{ {pair} }}; *(void *const **)arena = pair;"

    def kernels(self):
        return self.kernel, *(self.through or ())


def core(kernel, schedule, src, dst, n, mask="0L", scratch="0L"):
    """Call a `Core`."""
    return Call(kernel, (schedule, src, dst, f"{n}L", mask, scratch), is_core=True)


def arrays(kernel, *arguments, through=None):
    """Call a `Kernel`; with ``through``, the arena begins with the schedule, which gets these cores."""
    return Call(kernel, arguments, is_core=False, through=through)


@dataclass(frozen=True)
class Case:
    """Calls, made in this order for every trial's arena."""

    name: str
    layout: Layout
    calls: tuple[Call, ...]
    trials: tuple[bytes, ...] = field(repr=False)


@dataclass(frozen=True)
class Outcome:
    """Of one case: the arena after each trial, and pieces[trial][call] of the trace."""

    memories: list[bytes]
    pieces: list[list[bytes]]

    def difference(self, call):
        """The first lines in which a call's traces differ between trials, or None."""
        first, *others = (piece[call].splitlines() for piece in self.pieces)
        for other in others:
            for i, (a, b) in enumerate(zip(first, other, strict=False)):
                if a != b:
                    return f"event {i}: {a.decode()} or {b.decode()}"
            if len(first) != len(other):
                return f"{len(first)} events or {len(other)}"
        return None


# The program --------------------------------------------------------------------------------------

_HEAD = """\
#include <stdio.h>

static unsigned char arena[%(size)d] __attribute__((aligned(4096)));
static void *result, *exception;

__attribute__((noinline)) void trace_begin(void) { __asm__ volatile(""); }
__attribute__((noinline)) void trace_end(void) { __asm__ volatile(""); }
"""
_CASE = """\
    for (int trial = 0; trial < %(trials)d; trial++) {
        if (fread(arena, %(size)d, 1, in) != 1) return 1;
%(calls)s
        fwrite(arena, %(size)d, 1, out);
    }
"""
_CALL = "        { %s trace_begin(); %s; trace_end(); }"


def _source(cases, index):
    lines = [_HEAD % {"size": max(case.layout.size for case in cases)}]
    lines += [f"extern void kernel_{i}();" for i in index.values()]
    lines += ["int main(int argc, char **argv) {"]
    lines += ['    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");']
    for case in cases:
        calls = "\n".join(_CALL % (call.preparation(index), call.expression(index)) for call in case.calls)
        lines.append(_CASE % {"trials": len(case.trials), "size": case.layout.size, "calls": calls})
    return "\n".join([*lines, "    return fclose(out);", "}", ""])


def _run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def kernels_of(cases):
    """The names of all kernels that cases call, in order."""
    return list(dict.fromkeys(name for case in cases for call in case.calls for name in call.kernels()))


def _build(folder, compiled, cases):
    """Link kernels with a program that makes all calls; its path.

    Numba's wrappers for Python are in the objects, too: what they refer to stays unresolved and unused.
    """
    names = kernels_of(cases)
    index = {name: i for i, name in enumerate(names)}
    objects = [folder / f"kernel_{i}.o" for i in index.values()]
    for i, name in enumerate(names):
        code = compiled[name]
        _run("objcopy", f"--redefine-sym={code.symbol}=kernel_{i}", code.path, objects[i])
    source, program = folder / "program.c", folder / "program"
    source.write_text(_source(cases, index))
    options = ["-std=gnu11", "-O1", "-w", "-static", "-no-pie", "-Wl,--unresolved-symbols=ignore-all"]
    _run("gcc", *options, "-o", program, source, *objects)
    return program


def _pieces(trace, program):
    """The pieces of a trace between the calls of trace_begin and of trace_end, in order."""
    symbols = [line.split(maxsplit=2) for line in _run("nm", "--defined-only", program).splitlines()]
    addresses = {name: int(address, 16) for address, _, name in symbols}
    begin, end = (f"\nI  {addresses[name]:08x},".encode() for name in ("trace_begin", "trace_end"))
    pieces, at = [], trace.find(begin)
    while at >= 0:
        stop = trace.index(end, at)
        pieces.append(trace[at:stop])
        at = trace.find(begin, stop)
    return pieces


def outcomes(folder, compiled, cases):
    """Run cases with kernels (`Compiled` by name); `Outcome` by name of case."""
    program = _build(folder, compiled, cases)
    given, made, log = folder / "given", folder / "made", folder / "trace"
    given.write_bytes(b"".join(trial for case in cases for trial in case.trials))
    options = ["--tool=lackey", "--trace-mem=yes", "--basic-counts=no", f"--log-file={log}"]
    _run("valgrind", *options, program, given, made)
    pieces, memory = _pieces(log.read_bytes(), program), made.read_bytes()
    log.unlink()
    found = {}
    for case in cases:
        n, calls, size = len(case.trials), len(case.calls), case.layout.size
        mine, pieces = pieces[: n * calls], pieces[n * calls :]
        memories, memory = memory[: n * size], memory[n * size :]
        found[case.name] = Outcome(
            [memories[i : i + size] for i in range(0, n * size, size)],
            [mine[i : i + calls] for i in range(0, n * calls, calls)],
        )
    assert not pieces
    assert not memory
    return found
