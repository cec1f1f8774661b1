"""The README and the page on speed state what is in ``docs/data/bench.json``, and nothing else."""

import importlib.util
import json
import re

import pytest

from tests.processes import ROOT

README = (ROOT / "README.md").read_text("utf-8")


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def readme_table():
    return load(ROOT / "benchmarks" / "readme_table.py")


@pytest.fixture(scope="module")
def measured(readme_table):
    return json.loads(readme_table.MEASURED.read_text("utf-8"))


def test_readme_has_the_measured_figures(readme_table, measured):
    assert readme_table.updated(README, measured) == README, "run python benchmarks/readme_table.py"


def test_readme_and_the_page_on_speed_agree(readme_table, measured):
    """Both round the same records, so that what both state is the same number."""
    page = {}
    for line in readme_table.speed.table(measured).splitlines()[2:]:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        page[name] = [cell.partition("<br>")[0] for cell in cells]
    columns = readme_table.speed.table(measured).splitlines()[0].replace("<br>", " ").strip("|").split("|")
    columns = [column.strip() for column in columns][1:]
    head, _, *rows = re.findall(r"^\|.*\|$", README.partition("<!-- bench -->")[2], re.MULTILINE)
    compared = 0
    for row in rows:
        title, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        title = title.removesuffix(", one message")
        for column, cell in zip(
            [each.strip() for each in head.strip("|").split("|")][1:], cells, strict=True
        ):
            if cell != "-":
                assert cell.partition(" (")[0] == page[title][columns.index(column)], (title, column)
                compared += 1
    assert compared > 30


def test_readme_fits_on_two_screens():
    lines = README.splitlines()
    assert len(lines) <= 82
    assert max(len(line) for line in lines if not line.startswith("|")) <= 100


def test_readme_has_one_picture_and_one_table():
    assert README.count("![") == 1
    assert len(re.findall(r"^\|[-:|]+\|$", README, re.MULTILINE)) == 1
