"""The subcommands of ``python -m twofishkit``: one file each, joined by `twofishkit.cli`."""


class UsageError(Exception):
    """The command line asks for something that cannot be meant: exit code 2, nothing done."""
