"""Any target as a program that speaks the line protocol: ``python -m twofishkit.testing.serve``.

    python -m twofishkit.testing.serve --python mypackage.mymodule:answer
    python -m twofishkit.testing.serve --library ./libmine.so

In a process of its own a crash or an endless loop of the code under test does not take the oracle along.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import IO

from twofishkit.errors import InvalidParameter, TwofishKitError
from twofishkit.testing import protocol
from twofishkit.testing.cases import UNSUPPORTED
from twofishkit.testing.targets import FunctionTarget, LibraryTarget, Target, installed


def python_target(name: str) -> Target:
    """The target for ``module:function``; the module is looked for in the current directory too.

    Raises
    ------
    InvalidParameter
        If there is no such module or function.
    """
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise InvalidParameter(f"{name!r} is not of the form module:function")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        function = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise InvalidParameter(f"cannot import {name}: {error}") from None
    if hasattr(function, "answer"):
        target: Target = function
        return target
    return FunctionTarget(function, name)


def serve(target: Target, requests: IO[str], replies: IO[str]) -> None:
    """Answer requests until there are no more."""
    for line in requests:
        if not line.strip() or line.startswith("#"):
            continue
        number, case = protocol.parse_request(line)
        answer = UNSUPPORTED if case is None else target.answer(case)
        replies.write(protocol.reply(number, answer))
        replies.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve one target on standard input and output; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m twofishkit.testing.serve", description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--python", metavar="MODULE:FUNCTION", help="a function of a Case, or a target")
    which.add_argument("--library", metavar="FILE", help="a shared library")
    which.add_argument("--installed", metavar="NAME", help="a Twofish that this machine has")
    parser.add_argument("--encrypt", metavar="SYMBOL", help="the library's function that encrypts blocks")
    parser.add_argument("--decrypt", metavar="SYMBOL", help="the library's function that decrypts blocks")
    args = parser.parse_args(arguments)
    try:
        if args.python:
            target = python_target(args.python)
        elif args.library:
            target = LibraryTarget(args.library, encrypt=args.encrypt, decrypt=args.decrypt)
        else:
            target = installed(args.installed)
    except TwofishKitError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    serve(target, sys.stdin, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
