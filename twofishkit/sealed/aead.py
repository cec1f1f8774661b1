"""Twofish-256-GCM as the chunk cipher of the sealed format.

GCM with a 12-byte nonce, a 16-byte tag and no AAD, for many equally long messages at a time: the
tag masks E(K, J0) of all of them are one call, and so are the comparisons of tags. What is left per
chunk is CTR with GHASH in one kernel call, and one GHASH of the length block.

The label is ours. c2sp.org/chunked-encryption names its instantiations after IANA's list of AEADs,
which has no Twofish: this is the construction, but none of the named instantiations.

Timing: that of the backend. Source: NIST SP 800-38D, 7.1 and 7.2.
"""

from collections.abc import Callable

import numpy as np

from twofishkit.cipher import Twofish
from twofishkit.sealed.stream import Aead, Bytes

LABEL = b"twofishkit/AEAD_TWOFISH_256_GCM"


class TwofishGcm:
    """A `stream.ChunkCipher`."""

    __slots__ = ("_blocks", "_cipher", "_decrypt", "_encrypt", "_ghash", "_table")

    def __init__(self, key: bytes) -> None:
        self._cipher = Twofish(key)
        kernels = self._cipher._kernels
        h = np.zeros(16, np.uint8)
        kernels.cipher.encrypt_blocks(self._cipher._schedule, h, h)
        self._table = kernels.ghash.ghash_key(h)
        self._ghash = kernels.ghash.ghash
        self._blocks = kernels.cipher.encrypt_blocks
        self._encrypt, self._decrypt = kernels.gcm_encrypt, kernels.gcm_decrypt

    def seal(self, nonces: Bytes, plaintexts: Bytes, sealed: Bytes) -> None:
        size = plaintexts.shape[1]
        sealed[:, size:] = self._run(self._encrypt, nonces, plaintexts, sealed[:, :size])

    def open(self, nonces: Bytes, sealed: Bytes, plaintexts: Bytes) -> int:
        size = plaintexts.shape[1]
        differences = self._run(self._decrypt, nonces, sealed[:, :size], plaintexts) ^ sealed[:, size:]
        wrong = np.bitwise_or.reduce(differences, axis=1)
        return int(wrong.astype(bool).argmax()) if wrong.any() else len(wrong)

    def wipe(self) -> None:
        self._cipher.wipe()

    def _run(self, slot: Callable[..., None], nonces: Bytes, src: Bytes, dst: Bytes) -> Bytes:
        """Run one of GCM's slots over each row of src into dst; the tags, uint8[n, 16]."""
        n, size = src.shape
        schedule, table = self._cipher._schedule, self._table
        counters = np.zeros((n, 16), np.uint8)  # J0 = nonce || 1, then J0 + 1
        counters[:, :12] = nonces
        counters[:, 15] = 1
        masks = np.empty((n, 16), np.uint8)
        self._blocks(schedule, counters.reshape(-1), masks.reshape(-1))
        counters[:, 15] = 2
        tags = np.zeros((n, 16), np.uint8)
        if size:
            for counter, y, row, result in zip(counters, tags, src, dst, strict=True):
                slot(schedule, table, counter, y, row, result)
        lengths = np.frombuffer((8 * size).to_bytes(16, "big"), np.uint8)
        for y in tags:
            self._ghash(table, y, lengths)
        tags ^= masks
        return tags


#: Twofish-256-GCM under our label: what every sealed file uses.
TWOFISH_256_GCM = Aead(LABEL, key_bytes=32, nonce_bytes=12, tag_bytes=16, prepare=TwofishGcm)
