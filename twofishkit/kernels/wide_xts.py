"""XTS for any cipher with cores: numbered data units, tweaks and all, in one compiled call.

Arguments are those of `twofishkit.slots.CipherSlots`.

Source: IEEE 1619-2007, 5.3 and 5.4.

Timing: that of the cipher's cores, plus lengths and the number of the first unit.
"""

from numba import types

from twofishkit.kernels.counters import load_counter
from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.native import SCRATCH_BYTES, encrypt, scratch_used
from twofishkit.kernels.wide import CHUNK, WORK_BYTES, xts_blocks
from twofishkit.kernels.wide_masks import fill_counters
from twofishkit.simd import vectors as v

_BYTES = types.Bytes(types.uint8, 1, "C")
_U8 = types.uint8[::1]
_SIGNATURE = types.void(_U8, _U8, _BYTES, types.int64, _U8, _U8)


@inline
def run(schedule, tweak_schedule, first, unit_bytes, src, dst, decrypting):
    """Tweaks of CHUNK units at a time: their numbers, as counters from first on, encrypted."""
    scratch, tweaks = v.stack(SCRATCH_BYTES), v.stack(WORK_BYTES)
    keys, tweak_keys = v.address(schedule), v.address(tweak_schedule)
    source, target, units = v.address(src), v.address(dst), src.size // unit_bytes
    low, high = load_counter(v.address(first), True)
    for at in range(0, units, CHUNK):
        n = min(CHUNK, units - at)
        low, high = fill_counters(tweaks, low, high, n, 128, True)
        encrypt(tweak_keys, tweaks, tweaks, n, 0, scratch)
        begin = at * unit_bytes
        xts_blocks(keys, tweaks, source + begin, target + begin, n, unit_bytes >> 4, decrypting)
    v.wipe(scratch, scratch_used(16 * units))
    v.wipe(tweaks, min(16 * units + 64, WORK_BYTES))


@kernel(_SIGNATURE)
def xts_encrypt_units(schedule, tweak_schedule, first, unit_bytes, src, dst):
    """XTS over units of whole blocks, numbered from first on. Source: IEEE 1619-2007, 5.3."""
    run(schedule, tweak_schedule, first, unit_bytes, src, dst, False)


@kernel(_SIGNATURE)
def xts_decrypt_units(schedule, tweak_schedule, first, unit_bytes, src, dst):
    """XTS over units of whole blocks, numbered from first on. Source: IEEE 1619-2007, 5.4."""
    run(schedule, tweak_schedule, first, unit_bytes, src, dst, True)
