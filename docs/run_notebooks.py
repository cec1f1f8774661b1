"""Executes the notebooks and stores their outputs, or compares them with what is stored.

    python docs/run_notebooks.py              # run all, store
    python docs/run_notebooks.py --check      # run all, compare; 1 if anything differs
    python docs/run_notebooks.py --check docs/notebooks/start.ipynb

Text and HTML must come out the same, character by character. Plots must come out, at the same size: their
pixels depend on matplotlib's version and on fonts.
"""

import argparse
import base64
import difflib
import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
NOTEBOOKS = sorted((HERE / "notebooks").glob("*.ipynb"))


def execute(path: Path) -> Any:
    """The notebook with the outputs that it gives now; the stored one stays as it is."""
    notebook = nbformat.read(path, as_version=4)
    roots = [str(HERE.parent), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, roots)),
        "PYTHONWARNINGS": "default",
    }
    environment.pop("MPLBACKEND", None)  # plots belong into the notebook
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        extra_arguments=["--log-level=40"],
        resources={"metadata": {"path": HERE}},
        coalesce_streams=True,
    )
    client.execute(env=environment)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return notebook


def _png_size(data: str) -> str:
    raw = base64.b64decode(data)
    width, height = (int.from_bytes(raw[at : at + 4], "big") for at in (16, 20))
    return f"about {width // 40} x {height // 40} times 40 pixels"


def comparable(cell: Any) -> list[str]:
    """The outputs of a cell as lines of text."""
    lines = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            lines += [f"{output.name}: {line}" for line in output.text.splitlines()]
        elif output.output_type == "error":
            lines.append(f"error: {output.ename}: {output.evalue}")
        else:
            for kind in sorted(output.data):
                content = output.data[kind]
                if kind == "image/png":
                    lines.append(f"{kind}: {_png_size(content)}")
                else:
                    lines += [f"{kind}: {line}" for line in content.splitlines()]
    return lines


def differences(stored: Any, now: Any) -> list[str]:
    """What differs between the outputs of two notebooks, as lines to print."""
    found = []
    for number, (before, after) in enumerate(zip(stored.cells, now.cells, strict=True), 1):
        if before.cell_type == "code":
            old, new = comparable(before), comparable(after)
            found += list(
                difflib.unified_diff(old, new, f"cell {number}, stored", f"cell {number}, now", lineterm="")
            )
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="compare with the stored outputs and store nothing"
    )
    parser.add_argument("notebooks", nargs="*", type=Path, default=NOTEBOOKS)
    options = parser.parse_args(arguments)
    failed = False
    for path in options.notebooks:
        now = execute(path)
        if not options.check:
            nbformat.write(now, path)
            continue
        found = differences(nbformat.read(path, as_version=4), now)
        if found:
            failed = True
            print(f"{path.name}: outputs differ from those stored", *(line[:300] for line in found), sep="\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
