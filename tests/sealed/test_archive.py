"""savez and loadz: members by name, none of them exchangeable."""

import itertools
import tracemalloc

import numpy as np
import pytest

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit.errors import (
    FormatError,
    InvalidParameter,
    InvalidTag,
    StateError,
    UnsupportedType,
    WrongKey,
)
from twofishkit.sealed import Archive, inspect
from twofishkit.sealed.stream import CHUNK_BYTES

REFUSED = (WrongKey, InvalidTag, FormatError)
MEMBERS = {
    "floats": np.arange(6000, dtype="<f8").reshape(60, 100),
    "fortran": np.asfortranarray(np.arange(12, dtype=">i2").reshape(3, 4)),
    "strided": np.arange(100)[::-3],
    "bytes": b"some bytes",
    "empty": np.empty((0, 3)),
    "scalar": np.float32(2.5),
    "grüße": np.array(["a", "bc"]),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.tfz"


def assert_members(found, expected):
    assert list(found) == list(expected)
    for name, value in expected.items():
        if isinstance(value, bytes):
            assert found[name] == value
        else:
            value = np.asarray(value)
            assert (found[name].dtype, found[name].shape) == (value.dtype, value.shape)
            assert found[name].tobytes() == value.tobytes()


def test_round_trip(path, backend):
    members = dict(itertools.islice(MEMBERS.items(), 1, None)) if backend == "reference" else MEMBERS
    tk.savez(path, key=KEY, metadata={"n": len(members)}, **members)
    assert_members(tk.loadz(path, KEY), members)
    assert inspect(path, KEY).metadata == {"n": len(members)}


def test_no_members(path):
    tk.savez(path, key=KEY)
    assert tk.loadz(path, KEY) == {}


def test_names_that_are_no_keywords(path):
    members = {"key": np.arange(2), "path": b"p", "a b/c": b"q", "metadata": b"m"}
    tk.savez(path, members, key=KEY, named=b"n")
    assert_members(tk.loadz(path, KEY), {**members, "named": b"n"})


@pytest.mark.usefixtures("cheap_scrypt")
def test_passphrase(path):
    tk.savez(path, passphrase="p", a=b"1")
    assert tk.loadz(path, passphrase="p") == {"a": b"1"}
    with pytest.raises(WrongKey):
        tk.loadz(path, passphrase="q")
    with pytest.raises(WrongKey, match="passphrase="):
        tk.loadz(path, KEY)


@pytest.mark.parametrize(
    ("members", "named", "error", "message"),
    [
        ({"a": b""}, {"a": b""}, InvalidParameter, "given twice"),
        ({"": b""}, {}, InvalidParameter, "0 bytes"),
        ({"n" * 1025: b""}, {}, InvalidParameter, "1025 bytes"),
        ({"\ud800": b""}, {}, InvalidParameter, "UTF-8"),
        ({1: b""}, {}, UnsupportedType, "int"),
        ({}, {"a": [1]}, UnsupportedType, "array 'a'"),
        ({}, {"a": np.array([None])}, UnsupportedType, "objects"),
        ({str(i): b"" for i in range(65536)}, {}, InvalidParameter, "65535"),
    ],
)
def test_refused(path, members, named, error, message):
    with pytest.raises(error, match=message):
        tk.savez(path, members, key=KEY, **named)
    assert not path.exists()


def test_names_and_shapes_are_not_readable_without_the_key(path):
    tk.savez(path, key=KEY, extraordinary=np.zeros(77, "<f4"))
    data = path.read_bytes()
    assert b"extraordinary" not in data
    assert b"<f4" not in data
    assert inspect(path).kind == "archive"


def test_members_are_read_one_by_one(path):
    tk.savez(path, key=KEY, **MEMBERS)
    with Archive(path, KEY) as archive:
        assert len(archive) == len(MEMBERS)
        assert "bytes" in archive
        assert "absent" not in archive
        assert archive.member("floats").header.shape == (60, 100)
        assert archive.read("bytes") == b"some bytes"
        assert archive.read("scalar") == np.float32(2.5)
        assert archive.read("bytes") == b"some bytes"
        with pytest.raises(InvalidParameter, match="no member 'absent'; there are 'floats'"):
            archive.read("absent")
        assert KEY.hex() not in repr(archive)
    with pytest.raises(StateError, match="closed"):
        archive.read("bytes")


def test_a_member_is_read_without_the_others(path):
    tk.savez(path, key=KEY, big=np.zeros(4 << 20, np.uint8), small=b"small")
    tk.loadz(path, KEY)
    tracemalloc.start()
    with Archive(path, KEY) as archive:
        assert archive.read("small") == b"small"
    assert tracemalloc.get_traced_memory()[1] < 3 << 20
    tracemalloc.stop()


def test_damage_in_one_member_does_not_reach_the_others(path):
    tk.savez(path, key=KEY, a=bytes(5), b=b"sound")
    data = bytearray(path.read_bytes())
    with Archive(path, KEY) as archive:
        data[archive.member("a").offset] ^= 1
    path.write_bytes(data)
    with Archive(path, KEY) as archive:
        with pytest.raises(InvalidTag):
            archive.read("a")
        assert archive.read("b") == b"sound"
    with pytest.raises(InvalidTag):
        tk.loadz(path, KEY)


def test_every_byte_flipped_and_every_truncation(path):
    tk.savez(path, key=KEY, a=np.arange(3), b=b"xy", metadata={"m": 1})
    data = path.read_bytes()
    for i in range(len(data)):
        altered = bytearray(data)
        altered[i] ^= 1 << (i % 8)
        path.write_bytes(altered)
        with pytest.raises(REFUSED):
            tk.loadz(path, KEY)
        path.write_bytes(data[:i])
        with pytest.raises(FormatError):
            tk.loadz(path, KEY)
    path.write_bytes(data + b"\0")
    with pytest.raises(FormatError, match="trailing"):
        tk.loadz(path, KEY)


def regions(path):
    """Name -> where the member's chunks are in the file."""
    with Archive(path, KEY) as archive:
        found = [archive.member(name) for name in archive]
    return {member.name: slice(member.offset, member.offset + member.chunk_bytes) for member in found}


def test_members_do_not_change_places(path):
    value = np.arange(CHUNK_BYTES, dtype=np.uint8)
    tk.savez(path, key=KEY, a=value, b=value)
    data, where = path.read_bytes(), regions(path)
    swapped = bytearray(data)
    swapped[where["a"]], swapped[where["b"]] = data[where["b"]], data[where["a"]]
    path.write_bytes(swapped)
    with pytest.raises(InvalidTag):
        tk.loadz(path, KEY)
    copied = bytearray(data)
    copied[where["b"]] = data[where["a"]]
    path.write_bytes(copied)
    with Archive(path, KEY) as archive:
        assert archive.read("a").size == CHUNK_BYTES
        with pytest.raises(InvalidTag):
            archive.read("b")


def test_members_do_not_move_between_archives(tmp_path):
    """Not even under one key, name and header: an older version of one member cannot be put back alone."""
    for name in ("old", "new"):
        tk.savez(tmp_path / name, key=KEY, a=np.arange(4), b=np.arange(4))
    old, new = ((tmp_path / name).read_bytes() for name in ("old", "new"))
    assert len(old) == len(new)
    where = regions(tmp_path / "new")
    for part in where.values():
        mixed = bytearray(new)
        mixed[part] = old[part]
        (tmp_path / "mixed").write_bytes(mixed)
        with pytest.raises(InvalidTag):
            tk.loadz(tmp_path / "mixed", KEY)
    first = where["a"].start
    (tmp_path / "mixed").write_bytes(old[:first] + new[first:])
    with pytest.raises(InvalidTag):
        tk.loadz(tmp_path / "mixed", KEY)


def test_members_are_not_sealed_arrays_and_the_other_way_round(path):
    tk.savez(path, key=KEY, a=np.arange(3))
    for opener in (tk.load, lambda p, key: tk.unseal(p.read_bytes(), key)):
        with pytest.raises(FormatError, match="loadz"):
            opener(path, KEY)
    tk.save(path, np.arange(3), KEY)
    with pytest.raises(FormatError, match="with load"):
        tk.loadz(path, KEY)


def test_wrong_key(path):
    tk.savez(path, key=KEY, a=np.arange(3))
    with pytest.raises(WrongKey):
        tk.loadz(path, bytes(32))


def sealed_directory(path, directory):
    """An archive whose directory somebody with the key wrote by hand."""
    from twofishkit.sealed import container, keys, pipes

    fields = {"kind": "archive", "payload_bytes": len(directory)}
    sealing = container.begin(fields, keys.new_source(KEY, None))
    data = bytearray(sealing.start)
    sealer = pipes.Sealer(sealing.message, lambda piece: data.extend(piece))
    sealer.write(np.frombuffer(directory, np.uint8))
    sealer.finish()
    path.write_bytes(data)


def entry(name, **fields):
    from twofishkit.sealed import header

    fields = {"kind": "bytes", "payload_bytes": 0} | fields
    return len(name).to_bytes(2, "little") + name + header.build(**fields).encoded + bytes(56)


@pytest.mark.parametrize(
    "directory",
    [
        b"",
        b"\0\0\0",
        b"\1\0\0\0",
        b"\0\0\0\0x",
        b"\1\0\0\0" + entry(b"a")[:-1],
        b"\1\0\0\0" + entry(b"a") + b"x",
        b"\2\0\0\0" + entry(b"a"),
        b"\2\0\0\0" + entry(b"a") * 2,
        b"\1\0\0\0" + entry(b"\xff"),
        b"\1\0\0\0" + entry(b""),
        b"\1\0\0\0" + entry(b"a", payload_bytes=None),
        b"\1\0\0\0" + entry(b"a", kind="archive"),
        b"\1\0\0\0" + entry(b"a", payload_bytes=2**51),
    ],
)
def test_impossible_directories(path, directory):
    sealed_directory(path, directory)
    with pytest.raises(FormatError):
        tk.loadz(path, KEY)
