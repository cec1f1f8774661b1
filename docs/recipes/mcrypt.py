"""Files of the program mcrypt (.nc) with Twofish: decrypt them.

    python mcrypt.py letter.nc --output letter            asks for the password, or the key in hexadecimal

Format: a header that names the mode, how the key was made (mcrypt-sha1, hex, asis), a salt and a hash; an IV;
the encrypted file, followed inside by that hash of it (ECB and CBC: and padding). mcrypt's names are its own:
ncfb and nofb are CFB and OFB with whole blocks, cfb is CFB with segments of 8 bits.
Exit codes: 0 done, 1 file not readable or writable, 2 misuse, 3 wrong password, 4 wrong format, 5 damaged.
mcrypt has no separate test of the password: a wrong one and altered contents are told apart by nothing.

Source: the files of mcrypt 2.6.8 and the documentation of mhash (keygen). Needs: twofishkit.
"""

import argparse
import getpass
import hashlib
import hmac
import sys
from dataclasses import dataclass
from pathlib import Path

import twofishkit as tk

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
MODES = {"cbc": tk.CBC, "ncfb": tk.CFB, "cfb": tk.CFB8, "nofb": tk.OFB, "ctr": tk.CTR}
HASHES = ("sha1", "md5", "sha256", "sha224", "sha384", "sha512")


class Refused(Exception):
    """The file is not opened; says why, and carries the exit code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True)
class Header:
    key_bytes: int
    mode: str
    key_mode: str
    salt: bytes
    hash: str
    body_at: int


def read_header(data: bytes) -> Header:
    """The header, checked."""
    if data[:3] != b"\0m\3":
        raise Refused(WRONG_FORMAT, "this is not a file of mcrypt: it does not begin with 00 6d 03")
    at = 4

    def text() -> str:
        nonlocal at
        end = data.find(b"\0", at)
        if end < 0:
            raise Refused(DAMAGED, "the file is cut off in its header")
        start, at = at, end + 1
        return data[start:end].decode("latin-1")

    if (algorithm := text()) != "twofish":
        raise Refused(WRONG_FORMAT, f"the file is encrypted with {algorithm!a:.40}, and not with twofish")
    key_bytes = int.from_bytes(data[at : at + 2], "little")
    at += 2
    mode, key_mode = text(), text()
    salt = b""
    if data[at : at + 1] and data[at] & 1:  # one more than the salt's length: always odd
        salt = data[at + 1 : at + data[at]]
        at += len(salt)
    at += 1
    hash_name = text()
    if mode not in MODES and mode != "ecb":
        raise Refused(WRONG_FORMAT, f"the file's mode is {mode!a:.40}, which is not supported here")
    if hash_name not in HASHES or key_bytes not in (16, 24, 32):
        raise Refused(WRONG_FORMAT, f"unsupported: hash {hash_name!a:.40}, key of {key_bytes} bytes")
    return Header(key_bytes, mode, key_mode, salt, hash_name, at)


def make_key(header: Header, password: str) -> bytes:
    """The key, as the file says it was made from the password."""
    n, secret = header.key_bytes, password.encode()
    if header.key_mode == "hex":
        try:
            return bytes.fromhex(password).ljust(n, b"\0")[:n]
        except ValueError:
            raise Refused(WRONG_PASSWORD, "the key must be given in hexadecimal") from None
    if header.key_mode == "asis":
        return secret.ljust(n, b"\0")[:n]
    if header.key_mode == "mcrypt-sha1":
        key = b""
        while len(key) < n:  # each piece is the hash of salt, password and the key so far
            key += hashlib.sha1(header.salt + secret + key).digest()
        return key[:n]
    raise Refused(WRONG_FORMAT, f"the key was made by {header.key_mode!a:.40}, which is not supported here")


def decrypt_ncfb(key: bytes, iv: bytes, body: bytes, n: int) -> bytes:
    """CFB of a file of n bytes and its hash, with libmcrypt's error where the file ends within a block.

    There the register keeps stale bytes behind those of the file, and mcrypt fails to verify what it wrote.
    One block later all that is left of the hash may be lost; 16 bytes of it or more come before.
    """
    part = n % 16
    if part == 0:
        return tk.CFB(key, iv).decrypt(body)
    end, ciphertext = n - part + 16, iv + body
    register = ciphertext[end : end + part] + ciphertext[end - 16 + part : end]
    return tk.CFB(key, iv).decrypt(body[:end]) + tk.CFB(key, register).decrypt(body[end : end + 16])


def decrypt(data: bytes, password: str) -> bytes:
    """The file that was encrypted, verified by its hash."""
    header = read_header(data)
    key = make_key(header, password)
    at = header.body_at + (0 if header.mode == "ecb" else 16)
    iv, body = data[header.body_at : at], data[at:]
    digest_bytes = hashlib.new(header.hash).digest_size
    blocks = header.mode in ("ecb", "cbc")
    if len(data) < at or len(body) < digest_bytes or (blocks and len(body) % 16):
        raise Refused(DAMAGED, "the file is cut off")
    if header.mode == "ncfb":
        plaintext = decrypt_ncfb(key, iv, body, len(body) - digest_bytes)
    else:
        plaintext = (tk.ECB(key) if header.mode == "ecb" else MODES[header.mode](key, iv)).decrypt(body)
    end = len(body) - digest_bytes
    if blocks:  # the last byte counts the bytes of the last block that are not padding
        end += plaintext[-1] - 16 if plaintext[-1] < 16 else -len(body)
    contents, digest = plaintext[: max(end, 0)], plaintext[max(end, 0) :][:digest_bytes]
    expected = hashlib.new(header.hash, contents).digest()[: len(digest)]
    if end < 0 or not hmac.compare_digest(expected, digest):
        raise Refused(WRONG_PASSWORD, "the password is wrong, or the file was altered: its hash does not fit")
    return contents


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="mcrypt", description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--password-file", type=Path, help="its first line; asked for without")
    parser.add_argument("--output", type=Path, required=True, help="where to write the decrypted file")
    args = parser.parse_args(arguments)
    try:
        data = args.file.read_bytes()
        read_header(data)
        text = args.password_file.read_text("utf-8") if args.password_file else getpass.getpass()
        args.output.write_bytes(decrypt(data, text.split("\n")[0]))
    except (Refused, OSError, UnicodeError) as reason:
        print(f"mcrypt: {reason}", file=sys.stderr)
        return getattr(reason, "code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
