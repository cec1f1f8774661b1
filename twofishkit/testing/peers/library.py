"""Loads a shared library by any of its names, and checks what its functions return."""

import ctypes
import ctypes.util
import os


def load(name: str, sonames: tuple[str, ...], short_names: tuple[str, ...]) -> ctypes.CDLL | None:
    """The first library that loads, or None.

    Parameters
    ----------
    name : the peer; ``TWOFISHKIT_PEER_<NAME>`` overrides everything, and hides the peer when empty
    sonames : file names to try as they are, newest first
    short_names : names for `ctypes.util.find_library`, which is slower but knows other systems
    """
    forced = os.environ.get(f"TWOFISHKIT_PEER_{name.upper()}")
    if forced is not None:
        return ctypes.CDLL(forced) if forced else None
    for soname in sonames:
        try:
            return ctypes.CDLL(soname)
        except OSError:
            continue
    for short_name in short_names:
        path = ctypes.util.find_library(short_name)
        if path is not None:
            try:
                return ctypes.CDLL(path)
            except OSError:
                continue
    return None


def declare(library: ctypes.CDLL, result: type | None, name: str, *arguments: type) -> None:
    """State the types of one C function."""
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments
