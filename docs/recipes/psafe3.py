"""Password Safe, version 3 (.psafe3): verify a safe, list it without secrets, or export it as JSON.

    python psafe3.py verify my.psafe3
    python psafe3.py list my.psafe3 --password-file pw.txt
    python psafe3.py export my.psafe3 --output my.json

Format: the password is stretched with SHA-256; Twofish-256 in ECB under that key unwraps the record key K
and the MAC key L; the records are Twofish-256 in CBC under K; HMAC-SHA-256 under L covers their contents.
Exit codes: 0 done, 1 file not readable or writable, 2 misuse, 3 wrong password, 4 wrong format, 5 damaged.

Source: formatV3.txt of the Password Safe project. Needs: twofishkit.
"""

import argparse
import getpass
import hashlib
import hmac
import json
import struct
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path

import twofishkit as tk

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
HEADER_BYTES, EOF_MARK, END_OF_ENTRY, MOST_ITERATIONS = 152, b"PWS3-EOFPWS3-EOF", 0xFF, 1 << 24
FIELDS = {
    0x01: "uuid", 0x02: "group", 0x03: "title", 0x04: "user", 0x05: "notes", 0x06: "password",
    0x07: "created", 0x08: "password modified", 0x09: "accessed", 0x0A: "expires", 0x0C: "modified",
    0x0D: "url", 0x0E: "autotype", 0x0F: "password history", 0x10: "password policy", 0x14: "email",
}  # fmt: skip
WITHOUT_SECRETS = ("group", "title", "user", "url")


class Refused(Exception):
    """The file is not opened; says why, and carries the exit code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def open_safe(data: bytes, password: str) -> tuple[dict[int, bytes], list[dict[int, bytes]]]:
    """Verify and decrypt a safe: the fields of its header, and those of each entry, by type."""
    if data[:4] != b"PWS3":
        raise Refused(WRONG_FORMAT, "this is not a Password Safe V3 file: it does not begin with PWS3")
    if len(data) < HEADER_BYTES + 16 + 32:
        raise Refused(DAMAGED, f"the file is cut off: {len(data)} bytes are too few for any safe")
    salt, iterations, check = struct.unpack_from("<32sI32s", data, 4)
    if iterations > MOST_ITERATIONS:
        raise Refused(DAMAGED, f"the header states {iterations} iterations, more than anybody waits for")
    stretched = hashlib.sha256(password.encode() + salt).digest()
    for _ in range(iterations):
        stretched = hashlib.sha256(stretched).digest()
    if not hmac.compare_digest(hashlib.sha256(stretched).digest(), check):
        raise Refused(WRONG_PASSWORD, "the password is wrong")
    end = data.find(EOF_MARK, HEADER_BYTES)
    if end < 0 or (end - HEADER_BYTES) % 16 or len(data) < end + 16 + 32:
        raise Refused(DAMAGED, "the file is cut off: its end marker is missing")
    keys = tk.ECB(stretched).decrypt(data[72:136])
    plaintext = tk.CBC(keys[:32], data[136:152]).decrypt(data[HEADER_BYTES:end])
    fields = list(split(plaintext))
    mac = hmac.new(keys[32:], b"".join(value for _, value in fields), "sha256").digest()
    if not hmac.compare_digest(mac, data[end + 16 : end + 48]):
        raise Refused(DAMAGED, "the file was altered or damaged: its HMAC does not fit its contents")
    parts: list[dict[int, bytes]] = [{}]
    for kind, value in fields:
        if kind == END_OF_ENTRY:
            parts.append({})
        else:
            parts[-1][kind] = value
    return parts[0], parts[1:-1]


def split(plaintext: bytes):
    """Fields as (type, value): a length, a type, the value, and padding up to whole blocks."""
    at = 0
    while at < len(plaintext):
        length, kind = struct.unpack_from("<IB", plaintext, at)
        if at + 5 + length > len(plaintext):
            raise Refused(DAMAGED, "the file was altered or damaged: a field is longer than the file")
        yield kind, plaintext[at + 5 : at + 5 + length]
        at += -(-(5 + length) // 16) * 16


def readable(kind: int, value: bytes) -> str:
    """A field as text: UUIDs, times and strings by their type, anything else in hexadecimal."""
    if kind == 0x01 and len(value) == 16:
        return str(uuid.UUID(bytes=value))
    if kind in (0x07, 0x08, 0x09, 0x0A, 0x0C) and len(value) in (4, 5):
        return datetime.fromtimestamp(int.from_bytes(value, "little"), UTC).isoformat()
    try:
        return value.decode() if kind in FIELDS else value.hex()
    except UnicodeDecodeError:
        return value.hex()


def named(entry: dict[int, bytes]) -> dict[str, str]:
    return {FIELDS.get(kind, f"field {kind:#04x}"): readable(kind, value) for kind, value in entry.items()}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="psafe3", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["verify", "list", "export"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--password-file", type=Path, help="its first line; asked for without")
    parser.add_argument("--output", type=Path, help="export: where to write, instead of standard output")
    args = parser.parse_args(arguments)
    try:
        data = args.file.read_bytes()
        text = args.password_file.read_text("utf-8") if args.password_file else getpass.getpass()
        header, entries = open_safe(data, text.split("\n")[0])
        if args.command == "verify":
            version = header.get(0, b"")  # some programs leave it out
            stated = f"{version[1]}.{version[0]:02}" if len(version) >= 2 else "not stated"
            print(f"{args.file}: intact; {len(entries)} entries, format version {stated}")
        elif args.command == "list":
            for entry in map(named, entries):
                print("\t".join(entry.get(name, "") for name in WITHOUT_SECRETS))
        else:
            text = json.dumps([named(entry) for entry in entries], indent=2, ensure_ascii=False) + "\n"
            args.output.write_text(text, "utf-8") if args.output else sys.stdout.write(text)
    except (Refused, OSError, UnicodeError) as reason:
        print(f"psafe3: {reason}", file=sys.stderr)
        return getattr(reason, "code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
