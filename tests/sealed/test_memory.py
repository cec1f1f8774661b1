"""Peak memory: a gibibyte in and out, each measured in a process of its own."""

import subprocess
import sys
import textwrap

import pytest

from tests.cli.conftest import ROOT

resource = pytest.importorskip("resource")

MIB = 1 << 20
SCRIPT = """
    import os, resource, sys
    import numpy as np
    import twofishkit as tk

    def peak_bytes():
        if os.path.exists("/proc/self/status"):
            # getrusage's peak includes that of the process which started this one.
            line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
            return int(line.split()[1]) * 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    key = bytes(32)
    tk.unseal(tk.seal(bytes(3 << 20), key), key)  # kernels are compiled or loaded
    before = peak_bytes()

    n = {elements}
    array = np.random.default_rng(0).random(n, np.float32)
    {action}
    print(peak_bytes() - before)
"""
ACTIONS = {
    # what is done, and how many copies of the array's bytes it may hold at once
    "seal": ("blob = tk.seal(array, key); assert len(blob) > array.nbytes", 2),
    "unseal": (
        "blob = tk.seal(array, key); expected = array[::1001].copy(); del array;"
        " got = tk.unseal(blob, key); assert np.array_equal(got[::1001], expected)",
        2,
    ),
    "strided": ("blob = tk.seal(array.reshape(-1, 1024).T[::-1], key)", 2),
    "save": ("tk.save(sys.argv[1], array, key)", 1),
    "load": (
        "tk.save(sys.argv[1], array, key); expected = array[::1001].copy(); del array;"
        " got = tk.load(sys.argv[1], key); assert np.array_equal(got[::1001], expected)",
        1,
    ),
    "create_array": (
        "block = array[: 1 << 18]; rows = n >> 18; del array\n"
        "    with tk.create_array(sys.argv[1], (None, 1 << 18), 'f4', key) as out:\n"
        "        for _ in range(rows): out.write(block)",
        1,
    ),
    "open_array": (
        "tk.save(sys.argv[1], array, key); rows = array[:: n // 64].copy(); del array\n"
        "    with tk.open_array(sys.argv[1], key) as opened:\n"
        "        assert np.array_equal(opened[:: n // 64], rows)",
        1,
    ),
    "savez": ("tk.savez(sys.argv[1], key=key, a=array[: n // 2], b=array[n // 2 :])", 1),
}


def growth(tmp_path, name, nbytes):
    """Peak memory of a process beyond what it takes to be there."""
    code = textwrap.dedent(SCRIPT.format(elements=nbytes // 4, action=ACTIONS[name][0]))
    command = [sys.executable, "-c", code, str(tmp_path / "a")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", ACTIONS)
def test_a_gibibyte(tmp_path, name):
    nbytes = 1024 * MIB
    assert growth(tmp_path, name, nbytes) <= ACTIONS[name][1] * nbytes + 64 * MIB


@pytest.mark.parametrize("name", ["seal", "unseal", "load"])
def test_a_smaller_array(tmp_path, name):
    nbytes = 96 * MIB
    assert growth(tmp_path, name, nbytes) <= ACTIONS[name][1] * nbytes + 32 * MIB
