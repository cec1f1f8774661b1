"""Takes what the notebook on anatomy shows, a table and two plots, for the page on the lab.

The notebook is executed by the tests and its outputs compared, so nothing needs to be computed here.
"""

import base64
import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
NOTEBOOK = HERE / "notebooks" / "anatomy.ipynb"

#: File: what the cell's code has in it, and the kind of its output.
TAKEN = {
    "trace.html": ("trace = lab.trace(key, block)", "text/html"),
    "avalanche.png": ("lab.avalanche(", "image/png"),
    "strict.png": ("strict.plot()", "image/png"),
}


def output(cells: list[dict[str, Any]], code: str, kind: str) -> str:
    """The only output of this kind of the cell with this code."""
    (found,) = (
        each["data"][kind]
        for cell in cells
        if cell["cell_type"] == "code" and code in "".join(cell["source"])
        for each in cell["outputs"]
        if kind in each.get("data", {})
    )
    return "".join(found)


def write(app: Any, config: Any) -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    target = HERE / "_generated"
    target.mkdir(exist_ok=True)
    for name, (code, kind) in TAKEN.items():
        data = output(cells, code, kind)
        if kind == "image/png":
            (target / name).write_bytes(base64.b64decode(data))
        else:
            # As MyST-NB wraps it, so that it looks the same.
            shown = f'<div class="cell_output"><div class="output text_html">{data}</div></div>\n'
            (target / name).write_text(shown, "utf-8")


def setup(app: Any) -> dict[str, Any]:
    app.connect("config-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
