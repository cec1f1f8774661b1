"""seal, unseal and inspect on files."""

import json
import os
import stat

import numpy as np
import pytest

import twofishkit as tk
from tests.cli.conftest import KEY, names
from twofishkit.sealed import keys

WITH_KEY = ("--key-file", "../my.key")

ARRAYS = {
    "floats": np.arange(12, dtype="<f4").reshape(3, 4),
    "fortran": np.asfortranarray(np.arange(24, dtype=">i2").reshape(2, 3, 4)),
    "scalar": np.array(2.5),
    "empty": np.empty((0, 3)),
    "dates": np.array(["2020-01-01", "NaT"], "M8[D]"),
    "text": np.array(["a", "grüße"]),
    "structured": np.zeros(3, [("a", "<i4"), ("b", "<f8", (2,))]),
    "aligned": np.zeros(3, np.dtype([("a", "u1"), ("b", "<f8")], align=True)),
    "unicode names": np.zeros(2, [("größe λ", "<f4")]),
    "many fields": np.zeros(1, [("f" * 20 + str(i), "<f8") for i in range(900)]),
    "long": np.arange(400_000.0),
}


@pytest.mark.filterwarnings("ignore:Stored array in format:UserWarning")
@pytest.mark.parametrize("name", ARRAYS)
def test_npy_files_come_back_byte_for_byte(work, run, name):
    np.save("a.npy", ARRAYS[name])
    original = (work / "a.npy").read_bytes()
    assert run("seal", *WITH_KEY, "a.npy").code == 0
    loaded = tk.load("a.npy.tfk", KEY)
    assert (loaded.dtype, loaded.shape) == (ARRAYS[name].dtype, ARRAYS[name].shape)
    assert loaded.tobytes() == ARRAYS[name].tobytes()
    os.remove("a.npy")
    assert run("unseal", *WITH_KEY, "a.npy.tfk").code == 0
    assert (work / "a.npy").read_bytes() == original
    assert names(work) == ["a.npy", "a.npy.tfk"]


@pytest.mark.parametrize("n", [0, 1, 16384, 3_000_000])
def test_other_files_come_back_byte_for_byte(work, run, n):
    data = np.random.default_rng(n).bytes(n)
    (work / "photo.jpg").write_bytes(data)
    outcome = run("seal", *WITH_KEY, "photo.jpg")
    assert (outcome.code, outcome.out, outcome.err) == (0, b"", "")
    assert tk.load("photo.jpg.tfk", KEY) == data
    os.remove("photo.jpg")
    assert run("unseal", *WITH_KEY, "photo.jpg.tfk").code == 0
    assert (work / "photo.jpg").read_bytes() == data


def test_what_the_library_saved_is_unsealed_to_an_npy_file(work, run):
    tk.save("temps.tfk", ARRAYS["floats"], KEY)
    assert run("unseal", *WITH_KEY, "temps.tfk").code == 0
    assert np.array_equal(np.load("temps.npy"), ARRAYS["floats"])


def test_archives_become_npz_files(work, run):
    tk.savez("all.tfk", key=KEY, a=ARRAYS["floats"], b=ARRAYS["long"], raw=b"bytes", e=ARRAYS["empty"])
    assert run("unseal", *WITH_KEY, "all.tfk").code == 0
    with np.load("all.npz") as found:
        assert sorted(found.files) == ["a", "b", "e", "raw"]
        assert np.array_equal(found["a"], ARRAYS["floats"])
        assert np.array_equal(found["b"], ARRAYS["long"])
        assert found["e"].shape == (0, 3)
        assert found["raw"] == b"bytes"


def test_output_and_form_by_option(work, run):
    np.save("a.npy", ARRAYS["floats"])
    assert run("seal", *WITH_KEY, "a.npy", "--as", "bytes", "-o", "x").code == 0
    assert tk.load("x", KEY) == (work / "a.npy").read_bytes()
    os.rename("a.npy", "a.data")
    assert run("seal", *WITH_KEY, "a.data", "--as", "npy", "-o", "y").code == 0
    assert np.array_equal(tk.load("y", KEY), ARRAYS["floats"])
    assert run("unseal", *WITH_KEY, "y", "-o", "z").code == 0
    assert np.array_equal(np.load("z"), ARRAYS["floats"])


def test_existing_files_are_kept_without_force(work, run, fails):
    (work / "a").write_bytes(b"data")
    (work / "a.tfk").write_bytes(b"precious")
    fails(1, "a.tfk: exists already; use --force", "seal", *WITH_KEY, "a")
    assert (work / "a.tfk").read_bytes() == b"precious"
    assert run("seal", *WITH_KEY, "--force", "a").code == 0
    fails(1, "a: exists already; use --force", "unseal", *WITH_KEY, "a.tfk")
    (work / "a").write_bytes(b"other")
    assert run("unseal", *WITH_KEY, "--force", "a.tfk").code == 0
    assert (work / "a").read_bytes() == b"data"


def test_in_place(work, run):
    """The output may be the input: it is replaced when everything has been read."""
    (work / "a").write_bytes(b"data" * 1000)
    assert run("seal", *WITH_KEY, "a", "-o", "a", "--force").code == 0
    assert run("unseal", *WITH_KEY, "a", "-o", "a", "--force").code == 0
    assert (work / "a").read_bytes() == b"data" * 1000


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_new_files_are_private(work, run):
    (work / "a").write_bytes(b"data")
    (work / "a").chmod(0o644)
    run("seal", *WITH_KEY, "a")
    run("unseal", *WITH_KEY, "a.tfk", "-o", "b")
    assert [stat.S_IMODE((work / name).stat().st_mode) for name in ("a.tfk", "b")] == [0o600, 0o600]


@pytest.fixture
def sealed(work, run):
    """a.tfk, of several chunks."""
    (work / "a").write_bytes(bytes(50_000))
    assert run("seal", *WITH_KEY, "a").code == 0
    os.remove("a")
    return work / "a.tfk"


@pytest.mark.parametrize("extra", [(), ("-o", "-")])
def test_wrong_key_leaves_nothing(work, sealed, fails, extra):
    (work.parent / "other.key").write_text("00" * 32)
    (work.parent / "other.key").chmod(0o600)
    fails(1, "wrong key or passphrase", "unseal", "--key-file", "../other.key", "a.tfk", *extra)
    assert names(work) == ["a.tfk"]


@pytest.mark.parametrize("position", [200, 20_000, -1])
def test_damage_leaves_nothing(work, sealed, fails, position):
    data = bytearray(sealed.read_bytes())
    data[position] ^= 1
    sealed.write_bytes(data)
    fails(1, "damaged: chunk", "unseal", *WITH_KEY, "a.tfk")
    assert names(work) == ["a.tfk"]


@pytest.mark.parametrize("n", [0, 5, 60, 150, 20_000, 50_000])
def test_truncation_leaves_nothing(work, sealed, fails, n):
    sealed.write_bytes(sealed.read_bytes()[:n])
    fails(1, "truncated" if n else "empty", "unseal", *WITH_KEY, "a.tfk")
    assert names(work) == ["a.tfk"]


def test_damage_in_an_archive_leaves_nothing(work, fails):
    tk.savez("all.tfk", key=KEY, a=bytes(100), b=bytes(40_000))
    data = bytearray((work / "all.tfk").read_bytes())
    data[-1] ^= 1
    (work / "all.tfk").write_bytes(data)
    fails(1, "damaged", "unseal", *WITH_KEY, "all.tfk")
    assert names(work) == ["all.tfk"]


def test_interrupt_leaves_nothing(work, run, monkeypatch):
    from twofishkit.sealed import files

    def interrupted(file, data):
        raise KeyboardInterrupt

    (work / "a").write_bytes(b"data")
    monkeypatch.setattr(files, "write_all", interrupted)
    outcome = run("seal", *WITH_KEY, "a")
    assert (outcome.code, outcome.err) == (130, "twofishkit: error: interrupted\n")
    assert names(work) == ["a"]


def test_input_that_changes_while_it_is_read(work, fails, monkeypatch):
    from twofishkit.commands import seal

    (work / "a").write_bytes(b"data")
    real = seal.container.begin

    def grown(*arguments):
        (work / "a").write_bytes(b"more data")
        return real(*arguments)

    monkeypatch.setattr(seal.container, "begin", grown)
    fails(1, "9 bytes of data where 4 were expected", "seal", *WITH_KEY, "a")
    assert names(work) == ["a"]


@pytest.mark.parametrize("cut", [3, 9, 50, 130])
def test_npy_file_that_is_cut(work, fails, cut):
    np.save("a.npy", np.arange(3))
    (work / "a.npy").write_bytes((work / "a.npy").read_bytes()[:cut])
    outcome = fails(1, "", "seal", *WITH_KEY, "a.npy")
    assert "npy" in outcome.err or "expected" in outcome.err
    assert names(work) == ["a.npy"]


@pytest.mark.parametrize(
    "content",
    [
        b"no array at all, but text",
        b"\x93NUMPY\x09\x00v\x00" + bytes(200),
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(200),
        b"\x93NUMPY\x01\x00\x10\x00__import__('os')",
        b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8'}",
        b"\x93NUMPY\x01\x00\x3d\x00{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}           ",
        b"\x93NUMPY\x01\x00\x3d\x00{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}      ",
        b"\x93NUMPY\x01\x00\x3d\x00{'descr': 'nope', 'fortran_order': False, 'shape': (3,)}      ",
        b"\x93NUMPY\x01\x00\x3d\x00" + b"[" * 61,
    ],
)
def test_npy_file_that_is_none(work, fails, content):
    (work / "a.npy").write_bytes(content)
    fails(1, ".npy", "seal", *WITH_KEY, "a.npy")
    assert names(work) == ["a.npy"]


def test_npy_file_of_objects(work, fails):
    np.save("a.npy", np.array([None, {}]), allow_pickle=True)
    fails(1, "Python objects", "seal", *WITH_KEY, "a.npy")


def test_metadata_and_inspect(work, run):
    np.save("a.npy", ARRAYS["fortran"])
    run("seal", *WITH_KEY, "a.npy", "--metadata", "unit=K", "--metadata", "note=a=b \x1b[31m ü")
    outcome = run("inspect", "a.npy.tfk")
    assert outcome.code == 0
    assert outcome.out.decode("ascii").splitlines() == [
        "kind      array",
        "dtype     >i2",
        "shape     [2, 3, 4]",
        "order     F",
        "bytes     48",
        "chunks    1 of 16384 bytes, the last of 48",
        "key       raw",
        'metadata  {"unit": "K", "note": "a=b \\u001b[31m \\u00fc"}',
        "verified  nothing",
    ]
    facts = json.loads(run("inspect", "--json", *WITH_KEY, "a.npy.tfk").out)
    assert facts["verified"] == "header"
    assert facts["metadata"]["unit"] == "K"


def test_inspect_of_the_other_kinds(work, run, monkeypatch):
    monkeypatch.setattr(keys, "SCRYPT_LOG2_N", 12)
    tk.save("bytes.tfk", b"12345", passphrase="p")
    facts = json.loads(run("inspect", "--json", "bytes.tfk").out)
    assert facts == {
        "kind": "bytes", "bytes": 5, "chunks": "1 of 16384 bytes, the last of 5",
        "key": "passphrase, scrypt N = 2^12", "verified": "nothing",
    }  # fmt: skip
    tk.savez("all.tfk", {"a\x1b": np.zeros((2, 3), "<f4")}, key=KEY, b=b"123")
    assert json.loads(run("inspect", "--json", "all.tfk").out)["kind"] == "archive"
    outcome = run("inspect", *WITH_KEY, "all.tfk").out.decode("ascii")
    assert 'member    "a\\u001b": "<f4" [2, 3]\nmember    "b": 3 bytes\n' in outcome


def test_inspect_names_the_problem_after_showing_the_header(work, run, sealed):
    sealed.write_bytes(sealed.read_bytes()[:-5])
    outcome = run("inspect", "a.tfk")
    assert outcome.code == 1
    assert b"kind      bytes" in outcome.out
    assert "truncated" in outcome.err


def test_inspect_with_the_wrong_key(work, sealed, fails):
    (work.parent / "other.key").write_bytes(bytes(32))
    (work.parent / "other.key").chmod(0o600)
    fails(1, "wrong key", "inspect", "--key-file", "../other.key", "a.tfk")
