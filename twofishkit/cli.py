"""The command line: ``twofishkit`` and ``python -m twofishkit``.

Exit codes: 0 done; 1 failed (wrong key, damaged file, no space left, ...); 2 the command line or the
environment asks for something that cannot be meant; 130 interrupted. Errors are one line on stderr.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from twofishkit import __version__
from twofishkit.commands import UsageError, cat, info, inspect, keygen, rekey, seal, selftest, unseal
from twofishkit.errors import InvalidParameter, InvalidTag, TwofishKitError, WrongKey

FAILED, MISUSED, INTERRUPTED = 1, 2, 130

_EXAMPLES = """\
  twofishkit keygen my.key
  twofishkit seal --key-file my.key temps.npy          writes temps.npy.tfk
  twofishkit unseal --key-file my.key temps.npy.tfk    writes temps.npy
  twofishkit cat --key-file my.key --slice 10:20 temps.npy.tfk
  tar c photos | twofishkit seal - -o photos.tfk       asks for a passphrase

Keys come from a file, the environment or a prompt, and never from the command line.
"""


class _Parser(argparse.ArgumentParser):
    """Errors in one line, as everywhere else."""

    def error(self, message: str) -> NoReturn:
        self.exit(MISUSED, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="twofishkit",
        description="Authenticated encryption of arrays and files with Twofish.",
        epilog="examples:\n" + _EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"twofishkit {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (seal, unseal, inspect, cat, rekey, keygen, info, selftest):
        command.add_parser(subparsers)
    _add_bench(subparsers, wanted=list(arguments[:1]) == ["bench"])
    _add_testing(subparsers, arguments)
    return parser


def _add_bench(subparsers: Any, *, wanted: bool) -> None:
    if wanted:
        # It loads other people's libraries: only for those who ask for it.
        from twofishkit.bench.command import add_parser

        add_parser(subparsers)
    else:
        subparsers.add_parser("bench", help="measure speed, beside other implementations that are installed")


def _add_testing(subparsers: Any, arguments: Sequence[str]) -> None:
    if list(arguments[:1]) in (["diff"], ["kat"], ["vectors"]):
        from twofishkit.testing import commands as testing

        testing.add_diff(subparsers)
        testing.add_kat(subparsers)
        testing.add_vectors(subparsers)
    else:
        subparsers.add_parser(
            "diff", help="compare another Twofish with this one, and say what is wrong with it"
        )
        subparsers.add_parser(
            "kat", help="check a file of known answers: Wycheproof JSON, NIST .rsp, ecb_*.txt"
        )
        subparsers.add_parser("vectors", help="print vectors for other test suites: JSON, .rsp, a C header")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; by default those of the process.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        args = _parser(arguments).parse_args(arguments)
        code: int = args.run(args)
        sys.stdout.flush()
    except UsageError as error:
        return _fail(str(error), MISUSED)
    except TwofishKitError as error:
        damaged = isinstance(error, InvalidTag) and not isinstance(error, WrongKey)
        code = MISUSED if isinstance(error, InvalidParameter) else FAILED
        return _fail(f"damaged: {error}" if damaged else str(error), code)
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter must not try to flush it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        return _fail(_system_error(error), FAILED)
    except MemoryError:
        return _fail("not enough memory", FAILED)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    return code


def _system_error(error: OSError) -> str:
    what = error.strerror or str(error)
    return f"{os.fsdecode(error.filename)}: {what}" if error.filename is not None else what


def _fail(message: str, code: int) -> int:
    # One line, whatever a file name or a message from elsewhere holds.
    line = " ".join(message.split())
    print(f"twofishkit: error: {line}", file=sys.stderr)
    return code
