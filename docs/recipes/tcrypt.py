"""TrueCrypt and VeraCrypt volumes with Twofish, alone or in a cascade: open headers, decrypt sectors.

    python tcrypt.py info volume.hc
    python tcrypt.py decrypt volume.hc --output plain.img                     (hidden volumes: --hidden)

The order of a cascade: "aes-twofish-serpent" was encrypted with Serpent first and AES last, each in XTS with
keys of its own over the whole sector; so the first one named is undone first. Its keys are the *last* of the
key material: of n ciphers, number i of the name has data key n-1-i and tweak key n-1-i of the second half.
Format: 64 bytes of salt, then 448 encrypted ones: TRUE or VERA, sizes, and from 192 on the volume's keys.
Exit codes: 0 done, 1 file not readable or writable, 2 misuse, 3 wrong password, 4 wrong format, 5 damaged.

Headers of TrueCrypt 4 (LRW) and before (CBC) open, too; their sectors are not decrypted here.
Source: VeraCrypt's documentation, Volume Format Specification. Needs: twofishkit, cryptography, pycryptodomex
(RIPEMD-160 where OpenSSL has none), and for Serpent the library libgcrypt.
"""

import argparse
import ctypes
import ctypes.util
import getpass
import hashlib
import os
import struct
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import twofishkit as tk

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
HEADER_BYTES, HIDDEN_AT, SECTOR, PIECE = 512, 65536, 512, 1 << 22
CASCADES = ("twofish", "aes-twofish", "twofish-serpent", "aes-twofish-serpent", "serpent-twofish-aes")
#: Magic, hash, iterations: what volumes use, the quick ones first.
KDFS = (
    (b"TRUE", "ripemd160", 2000), (b"TRUE", "sha512", 1000), (b"TRUE", "whirlpool", 1000),
    (b"VERA", "sha512", 500_000), (b"VERA", "sha256", 500_000), (b"VERA", "ripemd160", 655_331),
)  # fmt: skip


class Refused(Exception):
    """The volume is not opened; says why, and carries the exit code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def derive(hash_name: str, password: bytes, salt: bytes, iterations: int) -> bytes:
    try:
        return hashlib.pbkdf2_hmac(hash_name, password, salt, iterations, 192)
    except ValueError:  # OpenSSL has it no more
        if hash_name != "ripemd160":
            return b""
    from Cryptodome.Hash import RIPEMD160
    from Cryptodome.Protocol.KDF import PBKDF2

    return PBKDF2(password, salt, 192, iterations, hmac_hash_module=RIPEMD160)


def serpent_xts(key: bytes, data: bytes, unit: int) -> bytes:
    """Undo Serpent-256 in XTS for one data unit, by libgcrypt."""
    name = ctypes.util.find_library("gcrypt")
    if not name:
        raise Refused(
            WRONG_FORMAT, "cascades with Serpent need the library libgcrypt, which is not installed"
        )
    gcrypt, handle, out = ctypes.CDLL(name), ctypes.c_void_p(), ctypes.create_string_buffer(len(data))
    gcrypt.gcry_check_version(None)
    gcrypt.gcry_cipher_open(ctypes.byref(handle), 306, 13, 0)  # SERPENT256, XTS
    try:
        failed = gcrypt.gcry_cipher_setkey(handle, key, ctypes.c_size_t(len(key)))
        failed = failed or gcrypt.gcry_cipher_setiv(handle, unit.to_bytes(16, "little"), ctypes.c_size_t(16))
        n = ctypes.c_size_t(len(data))
        if failed or gcrypt.gcry_cipher_decrypt(handle, out, n, data, n):
            raise Refused(WRONG_FORMAT, "libgcrypt cannot decrypt Serpent in XTS")
    finally:
        gcrypt.gcry_cipher_close(handle)
    return out.raw


def undo(cipher: str, key: bytes, data: bytes, unit: int, unit_bytes: int) -> bytes:
    """Undo one cipher of a cascade over consecutive data units of unit_bytes each."""
    if cipher == "twofish":
        return tk.XTS(key).decrypt(data, unit, sector_size=unit_bytes)
    pieces = []
    for i, at in enumerate(range(0, len(data), unit_bytes)):
        piece = data[at : at + unit_bytes]
        if cipher == "serpent":
            pieces.append(serpent_xts(key, piece, unit + i))
        else:
            mode = modes.XTS((unit + i).to_bytes(16, "little"))
            pieces.append(Cipher(algorithms.AES(key), mode).decryptor().update(piece))
    return b"".join(pieces)


@dataclass(frozen=True)
class Volume:
    """An opened volume: what it is, its keys, and where its data is."""

    cascade: str
    kdf: str
    keys: bytes
    version: int
    size: int
    data_at: int
    data_bytes: int

    def decrypt(self, data: bytes, unit: int, unit_bytes: int = SECTOR) -> bytes:
        """Decrypt whole units; the first is number unit, counted from the start of the file."""
        if "(" in self.cascade:
            raise Refused(WRONG_FORMAT, f"sectors of {self.cascade} are not decrypted here")
        names = self.cascade.split("-")
        for i, name in enumerate(names):
            slot = 32 * (len(names) - 1 - i)
            key = self.keys[slot : slot + 32] + self.keys[32 * len(names) + slot :][:32]
            data = undo(name, key, data, unit, unit_bytes)
        return data


def old_modes(dk: bytes, body: bytes):
    """What a header is under CBC and LRW, the modes before XTS."""
    whitened = (np.frombuffer(body, np.uint8).reshape(-1, 8) ^ np.frombuffer(dk[8:16], np.uint8)).tobytes()
    yield "twofish (CBC)", tk.CBC(dk[32:64], dk[:16]).decrypt(whitened)
    masks, tweak = [], int.from_bytes(dk[:16])
    for index in range(1, 29):  # T = tweak . index in GF(2^128)
        product = 0
        for bit in reversed(range(5)):
            product = (
                (product << 1) ^ (product >> 127) * ((1 << 128) | 0x87) ^ (tweak if index >> bit & 1 else 0)
            )
        masks.append(product.to_bytes(16))
    mask = b"".join(masks)
    yield "twofish (LRW)", tk.xor(tk.ECB(dk[32:64]).decrypt(tk.xor(body, mask)), mask)


def open_header(header: bytes, password: bytes) -> Volume:
    """Try all hashes and cascades until a header makes sense; its checksums are then verified."""
    if len(header) < HEADER_BYTES:
        raise Refused(DAMAGED, "the file is cut off: a volume header has 512 bytes")
    salt, body = header[:64], header[64:512]
    for magic, hash_name, iterations in KDFS:
        dk = derive(hash_name, password, salt, iterations)
        tries = [(name, Volume(name, "", dk, 0, 0, 0, 0).decrypt(body, 0, 448)) for name in CASCADES if dk]
        tries += old_modes(dk, body) if magic == b"TRUE" and dk else []
        for name, plain in tries:
            if plain[:4] != magic:
                continue
            version, keys_crc = struct.unpack_from(">H2xI", plain, 4)
            if zlib.crc32(plain[192:448]) != keys_crc:
                raise Refused(DAMAGED, "the header is damaged: the checksum of its keys does not fit")
            if version >= 4 and zlib.crc32(plain[:188]) != struct.unpack_from(">I", plain, 188)[0]:
                raise Refused(DAMAGED, "the header is damaged: its own checksum does not fit")
            size, start, length = struct.unpack_from(">QQQ", plain, 36)
            if version < 4 and not start:  # before backup headers, data began right after the header
                start, length = HEADER_BYTES, size
            return Volume(name, hash_name, plain[192:448], version, size, start, length)
    raise Refused(WRONG_PASSWORD, "the password is wrong, or this is no volume with Twofish known here")


def write_contents(volume: Volume, file, end: int, output: Path) -> None:
    """Decrypt all sectors; the file takes its name when it is whole."""
    file.seek(volume.data_at)
    partial = output.with_name(output.name + ".partial")
    try:
        with open(partial, "wb") as target:
            for at in range(volume.data_at, end, PIECE):
                target.write(volume.decrypt(file.read(min(PIECE, end - at)), at // SECTOR))
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tcrypt", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["info", "decrypt"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--password-file", type=Path, help="its first line; asked for without")
    parser.add_argument("--hidden", action="store_true", help="the hidden volume, whose header is at 65536")
    parser.add_argument("--output", type=Path, help="decrypt: where to write the contents")
    args = parser.parse_args(arguments)
    if args.command == "decrypt" and not args.output:
        parser.error("decrypt needs --output")
    try:
        with open(args.file, "rb") as file:
            file.seek(HIDDEN_AT if args.hidden else 0)
            header = file.read(HEADER_BYTES)
            text = (
                args.password_file.read_text("utf-8") if args.password_file else getpass.getpass("password: ")
            )
            volume = open_header(header, text.split("\n")[0].encode())
            if args.command == "info":
                print(f"{args.file}: {volume.cascade}, {volume.kdf}, header version {volume.version},"
                      f" {volume.data_bytes} bytes of data from {volume.data_at}")  # fmt: skip
                return 0
            if args.hidden and volume.version < 4:
                raise Refused(WRONG_FORMAT, "hidden volumes of TrueCrypt 5 are not decrypted here")
            end = volume.data_at + volume.data_bytes
            if volume.data_bytes % SECTOR or file.seek(0, os.SEEK_END) < end:
                raise Refused(DAMAGED, f"the file is cut off: the header states data up to byte {end}")
            write_contents(volume, file, end, args.output)
    except Refused as reason:
        print(f"tcrypt: {args.file}: {reason}", file=sys.stderr)
        return reason.code
    except OSError as error:
        print(f"tcrypt: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
