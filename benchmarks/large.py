"""Figures for arrays that are large: sealed files, Zarr, Dask; each beside what it is compared with.

    python benchmarks/large.py            everything (about 3 GiB of memory, 5 GiB in TMPDIR, some minutes)
    python benchmarks/large.py files zarr only these parts: files, memory, slice, zarr, dask

What is compared is measured in turn, in one run, and the best of several times counts: on a machine that
others use too, only ratios say something, and those of several cores only if these are free. Needs Linux,
the extra "zarr", and dask and distributed for the last part.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import twofishkit as tk
from twofishkit import backend
from twofishkit.sealed.sources import LocalFile

KEY = bytes(range(32))
MIB = 1 << 20


def best(repeats: int, **calls: Callable[[], object]) -> dict[str, float]:
    """Seconds that each call takes at best, all of them in turn."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            found[name] = min(found[name], time.perf_counter() - begin)
    return found


def row(what: str, measured: str, target: str, ok: bool) -> None:
    print(f"| {what} | {measured} | {target} | {'yes' if ok else 'NO'} |", flush=True)


def threaded(threads: int, call: Callable[[], object]) -> Callable[[], object]:
    def run() -> None:
        with backend.use(threads=threads):
            call()

    return run


def files(directory: Path) -> None:
    """seal and unseal beside raw GCM; all cores beside one; save and load beside NumPy's."""
    array = np.random.default_rng(0).random(256 * MIB // 8)
    blob = tk.seal(array, KEY)

    # All three make a result of their own, in fresh memory.
    def raw() -> object:
        return tk.GCM(KEY).encrypt(bytes(12), array)

    def sealing() -> object:
        return tk.seal(array, KEY)

    def unsealing() -> object:
        return tk.unseal(blob, KEY)

    cores = len(os.sched_getaffinity(0))
    t = best(
        15,
        raw=threaded(1, raw),
        seal=threaded(1, sealing),
        unseal=threaded(1, unsealing),
        seal_all=threaded(cores, sealing),
        unseal_all=threaded(cores, unsealing),
    )
    row(
        "`seal`, speed beside GCM, one thread",
        f"{t['raw'] / t['seal']:.2f}x",
        ">= 0.85x",
        t["raw"] / t["seal"] >= 0.85,
    )
    row("`unseal`", f"{t['raw'] / t['unseal']:.2f}x", ">= 0.85x", t["raw"] / t["unseal"] >= 0.85)
    for name in ("seal", "unseal"):
        ratio = t[name] / t[name + "_all"]
        row(f"`{name}` on {cores} cores beside one thread", f"{ratio:.2f}x", ">= 1.7x", ratio >= 1.7)
    shm = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else directory))
    try:
        t = best(
            9,
            np_save=lambda: np.save(shm / "a.npy", array),
            np_load=lambda: np.load(shm / "a.npy"),
            save=lambda: tk.save(shm / "a.tfk", array, KEY),
            load=lambda: tk.load(shm / "a.tfk", KEY),
        )
    finally:
        shutil.rmtree(shm)
    ratio = (t["save"] + t["load"]) / (t["np_save"] + t["np_load"])
    row("`save` + `load` beside NumPy's, tmpfs", f"{ratio:.2f}x", "<= 2.5x", ratio <= 2.5)


MEMORY = """
    import sys
    import numpy as np
    import twofishkit as tk

    def peak():
        # Not getrusage: its peak includes that of the process which started this one.
        return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])

    key = bytes(32)
    tk.unseal(tk.seal(bytes(3 << 20), key), key)
    {prepare}
    before = peak()
    {action}
    print((peak() - before) / 1024)
"""


def peak(prepare: str, action: str, *arguments: str) -> float:
    """MiB by which a process grows while it does something."""
    code = textwrap.dedent(MEMORY).format(prepare=prepare, action=action)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def memory(directory: Path) -> None:
    """Peak memory, each in a process of its own."""
    grown = peak("a = np.random.default_rng(0).random(1 << 25)", "b = tk.seal(a, key)") - 256
    row("`seal` of 256 MiB, memory over input and output", f"{grown:.0f} MiB", "<= 32 MiB", grown <= 32)
    grown = peak(
        "row = np.random.default_rng(0).random(1 << 17)",
        "with tk.create_array(sys.argv[1], (None, 1 << 17), 'f8', key) as a:"
        " [a.write(row) for _ in range(2048)]",
        str(directory / "rows.tfk"),
    )
    row("`create_array` of 2 GiB in rows of 1 MiB, memory", f"{grown:.0f} MiB", "<= 64 MiB", grown <= 64)


def slices(directory: Path) -> None:
    """open_array and one slice of 1 MiB, warm."""
    path = directory / "slice.tfk"
    with tk.create_array(path, 1 << 27, "f8", KEY) as out:
        for _ in range(64):
            out.write(np.zeros(1 << 21))
    fetched = []
    fetch = LocalFile.fetch

    def counted(self: LocalFile, ranges: list[tuple[int, int]]) -> object:
        fetched.append(sum(b - a for a, b in ranges))
        return fetch(self, ranges)

    LocalFile.fetch = counted  # type: ignore[assignment, method-assign]

    def use() -> None:
        fetched.clear()
        with tk.open_array(path, KEY) as array:
            array[1_000_000 : 1_000_000 + (1 << 17)]

    t = best(20, use=use)
    LocalFile.fetch = fetch  # type: ignore[method-assign]
    read = sum(fetched) / MIB
    row("`open_array` + 1 MiB of 1 GiB, read", f"{read:.2f} MiB", "<= 1.2 MiB", read <= 1.2)
    row("the same, time, warm", f"{1000 * t['use']:.1f} ms", "<= 10 ms", t["use"] <= 0.010)


def zarrs(directory: Path) -> None:
    """1 GiB in chunks of 4 MiB, with the codec and without."""
    import zarr

    from twofishkit.integrations import keys
    from twofishkit.integrations.zarr import EncryptedStore, TwofishCodec

    keys.register(lambda key_id: KEY)
    data = np.random.default_rng(0).random(1 << 27)

    def write(name: str, compressors: object, wrap: bool = False) -> Callable[[], object]:
        def run() -> None:
            shutil.rmtree(directory / name, ignore_errors=True)
            local = zarr.storage.LocalStore(directory / name)
            store = EncryptedStore(local, "bench") if wrap else local
            options = {"shape": data.shape, "dtype": "f8", "chunks": (1 << 19,), "compressors": compressors}
            zarr.create_array(store, name="a", **options)[:] = data

        return run

    def read(name: str, wrap: bool = False) -> Callable[[], object]:
        local = zarr.storage.LocalStore(directory / name, read_only=True)
        store = EncryptedStore(local, "bench") if wrap else local
        return lambda: zarr.open_array(store, path="a", mode="r")[:]

    kinds = {"off": (None, False), "gcm": ([TwofishCodec("bench")], False), "store": (None, True)}
    writing = {f"write_{kind}": write(kind, *how) for kind, how in kinds.items()}
    for call in writing.values():
        call()
    t = best(5, **writing, **{f"read_{kind}": read(kind, how[1]) for kind, how in kinds.items()})
    slow = best(1, write_siv=write("siv", [TwofishCodec("bench", "siv")]))
    for kind, label in (("gcm", "codec"), ("store", "`EncryptedStore`")):
        ratio = (t[f"write_{kind}"] + t[f"read_{kind}"]) / (t["write_off"] + t["read_off"])
        parts = (
            f"{t[f'write_{kind}'] / t['write_off']:.2f}x write, {t[f'read_{kind}'] / t['read_off']:.2f}x read"
        )
        row(
            f"Zarr, 1 GiB in 4 MiB chunks, {label} beside none",
            f"{ratio:.2f}x ({parts})",
            "<= 1.6x",
            ratio <= 1.6,
        )
    print(f"Zarr codec, SIV: write {slow['write_siv'] / t['write_gcm']:.1f} times the time of GCM")


DASK = """
    import os, sys, time
    import dask
    import dask.array as da
    import psutil
    from dask.distributed import Client, LocalCluster

    import twofishkit.integrations.zarr  # where it is not installed, no entry point tells Zarr of it

    ONE_THREAD = {"TWOFISHKIT_THREADS": 1, "ZARR_THREADING__MAX_WORKERS": 1, "ZARR_ASYNC__CONCURRENCY": 1}

    def seconds(pids):
        return sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)

    if __name__ == "__main__":
        workers, path = int(sys.argv[1]), sys.argv[2]
        # Not env=, which comes after this script was imported, and so after Zarr.
        dask.config.set({f"distributed.nanny.pre-spawn-environ.{n}": v for n, v in ONE_THREAD.items()})
        options = {"threads_per_worker": 1, "dashboard_address": None}
        options["env"] = {"TWOFISHKIT_KEY_BENCH": "11" * 32}
        with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
            pids = list(client.run(os.getpid).values())
            assert len(pids) == workers
            for work in sys.argv[3:]:
                name, mebibytes = work.split(":")
                array = da.from_zarr(path, component=name, chunks=int(mebibytes) << 17)
                wanted = array.std() if name == "zstd" else array.sum()
                array[: 1 << 24].sum().compute()
                runs = []
                for _ in range(3):
                    before = seconds(pids), seconds([os.getpid()])
                    begin = time.perf_counter()
                    wanted.compute()
                    took = time.perf_counter() - begin
                    after = seconds(pids), seconds([os.getpid()])
                    runs.append((took, after[0] - before[0], after[1] - before[1]))
                print("found", *min(runs))
"""
#: What is stored, MiB a task, what is computed.
DASK_WORK = {
    "zstd:16": "standard deviation, Zstandard then codec, 16 MiB a task",
    "gcm:16": "sum, codec alone, 16 MiB a task",
    "gcm:4": "sum, codec alone, 4 MiB a task",
}


def dasks(directory: Path) -> None:
    """1 GiB in encrypted chunks of 4 MiB, reduced by two processes of one thread beside one."""
    import zarr
    from zarr.codecs import ZstdCodec

    from twofishkit.integrations import keys
    from twofishkit.integrations.zarr import TwofishCodec

    keys.register(lambda key_id: b"\x11" * 32)
    path = directory / "dask"
    # A tenth of a degree is what a thermometer gives.
    data = np.round(np.random.default_rng(0).normal(10, 3, 1 << 27), 1)
    options = {"shape": data.shape, "dtype": "f8", "chunks": (1 << 19,)}
    codec = TwofishCodec("bench")
    zarr.create_array(path, name="gcm", compressors=[codec], **options)[:] = data
    zarr.create_array(path, name="zstd", compressors=[ZstdCodec(level=1), codec], **options)[:] = data
    del data
    script = directory / "dask_work.py"
    script.write_text(textwrap.dedent(DASK))
    best: dict[tuple[str, int], tuple[float, ...]] = {}
    for _ in range(2):
        for workers in (1, 2):
            command = [sys.executable, "-Wignore", str(script), str(workers), str(path), *DASK_WORK]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            lines = [line for line in done.stdout.splitlines() if line.startswith("found")]
            for work, line in zip(DASK_WORK, lines, strict=True):
                measured = tuple(map(float, line.split()[1:]))
                best[work, workers] = min(best.get((work, workers), measured), measured)
    for work, label in DASK_WORK.items():
        ratio = best[work, 1][0] / best[work, 2][0]
        parts = " to ".join(
            f"{took:.2f} s (CPU: workers {theirs:.2f}, scheduler {own:.2f})"
            for took, theirs, own in (best[work, 1], best[work, 2])
        )
        row(f"Dask, two processes beside one, {label}", f"{ratio:.2f}x: {parts}", ">= 1.7x", ratio >= 1.7)


PARTS = {"files": files, "memory": memory, "slice": slices, "zarr": zarrs, "dask": dasks}


def main() -> None:
    os.environ["PYTHONPATH"] = str(Path(tk.__file__).parents[1])
    names = sys.argv[1:] or list(PARTS)
    if unknown := set(names) - PARTS.keys():
        sys.exit(f"there is no part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    print("| what | measured | target | met |\n|---|---|---|---|")
    for name in names:
        with tempfile.TemporaryDirectory(prefix="twofishkit-") as directory:
            PARTS[name](Path(directory))
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
