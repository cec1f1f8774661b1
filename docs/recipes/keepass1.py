"""KeePass 1 databases (.kdb) with Twofish: list the entries without secrets, or export them as JSON.

    python keepass1.py list passwords.kdb
    python keepass1.py export passwords.kdb --output plain.json

Format: a header of 124 bytes; SHA-256 of the password, encrypted many times with AES, hashed and joined with
a seed, gives the key; groups and entries are Twofish-256 in CBC with PKCS#7 padding, and the header has
their SHA-256.
Exit codes: 0 done, 1 file not readable or writable, 2 misuse, 3 wrong password, 4 wrong format, 5 damaged.
The format has no separate test of the password: a wrong one and altered contents look the same.

Source: the description of the format in KeePass 1.x (PwStructs). Needs: twofishkit, cryptography.
"""

import argparse
import getpass
import hashlib
import hmac
import json
import struct
import sys
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import twofishkit as tk

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
HEADER_BYTES, END, TWOFISH_FLAG, MOST_ROUNDS = 124, 0xFFFF, 8, 1 << 27
GROUP_FIELDS = {1: "id", 2: "title"}
ENTRY_FIELDS = {2: "group", 4: "title", 5: "url", 6: "user", 7: "password", 8: "notes"}
WITHOUT_SECRETS = ("group", "title", "user", "url")


class Refused(Exception):
    """The database is not opened; says why, and carries the exit code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def transform(password: bytes, seed: bytes, rounds: int) -> bytes:
    """SHA-256 of the password, both halves encrypted with AES rounds times, and hashed."""
    key = hashlib.sha256(password).digest()
    halves = b""
    for half in (key[:16], key[16:]):
        # CBC of zeros is repeated encryption: each block is the encryption of the one before.
        encryptor = Cipher(algorithms.AES(seed), modes.CBC(half)).encryptor()
        for left in range(rounds, 0, -65536):
            half = encryptor.update(bytes(16 * min(left, 65536)))[-16:]
        halves += half
    return hashlib.sha256(halves).digest()


def open_database(data: bytes, password: str) -> list[dict[str, str]]:
    """Decrypt and verify a database; its entries, with the titles of their groups."""
    if data[:8] != b"\x03\xd9\xa2\x9a\x65\xfb\x4b\xb5":
        raise Refused(WRONG_FORMAT, "this is not a KeePass 1 database: its signature is missing")
    if len(data) < HEADER_BYTES + 16 or (len(data) - HEADER_BYTES) % 16:
        raise Refused(DAMAGED, "the database is cut off")
    flags, _, seed, iv, groups, entries, digest, seed2, rounds = struct.unpack_from(
        "<II16s16sII32s32sI", data, 8
    )
    if not flags & TWOFISH_FLAG:
        raise Refused(WRONG_FORMAT, "the database is not encrypted with Twofish")
    if rounds > MOST_ROUNDS:
        raise Refused(DAMAGED, f"the header states {rounds} rounds, more than anybody waits for")
    key = hashlib.sha256(seed + transform(password.encode("cp1252", "replace"), seed2, rounds)).digest()
    try:
        plaintext = tk.CBC(key, iv).decrypt(data[HEADER_BYTES:], padding="pkcs7")
    except tk.InvalidPadding:
        plaintext = b""
    if not hmac.compare_digest(hashlib.sha256(plaintext).digest(), digest):
        raise Refused(
            WRONG_PASSWORD, "the password is wrong, or the database was altered: its hash does not fit"
        )
    found = list(split(plaintext))
    if sum(kind == END for kind, _ in found) != groups + entries:
        raise Refused(DAMAGED, "the header was altered: it states other numbers of groups and entries")
    fields = iter(found)
    titles = {group["id"]: group["title"] for group in records(fields, groups, GROUP_FIELDS)}
    listed = records(fields, entries, ENTRY_FIELDS)
    return [entry | {"group": titles.get(entry["group"], "")} for entry in listed]


def split(plaintext: bytes):
    """Fields as (type, value)."""
    at = 0
    while at < len(plaintext):
        kind, length = struct.unpack_from("<HI", plaintext, at)
        yield kind, plaintext[at + 6 : at + 6 + length]
        at += 6 + length


def records(fields, count: int, names: dict[int, str]):
    """The next count records, each up to an end mark: text as text, four bytes of an id as a number."""
    for _ in range(count):
        record = dict.fromkeys(names.values(), "")
        for kind, value in fields:
            if kind == END:
                break
            if kind in names:
                number = names[kind] in ("id", "group")
                record[names[kind]] = (
                    str(int.from_bytes(value, "little"))
                    if number
                    else value.rstrip(b"\0").decode("utf-8", "replace")
                )
        yield record


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="keepass1", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["list", "export"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--password-file", type=Path, help="its first line; asked for without")
    parser.add_argument("--output", type=Path, help="export: where to write, instead of standard output")
    args = parser.parse_args(arguments)
    try:
        data = args.file.read_bytes()
        text = args.password_file.read_text("utf-8") if args.password_file else getpass.getpass("password: ")
        entries = open_database(data, text.split("\n")[0])
        if args.command == "list":
            for entry in entries:
                print("\t".join(entry[name] for name in WITHOUT_SECRETS))
        else:
            result = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
            args.output.write_text(result, "utf-8") if args.output else sys.stdout.write(result)
    except (Refused, OSError, UnicodeError) as reason:
        print(f"keepass1: {reason}", file=sys.stderr)
        return getattr(reason, "code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
