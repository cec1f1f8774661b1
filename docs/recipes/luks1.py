"""LUKS1 volumes with Twofish: test a passphrase, or decrypt the payload to a file.

    python luks1.py check disk.img
    python luks1.py decrypt disk.img --output plain.img
    python luks1.py decrypt disk.img --master-key mk.bin --output plain.img    (luksDump --dump-master-key)

Format: a header of 592 bytes with eight key slots; a slot's passphrase decrypts its key material, whose 4000
stripes are merged to the master key; the payload is cut into sectors of 512 bytes, each under an IV made
from its number: xts-plain64, cbc-plain64 or cbc-essiv:HASH (and plain, which counts 32 bits).
Exit codes: 0 done, 1 file not readable or writable, 2 misuse, 3 wrong password, 4 wrong format, 5 damaged.
LUKS1 protects no contents: altered sectors decrypt to garbage and nobody notices.

Source: LUKS On-Disk Format Specification 1.2.3. Needs: twofishkit, numpy.
"""

import argparse
import getpass
import hashlib
import hmac
import os
import struct
import sys
from pathlib import Path

import numpy as np

import twofishkit as tk

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
SECTOR, HEADER_BYTES, SLOT_ACTIVE, PIECE = 512, 592, 0x00AC71F3, 1 << 24
MOST_ITERATIONS, MOST_STRIPES = 1 << 28, 1 << 16


class Refused(Exception):
    """The volume is not opened; says why, and carries the exit code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Header:
    """The header of a volume, checked."""

    def __init__(self, data: bytes) -> None:
        if data[:8] != b"LUKS\xba\xbe\0\1":
            raise Refused(WRONG_FORMAT, "this is not a LUKS1 volume: no LUKS and version 1 at its beginning")
        if len(data) < HEADER_BYTES:
            raise Refused(DAMAGED, "the volume is cut off in its header")
        cipher, mode, hash_name = (data[at : at + 32].rstrip(b"\0").decode("latin-1") for at in (8, 40, 72))
        self.payload_sector, self.key_bytes = struct.unpack_from(">II", data, 104)
        self.digest, self.digest_salt, self.digest_iterations = struct.unpack_from(">20s32sI", data, 112)
        slots = [struct.unpack_from(">II32sII", data, 208 + 48 * i) for i in range(8)]
        self.slots = [slot[1:] for slot in slots if slot[0] == SLOT_ACTIVE]
        self.chaining, _, self.iv_rule = mode.partition("-")
        self.hash = hash_name.lower()
        iv_hash = self.iv_rule.removeprefix("essiv:") if self.iv_rule.startswith("essiv:") else "sha1"
        known = self.iv_rule in ("plain", "plain64") or self.iv_rule.startswith("essiv:")
        if cipher != "twofish" or self.chaining not in ("xts", "cbc") or not known:
            raise Refused(
                WRONG_FORMAT, f"the volume is encrypted with {f'{cipher}-{mode}'!a:.40}, not supported here"
            )
        if not {self.hash, iv_hash} <= hashlib.algorithms_available:
            raise Refused(WRONG_FORMAT, f"this Python has no hash {self.hash!a:.40} or {iv_hash!a:.40}")
        if not all(
            0 < n <= MOST_ITERATIONS for n in (self.digest_iterations, *(slot[0] for slot in self.slots))
        ):
            raise Refused(DAMAGED, "the header states no iterations, or more than anybody waits for")
        if not all(0 < slot[3] <= MOST_STRIPES for slot in self.slots):
            raise Refused(DAMAGED, "the header states an impossible number of stripes")
        if self.key_bytes not in ((32, 48, 64) if self.chaining == "xts" else (16, 24, 32)):
            raise Refused(DAMAGED, f"the header states a key of {self.key_bytes} bytes, which is impossible")

    def is_master_key(self, key: bytes) -> bool:
        derived = hashlib.pbkdf2_hmac(self.hash, key, self.digest_salt, self.digest_iterations, 20)
        return len(key) == self.key_bytes and hmac.compare_digest(derived, self.digest)

    def decrypt(self, key: bytes, data, first_sector: int) -> np.ndarray:
        """Sectors from a number on, counted as the IVs are: from the start of the payload or the slot."""
        sectors = np.frombuffer(data, np.uint8).reshape(-1, SECTOR)
        if self.chaining == "xts":
            return tk.XTS(key).decrypt(sectors, first_sector, sector_size=SECTOR)
        numbers = np.zeros((len(sectors), 2), "<u8")
        numbers[:, 0] = np.arange(first_sector, first_sector + len(sectors), dtype=np.uint64)
        if self.iv_rule == "plain":
            numbers[:, 0] &= np.uint64(0xFFFFFFFF)
        ivs = numbers.view(np.uint8)
        if self.iv_rule.startswith("essiv:"):
            ivs = tk.Twofish(hashlib.new(self.iv_rule[6:], key).digest()).encrypt_blocks(ivs)
        return tk.CBC(key).decrypt_many(ivs, sectors)


def merge(header: Header, material: bytes, stripes: int) -> bytes:
    """Undo the anti-forensic split: XOR of all stripes, diffused by the hash between any two."""
    n, digest_bytes = header.key_bytes, hashlib.new(header.hash).digest_size
    state = bytes(n)
    for i in range(stripes):
        state = tk.xor(state, material[i * n : (i + 1) * n])
        if i < stripes - 1:
            parts = enumerate(state[at : at + digest_bytes] for at in range(0, n, digest_bytes))
            state = b"".join(hashlib.new(header.hash, j.to_bytes(4) + p).digest()[: len(p)] for j, p in parts)
    return state


def find_master_key(header: Header, file, passphrase: bytes) -> bytes:
    """The master key, from the first slot that the passphrase opens."""
    for iterations, salt, sector, stripes in header.slots:
        size = -(-stripes * header.key_bytes // SECTOR) * SECTOR
        file.seek(sector * SECTOR)
        material = file.read(size)
        if len(material) < size:
            raise Refused(DAMAGED, "the volume is cut off in its key material")
        key = hashlib.pbkdf2_hmac(header.hash, passphrase, salt, iterations, header.key_bytes)
        candidate = merge(header, header.decrypt(key, material, 0).tobytes(), stripes)
        if header.is_master_key(candidate):
            return candidate
    raise Refused(WRONG_PASSWORD, "no key slot opens with this passphrase")


def decrypt_payload(header: Header, key: bytes, file, output: Path) -> None:
    """Write the payload; a new file takes the name of output when it is whole."""
    start = header.payload_sector * SECTOR
    if not start:
        raise Refused(WRONG_FORMAT, "the file is a detached header, without the payload")
    size = file.seek(0, os.SEEK_END) - start
    if size <= 0 or size % SECTOR:
        raise Refused(DAMAGED, "the volume is cut off: its payload is not whole sectors")
    file.seek(start)
    partial = output.with_name(output.name + ".partial")
    try:
        with open(partial, "wb") as target:
            for at in range(0, size, PIECE):
                target.write(header.decrypt(key, file.read(PIECE), at // SECTOR).data)
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="luks1", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["check", "decrypt"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--password-file", type=Path, help="its first line; asked for without")
    parser.add_argument("--master-key", type=Path, help="a file with the master key, instead of a passphrase")
    parser.add_argument("--output", type=Path, help="decrypt: where to write the payload")
    args = parser.parse_args(arguments)
    if args.command == "decrypt" and not args.output:
        parser.error("decrypt needs --output")
    try:
        with open(args.file, "rb") as file:
            header = Header(file.read(HEADER_BYTES))
            if args.master_key:
                key = args.master_key.read_bytes()
                if not header.is_master_key(key):
                    raise Refused(WRONG_PASSWORD, "this is not the volume's master key")
            else:
                text = args.password_file.read_text("utf-8") if args.password_file else getpass.getpass()
                key = find_master_key(header, file, text.split("\n")[0].encode())
            if args.command == "decrypt":
                decrypt_payload(header, key, file, args.output)
            else:
                print(
                    f"{args.file}: opens; twofish-{header.chaining}-{header.iv_rule}, {8 * len(key)}-bit key"
                )
    except (Refused, OSError, UnicodeError) as reason:
        print(f"luks1: {reason}", file=sys.stderr)
        return getattr(reason, "code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
