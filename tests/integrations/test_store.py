"""EncryptedStore: every value opens at its own path, whole, or not at all."""

import asyncio
import inspect
import pickle
import shutil

import numpy as np
import pytest

import twofishkit as tk
from tests.integrations.conftest import KEY, KEY_ID, VARIABLE
from twofishkit.errors import FormatError, InvalidTag, TwofishKitError, UnsupportedType, WrongKey

zarr = pytest.importorskip("zarr", reason="needs the extra 'zarr'")

from zarr.abc.codec import CodecPipeline  # noqa: E402
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest  # noqa: E402
from zarr.core import codec_pipeline  # noqa: E402
from zarr.core.buffer import default_buffer_prototype  # noqa: E402
from zarr.storage import LocalStore, MemoryStore  # noqa: E402

import twofishkit.integrations.numcodecs  # noqa: E402  (registers it, as an installation does)
from twofishkit.integrations import zarr as zarr_integration  # noqa: E402
from twofishkit.integrations.zarr import EncryptedStore, TwofishCodec  # noqa: E402

DATA = np.random.default_rng(0).random((60, 50))
PROTOTYPE = default_buffer_prototype()


def run(awaitable):
    return asyncio.run(awaitable)


def buffer(data):
    return PROTOTYPE.buffer.from_bytes(data)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(root):
    return EncryptedStore(LocalStore(root), KEY_ID)


@pytest.fixture
def array(store):
    """An array in the store, sharded in one half of its chunks' directory."""
    made = zarr.create_array(
        store, name="a", shape=DATA.shape, dtype=DATA.dtype, chunks=(20, 20), compressors=None
    )
    made[...] = DATA
    return made


def reopened(root):
    return zarr.open_array(EncryptedStore(LocalStore(root, read_only=True), KEY_ID), path="a", mode="r")


@pytest.mark.parametrize("n", [0, 1, 16383, 16384, 50_000])
def test_values_and_parts_of_them(store, n):
    data = np.random.default_rng(n).bytes(n)

    async def check():
        await store.set("dir/value", buffer(data))
        assert (await store.get("dir/value", PROTOTYPE)).to_bytes() == data
        assert await store.getsize("dir/value") == n
        edges = sorted({0, 1, n // 2, 16383, 16384, 16385, 32768, max(n - 1, 0), n})
        for a in edges:
            assert (await store.get("dir/value", PROTOTYPE, OffsetByteRequest(a))).to_bytes() == data[a:]
            assert (await store.get("dir/value", PROTOTYPE, SuffixByteRequest(a))).to_bytes() == data[
                max(n - a, 0) :
            ]
            for b in edges:
                part = await store.get("dir/value", PROTOTYPE, RangeByteRequest(a, b))
                assert part.to_bytes() == data[a:b]
        requests = [("dir/value", RangeByteRequest(0, 5)), ("none", None), ("dir/value", None)]
        first, second, third = await store.get_partial_values(PROTOTYPE, requests)
        assert (first.to_bytes(), second, third.to_bytes()) == (data[:5], None, data)
        assert await store.get("none", PROTOTYPE) is None
        assert await store.get("none", PROTOTYPE, RangeByteRequest(0, 5)) is None

    run(check())


def test_all_ways_to_write_encrypt(root, store):
    async def write():
        await store.set("a", buffer(b"secret"))
        await store.set_if_not_exists("b", buffer(b"secret"))
        await store.set_if_not_exists("a", buffer(b"other"))
        await store._set_many([("c", buffer(b"secret")), ("d", buffer(b"secret"))])
        found = {
            key: value.to_bytes()
            async for key, value in store._get_many([(k, PROTOTYPE, None) for k in "abcd"])
        }
        assert found == dict.fromkeys("abcd", b"secret")
        assert sorted([key async for key in store.list()]) == ["a", "b", "c", "d"]

    run(write())
    for path in root.iterdir():
        assert b"secret" not in path.read_bytes()


def test_another_library_could_read_it(root, store):
    """A value is a sealed message of docs/format.md after eight bytes."""
    from twofishkit.sealed.aead import TWOFISH_256_GCM
    from twofishkit.sealed.stream import ChunkedMessage

    run(store.set("x/y", buffer(b"value")))
    data = (root / "x" / "y").read_bytes()
    assert data[:8] == b"\x89TFS\1\0\0\0"
    message = ChunkedMessage.resume(TWOFISH_256_GCM, KEY, b"twofishkit/zarr-store/v1\0x/y", data[8:64])
    out = np.empty(5, np.uint8)
    message.open(0, np.frombuffer(data[64:], np.uint8), out, last=True)
    assert out.tobytes() == b"value"


def test_arrays_groups_shards_and_consolidated_metadata(root, store):
    group = zarr.create_group(store, attributes={"title": "secret title"})
    plain = group.create_array("plain", shape=DATA.shape, dtype="f8", chunks=(20, 20))
    plain[...] = DATA
    shards = group.create_array("shards", shape=DATA.shape, dtype="f8", chunks=(10, 10), shards=(40, 40))
    shards[...] = DATA
    double = group.create_array(
        "double", shape=DATA.shape, dtype="f8", chunks=(20, 20), compressors=[TwofishCodec(KEY_ID)]
    )
    double[...] = DATA
    with pytest.warns(UserWarning, match="Consolidated metadata"):
        zarr.consolidate_metadata(store)
    again = zarr.open_group(EncryptedStore(LocalStore(root, read_only=True), KEY_ID), mode="r")
    assert again.attrs["title"] == "secret title"
    for name in ("plain", "shards", "double"):
        assert np.array_equal(again[name][3:55:2, 7:], DATA[3:55:2, 7:])
    stored = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
    for text in (b"secret title", b"shards", b"float64", KEY):
        assert text not in stored


def test_sharded_reads_fetch_parts_only(store, monkeypatch):
    array = zarr.create_array(
        store, name="a", shape=(1 << 18,), dtype="f8", chunks=(1 << 12,), shards=(1 << 18,), compressors=None
    )
    array[:] = np.arange(1 << 18)
    fetched = []
    get = LocalStore.get

    async def counted(self, key, prototype=None, byte_range=None):
        value = await get(self, key, prototype, byte_range)
        fetched.append(0 if value is None else len(value))
        return value

    monkeypatch.setattr(LocalStore, "get", counted)
    opened = zarr.open_array(store, path="a", mode="r")
    fetched.clear()
    assert opened[100_000] == 100_000
    assert 0 < sum(fetched) < 200_000  # of 2 MiB


def test_nothing_goes_past_the_encryption(root, store):
    """Zarr's wrapper passes on all that it knows, in later versions more: it must be ours, or refused."""
    value = buffer(b"a secret value")
    for name in vars(zarr.storage.WrapperStore):
        if not name.startswith("__") and name not in zarr_integration._PASSED_ON:
            ours = getattr(EncryptedStore, name)
            assert ours is not getattr(zarr.storage.WrapperStore, name), name
    with pytest.raises((UnsupportedType, AttributeError)):  # older versions have no such method
        store.set_sync("x", value)
    assert not (root / "x").exists()
    run(store.set("x", value))
    with pytest.raises((UnsupportedType, AttributeError)):
        store.get_sync("x", prototype=PROTOTYPE)


PIPELINES = [
    name
    for name, value in vars(codec_pipeline).items()
    if inspect.isclass(value) and issubclass(value, CodecPipeline) and value is not CodecPipeline
]


@pytest.mark.parametrize("shards", [None, (4000,)])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_every_pipeline_writes_no_plaintext(root, store, pipeline, shards):
    """Some of Zarr's codec pipelines read and write without an event loop where the store lets them."""
    data = np.frombuffer(b"secret text " * 334, np.uint8)[:4000]
    with zarr.config.set({"codec_pipeline.path": f"{codec_pipeline.__name__}.{pipeline}"}):
        array = zarr.create_array(
            store, name="a", shape=data.shape, dtype="u1", chunks=(1000,), shards=shards, compressors=None
        )
        array[...] = data
        array[1500:1510] = data[1500:1510]
        again = zarr.open_array(store, path="a", mode="r")
        assert np.array_equal(again[5:3500], data[5:3500])
    files = [path for path in root.rglob("*") if path.is_file()]
    assert len(files) >= 2
    assert not [path for path in files if b"secret text" in path.read_bytes()]


def test_a_wrong_key_in_a_shard_is_one_clear_error(root, store, monkeypatch):
    array = zarr.create_array(store, name="a", shape=(64,), dtype="f8", chunks=(4,), shards=(64,))
    array[...] = np.arange(64)
    path = root / "a" / "c" / "0"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises((InvalidTag, WrongKey)):
        zarr.open_array(store, path="a", mode="r")[5:9]
    monkeypatch.setenv(VARIABLE, bytes(32).hex())
    with pytest.raises(WrongKey, match=KEY_ID):
        run(store.get("a/c/0", PROTOTYPE))


def test_moved_swapped_and_copied_values_are_refused(root, array):
    chunks = root / "a" / "c"
    (chunks / "0" / "0").rename(root / "x")
    (chunks / "0" / "1").rename(chunks / "0" / "0")
    (root / "x").rename(chunks / "0" / "1")
    for key in ((0, 0), (0, 20)):
        with pytest.raises(WrongKey, match="encrypted for another path"):
            reopened(root)[key]
    assert reopened(root)[40, 40] == DATA[40, 40]
    shutil.copytree(root / "a", root / "b")
    with pytest.raises(WrongKey, match="encrypted for another path"):
        zarr.open_array(EncryptedStore(LocalStore(root), KEY_ID), path="b", mode="r")


def test_every_byte_of_a_chunk_and_of_metadata_flipped(root, array):
    for name, use in (("c/2/2", lambda: reopened(root)[...]), ("zarr.json", lambda: reopened(root))):
        path = root / "a" / name
        data = path.read_bytes()
        for at in range(0, len(data), 1 if len(data) < 2000 else 29):
            altered = bytearray(data)
            altered[at] ^= 1
            path.write_bytes(altered)
            with pytest.raises(TwofishKitError):
                use()
        path.write_bytes(data)
    assert np.array_equal(reopened(root)[...], DATA)


@pytest.mark.parametrize("name", ["a/zarr.json", "a/c/2/2"])
def test_every_byte_flipped_in_turn(name):
    inner = MemoryStore()
    store = EncryptedStore(inner, KEY_ID)
    zarr.create_array(store, name="a", data=DATA, chunks=(20, 20), compressors=None)

    async def check():
        data = (await inner.get(name, PROTOTYPE)).to_bytes()
        for at in range(len(data)):
            altered = bytearray(data)
            altered[at] ^= 1 << at % 8
            await inner.set(name, buffer(bytes(altered)))
            with pytest.raises((InvalidTag, FormatError), match=name):
                await store.get(name, PROTOTYPE)
        return len(data)

    assert run(check()) > 500


def test_every_truncation(root, store):
    run(store.set("value", buffer(b"v" * 100)))
    path = root / "value"
    data = path.read_bytes()
    for n in range(len(data)):
        path.write_bytes(data[:n])
        for part in (None, RangeByteRequest(0, 100), SuffixByteRequest(10)):
            with pytest.raises((InvalidTag, FormatError), match="value"):
                run(store.get("value", PROTOTYPE, part))


def test_truncation_between_chunks(root, store):
    run(store.set("value", buffer(bytes(40_000))))
    path = root / "value"
    data = path.read_bytes()
    for n in (64, 64 + 16400, 64 + 2 * 16400):
        for more in (0, 16, 100):  # 16: what is left looks like an empty last chunk
            path.write_bytes(data[: n + more])
            for part in (None, RangeByteRequest(0, 40_000), OffsetByteRequest(0), SuffixByteRequest(5)):
                with pytest.raises((InvalidTag, FormatError), match="value"):
                    run(store.get("value", PROTOTYPE, part))


def test_wrong_missing_and_plain(root, array, monkeypatch):
    monkeypatch.setenv(VARIABLE, "00" * 32)
    with pytest.raises(WrongKey, match=KEY_ID):
        reopened(root)
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(WrongKey, match=f"there is no key '{KEY_ID}'"):
        reopened(root)
    monkeypatch.setenv(VARIABLE, KEY.hex())
    (root / "a" / "zarr.json").write_bytes(b'{"zarr_format": 3, "node_type": "array"}' + b" " * 99)
    with pytest.raises(FormatError, match="not encrypted by this store"):
        reopened(root)


def test_pickling_and_equality(root, store):
    run(store.set("a", buffer(b"x")))
    data = pickle.dumps(store)
    assert KEY not in data
    assert KEY.hex().encode() not in data
    again = pickle.loads(data)
    assert again == store
    assert again != EncryptedStore(LocalStore(root), "other")
    assert run(again.get("a", PROTOTYPE)).to_bytes() == b"x"
    assert repr(store) == f"EncryptedStore({store._store!r}, key_id={KEY_ID!r})"
    assert str(store).startswith("encrypted-file://")
    assert store.with_read_only(True).key_id == KEY_ID


def test_memory_store_and_deleting():
    async def check():
        store = await EncryptedStore.open(MemoryStore, key_id=KEY_ID)
        await store.set("a/b", buffer(b"x" * 20_000))
        assert (await store.get("a/b", PROTOTYPE, RangeByteRequest(16_380, 16_390))).to_bytes() == b"x" * 10
        assert await store.exists("a/b")
        await store.delete("a/b")
        assert not await store.exists("a/b")

    run(check())


def test_format_2_and_its_consolidated_metadata(root, store):
    codec = {"id": "twofishkit", "key_id": KEY_ID}
    group = zarr.create_group(store, zarr_format=2, attributes={"title": "secret title"})
    for name in ("plain", "double"):
        compressors = codec if name == "double" else None
        array = group.create_array(
            name, shape=DATA.shape, dtype="f8", chunks=(20, 20), compressors=compressors
        )
        array[...] = DATA
    zarr.consolidate_metadata(store)
    assert (root / ".zmetadata").exists()
    again = zarr.open_consolidated(EncryptedStore(LocalStore(root, read_only=True), KEY_ID), mode="r")
    assert again.attrs["title"] == "secret title"
    for name in ("plain", "double"):
        assert np.array_equal(again[name][3:55:2, 7:], DATA[3:55:2, 7:])
    stored = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
    assert b"secret title" not in stored
    shutil.copytree(root / "plain", root / "copy")
    (root / ".zmetadata").write_bytes((root / ".zgroup").read_bytes())
    for mode in (True, False):
        with pytest.raises(WrongKey, match="encrypted for another path"):
            zarr.open_group(store, mode="r", use_consolidated=mode)["copy"]


def test_sizes_are_those_of_what_was_written(store):
    async def check():
        for name, n in (("a/b", 100), ("a/c", 20_000)):
            await store.set(name, buffer(bytes(n)))
        assert await store.getsize_prefix("a") == 20_100

    run(check())


def test_a_path_is_no_store(tmp_path):
    with pytest.raises(UnsupportedType, match=r"zarr\.storage\.LocalStore\(path\), and is of type str"):
        EncryptedStore(str(tmp_path), KEY_ID)


def test_a_sealed_file_is_no_value(root, store):
    run(store.set("a", buffer(b"x")))
    (root / "a").write_bytes(tk.seal(b"x" * 100, KEY))
    with pytest.raises(FormatError):
        run(store.get("a", PROTOTYPE))
