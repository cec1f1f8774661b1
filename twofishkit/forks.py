"""Locks that ``os.fork`` waits for: held while Numba is imported and while kernels compile.

A child that is forked while another thread imports a module or compiles inherits locks, Python's,
Numba's and LLVM's, that nobody will ever release, and hangs when it needs them.
"""

import os
import threading
from contextlib import AbstractContextManager
from typing import Any

#: Hold it around imports of Numba or of kernels, and around compilation. Reentrant.
no_fork = threading.RLock()

# In the order in which they are taken. One list and one hook: Python runs the hooks of several
# modules in reverse, which is not the order in which a compiling thread takes these locks.
_locks: list[AbstractContextManager[Any]] = [no_fork]


def wait_also_for(lock: AbstractContextManager[Any]) -> None:
    """Let forks wait for one more lock, which is taken inside `no_fork` if both are needed."""
    with no_fork:
        _locks.append(lock)


def _take() -> None:
    for lock in _locks:  # the first is `no_fork`: the list cannot grow any more
        lock.__enter__()


def _give_back() -> None:
    for lock in reversed(_locks):
        lock.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_give_back, after_in_child=_give_back)
