"""Makes the slots of a backend from its two cores and its key schedule; the modes are those of `wide`."""

import functools

import numpy as np

from twofishkit.kernels import wide, wide_many
from twofishkit.slots import CipherSlots

#: What of a schedule is not key material: the addresses of two cores.
_ADDRESS_BYTES = 16


def wipe(schedule):
    """Overwrite the key material of a schedule; the addresses of its cores stay valid."""
    schedule[_ADDRESS_BYTES:] = 0


def make_slots(
    name,
    *,
    constant_time=True,
    encrypt_core,
    decrypt_core,
    expand_into,
    schedule_bytes,
    encrypt_each,
    decrypt_each,
):
    """The `CipherSlots` of a cipher with cores.

    ``expand_into(memory, key)`` fills an aligned schedule within uint8[schedule_bytes + 64], except for
    its header, and returns where it starts. The cores are compiled when the first key is set up.
    """

    @functools.cache
    def header():
        return np.array([encrypt_core.address, decrypt_core.address], np.int64).view(np.uint8)

    def expand_key(key):
        memory = np.empty(schedule_bytes + 64, np.uint8)
        start = expand_into(memory, key)
        schedule = memory[start : start + schedule_bytes]
        schedule[:_ADDRESS_BYTES] = header()
        return schedule

    return CipherSlots(
        name=name,
        constant_time=constant_time,
        cores=True,
        expand_key=expand_key,
        wipe=wipe,
        encrypt_blocks=wide.encrypt_blocks,
        decrypt_blocks=wide.decrypt_blocks,
        encrypt_each=encrypt_each,
        decrypt_each=decrypt_each,
        ctr=wide.ctr,
        cbc_encrypt=wide.cbc_encrypt,
        cbc_decrypt=wide.cbc_decrypt,
        cfb_encrypt=wide.cfb_encrypt,
        cfb_decrypt=wide.cfb_decrypt,
        cfb8_encrypt=wide.cfb8_encrypt,
        cfb8_decrypt=wide.cfb8_decrypt,
        ofb=wide.ofb,
        cbc_encrypt_many=wide_many.cbc_encrypt_many,
        cfb_encrypt_many=wide_many.cfb_encrypt_many,
        ofb_many=wide_many.ofb_many,
        cbc_mac=wide.cbc_mac,
        xts_encrypt=wide.xts_encrypt,
        xts_decrypt=wide.xts_decrypt,
        ocb_encrypt=wide.ocb_encrypt,
        ocb_decrypt=wide.ocb_decrypt,
        ocb_hash=wide.ocb_hash,
    )
