"""Where compiled kernels are kept: a directory of our own, named by what the code depends on.

Numba's cache is keyed by the file of the kernel itself, not by the helpers compiled into it, so
an edited helper would leave stale machine code behind. Here the directory's name is a digest of
every source file that kernels are made of, of the versions of Numba, llvmlite, NumPy and Python, of
the compile target and of the options that change generated code; a change to any of them starts an
empty directory.

Each compiled kernel is one file, named by its function and signature, that begins with a checksum.
There is no index to fall out of step: processes that compile the same kernel at once write the same
content under the same name, by renaming. A file that is damaged, truncated or gone is a miss.

Cached code is loaded by unpickling: the directory is made private to its user, and it is refused if
somebody else owns it or can write to it, or can replace it. Without a usable directory kernels
are compiled afresh in each process, with one warning. A directory that was filled before and is
read-only now (a container image) serves as it is.

Directories that nobody has used for a month are removed when a new one is made (`cache_age`).

`TWOFISHKIT_CACHE_DIR` names another parent directory; an empty value turns the cache off.
"""

import functools
import hashlib
import os
import pickle
import stat
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import llvmlite
import numba
import numpy as np
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from twofishkit.kernels.cache_age import mark_used, remove_unused

#: Folders of the package whose files end up in machine code: kernels, their vocabulary, and the
#: reference, whose tables they take in as constants.
SOURCE_FOLDERS = ("kernels", "simd", "reference")

#: Numba's options that change generated code and that its own cache does not know of.
_OPTIONS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "FULL_TRACEBACKS")

_lock = threading.Lock()
_warned = False


def _warn(reason):
    """Say once that there is no cache, and why."""
    global _warned
    with _lock:
        if _warned:
            return
        _warned = True
    warnings.warn(
        f"twofishkit compiles its kernels anew in each process, having no cache directory ({reason});"
        " set TWOFISHKIT_CACHE_DIR to a private, writable directory",
        RuntimeWarning,
        stacklevel=2,
    )


def user_cache_directory():
    """The parent of our directories, by the platform's convention; None if the cache is turned off.

    Raises
    ------
    OSError, RuntimeError : there is no home directory
    """
    override = os.environ.get("TWOFISHKIT_CACHE_DIR")
    if override is not None:
        return Path(override).expanduser() if override else None
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local or Path("~/AppData/Local").expanduser()) / "twofishkit" / "Cache"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/twofishkit").expanduser()
    configured = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: a path that is not absolute is to be ignored.
    parent = Path(configured) if os.path.isabs(configured) else Path("~/.cache").expanduser()
    return parent / "twofishkit"


def digest(package):
    """Digest of everything that the machine code of the kernels of a package folder depends on.

    Raises
    ------
    OSError : the sources are not files
    """
    state = hashlib.sha256()
    for folder in SOURCE_FOLDERS:
        sources = sorted((package / folder).rglob("*.py"))
        if not sources:
            raise FileNotFoundError(f"no sources in {package / folder}")
        for source in sources:
            content = source.read_bytes()
            state.update(f"{source.relative_to(package).as_posix()}\0{len(content)}\0".encode() + content)
    target = cpu_target.target_context.codegen().magic_tuple()
    options = [(name, getattr(numba.config, name, None)) for name in _OPTIONS]
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag)
    state.update(repr((versions, target, options)).encode())
    return state.hexdigest()[:24]


def refusal(directory):
    """Why a directory must not be trusted with code, or None.

    Trusted are directories that belong to us or to root and that nobody else can write to, below
    directories in which nobody else can rename them.
    """
    if os.name != "posix":
        return None  # a profile directory on Windows is private by inheritance
    status = os.lstat(directory)
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a directory"
    if status.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    if status.st_mode & 0o022:
        return "others can write to it"
    for ancestor in directory.parents:
        mode = os.lstat(ancestor).st_mode
        if mode & 0o002 and not mode & stat.S_ISVTX:
            return f"others can replace it, since anybody can write to {ancestor}"
    return None


@functools.cache
def _directory():
    parent = user_cache_directory()
    if parent is None:
        return None
    parent = parent.absolute()
    if not parent.is_dir():
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    parent = parent.resolve()
    directory = parent / f"kernels-{digest(Path(__file__).resolve().parent.parent)}"
    is_new = not directory.is_dir()
    if is_new:
        directory.mkdir(mode=0o700, exist_ok=True)
    for made in (parent, directory):
        reason = refusal(made)
        if reason:
            raise PermissionError(f"{made}: {reason}")
    mark_used(directory)
    if is_new:
        remove_unused(directory)
    if next(directory.iterdir(), None) is None:
        tempfile.TemporaryFile(dir=directory).close()
    return directory


@functools.cache
def cache_directory():
    """The directory for this package version and compile target, created private; or None.

    Warns once, with the reason, when kernels cannot be cached.
    """
    try:
        return _directory()
    except (OSError, RuntimeError) as error:
        _warn(error)
        return None


class KernelCache(_Cache):
    """The compiled forms of one function: a file for each signature.

    Parameters
    ----------
    py_func : the function, at module level, or closing over plain numbers only
    directory : where its files are
    """

    def __init__(self, py_func, directory):
        cells = tuple(cell.cell_contents for cell in py_func.__closure__ or ())
        identity = (py_func.__module__, py_func.__qualname__, py_func.__code__.co_code, cells)
        self._identity = dumps(identity)
        self._stem = f"{py_func.__module__.rpartition('.')[2]}.{py_func.__qualname__}".replace("<locals>", "")
        self._directory = directory
        self._enabled = True

    @property
    def cache_path(self):
        return str(self._directory)

    def enable(self):
        self._enabled = True

    def disable(self):
        self._enabled = False

    def flush(self):
        """Forget the files of this function."""
        for path in self._directory.glob(f"{self._stem}-*.bin"):
            path.unlink(missing_ok=True)

    def path(self, sig):
        """The file for a signature."""
        name = hashlib.sha256(self._identity + repr(sig).encode()).hexdigest()[:24]
        return self._directory / f"{self._stem}-{name}.bin"

    def load_overload(self, sig, target_context):
        """The compiled form for a signature, or None."""
        if not self._enabled:
            return None
        # Loaded code refers to symbols of Numba's runtime that only a refreshed target has announced.
        target_context.refresh()
        try:
            content = self.path(sig).read_bytes()
            checksum, payload = content[:32], content[32:]
            if hashlib.sha256(payload).digest() != checksum:
                return None
            return CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:
            # Whatever is wrong with a file, the kernel can be compiled again.
            return None

    def save_overload(self, sig, data):
        """Keep a compiled form; one that refers to addresses in this process cannot be kept."""
        if not self._enabled or data.lifted or data.library.has_dynamic_globals:
            return
        path = self.path(sig)
        try:
            payload = dumps(data._reduce())
            with tempfile.NamedTemporaryFile(dir=self._directory, prefix=".", delete=False) as file:
                file.write(hashlib.sha256(payload).digest() + payload)
            os.replace(file.name, path)
        except OSError as error:
            if os.name == "nt" and path.exists():
                return  # another process is reading the same kernel, which it had compiled first
            self.disable()
            _warn(error)


def attach(dispatcher):
    """Give a dispatcher our cache (if there is a directory for it) and return the dispatcher."""
    if not numba.config.DISABLE_JIT and cache_directory() is not None:
        dispatcher._cache = KernelCache(dispatcher.py_func, cache_directory())
    return dispatcher
