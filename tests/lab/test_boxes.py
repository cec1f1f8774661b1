"""Difference and linear tables, against their definitions."""

import numpy as np
import pytest

from twofishkit import errors, lab
from twofishkit.reference import block as paper

RNG = np.random.default_rng(5)


def parity(value):
    return int(value).bit_count() & 1


@pytest.mark.parametrize("box", [paper.Q0_NIBBLES[0], RNG.permutation(32), [1, 0], RNG.integers(0, 16, 8)])
def test_tables_by_their_definitions(box):
    n = len(box)
    differences, linear = lab.difference_table(box), lab.linear_table(box)
    m = max(n, 1 << int(max(box)).bit_length())
    assert differences.shape == linear.shape == (n, m)
    for a in range(n):
        for b in range(m):
            assert differences[a, b] == sum(int(box[x]) ^ int(box[x ^ a]) == b for x in range(n))
            agree = sum(parity(a & x) == parity(b & int(box[x])) for x in range(n))
            assert linear[a, b] == agree - n // 2


@pytest.mark.parametrize("box", [lab.q0, lab.q1], ids=["q0", "q1"])
def test_published_bounds_of_the_fixed_permutations(box):
    """Section 7.2.3 of the paper: the largest differential has 10/256, the linear bias is 1/4 squared."""
    assert lab.difference_table(box)[1:].max() == 10
    assert np.abs(lab.linear_table(box)[1:]).max() == 32
    assert "largest entry besides row 0 is 10" in repr(lab.difference_table(box))
    assert "largest entry besides row 0 is ±32" in repr(lab.linear_table(box))


def test_tables_of_a_permutation_have_the_sums_that_they_must_have():
    box = lab.sboxes(bytes(range(32)))[2]
    differences, linear = lab.difference_table(box), lab.linear_table(box)
    assert (differences.sum(axis=0) == 256).all()
    assert (differences.sum(axis=1) == 256).all()
    # Parseval: the squares of each row of 2 L sum to 256^2.
    assert ((2 * linear) ** 2).sum(axis=1).tolist() == [256**2] * 256


@pytest.mark.parametrize("table", [lab.difference_table, lab.linear_table])
@pytest.mark.parametrize(
    ("box", "error"),
    [
        (np.zeros((4, 256), np.uint8), errors.InvalidLength),
        ([1, 2, 3], errors.InvalidLength),
        ([0], errors.InvalidLength),
        (np.arange(512), errors.InvalidLength),
        ([0, 256], errors.InvalidParameter),
        ([0, -1], errors.InvalidParameter),
        ([0.5, 1.0], errors.UnsupportedType),
        (7, errors.InvalidLength),
    ],
)
def test_errors(table, box, error):
    with pytest.raises(error):
        table(box)
