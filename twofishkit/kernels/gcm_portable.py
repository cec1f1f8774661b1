"""GCM on the GHASH of `ghash`; bodies and sources are in `wide_gcm`."""

from twofishkit.kernels import wide_gcm
from twofishkit.kernels.ghash import ghash_update
from twofishkit.kernels.jit import kernel


@kernel(wide_gcm.WHOLE)
def gcm_encrypt(schedule, table, counter, y, src, dst):
    """dst = src ^ keystream, y absorbs dst."""
    wide_gcm.encrypt_body(ghash_update, schedule, table, counter, y, src, dst)


@kernel(wide_gcm.WHOLE)
def gcm_decrypt(schedule, table, counter, y, src, dst):
    """y absorbs src, dst = src ^ keystream."""
    wide_gcm.decrypt_body(ghash_update, schedule, table, counter, y, src, dst)


@kernel(wide_gcm.ROWS)
def gcm_encrypt_rows(schedule, table, counters, tags, src, dst):
    """Row by row: dst = src ^ keystream, tag = GHASH of dst and its length."""
    wide_gcm.encrypt_rows_body(ghash_update, schedule, table, counters, tags, src, dst)


@kernel(wide_gcm.ROWS)
def gcm_decrypt_rows(schedule, table, counters, tags, src, dst):
    """Row by row: tag = GHASH of src and its length, dst = src ^ keystream."""
    wide_gcm.decrypt_rows_body(ghash_update, schedule, table, counters, tags, src, dst)


@kernel(wide_gcm.SEAL)
def gcm_seal(schedule, table, nonce, aad, data, out, tag_length):
    """out = ciphertext || tag of a short message."""
    wide_gcm.seal_body(ghash_update, schedule, table, nonce, aad, data, out, tag_length)


@kernel(wide_gcm.OPEN)
def gcm_open(schedule, table, nonce, aad, data, out, tag_length):
    """out = plaintext of a short message if its tag is right; returns whether it is."""
    return wide_gcm.open_body(ghash_update, schedule, table, nonce, aad, data, out, tag_length)


@kernel(wide_gcm.SEAL_LONG)
def gcm_seal_long(schedule, table, j0, aad, src, dst, tag):
    """dst = src ^ keystream, and the tag."""
    wide_gcm.seal_long_body(ghash_update, schedule, table, j0, aad, src, dst, tag)


@kernel(wide_gcm.OPEN_LONG)
def gcm_open_long(schedule, table, j0, aad, src, dst, tag):
    """dst = src ^ keystream if the tag is right; returns whether it is."""
    return wide_gcm.open_long_body(ghash_update, schedule, table, j0, aad, src, dst, tag)
