"""Lists what others keep under ``docs``: recipes (scripts and pages), and the pages on the testing kit."""

import ast
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]


def recipes(directory: Path) -> str:
    """Markdown: a table of the scripts, each to download, and a toctree of the pages."""
    rows = []
    for script in sorted(directory.glob("*.py")):
        text = ast.get_docstring(ast.parse(script.read_text("utf-8"))) or ""
        if not script.name.startswith("_"):
            summary = " ".join(text.partition("\n\n")[0].split())
            rows.append(f"| {{download}}`{script.name} <recipes/{script.name}>` | {summary} |")
    table = ["| script | what it does |", "|---|---|", *rows, ""] if rows else []
    return "\n".join([*table, *toctree(sorted(directory.glob("*.md")))])


def toctree(pages: list[Path]) -> list[str]:
    names = [page.relative_to(HERE).with_suffix("").as_posix() for page in pages]
    return ["```{toctree}", ":maxdepth: 1", "", *names, "```", ""] if names else []


def write(app: Any, config: Any) -> None:
    target = HERE / "_generated"
    target.mkdir(exist_ok=True)
    (target / "recipes.md").write_text(recipes(HERE / "recipes"), "utf-8")
    (target / "oracle.md").write_text("\n".join(toctree(sorted(HERE.glob("oracle*.md")))), "utf-8")


def setup(app: Any) -> dict[str, Any]:
    app.connect("config-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
