"""Locks that ``os.fork`` waits for: held while modules are imported lazily and while kernels compile.

A child that is forked while another thread imports a module or compiles inherits locks, Python's,
Numba's and LLVM's, that nobody will ever release, and hangs when it needs them.
"""

import concurrent.futures.thread  # noqa: F401  (see below)
import os
import threading
from contextlib import AbstractContextManager
from typing import Any

#: Hold it around lazy imports, of Numba, kernels and modes, and around compilation. Reentrant.
#: Nothing may take it while it is being imported: who holds it may be waiting for that very module.
no_fork = threading.RLock()

# In the order in which they are taken. One list and one hook: Python runs the hooks of several
# modules in reverse, which is not the order in which a compiling thread takes these locks.
_locks: list[AbstractContextManager[Any]] = [no_fork]
_taken: list[AbstractContextManager[Any]] = []


def wait_also_for(lock: AbstractContextManager[Any]) -> None:
    """Let forks wait for one more lock, which is taken inside `no_fork` if both are needed."""
    _locks.append(lock)


def _take() -> None:
    for lock in _locks:
        lock.__enter__()
        _taken.append(lock)  # the first is `no_fork`: only one fork at a time gets here


def _give_back() -> None:
    while _taken:
        _taken.pop().__exit__(None, None, None)


# Logging and the thread pools, which Numba's import and we need, have locks and hooks too. Python takes
# the locks in the reverse of the order in which hooks were registered, a thread that holds `no_fork`
# may come to need theirs: so ours must be the later hooks, and theirs are imported above.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_give_back, after_in_child=_give_back)
