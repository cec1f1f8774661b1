"""Every mode of operation as tasks to time: twofishkit's backends first, peers after them.

One thread each: what more threads give has rows of its own.
A mode's row here is all that the bench knows about it; `groups` multiplies rows by directions, key
sizes, message sizes and implementations.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import twofishkit as tk
from twofishkit import backend
from twofishkit.bench.measure import Case, Group
from twofishkit.testing.peers import Peer, find
from twofishkit.testing.peers.openssl import find_yardsticks

Buffer = npt.NDArray[np.uint8]
Call = Callable[[], object]

#: Batches of `encrypt_many` have so many messages.
MANY = 256


@dataclass(frozen=True)
class Mode:
    """A mode as the bench sees it.

    Attributes
    ----------
    name : as in `twofishkit.testing.peers.MODES`
    iv_bytes : length of the IV, nonce or tweak
    ours : (key, iv, buffer, decrypt) -> a call that processes the buffer as one message, in place
    both_ways : whether decryption is worth a row of its own
    keys : how many Twofish keys a key has
    peers : whether peers have the task too
    """

    name: str
    iv_bytes: int
    ours: Callable[[bytes, bytes, Buffer, bool], Call]
    both_ways: bool = True
    keys: int = 1
    peers: bool = True


def _without_iv(key: bytes, iv: bytes, buffer: Buffer, decrypt: bool) -> Call:
    mode = tk.ECB(key)
    method = mode.decrypt if decrypt else mode.encrypt
    return lambda: method(buffer, out=buffer)


def _with_iv(name: str) -> Callable[[bytes, bytes, Buffer, bool], Call]:
    def ours(key: bytes, iv: bytes, buffer: Buffer, decrypt: bool) -> Call:
        mode: Any = getattr(tk, name)(key, iv)
        method = mode.decrypt if decrypt else mode.encrypt
        return lambda: method(buffer, out=buffer)

    return ours


def _many(name: str) -> Callable[[bytes, bytes, Buffer, bool], Call]:
    def ours(key: bytes, iv: bytes, buffer: Buffer, decrypt: bool) -> Call:
        mode: Any = getattr(tk, name)(key, iv)
        messages = buffer.reshape(math.gcd(MANY, buffer.size // 16), -1)
        ivs = np.arange(messages.shape[0] * 16, dtype=np.uint32).astype(np.uint8).reshape(-1, 16)
        return lambda: mode.encrypt_many(ivs, messages, out=messages)

    return ours


def _xts(key: bytes, iv: bytes, buffer: Buffer, decrypt: bool) -> Call:
    mode = tk.XTS(key)
    method = mode.decrypt if decrypt else mode.encrypt
    return lambda: method(buffer, iv, out=buffer)


def _aead(name: str) -> Callable[[bytes, bytes, Buffer, bool], Call]:
    def ours(key: bytes, iv: bytes, buffer: Buffer, decrypt: bool) -> Call:
        mode: Any = getattr(tk, name)(key)
        if not decrypt:
            return lambda: mode.encrypt_detached(iv, buffer, out=buffer)
        ciphertext, tag = mode.encrypt_detached(iv, buffer)
        return lambda: mode.decrypt_detached(iv, ciphertext, tag, out=buffer)

    return ours


def _cmac(key: bytes, iv: bytes, buffer: Buffer, decrypt: bool) -> Call:
    cipher = tk.Twofish(key)
    return lambda: tk.CMAC(cipher).update(buffer).digest()


MODES = (
    Mode("ecb", 0, _without_iv),
    Mode("cbc", 16, _with_iv("CBC")),
    Mode("cfb", 16, _with_iv("CFB")),
    Mode("cfb8", 16, _with_iv("CFB8")),
    Mode("ofb", 16, _with_iv("OFB"), both_ways=False),
    Mode("ctr", 16, _with_iv("CTR"), both_ways=False),
    Mode("xts", 16, _xts, keys=2),
    Mode("gcm", 12, _aead("GCM")),
    Mode("ocb", 12, _aead("OCB")),
    Mode("eax", 16, _aead("EAX")),
    Mode("ccm", 12, _aead("CCM")),
    Mode("siv", 16, _aead("SIV"), keys=2),
    Mode("cmac", 0, _cmac, both_ways=False),
    Mode("cbc many", 16, _many("CBC"), both_ways=False, peers=False),
    Mode("cfb many", 16, _many("CFB"), both_ways=False, peers=False),
    Mode("ofb many", 16, _many("OFB"), both_ways=False, peers=False),
)
_AEADS = ("gcm", "ocb", "eax", "ccm", "siv")


def scratch(size: int) -> Buffer:
    """An aligned buffer with something in it."""
    memory = np.empty(size + 64, np.uint8)
    offset = -memory.ctypes.data % 64
    buffer = memory[offset : offset + size]
    buffer[:] = np.arange(size, dtype=np.uint32).astype(np.uint8)
    return buffer


def key_of(bits: int, keys: int = 1) -> bytes:
    """A fixed key (or two different keys joined)."""
    return bytes(7 * i % 251 for i in range(keys * bits // 8))


def groups(
    names: Sequence[str], key_bits: Sequence[int], sizes: Sequence[int], backends: Sequence[str]
) -> Iterator[Group]:
    """One group a mode, direction, key size and message size."""
    for mode in MODES:
        if mode.name.split()[0] not in names:
            continue
        for decrypt in (False, True) if mode.both_ways else (False,):
            for bits in key_bits:
                for size in sizes:
                    yield _group(mode, decrypt, bits, size, backends)


def _group(mode: Mode, decrypt: bool, bits: int, size: int, backends: Sequence[str]) -> Group:
    operation = mode.name if mode.name == "cmac" else f"{mode.name} {'dec' if decrypt else 'enc'}"
    cases = [_our_case(mode, decrypt, bits, name) for name in backends]
    if mode.peers and not (decrypt and mode.name in _AEADS):
        cases += [_peer_case(mode, decrypt, bits, peer) for peer in find() if peer.supports(mode.name, bits)]
    if mode.name == "gcm" and not decrypt and bits in (128, 256):
        cases += [
            Case(
                f"AES, {each.name} {each.version}",
                False,
                lambda size, each=each: each.bulk_aes_gcm(key_of(bits), scratch(size)),  # type: ignore[misc]
            )
            for each in find_yardsticks()
        ]
    return Group("modes", operation, bits, size, tuple(cases))


def _our_case(mode: Mode, decrypt: bool, bits: int, name: str) -> Case:
    def prepare(size: int) -> Call:
        return mode.ours(key_of(bits, mode.keys), key_of(8 * mode.iv_bytes), scratch(size), decrypt)

    return Case(name, True, prepare, lambda: backend.use(name, threads=1))


def _peer_case(mode: Mode, decrypt: bool, bits: int, peer: Peer) -> Case:
    key, iv = key_of(bits, mode.keys), key_of(8 * mode.iv_bytes)

    def prepare(size: int) -> Call:
        buffer = scratch(size)
        call = peer.bulk(mode.name, key, iv, buffer, decrypt=decrypt)

        def keeping_buffer() -> object:
            call()
            return buffer

        return keeping_buffer

    return Case(f"{peer.name} {peer.version}", False, prepare)
