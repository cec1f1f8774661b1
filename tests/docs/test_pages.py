"""Code in the pages runs, and prints what stands below it; drawings are what their script draws."""

import contextlib
import importlib.util
import io
import re
import zlib

import pytest

from tests.processes import ROOT

DOCS = ROOT / "docs"
#: Pages whose code needs files, keys and services of the reader; tests of their subjects run the like.
ILLUSTRATED = ("large", "oracle", "zarr")
PAGES = [page for page in sorted(DOCS.glob("*.md")) if page.stem not in ILLUSTRATED]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def load(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def examples(text):
    """(code, what it prints, or None if the page does not say) for each block of Python."""
    blocks = list(BLOCK.finditer(text))
    for at, block in enumerate(blocks):
        if block[1] != "python":
            continue
        printed = None
        if at + 1 < len(blocks) and blocks[at + 1][1] == "text":
            between = text[block.end() : blocks[at + 1].start()]
            printed = blocks[at + 1][2] if not between.strip() else None
        yield block[2], printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": page.stem}
    for code, printed in examples(page.read_text("utf-8")):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, page.name, "exec"), namespace)
        if printed is not None:
            assert out.getvalue() == printed
        else:
            assert out.getvalue() == ""


@pytest.mark.parametrize("name", ILLUSTRATED)
def test_code_that_is_not_run_is_python_all_the_same(name):
    found = list(examples((DOCS / f"{name}.md").read_text("utf-8")))
    assert found
    for code, _ in found:
        compile(code, name, "exec")


def test_pages_have_code_and_output():
    found = [example for page in PAGES for example in examples(page.read_text("utf-8"))]
    assert len(found) > 20
    assert sum(printed is not None for _, printed in found) > 15


def test_drawings_are_what_the_script_draws():
    drawings = load("drawings")
    for name, draw in drawings.DRAWINGS.items():
        assert (DOCS / "_static" / name).read_text("utf-8") == draw(), f"run docs/drawings.py: {name} differs"


def test_picture_of_the_modes_is_what_the_lab_draws():
    drawings = load("drawings")
    expected = drawings.modes_picture()
    data = (DOCS / "_static" / "modes.png").read_bytes()
    assert len(data) < 100_000
    length = int.from_bytes(data[33:37], "big")
    assert data[37:41] == b"IDAT"
    rows = zlib.decompress(data[41 : 41 + length])
    height, width = expected.shape[:2]
    assert data[16:24] == width.to_bytes(4, "big") + height.to_bytes(4, "big")
    stride = 3 * width + 1
    assert b"".join(rows[at + 1 : at + stride] for at in range(0, len(rows), stride)) == expected.tobytes()


def test_best_of_keeps_the_fastest_of_each_row():
    best_of = load("best_of")
    row = {"section": "modes", "operation": "ctr enc", "key_bits": 256, "size_bytes": 1024, "ours": True}
    rows = [
        [
            {**row, "implementation": name, "nanosecs_per_call": time, "ratio": 1.0}
            for name, time in run.items()
        ]
        for run in ({"a": 10.0, "b": 40.0}, {"a": 20.0, "b": 30.0, "c": 5.0})
    ]
    about = {"twofishkit": "1", "machine": {"system": "x"}, "peers": {}}
    joined = best_of.best_of([{**about, "results": each} for each in rows])
    assert joined["runs"] == 2
    found = {each["implementation"]: each["nanosecs_per_call"] for each in joined["results"]}
    assert found == {"a": 10.0, "b": 30.0, "c": 5.0}
    assert not any("ratio" in each for each in joined["results"])
    with pytest.raises(SystemExit, match="different machines"):
        best_of.best_of([{**about, "results": []}, {**about, "peers": {"botan": "3"}, "results": []}])
