"""The library of known mistakes: small named variations of the reference.

Each entry is something that went wrong in somebody's Twofish, or easily could. Where a target's
answers are those of one of them, the report names it. `MISTAKES` has them all, the block cipher's
first; names are unique and stay.
"""

from twofishkit.testing.mistakes import composed, counters, macs, modes, rounds, schedule, tweaked
from twofishkit.testing.mistakes.kinds import Mistake

CIPHER_MISTAKES: tuple[Mistake, ...] = (*schedule.MISTAKES, *rounds.MISTAKES)
MODE_MISTAKES: tuple[Mistake, ...] = (
    *modes.MISTAKES,
    *counters.MISTAKES,
    *tweaked.MISTAKES,
    *macs.MISTAKES,
    *composed.MISTAKES,
)
MISTAKES: tuple[Mistake, ...] = (*CIPHER_MISTAKES, *MODE_MISTAKES)

__all__ = ["CIPHER_MISTAKES", "MISTAKES", "MODE_MISTAKES", "Mistake"]
