"""The notebooks run, and give what is stored in them."""

import json
import subprocess
import sys

import pytest

from tests.processes import ROOT, environment

SCRIPT = ROOT / "docs" / "run_notebooks.py"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def check(*paths):
    return subprocess.run(
        [sys.executable, SCRIPT, "--check", *paths],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_all_four_are_there():
    names = [path.stem for path in NOTEBOOKS]
    assert names == ["anatomy", "modes", "start", "testing"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_are_what_the_notebook_gives(path):
    done = check(path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_code_cell_was_run(path):
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert not any(output["output_type"] == "error" for cell in cells for output in cell["outputs"])


def test_a_changed_output_is_noticed(tmp_path):
    notebook = json.loads((ROOT / "docs" / "notebooks" / "start.ipynb").read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and "ctr.encrypt" in "".join(cell["source"]):
            data = cell["outputs"][0]["data"]
            data["text/plain"] = [line.replace("914339320", "914339321") for line in data["text/plain"]]
    changed = tmp_path / "changed.ipynb"
    changed.write_text(json.dumps(notebook), "utf-8")
    done = check(changed)
    assert done.returncode == 1
    assert "changed.ipynb: outputs differ" in done.stdout
    assert "914339321" in done.stdout
