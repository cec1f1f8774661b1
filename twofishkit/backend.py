"""Which implementation serves this process, and why.

The tables `CIPHERS` and `GHASHES` list the implementations best first; the first that can run here
serves. An implementation compiled by Numba can run if Numba works and compiles for every CPU feature
that the implementation's module states in its ``REQUIRES``; features count only if the processor
has them too, since code for a missing instruction aborts the process.

`TWOFISHKIT_BACKEND` and `TWOFISHKIT_GHASH` name a choice for the whole process (read when the first
object is made), `use` one for the objects made from then on. Numba is imported when a row that
needs it is first tried, never by importing this module.

Adding an instruction set is one kernel file and one row here.
"""

import contextvars
import functools
import importlib
import os
import threading
import warnings
import weakref
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from twofishkit import composed, parallel
from twofishkit.errors import BackendUnavailable, InvalidParameter
from twofishkit.forks import no_fork
from twofishkit.slots import CipherSlots, GhashSlots, Kernels


@dataclass(frozen=True)
class Row:
    """One implementation: its name, and where its slots are.

    Attributes
    ----------
    module, attribute
        where the `CipherSlots` or `GhashSlots` is; the module's ``REQUIRES`` (if it has one) names
        the CPU features it needs, or ``requires`` names another attribute of the module
    numba
        whether it needs a working Numba
    constant_time
        whether instructions and addresses are independent of key and data
    tables
        what key-dependent tables it keeps in memory, for `describe`
    partner
        for a cipher: the GHASH that goes with it, instead of the best that runs
    """

    name: str
    module: str
    attribute: str = "SLOTS"
    requires: str = "REQUIRES"
    numba: bool = True
    constant_time: bool = True
    tables: str = "none"
    partner: str | None = None


_SHUFFLE = "twofishkit.kernels.shuffle"

#: Cipher implementations, best first. A name may have several rows: the first that runs serves it.
CIPHERS = (
    Row("permute", "twofishkit.kernels.permute"),
    Row("shuffle", _SHUFFLE, "SLOTS_512", "REQUIRES_512"),
    Row("shuffle", _SHUFFLE, "SLOTS_256", "REQUIRES_256"),
    Row("shuffle", _SHUFFLE, "SLOTS_128", "REQUIRES_128"),
    Row("shuffle", _SHUFFLE, "SLOTS_128", "REQUIRES_NEON"),
    Row("shuffle256", _SHUFFLE, "SHUFFLE256", "REQUIRES_256"),
    Row("shuffle128", _SHUFFLE, "SHUFFLE128", "REQUIRES_128"),
    Row("shuffle128", _SHUFFLE, "SHUFFLE128", "REQUIRES_NEON"),
    Row("gather", "twofishkit.kernels.gather", constant_time=False, tables="4 KiB, key-dependent"),
    Row(
        "numpy",
        "twofishkit.vectorised",
        numba=False,
        constant_time=False,
        tables="4 KiB to 520 KiB, key-dependent",
        partner="numpy",
    ),
    Row(
        "reference",
        "twofishkit.reference_slots",
        numba=False,
        constant_time=False,
        tables="fixed q and MDS tables",
        partner="reference",
    ),
)

#: GHASH implementations, best first.
GHASHES = (
    Row("vpclmul", "twofishkit.kernels.ghash_vpclmul"),
    Row("pclmul", "twofishkit.kernels.ghash_pclmul"),
    Row("pmull", "twofishkit.kernels.ghash_pmull"),
    Row("portable", "twofishkit.kernels.ghash", "PORTABLE"),
    Row(
        "numpy",
        "twofishkit.vectorised_ghash",
        "GHASH",
        numba=False,
        constant_time=False,
        tables="up to 704 KiB, key-dependent",
    ),
    Row(
        "reference",
        "twofishkit.reference_slots",
        "GHASH",
        numba=False,
        constant_time=False,
        tables="none, but branches on data",
    ),
)


#: The XOR that goes with compiled ciphers; the others use NumPy's.
_COMPILED_XOR = ("twofishkit.kernels.xor", "xor")

_CIPHER_VARIABLE = "TWOFISHKIT_BACKEND"
_GHASH_VARIABLE = "TWOFISHKIT_GHASH"


# --- What runs here ------------------------------------------------------------------------------


def _import(module: str) -> Any:
    with no_fork:
        return importlib.import_module(module)


@functools.cache
def numba_obstacle() -> str | None:
    """Why Numba cannot compile kernels in this process, or None if it can. Imports Numba."""
    with no_fork:
        try:
            importlib.import_module("numba")
            target = importlib.import_module("twofishkit.kernels.target")
        except ModuleNotFoundError as error:
            return f"{error.name} is not installed"
        except Exception as error:
            # A Numba that does not fit its NumPy or its Python fails to import in many ways.
            return f"numba cannot be imported: {type(error).__name__}: {error}"
        reason: str | None = target.obstacle()
        return reason


@functools.cache
def _load(row: Row) -> CipherSlots | GhashSlots | str:
    """The slots of a row, or why it cannot run here."""
    if row.numba:
        obstacle = numba_obstacle()
        if obstacle is not None:
            return obstacle
    module = _import(row.module)
    required: frozenset[str] = getattr(module, row.requires, frozenset())
    if required:
        reason: str | None = _import("twofishkit.kernels.target").lacking(required)
        if reason is not None:
            return reason
    slots: CipherSlots | GhashSlots = getattr(module, row.attribute)
    return slots


def _runs(table: tuple[Row, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.name for row in table if not isinstance(_load(row), str)))


def available() -> tuple[str, ...]:
    """Names of the cipher backends that run here, best first."""
    return _runs(CIPHERS)


def available_ghash() -> tuple[str, ...]:
    """Names of the GHASH implementations that run here, best first."""
    return _runs(GHASHES)


def _row(table: tuple[Row, ...], name: str, kind: str) -> Row:
    """The first row of this name that runs here.

    Raises
    ------
    InvalidParameter : no row has this name
    BackendUnavailable : none of them runs here; the message says what is missing
    """
    rows = [row for row in table if row.name == name]
    if not rows:
        names = ", ".join(dict.fromkeys(row.name for row in table))
        raise InvalidParameter(f"there is no {kind} {name!r}; the names are: {names}")
    reasons = []
    for row in rows:
        loaded = _load(row)
        if not isinstance(loaded, str):
            return row
        reasons.append(loaded)
    raise BackendUnavailable(f"{kind} {name!r} cannot run here: {'; '.join(dict.fromkeys(reasons))}")


def _best(table: tuple[Row, ...]) -> Row:
    """The first row that runs here; warns, once, if that is for want of a working Numba."""
    row = next(row for row in table if not isinstance(_load(row), str))
    if table is CIPHERS and not row.numba:
        _warn_of_fallback(row.name)
    return row


@functools.cache
def _warn_of_fallback(name: str) -> None:
    warnings.warn(
        f"twofishkit falls back to its {name!r} backend, which is slower and not constant time:"
        f" {numba_obstacle()} ({_CIPHER_VARIABLE}={name} chooses it without this warning)",
        RuntimeWarning,
        stacklevel=2,
    )


# --- What is chosen ------------------------------------------------------------------------------


@functools.cache
def _threaded(cipher_row: Row, ghash_row: Row, threads: int) -> Kernels:
    joined = _joined(cipher_row, ghash_row)
    # Only compiled kernels release the GIL.
    return parallel.threaded(joined, threads) if cipher_row.numba and ghash_row.numba else joined


@functools.cache
def _joined(cipher_row: Row, ghash_row: Row) -> Kernels:
    cipher, ghash = _load(cipher_row), _load(ghash_row)
    assert isinstance(cipher, CipherSlots)
    assert isinstance(ghash, GhashSlots)
    xor = composed.xor
    if cipher_row.numba:
        xor = getattr(_import(_COMPILED_XOR[0]), _COMPILED_XOR[1])
    if cipher.cores and ghash.gcm_module:
        gcm = _import(ghash.gcm_module)
        return Kernels(
            cipher,
            ghash,
            xor,
            gcm_encrypt=gcm.gcm_encrypt,
            gcm_decrypt=gcm.gcm_decrypt,
            gcm_encrypt_rows=gcm.gcm_encrypt_rows,
            gcm_decrypt_rows=gcm.gcm_decrypt_rows,
            gcm_seal_long=gcm.gcm_seal_long,
            gcm_open_long=gcm.gcm_open_long,
            xor_if_simple=_import(_COMPILED_XOR[0]).xor_if_simple,
            ctr_message=_import("twofishkit.kernels.wide").ctr_message,
            gcm_seal=gcm.gcm_seal,
            gcm_open=gcm.gcm_open,
        )
    return composed.join(cipher, ghash, xor)


def kernels(
    cipher_name: str | None = None, ghash_name: str | None = None, threads: int | None = None
) -> Kernels:
    """The implementations of these names.

    Without a name: what the environment variable says, else the cipher backend's own GHASH (for
    `numpy` and `reference`), else the best that runs here. Inputs from about 1 MiB on are split over up
    to ``threads`` threads; without a number, TWOFISHKIT_THREADS or all usable CPUs.

    Raises
    ------
    InvalidParameter : there is no such name, or no such number of threads
    BackendUnavailable : it cannot run here; the message says what is missing
    """
    threads = parallel.usable_threads() if threads is None else parallel.check_threads(threads)
    cipher_name = cipher_name or os.environ.get(_CIPHER_VARIABLE) or None
    ghash_name = ghash_name or os.environ.get(_GHASH_VARIABLE) or None
    cipher_row = _row(CIPHERS, cipher_name, "backend") if cipher_name else _best(CIPHERS)
    ghash_name = ghash_name or cipher_row.partner
    ghash_row = _row(GHASHES, ghash_name, "GHASH") if ghash_name else _best(GHASHES)
    return _threaded(cipher_row, ghash_row, threads)


class use:
    """Choose the backend of the objects that are made from now on.

    As a plain call the choice holds for the whole process, until the next call; as a context
    manager it holds inside the ``with`` block, for the thread or asyncio task that entered it (like
    `numpy.errstate`). Objects that exist already keep theirs.

    Parameters
    ----------
    cipher, ghash : str, optional
        names as in `available` and `available_ghash`; without one, the default. ``use()`` undoes
        earlier calls.
    threads : int, optional
        at most how many threads share an input of 1 MiB or more; without one, TWOFISHKIT_THREADS or
        all CPUs that the process may use

    Raises
    ------
    InvalidParameter : there is no such name
    BackendUnavailable : it cannot run here; the message says what is missing

    Examples
    --------
    >>> with use("numpy"):
    ...     cipher = Twofish(key)
    """

    def __init__(
        self, cipher: str | None = None, *, ghash: str | None = None, threads: int | None = None
    ) -> None:
        self._kernels = kernels(cipher, ghash, threads)
        self._tokens: list[contextvars.Token[Kernels | None]] = []
        _choices.add(self)

    def __enter__(self) -> Kernels:
        _choices.remove(self)
        self._tokens.append(_of_context.set(self._kernels))
        return self._kernels

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _of_context.reset(self._tokens.pop())


class _Choices:
    """The process-wide choices, newest last.

    A ``with use(...)`` is a call first and a context manager right after: entering takes its choice
    out again, wherever other threads have put theirs meanwhile. Only an object that still exists can
    be entered, so what lies below the choice of a dead one has had its day and is dropped.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[tuple[weakref.ref[use], Kernels]] = []
        self.newest: Kernels | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._lock.acquire,
                after_in_parent=self._lock.release,
                after_in_child=self._lock.release,
            )

    def add(self, choice: use) -> None:
        with self._lock:
            dead = [at for at, (owner, _) in enumerate(self._entries) if owner() is None]
            del self._entries[: dead[-1] if dead else 0]
            self._entries.append((weakref.ref(choice), choice._kernels))
            self.newest = choice._kernels

    def remove(self, choice: use) -> None:
        with self._lock:
            self._entries = [entry for entry in self._entries if entry[0]() is not choice]
            self.newest = self._entries[-1][1] if self._entries else None


_choices = _Choices()
_of_context: contextvars.ContextVar[Kernels | None] = contextvars.ContextVar(
    "twofishkit.backend", default=None
)


@functools.cache
def _default() -> Kernels:
    return kernels()


def current() -> Kernels:
    """What serves objects that are made here and now. Cheap: called at each key set-up.

    Raises
    ------
    InvalidParameter, BackendUnavailable : an environment variable asks for what cannot be had
    """
    return _of_context.get() or _choices.newest or _default()


# --- Why -----------------------------------------------------------------------------------------


def describe() -> dict[str, Any]:
    """What was chosen and why, as plain data: for ``python -m twofishkit info``.

    Keys: ``cipher`` and ``ghash`` (the current names, or None), ``error`` (why there is no choice,
    or None), ``ciphers`` and ``ghashes`` (one dict a row: name, module, runs, reason, constant_time,
    tables), ``compiler`` (see `twofishkit.kernels.target.describe`; None without Numba), ``cache``
    (the directory of compiled kernels, or None) and ``environment`` (the variables that are set).
    """
    try:
        chosen, error = current(), None
    except (InvalidParameter, BackendUnavailable) as refusal:
        chosen, error = None, str(refusal)
    compiler = cache = None
    if numba_obstacle() is None:
        compiler = _import("twofishkit.kernels.target").describe()
        directory = _import("twofishkit.kernels.cache").cache_directory()
        cache = None if directory is None else str(directory)
    variables = (_CIPHER_VARIABLE, _GHASH_VARIABLE, "TWOFISHKIT_CACHE_DIR")
    numba_variables = sorted(name for name in os.environ if name.startswith("NUMBA_"))
    return {
        "cipher": chosen and chosen.cipher.name,
        "ghash": chosen and chosen.ghash.name,
        "error": error,
        "ciphers": [_describe_row(row) for row in CIPHERS],
        "ghashes": [_describe_row(row) for row in GHASHES],
        "compiler": compiler,
        "cache": cache,
        "environment": {
            name: os.environ[name] for name in (*variables, *numba_variables) if name in os.environ
        },
    }


def _describe_row(row: Row) -> dict[str, Any]:
    loaded = _load(row)
    runs = not isinstance(loaded, str)
    return {
        "name": row.name,
        "module": row.module,
        "runs": runs,
        "reason": None if runs else loaded,
        "constant_time": row.constant_time,
        "tables": row.tables,
    }
