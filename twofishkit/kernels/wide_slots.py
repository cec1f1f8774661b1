"""Makes the slots of a backend from its two cores and its key schedule; the modes are those of `wide`."""

import numpy as np

from twofishkit.kernels import wide, wide_many, wide_ocb, wide_xts
from twofishkit.slots import CipherSlots

#: What of a schedule stays when it is wiped: where the cores' addresses are.
_ADDRESS_BYTES = 8


def wipe(schedule):
    """Overwrite the key material of a schedule; what leads to its cores stays valid."""
    schedule[_ADDRESS_BYTES:] = 0


def make_slots(
    name,
    *,
    constant_time=True,
    counting=False,
    encrypt_core,
    decrypt_core,
    expand_into,
    schedule_bytes,
    encrypt_each,
    decrypt_each,
):
    """The `CipherSlots` of a cipher with cores.

    ``expand_into(memory, key)`` fills an aligned schedule within uint8[schedule_bytes + 64], except for
    its header, and returns where it starts. ``counting``: whether the encrypting core counts, see `native`.
    That core is compiled when the first key is set up, the other when it is first needed.
    """
    cores = np.array([0, 0, counting], np.int64)
    header = np.array([cores.ctypes.data], np.int64).view(np.uint8)
    found = [False, False]

    def find(slot, core):
        cores[slot] = core.address
        found[slot] = True

    def expand_key(key):
        memory = np.empty(schedule_bytes + 64, np.uint8)
        start = expand_into(memory, key)
        schedule = memory[start : start + schedule_bytes]
        schedule[:_ADDRESS_BYTES] = header
        if not found[0]:
            find(0, encrypt_core)
        return schedule

    def deciphering(kernel):
        def slot(*arguments):
            if not found[1]:
                find(1, decrypt_core)
            return kernel(*arguments)

        return slot

    return CipherSlots(
        name=name,
        constant_time=constant_time,
        cores=True,
        expand_key=expand_key,
        wipe=wipe,
        encrypt_blocks=wide.encrypt_blocks,
        decrypt_blocks=deciphering(wide.decrypt_blocks),
        encrypt_each=encrypt_each,
        decrypt_each=decrypt_each,
        ctr=wide.ctr,
        cbc_encrypt=wide.cbc_encrypt,
        cbc_decrypt=deciphering(wide.cbc_decrypt),
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
        xts_decrypt=deciphering(wide.xts_decrypt),
        ocb_encrypt=wide.ocb_encrypt,
        ocb_decrypt=deciphering(wide.ocb_decrypt),
        ocb_hash=wide.ocb_hash,
        xts_encrypt_units=wide_xts.xts_encrypt_units,
        xts_decrypt_units=deciphering(wide_xts.xts_decrypt_units),
        ocb_seal=wide_ocb.ocb_seal,
        ocb_open=deciphering(wide_ocb.ocb_open),
    )
