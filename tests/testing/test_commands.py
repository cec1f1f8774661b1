"""``diff``, ``kat`` and ``vectors`` on the command line: what they print, and their exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT
from tests.testing.build import built, compiler
from twofishkit import cli
from twofishkit.errors import FormatError
from twofishkit.reference import block
from twofishkit.testing import export, katfiles, published

VECTORS = ROOT / "tests" / "vectors"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def diff(capsys, mistake: int, *arguments: str) -> tuple[int, str]:
    # In quotes: the path may have spaces, and the command is split as a shell would.
    command = f'"{built(mistake)}"'
    code, out, err = run(capsys, "diff", "--cmd", command, "--cases", "60", "--no-published", *arguments)
    assert err == ""
    return code, out


# --- diff -------------------------------------------------------------------------------------------


def test_diff_of_a_right_program(capsys):
    code, out = diff(capsys, 0)
    assert code == 0
    assert "pure-Python reference (numba is not" in out
    assert "AGREES in all 60 cases" in out
    assert "unsupported, or not asked: sbox-key, cfb, " in out
    # Other counters than CTR's own are features apart: without them it is right all the same.
    assert "ctr64, ctr32, ctrle, ctr64le, ctr32le, " in out


def test_diff_of_a_mistaken_program(capsys):
    code, out = diff(capsys, 1, "--seed", "3")
    assert code == 1
    assert "generated with seed 3" in out
    assert "why: equals Twofish with the RS words in reverse order (gives all" in out
    assert "[rs-words-reversed]" in out
    assert "first difference: round 1, t0: expected " in out
    assert "smallest failing input found" in out
    assert "DIFFERS in " in out


def test_diff_for_machines(capsys):
    code, out = diff(capsys, 4, "--json", "--modes", "ctr")
    document = json.loads(out)
    assert code == document["exit_code"] == 1
    assert document["format"] == "twofishkit-diff/1"
    (ctr,) = document["modes"]
    assert ctr["causes"][0]["mistakes"] == ["ctr-32-bits"]
    smallest = ctr["smallest"]
    assert smallest["key"] == "00" * 16
    assert smallest["iv"].endswith("ffffffff")
    assert smallest["expected"]["data"] != smallest["got"]["data"]


def test_diff_asks_published_vectors_first(capsys):
    code, out, _ = run(capsys, "diff", "--cmd", f'"{built(0)}"', "--cases", "0", "--modes", "cbc,ctr")
    assert code == 0
    known = sum(case.mode in ("cbc", "ctr") for case in published.cases())
    assert f"{known} published, 0 generated" in out


def test_diff_within_seconds(capsys):
    code, out, _ = run(
        capsys, "diff", "--cmd", f'"{built(0)}"', "--seconds", "0.3", "--no-published", "--modes", "ecb"
    )
    assert code == 0
    assert "AGREES" in out


@pytest.mark.skipif(sys.platform == "win32", reason="the library exports nothing there without declarations")
def test_diff_of_a_library_survives_its_crash(capsys):
    path = str(built(6, library=True))
    code, out, _ = run(capsys, "diff", "--library", path, "--modes", "ecb", "--cases", "12", "--no-published")
    assert code == 1
    assert "crashed: ended by SIGABRT" in out
    path = str(built(0, library=True))
    code, out, _ = run(
        capsys, "diff", "--library", path, "--encrypt", "twofish_encrypt", "--modes", "ecb", "--cases", "12"
    )
    assert code == 0


def test_diff_of_the_python_example(capsys, monkeypatch):
    monkeypatch.chdir(ROOT / "examples" / "oracle")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("TWOFISHKIT_BACKEND", "numpy")
    code, out, _ = run(capsys, "diff", "--python", "target:answer", "--cases", "70", "--no-published")
    assert code == 0, out
    for mode in ("ecb", "cbc", "ctr", "ctr32", "ctrle", "gcm"):
        assert f"  {mode}  " in out
    assert "ctr64le, ctr32le" in out.partition("not asked: ")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cmd", "./no-such-program"), "cannot start './no-such-program'"),
        (("--cmd", ""), "the command to test is empty"),
        (("--installed", "rijndael"), "'rijndael' is not installed"),
        (("--library", "./no-such.so"), "there is no library ./no-such.so"),
        (("--cmd", "x", "--modes", "lrw"), "'lrw' is not one of"),
        (("--cmd", "x", "--cases", "-1"), "a budget has 0 cases or more"),
    ],
)
def test_diff_misused(capsys, arguments, message):
    code, out, err = run(capsys, "diff", *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_diff_of_a_module_that_is_not_there(capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    code, out, _ = run(capsys, "diff", "--python", "nomodule:f")
    assert code == 2
    assert "cannot import nomodule:f" in out
    assert "NOTHING COMPARED" in out


@pytest.mark.parametrize("command", ["diff", "kat", "vectors"])
def test_help(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main([command, "--help"])
    assert stopped.value.code == 0
    assert "--seed" in capsys.readouterr().out or command == "kat"


def test_works_without_numba_and_says_so():
    """In a process where importing numba fails."""
    code = (
        "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = None\n"
        "from importlib import util\n"
        "found = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'numba' else found(name, *rest)\n"
        "from twofishkit import cli\n"
        "sys.exit(cli.main(sys.argv[1:]))\n"
    )
    arguments = ["diff", "--cmd", f'"{built(0)}"', "--cases", "30", "--no-published"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "numba is not installed and not needed" in done.stdout


# --- vectors and kat --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["json", "rsp"])
def test_exported_vectors_are_read_again(form, capsys, tmp_path):
    modes = ",".join(export.ALL_MODES)
    code, out, _ = run(capsys, "vectors", "--seed", "7", "--format", form, "--count", "12", "--modes", modes)
    assert code == 0
    path = tmp_path / f"vectors.{form}"
    path.write_text(out, "utf-8")
    code, out, _ = run(capsys, "kat", str(path))
    assert code == 0
    agree = int(out.split(": ")[1].split(" ")[0])
    assert agree == len(katfiles.read(path.read_text("utf-8"))) > 12 * len(export.ALL_MODES)
    assert "0 differ" in out


def test_same_seed_prints_the_same(capsys):
    first = run(capsys, "vectors", "--seed", "7", "--count", "2", "--modes", "gcm,xts")
    assert first == run(capsys, "vectors", "--seed", "7", "--count", "2", "--modes", "gcm,xts")
    assert first != run(capsys, "vectors", "--seed", "8", "--count", "2", "--modes", "gcm,xts")


def test_c_header_compiles_and_holds_the_vectors(capsys, tmp_path):
    code, out, _ = run(capsys, "vectors", "--format", "c-header", "--count", "3", "--modes", "ecb,gcm")
    assert code == 0
    (tmp_path / "vectors.h").write_text(out, "ascii")
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "vectors.h"\n'
        "int main(void) {\n"
        "    for (int i = 0; i < TWOFISH_VECTOR_COUNT; i++) {\n"
        "        const twofish_vector *v = &twofish_vectors[i];\n"
        '        printf("%s %d %d ", v->mode, v->valid, (int)v->tag_length);\n'
        '        for (size_t j = 0; j < v->key_bytes; j++) printf("%02x", v->key[j]);\n'
        '        printf(" ");\n'
        '        for (size_t j = 0; j < v->ct_bytes; j++) printf("%02x", v->ct[j]);\n'
        '        printf("\\n");\n'
        "    }\n}\n"
    )
    program = tmp_path / "main.exe"
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    subprocess.run([compiler(), *strict, "-o", str(program), str(tmp_path / "main.c")], check=True)
    printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines()
    expected = [
        f"{mode} {int(v['valid'])} {v['tag_length']} {v['key'].hex()} {v['ct'].hex()}"
        for mode in ("ecb", "gcm")
        for v in export.vectors(mode, 0, 3)
    ]
    assert printed == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("--modes", "lrw"), "'lrw' is not one of"), (("--count", "0"), "--count is 1 or more")],
)
def test_vectors_misused(capsys, arguments, message):
    code, _, err = run(capsys, "vectors", *arguments)
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    "name",
    [f"mode_{m}.json" for m in ("cbc", "cfb8", "ctr", "xts", "gcm", "eax", "ocb", "siv", "cmac")]
    + ["ghash.json"],
)
def test_kat_reads_the_projects_own_vectors(name, capsys):
    code, out, _ = run(capsys, "kat", str(VECTORS / name))
    assert code == 0
    assert " 0 differ" in out


KEY, IV = "00112233445566778899aabbccddeeff", "0f0e0d0c0b0a09080706050403020100"


def ecb(key: str, plaintext: str) -> str:
    return block.expand_key(bytes.fromhex(key)).encrypt_block(bytes.fromhex(plaintext)).hex().upper()


def submission(title: str, body: str) -> str:
    return f'=========\n\nFILENAME:  "{title}"\n\nElectronic Codebook (ECB) Mode\n\n=========\n\n{body}'


def test_kat_reads_the_files_of_the_submission(capsys, tmp_path):
    zero = "0" * 32
    one = "80" + "0" * 30
    files = {
        "ecb_vk.txt": f"KEYSIZE=128\n\nPT={zero}\n\nI=1\nKEY={one}\nCT={ecb(one, zero)}\n\n"
        f"I=2\nKEY={KEY}\nCT={ecb(KEY, zero)}\n",
        "ecb_vt.txt": f"KEYSIZE=128\n\nKEY={zero}\n\nI=1\nPT={one}\nCT={ecb(zero, one)}\n\n"
        f"I=2\nPT={IV}\nCT={ecb(zero, IV)}\n",
        "ecb_tbl.txt": f"KEYSIZE=128\n\nI=1\nKEY={zero}\nPT={zero}\nCT={ecb(zero, zero)}\n\n"
        f"KEYSIZE=192\n\nI=1\nKEY={zero}{zero[:16]}\nPT={one}\nCT={ecb(zero + zero[:16], one)}\n",
    }
    for name, body in files.items():
        path = tmp_path / name
        path.write_text(submission(name, body))
        code, out, _ = run(capsys, "kat", str(path))
        # Two vectors, each in both directions.
        assert (code, out.split(": ")[1][:17]) == (0, "4 agree, 0 differ"), name
        wrong = body.replace("CT=", "CT=00")[:-3].replace("CT=00", "CT=", 1)
        path.write_text(submission(name, wrong))
        assert run(capsys, "kat", str(path))[0] == 1


@pytest.mark.parametrize(
    ("prefix", "name"),
    [("ecb_e", "ecb_e_m"), ("ecb_d", "ecb_d_m"), ("cbc_e", "cbc_e_m"), ("cbc_d", "cbc_d_m")],
)
def test_kat_reads_monte_carlo_files(prefix, name, capsys, tmp_path):
    records = json.loads((VECTORS / "mct.json").read_text("utf-8"))["vectors"]
    first = [each for each in records if each["id"].startswith(f"mct-{prefix}-128")][:2]
    given, result = ("CT", "PT") if prefix.endswith("d") else ("PT", "CT")
    body = "KEYSIZE=128\n"
    for each in first:
        iv = f"IV={each['iv']}\n" if each["iv"] else ""
        body += (
            f"\nI={each['step']}\nKEY={each['key']}\n{iv}{given}={each['input']}\n{result}={each['output']}\n"
        )
    path = tmp_path / f"{name}.txt"
    path.write_text(submission(path.name, body).replace("Mode", "Mode\nMonte Carlo Test"))
    code, out, _ = run(capsys, "kat", str(path), "--monte-carlo", "1")
    assert code == 0
    assert "1 agree, 0 differ, 1 Monte-Carlo steps left out" in out


def test_kat_reads_nist_response_files(capsys, tmp_path):
    records = json.loads((VECTORS / "mode_gcm.json").read_text("utf-8"))["vectors"]
    vector = next(each for each in records if len(each["tag"]) == 24)
    text = (
        f"# CAVS\n[Keylen = {4 * len(vector['key'])}]\n[Taglen = 96]\n\nCount = 0\nKey = {vector['key']}\n"
        f"IV = {vector['iv']}\nCT = {vector['ciphertext']}\nAAD = {vector['aad']}\nTag = {vector['tag']}\n"
        f"PT = {vector['plaintext']}\n\n"
        f"Count = 1\nKey = {vector['key']}\nIV = {vector['iv']}\nCT = {vector['ciphertext']}\n"
        f"AAD = {vector['aad']}\nTag = {'00' * 12}\nFAIL\n"
    )
    path = tmp_path / "gcmDecrypt128.rsp"
    path.write_text(text)
    code, out, _ = run(capsys, "kat", str(path))
    assert (code, out.split(": ")[1][:17]) == (0, "3 agree, 0 differ")
    path.write_text(text.replace("FAIL", f"PT = {vector['plaintext']}"))
    code, out, _ = run(capsys, "kat", str(path))
    assert code == 1
    assert "got       refused" in out


def test_kat_reads_wycheproof(capsys, tmp_path):
    code, out, _ = run(capsys, "vectors", "--modes", "eax", "--count", "4")
    document = json.loads(out)
    group = document["testGroups"][0]
    assert group["algorithm"] == "TWOFISH-EAX"
    # Wycheproof states the tag size with the group, in bits, and may leave a verdict open.
    group["tagSize"] = 128
    for test in group["tests"]:
        del test["tagSize"]
    group["tests"][0]["result"] = "acceptable"
    path = tmp_path / "twofish_eax_test.json"
    path.write_text(json.dumps(document))
    code, out, _ = run(capsys, "kat", str(path))
    assert code == 0
    group["tests"][3]["ct"] = "00" + group["tests"][3]["ct"][2:]
    path.write_text(json.dumps(document))
    assert run(capsys, "kat", str(path))[0] == 1


def test_kat_of_another_twofish(capsys):
    path = str(VECTORS / "mode_ctr.json")
    code, out, _ = run(capsys, "kat", path, "--cmd", f'"{built(0)}"')
    assert code == 0
    assert "(answered by " in out
    code, out, _ = run(capsys, "kat", path, "--cmd", f'"{built(4)}"')
    assert code == 1
    code, out, _ = run(capsys, "kat", str(VECTORS / "mode_eax.json"), "--cmd", f'"{built(0)}"')
    assert code == 2, "nothing could be compared"


def test_kat_from_standard_input():
    text = (VECTORS / "mode_ofb.json").read_text("utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "twofishkit", "kat", "-"],
        cwd=ROOT,
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("-: 60 agree, 0 differ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "neither Wycheproof JSON, nor a NIST .rsp"),
        ("hello", "neither Wycheproof JSON, nor a NIST .rsp"),
        ("{", "not JSON"),
        ("[]", "an object"),
        ("{}", "has testGroups"),
        ('{"vectors": []}', "has testGroups"),
        ('{"format": "twofishkit-vectors/1", "vectors": []}', "no vectors"),
        # Digests of a message that is only described are nothing to compare with.
        ((VECTORS / "large_digest.json").read_text("utf-8"), "no vectors"),
        ('{"testGroups": [{"algorithm": "RSA", "tests": []}]}', "tells no mode"),
        ("COUNT = 0\nKEY = 00\nPT = 00\n", "neither the name nor a line"),
        ("[MODE = ECB]\nCOUNT = 0\nKEY = zz\nPT = 00\n", "'zz' is not hex"),
    ],
)
def test_files_that_hold_no_vectors(text, message, capsys, tmp_path):
    with pytest.raises(FormatError, match=message):
        katfiles.read(text)
    path = Path(tmp_path / "file.txt")
    path.write_text(text)
    code, _, err = run(capsys, "kat", str(path))
    assert code == 2
    assert err.startswith("twofishkit: error: ")


def test_missing_file(capsys, tmp_path):
    code, _, err = run(capsys, "kat", str(tmp_path / "none.json"))
    assert code == 1
    assert "No such file" in err
