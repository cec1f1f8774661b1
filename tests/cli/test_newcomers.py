"""Mistakes that people make in their first hour: each one line, the right exit code, nothing harmed."""

import os
import stat

import numpy as np
import pytest

import twofishkit as tk
from tests.cli.conftest import KEY, names

WITH_KEY = ("--key-file", "../my.key")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "COMMAND"),
        (("encrypt", "a"), "invalid choice: 'encrypt'"),
        (("seal",), "INPUT"),
        (("seal", "a", "b"), "unrecognized arguments"),
        (("seal", "--key", KEY.hex(), "a"), "--key"),
        (("seal", "--key-file", "k", "--passphrase", "a"), "not allowed with"),
        (("seal", "--as", "npz", "a"), "invalid choice"),
        (("keygen",), "FILE"),
    ],
)
def test_wrong_command_lines(work, fails, arguments, text):
    outcome = fails(2, text, *arguments)
    assert KEY.hex() not in outcome.err or arguments[1] == "--key"
    assert names(work) == []


@pytest.mark.parametrize("command", ["seal", "unseal", "inspect", "cat", "rekey"])
def test_missing_input_and_directory(work, fails, command):
    fails(1, "none: No such file", command, *WITH_KEY, "none")
    (work / "folder").mkdir()
    fails(1, "Is a directory" if os.name == "posix" else "Permission denied", command, *WITH_KEY, "folder")
    assert names(work) == ["folder"]


def test_missing_key_file(work, fails):
    (work / "a").write_bytes(b"x")
    fails(1, "my.key: No such file", "seal", "--key-file", "my.key", "a")
    assert names(work) == ["a"]


def test_output_directory_that_does_not_exist(work, fails):
    (work / "a").write_bytes(b"x")
    fails(1, "No such file", "seal", *WITH_KEY, "a", "-o", "none/a.tfk")
    assert names(work) == ["a"]


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs /dev/null")
def test_output_to_a_device(work, fails):
    (work / "a").write_bytes(b"x")
    fails(2, "not a regular file", "seal", *WITH_KEY, "a", "-o", "/dev/null", "--force")


@pytest.mark.parametrize("content", [b"plain text", b"\x93NUMPY\x01\x00", b"PK\x03\x04" + bytes(100), b""])
def test_unsealing_what_was_never_sealed(work, fails, content):
    (work / "a.tfk").write_bytes(content)
    fails(1, "no sealed data", "unseal", *WITH_KEY, "a.tfk")
    fails(1, "no sealed data", "inspect", "a.tfk")


def test_unsealing_a_file_of_another_name(work, run, fails):
    tk.save("backup", b"x", KEY)
    fails(2, "say where to with -o FILE", "unseal", *WITH_KEY, "backup")
    assert run("unseal", *WITH_KEY, "backup", "-o", "x").code == 0


def test_sealing_twice_is_allowed_and_reversible(work, run):
    (work / "a").write_bytes(b"x")
    run("seal", *WITH_KEY, "a")
    run("seal", *WITH_KEY, "a.tfk")
    run("unseal", *WITH_KEY, "a.tfk.tfk", "--force")
    assert tk.load("a.tfk", KEY) == b"x"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "it holds 0 bytes"),
        (KEY[:16], "16 bytes"),
        (KEY[:16].hex().encode(), "32 hex digits; a key has 64"),
        (KEY.hex().encode() + b"00", "66 hex digits"),
        (KEY + b"\n", "33 bytes"),
        (b"my secret password\n", "no key file"),
        (bytes(100_000), "4096 bytes or more"),
    ],
)
def test_key_files_that_are_none(work, fails, content, text):
    (work.parent / "bad.key").write_bytes(content)
    (work.parent / "bad.key").chmod(0o600)
    (work / "a").write_bytes(b"x")
    outcome = fails(1, text, "seal", "--key-file", "../bad.key", "a")
    assert KEY.hex()[:32] not in outcome.err
    assert names(work) == ["a"]


@pytest.mark.parametrize(
    "content", [KEY, KEY.hex().encode(), KEY.hex().upper().encode() + b"\r\n", b" " + KEY.hex().encode()]
)
def test_forms_of_key_files(work, run, content):
    (work.parent / "k").write_bytes(content)
    (work.parent / "k").chmod(0o600)
    tk.save("a.tfk", b"x", KEY)
    outcome = run("unseal", "--key-file", "../k", "a.tfk")
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_key_file_that_others_can_read(work, run):
    (work.parent / "my.key").chmod(0o644)
    tk.save("a.tfk", b"x", KEY)
    outcome = run("unseal", *WITH_KEY, "a.tfk")
    assert outcome.code == 0
    assert outcome.err == "twofishkit: warning: others can read ../my.key; run: chmod 600 ../my.key\n"


def test_keys_from_the_environment(work, run, fails, monkeypatch):
    (work / "a").write_bytes(b"x")
    monkeypatch.setenv("TWOFISHKIT_KEY", KEY.hex())
    assert run("seal", "a").code == 0
    assert tk.load("a.tfk", KEY) == b"x"
    monkeypatch.delenv("TWOFISHKIT_KEY")
    monkeypatch.setenv("OTHER", f" {KEY.hex()}\n")
    assert run("unseal", "--key-env", "OTHER", "a.tfk", "--force").code == 0
    fails(2, "MISSING is not set", "unseal", "--key-env", "MISSING", "a.tfk", "--force")
    monkeypatch.setenv("OTHER", KEY.hex()[:-1] + "x")
    outcome = fails(1, "OTHER must hold 64 hex digits", "unseal", "--key-env", "OTHER", "a.tfk", "--force")
    assert KEY.hex()[:20] not in outcome.err


def test_passphrases_from_the_environment(work, run, fails, monkeypatch):
    (work / "a").write_bytes(b"x")
    monkeypatch.setenv("TWOFISHKIT_PASSPHRASE", "grüße")
    assert run("seal", "a").code == 0
    assert tk.load("a.tfk", passphrase="grüße") == b"x"
    assert run("unseal", "a.tfk", "-o", "b").code == 0
    monkeypatch.setenv("OTHER", "grüße")
    assert run("unseal", "--passphrase-env", "OTHER", "a.tfk", "-o", "c").code == 0
    monkeypatch.setenv("OTHER", "gruesse")
    fails(1, "wrong key or passphrase", "unseal", "--passphrase-env", "OTHER", "a.tfk", "-o", "d")


def test_the_environment_gives_what_the_file_needs(work, run, fails, monkeypatch):
    (work / "a").write_bytes(b"x")
    tk.save("key.tfk", b"1", KEY)
    tk.save("passphrase.tfk", b"2", passphrase="p")
    monkeypatch.setenv("TWOFISHKIT_KEY", KEY.hex())
    monkeypatch.setenv("TWOFISHKIT_PASSPHRASE", "p")
    fails(2, "both TWOFISHKIT_KEY and TWOFISHKIT_PASSPHRASE", "seal", "a")
    assert run("unseal", "key.tfk").code == 0
    assert run("unseal", "passphrase.tfk").code == 0


def test_key_for_a_passphrase_and_the_other_way_round(work, fails, monkeypatch):
    tk.save("key.tfk", b"1", KEY)
    tk.save("passphrase.tfk", b"2", passphrase="p")
    fails(1, "sealed with a passphrase", "unseal", *WITH_KEY, "passphrase.tfk")
    monkeypatch.setenv("P", "p")
    fails(1, "sealed with a raw key", "unseal", "--passphrase-env", "P", "key.tfk")
    fails(2, "sealed with a key: give --key-file", "unseal", "key.tfk")
    assert names(work) == ["key.tfk", "passphrase.tfk"]


@pytest.mark.parametrize("label", ["unit", "=K", ""])
def test_metadata_without_a_name(work, fails, label):
    (work / "a").write_bytes(b"x")
    fails(2, "NAME=TEXT", "seal", *WITH_KEY, "a", "--metadata", label)


def test_metadata_given_twice_or_too_long(work, fails):
    (work / "a").write_bytes(b"x")
    fails(2, "given twice", "seal", *WITH_KEY, "a", "--metadata", "u=1", "--metadata", "u=2")
    fails(2, "metadata has", "seal", *WITH_KEY, "a", "--metadata", "u=" + "x" * 40000)
    assert names(work) == ["a"]


def test_names_with_control_characters_stay_on_one_line(work, fails):
    fails(1, "No such file", "seal", *WITH_KEY, "two\nlines")


def test_keygen(work, run, fails):
    assert run("keygen", "new.key").code == 0
    text = (work / "new.key").read_text()
    assert len(bytes.fromhex(text)) == 32
    assert text.endswith("\n")
    if os.name == "posix":
        assert stat.S_IMODE((work / "new.key").stat().st_mode) == 0o600
    fails(1, "new.key: File exists", "keygen", "new.key")
    assert (work / "new.key").read_text() == text
    (work / "new.key").chmod(0o644)
    assert run("keygen", "--force", "--raw", "new.key").code == 0
    assert len((work / "new.key").read_bytes()) == 32
    if os.name == "posix":
        assert stat.S_IMODE((work / "new.key").stat().st_mode) == 0o600
    one, two = run("keygen", "-").out, run("keygen", "-").out
    assert one != two
    assert len(bytes.fromhex(one.decode())) == 32
    assert names(work) == ["new.key"]


def test_generated_keys_work(work, run):
    (work / "a").write_bytes(b"x")
    run("keygen", "k")
    assert run("seal", "--key-file", "k", "a").code == 0
    assert run("unseal", "--key-file", "k", "a.tfk", "-o", "b").code == 0
    assert (work / "b").read_bytes() == b"x"


def test_help_and_version(run):
    for command in (
        (),
        ("seal",),
        ("unseal",),
        ("inspect",),
        ("cat",),
        ("rekey",),
        ("keygen",),
        ("info",),
        ("selftest",),
    ):
        outcome = run(*command, "--help")
        assert outcome.code == 0
        assert b"usage: twofishkit" in outcome.out
    assert run("--version").out.decode().strip() == f"twofishkit {tk.__version__}"


def test_keys_are_never_taken_from_the_command_line(run):
    """Every option that takes a value names a file or a variable."""
    for command in ("seal", "unseal", "inspect"):
        text = run(command, "--help").out.decode()
        options = {word.strip(",") for word in text.split() if word.startswith("--")}
        assert not options & {"--key", "--hex", "--password"}
        assert "--passphrase FILE" not in text


def test_disk_full(work, fails):
    resource = pytest.importorskip("resource")
    import signal

    np.save("a.npy", np.zeros(500_000))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        fails(1, "File too large", "seal", *WITH_KEY, "a.npy")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert names(work) == ["a.npy"]
