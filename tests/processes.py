"""Fresh Python processes for what a process decides once: backends, caches, imports."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Put before a script: no import of Numba succeeds, as where it is not installed.
BLOCK_NUMBA = "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = None\n"

_OURS = ("TWOFISHKIT_", "NUMBA_")


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without our variables and Numba's, with the given ones."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    if "TWOFISHKIT_CACHE_DIR" in os.environ:
        kept["TWOFISHKIT_CACHE_DIR"] = os.environ["TWOFISHKIT_CACHE_DIR"]
    return {**kept, "PYTHONPATH": str(ROOT), **variables}


def joined(*scripts: str) -> str:
    """Scripts, each at its own indentation, one after the other."""
    return "\n".join(map(textwrap.dedent, scripts))


def start(script: str, *flags: str, **variables: str) -> subprocess.Popen[str]:
    """Start ``python -c script``; without other flags, warnings are errors in it.

    The package is found through PYTHONPATH alone, whatever the working directory is.
    """
    return subprocess.Popen(
        [sys.executable, "-P", *(flags or ("-Werror",)), "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**variables),
        start_new_session=True,
    )


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a process that `start` made, and its children, which would keep its pipes open."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process wrote to stdout and stderr; it must end with status 0."""
    try:
        out, err = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        kill(process)
        out, err = process.communicate()
        raise AssertionError(f"still running after 300 s\n{out}\n{err}") from None
    except BaseException:
        kill(process)
        raise
    assert process.returncode == 0, f"status {process.returncode}\n{out}\n{err}"
    return out.strip(), err.strip()


def run(script: str, *flags: str, **variables: str) -> str:
    """What a script prints; it must succeed and write nothing to stderr."""
    out, err = finish(start(script, *flags, **variables))
    assert err == "", err
    return out
