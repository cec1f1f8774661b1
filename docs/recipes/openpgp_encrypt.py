"""Make an OpenPGP message with Twofish-256, for a password; gpg -d reads it.

    python openpgp_encrypt.py letter --output letter.gpg

Format: a packet that tells how the password becomes the key (SHA-256, iterated and salted); a data packet in
CFB with IV 0: 16 random bytes, the last two again, the message as a literal packet, the SHA-1 of all that.
Exit codes: 0 done, 1 file not readable or writable, 2 misuse.

Source: RFC 4880, sections 3.7.1.3, 5.3, 5.9, 5.13, 5.14. Needs: twofishkit.
"""

import argparse
import getpass
import hashlib
import secrets
import sys
from pathlib import Path

import twofishkit as tk

TWOFISH, SHA256, ITERATED = 10, 8, 3
#: 65,011,712 bytes go through the hash, which is the most that the format can say, and gpg's own choice.
COUNT_CODE, COUNT = 0xFF, (16 + 15) << 21


def packet(tag: int, body: bytes) -> bytes:
    """A packet in the new format, with a length of four bytes."""
    return bytes((0xC0 | tag, 255)) + len(body).to_bytes(4) + body


def stretch(password: bytes, salt: bytes) -> bytes:
    """SHA-256 of salt and password, repeated up to COUNT bytes."""
    text = (salt + password) * (1 << 16)
    digest = hashlib.sha256()
    for at in range(0, COUNT, len(text)):
        digest.update(text[: COUNT - at])
    return digest.digest()


def encrypt(contents: bytes, password: bytes) -> bytes:
    """The message: two packets."""
    salt, random = secrets.token_bytes(8), secrets.token_bytes(16)
    literal = packet(11, b"b\0" + bytes(4) + contents)
    plaintext = random + random[-2:] + literal + b"\xd3\x14"
    plaintext += hashlib.sha1(plaintext).digest()
    ciphertext = tk.CFB(stretch(password, salt), bytes(16)).encrypt(plaintext)
    specifier = bytes((4, TWOFISH, ITERATED, SHA256)) + salt + bytes((COUNT_CODE,))
    return packet(3, specifier) + packet(18, b"\1" + ciphertext)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="openpgp_encrypt", description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--password-file", type=Path, help="its first line; asked for without")
    parser.add_argument("--output", type=Path, required=True, help="where to write the message")
    args = parser.parse_args(arguments)
    try:
        contents = args.file.read_bytes()
        text = args.password_file.read_text("utf-8") if args.password_file else getpass.getpass("password: ")
        args.output.write_bytes(encrypt(contents, text.split("\n")[0].encode()))
    except (OSError, UnicodeError) as error:
        print(f"openpgp_encrypt: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
