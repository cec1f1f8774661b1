"""twofishkit behind the same interface as the peers: (mode, key, iv, data, aad) in, bytes out."""

from typing import Any

import twofishkit as tk

AEADS = {"gcm": "GCM", "ocb": "OCB", "eax": "EAX", "ccm": "CCM", "siv": "SIV"}
WITH_IV = {"cbc": "CBC", "cfb": "CFB", "cfb8": "CFB8", "ofb": "OFB", "ctr": "CTR"}


def encrypt(mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"") -> tuple[bytes, bytes]:
    """(ciphertext, tag), by the public interface."""
    if mode == "cmac":
        return b"", tk.CMAC(key).update(data).digest()
    if mode in AEADS:
        aead: Any = getattr(tk, AEADS[mode])(key)
        return aead.encrypt_detached(iv, data, aad)
    if mode == "xts":
        return tk.XTS(key).encrypt(data, iv), b""
    return _plain(mode, key, iv).encrypt(data), b""


def decrypt(mode: str, key: bytes, iv: bytes, data: bytes, aad: bytes = b"", tag: bytes = b"") -> bytes:
    """The plaintext; raises InvalidTag."""
    if mode == "cmac":
        tk.CMAC(key).update(data).verify(tag)
        return data
    if mode in AEADS:
        aead: Any = getattr(tk, AEADS[mode])(key)
        return aead.decrypt_detached(iv, data, tag, aad)
    if mode == "xts":
        return tk.XTS(key).decrypt(data, iv)
    return _plain(mode, key, iv).decrypt(data)


def _plain(mode: str, key: bytes, iv: bytes) -> Any:
    return tk.ECB(key) if mode == "ecb" else getattr(tk, WITH_IV[mode])(key, iv)
