"""progress=: nothing, a bar, or the caller's function."""

import numpy as np
import pytest

import twofishkit as tk
from tests.sealed.conftest import KEY
from twofishkit.errors import UnsupportedType

ARRAY = np.arange(1 << 20)


def rekeyed(path, progress):
    tk.save(path, ARRAY, KEY)
    tk.rekey(path, KEY, new_key=bytes(32), progress=progress)


def written(path, progress):
    with tk.create_array(path, len(ARRAY), ARRAY.dtype, KEY, progress=progress) as out:
        for part in np.split(ARRAY, 8):
            out.write(part)


def loaded(path, progress):
    tk.save(path, ARRAY, KEY)
    assert np.array_equal(tk.load(path, KEY, progress=progress), ARRAY)


def loadedz(path, progress):
    tk.savez(path, key=KEY, a=ARRAY[:1000], b=ARRAY[1000:])
    tk.loadz(path, KEY, progress=progress)


CALLS = {
    "seal": lambda path, progress: tk.seal(ARRAY, KEY, progress=progress),
    "seal strided": lambda path, progress: tk.seal(ARRAY[::-1], KEY, progress=progress),
    "unseal": lambda path, progress: tk.unseal(tk.seal(ARRAY, KEY), KEY, progress=progress),
    "save": lambda path, progress: tk.save(path, ARRAY, KEY, progress=progress),
    "load": loaded,
    "savez": lambda path, progress: tk.savez(
        path, key=KEY, progress=progress, a=ARRAY[:1000], b=ARRAY[1000:]
    ),
    "loadz": loadedz,
    "create_array": written,
    "rekey": rekeyed,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_callable_hears_of_every_byte(tmp_path, call):
    heard = []
    call(tmp_path / "a", lambda done, total: heard.append((done, total)))
    done = [pair[0] for pair in heard]
    assert done[0] == 0
    assert done == sorted(set(done))
    assert heard[-1] == (ARRAY.nbytes, ARRAY.nbytes)
    assert len(heard) > 2


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_bar(tmp_path, call, capsys):
    call(tmp_path / "a", True)
    assert "8.00M/8.00M" in capsys.readouterr().err
    call(tmp_path / "b", False)
    assert capsys.readouterr().err == ""


def test_unknown_total(tmp_path):
    heard = []
    report = lambda done, total: heard.append((done, total))  # noqa: E731
    with tk.create_array(tmp_path / "a", None, "u1", KEY, progress=report) as out:
        out.write(np.zeros(20 << 20, "u1"))
    assert heard[-1] == (20 << 20, None)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_callable_that_raises_ends_the_call(tmp_path, call):
    def stop(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(tmp_path / "a", stop)
    assert [path.name for path in tmp_path.iterdir() if path.name != "a"] == []


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("progress", [None, 1, "yes"])
def test_anything_else_is_refused(tmp_path, call, progress):
    with pytest.raises(UnsupportedType, match="progress must be"):
        call(tmp_path / "a", progress)
