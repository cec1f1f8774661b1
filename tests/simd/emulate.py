"""Run kernels compiled for AArch64 under emulation.

Set-up on Debian or Ubuntu (once; the tests that need it skip, and say so, without it)::

    apt-get install qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross

Each kernel is cross-compiled to an object file (cross.py) and linked statically with a small C program that
reads its arrays from a file, calls the kernel and writes the arrays back. Numba's wrappers for
Python are in the object, too, and refer to Python: those references stay unresolved and unused.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

TRIPLE, CPU = "aarch64-linux-gnu", "cortex-a72"
FEATURES = "+neon,+aes"
EMULATOR, COMPILER = "qemu-aarch64-static", "aarch64-linux-gnu-gcc"


def missing():
    """What must be installed before `AArch64Kernel` works, or None."""
    absent = [program for program in (EMULATOR, COMPILER) if shutil.which(program) is None]
    return f"needs {' and '.join(absent)} (tests/simd/emulate.py says how)" if absent else None


def cross_compile(output, *kernels, triple=TRIPLE, cpu=CPU, features=FEATURES):
    """Compile kernels (``module:name``) to assembly or an object file, in a process of its own."""
    command = [sys.executable, "-m", "tests.simd.cross", triple, cpu, features, str(output), *kernels]
    # Code for another target must not come near the cache.
    environment = os.environ | {"TWOFISHKIT_CACHE_DIR": ""}
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Path(output)


# An array in Numba's calling convention: memory owner, parent, items, item size, data, shape, stride.
_MAIN = """
#include <stdio.h>
#include <stdlib.h>

#define ARRAY void *, void *, long, long, void *, long, long
extern int kernel(void **, void **, %(parameters)s) __asm__("%(symbol)s");

static void *data[%(n)d];
static long items[%(n)d], width[%(n)d];

int main(int argc, char **argv) {
    FILE *file = fopen(argv[1], "rb");
    for (int i = 0; i < %(n)d; i++) {
        fread(&items[i], 8, 1, file);
        fread(&width[i], 8, 1, file);
        data[i] = malloc(items[i] * width[i] + 1);
        fread(data[i], width[i], items[i], file);
    }
    fclose(file);
    void *result = 0, *exception = 0;
    int status = kernel(&result, &exception, %(arguments)s);
    file = fopen(argv[1], "wb");
    for (int i = 0; i < %(n)d; i++) fwrite(data[i], width[i], items[i], file);
    fclose(file);
    return status;
}
"""


class AArch64Kernel:
    """A kernel of ``n`` one-dimensional arrays, called like the original."""

    def __init__(self, folder, name, n):
        self._path = Path(folder)
        stem = name.replace(":", ".")
        compiled = cross_compile(self._path / f"{stem}.o", name)
        listing = cross_compile(self._path / f"{stem}.s", name).read_text()
        function = name.split(":")[1]
        pattern = rf"^\s*\.globl\s+(_ZN(?!7cpython)\w*?\d+{function}B\w+)"
        (symbol,) = set(re.findall(pattern, listing, re.MULTILINE))
        one = "0, 0, items[{0}], width[{0}], data[{0}], items[{0}], width[{0}]"
        source = self._path / f"{stem}.c"
        source.write_text(
            _MAIN
            % {
                "symbol": symbol,
                "n": n,
                "parameters": ", ".join(["ARRAY"] * n),
                "arguments": ", ".join(one.format(i) for i in range(n)),
            }
        )
        self._program = self._path / stem
        command = [COMPILER, "-O1", "-w", "-static", "-Wl,--unresolved-symbols=ignore-all"]
        subprocess.run([*command, "-o", self._program, source, compiled], check=True, capture_output=True)

    def __call__(self, *arrays):
        file = self._path / "arrays"
        with file.open("wb") as target:
            for array in arrays:
                target.write(np.array([array.size, array.itemsize], np.int64).tobytes() + array.tobytes())
        subprocess.run([EMULATOR, "-cpu", "max", self._program, file], check=True, capture_output=True)
        result = file.read_bytes()
        for array in arrays:
            new, result = result[: array.nbytes], result[array.nbytes :]
            if array.flags.writeable:
                array[:] = np.frombuffer(new, array.dtype)
