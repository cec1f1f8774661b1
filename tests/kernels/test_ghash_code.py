"""What GHASH kernels compile to: constant time, the instructions meant, and code for AArch64."""

import importlib
import re

import numpy as np
import pytest
from llvmlite.binding import llvm_version_info

from tests.constant_time import leaks, optimised_module
from tests.simd import emulate
from tests.vectors_io import sample, vectors
from twofishkit.kernels import ghash as portable
from twofishkit.kernels import ghash_clmul, ghash_pmull
from twofishkit.kernels.target import lacking

#: Kernels and how many arrays they take.
ARRAYS = {"_expand_ghash": 2, "_expand_polyval": 2, "ghash": 3, "polyval": 3}
MODULES = {"portable": "ghash", "pclmul": "ghash_pclmul", "vpclmul": "ghash_vpclmul"}


@pytest.fixture(params=MODULES)
def module(request):
    module = importlib.import_module(f"twofishkit.kernels.{MODULES[request.param]}")
    reason = lacking(module.REQUIRES)
    if reason:
        pytest.skip(reason)
    return module


def count(listing, instruction):
    return len(re.findall(rf"^\s+{instruction}\s", listing, re.MULTILINE))


@pytest.mark.parametrize("name", ARRAYS)
def test_constant_time(module, name):
    """No load, store or branch depends on the key, the state or the message."""
    assert leaks(getattr(module, name)) == []


def assembly(kernel):
    from numba.core.registry import cpu_target

    machine = cpu_target.target_context.codegen()._tm
    return machine.emit_assembly(optimised_module(kernel))


def test_pclmul_code():
    module = importlib.import_module("twofishkit.kernels.ghash_pclmul")
    if reason := lacking(module.REQUIRES):
        pytest.skip(reason)
    listing = assembly(module.ghash)
    multiplies = count(listing, "v?pclmul[a-z]*qdq")
    assert multiplies >= 3 * ghash_clmul.N // 2
    assert "zmm" not in "".join(re.findall(r"^.*pclmul.*qdq.*$", listing, re.MULTILINE))


def test_vpclmul_code():
    """Only 512-bit multiplies, and one byte permute for each half of a pair of vectors."""
    module = importlib.import_module("twofishkit.kernels.ghash_vpclmul")
    if reason := lacking(module.REQUIRES):
        pytest.skip(reason)
    listing = assembly(module.ghash)
    multiplies = re.findall(r"^\s+vpclmul[a-z]*qdq.*$", listing, re.MULTILINE)
    assert multiplies
    assert all("zmm" in line for line in multiplies)
    if not lacking(frozenset({"avx512vbmi"})):
        # LLVM 15, of the oldest Numba, has one more for something else.
        assert 0 <= count(listing, r"vperm[it]2b") - len(multiplies) // 3 <= 1
        assert not re.search(r"vpshufb.*zmm", listing)


@pytest.fixture(scope="module")
def aarch64_listings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aarch64")
    return {
        name: emulate.cross_compile(folder / f"{name}.s", f"twofishkit.kernels.{name}:ghash").read_text()
        for name in ("ghash", "ghash_pmull")
    }


def test_pmull_code(aarch64_listings):
    listing = aarch64_listings["ghash_pmull"]
    assert count(listing, "pmull2?") >= 3 * ghash_clmul.N // 2
    assert count(listing, "pmull2") >= ghash_clmul.N // 2
    called = re.findall(r"\sbl\s+(_ZN\w+)", listing)
    assert all("ghash_pmull5ghashB" in name for name in called), "a helper was not inlined"


def test_portable_code_on_aarch64(aarch64_listings):
    listing = aarch64_listings["ghash"]
    assert count(listing, "pmull2?") == 0
    if llvm_version_info >= (20,):  # LLVM 15, of the oldest Numba, finds none
        assert count(listing, "umull2?") >= 32


@pytest.mark.slow
@pytest.mark.parametrize("module", [portable, ghash_pmull], ids=["portable", "pmull"])
def test_vectors_under_emulation(module, tmp_path):
    if reason := emulate.missing():
        pytest.skip(reason)
    compiled = {
        name: emulate.AArch64Kernel(tmp_path, f"{module.__name__}:{name}", n) for name, n in ARRAYS.items()
    }
    words = module.TABLE_WORDS

    def run(kind, h, data):
        table, y = np.zeros(words, np.uint64), np.zeros(16, np.uint8)
        compiled[f"_expand_{kind}"](table, np.frombuffer(h, np.uint8))
        compiled[kind](table, y, np.frombuffer(data, np.uint8))
        return y.tobytes()

    for vector in sample(vectors("ghash.json"), 80):
        assert run("ghash", vector["H"], vector["input"]) == vector["output"], vector["id"]
    for vector in sample(vectors("polyval.json"), 20):
        assert run("polyval", vector["H"], vector["input"]) == vector["output"], vector["id"]
