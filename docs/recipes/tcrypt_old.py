"""TrueCrypt volumes of versions 2 to 4 with Twofish, alone or in a cascade: open headers, decrypt sectors.

    python tcrypt_old.py info volume.tc
    python tcrypt_old.py decrypt volume.tc --output plain.img                 (hidden volumes: --hidden)

Newer volumes are in XTS: see tcrypt.py. Here a cascade is one block cipher: "aes-twofish" is AES of Twofish
of a block, so the first one named is undone first; of n ciphers, number i has the key at 32 + 32 (n - 1 - i).
LRW (TrueCrypt 4.1 to 4.3): block number i, from 1, is masked with T.i in GF(2^128) before and after; T is
the first 16 bytes of the keys. CBC (before that): a sector has an IV and 8 bytes of whitening, made of its
number and the first 32 bytes of the keys. Sectors of cascades in CBC are refused: there were none to test.
Format: 64 bytes of salt, then 448 encrypted ones: TRUE, sizes, and from 192 on the volume's keys. A hidden
volume has its header 1536 bytes before the end of the file, and its sectors right before that.
Exit codes: 0 done, 1 file not readable or writable, 2 misuse, 3 wrong password, 4 wrong format, 5 damaged.

Source: dm-crypt's description of its mode tcw, drafts of IEEE P1619 (LRW), and cryptsetup's test images.
Needs: twofishkit, numpy, pycryptodomex, and for Serpent the library libgcrypt.
"""

import argparse
import ctypes
import ctypes.util
import getpass
import os
import sys
import zlib
from collections import namedtuple
from pathlib import Path

import numpy as np
from Cryptodome.Cipher import AES
from Cryptodome.Hash import RIPEMD160, SHA1
from Cryptodome.Protocol.KDF import PBKDF2

import twofishkit as tk

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
HEADER_BYTES, HIDDEN_FROM_END, SECTOR, PIECE = 512, 1536, 512, 1 << 22
CASCADES = ("twofish", "aes-twofish", "twofish-serpent", "aes-twofish-serpent", "serpent-twofish-aes")
LIBGCRYPT = ctypes.util.find_library("gcrypt")
Volume = namedtuple("Volume", "mode cascade kdf header keys")


class Refused(Exception):
    """The volume is not opened; says why, and carries the exit code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def undo_serpent(key: bytes, data: bytes) -> bytes:
    """Serpent-256 undone on each block, by libgcrypt."""
    gcrypt, handle, out = ctypes.CDLL(LIBGCRYPT), ctypes.c_void_p(), ctypes.create_string_buffer(len(data))
    n = ctypes.c_size_t(len(data))
    gcrypt.gcry_check_version(None)
    failed = gcrypt.gcry_cipher_open(ctypes.byref(handle), 306, 1, 0)  # SERPENT256, ECB
    failed = failed or gcrypt.gcry_cipher_setkey(handle, key, ctypes.c_size_t(32))
    failed = failed or gcrypt.gcry_cipher_decrypt(handle, out, n, data, n)
    gcrypt.gcry_cipher_close(handle)
    if failed:
        raise Refused(WRONG_FORMAT, "libgcrypt cannot decrypt Serpent")
    return out.raw


UNDO = {
    "twofish": lambda key, data: tk.ECB(key).decrypt(data),
    "aes": lambda key, data: AES.new(key, AES.MODE_ECB).decrypt(data),
    "serpent": undo_serpent,
}


def undo_blocks(cascade: str, keys: bytes, data: bytes) -> np.ndarray:
    """All ciphers of a cascade undone, on each block of data."""
    names = cascade.split("-")
    for i, name in enumerate(names):
        data = UNDO[name](keys[32 * (len(names) - i) :][:32], data)
    return np.frombuffer(data, np.uint8)


def undo_lrw(cascade: str, keys: bytes, data: bytes, first_block: int) -> bytes:
    """P_i = D(C_i ^ T.i) ^ T.i; the products come from tables for 16 bits each of the number i."""
    product, numbers = int.from_bytes(keys[:16]), np.arange(first_block, first_block + len(data) // 16)
    masks = np.zeros((len(numbers), 16), np.uint8)
    for _ in range(3):
        table = np.zeros((1, 16), np.uint8)
        for _ in range(16):
            table = np.concatenate((table, table ^ np.frombuffer(product.to_bytes(16), np.uint8)))
            product = product << 1 ^ (product >> 127) * (1 << 128 | 0x87)
        masks ^= table[numbers & 0xFFFF]
        numbers >>= 16
    masked = undo_blocks(cascade, keys, tk.xor(data, masks.ravel()))
    return tk.xor(masked, masks.ravel()).tobytes()


def undo_cbc(cascade: str, keys: bytes, data: bytes, ivs: np.ndarray, whitening: np.ndarray) -> bytes:
    """P_i = D(C_i) ^ C_i-1, with C whitened: a row of ivs (16 bytes) and whitening (8) for each sector."""
    words = np.frombuffer(data, np.uint8).reshape(len(ivs), -1, 8)
    sectors = (words ^ whitening[:, None]).reshape(len(ivs), -1)
    plain = undo_blocks(cascade, keys, sectors.tobytes()).reshape(sectors.shape)
    return (plain ^ np.hstack((ivs, sectors[:, :-16]))).tobytes()


def decrypt(volume: Volume, data: bytes, sector: int) -> bytes:
    """Whole sectors; the first of them is number sector of the volume, from 0."""
    if volume.mode == "LRW":
        return undo_lrw(volume.cascade, volume.keys, data, 32 * sector + 1)
    if volume.cascade != "twofish":
        raise Refused(WRONG_FORMAT, f"sectors of {volume.cascade} in CBC are not decrypted here")
    # The header counts as one. Whitening: CRCs of the last four words of a seed, folded to two.
    numbers = np.arange(sector + 1, sector + 1 + len(data) // SECTOR, dtype="<u8")[:, None]
    seeds = (np.frombuffer(volume.keys[:32], "<u8") ^ numbers).view(np.uint8)
    crcs = np.array([[zlib.crc32(row[at : at + 4]) for at in (16, 20, 24, 28)] for row in seeds], "<u4")
    whitening = (crcs[:, :2] ^ crcs[:, :1:-1]).view(np.uint8)
    return undo_cbc(volume.cascade, volume.keys, data, seeds[:, :16], whitening)


def open_header(header: bytes, password: bytes) -> Volume:
    """Try both hashes, both modes and all cascades until a header makes sense; its keys are then verified."""
    for kdf in (RIPEMD160, SHA1):
        keys = PBKDF2(password, header[:64], 128, 2000, hmac_hash_module=kdf)
        iv = np.frombuffer(keys[:16], np.uint8)[None]
        for cascade in (name for name in CASCADES if LIBGCRYPT or "serpent" not in name):
            lrw = undo_lrw(cascade, keys, header[64:], 1)
            cbc = undo_cbc(cascade, keys, header[64:], iv, iv[:, 8:])
            for mode, plain in (("LRW", lrw), ("CBC", cbc)):
                if plain[:4] == b"TRUE":
                    if zlib.crc32(plain[192:]) != int.from_bytes(plain[8:12]):
                        raise Refused(DAMAGED, "the header is damaged: the checksum of its keys does not fit")
                    return Volume(mode, cascade, kdf.__name__.split(".")[-1], plain, plain[192:])
    lacking = "" if LIBGCRYPT else " (Serpent needs libgcrypt, which is not installed)"
    raise Refused(WRONG_PASSWORD, f"the password is wrong, or this is no volume known here{lacking}")


def write_contents(volume: Volume, file, start: int, end: int, output: Path) -> None:
    """Decrypt all sectors; the file takes its name when it is whole."""
    file.seek(start)
    partial = output.with_name(output.name + ".partial")
    try:
        with open(partial, "wb") as target:
            for at in range(start, end, PIECE):
                target.write(decrypt(volume, file.read(min(PIECE, end - at)), (at - start) // SECTOR))
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tcrypt_old", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["info", "decrypt"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--password-file", type=Path, help="its first line; asked for without")
    parser.add_argument("--hidden", action="store_true", help="the hidden volume at the end of the file")
    parser.add_argument("--output", type=Path, help="decrypt: where to write the contents")
    args = parser.parse_args(arguments)
    if args.command == "decrypt" and not args.output:
        parser.error("decrypt needs --output")
    try:
        with open(args.file, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            if size < (HIDDEN_FROM_END if args.hidden else HEADER_BYTES) or size % SECTOR:
                raise Refused(DAMAGED, "the file is cut off: a volume has a header and whole sectors")
            at = file.seek(size - HIDDEN_FROM_END if args.hidden else 0)
            header = file.read(HEADER_BYTES)
            text = args.password_file.read_text("utf-8") if args.password_file else getpass.getpass()
            volume = open_header(header, text.split("\n")[0].encode())
            start = at - int.from_bytes(volume.header[28:36]) if args.hidden else HEADER_BYTES
            end = at if args.hidden else size
            if not 0 < start < end or start % SECTOR:
                raise Refused(DAMAGED, "the file is cut off: its sectors are not in it")
            if args.command == "decrypt":
                write_contents(volume, file, start, end, args.output)
            else:
                what = f"{volume.cascade} in {volume.mode}, {volume.kdf}"
                print(f"{args.file}: {what}, {end - start} bytes from {start}")
    except (Refused, OSError, UnicodeError) as reason:
        print(f"tcrypt_old: {reason}", file=sys.stderr)
        return getattr(reason, "code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
