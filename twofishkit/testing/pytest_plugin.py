"""Options for the suite that tests another Twofish under pytest.

    pytest --pyargs twofishkit.testing.suite --twofish-cmd ./target

pytest loads this module in every session where twofishkit is installed, so it imports nothing heavy.
"""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options that name the Twofish to test, as ``python -m twofishkit diff`` has them."""
    group = parser.getgroup(
        "twofishkit", "another Twofish under test (with --pyargs twofishkit.testing.suite)"
    )
    group.addoption("--twofish-cmd", metavar="COMMAND", help="a program that speaks the line protocol")
    group.addoption("--twofish-python", metavar="MODULE:FUNCTION", help="a function of a case")
    group.addoption("--twofish-library", metavar="FILE", help="a shared library")
    group.addoption("--twofish-installed", metavar="NAME", help="libgcrypt, botan, nettle, libtomcrypt, ...")
    group.addoption("--twofish-encrypt", metavar="SYMBOL", help="the library's function that encrypts blocks")
    group.addoption("--twofish-decrypt", metavar="SYMBOL", help="the library's function that decrypts blocks")
    group.addoption(
        "--twofish-time-limit", type=float, default=10.0, metavar="S", help="seconds for one case"
    )
    group.addoption("--twofish-seed", type=int, default=0, metavar="N", help="which generated cases")
    group.addoption("--twofish-cases", type=int, default=1000, metavar="N", help="generated cases to ask")
    group.addoption("--twofish-modes", default="", metavar="NAME,...", help="modes to ask (default: all)")
