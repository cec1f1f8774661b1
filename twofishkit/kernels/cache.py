"""Where compiled kernels are kept: a directory of our own, named by what the code depends on.

Numba's cache is keyed by the file of the kernel itself, not by the helpers compiled into it, so
an edited helper would leave stale machine code behind. Here the directory's name is a digest of
every source file under ``kernels`` and ``simd``, of Numba's and llvmlite's version and of the
compile target; a change to any of them starts an empty directory.

Cached code is loaded by unpickling: the directory is made private to its user and is refused if
somebody else owns it or can write to it. Without a usable directory kernels are compiled afresh in
each process, with one warning.

`TWOFISHKIT_CACHE_DIR` names another parent directory; an empty value turns the cache off.
"""

import functools
import hashlib
import os
import stat
import sys
import warnings
from pathlib import Path

import llvmlite
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.registry import cpu_target


def _user_cache_directory():
    override = os.environ.get("TWOFISHKIT_CACHE_DIR")
    if override is not None:
        return Path(override) if override else None
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) / "twofishkit" / "cache" if local else None
    if sys.platform == "darwin":
        return Path("~/Library/Caches/twofishkit").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "twofishkit"


def _digest():
    """Digest of everything the machine code of a kernel depends on."""
    package = Path(__file__).resolve().parent.parent
    state = hashlib.sha256()
    for folder in ("kernels", "simd"):
        for source in sorted((package / folder).glob("*.py")):
            state.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    target = cpu_target.target_context.codegen().magic_tuple()
    state.update(repr((numba.__version__, llvmlite.__version__, sys.version_info[:2], target)).encode())
    return state.hexdigest()[:24]


def _refusal(directory):
    """Why a directory must not be trusted with code, or None."""
    if os.name != "posix":
        return None  # a profile directory on Windows is private by inheritance
    status = os.lstat(directory)
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a directory"
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    if status.st_mode & 0o022:
        return "others can write to it"
    return None


@functools.cache
def cache_directory():
    """The directory for this package version and compile target, created private; or None.

    Warns once, with the reason, when kernels cannot be cached.
    """
    try:
        parent = _user_cache_directory()
        if parent is None:
            return None
        directory = parent / f"kernels-{_digest()}"
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        for made in (parent, directory):
            reason = _refusal(made)
            if reason:
                raise PermissionError(f"{made}: {reason}")
        probe = directory / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except (OSError, RuntimeError) as error:
        warnings.warn(
            f"twofishkit compiles its kernels anew in each process, having no cache directory ({error});"
            " set TWOFISHKIT_CACHE_DIR to a private, writable directory",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return directory


class _Locator(_CacheLocator):
    """Puts every kernel's files into `cache_directory`; freshness is the directory's name."""

    def __init__(self, py_func):
        self._name = f"{py_func.__module__}.{py_func.__qualname__}"

    def get_cache_path(self):
        return str(cache_directory())

    def get_source_stamp(self):
        return self._name

    def get_disambiguator(self):
        return hashlib.sha256(self._name.encode()).hexdigest()[:12]

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func)


class _Implementation(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012  (Numba's name and type)

    def __init__(self, py_func):
        # NUMBA_CACHE_LOCATOR_CLASSES must not move our kernels elsewhere.
        chosen, numba.config.CACHE_LOCATOR_CLASSES = numba.config.CACHE_LOCATOR_CLASSES, ""
        try:
            super().__init__(py_func)
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = chosen


class _KernelCache(FunctionCache):
    """Numba's function cache, for which a damaged or vanished file is a miss and not an error."""

    _impl_class = _Implementation

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            return None

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warnings.warn(f"twofishkit could not cache a kernel: {error}", RuntimeWarning, stacklevel=2)
            self.disable()


def attach(dispatcher):
    """Give a dispatcher our cache (if there is a directory for it) and return the dispatcher."""
    if cache_directory() is not None and not numba.config.DISABLE_JIT:
        dispatcher._cache = _KernelCache(dispatcher.py_func)
    return dispatcher
