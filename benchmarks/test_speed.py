"""Every task of ``python -m twofishkit bench``, one benchmark for each implementation."""

from collections.abc import Iterator
from typing import Any

import pytest

from twofishkit import backend
from twofishkit.bench import cases, primitives
from twofishkit.bench.measure import Case, Group

KEY_BITS = (128, 192, 256)
SIZE = 1 << 20
#: Implementations that work block by block in Python, or nearly so.
SLOW = ("reference", "oxifish")
SLOW_SIZE = 1 << 12


def groups() -> Iterator[Group]:
    names = tuple(dict.fromkeys(mode.name.split()[0] for mode in cases.MODES))
    yield from cases.groups(names, KEY_BITS, (SIZE,), backend.available())
    yield from primitives.ghash_groups((1 << 10, 1 << 14, SIZE))
    yield from primitives.xor_groups()
    yield from primitives.key_groups(KEY_BITS, backend.available())
    yield from primitives.short_groups(backend.available())


def parameters() -> Iterator[Any]:
    for group in groups():
        for case in group.cases:
            parts = (group.operation, group.key_bits, group.size, case.implementation)
            yield pytest.param(
                group, case, id="-".join(str(part).replace(" ", "_") for part in parts if part)
            )


@pytest.mark.parametrize(("group", "case"), list(parameters()))
def test_speed(benchmark: Any, group: Group, case: Case) -> None:
    slow = case.implementation.startswith(SLOW) and not group.whole
    size = min(group.size, SLOW_SIZE) if slow else group.size
    with case.within():
        call = case.prepare(size)
        call()  # compiles
        benchmark.group = f"{group.operation} {group.key_bits or ''} {group.size or ''}".strip()
        benchmark.extra_info["bytes"] = size
        benchmark(call)
