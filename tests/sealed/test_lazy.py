"""open_array: the right elements, from no more chunks than a selection touches."""

import os
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit.errors import FormatError, InvalidParameter, InvalidTag, StateError, UnsupportedType, WrongKey
from twofishkit.sealed import lazy, selection
from twofishkit.sealed.sources import LocalFile
from twofishkit.sealed.stream import CHUNK_BYTES

ROWS = CHUNK_BYTES // 8


@pytest.fixture
def sealed(tmp_path):
    """Save an array; the path."""

    def saver(array, name="a.tfk", **options):
        tk.save(tmp_path / name, array, KEY, **options)
        return tmp_path / name

    return saver


@pytest.fixture
def touched(monkeypatch):
    """Records the ranges of bytes that are fetched from local files."""
    ranges = []
    fetch = LocalFile.fetch
    monkeypatch.setattr(LocalFile, "fetch", lambda self, asked: ranges.extend(asked) or fetch(self, asked))
    return ranges


def assert_equal(got, expected):
    assert type(got) is type(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if got.dtype.names is None:
        assert got.tobytes() == expected.tobytes()
    else:  # the padding of strided elements is lost on the way to bytes
        assert np.array_equal(got, expected)


SHAPES = [(7, 5, 3), (4000, 3), (3, 5000), (60_000,), (1, 1, 1), (), (0, 4), (4, 0)]


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """(array, the same opened) for each shape and order."""
    directory = tmp_path_factory.mktemp("lazy")
    rng = np.random.default_rng(5)
    pairs = []
    for shape in SHAPES:
        for order in "CF":
            array = np.asarray(rng.integers(0, 1 << 60, shape), order=order)
            path = directory / f"{len(pairs)}"
            tk.save(path, array, KEY)
            pairs.append((array, tk.open_array(path, KEY)))
    yield pairs
    for _, opened in pairs:
        opened.close()


@settings(max_examples=300)
@given(st.data())
def test_basic_indexing_is_numpys(examples, data):
    array, opened = examples[data.draw(st.integers(0, len(examples) - 1))]
    key = data.draw(hnp.basic_indices(array.shape, allow_newaxis=True, allow_ellipsis=True))
    assert_equal(opened[key], array[key])


@settings(max_examples=200)
@given(st.data())
def test_arrays_of_positions_and_masks_are_numpys(examples, data):
    array, opened = examples[data.draw(st.integers(0, len(SHAPES) - 1)) * 2]
    if array.ndim == 0 or 0 in array.shape:
        return
    axis = data.draw(st.integers(0, array.ndim - 1))
    n = array.shape[axis]
    positions = hnp.arrays(
        np.int32, hnp.array_shapes(max_dims=2, max_side=6), elements=st.integers(-n, n - 1)
    )
    mask = st.builds(lambda seed: np.random.default_rng(seed).random(n) < 0.3, st.integers(0, 9))
    rest = data.draw(hnp.basic_indices(array.shape[axis + 1 :], allow_newaxis=True, allow_ellipsis=True))
    before = [data.draw(st.sampled_from([slice(None), slice(None, None, -2), 0])) for _ in range(axis)]
    key = (*before, data.draw(positions | mask), *(rest if isinstance(rest, tuple) else (rest,)))
    assert_equal(opened[key], array[key])


def test_groups_of_rows(sealed, monkeypatch):
    """With small limits, every way to cut a selection is taken."""
    array = np.arange(64 * 3000).reshape(64, 3000)
    rng = np.random.default_rng(0)
    keys = [
        np.s_[:, 0],
        np.s_[::5, 100:2000:7],
        np.s_[::-3],
        np.s_[:, ::2900],
        np.s_[5:60],
        np.s_[rng.permutation(64), 5],
    ]
    keys += [rng.integers(0, 64, 200), np.s_[:, rng.integers(0, 3000, 50)]]
    with tk.open_array(sealed(array), KEY) as opened:
        for group, hull in ((1, 1 << 20), (CHUNK_BYTES, 1), (3 * CHUNK_BYTES, 70_000), (1 << 16, 24_000)):
            monkeypatch.setattr(lazy, "GROUP_BYTES", max(group, CHUNK_BYTES))
            monkeypatch.setattr(lazy, "HULL_BYTES", hull)
            for key in keys:
                assert_equal(opened[key], array[key])


@pytest.mark.parametrize(
    "array",
    [
        np.array(["2020-01-01", "NaT"], "M8[D]"),
        np.array([1 + 2j, 3], ">c16"),
        np.array(["ab", "ü"], "U2"),
        np.array([b"ab", b""], "S2"),
        np.array([True, False]),
        np.zeros(3, "S0"),
        np.zeros(3, {"names": ["a", "b"], "formats": ["u1", "<f8"], "offsets": [1, 8], "itemsize": 20}),
        np.zeros((2, 3), [("a", "<i2"), ("b", "<f4", (2, 2))]),
    ],
    ids=lambda array: str(array.dtype)[:20],
)
def test_dtypes(sealed, array):
    with tk.open_array(sealed(array), KEY) as opened:
        assert opened.dtype == array.dtype
        assert_equal(opened[:], array)
        assert_equal(opened[::-1], array[::-1])
        assert_equal(np.asarray(opened), array)


def test_padding_within_elements_is_kept(sealed):
    dtype = np.dtype({"names": ["a", "b"], "formats": ["u1", "<f8"], "offsets": [1, 8], "itemsize": 20})
    array = np.frombuffer(np.random.default_rng(0).bytes(20 * 50), dtype)
    with tk.open_array(sealed(array), KEY) as opened:
        assert opened[::3].tobytes() == array.view("V20")[::3].tobytes()


def test_attributes(sealed):
    array = np.zeros((3, 4, 5), "<f4")
    with tk.open_array(sealed(array, metadata={"unit": "K"}), KEY) as opened:
        assert (opened.shape, opened.dtype, opened.ndim, len(opened)) == ((3, 4, 5), array.dtype, 3, 3)
        assert (opened.size, opened.itemsize, opened.nbytes) == (60, 4, 240)
        assert dict(opened.metadata) == {"unit": "K"}
        assert "shape (3, 4, 5), dtype float32" in repr(opened)
        assert KEY.hex() not in repr(opened)
    assert repr(opened).startswith("<closed SealedArray ")


def test_bytes_are_an_array_of_uint8(sealed):
    with tk.open_array(sealed(b"abcdef"), KEY) as opened:
        assert opened.shape == (6,)
        assert opened[2:4].tobytes() == b"cd"


def test_no_dimensions(sealed):
    with tk.open_array(sealed(np.float64(2.5)), KEY) as opened:
        assert opened[()] == 2.5
        assert opened[...].shape == ()
        with pytest.raises(TypeError):
            len(opened)
        with pytest.raises(TypeError):
            iter(opened)


def test_iteration(sealed, monkeypatch):
    array = np.arange(1000).reshape(100, 10)
    monkeypatch.setattr(lazy, "_ITERATION_BYTES", 700)
    with tk.open_array(sealed(array), KEY) as opened:
        rows = list(opened)
    assert len(rows) == 100
    assert np.array_equal(rows, array)


def test_array_protocol(sealed):
    array = np.arange(10)
    with tk.open_array(sealed(array), KEY) as opened:
        assert_equal(np.asarray(opened), array)
        assert_equal(np.array(opened, "f4"), array.astype("f4"))
        assert_equal(np.asarray(opened, copy=True), array)
        assert np.add(opened, 1)[0] == 1
        with pytest.raises(ValueError, match="without a copy"):
            np.asarray(opened, copy=False)
        first = np.asarray(opened)
        first[0] = 99
        assert opened[0] == 0


BAD_INDICES = [
    *(10, -11, (0, 0, 0), (Ellipsis, Ellipsis), 1.5, "field", True, np.True_, [0.5], [10], [-11], (None, 10)),
    *(np.zeros(9, bool), np.zeros((10, 4), bool), ([0], [1])),
]


@pytest.mark.parametrize("key", BAD_INDICES, ids=str)
def test_bad_indices(sealed, key):
    with tk.open_array(sealed(np.zeros((10, 4))), KEY) as opened, pytest.raises(IndexError):
        opened[key]


def test_reads_only_what_it_needs(sealed, touched):
    array = np.arange(100 * ROWS).reshape(100, ROWS)  # one chunk a row
    with tk.open_array(sealed(array), KEY) as opened:
        begin = opened._start
        assert touched[-1] == (begin + 100 * 16400, begin + 100 * 16400 + 16)  # the last chunk, on opening
        for key, chunks in (
            (np.s_[10], [(10, 11)]),
            (np.s_[10:17], [(10, 17)]),
            (np.s_[10:17, 5], [(10, 17)]),
            (np.s_[::30, :2], [(0, 1), (30, 31), (60, 61), (90, 91)]),
            (np.s_[[40, 7, 41, 7]], [(7, 8), (40, 42)]),
            (np.s_[-1:, -1:], [(99, 100)]),
            (np.s_[3:3], []),
        ):
            touched.clear()
            assert np.array_equal(opened[key], array[key])
            assert touched == [(begin + a * 16400, begin + b * 16400) for a, b in chunks]


def test_a_damaged_chunk_is_noticed_where_it_is_used(sealed):
    path = sealed(np.arange(10 * ROWS))
    data = bytearray(path.read_bytes())
    data[-16 - 16400 * 5] ^= 1  # chunk 5 of 0 to 10
    path.write_bytes(data)
    with tk.open_array(path, KEY) as opened:
        assert opened[: 5 * ROWS].sum() == np.arange(5 * ROWS).sum()
        assert opened[6 * ROWS] == 6 * ROWS
        for key in (5 * ROWS, np.s_[:], np.s_[5 * ROWS - 1 : 5 * ROWS + 1], np.s_[:: ROWS // 2]):
            with pytest.raises(InvalidTag, match="chunk 5"):
                opened[key]


@pytest.mark.parametrize("n", [0, 1, ROWS, 3 * ROWS + 5])
def test_truncation_shows_on_opening(sealed, n):
    path = sealed(np.arange(n))
    data = path.read_bytes()
    for cut in sorted({*range(0, len(data), 4099), len(data) - 1, len(data) - 16, len(data) - 17}):
        path.write_bytes(data[: max(cut, 0)])
        with pytest.raises(FormatError):
            tk.open_array(path, KEY)
    path.write_bytes(data + b"x")
    with pytest.raises(FormatError, match="trailing"):
        tk.open_array(path, KEY)


def test_truncation_of_an_array_of_unknown_length_shows_on_opening(tmp_path):
    """No length in the header: only the last chunk tells that the file is whole."""
    path = tmp_path / "a"
    with tk.create_array(path, (None, ROWS), "<i8", KEY) as out:
        out.write(np.zeros((3, ROWS), "<i8"))
    data = path.read_bytes()
    start = len(data) - 3 * 16400 - 16
    for kept in range(start, len(data)):
        if (kept - start) % 4099 > 20 and (kept - start) % 16400 > 20:
            continue
        path.write_bytes(data[:kept])
        with pytest.raises((FormatError, InvalidTag)):
            tk.open_array(path, KEY)


def test_keys(sealed, cheap_scrypt, tmp_path):
    path = sealed(np.arange(3))
    with pytest.raises(WrongKey):
        tk.open_array(path, bytes(32))
    with pytest.raises(WrongKey, match="raw key"):
        tk.open_array(path, passphrase="x")
    tk.save(tmp_path / "p", np.arange(3), passphrase="ü")
    with tk.open_array(tmp_path / "p", passphrase="ü") as opened:
        assert opened[2] == 2


def test_archives_by_name(tmp_path):
    arrays = {"a": np.arange(5000), "bytes": b"xyz", "f": np.asfortranarray(np.arange(6000).reshape(60, 100))}
    tk.savez(tmp_path / "z", arrays, key=KEY)
    for name, array in arrays.items():
        with tk.open_array(tmp_path / "z", KEY, name=name) as opened:
            assert np.array_equal(
                opened[3:20:4], np.asarray(bytearray(array) if isinstance(array, bytes) else array)[3:20:4]
            )
    with pytest.raises(InvalidParameter, match="'a', 'bytes', 'f'"):
        tk.open_array(tmp_path / "z", KEY)
    with pytest.raises(InvalidParameter, match="no member 'nope'"):
        tk.open_array(tmp_path / "z", KEY, name="nope")
    tk.save(tmp_path / "single", b"", KEY)
    with pytest.raises(InvalidParameter, match="single array"):
        tk.open_array(tmp_path / "single", KEY, name="a")


def test_closing(sealed):
    opened = tk.open_array(sealed(np.arange(10)), KEY)
    opened.close()
    opened.close()
    assert opened.closed
    assert opened.shape == (10,)
    for use in (lambda: opened[0], lambda: np.asarray(opened), lambda: list(opened), opened.__enter__):
        with pytest.raises(StateError, match="closed"):
            use()


def test_errors_close_the_file(sealed):
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else None
    path = sealed(np.arange(10))
    for _ in range(5):
        with pytest.raises(WrongKey):
            tk.open_array(path, bytes(32))
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before


def test_pickling_is_refused(sealed):
    with (
        tk.open_array(sealed(np.arange(10)), KEY) as opened,
        pytest.raises(UnsupportedType, match="holds a key"),
    ):
        pickle.dumps(opened)


def test_a_file_that_is_written_to_underneath(sealed):
    path = sealed(np.arange(10 * ROWS))
    with tk.open_array(path, KEY) as opened:
        assert opened[0] == 0
        with open(path, "r+b") as file:
            file.seek(5000)
            file.write(b"x")
        os.utime(path, ns=(1, 1))
        with pytest.raises(StateError, match="has changed"):
            opened[0]


def test_a_file_that_is_cut_underneath(sealed):
    path = sealed(np.arange(10 * ROWS))
    with tk.open_array(path, KEY) as opened:
        os.truncate(path, 100)
        for key in (0, np.s_[:], -1):
            with pytest.raises(StateError, match="has changed"):
                opened[key]


def test_a_file_that_is_replaced_underneath(sealed):
    """Whoever has opened it goes on with the file that it opened."""
    path = sealed(np.arange(10 * ROWS))
    with tk.open_array(path, KEY) as opened:
        sealed(np.zeros(3))
        assert opened[5 * ROWS] == 5 * ROWS
    with tk.open_array(path, KEY) as opened:
        assert opened.shape == (3,)


def test_eight_readers_while_one_closes(sealed):
    array = np.arange(40 * ROWS)
    opened = tk.open_array(sealed(array), KEY)
    problems, started = [], threading.Barrier(9)

    def work(seed):
        rng = np.random.default_rng(seed)
        started.wait()
        while True:
            a, b = sorted(rng.integers(0, array.size, 2))
            try:
                if not np.array_equal(opened[a:b], array[a:b]):
                    problems.append((a, b))
            except StateError:
                return
            except BaseException as error:
                problems.append(error)
                return

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    started.wait()
    for _ in range(20):
        assert opened[-1] == array[-1]
    opened.close()
    for thread in threads:
        thread.join()
    assert problems == []


def test_intervals_close_gaps_within_a_chunk_only():
    starts, ends = selection.intervals((10, 3000), (range(0, 10), range(0, 1)), 8)
    assert len(starts) == 10
    starts, ends = selection.intervals((10, 2000), (range(0, 10), range(0, 1)), 8)
    assert (starts.tolist(), ends.tolist()) == ([0], [9 * 16000 + 8])
    assert selection.chunk_ranges(np.array([0, 16384 * 3]), np.array([16384, 16384 * 3 + 1])) == [
        (0, 1),
        (3, 4),
    ]
    assert selection.chunk_ranges(np.array([0, 16384]), np.array([1, 16385])) == [(0, 2)]
