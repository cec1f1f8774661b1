"""Files that the real programs make in this run, and what they make of ours.

gpg, mcrypt, qemu-img and cryptsetup must be there in CI. qemu-img creates LUKS1 volumes where it can time
itself, and everywhere reads and writes ones formatted here; cryptsetup formats where the kernel lets it.
"""

import hashlib
import hmac
import os
import secrets
import struct
from pathlib import Path

import numpy as np
import pytest
from pykeepass import create_database

import twofishkit as tk
from tests.recipes.conftest import Run, load, program, run_program

WRONG_PASSWORD, DAMAGED = 3, 5
LENGTHS = (0, 17, 70_001)


@pytest.fixture
def gpg(tmp_path_factory: pytest.TempPathFactory):
    """gpg with a home of its own; arguments in, bytes out."""
    executable, home = program("gpg"), tmp_path_factory.mktemp("gnupg")
    home.chmod(0o700)

    def call(*arguments: object, data: bytes = b"") -> bytes:
        options = [
            "--batch",
            "--yes",
            "--quiet",
            "--no-tty",
            "--pinentry-mode",
            "loopback",
            "--homedir",
            str(home),
        ]
        done = run_program(executable, *options, *map(str, arguments), input=data)
        assert done.returncode == 0, done.stderr
        return done.stdout

    yield call
    if stop := program("gpgconf"):
        run_program(stop, "--homedir", str(home), "--kill", "all")


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--compress-algo", "bzip2", "--armor"),
        ("--compress-algo", "zlib", "--s2k-mode", "0"),
        ("--compress-algo", "zip", "--s2k-mode", "1", "--s2k-digest-algo", "SHA1"),
        ("--compress-algo", "none", "--s2k-digest-algo", "SHA512", "--s2k-count", "100000"),
    ],
    ids=lambda options: " ".join(options) or "defaults",
)
def test_openpgp_reads_gpg(options, gpg, run: Run):
    for length in LENGTHS:
        # The default count takes gpg, and the recipe, a good part of a second: once is enough.
        quick = () if length == LENGTHS[-1] and not options else ("--s2k-count", "65536")
        data = secrets.token_bytes(length // 2).ljust(length, b"x")
        how = ["--passphrase", "pass phrase", "--cipher-algo", "TWOFISH", *quick, *options]
        message = gpg(*how, "-c", data=data)
        path = run.file(message)
        code, _, err = run("openpgp", path, "--output", run.output, password="pass phrase")
        assert code == 0, err
        assert run.output.read_bytes() == data
        run.output.unlink()
    run.refused("openpgp", WRONG_PASSWORD, path, "--output", run.output, password="pass phrasf")
    if "--armor" not in options:
        changed = bytearray(message)
        changed[-30] ^= 1
        run.refused(
            "openpgp", DAMAGED, run.file(bytes(changed)), "--output", run.output, password="pass phrase"
        )


def test_openpgp_reads_what_gpg_encrypts_to_a_public_key(gpg, run: Run):
    gpg("--passphrase", "", "--quick-generate-key", "nobody@example.org", "rsa2048", "encr", "never")
    data = secrets.token_bytes(3000)
    message = gpg(
        "--cipher-algo", "TWOFISH", "--trust-model", "always", "-r", "nobody@example.org", "-e", data=data
    )
    path = run.file(message)
    home_says = run_session_key(gpg, path)
    code, _, err = run("openpgp", path, "--session-key", home_says, "--output", run.output)
    assert code == 0, err
    assert run.output.read_bytes() == data


def run_session_key(gpg, path: Path) -> str:
    """The session key, as gpg --show-session-key prints it on its status channel."""
    shown = gpg("--show-session-key", "--status-fd", "1", "--output", os.devnull, "-d", path).decode(
        "latin-1"
    )
    (line,) = [line for line in shown.splitlines() if "SESSION_KEY" in line]
    return line.split()[-1]


def test_gpg_reads_openpgp_encrypt(gpg, run: Run):
    for length in LENGTHS:
        data = secrets.token_bytes(length)
        sent = run.file(data, "letter")
        assert run("openpgp_encrypt", sent, "--output", run.output, password="pass phrase")[0] == 0
        assert gpg("--passphrase", "pass phrase", "-d", run.output) == data
        message = run.output.rename(run.directory / "message")
        assert run("openpgp", message, "--output", run.output, password="pass phrase")[0] == 0
        assert run.output.read_bytes() == data
        run.output.unlink()


@pytest.mark.parametrize("mode", ["cbc", "ecb", "ncfb", "nofb", "ctr", "cfb"])
def test_mcrypt_files(mode, run: Run):
    executable = program("mcrypt")
    for length in (0, 1, 3, 11, 12, 13, 15, 16, 17, 28, 500, 4099):
        data = secrets.token_bytes(length)
        done = run_program(executable, "-q", "-a", "twofish", "-m", mode, "-k", "secret", input=data)
        assert done.returncode == 0, done.stderr
        path = run.file(done.stdout)
        code, _, err = run("mcrypt", path, "--output", run.output, password="secret")
        assert code == 0, (length, err)
        assert run.output.read_bytes() == data
        run.output.unlink()
    for cut in (done.stdout[:40], done.stdout[:70]):
        run.refused("mcrypt", DAMAGED, run.file(cut), "--output", run.output, password="secret")


@pytest.mark.parametrize(
    ("mode", "cipher"),
    [
        ("ecb", lambda key, _: tk.ECB(key)),
        ("cbc", tk.CBC),
        ("ncfb", tk.CFB),
        ("nofb", tk.OFB),
        ("ctr", tk.CTR),
        ("cfb", tk.CFB8),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("bits", [128, 192, 256])
def test_mcrypt_reads_what_we_encrypt(mode, cipher, bits):
    """The other direction: mcrypt decrypts and verifies a file that these lines write."""
    key, iv = secrets.token_bytes(bits // 8), secrets.token_bytes(16)
    data = secrets.token_bytes(1024)  # mcrypt fails where a hash lies across its pieces of 1024 bytes
    header = b"\0m\3\x40twofish\0" + len(key).to_bytes(2, "little") + mode.encode() + b"\0hex\0"
    header += b"\x15" + bytes(20) + b"sha1\0"
    plaintext = data + hashlib.sha1(data).digest()
    if mode in ("cbc", "ecb"):
        plaintext += bytes(15 - len(plaintext) % 16) + bytes([len(plaintext) % 16])
    sealed = header + (b"" if mode == "ecb" else iv) + cipher(key, iv).encrypt(plaintext)
    done = run_program(program("mcrypt"), "-d", "-q", "-o", "hex", "-k", key.hex(), input=sealed)
    assert done.returncode == 0, done.stderr
    assert done.stdout == data


@pytest.mark.parametrize("key_mode", ["asis", "hex", "mcrypt-sha1"])
@pytest.mark.parametrize("hash_name", ["md5", "sha512"])
def test_mcrypt_keys_and_hashes(key_mode, hash_name, run: Run):
    password = "00112233445566778899aabbccddeeff" * 2 if key_mode == "hex" else "some password"
    data = secrets.token_bytes(777)
    arguments = ["-a", "twofish", "-m", "cbc", "-o", key_mode, "-h", hash_name, "-k", password]
    done = run_program(program("mcrypt"), "-q", *arguments, input=data)
    assert done.returncode == 0, done.stderr
    code, _, err = run("mcrypt", run.file(done.stdout), "--output", run.output, password=password)
    assert code == 0, err
    assert run.output.read_bytes() == data


def test_mcrypt_names_what_it_does_not_read(run: Run):
    executable = program("mcrypt")
    for options, word in (
        (["-a", "rijndael-128"], "rijndael-128"),
        (["-a", "twofish", "-o", "s2k-salted-sha1"], "s2k"),
    ):
        done = run_program(executable, "-q", *options, "-m", "cbc", "-k", "secret", input=b"data")
        assert word in run.refused(
            "mcrypt", 4, run.file(done.stdout), "--output", run.output, password="secret"
        )


def test_names_in_damaged_headers_stay_on_one_line(run: Run):
    path = run.file(b"\0m\3\x40two\nfish\x1b[2J\0" + bytes(100))
    assert "'two\\nfish\\x1b[2J'" in run.refused("mcrypt", 4, path, "--output", run.output, password="secret")
    volume = bytearray(format_luks1("xts-plain64", 64, b"pass phrase", 1))
    volume[40:51] = b"xts\nplain64"
    assert "xts\\nplain64" in run.refused(
        "luks1", 4, "check", run.file(bytes(volume)), password="pass phrase"
    )


LUKS_MODES = {
    "xts-plain64": (64, "cipher-mode=xts,ivgen-alg=plain64"),
    "cbc-plain64": (32, "cipher-mode=cbc,ivgen-alg=plain64"),
    "cbc-essiv:sha256": (32, "cipher-mode=cbc,ivgen-alg=essiv,ivgen-hash-alg=sha256"),
}


def format_luks1(mode: str, key_bytes: int, passphrase: bytes, sectors: int) -> bytes:
    """A LUKS1 volume with random contents: the other direction of the recipe, for others to read."""
    luks1, hash_name = load("luks1"), "sha256"
    key, salt = secrets.token_bytes(key_bytes), secrets.token_bytes(32)
    stripes, at, payload = 4000, 8, 4096
    slot_key = hashlib.pbkdf2_hmac(hash_name, passphrase, salt, 1000, key_bytes)
    digest = hashlib.pbkdf2_hmac(hash_name, key, salt, 1000, 20)
    head = b"LUKS\xba\xbe\0\1" + b"twofish".ljust(32, b"\0") + mode.encode().ljust(32, b"\0")
    head += hash_name.encode().ljust(32, b"\0") + struct.pack(">II", payload, key_bytes)
    head += struct.pack(">20s32sI40s", digest, salt, 1000, b"12345678-1234-1234-1234-123456789abc")
    size = -(-key_bytes * stripes // 512) * 512
    for i in range(8):
        slot_at = at + i * (-(-size // 4096) * 8)
        head += struct.pack(">II32sII", 0x00AC71F3 if i == 0 else 0x0000DEAD, 1000, salt, slot_at, stripes)
    header = luks1.Header(head)
    random = secrets.token_bytes((stripes - 1) * key_bytes)
    last = luks1.merge(
        header, random + bytes(key_bytes), stripes
    )  # zeros in the last stripe: what it must undo
    material = (random + tk.xor(last, key)).ljust(size, b"\0")
    volume = bytearray(payload * 512)
    volume[: len(head)] = head
    volume[at * 512 : at * 512 + size] = encrypt(header, slot_key, material)
    return bytes(volume) + encrypt(header, key, bytes(sectors * 512))


def encrypt(header, key: bytes, data: bytes) -> bytes:
    """Sectors from 0 on, encrypted as the recipe decrypts them."""
    sectors = np.frombuffer(data, np.uint8).reshape(-1, 512)
    if header.chaining == "xts":
        return tk.XTS(key).encrypt(data, 0, sector_size=512)
    numbers = np.zeros((len(sectors), 2), "<u8")
    numbers[:, 0] = np.arange(len(sectors))
    ivs = numbers.view(np.uint8)
    if header.iv_rule.startswith("essiv"):
        ivs = tk.Twofish(hashlib.sha256(key).digest()).encrypt_blocks(ivs)
    return tk.CBC(key).encrypt_many(ivs, sectors).tobytes()


def qemu_image(path: Path, secret: Path) -> tuple[list[str], str]:
    """The options by which qemu's programs open a LUKS1 volume."""
    return [
        "--object",
        f"secret,id=s,file={secret}",
    ], f"driver=luks,key-secret=s,file.driver=file,file.filename={path}"


@pytest.mark.parametrize("mode", LUKS_MODES)
def test_qemu_and_luks1_read_each_other(mode, run: Run):
    """qemu-img reads a volume that we formatted, and writes to it what the recipe then reads."""
    executable = program("qemu-img")
    secret = run.file(b"pass phrase", "secret")
    volume = run.file(format_luks1(mode, LUKS_MODES[mode][0], b"pass phrase", 300), "volume")
    options, image = qemu_image(volume, secret)
    raw = run.directory / "raw"
    done = run_program(executable, "convert", *options, "--image-opts", "-O", "raw", image, str(raw))
    assert done.returncode == 0, done.stderr
    assert raw.read_bytes() == bytes(300 * 512)
    raw.write_bytes(contents := secrets.token_bytes(300 * 512))
    command = ("convert", *options, "-n", "-f", "raw", "--target-image-opts", str(raw), image)
    done = run_program(executable, *command)
    assert done.returncode == 0, done.stderr
    code, _, err = run("luks1", "decrypt", volume, "--output", run.output, password="pass phrase")
    assert code == 0, err
    assert run.output.read_bytes() == contents
    run.output.unlink()
    run.refused("luks1", WRONG_PASSWORD, "decrypt", volume, "--output", run.output, password="pass phrasf")


@pytest.mark.parametrize(
    ("mode", "bits"),
    [
        ("xts-plain64", 128),
        pytest.param("cbc-plain64", 256, marks=pytest.mark.slow),  # qemu-img measures for seconds
        pytest.param("cbc-essiv:sha256", 256, marks=pytest.mark.slow),
    ],
)
def test_volumes_that_qemu_img_creates(mode, bits, run: Run):
    secret, volume = run.file(b"pass phrase", "secret"), run.directory / "volume"
    options, image = qemu_image(volume, secret)
    how = f"key-secret=s,cipher-alg=twofish-{bits},{LUKS_MODES[mode][1]},hash-alg=sha256,iter-time=10"
    done = run_program(
        program("qemu-img"), "create", "-q", *options, "-f", "luks", "-o", how, str(volume), "64K"
    )
    if b"accurate CPU usage" in done.stderr or b"not supported" in done.stderr:
        pytest.skip(f"qemu-img cannot do it here: {done.stderr.decode().strip()}")
    assert done.returncode == 0, done.stderr
    raw = run.file(contents := secrets.token_bytes(1 << 16), "raw")
    convert = ("convert", *options, "-n", "-f", "raw", "--target-image-opts", str(raw), image)
    assert run_program(program("qemu-img"), *convert).returncode == 0
    assert run("luks1", "decrypt", volume, "--output", run.output, password="pass phrase")[0] == 0
    assert run.output.read_bytes() == contents


@pytest.mark.parametrize(
    ("at", "value", "word"),
    [
        (164, 0, "iterations"),
        (164, 1 << 31, "iterations"),
        (212, 0, "iterations"),
        (252, 0, "stripes"),
        (252, 0xFFFFFFFF, "stripes"),
        (248, 0xFFFFFFFF, "cut off"),
        (108, 33, "impossible"),
        (104, 0xFFFFFFFF, "cut off"),
    ],
)
def test_luks1_headers_that_state_nonsense(at, value, word, run: Run):
    """Numbers that would take all the memory or time there is are damage."""
    volume = bytearray(format_luks1("xts-plain64", 64, b"pass phrase", 1))
    volume[at : at + 4] = value.to_bytes(4)
    decrypt = ["decrypt", run.file(bytes(volume)), "--output", run.output]
    assert word in run.refused("luks1", DAMAGED, *decrypt, password="pass phrase")


def test_luks1_detached_header(run: Run):
    volume = bytearray(format_luks1("xts-plain64", 64, b"pass phrase", 1))
    volume[104:108] = bytes(4)
    decrypt = ["decrypt", run.file(bytes(volume)), "--output", run.output]
    assert "detached" in run.refused("luks1", 4, *decrypt, password="pass phrase")


@pytest.mark.parametrize("mode", LUKS_MODES)
def test_cryptsetup_reads_our_headers(mode, run: Run):
    executable = program("cryptsetup")
    volume = run.file(format_luks1(mode, LUKS_MODES[mode][0], b"pass phrase", 16), "volume")
    dump = run_program(executable, "luksDump", str(volume))
    assert dump.returncode == 0, dump.stderr
    text = dump.stdout.decode()
    assert f"{mode}" in text
    assert f"MK bits:       \t{8 * LUKS_MODES[mode][0]}" in text
    assert "Key Slot 0: ENABLED" in text


@pytest.mark.parametrize("mode", LUKS_MODES)
def test_volumes_that_cryptsetup_formats(mode, run: Run):
    """Where the kernel encrypts for it: cryptsetup has no Twofish of its own, whatever its library."""
    executable = program("cryptsetup")
    secret, made = run.file(b"pass phrase", "secret"), run.file(bytes(4 << 20), "made")
    options = ["--type", "luks1", "-q", "-c", f"twofish-{mode}", "-s", str(8 * LUKS_MODES[mode][0])]
    pbkdf = ["--pbkdf-force-iterations", "1000"]
    done = run_program(executable, "luksFormat", *options, *pbkdf, str(made), str(secret))
    if done.returncode and (b"device-mapper" in done.stderr or b"kernel" in done.stderr):
        pytest.skip(
            "cryptsetup luksFormat encrypts Twofish key material by the kernel (AF_ALG or device mapper),"
            f" and this one offers neither: {done.stderr.decode().splitlines()[-1].strip()}"
        )
    assert done.returncode == 0, done.stderr
    code, out, _ = run("luks1", "check", made, password="pass phrase")
    assert (code, f"twofish-{mode}" in out) == (0, True)


def test_databases_that_pykeepass_makes_with_its_own_twofish(run: Run):
    keepass = load("keepass")
    path = run.directory / "new.kdbx"
    keepass.common.Twofish = keepass.THEIR_TWOFISH
    database = create_database(path, password="password")
    header = database.kdbx.header.value.dynamic_header
    header.cipher_id.data, header.encryption_iv.data = "twofish", secrets.token_bytes(16)
    header.kdf_parameters.data.dict["M"].value = 1 << 20  # bytes of memory for Argon2: quick, not safe
    header.kdf_parameters.data.dict["I"].value = 1
    database.add_entry(database.root_group, "title", "user", "secret", url="https://example.org")
    database.save()
    code, out, err = run("keepass", "list", path, password="password")
    assert (code, out, err) == (0, "title\tuser\thttps://example.org\n", "")
    run.refused("keepass", WRONG_PASSWORD, "list", path, password="passwore")
    data = bytearray(path.read_bytes())
    data[-40] ^= 1
    run.refused("keepass", DAMAGED, "list", run.file(bytes(data)), password="password")


def make_safe(password: bytes, entries: list[dict[int, bytes]]) -> bytes:
    """A Password Safe V3 file: the other direction of the recipe, by the format's description."""
    salt, iterations, key, mac_key, iv = (
        secrets.token_bytes(32),
        2048,
        *(secrets.token_bytes(n) for n in (32, 32, 16)),
    )
    stretched = hashlib.sha256(password + salt).digest()
    for _ in range(iterations):
        stretched = hashlib.sha256(stretched).digest()
    fields = [(0, b"\x0d\x03"), (0xFF, b"")]
    for entry in entries:
        fields += [*entry.items(), (0xFF, b"")]
    records = b""
    for kind, value in fields:
        record = struct.pack("<IB", len(value), kind) + value
        records += record + secrets.token_bytes(-len(record) % 16)
    head = b"PWS3" + salt + struct.pack("<I", iterations) + hashlib.sha256(stretched).digest()
    mac = hmac.new(mac_key, b"".join(value for _, value in fields), "sha256").digest()
    sealed = tk.CBC(key, iv).encrypt(records)
    return head + tk.ECB(stretched).encrypt(key + mac_key) + iv + sealed + b"PWS3-EOFPWS3-EOF" + mac


def test_safes_of_this_run(run: Run):
    entries = [
        {1: secrets.token_bytes(16), 2: b"group", 3: b"title %d" % i, 4: b"me", 6: b"hidden"}
        for i in range(3)
    ]
    data = make_safe(b"pass phrase", entries)
    code, out, _ = run("psafe3", "list", run.file(data), password="pass phrase")
    assert (code, out) == (0, "".join(f"group\ttitle {i}\tme\t\n" for i in range(3)))
    run.refused("psafe3", WRONG_PASSWORD, "list", run.file(data), password="pass phrasf")
    for at in (160, len(data) - 100, len(data) - 1):
        changed = bytearray(data)
        changed[at] ^= 1
        run.refused("psafe3", DAMAGED, "list", run.file(bytes(changed)), password="pass phrase")
    run.refused("psafe3", DAMAGED, "list", run.file(data[:-50]), password="pass phrase")
