"""Seal an array to a file, load it back, and see that nothing else opens it.

    python examples/seal_array.py [ARRAY.npy]

Without an argument the array is a year of daily temperatures on a two-degree grid: 24 MB of float32.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import twofishkit as tk


def temperatures() -> np.ndarray:
    """Daily temperatures in kelvin, float32[365, 90, 180]: latitude, season and weather."""
    weather = np.random.default_rng(2024).standard_normal((365, 90, 180), dtype=np.float32)
    latitude = np.radians(np.linspace(-89, 89, 90, dtype=np.float32))[None, :, None]
    season = np.cos(np.linspace(0, 2 * np.pi, 365, dtype=np.float32))[:, None, None]
    return 260 + 40 * np.cos(latitude) - 12 * np.sin(latitude) * season + 3 * weather


def main(arguments: list[str]) -> None:
    array = np.load(arguments[0]) if arguments else temperatures()
    key = tk.generate_key()  # 32 random bytes: whoever has them can read the file

    begin = time.perf_counter()
    tk.unseal(tk.seal(b"once", key), key)
    print(f"ready    in {time.perf_counter() - begin:.2f} s (kernels are compiled the first time)")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "temperatures.tfk"

        begin = time.perf_counter()
        tk.save(path, array, key)
        sealed = time.perf_counter()
        back = tk.load(path, key)
        loaded = time.perf_counter()

        assert back.dtype == array.dtype
        assert back.shape == array.shape
        assert back.tobytes() == array.tobytes()
        print(f"array    {array.dtype}{list(array.shape)}, {array.nbytes / 1e6:.1f} MB")
        print(f"sealed   {path.name}, {path.stat().st_size / 1e6:.1f} MB, in {sealed - begin:.2f} s")
        print(f"loaded   the same array, bit for bit, in {loaded - sealed:.2f} s")

        try:
            tk.load(path, tk.generate_key())
        except tk.WrongKey as error:
            print(f"refused  another key: {error}")

        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        path.write_bytes(damaged)
        try:
            tk.load(path, key)
        except tk.InvalidTag as error:
            print(f"refused  one flipped bit: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
