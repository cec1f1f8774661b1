"""TrueCrypt volumes of versions 2 to 4: known sectors, volumes made here, and cryptsetup's images if there.

The images are ``tests/tcrypt-images.tar.xz`` in cryptsetup's repository; TWOFISHKIT_TCRYPT_IMAGES names the
directory with them.
"""

import os
import secrets
import struct
import zlib
from pathlib import Path

import pytest
from Cryptodome.Cipher import AES
from Cryptodome.Hash import SHA1
from Cryptodome.Protocol.KDF import PBKDF2

import twofishkit as tk
from tests.recipes.conftest import FILES, Run, load, of_kind, sha256

WRONG_PASSWORD, WRONG_FORMAT, DAMAGED = 3, 4, 5
IMAGES = os.environ.get("TWOFISHKIT_TCRYPT_IMAGES", "")

#: What every image begins with: the boot sector of a FAT file system, up to its serial number.
BOOT_SECTOR = bytes.fromhex("eb3c904d53444f53352e3000020102000200022500f80100010001000000000000000000000029")
#: Mode, ciphers, keys of the volume, the beginning of its first sector, the serial number.
#: Source: cryptsetup 38f95b7, tests/tcrypt-images.tar.xz, the file named (the second: its hidden volume).
KNOWN = {
    "tc_2-ripemd160-lrw-twofish": (
        "LRW", "twofish",
        "1d022d60b4f310eaadc701a5bee5f34eb91fedf3799b93c0327c1094dc68cbb0"
        "4fb5ec30d4a726ff789045b57afc828af3d3d69fb263fc232d91ac85872fe49e",
        "919e31140152f294766eee637b7ae254e6b0c3feeb63803a8aa92c1e9689b48473c264dea67c0b665b0f2a486fec1c46",
        "bebaadde",
    ),
    "tc_2-ripemd160-lrw-serpent-twofish-aes-hidden": (
        "LRW", "serpent-twofish-aes",
        "324d4f80d29ddbefe5196a3248c1f53c25c1d2fd91ed6ab4e85d2f8cc44ec4385a25447fb503e3c45b160b59c4e56afd"
        "1de4f6b680bb303a65481e531ae183d4e164722c8573070ec090ecdbd89e590a0d2bd1e493de2dc73b54dc68903b829b"
        "5d6551ba86fdd7525d0e04ba8e3d93b9547010bfb99d319533c66c96ebb4f769",
        "758b9aa59599b6176a72b65e032a94d659a9a0f94a3c2cbae6db70f334488365f8dec12a9e32b208eaf5febe75640847",
        "bebafeca",
    ),
    "tc_2-ripemd160-cbc-twofish": (
        "CBC", "twofish",
        "efaa7a4a5179937ca79943721dcdae1709e63603ea21a30cf4bbebea5b34b7c6"
        "f5c1ba02b4c1bb97d7e72a3b22bf860e5122b3ef914466c5b42af7b6d37e2e54",
        "6e97cee22b0e195814ff0611dafd0e66cd17527ba645c668bc6c0d1d182013084b582776be0a111c937761ba3360acc2",
        "bebaadde",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_known_sectors(name):
    mode, cascade, keys, ciphertext, serial = KNOWN[name]
    recipe = load("tcrypt_old")
    volume = recipe.Volume(mode, cascade, "RIPEMD160", b"", bytes.fromhex(keys))
    sector = bytes.fromhex(ciphertext).ljust(512, b"\0")
    expected = BOOT_SECTOR + bytes.fromhex(serial)
    assert recipe.decrypt(volume, sector, 0)[: len(expected)] == expected
    assert recipe.decrypt(volume, sector * 2, 0)[512 : 512 + len(expected)] != expected


@pytest.mark.parametrize(
    "entry", [e for e in of_kind("tcrypt") if "-xts-" not in e["id"]], ids=lambda e: e["id"]
)
def test_stored_headers(entry, real, run: Run):
    path = run.file(real(entry) + bytes(512))
    code, out, err = run("tcrypt_old", "info", path, password=entry["password"])
    assert (code, err) == (0, "")
    assert f"twofish in {entry['regions'][0]['mode']}, RIPEMD160, 512 bytes from 512" in out
    run.refused("tcrypt_old", WRONG_PASSWORD, "info", path, password="wrong")


def times(tweak: int, number: int) -> int:
    """The product of two elements of GF(2^128), modulo x^128 + x^7 + x^2 + x + 1, bit by bit."""
    product = 0
    for bit in reversed(range(number.bit_length())):
        product <<= 1
        if product >> 128:
            product ^= 1 << 128 | 0x87
        if number >> bit & 1:
            product ^= tweak
    return product


def lrw_encrypt(cascade: str, keys: bytes, data: bytes, first: int) -> bytes:
    """LRW by its definition, a block at a time; the cipher named last goes first."""
    tweak, result = int.from_bytes(keys[:16]), []
    for at in range(0, len(data), 16):
        mask = times(tweak, first + at // 16).to_bytes(16)
        block = tk.ECB(keys[32:64]).encrypt(tk.xor(data[at : at + 16], mask))
        if cascade == "aes-twofish":
            block = AES.new(keys[64:96], AES.MODE_ECB).encrypt(block)
        result.append(tk.xor(block, mask))
    return b"".join(result)


def make_header(cascade: str, keys: bytes, password: bytes, hidden_bytes: int = 0) -> bytes:
    salt = secrets.token_bytes(64)
    plain = b"TRUE" + struct.pack(">HHI16xQ", 2, 0x100, zlib.crc32(keys), hidden_bytes)
    derived = PBKDF2(password, salt, 128, 2000, hmac_hash_module=SHA1)
    return salt + lrw_encrypt(cascade, derived, plain.ljust(192, b"\0") + keys, 1)


def test_volumes_made_here(run: Run):
    """A volume and a hidden one in the same file, each opened by its own password."""
    cascade = "aes-twofish"
    keys, inner_keys = secrets.token_bytes(256), secrets.token_bytes(256)
    outer, inner = secrets.token_bytes(6 * 512), secrets.token_bytes(5 * 512)
    whole = make_header(cascade, keys, b"outside") + lrw_encrypt(cascade, keys, outer, 1)
    whole += lrw_encrypt(cascade, inner_keys, inner, 1)
    whole += make_header(cascade, inner_keys, b"inside", len(inner)) + bytes(1024)
    path = run.file(whole)
    for password, hidden, contents in (("outside", [], outer), ("inside", ["--hidden"], inner)):
        decrypt = ["decrypt", path, *hidden, "--output", run.output]
        assert run("tcrypt_old", *decrypt, password=password) == (0, "", "")
        assert run.output.read_bytes()[: len(contents)] == contents
        run.output.unlink()
    run.refused("tcrypt_old", WRONG_PASSWORD, *decrypt, password="outside")
    code, out, _ = run("tcrypt_old", "info", path, *hidden, password="inside")
    assert (code, f"{cascade} in LRW, SHA1, {len(inner)} bytes" in out) == (0, True)
    assert run.file(whole[:-1]).stat().st_size % 512
    assert "cut off" in run.refused("tcrypt_old", DAMAGED, *decrypt, password="inside")
    changed = bytearray(whole)
    changed[400] ^= 1
    run.file(bytes(changed))
    message = run.refused("tcrypt_old", DAMAGED, "decrypt", path, "--output", run.output, password="outside")
    assert "checksum" in message


def test_sectors_of_cascades_in_cbc_are_refused():
    recipe = load("tcrypt_old")
    with pytest.raises(recipe.Refused, match="not decrypted here"):
        recipe.decrypt(recipe.Volume("CBC", "aes-twofish", "SHA1", b"", bytes(256)), bytes(512), 0)


def test_a_hidden_volume_of_truecrypt_5(real, run: Run):
    """Its header is 1536 bytes before the end of the file, as in the versions before."""
    entry = FILES["tcrypt-tc_3-sha512-xts-serpent-twofish-aes-hidden"]
    data, live = real(entry), entry["regions"][1:]
    start, size = live[0]["original_offset"], 40960
    whole = bytearray(size)
    whole[size - 1536 : size - 1024] = data[:512]
    for region in live:
        ((at, length),) = region["pieces"]
        whole[region["original_offset"] : region["original_offset"] + length] = data[at : at + length]
    path = run.file(bytes(whole))
    code, out, _ = run("tcrypt", "info", path, "--hidden", password=entry["password"])
    assert (code, f"{size - 1536 - start} bytes from {start}" in out) == (0, True)
    decrypt = ["decrypt", path, "--hidden", "--output", run.output]
    assert run("tcrypt", *decrypt, password=entry["password"])[0] == 0
    contents = run.output.read_bytes()
    for region in live:
        sector = contents[region["original_offset"] - start :][:512]
        assert sha256(sector) == region["final_plaintext_sha256"]


@pytest.mark.skipif(not IMAGES, reason="TWOFISHKIT_TCRYPT_IMAGES does not name cryptsetup's tcrypt-images")
@pytest.mark.parametrize("hidden", [False, True], ids=["outer", "hidden"])
def test_cryptsetups_images(hidden, run: Run):
    """All of them with Twofish: the file system within has the serial number that cryptsetup tests for."""
    files = sorted(Path(IMAGES).glob("tc_*twofish*-hidden" if hidden else "[tv]c_*twofish*"))
    assert len(files) == (5 if hidden else 32)
    serial, password = ("bebafeca", "b" * 12) if hidden else ("bebaadde", "a" * 12)
    for file in files:
        recipe = "tcrypt_old" if file.name.startswith("tc_2") else "tcrypt"
        options = ["decrypt", file, *(["--hidden"] if hidden else []), "--output", run.output]
        if "-cbc-" in file.name and file.name != "tc_2-ripemd160-cbc-twofish":
            run.refused(recipe, WRONG_FORMAT, *options, password=password)
            continue
        assert run(recipe, *options, password=password)[0] == 0, file
        contents = run.output.read_bytes()
        assert contents[39:43].hex() == serial, file
        assert contents[510:512] == b"\x55\xaa", file
        run.output.unlink()
