"""Imports point down only, as the design draws them; the first that points up fails.

A unit is a module or package directly under `twofishkit`. It may import units on lower lines of
`LAYERS` and its own modules, nothing beside or above it. A new unit has to be given its place here.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import ROOT

PACKAGE = ROOT / "twofishkit"

#: Top to bottom. The public API is `twofishkit/__init__.py`.
LAYERS = (
    {"__main__"},
    {"cli"},
    {"commands", "bench"},
    {"integrations", "compat", "lab"},
    {"twofishkit"},
    {"sealed", "testing"},
    {"modes"},
    {"ghash", "xor"},
    {"cipher"},
    {"backend"},
    {"parallel", "vectorised", "reference_slots"},
    {"composed", "vectorised_ghash", "kernels", "blocks"},
    {"simd", "reference", "buffers", "positions"},
    {"errors", "slots", "forks"},
)
RANK = {unit: len(LAYERS) - line for line, units in enumerate(LAYERS) for unit in units}

#: `testing` works on the public API, as users' tests do, and on the reference.
EXCEPTIONS = {("testing", "twofishkit")}

#: Packages that every unit may need, and those that only some may.
THIRD_PARTY = {"numpy", "tqdm"}
THIRD_PARTY_OF = {
    "kernels": {"numba", "llvmlite"},
    "simd": {"numba", "llvmlite"},
    "backend": {"numba"},  # by name, to see whether it is there
    "sealed": {"fsspec"},  # for URLs alone, by name
    "lab": {"matplotlib"},  # in plot() alone
    "bench": {"numba"},  # for its clock
    "integrations": {"zarr", "numcodecs", "keyring"},  # the extra "zarr"
    "testing": {"cryptography", "hypothesis", "oxifish", "pytest", "twofish"},  # peers, strategies, suite
    "compat": {"cryptography"},  # its InvalidTag, where it is there
}


def modules() -> dict[str, Path]:
    """Dotted name of each module of the package, and its file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("twofishkit", *path.relative_to(PACKAGE).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


MODULES = modules()


def unit(module: str) -> str:
    return module.split(".")[1] if "." in module else "twofishkit"


def imports(source: str, module: str, *, is_package: bool) -> Iterator[str]:
    """Dotted names of what a module imports: statements anywhere, and `import_module` of a constant."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".")[: None if is_package else -1]
                kept = package[: len(package) - node.level + 1]
                base = ".".join([*kept, *filter(None, [node.module])])
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield full if full in MODULES else base
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("import_module", "_import", "__import__") and isinstance(node.args[0].value, str):
                yield node.args[0].value


def imported_by(module: str) -> set[str]:
    path = MODULES[module]
    return set(imports(path.read_text("utf-8"), module, is_package=path.name == "__init__.py"))


def test_every_unit_has_its_place():
    assert {unit(module) for module in MODULES} - RANK.keys() == set()
    assert sum(map(len, LAYERS)) == len(RANK)


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module):
    here = unit(module)
    for imported in imported_by(module):
        if imported.split(".")[0] != "twofishkit":
            continue
        there = unit(imported)
        allowed = there == here or RANK[there] < RANK[here] or (here, there) in EXCEPTIONS
        assert allowed, f"{module} imports {imported}: {here} lies below or beside {there}"


@pytest.mark.parametrize("module", MODULES)
def test_third_party_packages_stay_where_they_belong(module):
    allowed = {"twofishkit", "_typeshed"} | sys.stdlib_module_names
    allowed |= THIRD_PARTY | THIRD_PARTY_OF.get(unit(module), set())
    assert {imported.split(".")[0] for imported in imported_by(module)} - allowed == set()


@pytest.mark.parametrize(
    "module", [name for name in MODULES if unit(name) in ("reference", "errors", "forks")]
)
def test_reference_needs_the_standard_library_only(module):
    for imported in imported_by(module):
        top = imported.split(".")[0]
        ours = imported.startswith(("twofishkit.reference", "twofishkit.errors"))
        assert top in sys.stdlib_module_names or ours, f"{module} imports {imported}"


@pytest.mark.parametrize("module", [name for name in MODULES if unit(name) in ("modes", "cipher", "sealed")])
def test_modes_name_no_implementation(module):
    """Mode logic calls slots; only `backend` knows who fills them."""
    implementations = {
        "kernels",
        "simd",
        "composed",
        "positions",
        "vectorised",
        "vectorised_ghash",
        "reference_slots",
    }
    ours = {unit(imported) for imported in imported_by(module) if imported.startswith("twofishkit")}
    assert ours & implementations == set()


def test_the_parser_sees_every_form_of_import():
    source = """
import twofishkit.xor
from twofishkit import backend, errors
from .padding import pad
from . import padding
from .. import cipher
def late():
    import importlib
    importlib.import_module("twofishkit.kernels.gather")
"""
    assert set(imports(source, "twofishkit.modes.cbc", is_package=False)) == {
        "twofishkit.xor",
        "twofishkit.backend",
        "twofishkit.errors",
        "twofishkit.modes.padding",
        "twofishkit.cipher",
        "importlib",
        "twofishkit.kernels.gather",
    }
