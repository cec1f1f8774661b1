"""The specification you can run: Twofish, its fields and its modes in pure Python.

Nothing but the standard library is used, nothing is tuned, and every function cites the section of
the standard that it follows. It is the oracle of the test suite and the `reference` backend; it is
slow, and its timing depends on the key and the data.
"""

from twofishkit.reference.block import KeySchedule, RoundState, expand_key

__all__ = ["KeySchedule", "RoundState", "expand_key"]
