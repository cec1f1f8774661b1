"""Files that earlier versions wrote: read by today's code and by the reader made from docs/format.md."""

import numpy as np
import pytest

import twofishkit as tk
from tests.sealed import mini_reader
from tests.sealed.golden_cases import ARCHIVE, ARCHIVE_METADATA, CASES, KEY, PASSPHRASE
from tests.sealed.make_golden import GOLDEN
from twofishkit.sealed import Archive, inspect


def assert_same(got, expected):
    if isinstance(expected, bytes):
        assert type(got) is bytes
        assert got == expected
        return
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    assert got.flags.f_contiguous == expected.flags.f_contiguous
    assert got.flags.c_contiguous == expected.flags.c_contiguous
    assert got.tobytes() == expected.tobytes()


def secret_of(by_passphrase):
    return {"passphrase": PASSPHRASE} if by_passphrase else {"key": KEY}


@pytest.mark.parametrize("name", CASES)
def test_golden_file(name):
    value, metadata, by_passphrase = CASES[name]
    path = GOLDEN / f"{name}.tfk"
    assert_same(tk.load(path, **secret_of(by_passphrase)), value)
    assert_same(tk.unseal(path.read_bytes(), **secret_of(by_passphrase)), value)
    assert inspect(path).metadata == (metadata or {})


def test_golden_archive():
    path = GOLDEN / "archive.tfk"
    found = tk.loadz(path, KEY)
    assert list(found) == list(ARCHIVE)
    for name, value in ARCHIVE.items():
        assert_same(found[name], value)
    with Archive(path, KEY) as archive:
        assert archive.header.metadata == ARCHIVE_METADATA


@pytest.mark.parametrize("name", CASES)
def test_format_document_suffices(name):
    value, metadata, by_passphrase = CASES[name]
    data = (GOLDEN / f"{name}.tfk").read_bytes()
    assert_same_values(mini_reader.read(data, **secret_of(by_passphrase)), value)
    assert mini_reader.read_header(data)["metadata"] == (metadata or {})


def test_format_document_suffices_without_another_library(monkeypatch):
    monkeypatch.setattr(mini_reader.peers, "find", lambda: ())
    data = (GOLDEN / "array-three-chunks.tfk").read_bytes()
    assert_same_values(mini_reader.read(data, KEY), CASES["array-three-chunks"][0])


def test_format_document_suffices_for_archives():
    found = mini_reader.read((GOLDEN / "archive.tfk").read_bytes(), KEY)
    assert list(found) == list(ARCHIVE)
    for name, value in ARCHIVE.items():
        assert_same_values(found[name], value)


def test_format_document_suffices_for_what_is_sealed_today(tmp_path):
    rng = np.random.default_rng(5)
    for value in (rng.bytes(40000), rng.random((50, 60)), np.asfortranarray(rng.random((30, 20)))):
        assert_same_values(mini_reader.read(tk.seal(value, KEY), KEY), value)
    tk.savez(tmp_path / "a", key=KEY, one=value, two=b"2")
    assert_same_values(mini_reader.read((tmp_path / "a").read_bytes(), KEY)["one"], value)


def assert_same_values(got, expected):
    if isinstance(expected, bytes):
        assert got == expected
    else:
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        assert got.tobytes() == expected.tobytes()


def test_no_golden_file_is_unaccounted_for():
    assert {path.stem for path in GOLDEN.glob("*.tfk")} == {*CASES, "archive"}
