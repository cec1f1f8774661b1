"""Dask and Xarray on a cluster of processes: the key reaches them by its id, and never in what is sent."""

import gc
import os
import pickle
import warnings

import numpy as np
import pytest

from tests.integrations.conftest import KEY, KEY_ID, VARIABLE

pytest.importorskip("zarr", reason="needs the extra 'zarr'")
dask = pytest.importorskip("dask", reason="needs dask and distributed")
distributed = pytest.importorskip("distributed", reason="needs dask and distributed")
xarray = pytest.importorskip("xarray", reason="needs xarray")

import dask.array as da  # noqa: E402
import zarr  # noqa: E402
from zarr.codecs import ZstdCodec  # noqa: E402
from zarr.storage import LocalStore  # noqa: E402

from twofishkit import backend  # noqa: E402
from twofishkit.errors import WrongKey  # noqa: E402
from twofishkit.integrations.zarr import EncryptedStore, TwofishCodec  # noqa: E402

#: Of libraries that are not ours, when they are started and stopped.
pytestmark = pytest.mark.filterwarnings("default")

DATA = np.random.default_rng(0).integers(0, 1 << 40, (400, 300))

#: As docs/zarr.md says.
WORKER_VARIABLES = ("TWOFISHKIT_THREADS", "ZARR_THREADING__MAX_WORKERS", "ZARR_ASYNC__CONCURRENCY")
ONE_THREAD = {f"distributed.nanny.pre-spawn-environ.{name}": 1 for name in WORKER_VARIABLES}


def secrets():
    """The key in every form in which it could be found."""
    return (KEY, KEY.hex().encode(), repr(KEY)[2:-1].encode())


def assert_no_key(what):
    data = what if isinstance(what, bytes) else pickle.dumps(what)
    for secret in secrets():
        assert secret not in data


@pytest.fixture(scope="module")
def cluster():
    """Two processes of one thread each, that have the key in their environment."""
    # The nannies, which run in this process, set the workers' variables here too, and leave them.
    before = {name: os.environ.get(name) for name in WORKER_VARIABLES}
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        with (
            dask.config.set({"distributed.scheduler.active-memory-manager.start": False} | ONE_THREAD),
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                env={VARIABLE: KEY.hex()},
            ) as made,
        ):
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value
            yield made


@pytest.fixture
def client(cluster, monkeypatch):
    """A client, in whose own process nobody knows the key."""
    monkeypatch.delenv(VARIABLE)
    with distributed.Client(cluster) as made:
        yield made


def scheduler_state(client):
    """All that the scheduler holds: (bytes, tasks). What tasks run is pickled, the rest is printed."""

    def collect(dask_scheduler):
        parts = [repr(value).encode() for value in vars(dask_scheduler).values()]
        for task in dask_scheduler.tasks.values():
            parts += [pickle.dumps(task.run_spec), repr(task).encode(), pickle.dumps(task.annotations)]
        return b"".join(parts), len(dask_scheduler.tasks)

    return client.run_on_scheduler(collect)


def new_array(root, name="a"):
    """An encrypted array; metadata alone, so that this process needs no key."""
    return zarr.create_array(
        LocalStore(root),
        name=name,
        shape=DATA.shape,
        dtype=DATA.dtype,
        chunks=(100, 100),
        compressors=[ZstdCodec(), TwofishCodec(KEY_ID)],
    )


def test_workers_use_one_thread(client):
    def settings():
        options = ("threading.max_workers", "async.concurrency")
        return [zarr.config.get(name) for name in options] + [backend.current().threads]

    assert list(client.run(settings).values()) == [[1, 1, 1]] * 2


def test_to_zarr_and_from_zarr(client, tmp_path):
    target = new_array(tmp_path / "z")
    writing = da.to_zarr(da.from_array(DATA, chunks=(100, 100)), target, compute=False)
    assert_no_key(writing.dask if hasattr(writing, "dask") else writing)
    future = client.compute(writing)
    distributed.wait(future)
    future.result()
    reading = da.from_zarr(tmp_path / "z", component="a")
    assert_no_key(dict(reading.dask))
    persisted = client.persist((reading + 1).sum(axis=0))
    distributed.wait(persisted)
    state, tasks = scheduler_state(client)
    assert tasks > 10
    assert len(state) > 1000
    assert_no_key(state)
    assert np.array_equal(persisted.compute(), (DATA + 1).sum(axis=0))
    stored = b"".join(path.read_bytes() for path in (tmp_path / "z").rglob("*") if path.is_file())
    assert_no_key(stored)
    # Nobody here knows the key: the work was done where it is.
    with pytest.raises(WrongKey, match=KEY_ID):
        zarr.open_array(tmp_path / "z", path="a", mode="r")[...]


def test_the_search_would_find_a_key(client):
    """The same search, with a key that is in the graph."""
    future = client.submit(len, KEY, pure=False)
    distributed.wait(future)
    state, _ = scheduler_state(client)
    assert any(secret in state for secret in secrets())


def test_encrypted_store(client, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, KEY.hex())  # metadata is encrypted too: this process needs the key
    store = EncryptedStore(LocalStore(tmp_path / "z"), KEY_ID)
    target = zarr.create_array(store, name="a", shape=DATA.shape, dtype=DATA.dtype, chunks=(100, 100))
    writing = da.to_zarr(da.from_array(DATA, chunks=(100, 100)), target, compute=False)
    assert_no_key(writing.dask if hasattr(writing, "dask") else writing)
    client.compute(writing).result()
    reading = da.from_zarr(zarr.open_array(store, path="a", mode="r"))
    assert_no_key(dict(reading.dask))
    assert np.array_equal(client.compute(reading[::3]).result(), DATA[::3])
    state, _ = scheduler_state(client)
    assert_no_key(state)


@pytest.mark.parametrize("zarr_format", [3, 2])
def test_xarray(client, tmp_path, monkeypatch, zarr_format):
    monkeypatch.setenv(VARIABLE, KEY.hex())  # coordinates are written by this process
    from twofishkit.integrations.numcodecs import TwofishCodec as NumcodecsCodec

    codec = TwofishCodec(KEY_ID) if zarr_format == 3 else NumcodecsCodec(KEY_ID)
    dataset = xarray.Dataset(
        {"temperature": (("time", "x"), da.from_array(DATA, chunks=(100, 300)))},
        coords={"time": np.arange(400), "x": np.linspace(0, 1, 300)},
        attrs={"title": "test"},
    )
    encoding = {name: {"compressors": (codec,)} for name in ("temperature", "time", "x")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # consolidated metadata is no part of format 3 yet
        writing = dataset.to_zarr(tmp_path / "z", encoding=encoding, zarr_format=zarr_format, compute=False)
        assert_no_key(dict(writing.dask) if hasattr(writing, "dask") else writing)
        client.compute(writing).result()
        opened = xarray.open_zarr(tmp_path / "z", chunks={})
    assert opened.attrs["title"] == "test"
    mean = opened.temperature.mean("time")
    assert_no_key(dict(mean.__dask_graph__()))
    assert np.allclose(client.compute(mean).result(), DATA.mean(axis=0))
    state, _ = scheduler_state(client)
    assert_no_key(state)
    assert opened.identical(opened.load())
    assert np.array_equal(opened.temperature, DATA)
    del opened
    gc.collect()


def test_a_worker_without_the_key_says_so(client, tmp_path):
    target = zarr.create_array(
        LocalStore(tmp_path / "z"),
        name="a",
        shape=(10,),
        dtype="i4",
        chunks=(5,),
        compressors=[TwofishCodec("unknown-id")],
    )
    with pytest.raises(WrongKey, match="there is no key 'unknown-id'"):
        client.compute(da.to_zarr(da.ones(10, dtype="i4", chunks=5), target, compute=False)).result()
