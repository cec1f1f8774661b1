"""The `gather` backend: each mode's body over the ciphers of `gather_cipher`.

Kernels here are thin: a signature, scratch from the stack, and the body from `serial` or `batched`.
Arguments are those of `twofishkit.slots`. Timing: depends on key and data.
"""

from twofishkit.kernels.batched import (
    cbc_decrypt_body,
    cbc_encrypt_many_body,
    cfb8_decrypt_body,
    cfb_decrypt_body,
    cfb_encrypt_many_body,
    ctr_body,
    ecb_body,
    ocb_body,
    ocb_hash_body,
    ofb_many_body,
    xts_body,
)
from twofishkit.kernels.each import decrypt_each, encrypt_each
from twofishkit.kernels.gather_cipher import BATCH, decrypt_batch, encrypt_batch, encrypt_one
from twofishkit.kernels.jit import kernel
from twofishkit.kernels.schedule import expand_key, wipe
from twofishkit.kernels.serial import (
    cbc_encrypt_body,
    cbc_mac_body,
    cfb8_encrypt_body,
    cfb_encrypt_body,
    ofb_body,
)
from twofishkit.kernels.words import stack_u32
from twofishkit.slots import CipherSlots

#: CPU features that must be there; none.
REQUIRES = frozenset()

_WORDS = 4 * BATCH


@kernel("void(u4[::1], u1[::1], u1[::1])")
def encrypt_blocks(schedule, src, dst):
    """ECB encryption."""
    ecb_body(encrypt_batch, BATCH, stack_u32(_WORDS), schedule, src, dst)


@kernel("void(u4[::1], u1[::1], u1[::1])")
def decrypt_blocks(schedule, src, dst):
    """ECB decryption."""
    ecb_body(decrypt_batch, BATCH, stack_u32(_WORDS), schedule, src, dst)


@kernel("void(u4[::1], u1[::1], i8, b1, u1[::1], u1[::1])")
def ctr(schedule, counter, counter_bits, little_endian, src, dst):
    """Counter mode."""
    work = stack_u32(_WORDS)
    ctr_body(encrypt_batch, BATCH, work, schedule, counter, counter_bits, little_endian, src, dst)


@kernel("void(u4[::1], u1[::1], u1[::1], u1[::1])")
def cbc_encrypt(schedule, iv, src, dst):
    """CBC encryption, one block at a time."""
    cbc_encrypt_body(encrypt_one, schedule, iv, src, dst)


@kernel("void(u4[::1], u1[::1], u1[::1], u1[::1])")
def cbc_decrypt(schedule, iv, src, dst):
    """CBC decryption."""
    cbc_decrypt_body(decrypt_batch, BATCH, stack_u32(_WORDS), schedule, iv, src, dst)


@kernel("void(u4[::1], u1[::1], u1[::1], u1[::1])")
def cfb_encrypt(schedule, iv, src, dst):
    """CFB encryption, one block at a time."""
    cfb_encrypt_body(encrypt_one, schedule, iv, src, dst)


@kernel("void(u4[::1], u1[::1], u1[::1], u1[::1])")
def cfb_decrypt(schedule, iv, src, dst):
    """CFB decryption."""
    cfb_decrypt_body(encrypt_batch, BATCH, stack_u32(_WORDS), schedule, iv, src, dst)


@kernel("void(u4[::1], u1[::1], u1[::1], u1[::1])")
def cfb8_encrypt(schedule, iv, src, dst):
    """CFB-8 encryption, one block for each byte."""
    cfb8_encrypt_body(encrypt_one, schedule, iv, src, dst)


@kernel("void(u4[::1], u1[::1], u1[::1], u1[::1])")
def cfb8_decrypt(schedule, iv, src, dst):
    """CFB-8 decryption, one block for each byte."""
    cfb8_decrypt_body(encrypt_batch, BATCH, stack_u32(_WORDS), schedule, iv, src, dst)


@kernel("void(u4[::1], u1[::1], u1[::1], u1[::1])")
def ofb(schedule, iv, src, dst):
    """OFB, one block at a time."""
    ofb_body(encrypt_one, schedule, iv, src, dst)


@kernel("void(u4[::1], u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def cbc_encrypt_many(schedule, ivs, src, dst):
    """CBC encryption of independent messages side by side."""
    cbc_encrypt_many_body(encrypt_batch, BATCH, stack_u32(_WORDS), schedule, ivs, src, dst)


@kernel("void(u4[::1], u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def cfb_encrypt_many(schedule, ivs, src, dst):
    """CFB encryption of independent messages side by side."""
    cfb_encrypt_many_body(encrypt_batch, BATCH, stack_u32(_WORDS), schedule, ivs, src, dst)


@kernel("void(u4[::1], u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def ofb_many(schedule, ivs, src, dst):
    """OFB of independent messages side by side."""
    ofb_many_body(encrypt_batch, BATCH, stack_u32(_WORDS), schedule, ivs, src, dst)


@kernel("void(u4[::1], u1[::1], u1[::1])")
def cbc_mac(schedule, state, src):
    """The CBC-MAC chain."""
    cbc_mac_body(encrypt_one, schedule, state, src)


@kernel("void(u4[::1], u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def xts_encrypt(schedule, tweaks, src, dst):
    """XTS encryption of data units of whole blocks."""
    xts_body(encrypt_batch, BATCH, stack_u32(_WORDS), stack_u32(_WORDS), schedule, tweaks, src, dst)


@kernel("void(u4[::1], u1[:, ::1], u1[:, ::1], u1[:, ::1])")
def xts_decrypt(schedule, tweaks, src, dst):
    """XTS decryption of data units of whole blocks."""
    xts_body(decrypt_batch, BATCH, stack_u32(_WORDS), stack_u32(_WORDS), schedule, tweaks, src, dst)


@kernel("void(u4[::1], u1[:, ::1], u1[::1], u1[::1], i8, u1[::1], u1[::1])")
def ocb_encrypt(schedule, ls, offset, checksum, first, src, dst):
    """OCB encryption of whole blocks."""
    work, masks = stack_u32(_WORDS), stack_u32(_WORDS)
    ocb_body(encrypt_batch, BATCH, work, masks, schedule, ls, offset, checksum, first, src, dst, True)


@kernel("void(u4[::1], u1[:, ::1], u1[::1], u1[::1], i8, u1[::1], u1[::1])")
def ocb_decrypt(schedule, ls, offset, checksum, first, src, dst):
    """OCB decryption of whole blocks."""
    work, masks = stack_u32(_WORDS), stack_u32(_WORDS)
    ocb_body(decrypt_batch, BATCH, work, masks, schedule, ls, offset, checksum, first, src, dst, False)


@kernel("void(u4[::1], u1[:, ::1], u1[::1], u1[::1], i8, u1[::1])")
def ocb_hash(schedule, ls, offset, total, first, src):
    """OCB's hash of associated data, whole blocks."""
    ocb_hash_body(encrypt_batch, BATCH, stack_u32(_WORDS), schedule, ls, offset, total, first, src)


SLOTS = CipherSlots(
    name="gather",
    constant_time=False,
    cores=False,
    expand_key=expand_key,
    wipe=wipe,
    encrypt_blocks=encrypt_blocks,
    decrypt_blocks=decrypt_blocks,
    encrypt_each=encrypt_each,
    decrypt_each=decrypt_each,
    ctr=ctr,
    cbc_encrypt=cbc_encrypt,
    cbc_decrypt=cbc_decrypt,
    cfb_encrypt=cfb_encrypt,
    cfb_decrypt=cfb_decrypt,
    cfb8_encrypt=cfb8_encrypt,
    cfb8_decrypt=cfb8_decrypt,
    ofb=ofb,
    cbc_encrypt_many=cbc_encrypt_many,
    cfb_encrypt_many=cfb_encrypt_many,
    ofb_many=ofb_many,
    cbc_mac=cbc_mac,
    xts_encrypt=xts_encrypt,
    xts_decrypt=xts_decrypt,
    ocb_encrypt=ocb_encrypt,
    ocb_decrypt=ocb_decrypt,
    ocb_hash=ocb_hash,
)
