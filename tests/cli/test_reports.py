"""info, selftest and bench."""

import json

import pytest

from tests.vectors_io import vectors
from twofishkit import backend
from twofishkit.commands import selftest


def test_info(run):
    outcome = run("info")
    assert (outcome.code, outcome.err) == (0, "")
    text = outcome.out.decode()
    assert f"cipher      {backend.current().cipher.name}" in text
    for name in (*backend.available(), *backend.available_ghash()):
        assert f"  {name} " in text
    assert text.count(" chosen ") == 2


def test_info_as_json(run):
    facts = json.loads(run("info", "--json").out)
    assert facts["cipher"] == backend.current().cipher.name
    assert {"twofishkit", "python", "numpy", "ciphers", "ghashes", "compiler"} <= set(facts)


def test_info_when_the_choice_cannot_be_made(process):
    outcome = process("info", env={"TWOFISHKIT_BACKEND": "nonsense"})
    assert outcome.returncode == 1
    assert b"cipher      none" in outcome.stdout
    assert b"nonsense" in outcome.stdout


def test_commands_when_the_choice_cannot_be_made(process, work):
    (work / "a").write_bytes(b"x")
    outcome = process("seal", "--key-file", "../my.key", "a", env={"TWOFISHKIT_BACKEND": "nonsense"})
    assert outcome.returncode == 2
    assert b"nonsense" in outcome.stderr
    assert outcome.stderr.count(b"\n") == 1
    assert not (work / "a.tfk").exists()


def test_info_never_shows_keys(run, monkeypatch):
    monkeypatch.setenv("TWOFISHKIT_KEY", "ab" * 32)
    monkeypatch.setenv("TWOFISHKIT_PASSPHRASE", "correct horse")
    for arguments in (("info",), ("info", "--json")):
        out = run(*arguments).out
        assert b"abab" not in out
        assert b"horse" not in out


def test_selftest_of_every_backend(run):
    outcome = run("selftest")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.decode().splitlines()
    expected = [f"backend {name}" for name in backend.available()]
    expected += [f"ghash {name}" for name in backend.available_ghash()]
    assert [line[:20].strip() for line in lines] == expected
    assert all("ok" in line for line in lines)


def test_selftest_of_one_backend(run, fails):
    outcome = run("selftest", "--backend", "reference")
    assert outcome.code == 0
    assert outcome.out.startswith(b"backend reference")
    assert outcome.out.count(b"\n") == 1
    fails(2, "nonsense", "selftest", "--backend", "nonsense")


@pytest.mark.parametrize("index", range(len(selftest.known_answers()["answers"])))
def test_selftest_notices_every_wrong_answer(index):
    """One bit changed anywhere in an answer, its key, IV or data makes its check fail."""
    with backend.use("reference"):
        answer = selftest.known_answers()["answers"][index]
        assert selftest.check(answer)
        for name, value in answer.items():
            if isinstance(value, bytes) and value:
                altered = answer | {name: bytes([value[0] ^ 1]) + value[1:]}
                try:
                    noticed = not selftest.check(altered)
                except selftest.TwofishKitError:
                    noticed = True
                assert noticed, name


@pytest.mark.parametrize("index", range(len(selftest.known_answers()["bulk"])))
def test_selftest_notices_every_wrong_bulk_answer(index):
    answer = selftest.known_answers()["bulk"][index]
    assert selftest.check_bulk(answer)
    altered = bytes([answer["key"][0] ^ 1]) + answer["key"][1:]
    try:
        assert not selftest.check_bulk(answer | {"key": altered})
    except selftest.TwofishKitError:
        assert "tag" in answer


def test_selftest_reports_a_broken_kernel(run, monkeypatch):
    """A XOR that is wrong: counted, named, exit code 1."""
    monkeypatch.setattr(selftest.tk, "xor", lambda a, b: a)
    outcome = run("selftest", "--backend", "reference")
    assert outcome.code == 1
    assert b"FAILED  xor: wrong answer" in outcome.out
    assert outcome.err == "twofishkit: selftest: 1 wrong\n"


def test_known_answers_are_those_of_the_vector_files():
    known = {}
    files = ("cbc", "cfb", "cfb8", "ofb", "ctr", "xts", "gcm", "ocb", "eax", "ccm", "siv", "cmac")
    for name in ("ecb_kat", "ghash", "polyval", *(f"mode_{mode}" for mode in files), "large_digest"):
        known |= {v["id"]: v for v in vectors(f"{name}.json")}
    document = selftest.known_answers()
    for answer in document["answers"] + document["bulk"]:
        source = known[answer["id"]]
        assert answer["verified_with"] == source["verified_with"]
        for field in ("ciphertext", "tag", "iv", "ciphertext_sha256"):
            if field in answer and field in source:
                assert answer[field] == source[field], answer["id"]
        if answer["mode"] in ("GHASH", "POLYVAL"):
            assert (answer["key"], answer["plaintext"], answer["tag"]) == (
                source["H"], source["input"], source["output"],
            )  # fmt: skip
        else:
            assert answer["key"] == source["key"]


def test_every_mode_and_key_size_has_an_answer():
    answers = selftest.known_answers()["answers"]
    sizes = {}
    for answer in answers:
        sizes.setdefault(answer["mode"], set()).add(len(answer["key"]))
    for mode in ("ECB", "CBC", "CFB", "CFB8", "OFB", "CTR", "GCM", "OCB", "EAX", "CCM"):
        assert sizes[mode] == {16, 24, 32}, mode
    assert sizes["XTS"] == {32, 48, 64}
    assert {"SIV", "CMAC", "GMAC", "GHASH", "POLYVAL"} <= set(sizes)


def test_bench_is_there(run):
    outcome = run("bench", "--help")
    assert outcome.code == 0
    assert b"--json" in outcome.out


def test_help_does_not_load_what_it_does_not_need(process):
    """Printing help imports neither Numba nor anybody's shared library."""
    import subprocess
    import sys

    from tests.cli.conftest import ROOT

    script = (
        "import sys, contextlib\nfrom twofishkit.cli import main\n"
        "with contextlib.suppress(SystemExit): main(['--help'])\n"
        "print(sorted({'numba', 'tqdm', 'twofishkit.bench.command'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
