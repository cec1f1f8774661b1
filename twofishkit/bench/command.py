"""The ``bench`` subcommand: options, the run, tables or JSON."""

import argparse
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from typing import Any

from tqdm import tqdm

from twofishkit import __version__, backend
from twofishkit.bench import cases, primitives, table
from twofishkit.bench.clock import Clock
from twofishkit.bench.measure import QUICK, Group, Plan, Result, measure
from twofishkit.testing import peers
from twofishkit.testing.peers import openssl

#: Version of the JSON document; grows when a field changes its meaning or goes.
JSON_VERSION = 1

_PRIMITIVES = ("ghash", "xor", "keys", "short", "threads")
#: What ``--modes`` may name.
TASKS = (*dict.fromkeys(mode.name.split()[0] for mode in cases.MODES), *_PRIMITIVES)
#: Bytes of the message that is split over threads, and of a quick run's.
_LONG, _LONG_QUICK = 64 << 20, 4 << 20
#: Backends that hold the GIL.
_ONE_THREAD = ("numpy", "reference")
_PER_CALL_SECTIONS = ("xor", "key set-up", "short messages")
_LABEL_WIDTH = 60
_SUFFIXES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add ``bench`` to an ``argparse`` object made by ``add_subparsers``; `run` executes it."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bench",
        help="measure speed, beside other implementations that are installed",
        description="Measure each mode, key size and backend, interleaved with every other implementation"
        " that this machine has (libgcrypt, Botan, nettle, oxifish, OpenSSL, NumPy). The ratio is the time"
        " in relation to the first row of its group: 2.00 takes twice as long.",
    )
    parser.add_argument(
        "--quick", action="store_true", help="256-bit keys, 64 KiB, few repetitions: rough figures"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    parser.add_argument(
        "--modes",
        type=_names,
        metavar="NAME,...",
        help=f"what to measure, of: {', '.join(TASKS)} (default: all)",
    )
    parser.add_argument("--keys", type=_key_sizes, metavar="BITS,...", help="key sizes, of 128, 192 and 256")
    parser.add_argument("--sizes", type=_sizes, metavar="BYTES,...", help="message sizes, such as 4K,1M")
    parser.add_argument(
        "--backends",
        type=_list,
        metavar="NAME,...",
        help="twofishkit's backends to measure (default: all that run)",
    )
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Measure and print; the exit code.

    Raises
    ------
    InvalidParameter, BackendUnavailable
        For a backend that there is not, or that cannot run here.
    """
    names = _backends(args.backends)
    tasks = args.modes or TASKS
    key_bits = args.keys or ((256,) if args.quick else (128, 192, 256))
    sizes = args.sizes or ((1 << 16,) if args.quick else (1 << 20,))
    long_size = max(*sizes, _LONG_QUICK if args.quick else _LONG)
    groups = list(_groups(tasks, key_bits, sizes, names, long_size))
    clock = Clock()
    results = []
    shown = _Tables() if not args.json else None
    for group in tqdm(groups, desc="bench", leave=False, disable=not sys.stderr.isatty()):
        measured = measure(group, QUICK if args.quick else Plan(), clock)
        results += measured
        if shown is not None:
            shown.add(measured)
    if args.json:
        print(json.dumps(document(results), indent=1))
    return 0


def document(results: Sequence[Result]) -> dict[str, Any]:
    """Results and what they depend on, as plain JSON data."""
    return {
        "format": "twofishkit-bench",
        "version": JSON_VERSION,
        "twofishkit": __version__,
        "machine": {
            "system": platform.system(),
            "machine": platform.machine(),
            "processor": _processor(),
            "python": platform.python_version(),
            "numpy": metadata.version("numpy"),
            "numba": _version_or_none("numba"),
        },
        "default_backend": backend.current().cipher.name,
        "default_ghash": backend.current().ghash.name,
        "peers": {
            **{peer.name: peer.version for peer in peers.find()},
            **{each.name: each.version for each in openssl.find_yardsticks()},
        },
        "results": [table.as_record(result) for result in results],
    }


def _groups(
    tasks: Sequence[str],
    key_bits: Sequence[int],
    sizes: Sequence[int],
    names: Sequence[str],
    long_size: int,
) -> Iterator[Group]:
    yield from cases.groups(tasks, key_bits, sizes, names)
    if "ghash" in tasks:
        yield from primitives.ghash_groups(sizes)
    if "xor" in tasks:
        yield from primitives.xor_groups()
    if "keys" in tasks:
        yield from primitives.key_groups(key_bits, names)
    if "short" in tasks:
        yield from primitives.short_groups(names)
    if "threads" in tasks:
        yield from primitives.thread_groups(long_size, [name for name in names if name not in _ONE_THREAD])


class _Tables:
    """Prints results as they come, with a title whenever the section changes."""

    def __init__(self) -> None:
        self._section = ""

    def add(self, results: Sequence[Result]) -> None:
        for result in results:
            per_call = result.section in _PER_CALL_SECTIONS
            if result.section != self._section:
                self._print(
                    ("\n" if self._section else "") + table.head(result.section, per_call, _LABEL_WIDTH)
                )
                self._section = result.section
            self._print(table.row(result, per_call, _LABEL_WIDTH))

    @staticmethod
    def _print(line: str) -> None:
        # Above the progress bar, if there is one; each line at once, for whoever watches a pipe.
        tqdm.write(line)
        sys.stdout.flush()


def _backends(wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The backends to measure, the default one first: ratios refer to it."""
    if wanted is not None:
        for name in wanted:
            backend.kernels(name)
        return tuple(wanted)
    default = backend.current().cipher.name
    return (default, *(name for name in backend.available() if name != default))


def _processor() -> str:
    """What the processor calls itself, as far as it can be found out."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version_or_none(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


# --- Arguments -----------------------------------------------------------------------------------


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _names(text: str) -> tuple[str, ...]:
    names = _list(text.lower())
    for name in names:
        if name not in TASKS:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(TASKS)}")
    return names


def _key_sizes(text: str) -> tuple[int, ...]:
    sizes = _list(text)
    for size in sizes:
        if size not in ("128", "192", "256"):
            raise argparse.ArgumentTypeError(f"{size!r} is not one of 128, 192, 256")
    return tuple(int(size) for size in sizes)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(_size(part) for part in _list(text))


def _size(text: str) -> int:
    """ "64K" -> 65536. Whole kibibytes only: every mode takes those, batches of messages included."""
    digits, factor = text, 1
    if text[-1].upper() in _SUFFIXES:
        digits, factor = text[:-1], _SUFFIXES[text[-1].upper()]
    size = int(digits) * factor if digits.isdecimal() else 0
    if size <= 0 or size % 16:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a positive multiple of 16 bytes, such as 4096, 64K or 1M"
        )
    return size
