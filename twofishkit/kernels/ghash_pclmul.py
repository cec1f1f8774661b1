"""GHASH and POLYVAL with x86's PCLMULQDQ on 128-bit vectors. Mathematics: ghash.py, ghash_clmul.py.

On Zen 4 a PCLMULQDQ takes 1.96 cycles: 0.3675 c/B is the floor of three a block, 0.39 is reached.
"""

import numpy as np

from twofishkit.kernels import ghash_clmul
from twofishkit.kernels.ghash import GHASH_ORDER, POLYVAL_ORDER, load_block, store_block, times_x
from twofishkit.kernels.ghash_clmul import TABLE_WORDS
from twofishkit.kernels.jit import inline, kernel
from twofishkit.slots import GhashSlots

#: CPU features that the kernels need (SSSE3 for the byte reversal).
REQUIRES = frozenset({"pclmul", "ssse3"})


@inline
def ghash_update(table, y, src, start, n_blocks):
    """Absorb ``n_blocks`` blocks of ``src`` from byte ``start``; y is uint8[16], updated in place."""
    state = load_block(y, 0, GHASH_ORDER)
    state = ghash_clmul.absorb(table, state, src, start, n_blocks, GHASH_ORDER)
    store_block(y, 0, state, GHASH_ORDER)


@kernel("void(u8[::1], u1[::1])")
def _expand_ghash(table, h):
    ghash_clmul.expand(table, times_x(load_block(h, 0, GHASH_ORDER)))


@kernel("void(u8[::1], u1[::1])")
def _expand_polyval(table, h):
    ghash_clmul.expand(table, load_block(h, 0, POLYVAL_ORDER))


@kernel("void(u8[::1], u1[::1], u1[::1])")
def ghash(table, y, src):
    """y = (...((y ^ X1) H ^ X2) H ...) H over the whole blocks of ``src``. See `GhashSlots`."""
    ghash_update(table, y, src, 0, len(src) // 16)


@kernel("void(u8[::1], u1[::1], u1[::1])")
def polyval(table, y, src):
    """`ghash` in POLYVAL's field and byte order."""
    state = load_block(y, 0, POLYVAL_ORDER)
    state = ghash_clmul.absorb(table, state, src, 0, len(src) // 16, POLYVAL_ORDER)
    store_block(y, 0, state, POLYVAL_ORDER)


def ghash_key(h):
    """The table for `ghash` from H, uint8[16]."""
    table = np.empty(TABLE_WORDS, np.uint64)
    _expand_ghash(table, h)
    return table


def polyval_key(h):
    """The table for `polyval` from H, uint8[16]."""
    table = np.empty(TABLE_WORDS, np.uint64)
    _expand_polyval(table, h)
    return table


SLOTS = GhashSlots(
    name="pclmul",
    constant_time=True,
    ghash_key=ghash_key,
    ghash=ghash,
    polyval_key=polyval_key,
    polyval=polyval,
    gcm_module="twofishkit.kernels.gcm_pclmul",
)
