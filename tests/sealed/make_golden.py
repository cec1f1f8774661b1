"""Writes golden files that do not exist yet: ``python -m tests.sealed.make_golden``.

Run once when a case is added, by hand. Existing files are never written again: they show that today's
code still reads what an earlier version wrote.
"""

from pathlib import Path

import twofishkit as tk
from tests.sealed.golden_cases import ARCHIVE, ARCHIVE_METADATA, CASES, KEY, PASSPHRASE

GOLDEN = Path(__file__).with_name("golden")


def main():
    for name, (value, metadata, by_passphrase) in CASES.items():
        path = GOLDEN / f"{name}.tfk"
        if not path.exists():
            secret = {"passphrase": PASSPHRASE} if by_passphrase else {"key": KEY}
            path.write_bytes(tk.seal(value, **secret, metadata=metadata))
    archive = GOLDEN / "archive.tfk"
    if not archive.exists():
        tk.savez(archive, ARCHIVE, key=KEY, metadata=ARCHIVE_METADATA)
    archive.chmod(0o644)


if __name__ == "__main__":
    main()
