"""The `reference` backend: the specification in `twofishkit.reference`, behind the slots of `slots`.

Blocks go one by one through the pure-Python cipher, modes are composed around it. Tests compare this
backend with `reference.modes` and `reference.authenticated`, which share no code with `composed`.
"""

import numpy as np

from twofishkit import composed
from twofishkit.reference import block, gf128
from twofishkit.slots import Bytes, GhashSlots


def expand_key(key: Bytes) -> block.KeySchedule:
    """Key schedule of one key of 16, 24 or 32 bytes. Timing: depends on the key."""
    return block.expand_key(key.tobytes())


def encrypt_blocks(schedule: block.KeySchedule, src: Bytes, dst: Bytes) -> None:
    """Encrypt whole blocks (ECB). Timing: depends on key and data."""
    for at in range(0, len(src), 16):
        dst[at : at + 16] = np.frombuffer(schedule.encrypt_block(src[at : at + 16].tobytes()), np.uint8)


def decrypt_blocks(schedule: block.KeySchedule, src: Bytes, dst: Bytes) -> None:
    """Decrypt whole blocks (ECB). Timing: depends on key and data."""
    for at in range(0, len(src), 16):
        dst[at : at + 16] = np.frombuffer(schedule.decrypt_block(src[at : at + 16].tobytes()), np.uint8)


def _hash_key(h: Bytes) -> bytes:
    return h.tobytes()


def ghash(table: bytes, y: Bytes, src: Bytes) -> None:
    """y = (...((y ^ X1).H ^ X2).H ...). Timing: depends on key and data."""
    y[:] = np.frombuffer(gf128.ghash(table, src.tobytes(), y.tobytes()), np.uint8)


def polyval(table: bytes, y: Bytes, src: Bytes) -> None:
    """POLYVAL over whole blocks. Timing: depends on key and data."""
    y[:] = np.frombuffer(gf128.polyval(table, src.tobytes(), y.tobytes()), np.uint8)


SLOTS = composed.derive(
    name="reference",
    constant_time=False,
    expand_key=expand_key,
    wipe=block.KeySchedule.wipe,
    encrypt_blocks=encrypt_blocks,
    decrypt_blocks=decrypt_blocks,
)

GHASH = GhashSlots(
    name="reference",
    constant_time=False,
    ghash_key=_hash_key,
    ghash=ghash,
    polyval_key=_hash_key,
    polyval=polyval,
)
