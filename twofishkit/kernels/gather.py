"""The `gather` backend: explicit table gathers, on every processor that LLVM compiles for.

The cipher is in `gather_cipher`, its key schedule in `schedule`, and `each` serves many keys.

Timing: depends on keys and data.
"""

from twofishkit.kernels.each import decrypt_each, encrypt_each
from twofishkit.kernels.gather_cipher import (
    cipher,
    decrypt_narrow,
    decrypt_one,
    decrypt_wide,
    encrypt_narrow,
    encrypt_one,
    encrypt_wide,
)
from twofishkit.kernels.native import core
from twofishkit.kernels.schedule import SCHEDULE_BYTES, expand_into
from twofishkit.kernels.wide_slots import make_slots

#: CPU features that must be there; none.
REQUIRES = frozenset()


@core
def gather_encrypt(schedule, src, dst, n, mask, scratch):
    """dst = E(src) ^ mask, block by block; a core, see `native`. Timing: depends on key and data."""
    cipher(encrypt_one, encrypt_narrow, encrypt_wide, schedule, src, dst, n, mask, scratch)


@core
def gather_decrypt(schedule, src, dst, n, mask, scratch):
    """dst = D(src) ^ mask, block by block; a core, see `native`. Timing: depends on key and data."""
    cipher(decrypt_one, decrypt_narrow, decrypt_wide, schedule, src, dst, n, mask, scratch)


SLOTS = make_slots(
    "gather",
    constant_time=False,
    encrypt_core=gather_encrypt,
    decrypt_core=gather_decrypt,
    expand_into=expand_into,
    schedule_bytes=SCHEDULE_BYTES,
    encrypt_each=encrypt_each,
    decrypt_each=decrypt_each,
)
