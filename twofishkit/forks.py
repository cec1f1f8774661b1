"""A lock that ``os.fork`` waits for: held while Numba is imported and while kernels compile.

A child that is forked while another thread imports a module or compiles inherits locks, Python's,
Numba's and LLVM's, that nobody will ever release, and hangs when it needs them.
"""

import os
import threading

#: Hold it around imports of Numba or of kernels, and around compilation. Reentrant.
no_fork = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=no_fork.acquire, after_in_parent=no_fork.release, after_in_child=no_fork.release
    )
