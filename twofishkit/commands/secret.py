"""Keys and passphrases for the command line: from files, the environment or a prompt, never from argv.

Arguments of a process can be read by every user of the machine, and end up in the shell's history.
"""

import argparse
import contextlib
import getpass
import os
import re
import stat
import sys
import warnings
from typing import Literal, TypedDict

from twofishkit.commands import UsageError
from twofishkit.errors import InvalidKey

KEY_VARIABLE = "TWOFISHKIT_KEY"
PASSPHRASE_VARIABLE = "TWOFISHKIT_PASSPHRASE"

_HEX = re.compile(rb"[0-9A-Fa-f]+", re.ASCII)

Want = Literal["key", "passphrase"] | None


class Secret(TypedDict, total=False):
    """Keyword arguments for `seal`, `unseal` and the rest."""

    key: bytes
    passphrase: str


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the ways to give a key or passphrase."""
    group = parser.add_argument_group(
        "key",
        f"One of these. Without any, {KEY_VARIABLE} (64 hex digits) or {PASSPHRASE_VARIABLE} from the"
        " environment is used, and if neither is set, a passphrase is asked for on the terminal.",
    ).add_mutually_exclusive_group()
    group.add_argument(
        "--key-file", metavar="FILE", help="a file of 32 bytes, or of 64 hex digits (see keygen)"
    )
    group.add_argument("--key-env", metavar="NAME", help="an environment variable that holds 64 hex digits")
    group.add_argument("--passphrase", action="store_true", help="ask for a passphrase on the terminal")
    group.add_argument(
        "--passphrase-env", metavar="NAME", help="an environment variable that holds a passphrase"
    )


def add_new_options(parser: argparse.ArgumentParser) -> None:
    """Add the ways to give another key or passphrase for the same data."""
    group = parser.add_argument_group(
        "new key", "One of these; without any, a new passphrase is asked for on the terminal."
    ).add_mutually_exclusive_group()
    group.add_argument("--new-key-file", metavar="FILE", help="as --key-file")
    group.add_argument("--new-key-env", metavar="NAME", help="as --key-env")
    group.add_argument("--new-passphrase-env", metavar="NAME", help="as --passphrase-env")


def new_from_options(args: argparse.Namespace) -> Secret:
    """The secret that the options of `add_new_options` or the user at the terminal give."""
    if args.new_key_file:
        return {"key": read_key_file(args.new_key_file)}
    if args.new_key_env:
        return {"key": _key_from(args.new_key_env, _variable(args.new_key_env))}
    if args.new_passphrase_env:
        return {"passphrase": _variable(args.new_passphrase_env)}
    return {"passphrase": ask(confirm=True, prompt="New passphrase: ")}


def given(args: argparse.Namespace) -> bool:
    """Whether one of the options was used."""
    return bool(args.key_file or args.key_env or args.passphrase or args.passphrase_env)


def from_options(args: argparse.Namespace, *, want: Want = None, confirm: bool = False) -> Secret:
    """The secret that the options, the environment or the user at the terminal give.

    Parameters
    ----------
    want : "key", "passphrase" or None
        What the sealed data needs, if that is known. An explicit option is obeyed all the same.
    confirm : bool
        Ask twice, for a new passphrase.

    Raises
    ------
    UsageError
        If there is no secret to be had.
    InvalidKey
        If a key file or variable does not hold a key.
    """
    if args.key_file:
        return {"key": read_key_file(args.key_file)}
    if args.key_env:
        return {"key": _key_from(args.key_env, _variable(args.key_env))}
    if args.passphrase_env:
        return {"passphrase": _variable(args.passphrase_env)}
    if args.passphrase:
        return {"passphrase": ask(confirm=confirm)}
    return _from_environment(want) or _asked(want, confirm)


def _from_environment(want: Want) -> Secret | None:
    key, passphrase = os.environ.get(KEY_VARIABLE), os.environ.get(PASSPHRASE_VARIABLE)
    if key and passphrase and want is None:
        raise UsageError(f"both {KEY_VARIABLE} and {PASSPHRASE_VARIABLE} are set; unset one or use an option")
    if key and want != "passphrase":
        return {"key": _key_from(KEY_VARIABLE, key)}
    if passphrase and want != "key":
        return {"passphrase": passphrase}
    return None


def _asked(want: Want, confirm: bool) -> Secret:
    if want == "key":
        raise UsageError(f"this was sealed with a key: give --key-file, --key-env or {KEY_VARIABLE}")
    return {"passphrase": ask(confirm=confirm)}


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise UsageError(f"the environment variable {name} is not set")
    return value


def _key_from(name: str, text: str) -> bytes:
    """A key in hex, from the environment variable ``name``."""
    digits = text.strip().encode("utf-8", "surrogateescape")
    if not _HEX.fullmatch(digits) or len(digits) != 64:
        raise InvalidKey(f"{name} must hold 64 hex digits; it holds {len(digits)} characters")
    return bytes.fromhex(digits.decode())


def read_key_file(path: str) -> bytes:
    """The key in a file: 32 raw bytes, or 64 hex digits and perhaps a line end.

    Warns on stderr if others can read the file.

    Raises
    ------
    InvalidKey
        If it holds anything else.
    OSError
        If it cannot be read.
    """
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        data = file.read(4096)
    if os.name == "posix" and stat.S_ISREG(status.st_mode) and status.st_mode & 0o044:
        print(f"twofishkit: warning: others can read {path}; run: chmod 600 {path}", file=sys.stderr)
    digits = data.strip()
    if len(digits) == 64 and _HEX.fullmatch(digits):
        return bytes.fromhex(digits.decode())
    if _HEX.fullmatch(digits):
        raise InvalidKey(f"{path} holds {len(digits)} hex digits; a key has 64")
    if len(data) != 32:
        held = f"{len(data)} bytes" if len(data) < 4096 else "4096 bytes or more"
        raise InvalidKey(f"{path} is no key file: it holds {held}, and a key is 32 bytes or 64 hex digits")
    return data


def ask(*, confirm: bool, prompt: str = "Passphrase: ") -> str:
    """A passphrase from the terminal, not shown; twice the same if ``confirm``."""
    with warnings.catch_warnings():
        # Without a terminal, getpass would warn and read, visibly, from wherever stdin comes.
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            passphrase = getpass.getpass(prompt)
            again = getpass.getpass("The same again: ") if confirm and passphrase else passphrase
        except (EOFError, getpass.GetPassWarning, OSError):
            raise UsageError(
                "no key given and no terminal to ask for a passphrase: give --key-file, --key-env,"
                f" --passphrase-env, {KEY_VARIABLE} or {PASSPHRASE_VARIABLE}"
            ) from None
    if not passphrase:
        raise UsageError("the passphrase is empty")
    if again != passphrase:
        raise UsageError("the two passphrases differ")
    with contextlib.suppress(UnicodeEncodeError):
        passphrase.encode()
        return passphrase
    raise UsageError("the passphrase is not text in the terminal's encoding")
