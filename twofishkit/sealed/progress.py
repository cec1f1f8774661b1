"""Progress of long calls: nothing, tqdm's bar, or a function of the caller's."""

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

from twofishkit.errors import UnsupportedType
from twofishkit.sealed.stream import Advance

#: False; True for `tqdm.auto`; or a callable that is given the bytes done and all bytes (None if unknown).
Progress: TypeAlias = bool | Callable[[int, int | None], object]


def check(progress: object) -> None:
    """Refuse what is neither a bool nor callable, before any work.

    Raises
    ------
    UnsupportedType
    """
    if not isinstance(progress, bool) and not callable(progress):
        raise UnsupportedType(
            "progress must be False, True, or callable with the bytes done and the bytes in all,"
            f" and is of type {type(progress).__name__}"
        )


@contextlib.contextmanager
def reporting(progress: Progress, total: int | None, label: str) -> Iterator[Advance | None]:
    """Yields what is to be called with bytes as they are done, or None if nobody wants to know.

    A callable is called once with 0, and then with rising numbers. If it raises, the work ends with
    that exception.
    """
    check(progress)
    if progress is False:
        yield None
    elif progress is True:
        # Only where it is seen: it takes a while to import, and asks which kind of bar fits.
        bar_of = importlib.import_module("tqdm.auto").tqdm
        with bar_of(total=total, desc=label, unit="B", unit_scale=True, unit_divisor=1024) as bar:
            yield bar.update
    else:
        yield _counter(progress, total)


def _counter(report: Callable[[int, int | None], object], total: int | None) -> Advance:
    done = 0

    def advance(n: int) -> None:
        nonlocal done
        done += n
        report(done, total)

    advance(0)
    return advance
