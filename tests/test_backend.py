"""The choice of an implementation: the table, `use`, the environment, and every reason to refuse."""

import importlib
import json
import threading

import numpy as np
import pytest

from tests.processes import BLOCK_NUMBA, finish, joined, run, start
from twofishkit import backend
from twofishkit.backend import Row
from twofishkit.cipher import Twofish
from twofishkit.errors import BackendUnavailable, InvalidParameter
from twofishkit.reference import gf128
from twofishkit.slots import CipherSlots, GhashSlots, Kernels

#: Prints the backends in force and a known answer: the zero block under the zero key of 16 bytes.
REPORT = """
import numpy as np
from twofishkit import backend
from twofishkit.cipher import Twofish
cipher = Twofish(bytes(16))
kernels, y = backend.current(), np.zeros(16, np.uint8)
kernels.ghash.ghash(kernels.ghash.ghash_key(np.arange(16, dtype=np.uint8)), y, np.arange(80, dtype=np.uint8))
print(cipher.backend, kernels.ghash.name, cipher.encrypt_blocks(bytes(16)).hex(), y.tobytes().hex())
"""
HASH = gf128.ghash(bytes(range(16)), bytes(range(80))).hex()
ANSWERS = f"9f589f5cf6122c32b6bfec2f2ae8c35a {HASH}"


def test_table_says_of_each_row_what_its_slots_say():
    for table, kind in ((backend.CIPHERS, CipherSlots), (backend.GHASHES, GhashSlots)):
        names = backend.available() if kind is CipherSlots else backend.available_ghash()
        for row in table:
            if row.name in names:
                slots = getattr(importlib.import_module(row.module), row.attribute)
                assert isinstance(slots, kind)
                assert (slots.name, slots.constant_time) == (row.name, row.constant_time)


def test_what_runs_everywhere_runs_here():
    assert {"gather", "numpy", "reference"} <= set(backend.available())
    assert {"portable", "numpy", "reference"} <= set(backend.available_ghash())


def test_partners_exist():
    names = {row.name for row in backend.GHASHES}
    assert {row.partner for row in backend.CIPHERS} - {None} <= names


def test_default_is_the_best_that_runs():
    kernels = backend.kernels()
    assert kernels.cipher.name == backend.available()[0]
    assert kernels.ghash.name == backend.available_ghash()[0]


def test_kernels_by_name_are_made_once():
    kernels = backend.kernels("numpy", "reference")
    assert isinstance(kernels, Kernels)
    assert (kernels.cipher.name, kernels.ghash.name) == ("numpy", "reference")
    assert backend.kernels("numpy", "reference") is kernels


@pytest.mark.parametrize("name", ["numpy", "reference"])
def test_backends_without_numba_bring_their_own_ghash(name):
    assert backend.kernels(name).ghash.name == name


def test_every_pair_is_a_working_gcm(backend_name, ghash_name):
    def gcm(kernels):
        schedule = kernels.cipher.expand_key(np.arange(16, dtype=np.uint8))
        table = kernels.ghash.ghash_key(np.arange(16, dtype=np.uint8))
        counter, y = np.zeros(16, np.uint8), np.zeros(16, np.uint8)
        src = np.arange(100, dtype=np.uint8)
        dst = np.empty_like(src)
        kernels.gcm_encrypt(schedule, table, counter, y, src, dst)
        return dst.tobytes() + y.tobytes() + counter.tobytes()

    assert gcm(backend.kernels(backend_name, ghash_name)) == gcm(backend.kernels("reference"))


# --- use -----------------------------------------------------------------------------------------


@pytest.fixture
def nothing_chosen():
    """Undo process-wide choices afterwards."""
    before = backend.current()
    yield
    backend.use()
    assert backend.current() is before


def test_use_as_a_context_manager(nothing_chosen):
    outside = backend.current()
    with backend.use("numpy") as chosen:
        assert chosen is backend.current()
        assert Twofish(bytes(16)).backend == "numpy"
        with backend.use("reference", ghash="numpy"):
            assert backend.current() is backend.kernels("reference", "numpy")
        assert backend.current() is chosen
    assert backend.current() is outside


def test_use_ends_with_an_exception(nothing_chosen):
    outside = backend.current()
    with pytest.raises(ZeroDivisionError), backend.use("numpy"):
        1 / 0  # noqa: B018
    assert backend.current() is outside


def test_use_as_a_call_holds_for_every_thread(nothing_chosen):
    backend.use("numpy")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(backend.current().cipher.name))
    thread.start()
    thread.join()
    assert seen == ["numpy"]
    assert backend.current().cipher.name == "numpy"
    backend.use("reference")
    assert backend.current().cipher.name == "reference"


def test_use_in_a_block_is_invisible_to_other_threads(nothing_chosen):
    outside, seen = backend.current(), []
    with backend.use("reference"):
        thread = threading.Thread(target=lambda: seen.append(backend.current()))
        thread.start()
        thread.join()
    assert seen == [outside]


def test_block_inside_a_call_returns_to_the_call(nothing_chosen):
    backend.use("numpy")
    with backend.use("reference"):
        assert backend.current().cipher.name == "reference"
    assert backend.current().cipher.name == "numpy"


def test_one_choice_may_be_entered_again(nothing_chosen):
    outside, choice = backend.current(), backend.use("numpy")
    for _ in range(2):
        with choice, choice:
            assert backend.current().cipher.name == "numpy"
        assert backend.current() is outside


def test_entering_takes_back_only_its_own_call(nothing_chosen):
    """Two threads may both be between the call and the entry of their ``with``."""
    outside = backend.current()
    first, second = backend.use("numpy"), backend.use("reference")
    with first:
        assert backend.current().cipher.name == "numpy"
        with second:
            assert backend.current().cipher.name == "reference"
    assert backend.current() is outside


def test_calls_do_not_pile_up(nothing_chosen):
    for _ in range(50):
        backend.use("numpy")
        backend.use("reference")
    assert len(backend._choices._entries) <= 3


def test_objects_keep_the_backend_they_were_made_with(nothing_chosen):
    with backend.use("numpy"):
        cipher = Twofish(bytes(16))
    with backend.use("reference"):
        assert cipher.backend == "numpy"
        assert cipher.encrypt_blocks(bytes(16)).hex() == "9f589f5cf6122c32b6bfec2f2ae8c35a"


def test_eight_threads_each_with_their_own(nothing_chosen):
    names, outside = ["numpy", "reference", "gather", "numpy"] * 2, backend.current()
    barrier, wrong = threading.Barrier(8), []

    def work(name):
        barrier.wait()
        for _ in range(200):
            with backend.use(name):
                if backend.current().cipher.name != name:
                    wrong.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert backend.current() is outside


# --- Refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [backend.use, backend.kernels])
def test_unknown_names_are_refused_with_the_known_ones(call):
    before = backend.current()
    with pytest.raises(InvalidParameter, match=r"no backend 'fast'; the names are: .*gather, numpy"):
        call("fast")
    with pytest.raises(InvalidParameter, match=r"no GHASH 'fast'; the names are: .*portable, numpy"):
        backend.kernels(None, "fast")
    assert backend.current() is before


@pytest.fixture
def row_that_cannot_run(monkeypatch):
    """A better backend for a processor that nobody has, at the head of the table."""
    import twofishkit.kernels.gather as module

    monkeypatch.setattr(module, "FANTASY", frozenset({"sse2", "avx9000", "pshufw2"}), raising=False)
    row = Row("fantasy", "twofishkit.kernels.gather", requires="FANTASY")
    monkeypatch.setattr(backend, "CIPHERS", (row, *backend.CIPHERS))
    return row


def test_missing_feature_is_named(row_that_cannot_run):
    with pytest.raises(
        BackendUnavailable, match="'fantasy' cannot run here: this processor lacks avx9000, pshufw2"
    ):
        backend.use("fantasy")
    assert "fantasy" not in backend.available()
    assert backend.kernels().cipher.name == backend.available()[0]


def test_feature_that_numba_is_not_compiling_for_is_told_apart(row_that_cannot_run, monkeypatch):
    from twofishkit.kernels import target

    backend._load.cache_clear()
    monkeypatch.setattr(target, "host_features", lambda: frozenset({"sse2", "avx9000", "pshufw2"}))
    with pytest.raises(BackendUnavailable, match=r"not compiling for avx9000, pshufw2 \(NUMBA_CPU_NAME"):
        backend.kernels("fantasy")
    backend._load.cache_clear()


def test_other_architectures_are_told_apart(row_that_cannot_run, monkeypatch):
    import twofishkit.kernels.gather as module
    from twofishkit.kernels import target

    other = "x86-64" if target.architecture() == "aarch64" else "aarch64"
    monkeypatch.setattr(module, "FANTASY", frozenset({other, "avx9000"}))
    backend._load.cache_clear()
    with pytest.raises(BackendUnavailable, match=f"written for {other} and this is {target.architecture()}"):
        backend.kernels("fantasy")
    backend._load.cache_clear()


def test_second_row_of_a_name_serves_where_the_first_cannot(row_that_cannot_run, monkeypatch):
    second = Row("fantasy", "twofishkit.vectorised", numba=False)
    monkeypatch.setattr(backend, "CIPHERS", (row_that_cannot_run, second))
    assert backend.available() == ("fantasy",)
    assert backend.kernels("fantasy").cipher.name == "numpy"


# --- What Numba compiles for ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ("", set()),
        ("+avx2,-avx2,+ssse3", {"ssse3"}),
        ("-ssse3,+ssse3", {"ssse3"}),
        ("avx2,+ssse3", {"ssse3"}),
        ("+avx9000", set()),
    ],
)
def test_only_explicit_features_count(monkeypatch, features, expected):
    import numba

    from twofishkit.kernels import target

    monkeypatch.setattr(numba.config, "CPU_FEATURES", features)
    monkeypatch.setattr(target, "host_features", lambda: frozenset({"ssse3", "avx2", "sse2"}))
    architecture = {target.architecture()}
    baseline = {"x86-64": {"sse2"}, "aarch64": {"neon"}}.get(target.architecture(), set())
    assert target.usable_features() == expected | baseline | architecture


def test_features_of_the_host_are_found():
    from twofishkit.kernels import target

    assert target.architecture() in target.usable_features()
    assert target.usable_features() <= target.host_features() | {target.architecture(), "sse2", "neon"}


# --- Fresh processes -----------------------------------------------------------------------------


def test_environment_chooses():
    assert run(REPORT, TWOFISHKIT_BACKEND="numpy") == f"numpy numpy {ANSWERS}"
    assert run(REPORT, TWOFISHKIT_BACKEND="reference", TWOFISHKIT_GHASH="numpy").startswith(
        "reference numpy "
    )
    script = REPORT + "import sys; print('numba' in sys.modules)"
    assert run(script, TWOFISHKIT_BACKEND="numpy").endswith("False")


def test_empty_variables_choose_nothing():
    best = f"{backend.available()[0]} {backend.available_ghash()[0]} {ANSWERS}"
    assert run(REPORT, TWOFISHKIT_BACKEND="", TWOFISHKIT_GHASH="") == best


def test_environment_that_cannot_be_had_is_an_error_at_first_use():
    script = """
    from twofishkit import backend, errors
    from twofishkit.cipher import Twofish
    for _ in range(2):
        try:
            Twofish(bytes(16))
        except errors.InvalidParameter as error:
            print(error)
    description = backend.describe()
    print(description["cipher"], description["error"])
    """
    lines = run(script, TWOFISHKIT_BACKEND="fast").splitlines()
    assert lines[0] == lines[1]
    assert lines[0].startswith("there is no backend 'fast'")
    assert lines[2] == f"None {lines[0]}"


def test_without_numba_numpy_serves_with_one_warning():
    script = "Twofish(bytes(32)); print(backend.available(), backend.available_ghash())"
    out, err = finish(start(joined(BLOCK_NUMBA, REPORT, script), "-Walways"))
    names = "('numpy', 'reference')"
    assert out == f"numpy numpy {ANSWERS}\n{names} {names}"
    assert err.count("RuntimeWarning") == 1
    assert "falls back to its 'numpy' backend, which is slower and not constant time" in err
    assert "numba is not installed" in err


def test_without_numba_a_backend_by_name_does_not_warn():
    assert run(BLOCK_NUMBA + REPORT, TWOFISHKIT_BACKEND="numpy") == f"numpy numpy {ANSWERS}"


def test_without_numba_compiled_backends_are_refused():
    script = """
    from twofishkit import backend
    for cipher, ghash in (("gather", None), ("numpy", "portable")):
        try:
            backend.use(cipher, ghash=ghash)
        except backend.BackendUnavailable as error:
            print(error)
    print(backend.describe()["compiler"], backend.describe()["cache"])
    """
    lines = run(joined(BLOCK_NUMBA, script), TWOFISHKIT_BACKEND="numpy").splitlines()
    assert lines[0] == "backend 'gather' cannot run here: numba is not installed"
    assert lines[1] == "GHASH 'portable' cannot run here: numba is not installed"
    assert lines[2] == "None None"


def test_numba_that_fails_to_import_is_a_reason_too():
    script = """
    import sys
    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name == "numba":
                raise SystemError("initialization of _internal failed")
    sys.meta_path.insert(0, Broken())
    """
    out, err = finish(start(joined(script, REPORT), "-Walways"))
    assert out == f"numpy numpy {ANSWERS}"
    assert "numba cannot be imported: SystemError: initialization of _internal failed" in err


def test_numba_that_cannot_compile_is_a_reason_too():
    script = """
    from numba.core.dispatcher import Dispatcher
    def compile(self, signature):
        raise OSError("no executable memory")
    Dispatcher.compile = compile
    """
    out, err = finish(start(joined(script, REPORT), "-Walways"))
    assert out == f"numpy numpy {ANSWERS}"
    assert "cannot compile: OSError: no executable memory" in err


def test_disabled_jit_means_numpy():
    out, err = finish(start(REPORT, "-Walways", NUMBA_DISABLE_JIT="1"))
    assert out == f"numpy numpy {ANSWERS}"
    assert "NUMBA_DISABLE_JIT is set" in err


@pytest.mark.parametrize(
    "variables",
    [
        {"NUMBA_CPU_NAME": "generic"},
        {"NUMBA_ENABLE_AVX": "0", "TWOFISHKIT_BACKEND": "numpy", "TWOFISHKIT_GHASH": "portable"},
    ],
)
def test_restricted_targets_compile_and_are_right(variables):
    cipher, ghash, answers = run(REPORT, **variables).split(maxsplit=2)
    assert answers == ANSWERS
    assert cipher == variables.get("TWOFISHKIT_BACKEND", cipher)
    assert ghash == "portable" or "TWOFISHKIT_GHASH" not in variables


def test_describe_explains_every_row():
    script = """
    import json
    from twofishkit import backend
    print(json.dumps(backend.describe()))
    """
    described = json.loads(run(script, NUMBA_CPU_NAME="generic", TWOFISHKIT_GHASH="portable"))
    assert described["error"] is None
    assert described["ghash"] == "portable"
    described["environment"].pop("TWOFISHKIT_CACHE_DIR", None)  # CI sets it
    assert described["environment"] == {"TWOFISHKIT_GHASH": "portable", "NUMBA_CPU_NAME": "generic"}
    assert described["compiler"]["cpu"] == "generic"
    assert [row["name"] for row in described["ciphers"]] == [row.name for row in backend.CIPHERS]
    for row in described["ciphers"] + described["ghashes"]:
        assert row["runs"] is (row["reason"] is None)
        assert row["tables"]
    assert next(row for row in described["ciphers"] if row["runs"])["name"] == described["cipher"]
