"""Many threads at once, after fork, under spawn: the same right answers, and nothing hangs.

Each case runs in a process of its own, so that kernels are compiled (or loaded) while it lasts.
"""

import os

import pytest

from tests.processes import run

#: Python 3.12 and later warn of every fork in a process that has threads.
FORKING = ("-Werror", "-Wignore:This process:DeprecationWarning")

#: `work(seed)` encrypts and decrypts with GCM, which needs most kinds of kernels, and gives a digest.
WORK = """
import hashlib, threading
import numpy as np
import numpy.random  # which NumPy loads lazily: a fork in the middle of any import hangs the child
import twofishkit as tk
from twofishkit import GCM

def work(seed):
    key = bytes(range(32))
    data = np.random.default_rng(seed).integers(0, 256, 5000 + seed, np.uint8)
    sealed = tk.GCM(key).encrypt(b"twelve bytes", data, b"aad")
    assert np.array_equal(tk.GCM(key).decrypt(b"twelve bytes", sealed, b"aad"), data)
    return hashlib.sha256(sealed.tobytes()).hexdigest()
"""


@pytest.fixture(scope="module")
def expected() -> list[str]:
    """Digests of the first eight seeds, by the NumPy backend in one thread."""
    script = f"{WORK}\nprint(*map(work, range(8)))"
    return run(script, TWOFISHKIT_BACKEND="numpy").split()


def test_eight_threads_start_at_once(expected):
    """None has seen a kernel before, and all of them need all kernels at the same moment."""
    script = f"""{WORK}
barrier, digests = threading.Barrier(8), [None] * 8

def start(seed):
    barrier.wait()
    for _ in range(3):
        digests[seed] = work(seed)

threads = [threading.Thread(target=start, args=(seed,)) for seed in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*digests)
"""
    assert run(script).split() == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_children_after_fork(expected):
    """One child is forked before the first kernel, one while another thread compiles, one after."""
    script = f"""{WORK}
import os, sys

def child(seed):
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write_end, f"{{seed}} {{work(seed)}}\\n".encode())
        finally:
            os._exit(0)
    return pid

read_end, write_end = os.pipe()
children = [child(0)]
thread = threading.Thread(target=work, args=(7,))
thread.start()
children.append(child(1))
thread.join()
work(2)
children.append(child(2))
for pid in children:
    assert os.waitpid(pid, 0)[1] == 0
os.close(write_end)
with os.fdopen(read_end) as pipe:
    print(*(line.split()[1] for line in sorted(pipe)))
"""
    assert run(script, *FORKING).split() == expected[:3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_children_forked_throughout_the_first_use(expected):
    """Forks every few milliseconds while another thread imports Numba and gets its first kernels.

    A fork waits for imports and compilation, and comes the moment they are done, or between two of
    them: whatever lock the thread holds just then must be one that forks wait for.
    """
    script = f"""{WORK}
import faulthandler, os, time

def child():
    pid = os.fork()
    if pid == 0:
        faulthandler.dump_traceback_later(100, exit=True)  # where it hangs, if it does
        try:
            assert work(0) == {expected[0]!r}
        except BaseException:
            os._exit(1)
        os._exit(0)
    return pid

thread = threading.Thread(target=work, args=(7,))
thread.start()
children = []
while len(children) < 12:
    time.sleep(0.003)
    children.append(child())
thread.join()
print(*(os.waitpid(pid, 0)[1] for pid in children))
"""
    assert run(script, *FORKING).split() == ["0"] * 12


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(
    ("slow", "use"),
    [
        ("twofishkit.modes.gcm", "tk.GCM"),
        ("twofishkit.cipher", "tk.Twofish"),
        ("twofishkit.kernels.words", "tk.Twofish(bytes(16))"),
    ],
)
def test_child_forked_in_the_middle_of_a_lazy_import(slow, use):
    """The module takes half a second to be found, and the fork comes then."""
    if "kernels" in slow:
        pytest.importorskip("numba")
    script = f"""
import faulthandler, os, sys, threading, time
import twofishkit as tk

class Slow:
    found = threading.Event()

    def find_spec(self, name, path=None, target=None):
        if name == {slow!r}:
            self.found.set()
            time.sleep(0.5)

sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=lambda: {use})
thread.start()
assert Slow.found.wait(100)
pid = os.fork()
if pid == 0:
    faulthandler.dump_traceback_later(100, exit=True)
    {use}
    os._exit(0)
thread.join()
print(os.waitpid(pid, 0)[1])
"""
    assert run(script, *FORKING) == "0"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_child_forked_while_the_caller_compiles_functions_of_his_own():
    """Numba's lock is then held by a thread that knows nothing of us."""
    pytest.importorskip("numba")
    script = """
import faulthandler, os, threading, time
import twofishkit as tk
tk.Twofish(bytes(16))
from numba.core.compiler_lock import global_compiler_lock

held = threading.Event()

def compiling():
    with global_compiler_lock:
        held.set()
        time.sleep(0.5)

thread = threading.Thread(target=compiling)
thread.start()
held.wait()
pid = os.fork()
if pid == 0:
    faulthandler.dump_traceback_later(100, exit=True)
    with global_compiler_lock:
        os._exit(0)
thread.join()
print(os.waitpid(pid, 0)[1])
"""
    assert run(script, *FORKING) == "0"


def test_spawned_processes(expected, tmp_path):
    """Spawn imports the main module again, which must be a file."""
    module = tmp_path / "spawned.py"
    module.write_text(
        WORK
        + """
import multiprocessing

def main():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return pool.map(work, range(3))
"""
    )
    script = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import spawned
if __name__ == "__main__":
    print(*spawned.main())
"""
    assert run(script).split() == expected[:3]
