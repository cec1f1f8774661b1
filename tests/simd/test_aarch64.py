"""`simd.aarch64`: the right instructions come out of the cross-compiler; under emulation, right answers."""

import re

import numpy as np
import pytest

from tests.simd import emulate
from tests.simd.test_instructions import carryless

KERNELS = "tests.simd.aarch64_kernels"
rng = np.random.default_rng(0xA64)


def count(listing, instruction):
    return len(re.findall(rf"^\s+{instruction}\s", listing, re.MULTILINE))


def test_each_function_is_its_instruction(tmp_path):
    names = (f"{KERNELS}:lookups", f"{KERNELS}:products")
    listing = emulate.cross_compile(tmp_path / "kernels.s", *names).read_text()
    assert count(listing, "tbl") == 6
    assert count(listing, "pmull2?") == 12
    assert re.search(r"tbl\s+v\d+\.16b, \{ v\d+\.16b, v\d+\.16b, v\d+\.16b, v\d+\.16b \}", listing)


@pytest.fixture
def compiled(tmp_path):
    reason = emulate.missing()
    if reason:
        pytest.skip(reason)
    return lambda name, n: emulate.AArch64Kernel(tmp_path, name, n)


@pytest.mark.slow
def test_lookups_under_emulation(compiled):
    tables, index = (np.frombuffer(rng.bytes(n), np.uint8) for n in (64, 32))
    index = index % 80
    out = np.zeros(96, np.uint8)
    compiled(f"{KERNELS}:lookups", 3)(tables, index, out)
    for k in range(1, 5):
        expected = [tables[i] if i < 16 * k else 0 for i in index[:16]]
        assert out[16 * k - 16 : 16 * k].tolist() == expected
    expected = np.take_along_axis(tables[:32].reshape(2, 16), (index & 15).reshape(2, 16).astype(int), 1)
    np.testing.assert_array_equal(out[64:], expected.reshape(-1))


@pytest.mark.slow
def test_products_under_emulation(compiled):
    a, b = (np.frombuffer(rng.bytes(32), np.uint64) for _ in range(2))
    out = np.zeros(24, np.uint64)
    compiled(f"{KERNELS}:products", 3)(a, b, out)
    results = [int(low) | int(high) << 64 for low, high in out.reshape(-1, 2)]
    choices = [(h & 1, h >> 4) for h in (0x00, 0x01, 0x10, 0x11)]
    assert results[:4] == [carryless(int(a[i]), int(b[j])) for i, j in choices]
    assert results[4:] == [
        carryless(int(a[i + block]), int(b[j + block])) for i, j in choices for block in (0, 2)
    ]
