"""More than 4 GiB in one message: no length, offset or chunk number wraps at 32 bits."""

import numpy as np
import pytest

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit.errors import InvalidTag

N = (1 << 32) + 16
MARKS = [0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, N - 1]


@pytest.mark.slow
def test_more_than_four_gibibytes(tmp_path):
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(N)
    source = np.memmap(tmp_path / "sparse", np.uint8, "r+")
    source[MARKS] = np.arange(1, len(MARKS) + 1)
    path = tmp_path / "sealed"
    tk.save(path, source, KEY)
    assert path.stat().st_size == 52 + 8 + 5 + 56 + N + 16 * (N // 16384 + 1)
    loaded = tk.load(path, KEY)
    assert loaded.shape == (N,)
    assert loaded[MARKS].tolist() == list(range(1, len(MARKS) + 1))
    assert np.count_nonzero(loaded) == len(MARKS)
    del loaded, source
    with open(path, "r+b") as file:
        file.seek(-20, 2)
        byte = file.read(1)
        file.seek(-20, 2)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(InvalidTag, match="chunk 262144 "):
        tk.load(path, KEY)
