"""What the contract suite encrypts: bytes, and arrays of many dtypes and layouts that hold as many."""

from typing import Any

import numpy as np

from tests.contract.rows import Row

#: Bytes that most tests work on: a length that all rows take, and more than one batch of 4 blocks.
N = 96
DATA = bytes((7 * i + i // 16) % 256 for i in range(N))

STRUCTURED = np.dtype([("when", "M8[ms]"), ("flag", "?"), ("value", ">f4"), ("name", "S3")])
PADDED = np.dtype({"names": ["a", "b"], "formats": ["u1", "<u4"], "offsets": [0, 4], "itemsize": 24})
SAMPLES = {
    "float64": np.linspace(-1, 1, 12),
    "float16 with NaN": np.array([np.nan, np.inf, -0.0, 1.0] * 12, np.float16),
    "big-endian": np.arange(24, dtype=">u4").reshape(2, 3, 4),
    "complex": (np.arange(6) + 1j * np.arange(6)).reshape(3, 2),
    "bool": np.arange(96).reshape(8, 12) % 3 == 0,
    "datetime64 with NaT": np.array(["2024-02-29", "NaT", "1969-12-31"] * 4, "M8[us]"),
    "timedelta64": np.arange(12).astype("m8[7m]"),
    "bytes": np.array([b"abc", b"", b"de"] * 4, "S8"),
    "strings": np.array(["é", "ab", ""] * 4, "U2"),
    "structured": np.frombuffer(DATA, STRUCTURED),
    "structured with padding": np.frombuffer(DATA, PADDED),
    "void": np.frombuffer(DATA, "V12"),
    "0-d": np.array(DATA, "S96"),
    "record array": np.frombuffer(DATA, STRUCTURED).view(np.recarray),
}

BASE = np.frombuffer(DATA * 4, "<u2").reshape(8, 24)
LAYOUTS = {
    "read-only": np.frombuffer(DATA, "<i4"),
    "Fortran": np.asfortranarray(BASE[:4, :12]),
    "transposed": BASE[:4, :12].T,
    "every second": BASE[::2, ::2][:, :12],
    "reversed": BASE[:2, ::-1],
    "reversed rows": BASE[1::-1],
    "broadcast": np.broadcast_to(BASE[0], (2, 24)),
    "one column": BASE.reshape(-1, 4)[:, 1],
    "field of a structure": np.zeros(24, [("a", "u1"), ("b", "<u4")])["b"],
    "sliding windows": np.lib.stride_tricks.sliding_window_view(BASE[0, :19], 12)[:4],
    "unaligned": np.frombuffer(b"x" + DATA, np.uint8)[1:].view("<f8"),
    "structured with padding, reversed": SAMPLES["structured with padding"][::-1],
    "subclass": BASE[:2].view(np.matrix),
}


def raw(result: Any) -> bytes:
    return result.tobytes() if isinstance(result, np.ndarray) else bytes(result)


def directions(row: Row, mode: Any, plaintext: Any, ciphertext: Any) -> list[tuple[Any, Any, Any]]:
    """For both directions: the call, its input and its result."""
    return [
        (lambda data, out=None: row.encrypt(mode, data, out), plaintext, ciphertext),
        (lambda data, out=None: row.decrypt(mode, data, out), ciphertext, plaintext),
    ]
