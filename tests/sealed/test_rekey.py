"""rekey: the same content under another key, or the file as it was."""

import numpy as np
import pytest

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit.errors import FormatError, InvalidKey, InvalidParameter, InvalidTag, WrongKey

OTHER = bytes(32)


def test_array(tmp_path):
    array = np.asfortranarray(np.random.default_rng(0).random((500, 700)))
    tk.save(tmp_path / "a", array, KEY, metadata={"unit": "K"})
    before = (tmp_path / "a").read_bytes()
    tk.rekey(tmp_path / "a", KEY, new_key=OTHER)
    got = tk.load(tmp_path / "a", OTHER)
    assert np.array_equal(got, array)
    assert got.flags.f_contiguous
    assert dict(tk.inspect(tmp_path / "a").metadata) == {"unit": "K"}
    after = (tmp_path / "a").read_bytes()
    assert len(after) == len(before)
    assert after[-1000:] != before[-1000:]
    with pytest.raises(WrongKey):
        tk.load(tmp_path / "a", KEY)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_bytes_and_an_array_of_unknown_length(tmp_path):
    tk.save(tmp_path / "a", b"x" * 40_000, KEY)
    tk.rekey(tmp_path / "a", KEY, new_key=OTHER)
    assert tk.load(tmp_path / "a", OTHER) == b"x" * 40_000
    with tk.create_array(tmp_path / "b", (None, 3), "<i4", KEY) as out:
        out.write(np.arange(30, dtype="<i4").reshape(10, 3))
    tk.rekey(tmp_path / "b", KEY, new_key=OTHER)
    assert tk.inspect(tmp_path / "b").shape == (10, 3)
    assert tk.load(tmp_path / "b", OTHER)[9, 2] == 29


def test_archive(tmp_path):
    arrays = {"a": np.arange(200_000), "ü": np.asfortranarray(np.ones((3, 4))), "raw": b"bytes"}
    tk.savez(tmp_path / "z", arrays, key=KEY, metadata={"n": 1})
    tk.rekey(tmp_path / "z", KEY, new_key=OTHER)
    got = tk.loadz(tmp_path / "z", OTHER)
    assert list(got) == list(arrays)
    for name, array in arrays.items():
        assert np.array_equal(got[name], array)
    assert dict(tk.inspect(tmp_path / "z").metadata) == {"n": 1}
    with pytest.raises(WrongKey):
        tk.loadz(tmp_path / "z", KEY)


def test_passphrases(tmp_path, cheap_scrypt):
    tk.save(tmp_path / "a", b"x", KEY)
    tk.rekey(tmp_path / "a", KEY, new_passphrase="one")
    salt = tk.inspect(tmp_path / "a").scrypt.salt
    tk.rekey(tmp_path / "a", passphrase="one", new_passphrase="two")
    assert tk.inspect(tmp_path / "a").scrypt.salt != salt
    assert tk.load(tmp_path / "a", passphrase="two") == b"x"


@pytest.mark.parametrize("archive", [False, True])
def test_failures_leave_the_file_as_it_was(tmp_path, archive):
    path = tmp_path / "a"
    if archive:
        tk.savez(path, key=KEY, a=np.arange(100_000))
    else:
        tk.save(path, np.arange(100_000), KEY)
    data = path.read_bytes()
    for error, call in (
        (WrongKey, lambda: tk.rekey(path, OTHER, new_key=OTHER)),
        (InvalidKey, lambda: tk.rekey(path, KEY, new_key=b"short")),
        (InvalidParameter, lambda: tk.rekey(path, KEY)),
        (InvalidParameter, lambda: tk.rekey(path, KEY, new_key=OTHER, new_passphrase="x")),
    ):
        with pytest.raises(error):
            call()
        assert path.read_bytes() == data
    for damaged, error in ((data[:-20000], FormatError), (data[:-50] + b"x" + data[-49:], InvalidTag)):
        path.write_bytes(damaged)
        with pytest.raises(error):
            tk.rekey(path, KEY, new_key=OTHER)
        assert path.read_bytes() == damaged
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
