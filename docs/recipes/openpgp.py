"""OpenPGP messages with Twofish (gpg -c, PGP): decrypt them with a password or a session key.

    python openpgp.py letter.gpg --output letter
    python openpgp.py letter.gpg --session-key 10:0123..ef --output letter    (gpg --show-session-key)

openpgp_encrypt.py is the other way round.

Format: a packet tells how the password becomes a key; the data packet is CFB with IV 0 that begins with 16
random bytes, the last two of them repeated. Newer ones end with a SHA-1 of all that (MDC); older ones start
CFB anew after the 18 bytes (resync) and are protected by nothing: --allow-unprotected opens them.
Exit codes: 0 done, 1 file not readable or writable, 2 misuse, 3 wrong password, 4 wrong format, 5 damaged.

Source: RFC 4880 (and RFC 9580), sections 3.7, 4.2, 5.3, 5.7, 5.13, 13.9. Needs: twofishkit.
"""

import argparse
import base64
import bz2
import getpass
import hashlib
import hmac
import re
import sys
import zlib
from pathlib import Path

import twofishkit as tk

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
TWOFISH, ZERO_IV = 10, bytes(16)
HASHES = {1: "md5", 2: "sha1", 3: "ripemd160", 8: "sha256", 9: "sha384", 10: "sha512", 11: "sha224"}
ARMOUR = rb"-----BEGIN PGP MESSAGE-----.*?\r?\n\r?\n(.*?)\r?\n(=....\r?\n)?-----END"
SPECIFIERS = {0: 2, 1: 10, 3: 11}
INFLATE = {0: bytes, 1: lambda d: zlib.decompress(d, -15), 2: zlib.decompress, 3: bz2.decompress}


class Refused(Exception):
    """The file is not opened; says why, and carries the exit code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def body_length(head: int, data: bytes) -> tuple[int, int, bool]:
    """From what follows the first byte of a packet: length of the body, bytes that state it, more parts?"""
    if not head & 0x40:  # old format: two bits give the size of the length; 3 is the rest of the file
        size = (1, 2, 4, 0)[head & 3]
        return int.from_bytes(data[:size]) if size else len(data), size, False
    first = int.from_bytes(data[:1])
    if first < 192:
        return first, 1, False
    if first < 224:
        return (first - 192 << 8) + int.from_bytes(data[1:2]) + 192, 2, False
    return (1 << (first & 31), 1, True) if first < 255 else (int.from_bytes(data[1:5]), 5, False)


def packets(data: bytes):
    """Each packet as (tag, body), its parts joined if it came in parts."""
    data = memoryview(data)
    while data:
        head, data, body, more = data[0], data[1:], [], True
        if not head & 0x80:
            raise Refused(WRONG_FORMAT, "this is not an OpenPGP message")
        while more:
            n, size, more = body_length(head, data)
            if size + n > len(data):
                raise Refused(DAMAGED, "the file is cut off")
            body.append(data[size : size + n])
            data = data[size + n :]
        yield (head & 63 if head & 0x40 else head >> 2 & 15), b"".join(body)


def stretch(password: bytes, specifier: bytes, n: int = 32) -> bytes:
    """The key of n bytes that a string-to-key specifier makes of a password."""
    kind, name = specifier[0], HASHES.get(specifier[1])
    if len(specifier) != SPECIFIERS.get(kind) or name not in hashlib.algorithms_available:
        raise Refused(WRONG_FORMAT, "the password is stretched in a way that is not supported here")
    text = specifier[2:10] * (kind > 0) + password
    count = len(text)
    if kind == 3:  # up to 65 MB
        count = max(count, 16 + (specifier[10] & 15) << (specifier[10] >> 4) + 6)
    hashed = (text * -(-count // max(len(text), 1)))[:count]
    digests = (hashlib.new(name, bytes(zeros) + hashed).digest() for zeros in range(n))
    key = b""
    while len(key) < n:
        key += next(digests)
    return key[:n]


def session_keys(message: list, password: bytes):
    """The keys that a password gives, one for each packet that takes passwords."""
    for tag, body in message:
        if tag == 3 and body[:1] == b"\4" and len(body) >= 4:
            size = SPECIFIERS.get(body[2], 2)
            key = stretch(password, body[2 : 2 + size])
            cipher, sealed = body[1], body[2 + size :]
            if sealed and cipher == TWOFISH:
                cipher, *key = tk.CFB(key, ZERO_IV).decrypt(sealed)
            if cipher == TWOFISH and len(key) == 32:
                yield bytes(key)


def decrypt_data(tag: int, body: bytes, key: bytes) -> bytes | None:
    """The packets within, verified if the packet allows; None if the key is certainly wrong."""
    if tag == 9:
        prefix = tk.CFB(key, ZERO_IV).decrypt(body[:18])
        return tk.CFB(key, body[2:18]).decrypt(body[18:]) if prefix[14:16] == prefix[16:18] else None
    plaintext = tk.CFB(key, ZERO_IV).decrypt(memoryview(body)[1:])
    if plaintext[14:16] != plaintext[16:18]:
        return None
    digest = hashlib.sha1(memoryview(plaintext)[:-20]).digest()
    if plaintext[-22:-20] != b"\xd3\x14" or not hmac.compare_digest(digest, plaintext[-20:]):
        raise Refused(DAMAGED, "the message was altered (or the password is wrong): its MDC does not fit")
    return plaintext[18:-22]


def literal(data: bytes) -> bytes:
    """The contents of the literal packet, out of compressed packets and past signatures."""
    for tag, body in packets(data):
        if tag == 11 and len(body) >= 6:
            return body[body[1] + 6 :]
        if tag == 8:
            try:
                return literal(INFLATE[body[0]](body[1:]))
            except (LookupError, OSError, ValueError, zlib.error) as error:
                raise Refused(DAMAGED, f"the compressed data is damaged: {error}") from None
    raise Refused(DAMAGED, "there is no message in the decrypted data")


def decrypt(data: bytes, password: bytes, session_key: bytes = b"", allow_unprotected: bool = False) -> bytes:
    """The message, by its session key if that is given, and else by a password."""
    if armour := re.search(ARMOUR, data, re.S):
        try:
            data = base64.b64decode(armour[1])
        except ValueError:
            raise Refused(DAMAGED, "the text between BEGIN and END is cut off") from None
    message = list(packets(data))
    tag, body = next((packet for packet in message if packet[0] in (9, 18)), (0, b""))
    if tag == 0 or (tag == 18 and body[:1] != b"\1"):
        raise Refused(WRONG_FORMAT, "there is no encrypted data of a kind known here in this file")
    if tag == 9 and not allow_unprotected:
        raise Refused(WRONG_FORMAT, "the message has no integrity protection; see --allow-unprotected")
    if len(body) < (18 if tag == 9 else 41):
        raise Refused(DAMAGED, "the file is cut off")
    for key in [session_key] if session_key else session_keys(message, password):
        if (plaintext := decrypt_data(tag, body, key)) is not None:
            return literal(plaintext)
    raise Refused(WRONG_PASSWORD, "the password is wrong, or the message is not encrypted with Twofish")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="openpgp", description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--password-file", type=Path, help="its first line; asked for without")
    parser.add_argument("--session-key", metavar="10:HEX", help="as gpg --show-session-key prints it")
    parser.add_argument("--allow-unprotected", action="store_true", help="messages without MDC too")
    parser.add_argument("--output", type=Path, required=True, help="where to write the result")
    args = parser.parse_args(arguments)
    if args.session_key and not re.fullmatch("10:[0-9A-Fa-f]{64}", args.session_key):
        parser.error("--session-key is 10: (Twofish) and 64 hexadecimal digits")
    try:
        data, text, key = args.file.read_bytes(), "", bytes.fromhex((args.session_key or "")[3:])
        if not key:
            text = args.password_file.read_text("utf-8") if args.password_file else getpass.getpass()
        password = text.split("\n")[0].encode()
        args.output.write_bytes(decrypt(data, password, key, args.allow_unprotected))
    except (Refused, OSError, UnicodeError) as reason:
        print(f"openpgp: {reason}", file=sys.stderr)
        return getattr(reason, "code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
