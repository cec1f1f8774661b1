"""Tables for people and JSON for machines.

The columns are those of libgcrypt's bench-slope, which Twofish figures are usually given in; the
last one is the time in relation to the first row of the group: 2.00 takes twice as long.
"""

from typing import Any

from twofishkit.bench.measure import Result

_WIDTHS = (15, 15, 14, 10, 9)
_PER_BYTE = ("nanosecs/byte", "mebibytes/sec", "cycles/byte", "auto MHz", "ratio")
_PER_CALL = ("nanosecs/call", "calls/sec", "cycles/call", "auto MHz", "ratio")


def _figure(value: float | None, digits: int, unit: str) -> str:
    return "n/a" if value is None else f"{value:.{digits}f} {unit}".rstrip()


def _per_byte(result: Result) -> tuple[str, ...]:
    return (
        _figure(result.ns_per_byte, 3, "ns/B"),
        _figure(result.mib_per_second, 1, "MiB/s"),
        _figure(result.cycles_per_byte, 2 if (result.cycles_per_byte or 9) >= 1 else 3, "c/B"),
        _figure(result.mhz, 0, ""),
        _figure(result.ratio, 2, ""),
    )


def _per_call(result: Result) -> tuple[str, ...]:
    return (
        _figure(result.ns_per_call, 0, "ns"),
        _figure(1e9 / result.ns_per_call, 0, "/s"),
        _figure(result.cycles_per_call, 0, "c"),
        _figure(result.mhz, 0, ""),
        _figure(result.ratio, 2, ""),
    )


def size_text(size: int) -> str:
    """1048576 -> "1M", 65536 -> "64K", 100 -> "100"."""
    for unit, factor in (("M", 1 << 20), ("K", 1 << 10)):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


def head(section: str, per_call: bool, width: int) -> str:
    """The title line of a section."""
    columns = _PER_CALL if per_call else _PER_BYTE
    return f"{section:<{width}} |" + _aligned(columns)


def row(result: Result, per_call: bool, width: int) -> str:
    """One line: what, who, and the figures."""
    figures = _per_call(result) if per_call else _per_byte(result)
    return f"{label(result):<{width}} |" + _aligned(figures)


def _aligned(columns: tuple[str, ...]) -> str:
    return "".join(f"{column:>{width}}" for column, width in zip(columns, _WIDTHS, strict=True))


def label(result: Result) -> str:
    key = str(result.key_bits) if result.key_bits else ""
    size = size_text(result.size) if result.size else ""
    return f"{result.operation:<14} {key:>3} {size:>5}  {result.implementation}"


def as_record(result: Result) -> dict[str, Any]:
    """One result as plain JSON data; figures that cannot be known are null."""
    return {
        "section": result.section,
        "operation": result.operation,
        "key_bits": result.key_bits,
        "size_bytes": result.size,
        "implementation": result.implementation,
        "ours": result.ours,
        "nanosecs_per_call": result.ns_per_call,
        "nanosecs_per_byte": result.ns_per_byte,
        "mebibytes_per_sec": result.mib_per_second,
        "cycles_per_byte": result.cycles_per_byte,
        "cycles_per_call": result.cycles_per_call,
        "auto_mhz": result.mhz,
        "ratio": result.ratio,
    }
