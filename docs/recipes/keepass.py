"""KeePass databases (KDBX 3.1 and 4) with Twofish: pykeepass, with its Twofish replaced.

    python keepass.py list passwords.kdbx
    python keepass.py list passwords.kdbx --keyfile my.key --compare    (and the seconds each cipher takes)
    python keepass.py export passwords.kdbx --output plain.xml

pykeepass brings a Twofish of its own in pure Python, at less than 1 MB/s. One line replaces it, for reading
and writing: see `use_our_twofish`; everything else in the format is pykeepass'.
Exit codes: 0 done, 1 file not readable or writable, 2 misuse, 3 wrong password, 4 wrong format, 5 damaged.

Needs: twofishkit, pykeepass (4.1 or newer).
"""

import argparse
import base64
import getpass
import hashlib
import sys
import time
from pathlib import Path

from pykeepass import PyKeePass
from pykeepass.exceptions import CredentialsError, HeaderChecksumError, PayloadChecksumError
from pykeepass.kdbx_parsing import common

from twofishkit.compat import pep272

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
SIGNATURE, KDB1_SIGNATURE = b"\x03\xd9\xa2\x9a\x67\xfb\x4b\xb5", b"\x03\xd9\xa2\x9a\x65\xfb\x4b\xb5"
THEIR_TWOFISH = common.Twofish


class Refused(Exception):
    """The database is not opened; says why, and carries the exit code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Timed:
    """A PEP 272 module that adds up the seconds its CBC objects take."""

    MODE_CBC = pep272.MODE_CBC

    def __init__(self, module) -> None:
        self.module, self.seconds = module, 0.0

    def new(self, key: bytes, mode: int, IV: bytes):
        cipher = self.module.new(key, mode, IV=IV)
        original = cipher.decrypt

        def decrypt(data: bytes) -> bytes:
            start = time.perf_counter()
            try:
                return original(data)
            finally:
                self.seconds += time.perf_counter() - start

        cipher.decrypt = decrypt
        return cipher


def use_our_twofish() -> None:
    """Let pykeepass use twofishkit from now on."""
    common.Twofish = pep272


def open_database(file: Path, password: str | None, keyfile: Path | None) -> PyKeePass:
    """The database, with each of pykeepass' failures as one sentence."""
    data = file.read_bytes()
    if data[:8] == KDB1_SIGNATURE:
        raise Refused(WRONG_FORMAT, "this is a KeePass 1 database; see keepass1.py")
    if data[:8] != SIGNATURE:
        raise Refused(WRONG_FORMAT, "this is not a KeePass database: its signature is missing")
    common.log.disabled = True  # an altered header shows in its hash, and need not show in each field as well
    try:
        database = PyKeePass(file, password=password, keyfile=keyfile)
        algorithm = database.encryption_algorithm
        header_hash = base64.b64encode(hashlib.sha256(database.kdbx.header.data).digest()).decode()
    except CredentialsError:
        raise Refused(WRONG_PASSWORD, "the password or key file is wrong") from None
    except (HeaderChecksumError, PayloadChecksumError):
        raise Refused(DAMAGED, "the database was altered or damaged: a checksum does not fit") from None
    except OSError:
        raise
    except Exception as error:  # of its parsers, of zlib, and bare ones
        raise Refused(DAMAGED, f"the database is damaged, or not of a known kind: {error!r:.60}") from None
    if database.tree.findtext("Meta/HeaderHash") not in (None, "", header_hash):  # KDBX 3.1
        raise Refused(DAMAGED, "the database was altered or damaged: the hash of its header does not fit")
    if algorithm != "twofish":
        raise Refused(WRONG_FORMAT, f"the database is encrypted with {algorithm}, not Twofish")
    return database


def seconds(file: Path, password: str | None, keyfile: Path | None, module) -> tuple[float, float]:
    """Seconds that opening takes with a Twofish, and those of them in the cipher."""
    common.Twofish = timed = Timed(module)
    start = time.perf_counter()
    open_database(file, password, keyfile)
    return time.perf_counter() - start, timed.seconds


def compare(file: Path, password: str | None, keyfile: Path | None) -> str:
    """The time pykeepass takes with our Twofish and with its own."""
    seconds(file, password, keyfile, pep272)  # kernels are loaded when they are first used
    (ours_all, ours), (theirs_all, theirs) = (
        seconds(file, password, keyfile, module) for module in (pep272, THEIR_TWOFISH)
    )
    theirs_says = f"with pykeepass' own Twofish in {theirs_all:.3f} s, {theirs * 1000:.2f} ms"
    ours_says = f"opened in {ours_all:.3f} s, {ours * 1000:.2f} ms of it in twofishkit"
    return f"{ours_says}; {theirs_says}: {theirs / ours:.0f} times"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="keepass", description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["list", "export"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--password-file", type=Path, help="its first line; asked for without")
    parser.add_argument("--keyfile", type=Path, help="the database's key file, if it has one")
    parser.add_argument("--compare", action="store_true", help="list: measure both ciphers as well")
    parser.add_argument("--output", type=Path, help="export: where to write the XML, with all secrets")
    args = parser.parse_args(arguments)
    if args.command == "export" and not args.output:
        parser.error("export needs --output")
    try:
        text = args.password_file.read_text("utf-8") if args.password_file else getpass.getpass("password: ")
        secret = (text.split("\n")[0] or None, args.keyfile)
        use_our_twofish()
        database = open_database(args.file, *secret)
        if args.command == "export":
            args.output.write_bytes(database.xml())
        else:
            for entry in database.entries:
                print("\t".join(["/".join(filter(None, entry.path)), entry.username or "", entry.url or ""]))
        if args.compare:
            print(compare(args.file, *secret), file=sys.stderr)
    except (Refused, OSError, UnicodeError) as reason:
        print(f"keepass: {reason}", file=sys.stderr)
        return getattr(reason, "code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
