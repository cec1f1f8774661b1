"""The construction's published AES-GCM vectors, through the same code that seals with Twofish.

Source: C2SP/wycheproof, testvectors_v1/c2sp_chunked_encryption_aes_{128,256}_gcm_test.json. Its
flags say how an invalid message fails, and each of them is checked as such.
"""

import hashlib
import io
import zlib

import numpy as np
import pytest

from tests.sealed.aes_gcm import aes_gcm
from tests.vectors_io import wycheproof
from twofishkit.errors import FormatError, InvalidKey, InvalidTag, WrongKey
from twofishkit.sealed import pipes, stream
from twofishkit.sealed.stream import CHUNK_BYTES, PREFIX_BYTES, ChunkedMessage

CASES = [
    pytest.param(bits, case, id=f"{bits}-{case['tcId']}-{case['comment'].replace(' ', '-')}")
    for bits in (128, 256)
    for case in wycheproof(f"c2sp_chunked_encryption_aes_{bits}_gcm_test.json")
]
TAG = 16
SEALED_CHUNK = CHUNK_BYTES + TAG


def sealed_bytes(case):
    ct = case["ct"] if isinstance(case["ct"], bytes) else bytes.fromhex(case["ct"])
    return zlib.decompress(ct)


def resume(bits, case):
    context = bytes.fromhex(case["ctx"])
    return ChunkedMessage.resume(aes_gcm(bits), case["key"], context, sealed_bytes(case)[:PREFIX_BYTES])


def open_whole(message, chunks):
    """One-shot, as `unseal` does it."""
    out = np.empty(max(len(chunks), 1), np.uint8)
    return out[: message.open(0, np.frombuffer(chunks, np.uint8), out, last=True)].tobytes()


def open_streaming(message, chunks):
    """From a pipe, as the command line does it."""
    source = io.BytesIO(chunks)
    return b"".join(part.tobytes() for part in pipes.open_batches(message, source.readinto))


def leading_chunks(message, chunks):
    """The longest prefix that is valid chunk by chunk."""
    prefix = b""
    for k in range(len(chunks) // SEALED_CHUNK):
        out = np.empty(CHUNK_BYTES, np.uint8)
        piece = np.frombuffer(chunks, np.uint8, SEALED_CHUNK, k * SEALED_CHUNK)
        try:
            message.open(k, piece, out, last=False)
        except InvalidTag:
            break
        prefix += out.tobytes()
    return prefix


def final_chunk_is_valid(message, chunks):
    k, rest = divmod(len(chunks), SEALED_CHUNK)
    try:
        message.open(
            k,
            np.frombuffer(chunks[len(chunks) - rest :], np.uint8),
            np.empty(CHUNK_BYTES, np.uint8),
            last=True,
        )
    except (InvalidTag, FormatError):
        return False
    return True


@pytest.mark.parametrize(("bits", "case"), CASES)
def test_derivation(bits, case):
    if "HeaderFailure" in case["flags"]:
        if "InvalidKeySize" in case["flags"]:
            expected = InvalidKey
        else:
            expected = FormatError if "Truncation" in case["flags"] else WrongKey
        with pytest.raises(expected):
            resume(bits, case)
        return
    salt = sealed_bytes(case)[: stream.SALT_BYTES]
    key, nonce, _ = stream.derive(aes_gcm(bits), case["key"], salt, bytes.fromhex(case["ctx"]))
    assert (key.hex(), nonce.hex()) == (case["aeadKey"], case["baseNonce"])


@pytest.mark.parametrize("open_message", [open_whole, open_streaming])
@pytest.mark.parametrize(("bits", "case"), [c for c in CASES if c.values[1]["result"] == "valid"])
def test_valid(bits, case, open_message):
    sealed = sealed_bytes(case)
    message = open_message(resume(bits, case), sealed[PREFIX_BYTES:])
    assert len(message) == case["msgLength"]
    assert hashlib.sha512(message).hexdigest() == case["msgSha512"]
    # The construction is deterministic given the salt: sealing gives the published bytes again.
    again = ChunkedMessage.create(
        aes_gcm(bits), case["key"], bytes.fromhex(case["ctx"]), salt=sealed[: stream.SALT_BYTES]
    )
    out = np.empty(len(sealed) - PREFIX_BYTES, np.uint8)
    assert again.seal(0, np.frombuffer(message, np.uint8), out, last=True) == out.size
    assert again.prefix + out.tobytes() == sealed


@pytest.mark.parametrize("open_message", [open_whole, open_streaming])
@pytest.mark.parametrize(
    ("bits", "case"),
    [c for c in CASES if c.values[1]["result"] == "invalid" and "HeaderFailure" not in c.values[1]["flags"]],
)
def test_invalid(bits, case, open_message):
    flags = case["flags"]
    chunks = sealed_bytes(case)[PREFIX_BYTES:]
    with pytest.raises((InvalidTag, FormatError)):
        open_message(resume(bits, case), chunks)
    prefix = leading_chunks(resume(bits, case), chunks)
    if "PartialPlaintext" in flags:
        assert len(prefix) == case["msgLength"]
        assert hashlib.sha512(prefix).hexdigest() == case["msgSha512"]
    else:
        assert prefix == b""
    assert final_chunk_is_valid(resume(bits, case), chunks) == ("ValidFinalChunk" in flags)


def test_every_vector_is_there():
    assert len(CASES) == 70
    results = [case.values[1]["result"] for case in CASES]
    assert set(results) == {"valid", "invalid"}
