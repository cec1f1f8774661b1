"""Twofish for NumPy: every mode of operation on arrays, authenticated array files, GHASH and XOR.

>>> import numpy as np, twofishkit as tk
>>> key = tk.generate_key()
>>> array = np.arange(6.0).reshape(2, 3)
>>> np.array_equal(tk.unseal(tk.seal(array, key), key), array)
True

Names are loaded when they are first used: importing the package imports neither Numba nor kernels.
"""

import importlib
from typing import TYPE_CHECKING, Any

from twofishkit import errors
from twofishkit.errors import (
    BackendUnavailable,
    FormatError,
    InvalidBuffer,
    InvalidKey,
    InvalidLength,
    InvalidNonce,
    InvalidPadding,
    InvalidParameter,
    InvalidTag,
    LimitExceeded,
    MissingDependency,
    StateError,
    TwofishKitError,
    UnsupportedType,
    WrongKey,
)
from twofishkit.forks import no_fork

# Not lazily: the function and its module share a name, and whoever imports the module first would
# bind the package's attribute to the module.
from twofishkit.xor import xor

if TYPE_CHECKING:
    from twofishkit import backend
    from twofishkit.cipher import Twofish, generate_key
    from twofishkit.ghash import GHASH, POLYVAL
    from twofishkit.modes.cbc import CBC
    from twofishkit.modes.ccm import CCM
    from twofishkit.modes.cfb import CFB, CFB8
    from twofishkit.modes.cmac import CMAC
    from twofishkit.modes.ctr import CTR
    from twofishkit.modes.eax import EAX
    from twofishkit.modes.ecb import ECB
    from twofishkit.modes.gcm import GCM
    from twofishkit.modes.gmac import GMAC
    from twofishkit.modes.ocb import OCB
    from twofishkit.modes.ofb import OFB
    from twofishkit.modes.siv import SIV
    from twofishkit.modes.xts import XTS
    from twofishkit.sealed import (
        Archive,
        ArrayWriter,
        SealedArray,
        create_array,
        inspect,
        load,
        loadz,
        open_array,
        rekey,
        save,
        savez,
        seal,
        unseal,
    )

__version__ = "0.1.0"

#: Where each lazily loaded name comes from.
_HOMES = {
    "Archive": "twofishkit.sealed",
    "ArrayWriter": "twofishkit.sealed",
    "CBC": "twofishkit.modes.cbc",
    "CCM": "twofishkit.modes.ccm",
    "CFB": "twofishkit.modes.cfb",
    "CFB8": "twofishkit.modes.cfb",
    "CMAC": "twofishkit.modes.cmac",
    "CTR": "twofishkit.modes.ctr",
    "EAX": "twofishkit.modes.eax",
    "ECB": "twofishkit.modes.ecb",
    "GCM": "twofishkit.modes.gcm",
    "GHASH": "twofishkit.ghash",
    "GMAC": "twofishkit.modes.gmac",
    "OCB": "twofishkit.modes.ocb",
    "OFB": "twofishkit.modes.ofb",
    "POLYVAL": "twofishkit.ghash",
    "SIV": "twofishkit.modes.siv",
    "SealedArray": "twofishkit.sealed",
    "Twofish": "twofishkit.cipher",
    "XTS": "twofishkit.modes.xts",
    "create_array": "twofishkit.sealed",
    "generate_key": "twofishkit.cipher",
    "inspect": "twofishkit.sealed",
    "load": "twofishkit.sealed",
    "loadz": "twofishkit.sealed",
    "open_array": "twofishkit.sealed",
    "rekey": "twofishkit.sealed",
    "save": "twofishkit.sealed",
    "savez": "twofishkit.sealed",
    "seal": "twofishkit.sealed",
    "unseal": "twofishkit.sealed",
}

__all__ = [
    "CBC",
    "CCM",
    "CFB",
    "CFB8",
    "CMAC",
    "CTR",
    "EAX",
    "ECB",
    "GCM",
    "GHASH",
    "GMAC",
    "OCB",
    "OFB",
    "POLYVAL",
    "SIV",
    "XTS",
    "Archive",
    "ArrayWriter",
    "BackendUnavailable",
    "FormatError",
    "InvalidBuffer",
    "InvalidKey",
    "InvalidLength",
    "InvalidNonce",
    "InvalidPadding",
    "InvalidParameter",
    "InvalidTag",
    "LimitExceeded",
    "MissingDependency",
    "SealedArray",
    "StateError",
    "Twofish",
    "TwofishKitError",
    "UnsupportedType",
    "WrongKey",
    "__version__",
    "backend",
    "create_array",
    "errors",
    "generate_key",
    "inspect",
    "load",
    "loadz",
    "open_array",
    "rekey",
    "save",
    "savez",
    "seal",
    "unseal",
    "xor",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is not None:
        with no_fork:  # a child forked in the middle of an import hangs when it needs the module
            value = getattr(importlib.import_module(home), name)
    elif name in ("backend", "lab"):  # the lab is built on this API, and so not in __all__
        # Without the lock: the lab comes by here for the backend while it is being imported itself.
        value = importlib.import_module(f"twofishkit.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
