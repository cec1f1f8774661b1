"""A reader of sealed files that was written from docs/format.md alone: nothing of twofishkit.sealed.

Twofish-256-GCM comes from another library where this machine has one, and else from the reference,
which shares no code with the kernels.
"""

import hashlib
import hmac
import json
import math
import struct
import unicodedata

import numpy as np

from twofishkit.reference.authenticated import gcm_decrypt
from twofishkit.reference.block import expand_key
from twofishkit.testing import peers


def open_gcm(key, nonce, sealed):
    ciphertext, tag = sealed[:-16], sealed[-16:]
    for peer in peers.find():
        if peer.supports("gcm", 256):
            return peer.decrypt("gcm", key, nonce, ciphertext, b"", tag)
    return gcm_decrypt(expand_key(key), nonce, ciphertext, tag)


def read_header(data):
    magic, version, kind, h = struct.unpack_from("<8sHHI", data)
    assert (magic, version) == (b"\x89TFK\r\n\x1a\n", 1)
    (payload,) = struct.unpack_from("<Q", data, 16)
    source, cost, order, d = data[24:28]
    t, m = struct.unpack_from("<II", data, 44)
    assert h == 52 + 8 * d + t + m
    return {
        "raw": data[:h],
        "kind": kind,
        "payload": payload,
        "source": source,
        "cost": cost,
        "order": "CF"[order],
        "salt": data[28:44],
        "shape": struct.unpack_from(f"<{d}Q", data, 52),
        "dtype": json.loads(data[52 + 8 * d : 52 + 8 * d + t]) if t else None,
        "metadata": json.loads(data[h - m : h]) if m else {},
    }


def input_key(header, key, passphrase):
    if header["source"] == 0:
        return key
    text = unicodedata.normalize("NFC", passphrase).encode("utf-8")
    n = 2 ** header["cost"]
    return hashlib.scrypt(text, salt=header["salt"], n=n, r=8, p=1, dklen=32, maxmem=1 << 29)


def expand(prk, info):
    first = hmac.digest(prk, info + b"\x01", "sha512")
    return (first + hmac.digest(prk, first + info + b"\x02", "sha512"))[:76]


def open_message(key, salt, commitment, context, chunks):
    """The message in ``chunks``."""
    label = b"c2sp.org/chunked-encryption@v1+" + b"twofishkit/AEAD_TWOFISH_256_GCM" + b"\0"
    material = expand(key, label + salt + context)
    assert material[44:] == commitment
    message = b""
    for k in range(len(chunks) // 16400 + 1):
        number = k.to_bytes(12, "big")
        nonce = bytes(a ^ b for a, b in zip(material[32:44], number, strict=True))
        message += open_gcm(material[:32], nonce, chunks[16400 * k : 16400 * (k + 1)])
    return message


def to_dtype(descriptor):
    if isinstance(descriptor, str):
        return np.dtype(descriptor)
    names, formats, titles, offsets, end = [], [], [], [], 0
    for name, inner, *shape in descriptor:
        field = np.dtype((to_dtype(inner), tuple(shape[0]))) if shape else to_dtype(inner)
        if name:
            title, name = name if isinstance(name, list) else (None, name)
            names.append(name)
            titles.append(title)
            formats.append(field)
            offsets.append(end)
        end += field.itemsize
    return np.dtype(
        {"names": names, "formats": formats, "offsets": offsets, "titles": titles, "itemsize": end}
    )


def content(header, message):
    if header["kind"] == 0:
        return message
    dtype = to_dtype(header["dtype"])
    shape = list(header["shape"])
    if header["payload"] == 2**64 - 1:
        shape[0] = len(message) // (dtype.itemsize * math.prod(shape[1:]))
    return np.frombuffer(message, dtype).reshape(shape, order=header["order"])


def read(data, key=None, passphrase=None):
    """Bytes, an array, or a dict of such for an archive."""
    header = read_header(data)
    h = len(header["raw"])
    secret = input_key(header, key, passphrase)
    salt, commitment, chunks = data[h : h + 24], data[h + 24 : h + 56], data[h + 56 :]
    if header["kind"] != 2:
        return content(header, open_message(secret, salt, commitment, header["raw"], chunks))
    end = sealed_length(header["payload"])
    directory = open_message(secret, salt, commitment, header["raw"], chunks[:end])
    assert len(directory) == header["payload"]
    found = {}
    (count,) = struct.unpack_from("<I", directory)
    at = 4
    for _ in range(count):
        (n,) = struct.unpack_from("<H", directory, at)
        name = directory[at + 2 : at + 2 + n]
        member = read_header(directory[at + 2 + n :])
        prefix = at + 2 + n + len(member["raw"])
        context = header["raw"] + salt + n.to_bytes(2, "little") + name + member["raw"]
        start, end = end, end + sealed_length(member["payload"])
        message = open_message(
            secret,
            directory[prefix : prefix + 24],
            directory[prefix + 24 : prefix + 56],
            context,
            chunks[start:end],
        )
        found[name.decode()] = content(member, message)
        at = prefix + 56
    assert at == len(directory)
    assert end == len(chunks)
    return found


def sealed_length(n):
    return n + 16 * (n // 16384 + 1)
