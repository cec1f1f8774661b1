"""Volumes and keystores that tcplay and Java's keytool, with Bouncy Castle, make in this run."""

import contextlib
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_der_private_key
from cryptography.x509 import load_der_x509_certificate

from tests.recipes.conftest import Run, program, run_program

WRONG_PASSWORD, DAMAGED = 3, 5
BOUNCY_CASTLE = Path("/usr/share/java/bcprov.jar")


@pytest.fixture
def keytool(tmp_path: Path):
    """keytool on a UBER keystore, with the password ``secret``."""
    executable = program("keytool")
    if not BOUNCY_CASTLE.exists():
        if os.environ.get("CI") == "true" and sys.platform == "linux":
            pytest.fail(f"CI on Linux must have {BOUNCY_CASTLE} (see .ci/run)")
        pytest.skip(f"there is no {BOUNCY_CASTLE} on this machine (Debian's libbcprov-java)")
    provider = ["-providerclass", "org.bouncycastle.jce.provider.BouncyCastleProvider"]
    store = ["-storetype", "UBER", "-keystore", str(tmp_path / "store.uber"), "-storepass", "secret"]

    def call(command: str, *arguments: str) -> str:
        given = [command, *store, *provider, "-providerpath", str(BOUNCY_CASTLE), *arguments]
        done = run_program(executable, *given)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.decode("latin-1")

    return call


def test_keystores_that_keytool_makes(keytool, run: Run):
    pair = ["-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=nobody"]
    keytool("-genkeypair", "-alias", "pair", "-keypass", "other secret", *pair)
    keytool(
        "-genseckey", "-alias", "secretkey", "-keypass", "other secret", "-keyalg", "AES", "-keysize", "256"
    )
    certificate = run.directory / "certificate"
    keytool("-exportcert", "-alias", "pair", "-file", str(certificate))
    keytool("-importcert", "-noprompt", "-alias", "certificate", "-file", str(certificate))
    store = run.directory / "store.uber"
    code, out, err = run("uber", "list", store, password="secret")
    assert (code, err) == (0, "")
    listed = dict(line.split("\t")[:2] for line in out.splitlines())
    assert listed == {
        "pair": "sealed key, 1 certificates",
        "secretkey": "sealed key, 0 certificates",
        "certificate": "certificate, 0 certificates",
    }
    entry_password, wrong = run.file(b"other secret\n", "entry"), run.file(b"secret\n", "wrong")
    contents = {}
    for alias in listed:
        export = ["export", store, "--alias", alias, "--entry-password-file", entry_password]
        assert run("uber", *export, "--output", run.output, password="secret")[0] == 0
        contents[alias] = run.output.read_bytes()
        run.output.unlink()
    assert load_der_private_key(contents["pair"], None).key_size == 256
    assert len(contents["secretkey"]) == 32
    assert load_der_x509_certificate(contents["certificate"]).subject.rfc4514_string() == "CN=nobody"
    export[3:] = ["pair", "--entry-password-file", wrong]
    run.refused("uber", WRONG_PASSWORD, *export, "--output", run.output, password="secret")
    data = bytearray(store.read_bytes())
    run.refused("uber", WRONG_PASSWORD, "list", store, password="Secret")
    data[-30] ^= 1
    run.refused("uber", WRONG_PASSWORD, "list", run.file(bytes(data)), password="secret")
    run.refused("uber", DAMAGED, "list", run.file(bytes(data[:-1])), password="secret")


def converse(command: list[str], answers: list[tuple[bytes, bytes]]) -> tuple[int, bytes]:
    """Run a program that asks on a terminal; its exit code and what it said after the last answer."""
    terminal, other_end = pty.openpty()
    with subprocess.Popen(
        command, stdin=other_end, stdout=other_end, stderr=other_end, start_new_session=True
    ) as process:
        os.close(other_end)
        said = b""
        with contextlib.suppress(OSError):  # that is how a terminal ends
            for prompt, answer in answers:
                while prompt not in said and select.select([terminal], [], [], 5)[0]:
                    said += os.read(terminal, 1000)
                said = said.partition(prompt)[2]
                time.sleep(0.1)  # what comes before the echo is off is thrown away
                os.write(terminal, answer + b"\n")
            while select.select([terminal], [], [], 30)[0]:
                said += os.read(terminal, 1000)
        os.close(terminal)
        if process.poll() is None:
            process.terminate()
        return process.wait(), said


@pytest.fixture
def loop_device(tmp_path: Path):
    """A file of 1 MiB and a block device of its bytes, which tcplay insists on."""
    file = tmp_path / "volume"
    file.write_bytes(bytes(1 << 20))
    losetup = program("losetup")
    done = run_program(losetup, "--find", "--show", str(file))
    if done.returncode:
        pytest.skip(f"tcplay needs a block device, and there is no loop device here: {done.stderr.decode()}")
    device = done.stdout.decode().strip()
    yield file, device
    run_program(losetup, "--detach", device)


@pytest.mark.parametrize(
    ("chain", "cascade", "hash_name"),
    [
        ("TWOFISH-256-XTS", "twofish", "sha512"),
        ("TWOFISH-256-XTS,AES-256-XTS", "aes-twofish", "RIPEMD160"),
        ("SERPENT-256-XTS,TWOFISH-256-XTS", "twofish-serpent", "sha512"),
    ],
    ids=lambda value: value.lower(),
)
def test_volumes_that_tcplay_makes(chain, cascade, hash_name, loop_device, run: Run):
    """Headers alone: their sectors are the kernel's business."""
    tcplay, (file, device) = program("tcplay"), loop_device
    create = [tcplay, "-c", "-d", device, "-b", chain, "-a", hash_name.upper(), "-z", "-w"]
    answers = [(b"Passphrase: ", b"secret"), (b"Repeat passphrase: ", b"secret"), (b"(y/n)", b"y")]
    for _ in range(3):  # the terminal may have swallowed an answer
        code, said = converse(create, answers)
        if code == 0:
            break
    assert code == 0, said
    code, out, err = run("tcrypt", "info", file, password="secret")
    assert (code, err) == (0, "")
    assert f"{cascade}, {hash_name.lower()}, {(1 << 20) - (2 << 17)} bytes from {1 << 17}" in out
    decrypt = ["decrypt", file, "--output", run.output]
    assert run("tcrypt", *decrypt, password="secret")[0] == 0
    assert run.output.stat().st_size == (1 << 20) - (2 << 17)
    run.output.unlink()
    whole = file.read_bytes()
    run.refused("tcrypt", DAMAGED, "info", run.file(whole[: 1 << 18]), password="secret")
