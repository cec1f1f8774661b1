"""``python -m twofishkit bench``: its tables and its JSON document, on the smallest possible run."""

import json
from typing import Any

import pytest

from twofishkit import backend, cli
from twofishkit.bench import cases, command, table
from twofishkit.bench.measure import Plan, Result
from twofishkit.testing import peers

RECORD_TYPES: dict[str, tuple[type, ...]] = {
    "section": (str,),
    "operation": (str,),
    "key_bits": (int,),
    "size_bytes": (int,),
    "implementation": (str,),
    "ours": (bool,),
    "nanosecs_per_call": (float,),
    "nanosecs_per_byte": (float, type(None)),
    "mebibytes_per_sec": (float, type(None)),
    "cycles_per_byte": (float, type(None)),
    "cycles_per_call": (float, type(None)),
    "auto_mhz": (float, type(None)),
    "ratio": (float,),
}
MACHINE_TYPES: dict[str, tuple[type, ...]] = {
    "system": (str,),
    "machine": (str,),
    "processor": (str,),
    "python": (str,),
    "numpy": (str,),
    "numba": (str, type(None)),
}
#: Backends without compiled code run on one thread: no rows.
THREADED = {"threads"} if {"numpy", "reference"} < set(backend.available()) else set()
DOCUMENT_TYPES: dict[str, tuple[type, ...]] = {
    "format": (str,),
    "version": (int,),
    "twofishkit": (str,),
    "machine": (dict,),
    "default_backend": (str,),
    "default_ghash": (str,),
    "peers": (dict,),
    "results": (list,),
}


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        command, "QUICK", Plan(rounds=1, most_rounds=1, slice_ns=1, slowest_call_ns=2_000_000)
    )


def bench(*arguments: str) -> int:
    return cli.main(["bench", "--quick", *arguments])


def check(record: dict[str, Any], types: dict[str, tuple[type, ...]]) -> None:
    assert set(record) == set(types)
    for name, allowed in types.items():
        assert isinstance(record[name], allowed), name
        assert not (isinstance(record[name], bool) and bool not in allowed), name


def documented(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert bench("--json", *arguments) == 0
    loaded: dict[str, Any] = json.loads(capsys.readouterr().out)
    return loaded


def test_json_document_has_the_documented_fields(capsys: pytest.CaptureFixture[str]) -> None:
    document = documented(capsys, "--modes", "ctr,ghash,xor,keys,short,threads", "--sizes", "1K")
    check(document, DOCUMENT_TYPES)
    check(document["machine"], MACHINE_TYPES)
    assert (document["format"], document["version"]) == ("twofishkit-bench", command.JSON_VERSION)
    assert document["default_backend"] == backend.current().cipher.name
    for record in document["results"]:
        check(record, RECORD_TYPES)
    sections = {record["section"] for record in document["results"]}
    assert sections == {"modes", "ghash", "xor", "key set-up", "short messages"} | THREADED
    for record in document["results"]:
        assert (record["nanosecs_per_byte"] is None) == (record["section"] == "key set-up")


def test_every_backend_and_every_peer_has_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = documented(capsys, "--modes", "ctr", "--sizes", "1K")["results"]
    ours = [row["implementation"] for row in rows if row["ours"]]
    assert sorted(ours) == sorted(backend.available())
    assert ours[0] == backend.current().cipher.name
    theirs = [row["implementation"] for row in rows if not row["ours"]]
    assert theirs == [f"{peer.name} {peer.version}" for peer in peers.find() if peer.supports("ctr", 256)]


@pytest.mark.parametrize("mode", [mode for mode in command.TASKS if mode in peers.MODES])
def test_every_mode_runs_in_each_direction_it_lists(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = backend.current().cipher.name
    rows = documented(capsys, "--modes", mode, "--sizes", "1K", "--backends", name)["results"]
    expected = []
    for each in cases.MODES:
        if each.name.split()[0] == mode:
            directions = ("enc", "dec") if each.both_ways else ("enc",)
            expected += [each.name if mode == "cmac" else f"{each.name} {way}" for way in directions]
    assert list(dict.fromkeys(row["operation"] for row in rows)) == expected


def test_keys_sizes_and_backends_are_as_asked(capsys: pytest.CaptureFixture[str]) -> None:
    rows = documented(
        capsys, "--modes", "ecb", "--keys", "128,192", "--sizes", "256,1K", "--backends", "numpy"
    )["results"]
    assert {row["key_bits"] for row in rows} == {128, 192}
    assert {row["size_bytes"] for row in rows if row["ours"]} == {256, 1024}
    assert {row["implementation"] for row in rows if row["ours"]} == {"numpy"}


def test_tables_have_the_seed_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench("--modes", "ecb,keys", "--sizes", "1K", "--backends", "numpy") == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split("|")[1].split("  ") for line in lines if line.startswith(("modes", "key set-up  "))]
    columns = [[part.strip() for part in head if part.strip()] for head in heads]
    assert columns[0] == ["nanosecs/byte", "mebibytes/sec", "cycles/byte", "auto MHz", "ratio"]
    assert ["nanosecs/call", "calls/sec", "cycles/call", "auto MHz", "ratio"] in columns
    (row,) = [line for line in lines if line.startswith("ecb enc") and "numpy" in line]
    assert row.split("|")[0].split() == ["ecb", "enc", "256", "1K", "numpy"]
    assert [unit for unit in ("ns/B", "MiB/s", "c/B") if unit in row] == ["ns/B", "MiB/s", "c/B"]


def test_a_figure_that_is_not_known_is_na() -> None:
    blind = Result("modes", "ecb enc", 256, 1024, "x", True, 1024.0, None)
    assert table.row(blind, False, 40).split("|")[1].split() == [
        "1.000", "ns/B", "953.7", "MiB/s", "n/a", "n/a", "1.00",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("size", "text"), [(16, "16"), (1024, "1K"), (1536, "1536"), (65536, "64K"), (1 << 20, "1M"), (0, "0")]
)
def test_sizes_are_written_short(size: int, text: str) -> None:
    assert table.size_text(size) == text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--modes", "ctr,rot13"), "'rot13' is not one of ecb"),
        (("--keys", "512"), "'512' is not one of 128"),
        (("--sizes", "17"), "'17' is not a positive multiple of 16"),
        (("--sizes", "0"), "'0' is not a positive multiple of 16"),
        (("--sizes", "K"), "'K' is not a positive multiple of 16"),
    ],
)
def test_wrong_options_are_named(
    arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        bench(*arguments)
    assert stop.value.code == 2
    assert complaint in capsys.readouterr().err


def test_a_backend_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--backends", "warp"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("twofishkit: error: there is no backend 'warp'")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("blocks", [1, 7, 256, 300])
def test_batches_take_any_whole_number_of_blocks(blocks: int) -> None:
    (batch,) = [mode for mode in cases.MODES if mode.name == "cbc many"]
    buffer = cases.scratch(16 * blocks)
    before = buffer.copy()
    batch.ours(cases.key_of(256), bytes(16), buffer, False)()
    assert (buffer.reshape(-1, 16) != before.reshape(-1, 16)).any(axis=1).all()
