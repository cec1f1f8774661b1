"""Directories of compiled kernels that nobody uses any more: how they are told, and removed.

Every edit of a kernel, every other version of Numba and every other processor starts a directory. Each
process that uses one makes its time of modification recent, and whoever starts a new one removes
those that have not been used for `UNUSED_DAYS`. Nothing here raises: a directory that cannot be read,
marked or removed is left as it is.

A process needs the files of a directory only when it loads a kernel; should it run for longer than
that and its directory be gone, it compiles what it has not loaded yet.
"""

import os
import re
import shutil
import time

#: Days after which a directory counts as given up.
UNUSED_DAYS = 30

_DAY = 24 * 60 * 60
_NAME = re.compile(r"kernels-[0-9a-f]{24}")


def mark_used(directory):
    """Make a directory's time of modification recent; writes once a day at most."""
    try:
        if time.time() - directory.stat().st_mtime > _DAY:
            os.utime(directory)
    except OSError:
        pass  # read-only, or another user's


def remove_unused(directory):
    """Remove the siblings of a directory that are ours and have not been used for `UNUSED_DAYS`.

    Symbolic links are neither removed nor followed.
    """
    try:
        with os.scandir(directory.parent) as siblings:
            unused = [entry.path for entry in siblings if entry.name != directory.name and _is_unused(entry)]
    except OSError:
        return
    for path in unused:
        shutil.rmtree(path, ignore_errors=True)


def _is_unused(entry):
    if not (_NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)):
        return False
    status = entry.stat(follow_symlinks=False)
    ours = os.name != "posix" or status.st_uid == os.geteuid()
    return ours and time.time() - status.st_mtime > UNUSED_DAYS * _DAY
