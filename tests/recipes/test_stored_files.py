"""Every stored file of another program opens through its whole format, to the contents that are known."""

import base64
import hashlib
import json
import re

import pytest

from tests.recipes.conftest import FILES, Run, by_id, load, of_kind, sha256

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5


def stored(kind: str):
    return pytest.mark.parametrize("entry", of_kind(kind), ids=by_id)


@stored("psafe3")
def test_psafe3(entry, real, run: Run):
    path = run.file(real(entry))
    if not entry["hmac_sha256_matches"]:
        for command in ("verify", "list", "export"):
            message = run.refused(
                "psafe3", DAMAGED, command, path, "--output", run.output, password=entry["password"]
            )
            assert "altered or damaged" in message
        return
    code, out, err = run("psafe3", "verify", path, password=entry["password"])
    assert (code, err) == (0, "")
    assert "intact" in out
    assert run("psafe3", "export", path, "--output", run.output, password=entry["password"])[0] == 0
    exported = json.loads(run.output.read_text("utf-8"))
    listed = run("psafe3", "list", path, password=entry["password"])[1].splitlines()
    assert len(exported) == len(listed) == int(re.search(r"(\d+) entries", out)[1]) > 0
    for line, entry_ in zip(listed, exported, strict=True):
        assert entry_["title"] in line
        assert len(entry_["uuid"]) == 36
        assert not entry_["password"] or entry_["password"] not in line
    run.output.unlink()
    run.refused("psafe3", WRONG_PASSWORD, "export", path, "--output", run.output, password="wrong")


def test_psafe3_contents(real, run: Run):
    path = run.file(real(FILES["psafe3-gopwsafe-three"]))
    _, out, _ = run("psafe3", "list", path, password="three3#;")
    assert [line.split("\t")[1] for line in out.splitlines()] == [
        "three entry 1",
        "three entry 2",
        "three entry 3",
    ]


def keyfile_of(entry: dict, run: Run) -> list:
    """The option for the key file, if the database has one: its 32 bytes are known."""
    key = entry.get("keyfile_key")
    return ["--keyfile", run.file(bytes.fromhex(key), "keyfile")] if key else []


@stored("kdbx")
def test_keepass(entry, real, run: Run):
    path, keyfile = run.file(real(entry), "db.kdbx"), keyfile_of(entry, run)
    code, out, err = run("keepass", "list", path, *keyfile, password=entry["password"])
    assert (code, err) == (0, "")
    assert out.count("\n") >= 1
    assert (
        run("keepass", "export", path, *keyfile, "--output", run.output, password=entry["password"])[0] == 0
    )
    assert b"<KeePassFile>" in run.output.read_bytes()
    run.output.unlink()
    run.refused("keepass", WRONG_PASSWORD, "export", path, *keyfile, "--output", run.output, password="wrong")


def test_keepass_compares(real, run: Run):
    path = run.file(real(FILES["kdbx3-KeePassKit"]), "db.kdbx")
    code, out, err = run("keepass", "list", path, "--compare", password="test")
    assert (code, out.count("\n")) == (0, 2)
    assert re.search(r"opened in .* in twofishkit; with pykeepass' own Twofish in .* \d+ times", err)


def test_keepass_writes_what_pykeepass_alone_reads(real, run: Run):
    keepass = load("keepass")
    path = run.file(real(FILES["kdbx-keepass-rs-argon2"]), "db.kdbx")
    keepass.use_our_twofish()
    database = keepass.open_database(path, "demopass", None)
    database.add_entry(database.root_group, "new entry", "user", "secret")
    database.save()
    keepass.common.Twofish = keepass.THEIR_TWOFISH
    again = keepass.PyKeePass(path, password="demopass")
    assert again.find_entries(title="new entry", first=True).password == "secret"
    assert again.encryption_algorithm == "twofish"


def test_keepass_tells_its_formats_apart(real, run: Run):
    entry = FILES["kdb1-KeePassKit"]
    message = run.refused("keepass", WRONG_FORMAT, "list", run.file(real(entry)), password=entry["password"])
    assert "keepass1.py" in message


@stored("kdb1")
def test_keepass1(entry, real, run: Run):
    path = run.file(real(entry))
    code, out, err = run("keepass1", "list", path, password=entry["password"])
    assert (code, err) == (0, "")
    assert out.splitlines() == ["Internet\tMeta-Info\tSYSTEM\t$"] * 2
    assert run("keepass1", "export", path, "--output", run.output, password=entry["password"])[0] == 0
    notes = [record["notes"] for record in json.loads(run.output.read_text("utf-8"))]
    assert notes == ["KPX_CUSTOM_ICONS_4", "KPX_GROUP_TREE_STATE"]
    run.output.unlink()
    run.refused("keepass1", WRONG_PASSWORD, "export", path, "--output", run.output, password="wrong")


@stored("uber-keystore")
def test_uber(entry, real, run: Run):
    path = run.file(real(entry))
    code, out, err = run("uber", "list", path, password=entry["password"])
    assert (code, err) == (0, "")
    names = (
        ["sealed_private_key", "sealed_public_key", "sealed_secret_key"] if "custom" in entry["id"] else []
    )
    assert [line.split("\t")[0] for line in out.splitlines()] == names
    run.refused("uber", WRONG_PASSWORD, "list", path, password="wrong")


def test_uber_unseals_keys_under_passwords_of_their_own(real, run: Run):
    from cryptography.hazmat.primitives.serialization import load_der_private_key, load_der_public_key

    entry = FILES["uber-custom_entry_passwords"]
    path, keys = run.file(real(entry)), {}
    # The passwords that the generator of the file gave its entries.
    for name in ("private", "public", "secret"):
        password = run.file(f"{name}_password\n".encode(), f"{name}.txt")
        arguments = [
            "--alias",
            f"sealed_{name}_key",
            "--entry-password-file",
            password,
            "--output",
            run.output,
        ]
        code, _, err = run("uber", "export", path, *arguments, password=entry["password"])
        assert code == 0, err
        keys[name] = run.output.read_bytes()
        run.output.unlink()
        arguments[3] = run.file(b"wrong\n", "wrong.txt")
        run.refused("uber", WRONG_PASSWORD, "export", path, *arguments, password=entry["password"])
    private, public = load_der_private_key(keys["private"], None), load_der_public_key(keys["public"])
    assert (private.key_size, public.key_size, len(keys["secret"])) == (1024, 1024, 16)


@stored("mcrypt")
def test_mcrypt(entry, real, run: Run):
    (region,) = entry["regions"]
    path = run.file(real(entry))
    code, out, err = run("mcrypt", path, "--output", run.output, password=region["key"])
    assert (code, out, err) == (0, "", "")
    contents = run.output.read_bytes()
    assert (len(contents), sha256(contents)) == (region["payload_len"], region["payload_sha256"])
    run.output.unlink()
    run.refused("mcrypt", WRONG_PASSWORD, path, "--output", run.output, password="00" * 32)
    run.refused("mcrypt", WRONG_PASSWORD, path, "--output", run.output, password="not hexadecimal")


@stored("openpgp")
def test_openpgp(entry, real, run: Run):
    path = run.file(real(entry))
    key = ["--session-key", f"10:{entry['regions'][0]['key']}"]
    unprotected = ["--allow-unprotected"] if "nomdc" in entry["id"] else []
    ways = [(key, None)] if entry["password"] is None else [(key, None), ([], entry["password"])]
    for arguments, password in ways:
        code, out, err = run(
            "openpgp", path, *arguments, *unprotected, "--output", run.output, password=password
        )
        assert (code, out, err) == (0, "", "")
        contents = run.output.read_bytes()
        assert (len(contents), sha256(contents)) == (entry["message_len"], entry["message_sha256"])
        run.output.unlink()
    run.refused("openpgp", WRONG_PASSWORD, path, *unprotected, "--output", run.output, password="wrong")
    wrong = ["--session-key", "10:" + "00" * 32, *unprotected]
    run.refused("openpgp", WRONG_PASSWORD, path, *wrong, "--output", run.output)
    if unprotected:
        message = run.refused(
            "openpgp", WRONG_FORMAT, path, "--output", run.output, password=entry["password"]
        )
        assert "--allow-unprotected" in message


def test_openpgp_armour(real, run: Run):
    """Messages as text, with what is around them; where characters are missing, that is said."""
    entry = FILES["pgp-gpg-raw20k"]
    text = base64.encodebytes(real(entry)).rstrip(b"\n")
    key = ["--session-key", f"10:{entry['regions'][0]['key']}", "--output", run.output]
    for newline in (b"\n", b"\r\n"):
        lines = [
            b"a letter:",
            b"-----BEGIN PGP MESSAGE-----",
            b"Comment: none",
            b"",
            *text.split(b"\n"),
            b"=aaaa",
        ]
        whole = newline.join([*lines, b"-----END PGP MESSAGE-----", b"end of letter"])
        assert run("openpgp", run.file(whole), *key)[0] == 0
        assert sha256(run.output.read_bytes()) == entry["message_sha256"]
        run.output.unlink()
        for at in (300, 301, 302, 303, 1000):
            run.refused("openpgp", DAMAGED, run.file(whole[:at] + whole[at + 1 :]), *key)
        run.refused("openpgp", DAMAGED, run.file(whole.replace(lines[-2][-9:], b"")), *key)


def volume_of(entry: dict, data: bytes) -> bytes:
    """A stored volume with its header and live sectors where they were in the original, zeros between."""
    live = [(region["original_offset"], region["pieces"][0]) for region in entry["regions"][1:]]
    end = max([512, 65536 + 512 * entry.get("hidden", False), *(offset + 512 for offset, _ in live)])
    volume = bytearray(end)
    at = 65536 if entry.get("hidden") else 0
    volume[at : at + 512] = data[:512]
    for offset, (start, length) in live:
        volume[offset : offset + length] = data[start : start + length]
    return bytes(volume)


XTS, OLD = ([e for e in of_kind("tcrypt") if ("-xts-" in e["id"]) is xts] for xts in (True, False))


@pytest.mark.parametrize("entry", XTS, ids=by_id)
def test_tcrypt(entry, real, run: Run):
    data = real(entry)
    tcrypt = load("tcrypt")
    volume = tcrypt.open_header(data[:512], entry["password"].encode())
    assert volume.cascade == "-".join(entry["cascade"])
    assert volume.version == entry["header_version"]
    for region in entry["regions"][1:]:
        ((start, length),) = region["pieces"]
        sector = data[start : start + length]
        plaintext = tcrypt.decrypt(volume.cascade, volume.keys, sector, region["data_unit"])
        assert sha256(plaintext) == region.get("final_plaintext_sha256", region["plaintext_sha256"])
        if not entry.get("hidden") or volume.version >= 4:
            assert region["data_unit"] == region["original_offset"] // 512
            assert volume.data_at <= region["original_offset"] < volume.data_at + volume.data_bytes
    assert len(entry["regions"]) == 4


WHOLE = [e for e in of_kind("tcrypt") if e["id"].startswith("tcrypt-tc_") and e.get("header_version", 0) >= 4]


@pytest.mark.parametrize("entry", [*WHOLE[:2], *(e for e in WHOLE if e["hidden"])], ids=by_id)
def test_tcrypt_command_line(entry, real, run: Run):
    data = real(entry)
    volume = load("tcrypt").open_header(data[:512], entry["password"].encode())
    whole = volume_of(entry, data).ljust(volume.data_at + volume.data_bytes, b"\0")
    path, hidden = run.file(whole), ["--hidden"] if entry["hidden"] else []
    code, out, _ = run("tcrypt", "info", path, *hidden, password=entry["password"])
    assert code == 0
    assert "-".join(entry["cascade"]) in out
    decrypt = ["decrypt", path, *hidden, "--output", run.output]
    assert run("tcrypt", *decrypt, password=entry["password"])[0] == 0
    contents = run.output.read_bytes()
    assert len(contents) == volume.data_bytes
    for region in entry["regions"][1:]:
        at = region["original_offset"] - volume.data_at
        assert sha256(contents[at : at + 512]) == region["final_plaintext_sha256"]
    run.output.unlink()
    run.file(whole[:-1])
    assert "cut off" in run.refused("tcrypt", DAMAGED, *decrypt, password=entry["password"])


def test_tcrypt_wrong_password_and_damaged_keys(real, run: Run, monkeypatch):
    tcrypt = load("tcrypt")
    monkeypatch.setattr(
        tcrypt, "KDFS", tuple(kdf for kdf in tcrypt.KDFS if kdf[0] == b"TRUE")
    )  # VERA's take seconds
    entry = FILES["tcrypt-tc_5-sha512-xts-twofish"]
    header = bytearray(real(entry)[:512])
    run.refused("tcrypt", WRONG_PASSWORD, "info", run.file(bytes(header)), password="wrong")
    header[300] ^= 1
    assert "checksum" in run.refused(
        "tcrypt", DAMAGED, "info", run.file(bytes(header)), password=entry["password"]
    )


@stored("luks")
def test_luks1(entry, real, run: Run):
    data, luks1 = real(entry), load("luks1")
    header = luks1.Header(data[:592])
    assert f"{header.chaining}-{header.iv_rule}" == entry["iv_rule"]
    start, length = entry["whole_payload"]
    # Where things were before the file was cut: key material at its sector, payload at its own.
    volume = bytearray(header.payload_sector * 512)
    volume[:592] = data[:592]
    if entry["key_material"]:
        at, size = entry["key_material"]
        volume[header.slots[0][2] * 512 : header.slots[0][2] * 512 + size] = data[at : at + size]
    path = run.file(bytes(volume) + data[start : start + length])
    master_key = ["--master-key", run.file(bytes.fromhex(entry["master_key"]), "mk")]
    ways = [(master_key, None)] + ([([], entry["password"])] if entry["key_material"] else [])
    for arguments, password in ways:
        code, out, _ = run("luks1", "check", path, *arguments, password=password)
        assert code == 0
        assert entry["iv_rule"] in out
        assert run("luks1", "decrypt", path, *arguments, "--output", run.output, password=password)[0] == 0
        assert hashlib.sha256(run.output.read_bytes()).hexdigest() == entry["whole_payload_sha256"]
        run.output.unlink()
    decrypt = ["decrypt", path, "--output", run.output]
    run.refused("luks1", WRONG_PASSWORD, *decrypt, password="wrong")
    run.refused("luks1", WRONG_PASSWORD, *decrypt, "--master-key", run.file(bytes(header.key_bytes), "mk0"))
    run.file((bytes(volume) + data[start : start + length])[:-1])
    assert "cut off" in run.refused("luks1", DAMAGED, *decrypt, *master_key)
