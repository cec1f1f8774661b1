"""AES-GCM, through `cryptography`, as an AEAD for the chunk code: the published vectors use it."""

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from twofishkit.sealed.stream import Aead


class AesGcmChunks:
    threads = 2

    def __init__(self, key):
        self._gcm = AESGCM(key)

    def seal(self, nonces, plaintexts, sealed):
        for nonce, plaintext, row in zip(nonces, plaintexts, sealed, strict=True):
            row[:] = np.frombuffer(self._gcm.encrypt(nonce.tobytes(), plaintext.tobytes(), None), np.uint8)

    def open(self, nonces, sealed, plaintexts):
        for done, (nonce, row, plaintext) in enumerate(zip(nonces, sealed, plaintexts, strict=True)):
            try:
                opened = self._gcm.decrypt(nonce.tobytes(), row.tobytes(), None)
            except InvalidTag:
                return done
            plaintext[:] = np.frombuffer(opened, np.uint8)
        return len(sealed)

    def wipe(self):
        pass


def aes_gcm(key_bits: int) -> Aead:
    label = f"AEAD_AES_{key_bits}_GCM".encode()
    return Aead(label, key_bytes=key_bits // 8, nonce_bytes=12, tag_bytes=16, prepare=AesGcmChunks)
