"""``python -m twofishkit``."""

import sys

from twofishkit.cli import main

if __name__ == "__main__":
    sys.exit(main())
