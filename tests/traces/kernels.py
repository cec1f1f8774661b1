"""Kernels whose assembly is examined, some of them made for it.

All are functions of six addresses and lengths, as cores are: what others take, arrays, comes through
memory, and what is in memory is secret to `tests.traces.assembly`.
"""

from twofishkit.kernels import ghash_vpclmul, permute_schedule
from twofishkit.kernels.ghash import GHASH_ORDER, load_block, times_x
from twofishkit.kernels.native import core

_PERMUTE, _SHUFFLE = "twofishkit.kernels.permute:permute_", "twofishkit.kernels.shuffle:"
_GATHER, _HERE = "twofishkit.kernels.gather:gather_", "tests.traces.kernels:"

#: By target (compile.py).
QUICK = {
    "AVX-512": [
        _PERMUTE + "encrypt",
        _PERMUTE + "decrypt",
        _HERE + "permute_expand",
        _HERE + "vpclmul_expand",
        _HERE + "vpclmul_ghash",
    ],
    "AVX2": [_SHUFFLE + "encrypt_256", _SHUFFLE + "decrypt_256"],
}
SLOW = {"AVX-512": [_SHUFFLE + "encrypt_512", _SHUFFLE + "decrypt_512"]}
#: What must be found out; compiled for AVX2.
TELLTALE = [_GATHER + "encrypt", _GATHER + "decrypt"]


@core
def permute_expand(schedule, key, scratch, key_words, unused, unused_too):
    """The key schedule of `permute`."""
    permute_schedule.expand(schedule, key, key_words, scratch)


@core
def vpclmul_expand(table, h, unused, unused_too, nor_this, nor_that):
    """The powers of H for `vpclmul`."""
    ghash_vpclmul._expand(table, times_x(load_block(h, 0, GHASH_ORDER)))


@core
def vpclmul_ghash(table, y, src, n_blocks, unused, unused_too):
    """GHASH of `vpclmul`."""
    ghash_vpclmul.ghash_update(table, y, src, 0, n_blocks)
