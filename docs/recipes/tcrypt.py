"""TrueCrypt and VeraCrypt volumes with Twofish, alone or in a cascade: open headers, decrypt sectors.

    python tcrypt.py info volume.hc
    python tcrypt.py decrypt volume.hc --output plain.img                     (hidden volumes: --hidden)

The order of a cascade: "aes-twofish-serpent" was encrypted with Serpent first and AES last, each in XTS with
keys of its own over the whole sector; so the first one named is undone first. Its keys are the *last* of the
key material: of n ciphers, number i of the name has data key n-1-i and tweak key n-1-i of the second half.
Format: 64 bytes of salt, then 448 encrypted ones: TRUE or VERA, sizes, and from 192 on the volume's keys. A
hidden volume has its header at 65536; with TrueCrypt 5 1536 bytes before the end of the file.
Exit codes: 0 done, 1 file not readable or writable, 2 misuse, 3 wrong password, 4 wrong format, 5 damaged.

TrueCrypt 4 and older: see tcrypt_old.py. Not opened: volumes with keyfiles, system partitions, Argon2id.
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
from collections import namedtuple
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import twofishkit as tk

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
HEADER_BYTES, HIDDEN_AT, OLD_HIDDEN_FROM_END, SECTOR, PIECE = 512, 65536, 1536, 512, 1 << 22
CASCADES = ("twofish", "aes-twofish", "twofish-serpent", "aes-twofish-serpent", "serpent-twofish-aes")
#: Magic, hash, iterations: what volumes use, the quick ones first. A PIM stands for 15000 + 1000 PIM.
KDFS = (
    (b"TRUE", "ripemd160", 2000), (b"TRUE", "sha512", 1000), (b"TRUE", "whirlpool", 1000),
    (b"VERA", "sha512", 500_000), (b"VERA", "sha256", 500_000), (b"VERA", "blake2s", 500_000),
    (b"VERA", "whirlpool", 500_000), (b"VERA", "ripemd160", 655_331),
)  # fmt: skip
LIBGCRYPT = ctypes.util.find_library("gcrypt")
Volume = namedtuple("Volume", "cascade kdf version keys hidden_bytes size data_at data_bytes")


class Refused(Exception):
    """The volume is not opened; says why, and carries the exit code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def derive(hash_name: str, password: bytes, salt: bytes, iterations: int) -> bytes:
    """The keys of a header; none if there is no such hash here."""
    try:
        return hashlib.pbkdf2_hmac(hash_name, password, salt, iterations, 192)
    except ValueError:  # OpenSSL has it no more
        if hash_name != "ripemd160":
            return b""
    from Cryptodome.Hash import RIPEMD160
    from Cryptodome.Protocol.KDF import PBKDF2

    return PBKDF2(password, salt, 192, iterations, hmac_hash_module=RIPEMD160)


def undo_serpent(key: bytes, data: bytes, unit: int, unit_bytes: int) -> bytes:
    """Serpent-256 in XTS undone, by libgcrypt, unit by unit in place."""
    gcrypt, handle = ctypes.CDLL(LIBGCRYPT), ctypes.c_void_p()
    buffer, n = ctypes.create_string_buffer(data, len(data)), ctypes.c_size_t(unit_bytes)
    gcrypt.gcry_check_version(None)
    failed = gcrypt.gcry_cipher_open(ctypes.byref(handle), 306, 13, 0)  # SERPENT256, XTS
    failed = failed or gcrypt.gcry_cipher_setkey(handle, key, ctypes.c_size_t(len(key)))
    for i in range(len(data) // unit_bytes):
        tweak, place = (unit + i).to_bytes(16, "little"), ctypes.byref(buffer, i * unit_bytes)
        failed = failed or gcrypt.gcry_cipher_setiv(handle, tweak, ctypes.c_size_t(16))
        failed = failed or gcrypt.gcry_cipher_decrypt(handle, place, n, None, ctypes.c_size_t(0))
    gcrypt.gcry_cipher_close(handle)
    if failed:
        raise Refused(WRONG_FORMAT, "libgcrypt cannot decrypt Serpent in XTS")
    return buffer.raw


def undo_aes(key: bytes, data: bytes, unit: int, unit_bytes: int) -> bytes:
    """AES-256 in XTS undone, unit by unit."""
    pieces = enumerate((data[at : at + unit_bytes] for at in range(0, len(data), unit_bytes)), unit)
    units = ((modes.XTS(i.to_bytes(16, "little")), piece) for i, piece in pieces)
    return b"".join(Cipher(algorithms.AES(key), xts).decryptor().update(piece) for xts, piece in units)


def decrypt(cascade: str, keys: bytes, data: bytes, unit: int, unit_bytes: int = SECTOR) -> bytes:
    """Decrypt whole data units; the first is number unit (that of a sector counts from the file's start)."""
    names = cascade.split("-")
    for i, name in enumerate(names):
        slot = 32 * (len(names) - 1 - i)
        key = keys[slot : slot + 32] + keys[32 * len(names) + slot :][:32]
        if name == "twofish":
            data = tk.XTS(key).decrypt(data, unit, sector_size=unit_bytes)
        else:
            data = (undo_aes if name == "aes" else undo_serpent)(key, data, unit, unit_bytes)
    return data


def open_header(header: bytes, password: bytes, kdfs=KDFS) -> Volume | None:
    """Try all hashes and cascades until a header makes sense; its checksums are then verified."""
    for magic, hash_name, iterations in kdfs:
        keys = derive(hash_name, password, header[:64], iterations)
        for cascade in (name for name in CASCADES if keys and (LIBGCRYPT or "serpent" not in name)):
            plain = decrypt(cascade, keys, header[64:], 0, 448)
            if plain[:4] != magic:
                continue
            version, keys_crc = struct.unpack_from(">H2xI", plain, 4)
            checksums = zlib.crc32(plain[:188]) == int.from_bytes(plain[188:192]) or version < 4
            if zlib.crc32(plain[192:]) != keys_crc or not checksums:
                raise Refused(DAMAGED, "the header is damaged: a checksum does not fit")
            return Volume(cascade, hash_name, version, plain[192:], *struct.unpack_from(">QQQQ", plain, 28))
    return None


def open_volume(file, password: bytes, hidden: bool, pim: int) -> tuple[Volume, int, int]:
    """A volume, and where in the file its data begins and ends."""
    size = file.seek(0, os.SEEK_END)
    kdfs = [(m, name, 15_000 + 1000 * pim) for m, name, _ in KDFS if m == b"VERA"] if pim else KDFS
    places = [(HIDDEN_AT, kdfs), (size - OLD_HIDDEN_FROM_END, KDFS[:3])] if hidden else [(0, kdfs)]
    if size < places[-1][0] + HEADER_BYTES or places[-1][0] < 0:
        raise Refused(DAMAGED, "the file is cut off: a volume header has 512 bytes")
    for at, kdfs in places:
        file.seek(at)
        header = file.read(HEADER_BYTES)
        if len(header) == HEADER_BYTES and (volume := open_header(header, password, kdfs)):
            start, length = volume.data_at, volume.data_bytes
            if volume.version < 4:  # before backup headers, data began right after the header
                start, length = start or HEADER_BYTES, length or volume.size
                if hidden:
                    start, length = at - volume.hidden_bytes, volume.hidden_bytes
            return volume, start, start + length
    lacking = "" if LIBGCRYPT else " (Serpent needs libgcrypt, which is not installed)"
    raise Refused(WRONG_PASSWORD, f"the password is wrong, or this is no volume known here{lacking}")


def write_contents(cascade: str, keys: bytes, file, start: int, end: int, output: Path) -> None:
    """Decrypt all sectors; the file takes its name when it is whole."""
    file.seek(start)
    partial = output.with_name(output.name + ".partial")
    try:
        with open(partial, "wb") as target:
            for at in range(start, end, PIECE):
                target.write(decrypt(cascade, keys, file.read(min(PIECE, end - at)), at // SECTOR))
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tcrypt", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["info", "decrypt"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--password-file", type=Path, help="its first line; asked for without")
    parser.add_argument("--pim", type=int, default=0, help="the volume's PIM (VeraCrypt), if it has one")
    parser.add_argument("--hidden", action="store_true", help="the hidden volume in the file")
    parser.add_argument("--output", type=Path, help="decrypt: where to write the contents")
    args = parser.parse_args(arguments)
    if args.command == "decrypt" and not args.output:
        parser.error("decrypt needs --output")
    try:
        with open(args.file, "rb") as file:
            text = args.password_file.read_text("utf-8") if args.password_file else getpass.getpass()
            volume, start, end = open_volume(file, text.split("\n")[0].encode(), args.hidden, args.pim)
            if start % SECTOR or end % SECTOR or not 0 < start < end <= file.seek(0, os.SEEK_END):
                raise Refused(DAMAGED, f"the file is cut off: the header states data up to byte {end}")
            if args.command == "decrypt":
                write_contents(volume.cascade, volume.keys, file, start, end, args.output)
            else:
                print(f"{args.file}: {volume.cascade}, {volume.kdf}, {end - start} bytes from {start}")
    except (Refused, OSError, UnicodeError) as reason:
        print(f"tcrypt: {reason}", file=sys.stderr)
        return getattr(reason, "code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
