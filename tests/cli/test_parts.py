"""cat, rekey, and what inspect says of chunks."""

import io
import json
import os

import numpy as np
import pytest

import twofishkit as tk
from tests.cli.conftest import KEY, names
from twofishkit.commands import UsageError
from twofishkit.commands.cat import parse_index

WITH_KEY = ("--key-file", "../my.key")
ARRAY = np.arange(60_000).reshape(2000, 30)


@pytest.fixture
def sealed(work):
    tk.save("a.tfk", ARRAY, KEY)
    return work / "a.tfk"


class Everything:
    def __getitem__(self, key):
        return key if isinstance(key, tuple) else (key,)


SLICES = "10:20 | 3 | -1 | : | ::2 | 5: | :-5 | ::-1 | 1:9:3 | 3,:,::2 | ... | ...,0 | 0, 1 | 2, | 10:20,"


@pytest.mark.parametrize("text", SLICES.split(" | "))
def test_slices_mean_what_they_mean_in_python(text):
    expected = eval(f"e[{text}]", {"e": Everything()})
    assert parse_index(text) == expected


@pytest.mark.parametrize(
    "text", ["", "a", "1:2:3:4", "1.5", "--1", "-", "1:-", "::0", "..", "1,,2", "1;2", "0x1", "١"]
)
def test_other_slices_are_refused(text):
    with pytest.raises(UsageError):
        parse_index(text)


def test_cat_prints(sealed, run):
    outcome = run("cat", *WITH_KEY, "--slice", "10:12,:3", "a.tfk")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out) == ARRAY[10:12, :3].tolist()
    assert b"..." in run("cat", *WITH_KEY, "a.tfk").out
    assert run("cat", *WITH_KEY, "--slice=-1,-1", "a.tfk").out == b"59999\n"


def test_cat_writes(sealed, run, fails):
    assert run("cat", *WITH_KEY, "--slice", "5:900:7", "-o", "part.npy", "a.tfk").code == 0
    assert np.array_equal(np.load("part.npy"), ARRAY[5:900:7])
    fails(1, "exists already", "cat", *WITH_KEY, "-o", "part.npy", "a.tfk")
    assert run("cat", *WITH_KEY, "--force", "--slice", "0:0", "-o", "part.npy", "a.tfk").code == 0
    assert np.load("part.npy").shape == (0, 30)
    outcome = run("cat", *WITH_KEY, "--slice", ":,3", "-o", "-", "a.tfk")
    assert np.array_equal(np.load(io.BytesIO(outcome.out)), ARRAY[:, 3])


def test_cat_of_an_archive(work, run, fails):
    tk.savez("z.tfk", key=KEY, a=ARRAY, b=np.arange(3))
    assert run("cat", *WITH_KEY, "--name", "b", "z.tfk").out == b"[0, 1, 2]\n"
    fails(2, "say which array", "cat", *WITH_KEY, "z.tfk")


def test_cat_fails_in_one_line(sealed, fails, work):
    fails(2, "out of bounds", "cat", *WITH_KEY, "--slice", "2000", "a.tfk")
    fails(2, "too many indices", "cat", *WITH_KEY, "--slice", "1,1,1", "a.tfk")
    fails(2, "--slice wants", "cat", *WITH_KEY, "--slice", "x", "a.tfk")
    fails(1, "none.tfk", "cat", *WITH_KEY, "none.tfk")
    fails(2, "cannot read standard input", "cat", *WITH_KEY, "-")
    data = bytearray(sealed.read_bytes())
    data[-100] ^= 1
    sealed.write_bytes(data)
    fails(1, "damaged: chunk", "cat", *WITH_KEY, "a.tfk", "-o", "b.npy")
    assert names(work) == ["a.tfk"]


def test_rekey_to_another_key_and_to_a_passphrase(sealed, run, monkeypatch, work):
    (work.parent / "new.key").write_text("11" * 32)
    (work.parent / "new.key").chmod(0o600)
    assert run("rekey", *WITH_KEY, "--new-key-file", "../new.key", "a.tfk").code == 0
    assert np.array_equal(tk.load("a.tfk", b"\x11" * 32), ARRAY)
    monkeypatch.setenv("NEW", "grüße")
    assert run("rekey", "--key-file", "../new.key", "--new-passphrase-env", "NEW", "a.tfk").code == 0
    assert np.array_equal(tk.load("a.tfk", passphrase="grüße"), ARRAY)
    monkeypatch.setenv("KEY", KEY.hex())
    assert run("rekey", "--passphrase-env", "NEW", "--new-key-env", "KEY", "a.tfk").code == 0
    assert np.array_equal(tk.load("a.tfk", KEY), ARRAY)
    assert names(work) == ["a.tfk"]


def test_rekey_asks_twice(sealed, run, monkeypatch):
    asked = []
    monkeypatch.setattr("getpass.getpass", lambda prompt: asked.append(prompt) or "new")
    assert run("rekey", *WITH_KEY, "a.tfk").code == 0
    assert asked == ["New passphrase: ", "The same again: "]
    assert np.array_equal(tk.load("a.tfk", passphrase="new"), ARRAY)


def test_rekey_fails_in_one_line_and_changes_nothing(sealed, fails, work):
    before = sealed.read_bytes()
    (work.parent / "bad.key").write_text("22" * 32)
    (work.parent / "bad.key").chmod(0o600)
    fails(1, "wrong key", "rekey", "--key-file", "../bad.key", "--new-key-file", "../bad.key", "a.tfk")
    fails(2, "not set", "rekey", *WITH_KEY, "--new-key-env", "NONE", "a.tfk")
    fails(1, "none.tfk", "rekey", *WITH_KEY, "--new-key-file", "../bad.key", "none.tfk")
    assert sealed.read_bytes() == before
    assert names(work) == ["a.tfk"]


def test_inspect_shows_chunks(work, run):
    tk.save("a.tfk", np.zeros(5000), KEY)
    assert "chunks    3 of 16384 bytes, the last of 7232" in run("inspect", "a.tfk").out.decode()
    with tk.create_array("b.tfk", (None, 10), "u1", KEY) as out:
        out.write(np.zeros((3, 10), "u1"))
    facts = json.loads(run("inspect", "--json", "b.tfk").out)
    assert (facts["shape"], facts["chunks"]) == ([3, 10], "1 of 16384 bytes, the last of 30")


def test_seal_and_cat_of_a_file_made_by_the_command_line(work, run):
    np.save("x.npy", ARRAY)
    assert run("seal", *WITH_KEY, "x.npy").code == 0
    os.remove("x.npy")
    assert json.loads(run("cat", *WITH_KEY, "--slice", "7,::10", "x.npy.tfk").out) == ARRAY[7, ::10].tolist()
