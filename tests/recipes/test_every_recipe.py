"""What all recipes have in common: their size, their command lines, and calm in the face of any damage."""

import random
import re
import subprocess
import sys

import pytest

from tests.processes import environment
from tests.recipes.conftest import FILES, NAMES, RECIPES, Run, of_kind

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
ALL = (*NAMES, "openpgp_encrypt")

#: A file of each kind that recipes open to contents, and the arguments that do it.
SAMPLES = {
    "keepass": ("kdbx-keepass-rs-argon2", ["export"]),
    "keepass1": ("kdb1-KeePassKit", ["export"]),
    "mcrypt": ("mcrypt-cbc-4096", []),
    "openpgp": ("pgp-gpg-raw20k", []),
    "psafe3": ("psafe3-gopwsafe-three", ["export"]),
    "uber": ("uber-custom_entry_passwords", ["export", "--alias", "sealed_private_key"]),
    "luks1": ("luks1-twofish256-xts", ["decrypt"]),
    "tcrypt": ("tcrypt-tc_5-sha512-xts-twofish", ["decrypt"]),
    "tcrypt_old": ("tcrypt-tc_2-ripemd160-lrw-twofish", ["decrypt"]),
}


def lines_of_code(source: str) -> int:
    without_docstrings = re.sub(r'"""(?s:.*?)"""', "", source)
    return sum(
        1 for line in without_docstrings.splitlines() if line.strip() and not line.strip().startswith("#")
    )


def test_there_are_no_others():
    assert sorted(path.stem for path in RECIPES.glob("*.py")) == sorted(ALL)
    assert set(SAMPLES) == set(NAMES)


@pytest.mark.parametrize("name", ALL)
def test_recipes_stay_short(name):
    """About 120 lines without their text: a tenth more at most."""
    assert lines_of_code((RECIPES / f"{name}.py").read_text("utf-8")) <= 132


@pytest.mark.parametrize("name", ALL)
def test_recipes_run_as_they_are_and_explain_themselves(name):
    done = subprocess.run(
        [sys.executable, RECIPES / f"{name}.py", "--help"],
        capture_output=True, text=True, env=environment(), timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "--password-file" in done.stdout
    head = (RECIPES / f"{name}.py").read_text("utf-8").split('"""')[1]
    assert f"python {name}.py" in head
    assert "Exit codes: 0 done, 1 file not readable or writable, 2 misuse" in head
    assert "Needs: twofishkit" in head


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_refuses_what_is_not_its_format(name, run: Run):
    arguments = SAMPLES[name][1]
    for data in (b"", b"x", b"hello, this is text\n" * 50, bytes(700), bytes(range(256)) * 4):
        if name.startswith("tcrypt"):  # their files look random: no other format shows
            if len(data) >= 512:
                continue
            code = DAMAGED
        else:
            code = WRONG_FORMAT
        run.refused(name, code, *arguments, run.file(data), "--output", run.output, password="pw")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_not_there(name, run: Run):
    message = run.refused(
        name, 1, *SAMPLES[name][1], run.directory / "none", "--output", run.output, password="pw"
    )
    assert "No such file" in message


@pytest.mark.parametrize("name", NAMES)
def test_cut_off_and_altered_files(name, real, run: Run):
    """However a file is damaged: an exit code, one sentence, and nothing written."""
    entry = FILES[SAMPLES[name][0]]
    data, rng = real(entry), random.Random(7)
    password = entry["password"] or "00" * 32
    lengths = [n for n in (1, 9, 40, 100, 155, 300, 500, len(data) // 2, len(data) - 1) if n < len(data)]
    damaged = [data[:n] for n in lengths]
    for _ in range(12):
        changed = bytearray(data)
        changed[rng.randrange(min(len(data), 600))] ^= 1 << rng.randrange(8)
        damaged.append(bytes(changed))
    codes = set()
    for broken in damaged:
        path = run.file(broken)
        arguments = [*SAMPLES[name][1], path, "--output", run.output]
        if name == "luks1":  # the stored file is cut: it opens by its master key
            arguments += ["--master-key", run.file(bytes.fromhex(entry["master_key"]), "mk")]
        if name == "tcrypt" and len(broken) >= 512:  # seconds each; see test_tcrypt
            continue
        if (
            name == "tcrypt_old" and len(broken) >= 512
        ):  # the stored file is a header alone; see test_tcrypt_old
            continue
        code, out, err = run(name, *map(str, arguments), password=password)
        if code == 0:  # altered where the format protects nothing, such as sectors of a disk
            run.output.unlink()
            continue
        codes.add(code)
        assert code in (WRONG_PASSWORD, WRONG_FORMAT, DAMAGED), err
        assert out == ""
        assert err.count("\n") == 1, err
        assert not run.output.exists()
        assert not list(run.directory.glob("*.partial"))
    assert codes


def test_every_stored_file_has_a_recipe():
    kinds = {entry["kind"] for entry in FILES.values()}
    assert kinds == {"psafe3", "kdbx", "kdb1", "uber-keystore", "mcrypt", "openpgp", "tcrypt", "luks"}
    assert sum(len(of_kind(kind)) for kind in kinds) == len(FILES)
