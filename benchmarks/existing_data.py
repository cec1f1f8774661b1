"""What the recipes cost beside the programs they stand in for: the figures of docs/recipes.

    python benchmarks/existing_data.py kdbx     a KDBX of 64 MiB: pykeepass with our Twofish, and with its own
    python benchmarks/existing_data.py gpg      a message of 64 MiB: gpg -d and the recipe, and CFB alone
    python benchmarks/existing_data.py xts      1 GiB in sectors of 512 bytes: libgcrypt (a loop in C) and XTS

``--mebibytes`` makes them smaller. Each prints its figures beside the target; runs are interleaved, the best
of each counts (pykeepass' own cipher runs once, on 1 MiB). Needs the extra ``recipes``, gpg, gcc.
"""

import argparse
import ctypes
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import twofishkit as tk
from twofishkit.testing import peers

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs" / "recipes"))


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def best(rounds: int, *calls: Callable[[], object]) -> list[float]:
    """The best time of each call, the calls taking turns; one round more comes first and does not count."""
    times = [[seconds(call) for call in calls] for _ in range(rounds + 1)][1:]
    return [min(column) for column in zip(*times, strict=True)]


def show(what: str, value: float, mebibytes: int) -> None:
    print(f"  {what:<44} {value * 1000:10.1f} ms {mebibytes / value:10.1f} MiB/s")


def make_kdbx(path: Path, mebibytes: int) -> None:
    """A KDBX 4 with Twofish and an attachment that does not compress."""
    from pykeepass import create_database

    database = create_database(path, password="password")
    header = database.kdbx.header.value.dynamic_header
    header.cipher_id.data, header.encryption_iv.data = "twofish", secrets.token_bytes(16)
    database.add_binary(secrets.token_bytes(mebibytes << 20), compressed=False)
    database.save()


def kdbx(mebibytes: int) -> None:
    """pykeepass' own cipher is measured on 1 MiB: its time grows with the square, 64 MiB would take hours."""
    import keepass

    from twofishkit.compat import pep272

    with tempfile.TemporaryDirectory() as directory:
        large, small = Path(directory, "large.kdbx"), Path(directory, "small.kdbx")
        keepass.use_our_twofish()
        make_kdbx(large, mebibytes)
        make_kdbx(small, 1)
        runs = [keepass.seconds(large, "password", None, pep272) for _ in range(6)][1:]
        ours_all, ours = (min(column) for column in zip(*runs, strict=True))
        theirs_all, theirs = keepass.seconds(small, "password", None, keepass.THEIR_TWOFISH)
    print("KDBX opened by pykeepass")
    show("its own Twofish, cipher part, 1 MiB", theirs, 1)
    show("its own Twofish, all, 1 MiB", theirs_all, 1)
    show(f"twofishkit, cipher part, {mebibytes} MiB", ours, mebibytes)
    show(f"twofishkit, all, {mebibytes} MiB", ours_all, mebibytes)
    print(f"  cipher part, for each MiB: {theirs * mebibytes / ours:.0f} times as fast (target: 200 or more)")


def gpg(mebibytes: int) -> None:
    import openpgp

    data = secrets.token_bytes(mebibytes << 20)
    with tempfile.TemporaryDirectory() as directory:
        home, message = Path(directory, "home"), Path(directory, "message.gpg")
        home.mkdir(mode=0o700)
        options = [
            "gpg",
            "--homedir",
            str(home),
            "--batch",
            "--yes",
            "--quiet",
            "--pinentry-mode",
            "loopback",
        ]
        options += ["--passphrase", "password"]
        encrypt = [*options, "--cipher-algo", "TWOFISH", "--compress-algo", "none", "-o", str(message), "-c"]
        subprocess.run(encrypt, input=data, check=True)
        sealed, plain = message.read_bytes(), Path(directory, "plain")
        (key,) = openpgp.session_keys(list(openpgp.packets(sealed)), b"password")
        session = ["--override-session-key", f"10:{key.hex().upper()}", "-o", str(plain), "-d", str(message)]

        def recipe() -> None:
            plain.write_bytes(openpgp.decrypt(message.read_bytes(), b"", key))

        gcrypt, buffer = peers.named("libgcrypt"), np.frombuffer(bytearray(sealed), np.uint8)
        if gcrypt is None:
            raise SystemExit("libgcrypt is not installed")
        theirs = gcrypt.bulk("cfb", key, bytes(16), buffer, decrypt=True)
        ours = tk.CFB(key, bytes(16))
        gpg_all, recipe_all, gpg_cipher, our_cipher = best(
            5,
            lambda: subprocess.run([*options, *session], check=True, stderr=subprocess.DEVNULL),
            recipe,
            theirs,
            lambda: ours.decrypt(buffer, out=buffer),
        )
        subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=False)
    print(f"OpenPGP message of {mebibytes} MiB, by session key")
    show("gpg, all", gpg_all, mebibytes)
    show("the recipe, all (without starting Python)", recipe_all, mebibytes)
    show("libgcrypt, CFB alone", gpg_cipher, mebibytes)
    show("twofishkit, CFB alone", our_cipher, mebibytes)
    ratio, all_ratio = our_cipher / gpg_cipher, recipe_all / gpg_all
    print(f"  cipher part: {ratio:.2f} of gpg's time (target: at most 2); all: {all_ratio:.2f}")


#: libgcrypt's own way to do sectors: set the IV, process the sector; declared by hand, without its headers.
LOOP = """
#include <stddef.h>
unsigned gcry_cipher_setiv(void *, const void *, size_t);
unsigned gcry_cipher_decrypt(void *, void *, size_t, const void *, size_t);
unsigned sectors(void *handle, unsigned char *data, size_t n, size_t size) {
    unsigned failed = 0;
    for (unsigned long long i = 0; i < n; i++) {
        unsigned char tweak[16] = {0};
        for (int j = 0; j < 8; j++) tweak[j] = i >> 8 * j;
        failed |= gcry_cipher_setiv(handle, tweak, 16);
        failed |= gcry_cipher_decrypt(handle, data + i * size, size, NULL, 0);
    }
    return failed;
}
"""


def libgcrypt_sectors(key: bytes, buffer: np.ndarray, directory: str) -> Callable[[], object]:
    """A call that decrypts the buffer's sectors in place, all in C."""
    gcrypt = ctypes.CDLL(os.environ.get("TWOFISHKIT_PEER_LIBGCRYPT") or "libgcrypt.so.20", ctypes.RTLD_GLOBAL)
    source, library = Path(directory, "loop.c"), Path(directory, "loop.so")
    source.write_text(LOOP)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    loop, handle = ctypes.CDLL(str(library)), ctypes.c_void_p()
    gcrypt.gcry_check_version(None)
    if gcrypt.gcry_cipher_open(ctypes.byref(handle), 10, 13, 0):  # TWOFISH, XTS
        raise SystemExit("libgcrypt has no Twofish in XTS")
    if gcrypt.gcry_cipher_setkey(handle, key, ctypes.c_size_t(len(key))):
        raise SystemExit("libgcrypt refuses the key")
    sectors = ctypes.c_size_t(buffer.size // 512)

    def run() -> None:
        if loop.sectors(handle, ctypes.c_void_p(buffer.ctypes.data), sectors, ctypes.c_size_t(512)):
            raise SystemExit("libgcrypt failed")

    return run


def xts(mebibytes: int) -> None:
    key = secrets.token_bytes(64)
    buffer = np.zeros(mebibytes << 20, np.uint8)
    check = np.zeros(1 << 16, np.uint8)
    ours = tk.XTS(key)
    with tempfile.TemporaryDirectory() as directory:
        libgcrypt_sectors(key, check, directory)()
        if check.tobytes() != ours.decrypt(bytes(check.size), 0, sector_size=512):
            raise SystemExit("the two do not agree")
        theirs = libgcrypt_sectors(key, buffer, directory)
        gcrypt, one, several = best(
            3,
            theirs,
            lambda: one_thread(lambda: ours.decrypt(buffer, 0, sector_size=512, out=buffer)),
            lambda: ours.decrypt(buffer, 0, sector_size=512, out=buffer),
        )
    print(f"XTS over {mebibytes} MiB in sectors of 512 bytes, in place")
    show("libgcrypt, a loop in C", gcrypt, mebibytes)
    show("twofishkit, one thread", one, mebibytes)
    show("twofishkit, as it comes", several, mebibytes)
    print(f"  {gcrypt / one:.1f} times as fast on one thread, {gcrypt / several:.1f} as it comes")


def one_thread(call: Callable[[], object]) -> None:
    """Run a call without splitting its input over threads."""
    with tk.backend.use(threads=1):
        call()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("figure", choices=["kdbx", "gpg", "xts"])
    parser.add_argument("--mebibytes", type=int)
    args = parser.parse_args()
    whole = {"kdbx": 64, "gpg": 64, "xts": 1024}[args.figure]
    {"kdbx": kdbx, "gpg": gpg, "xts": xts}[args.figure](args.mebibytes or whole)


if __name__ == "__main__":
    main()
