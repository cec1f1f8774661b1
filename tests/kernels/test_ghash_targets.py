"""GHASH kernels compiled for lesser processors than this one, each target in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SSE2 = {"NUMBA_CPU_NAME": "generic"}
SSSE3 = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2,+ssse3,+pclmul"}
AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+ssse3,+sse4.2,+avx,+avx2,+bmi2,+pclmul"}
NO_VBMI = {
    "NUMBA_CPU_NAME": "skylake-avx512",
    "NUMBA_CPU_FEATURES": "+ssse3,+avx2,+avx512f,+avx512bw,+avx512dq,+avx512vl,+pclmul,+vpclmulqdq",
}
#: No switch on AVX-512VL: narrow vectors must not need it.
BARE_AVX512 = {
    "NUMBA_CPU_NAME": "x86-64",
    "NUMBA_CPU_FEATURES": "+ssse3,+avx512f,+avx512bw,+pclmul,+vpclmulqdq",
}
TARGETS = {
    "SSE2": (SSE2, ["portable"]),
    "SSSE3": (SSSE3, ["portable", "pclmul"]),
    "AVX2": (AVX2, ["portable", "pclmul"]),
    "AVX-512 without VBMI": (NO_VBMI, ["portable", "pclmul", "vpclmul"]),
    "AVX-512 F and BW": (BARE_AVX512, ["portable", "pclmul", "vpclmul"]),
}

PROGRAM = """
import importlib, sys
from tests.kernels.test_ghash import KERNELS, ghash, polyval
from tests.vectors_io import vectors
from twofishkit.kernels.target import lacking

for name, (file, attribute) in KERNELS.items():
    module = importlib.import_module(f"twofishkit.kernels.{file}")
    if lacking(module.REQUIRES):
        continue
    slots = getattr(module, attribute)
    for v in vectors("ghash.json"):
        assert ghash(slots, v["H"], v["input"]) == v["output"], (name, v["id"])
    for v in vectors("polyval.json"):
        assert polyval(slots, v["H"], v["input"]) == v["output"], (name, v["id"])
    print(name)
"""


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_vectors_on_target(target, tmp_path):
    from twofishkit.kernels.target import architecture, host_features

    settings, expected = TARGETS[target]
    needed = {word[1:] for word in settings.get("NUMBA_CPU_FEATURES", "").split(",") if word}
    if architecture() != "x86-64" or not needed <= host_features():
        pytest.skip(f"this machine cannot run code for {target}")
    environment = os.environ | settings | {"TWOFISHKIT_CACHE_DIR": str(tmp_path)}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == expected
