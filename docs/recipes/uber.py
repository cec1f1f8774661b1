"""Bouncy Castle UBER keystores: list what is in them, or export one certificate or key.

    python uber.py list store.uber
    python uber.py export store.uber --alias mykey --entry-password-file pw2.txt --output mykey.der

Format: the PKCS#12 key derivation (SHA-1) makes key and IV of the password; Twofish-256 in CBC with PKCS#7
padding; inside, the entries and a SHA-1 of them. A private key is sealed once more, with triple DES under
the password of the entry.
Exit codes: 0 done, 1 file not readable or writable, 2 misuse, 3 wrong password, 4 wrong format, 5 damaged.
The format has no separate test of the password: a wrong one and altered contents look the same.

Source: RFC 7292, appendix B; the files of Bouncy Castle's BcUberStore. Needs: twofishkit, cryptography.
"""

import argparse
import getpass
import hashlib
import hmac
import sys
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, modes

import twofishkit as tk

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
KINDS = {1: "certificate", 2: "key", 3: "secret", 4: "sealed key"}
MOST_ITERATIONS = 1 << 21
KEY_KINDS = ("private key", "public key", "secret key")


class Refused(Exception):
    """The keystore is not opened; says why, and carries the exit code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Reader:
    """Java's DataInput: big-endian numbers, and strings and byte arrays with their length before them."""

    def __init__(self, data: bytes, damage: str) -> None:
        self.data, self.at, self.damage = data, 0, damage

    def take(self, n: int) -> bytes:
        if self.at + n > len(self.data):
            raise Refused(DAMAGED, self.damage)
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self, n: int = 4) -> int:
        return int.from_bytes(self.take(n), "big")

    def array(self) -> bytes:
        return self.take(self.number())

    def text(self) -> str:
        return self.take(self.number(2)).decode("utf-8", "replace")


def pkcs12_kdf(purpose: int, password: str, salt: bytes, iterations: int, n: int) -> bytes:
    """n bytes for a key (purpose 1) or IV (2) from a password. Source: RFC 7292, B.2, with SHA-1."""
    secret = password.encode("utf-16-be") + b"\0\0" if password else b""
    block = b"".join(repeat(part) for part in (salt, secret))
    result = b""
    while len(result) < n:
        digest = hashlib.sha1(bytes([purpose]) * 64 + block).digest()
        for _ in range(iterations - 1):
            digest = hashlib.sha1(digest).digest()
        result += digest
        step = int.from_bytes((digest * 4)[:64], "big") + 1
        numbers = (int.from_bytes(block[at : at + 64], "big") + step for at in range(0, len(block), 64))
        block = b"".join((number % (1 << 512)).to_bytes(64, "big") for number in numbers)
    return result[:n]


def repeat(part: bytes) -> bytes:
    """A string repeated to whole blocks of 64 bytes."""
    n = -(-len(part) // 64) * 64
    return (part * n)[:n]


def open_store(data: bytes, password: str) -> list[dict]:
    """Decrypt and verify a keystore; its entries."""
    if data[:4] not in (b"\0\0\0\1", b"\0\0\0\2") or not 0 < int.from_bytes(data[4:8], "big") <= 1024:
        raise Refused(WRONG_FORMAT, "this is not a UBER keystore: it begins with no version and salt")
    outer = Reader(data[4:], "the keystore is cut off")
    salt, iterations = outer.array(), outer.number()
    sealed = outer.data[outer.at :]
    if iterations > MOST_ITERATIONS:
        raise Refused(DAMAGED, f"the keystore states {iterations} iterations, more than anybody waits for")
    if not sealed or len(sealed) % 16:
        raise Refused(DAMAGED, "the keystore is cut off")
    key, iv = (pkcs12_kdf(i, password, salt, iterations, n) for i, n in ((1, 32), (2, 16)))
    try:
        plaintext = tk.CBC(key, iv).decrypt(sealed, padding="pkcs7")
    except tk.InvalidPadding:
        plaintext = b""
    if not hmac.compare_digest(hashlib.sha1(plaintext[:-20]).digest(), plaintext[-20:]):
        raise Refused(WRONG_PASSWORD, "the password is wrong, or the keystore altered: its hash does not fit")
    return list(entries(Reader(plaintext[:-20], "an entry of the keystore is cut off")))


def entries(reader: Reader):
    """Entries as dictionaries, up to the end mark."""
    while kind := reader.number(1):
        entry = {"kind": kind, "alias": reader.text(), "date": reader.number(8)}
        entry["chain"] = [(reader.text(), reader.array()) for _ in range(reader.number())]
        if kind == 1:
            entry["what"], entry["data"] = reader.text(), reader.array()
        elif kind == 2:
            entry |= read_key(reader)
        elif kind in (3, 4):
            entry["what"], entry["data"] = "", reader.array()
        else:
            raise Refused(DAMAGED, f"the keystore has an entry of unknown kind {kind}")
        yield entry


def read_key(reader: Reader) -> dict:
    kind, encoding, algorithm = reader.number(1), reader.text(), reader.text()
    what = KEY_KINDS[kind] if kind < len(KEY_KINDS) else "key"
    return {"what": f"{algorithm} {what}, {encoding}", "data": reader.array()}


def unseal(data: bytes, password: str) -> dict:
    """The key in a sealed entry."""
    reader = Reader(data, "the sealed key is cut off")
    salt, iterations = reader.array(), reader.number()
    sealed = data[reader.at :]
    if not sealed or len(sealed) % 8:
        raise Refused(DAMAGED, reader.damage)
    key, iv = (pkcs12_kdf(i, password, salt, iterations, n) for i, n in ((1, 24), (2, 8)))
    plaintext = Cipher(TripleDES(key), modes.CBC(iv)).decryptor().update(sealed)
    padding = plaintext[-1:] * plaintext[-1]
    if not 1 <= len(padding) <= 8 or not plaintext.endswith(padding):
        raise Refused(WRONG_PASSWORD, "the password of the entry is wrong")
    return read_key(Reader(plaintext[: -len(padding)], "the password of the entry is wrong"))


def first_line(file: Path | None, question: str) -> str:
    return file.read_text("utf-8").split("\n")[0] if file else getpass.getpass(question)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="uber", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["list", "export"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--password-file", type=Path, help="its first line; asked for without")
    parser.add_argument("--alias", help="export: which entry")
    parser.add_argument("--entry-password-file", type=Path, help="export: the password of a sealed key")
    parser.add_argument("--output", type=Path, help="export: where to write the entry's encoding (DER)")
    args = parser.parse_args(arguments)
    if args.command == "export" and not (args.alias and args.output):
        parser.error("export needs --alias and --output")
    try:
        found = open_store(args.file.read_bytes(), first_line(args.password_file, "password: "))
        if args.command == "list":
            for entry in found:
                date = datetime.fromtimestamp(entry["date"] / 1000, UTC).date()
                kind = f"{KINDS[entry['kind']]}, {len(entry['chain'])} certificates"
                print("\t".join((entry["alias"], kind, entry["what"], str(date))))
            return 0
        (entry,) = [entry for entry in found if entry["alias"] == args.alias] or [None]
        if entry is None:
            parser.error(f"there is no entry {args.alias}; list shows those there are")
        if entry["kind"] == 4:
            entry = unseal(entry["data"], first_line(args.entry_password_file, "password of the entry: "))
        args.output.write_bytes(entry["data"])
    except (Refused, OSError, UnicodeError) as reason:
        print(f"uber: {reason}", file=sys.stderr)
        return getattr(reason, "code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
