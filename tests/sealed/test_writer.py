"""create_array: piece by piece, and all or nothing."""

import errno

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit.errors import InvalidKey, InvalidLength, InvalidParameter, StateError, UnsupportedType
from twofishkit.sealed import files

OLD = np.arange(5)


def contents(directory):
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture
def path(tmp_path):
    tk.save(tmp_path / "a", OLD, KEY)
    return tmp_path / "a"


def assert_old(path):
    assert np.array_equal(tk.load(path, KEY), OLD)
    assert contents(path.parent) == ["a"]


@pytest.mark.parametrize("known", [True, False])
@given(sizes=st.lists(st.integers(0, 3000), max_size=8), data=st.data())
def test_any_split_gives_the_array(tmp_path_factory, known, sizes, data):
    path = tmp_path_factory.mktemp("writer") / "a"
    array = np.random.default_rng(1).random((sum(sizes), 3))
    start = 0
    with tk.create_array(path, (len(array) if known else None, 3), "<f8", KEY) as out:
        for size in sizes:
            block = array[start : start + size]
            form = data.draw(st.sampled_from(["C", "F", "reversed", "rows"]))
            if form == "rows":
                for row in block[:5]:
                    out.write(row)
                out.write(block[5:])
            elif form == "reversed":
                out.write(np.ascontiguousarray(block[::-1, ::-1])[::-1, ::-1])
            else:
                out.write(np.array(block, order=form))
            start += size
        assert out.rows == len(array)
    assert np.array_equal(tk.load(path, KEY), array)
    with tk.open_array(path, KEY) as opened:
        assert opened.shape == array.shape
        assert np.array_equal(opened[::-7], array[::-7])


def test_one_dimension_and_metadata(path):
    with tk.create_array(path, 4, "i2", KEY, metadata={"a": 1}) as out:
        out.write(np.int16(7))
        out.write(np.arange(3, dtype=np.uint8))
    assert tk.load(path, KEY).tolist() == [7, 0, 1, 2]
    assert dict(tk.inspect(path).metadata) == {"a": 1}


def test_passphrase(path, cheap_scrypt):
    with tk.create_array(path, None, "i2", passphrase="x") as out:
        out.write(np.arange(3, dtype="i2"))
    assert tk.load(path, passphrase="x").tolist() == [0, 1, 2]


def test_nothing_there_before_it_is_closed(tmp_path):
    out = tk.create_array(tmp_path / "a", (None, 2), "i8", KEY)
    out.write(np.zeros((1_000_000, 2), "i8"))
    assert not (tmp_path / "a").exists()
    out.close()
    out.close()
    assert contents(tmp_path) == ["a"]
    with pytest.raises(StateError, match="closed"):
        out.write(np.zeros(2, "i8"))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_file(path, error):
    def work():
        with tk.create_array(path, (None,), "u1", KEY) as out:
            out.write(np.zeros(3 << 20, "u1"))
            raise error

    with pytest.raises(error):
        work()
    assert_old(path)


def test_missing_rows(path):
    with (
        pytest.raises(InvalidLength, match="2 rows were written of 3"),
        tk.create_array(path, 3, "u1", KEY) as out,
    ):
        out.write(np.zeros(2, "u1"))
    assert_old(path)


def test_too_many_rows(path):
    with tk.create_array(path, 3, "u1", KEY) as out:
        out.write(np.zeros(2, "u1"))
        with pytest.raises(InvalidLength, match="2 more rows after 2"):
            out.write(np.zeros(2, "u1"))
        out.write(np.ones(1, "u1"))
    assert tk.load(path, KEY).tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("block", "error"),
    [
        (np.zeros((2, 3)), InvalidLength),
        (np.zeros(2), InvalidLength),
        (np.zeros((1, 2, 4)), InvalidLength),
        (np.zeros((2, 4), "c16"), UnsupportedType),
        (np.zeros((2, 4), "M8[s]"), UnsupportedType),
        (np.zeros((2, 4), object), UnsupportedType),
        (np.ma.masked_array(np.zeros((2, 4))), UnsupportedType),
        ([[0.0] * 4], UnsupportedType),
        (b"x" * 32, UnsupportedType),
    ],
)
def test_blocks_that_do_not_fit(path, block, error):
    with tk.create_array(path, (None, 4), "f8", KEY) as out:
        with pytest.raises(error):
            out.write(block)
        out.write(np.zeros((1, 4), ">f4"))  # held exactly
    assert tk.load(path, KEY).shape == (1, 4)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (((), "f8", KEY), InvalidParameter),
        (((None, None), "f8", KEY), InvalidParameter),
        ((-1, "f8", KEY), InvalidParameter),
        (((None, 0), "f8", KEY), InvalidParameter),
        (("3", "f8", KEY), UnsupportedType),
        ((2.5, "f8", KEY), UnsupportedType),
        ((2, object, KEY), UnsupportedType),
        ((2, "f8", bytes(31)), InvalidKey),
        ((2, "f8"), InvalidParameter),
        ((1 << 62, "f8", KEY), InvalidParameter),
    ],
)
def test_bad_arguments(path, arguments, error):
    with pytest.raises(error):
        tk.create_array(path, *arguments)
    with pytest.raises(UnsupportedType, match="progress"):
        tk.create_array(path, 3, "u1", KEY, progress=3)
    assert_old(path)


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_failing_disk(path, monkeypatch, after):
    left = [after]
    write_all = files.write_all

    def failing(file, data):
        if not left[0]:
            raise OSError(errno.ENOSPC, "injected")
        left[0] -= 1
        write_all(file, data)

    monkeypatch.setattr(files, "write_all", failing)
    with pytest.raises(OSError, match="injected"), tk.create_array(path, (None,), "u1", KEY) as out:
        out.write(np.zeros(20 << 20, "u1"))
    assert_old(path)


def test_forgotten_writer(path):
    out = tk.create_array(path, (None,), "u1", KEY)
    out.write(np.zeros(9, "u1"))
    with pytest.warns(ResourceWarning, match="neither closed nor discarded"):
        out.__del__()
    del out
    assert_old(path)


def test_repr(path):
    out = tk.create_array(path, (None, 3), "<f4", KEY)
    assert repr(out) == "<ArrayWriter, shape (None, 3), dtype float32, 0 rows written>"
    out.discard()
    assert repr(out).startswith("<closed ArrayWriter")
    assert_old(path)
