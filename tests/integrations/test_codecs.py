"""The frame of a chunk, and the codecs for Zarr and numcodecs that write it."""

import hashlib
import hmac
import json
import pickle
import tomllib

import numpy as np
import pytest

import twofishkit as tk
from tests.integrations.conftest import KEY, KEY_ID, VARIABLE
from tests.processes import ROOT
from twofishkit import backend
from twofishkit.errors import FormatError, InvalidParameter, InvalidTag, WrongKey
from twofishkit.integrations import frames

zarr = pytest.importorskip("zarr", reason="needs the extra 'zarr'")
numcodecs = pytest.importorskip("numcodecs", reason="needs the extra 'zarr'")

from twofishkit.integrations.numcodecs import TwofishCodec as NumcodecsCodec  # noqa: E402
from twofishkit.integrations.zarr import TwofishCodec as ZarrCodec  # noqa: E402

DATA = np.random.default_rng(0).random((60, 50))
MODES = pytest.mark.parametrize("mode", ["gcm", "siv"])


@MODES
def test_a_frame_is_what_the_format_says(mode):
    """Opened with nothing but HMAC and a mode of operation."""
    frame = frames.Framer(KEY_ID, mode).encode(b"chunk").tobytes()
    info = b"twofishkit/zarr-codec/v1/" + mode.encode()
    material = hmac.digest(KEY, info + b"\1", hashlib.sha512)
    material += hmac.digest(KEY, material + info + b"\2", hashlib.sha512)
    number, nonce_bytes, key_bytes = {"gcm": (1, 12, 32), "siv": (2, 16, 64)}[mode]
    assert frame[:12] == b"\x89TFZ" + bytes([1, number]) + material[:6]
    aead = (tk.GCM if mode == "gcm" else tk.SIV)(material[6 : 6 + key_bytes])
    assert aead.decrypt(frame[12 : 12 + nonce_bytes], frame[12 + nonce_bytes :], frame[:12]) == b"chunk"
    assert len(frame) == 5 + frames.overhead(mode)


@MODES
@pytest.mark.parametrize("n", [0, 1, 16, 5000, 3 << 20])
def test_chunks_come_back(mode, n):
    framer = frames.Framer(KEY_ID, mode)
    data = np.random.default_rng(n).integers(0, 256, n, np.uint8)
    frame = framer.encode(data)
    assert np.array_equal(framer.decode(frame), data)
    assert np.array_equal(frames.Framer(KEY_ID, mode).decode(frame.tobytes()), data)
    out = np.empty(n, np.uint8)
    assert framer.decode(frame, out) is out
    assert np.array_equal(out, data)
    assert framer.encode(data).tobytes() != frame.tobytes()


@MODES
def test_chunks_at_work_at_once_are_not_split_over_threads(mode):
    framer = frames.Framer(KEY_ID, mode)
    data = np.random.default_rng(0).bytes(2 << 20)
    with framer._working() as alone:
        with framer._working() as one_of_many:
            assert one_of_many is not alone
            sealed = framer.encode(data)
        assert framer.decode(sealed).tobytes() == data
    with framer._working() as again:
        assert again is alone
    assert framer.decode(sealed).tobytes() == data
    with pytest.raises(FormatError):
        framer.decode(b"no frame")
    with framer._working() as again:
        assert again is alone


def test_the_chosen_backend_serves_all_chunks():
    with backend.use("numpy"):
        framer = frames.Framer(KEY_ID, "gcm")
    with framer._working() as alone, framer._working() as one_of_many:
        assert [aead._key.cipher.backend for aead in (alone, one_of_many)] == 2 * ["numpy"]
        assert one_of_many._key.cipher._kernels.threads == 1


@MODES
def test_every_byte_flipped_and_every_truncation(mode):
    framer = frames.Framer(KEY_ID, mode)
    frame = framer.encode(b"a chunk of some length, with a tail").tobytes()
    for at in range(len(frame)):
        altered = bytearray(frame)
        altered[at] ^= 0x10
        with pytest.raises((InvalidTag, FormatError)):
            framer.decode(altered)
    for n in range(len(frame)):
        with pytest.raises((InvalidTag, FormatError)):
            framer.decode(frame[:n])
    with pytest.raises(InvalidTag):
        framer.decode(frame + b"x")
    assert framer.decode(frame).tobytes() == b"a chunk of some length, with a tail"


def test_wrong_missing_and_other_keys(monkeypatch):
    frame = frames.Framer(KEY_ID, "gcm").encode(b"x" * 20)
    with pytest.raises(FormatError, match="mode 1; expected was siv"):
        frames.Framer(KEY_ID, "siv").decode(frame)
    monkeypatch.setenv(VARIABLE, "00" * 32)
    with pytest.raises(WrongKey, match=f"the key '{KEY_ID}' here is not the one"):
        frames.Framer(KEY_ID, "gcm").decode(frame)
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(WrongKey, match=f"there is no key '{KEY_ID}'"):
        frames.Framer(KEY_ID, "gcm")


@pytest.mark.parametrize("codec", [ZarrCodec, NumcodecsCodec])
def test_codecs_check_their_parameters(codec):
    with pytest.raises(InvalidParameter, match="mode"):
        codec(KEY_ID, "cbc")
    with pytest.raises(InvalidParameter, match="key_id"):
        codec("a/b")


@pytest.mark.parametrize("codec", [ZarrCodec, NumcodecsCodec])
@MODES
def test_pickles_hold_no_key(codec, mode):
    made = codec(KEY_ID, mode)
    frame = made._framer.encode(b"x") if codec is ZarrCodec else made.encode(b"x")
    data = pickle.dumps(made)
    derived = hmac.digest(KEY, b"twofishkit/zarr-codec/v1/" + mode.encode() + b"\1", hashlib.sha512)
    for secret in (KEY, KEY.hex().encode(), derived[6:22]):
        assert secret not in data
    again = pickle.loads(data)
    assert (again._framer if codec is ZarrCodec else again._ready()).decode(frame).tobytes() == b"x"
    assert KEY.hex() not in repr(made)


def test_registered_under_the_names_of_the_entry_points():
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert points["zarr.codecs"] == {"twofishkit": "twofishkit.integrations.zarr:TwofishCodec"}
    assert points["numcodecs.codecs"] == {"twofishkit": "twofishkit.integrations.numcodecs:TwofishCodec"}
    assert zarr.registry.get_codec_class("twofishkit") is ZarrCodec
    assert numcodecs.get_codec({"id": "twofishkit", "key_id": KEY_ID, "mode": "siv"}).mode == "siv"


def v3(mode, *before, **options):
    return {"compressors": [*before, ZarrCodec(KEY_ID, mode)], "zarr_format": 3, **options}


def v2(mode):
    return {"compressors": NumcodecsCodec(KEY_ID, mode), "zarr_format": 2}


def filters(mode):
    return {"compressors": None, "filters": [NumcodecsCodec(KEY_ID, mode)], "zarr_format": 2}


LAYOUTS = {
    "format 3": v3,
    "compressed first": lambda mode: v3(mode, zarr.codecs.BloscCodec(), zarr.codecs.GzipCodec()),
    "sharded": lambda mode: v3(mode, zarr.codecs.ZstdCodec(), shards=(40, 40)),
    "format 2": v2,
    "format 2 filter": filters,
}


def create(store, layout, mode="gcm", **options):
    array = zarr.create_array(
        store, shape=DATA.shape, dtype=DATA.dtype, chunks=(20, 20), **LAYOUTS[layout](mode), **options
    )
    array[...] = DATA
    return array


@MODES
@pytest.mark.parametrize("layout", LAYOUTS)
def test_zarr_arrays(tmp_path, layout, mode):
    create(tmp_path / "a", layout, mode)
    opened = zarr.open_array(tmp_path / "a", mode="r")
    assert np.array_equal(opened[...], DATA)
    assert np.array_equal(opened[7:33, ::3], DATA[7:33, ::3])
    stored = b"".join(path.read_bytes() for path in sorted((tmp_path / "a").rglob("*")) if path.is_file())
    assert DATA[0, :2].tobytes() not in stored
    assert KEY not in stored
    assert KEY.hex().encode() not in stored


@pytest.mark.parametrize("layout", LAYOUTS)
def test_zarr_without_the_key(tmp_path, layout, monkeypatch):
    create(tmp_path / "a", layout)
    monkeypatch.setenv(VARIABLE, "00" * 32)
    with pytest.raises(WrongKey, match=KEY_ID):
        zarr.open_array(tmp_path / "a", mode="r")[...]
    monkeypatch.delenv(VARIABLE)
    opened = zarr.open_array(tmp_path / "a", mode="r")
    assert opened.shape == DATA.shape
    with pytest.raises(WrongKey, match=KEY_ID):
        opened[...]


def test_zarr_metadata_names_the_key_and_no_more(tmp_path):
    create(tmp_path / "a", "format 3", "siv")
    metadata = json.loads((tmp_path / "a" / "zarr.json").read_text())
    assert metadata["codecs"][-1] == {
        "name": "twofishkit",
        "configuration": {"key_id": KEY_ID, "mode": "siv"},
    }


@pytest.mark.parametrize(
    "configuration", [{}, {"mode": "gcm"}, {"key_id": KEY_ID, "key": "x"}, {"key_id": 3}]
)
def test_metadata_that_is_not_ours(configuration):
    with pytest.raises(InvalidParameter):
        ZarrCodec.from_dict({"name": "twofishkit", "configuration": configuration})
    with pytest.raises(InvalidParameter):
        numcodecs.get_codec({"id": "twofishkit", **configuration})


def test_an_altered_chunk_in_an_array(tmp_path):
    create(tmp_path / "a", "format 3")
    path = tmp_path / "a" / "c" / "1" / "1"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    opened = zarr.open_array(tmp_path / "a", mode="r")
    assert np.array_equal(opened[:20], DATA[:20])
    with pytest.raises(InvalidTag, match=KEY_ID):
        opened[20:40, 20:40]


def test_groups_and_consolidated_metadata(tmp_path):
    group = zarr.create_group(tmp_path / "g")
    for name in ("x", "y"):
        array = group.create_array(
            name, shape=(30,), dtype="i4", chunks=(10,), compressors=[ZarrCodec(KEY_ID)]
        )
        array[:] = np.arange(30)
    with pytest.warns(UserWarning, match="Consolidated metadata"):
        zarr.consolidate_metadata(tmp_path / "g")
    opened = zarr.open_consolidated(tmp_path / "g")
    assert np.array_equal(opened["y"][5:25], np.arange(5, 25))
