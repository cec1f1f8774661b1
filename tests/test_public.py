"""The names that the package exports: complete, lazy, and what DESIGN calls them."""

import ast
import subprocess
import sys
import types
from pathlib import Path

import pytest

import twofishkit as tk

CLASSES = [
    "ECB",
    "CBC",
    "CFB",
    "CFB8",
    "OFB",
    "CTR",
    "XTS",
    "GCM",
    "OCB",
    "EAX",
    "CCM",
    "SIV",
    "CMAC",
    "GMAC",
    "GHASH",
    "POLYVAL",
    "Twofish",
]
FUNCTIONS = ["xor", "generate_key", "seal", "unseal", "save", "load", "savez", "loadz"]


def test_every_public_name_is_there():
    for name in CLASSES:
        assert isinstance(getattr(tk, name), type), name
        assert getattr(tk, name).__name__ == name
    for name in FUNCTIONS:
        assert isinstance(getattr(tk, name), types.FunctionType), name
    for name in tk.__all__:
        getattr(tk, name)
    assert set(CLASSES + FUNCTIONS) <= set(tk.__all__) <= set(dir(tk))
    assert tk.backend.__name__ == "twofishkit.backend"


def test_every_error_is_exported():
    for name, value in vars(tk.errors).items():
        if isinstance(value, type):
            assert getattr(tk, name) is value
            assert issubclass(value, tk.TwofishKitError)


def test_the_lazy_table_agrees_with_what_type_checkers_see():
    tree = ast.parse(Path(tk.__file__).read_text())
    seen = {}
    for block in (node for node in tree.body if isinstance(node, ast.If)):
        for line in block.body:
            if line.module != "twofishkit":
                seen.update({alias.name: line.module for alias in line.names})
    assert seen == tk._HOMES


def test_unknown_names():
    with pytest.raises(AttributeError, match="module 'twofishkit' has no attribute 'AES'"):
        tk.AES  # noqa: B018


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_xor_is_the_function_even_if_its_module_is_imported_first():
    assert run("import twofishkit.xor, twofishkit as tk; print(tk.xor(b'a', b'A'))").strip() == "b' '"


def test_star_import():
    assert "Twofish" in run("from twofishkit import *; print(sorted(n for n in dir() if n[0] != '_'))")
