"""What the golden files hold, stated without twofishkit: plain NumPy values from fixed formulas."""

import numpy as np

KEY = bytes(range(32))
PASSPHRASE = "correct horse b\u00e4ttery"

_STRUCT = np.dtype(
    {
        "names": ["t", "xyz", "flag"],
        "formats": ["<M8[s]", (">f4", (3,)), "?"],
        "offsets": [0, 8, 24],
        "itemsize": 32,
    }
)


def _structured():
    array = np.zeros(5, _STRUCT)
    array["t"] = np.arange(5).astype("M8[s]")
    array["t"][3] = "NaT"
    array["xyz"] = np.arange(15).reshape(5, 3) / 4
    array["flag"] = [True, False, True, True, False]
    return array


#: name -> (value, metadata, sealed with the passphrase instead of the key)
CASES = {
    "bytes-empty": (b"", None, False),
    "bytes-short": (b"The quick brown fox", {"mimetype": "text/plain"}, False),
    "bytes-one-chunk-exactly": (bytes(i % 251 for i in range(16384)), None, False),
    "array-float32": (np.arange(12, dtype="<f4").reshape(3, 4) / 8, {"unit": "K", "tags": [1, None]}, False),
    "array-fortran-big-endian": (np.asfortranarray(np.arange(24, dtype=">i2").reshape(2, 3, 4)), None, False),
    "array-three-chunks": (np.arange(5000, dtype="<u8") * 2654435761, None, False),
    "array-zero-dimensional": (np.array(1 + 2j, "<c16"), None, False),
    "array-no-elements": (np.empty((0, 7), "<i4"), None, False),
    "array-datetime": (np.array(["2024-02-29", "NaT", "1969-12-31"], "<M8[D]"), None, False),
    "array-strings": (np.array(["Grüße", "", "\U0001f41f"], "<U5"), None, False),
    "array-structured": (_structured(), None, False),
    "array-passphrase": (np.arange(4, dtype="<i8"), None, True),
}

ARCHIVE = {
    "temperature": np.arange(6000, dtype="<f8").reshape(60, 100),
    "name with space \u00e9": np.array([True, False]),
    "raw": b"\x00\x01\x02",
    "empty": np.empty(0, "<f4"),
}
ARCHIVE_METADATA = {"station": 7}
