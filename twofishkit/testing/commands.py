"""The subcommands ``diff``, ``kat`` and ``vectors`` of ``python -m twofishkit``.

Exit codes: 0 everything agrees; 1 something differs; 2 nothing could be compared, or the command line asks
for something that cannot be meant.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twofishkit.errors import FormatError, InvalidParameter, TwofishKitError
from twofishkit.testing import export, katfiles, montecarlo, oracle, report, run
from twofishkit.testing.cases import MODES, REFUSED, Answer, Case
from twofishkit.testing.targets import CommandTarget, Target, installed
from twofishkit.testing.targets.command import TIME_LIMIT

#: Failing vectors of a file that are shown.
_SHOWN = 10


def add_diff(subparsers: Any) -> argparse.ArgumentParser:
    """Add ``diff`` to an ``argparse`` object made by ``add_subparsers``."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "diff",
        help="compare another Twofish with this one, and say what is wrong with it",
        description="Ask another Twofish published and generated cases, compare, shrink what fails and name"
        " the mistake if it is a known one. docs/oracle.md describes what a program has to answer.",
    )
    _add_target(parser, required=True)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which generated cases (default: 0)")
    parser.add_argument("--cases", type=int, metavar="N", help="generated cases to ask (default: 1000)")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop generating after so many seconds")
    parser.add_argument(
        "--modes", type=_names, default=MODES, metavar="NAME,...", help=f"of: {', '.join(MODES)}"
    )
    parser.add_argument("--no-published", action="store_true", help="only ask generated cases")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run_diff)
    return parser


def add_kat(subparsers: Any) -> argparse.ArgumentParser:
    """Add ``kat`` to an ``argparse`` object made by ``add_subparsers``."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "kat",
        help="check a file of known answers: Wycheproof JSON, NIST .rsp, ecb_*.txt",
        description="Compare a file of known answers with this Twofish, or with the one that is given.",
    )
    parser.add_argument("file", metavar="FILE", help="a file, or - for standard input")
    parser.add_argument(
        "--mode", metavar="NAME", choices=export.ALL_MODES, help="where the file does not tell it"
    )
    parser.add_argument(
        "--monte-carlo",
        type=int,
        default=4,
        metavar="N",
        help="steps of 10,000 blocks to check in a Monte-Carlo file (default: 4)",
    )
    _add_target(parser, required=False)
    parser.set_defaults(run=run_kat)
    return parser


def add_vectors(subparsers: Any) -> argparse.ArgumentParser:
    """Add ``vectors`` to an ``argparse`` object made by ``add_subparsers``."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "vectors",
        help="print vectors for other test suites: JSON, .rsp, a C header",
        description="Print generated vectors with the right answers. The same seed prints the same vectors.",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which vectors (default: 0)")
    parser.add_argument("--format", choices=export.FORMATS, default="json", help="(default: json)")
    parser.add_argument(
        "--count", type=int, default=24, metavar="N", help="vectors of each mode (default: 24)"
    )
    parser.add_argument(
        "--modes",
        type=_names,
        default=export.MODES,
        metavar="NAME,...",
        help=f"of: {', '.join(export.ALL_MODES)}",
    )
    parser.set_defaults(run=run_vectors)
    return parser


def _add_target(parser: argparse.ArgumentParser, *, required: bool) -> None:
    which = parser.add_mutually_exclusive_group(required=required)
    which.add_argument("--cmd", metavar="COMMAND", help="a program that speaks the line protocol")
    which.add_argument("--python", metavar="MODULE:FUNCTION", help="a function of a case")
    which.add_argument("--library", metavar="FILE", help="a shared library")
    which.add_argument("--installed", metavar="NAME", help="libgcrypt, botan, nettle, libtomcrypt, ...")
    parser.add_argument("--encrypt", metavar="SYMBOL", help="the library's function that encrypts blocks")
    parser.add_argument("--decrypt", metavar="SYMBOL", help="the library's function that decrypts blocks")
    parser.add_argument(
        "--time-limit",
        type=float,
        default=TIME_LIMIT,
        metavar="S",
        help=f"seconds for one case (default: {TIME_LIMIT:g})",
    )


def _names(value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split(",") if name.strip())


def target_of(args: argparse.Namespace) -> Target | None:
    """The target that the command line names. What is not a program runs in a process of its own."""
    served: list[str] = []
    if args.cmd is not None:
        return CommandTarget(args.cmd, time_limit=args.time_limit)
    for option in ("python", "library", "installed"):
        if getattr(args, option) is not None:
            served = [f"--{option}", getattr(args, option)]
    if not served:
        return None
    if args.installed is not None:
        installed(args.installed)  # to complain here, rather than from the process that serves it
    if args.library is not None and not Path(args.library).is_file():
        raise InvalidParameter(f"there is no library {args.library}")
    name = served[1]
    for option in ("encrypt", "decrypt"):
        if getattr(args, option) is not None:
            served += [f"--{option}", getattr(args, option)]
    command = [sys.executable, "-m", "twofishkit.testing.serve", *served]
    return CommandTarget(command, time_limit=args.time_limit, name=name)


def run_diff(args: argparse.Namespace) -> int:
    """Compare one target; returns the exit code."""
    seconds, cases = args.seconds, args.cases
    # Seconds alone lift the default limit on cases.
    budget = run.BUDGET if seconds is None and cases is None else run.Budget(cases, seconds)
    run.operations_of(args.modes)
    target = target_of(args)
    assert target is not None, "argparse requires one"
    try:
        result = run.compare(
            target,
            seed=args.seed,
            modes=args.modes,
            budget=budget,
            with_published=not args.no_published,
        )
    finally:
        target.close()
    sys.stdout.write(report.as_json(result) if args.json else report.text(result))
    return result.exit_code


def run_kat(args: argparse.Namespace) -> int:
    """Check one file; returns the exit code."""
    text = sys.stdin.read() if args.file == "-" else Path(args.file).read_text("utf-8", "replace")
    try:
        known = katfiles.read(text, args.file, args.mode)
    except FormatError as error:
        raise InvalidParameter(str(error)) from None
    target = target_of(args)
    try:
        counts = _Counts()
        steps = 0
        for item in known:
            if isinstance(item, katfiles.MonteCarlo):
                steps += 1
                if steps > args.monte_carlo:
                    counts.skipped += 1
                    continue
                got = montecarlo.run(item, target.answer if target else None)
                operation = f"{item.mode}-{'decrypt' if item.decrypting else 'encrypt'}"
                case = Case(f"{item.id} (Monte Carlo)", operation, item.key, item.iv, data=item.given)
                counts.judge(case, Answer(item.expected), got)
            else:
                assert item.published is not None
                counts.judge(item, item.published, (target.answer if target else _reference)(item))
    finally:
        if target:
            target.close()
    who = target.name if target else "twofishkit's reference"
    print(f"{args.file}: {counts.line()} (answered by {who})")
    return counts.exit_code


def _reference(case: Case) -> Answer:
    """The reference's answer to somebody else's case, which need not be one that a mode accepts."""
    try:
        return oracle.answer(case)
    except TwofishKitError as error:
        # To refuse a message for its nonce is to refuse it.
        return REFUSED if case.decrypting else Answer(status="error", message=str(error))


class _Counts:
    """How the vectors of a file fared; failures are printed as they come."""

    def __init__(self) -> None:
        self.agree = self.differ = self.unsupported = self.skipped = 0

    def judge(self, case: Case, expected: Answer, got: Answer) -> None:
        if got.status == "unsupported":
            self.unsupported += 1
        elif got.agrees(expected):
            self.agree += 1
        else:
            self.differ += 1
            if self.differ <= _SHOWN:
                print(*report.describe(run.Failure(case, expected, got)), "", sep="\n")

    def line(self) -> str:
        parts = [f"{self.agree} agree", f"{self.differ} differ"]
        parts += [f"{self.unsupported} unsupported"] if self.unsupported else []
        parts += [f"{self.skipped} Monte-Carlo steps left out"] if self.skipped else []
        return ", ".join(parts)

    @property
    def exit_code(self) -> int:
        if self.differ:
            return 1
        return 0 if self.agree else 2


def run_vectors(args: argparse.Namespace) -> int:
    """Print vectors; returns the exit code."""
    modes: Sequence[str] = args.modes
    unknown = [mode for mode in modes if mode not in export.ALL_MODES]
    if unknown or not modes:
        raise InvalidParameter(f"{(unknown or [''])[0]!r} is not one of {', '.join(export.ALL_MODES)}")
    if args.count < 1:
        raise InvalidParameter(f"--count is 1 or more, not {args.count}")
    sys.stdout.write(export.export(args.format, modes, args.seed, args.count))
    return 0
