"""The examples in docstrings give what they say."""

import doctest
import importlib

import numpy as np
import pytest

import twofishkit as tk
from tests.processes import ROOT

PACKAGE = ROOT / "twofishkit"
MODULES = [
    ".".join(("twofishkit", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What an example may take for granted: these names, and a sealed file in the current directory."""
    monkeypatch.chdir(tmp_path)
    key = bytes(range(32))
    tk.save("temps.tfk", np.zeros((20, 180, 360), "f4"), key)
    days = np.zeros((2, 180, 360), "f4")
    return {"np": np, "tk": tk, "Twofish": tk.Twofish, "key": key, "days": days}


@pytest.mark.parametrize("module", MODULES)
def test_examples(module, names):
    result = doctest.testmod(importlib.import_module(module), extraglobs=names)
    assert result.failed == 0


def test_there_are_examples():
    assert {"twofishkit", "twofishkit.lab.encryption"} <= set(MODULES)
