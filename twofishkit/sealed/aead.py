"""Twofish-256-GCM as the chunk cipher of the sealed format.

GCM with a 12-byte nonce, a 16-byte tag and no AAD, for many equally long messages at a time: the
tag masks E(K, J0) of all of them are one call, and so are the comparisons of tags. Where the backend
has a kernel for many messages, all the rest is one call too.

The label is ours. c2sp.org/chunked-encryption names its instantiations after IANA's list of AEADs,
which has no Twofish: this is the construction, but none of the named instantiations.

Timing: that of the backend. Source: NIST SP 800-38D, 7.1 and 7.2.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from twofishkit.cipher import Twofish
from twofishkit.sealed.stream import Aead, Bytes

LABEL = b"twofishkit/AEAD_TWOFISH_256_GCM"


class TwofishGcm:
    """A `stream.ChunkCipher`."""

    __slots__ = ("_blocks", "_cipher", "_decrypt", "_encrypt", "_ghash", "_table", "threads")

    def __init__(self, key: bytes) -> None:
        self._cipher = Twofish(key)
        kernels = self._cipher._kernels
        h = np.zeros(16, np.uint8)
        kernels.cipher.encrypt_blocks(self._cipher._schedule, h, h)
        self._table = kernels.ghash.ghash_key(h)
        self._ghash = kernels.ghash.ghash
        self._blocks = kernels.cipher.encrypt_blocks
        self._encrypt = kernels.gcm_encrypt_rows or self._by_row(kernels.gcm_encrypt)
        self._decrypt = kernels.gcm_decrypt_rows or self._by_row(kernels.gcm_decrypt)
        self.threads = kernels.threads

    def seal(self, nonces: Bytes, plaintexts: Bytes, sealed: Bytes) -> None:
        size = plaintexts.shape[1]
        sealed[:, size:] = self._run(self._encrypt, nonces, plaintexts, sealed)

    def open(self, nonces: Bytes, sealed: Bytes, plaintexts: Bytes) -> int:
        size = plaintexts.shape[1]
        differences = self._run(self._decrypt, nonces, sealed, plaintexts) ^ sealed[:, size:]
        wrong = np.bitwise_or.reduce(differences, axis=1)
        return int(wrong.astype(bool).argmax()) if wrong.any() else len(wrong)

    def wipe(self) -> None:
        self._cipher.wipe()

    def _run(self, rows: Callable[..., None], nonces: Bytes, src: Bytes, dst: Bytes) -> Bytes:
        """Run one direction of GCM over each row of src into dst; the tags, uint8[n, 16]."""
        schedule = self._cipher._schedule
        counters = np.zeros((len(src), 16), np.uint8)  # J0 = nonce || 1, then J0 + 1
        counters[:, :12] = nonces
        counters[:, 15] = 1
        masks = np.empty(counters.size, np.uint8)
        self._blocks(schedule, counters.reshape(-1), masks)
        counters[:, 15] = 2
        tags = np.zeros(counters.size, np.uint8)
        rows(schedule, self._table, counters.reshape(-1), tags, src, dst)
        tags ^= masks
        return tags.reshape(-1, 16)

    def _by_row(self, slot: Callable[..., None]) -> Callable[..., None]:
        """`Kernels.gcm_encrypt_rows` or its inverse, from the slot for one message."""
        ghash = self._ghash

        def rows(schedule: Any, table: Any, counters: Bytes, tags: Bytes, src: Bytes, dst: Bytes) -> None:
            size = min(src.shape[1], dst.shape[1])
            lengths = np.frombuffer((8 * size).to_bytes(16, "big"), np.uint8)
            for at, (row, result) in enumerate(zip(src, dst, strict=True)):
                y = tags[16 * at : 16 * at + 16]
                if size:
                    slot(schedule, table, counters[16 * at : 16 * at + 16], y, row[:size], result[:size])
                ghash(table, y, lengths)

        return rows


#: Twofish-256-GCM under our label: what every sealed file uses.
TWOFISH_256_GCM = Aead(LABEL, key_bytes=32, nonce_bytes=12, tag_bytes=16, prepare=TwofishGcm)
