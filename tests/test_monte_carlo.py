"""The Monte-Carlo tests of the AES submission: ECB and CBC, both directions, all key sizes.

One record is an outer step: a key, an IV, an input, and what comes out after 10 000 dependent
encryptions or decryptions. The next outer step continues from there under a key that the last
outputs change; 400 outer steps make a chain. Every record of mct.json stands alone.

Blocks depend on each other, so a record costs 10 000 calls and a chain four million. The quick run
takes three records under the backends written in Python and thirty-six under compiled ones; slow
tests take every record under every backend, alone and side by side (`encrypt_each` has one key for
each block), and whole chains under the reference and under the default.
"""

import hashlib
from collections.abc import Callable

import numpy as np
import pytest

import twofishkit as tk
from tests.vectors_io import document, sample, vectors
from twofishkit import backend as backends
from twofishkit.reference.block import expand_key

INNER_STEPS = 10_000
OUTER_STEPS = 400
RECORDS = vectors("mct.json")

#: Backends written in Python, for which ten thousand single blocks take a good part of a second.
SLOW_BACKENDS = ("numpy", "reference")

Blocks = np.ndarray
#: Encrypts or decrypts a block, or many side by side, in place.
Permute = Callable[[Blocks], None]


def as_blocks(data: bytes) -> Blocks:
    return np.frombuffer(data, np.uint8).copy()


def advance(mode: str, permute: Permute, text: Blocks, chain: Blocks) -> tuple[Blocks, Blocks]:
    """Do the inner steps of one outer step; return the last output and the one before it.

    ``text`` is the first input and ``chain`` the IV (not used by ECB). For CBC the two results are
    also the next outer step's input and IV: the text after encryption is the output before the
    last, after decryption it is the last.
    """
    if mode.startswith("ECB"):
        for _ in range(INNER_STEPS - 1):
            permute(text)
        before = text.copy()
        permute(text)
        return text, before
    if mode == "CBC_E_M":
        for _ in range(INNER_STEPS):
            np.bitwise_xor(text, chain, out=text)
            permute(text)
            # The next plaintext is the previous ciphertext, first the IV.
            text, chain = chain, text
        return chain, text
    spare = np.empty_like(text)
    for _ in range(INNER_STEPS):
        np.copyto(spare, text)
        permute(spare)
        np.bitwise_xor(spare, chain, out=spare)
        # The next ciphertext is the plaintext just found.
        text, chain, spare = spare, text, chain
    return text, chain


def single(cipher: tk.Twofish, mode: str) -> Permute:
    function = cipher.encrypt_blocks if "_E_" in mode else cipher.decrypt_blocks

    def permute(text: Blocks) -> None:
        function(text, out=text)

    return permute


def by_reference(key: bytes, mode: str) -> Permute:
    schedule = expand_key(key)
    function = schedule.encrypt_block if "_E_" in mode else schedule.decrypt_block

    def permute(text: Blocks) -> None:
        text[:] = np.frombuffer(function(text.tobytes()), np.uint8)

    return permute


def check_record(record: dict, permute: Permute) -> None:
    iv = record["iv"] or bytes(16)
    last, _ = advance(record["mode"], permute, as_blocks(record["input"]), as_blocks(iv))
    assert last.tobytes() == record["output"], record["id"]


def groups() -> dict[tuple[str, int], list[dict]]:
    """Records by mode and key size."""
    found: dict[tuple[str, int], list[dict]] = {}
    for record in RECORDS:
        found.setdefault((record["mode"], len(record["key"])), []).append(record)
    return found


FIRST_OF_EACH = tuple(group[0] for group in groups().values())


def test_the_records_cover_every_mode_and_key_size():
    modes = ("ECB_E_M", "ECB_D_M", "CBC_E_M", "CBC_D_M")
    assert set(groups()) == {(mode, size) for mode in modes for size in (16, 24, 32)}


@pytest.mark.parametrize("record", FIRST_OF_EACH, ids=lambda r: r["id"])
def test_one_record_of_each_kind_by_the_reference(record):
    check_record(record, by_reference(record["key"], record["mode"]))


def test_records(backend):
    """Three records where a block takes long, else thirty-six, through the public block cipher."""
    chosen = FIRST_OF_EACH[::5] if backend in SLOW_BACKENDS else sample(RECORDS, 36)
    for record in chosen:
        check_record(record, single(tk.Twofish(record["key"]), record["mode"]))


def test_iterated_encryption_is_ofb_of_zeros(backend):
    """Ten thousand dependent encryptions in one call: the last keystream block is the answer."""
    steps = INNER_STEPS
    chosen = [record for record in FIRST_OF_EACH if record["mode"] == "ECB_E_M"]
    for record in chosen[: 1 if backend in SLOW_BACKENDS else None]:
        keystream = tk.OFB(record["key"], record["input"]).encrypt(np.zeros((steps, 16), np.uint8))
        assert keystream[-1].tobytes() == record["output"], record["id"]


@pytest.mark.slow
@pytest.mark.parametrize("record", RECORDS, ids=lambda r: r["id"])
def test_every_record(backend, record):
    check_record(record, single(tk.Twofish(record["key"]), record["mode"]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(groups()), ids=lambda kind: f"{kind[0]}-{8 * kind[1]}")
def test_every_record_side_by_side(backend, kind):
    """All records of one mode and key size at once, each under its own key.

    The reference takes one: it expands a key in 0.7 ms, ten thousand times for each record.
    """
    mode, _ = kind
    records = groups()[kind][: 1 if backend == "reference" else None]
    slots = backends.current().cipher
    each = slots.encrypt_each if "_E_" in mode else slots.decrypt_each
    keys = np.stack([as_blocks(record["key"]) for record in records])
    text = np.stack([as_blocks(record["input"]) for record in records])
    chain = np.stack([as_blocks(record["iv"] or bytes(16)) for record in records])
    last, _ = advance(mode, lambda blocks: each(keys, blocks, blocks), text, chain)
    for record, output in zip(records, last, strict=True):
        assert output.tobytes() == record["output"], record["id"]


CHAINS = document("mct_chain_digest.json")["chains"]


def check_chain(name: str, permute_for: Callable[[bytes, str], Permute]) -> None:
    """Run a whole chain of 400 outer steps. It starts with key, input and IV of zeros."""
    mode_name, bits = name.split("-")
    mode, size = f"{mode_name.upper()}_M", int(bits) // 8
    key, text, chain = bytes(size), as_blocks(bytes(16)), as_blocks(bytes(16))
    digest = hashlib.sha256()
    for _ in range(OUTER_STEPS):
        last, before = advance(mode, permute_for(key, mode), text, chain)
        digest.update(last.tobytes())
        change = (before.tobytes() + last.tobytes())[-size:]
        key = bytes(a ^ b for a, b in zip(key, change, strict=True))
        text, chain = (before, last) if mode == "CBC_E_M" else (last, before)
    assert last.tobytes().hex() == CHAINS[name]["last"]
    assert digest.hexdigest() == CHAINS[name]["sha256"]


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAINS)
def test_whole_chains_by_the_reference(name):
    check_chain(name, by_reference)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAINS)
def test_whole_chains_by_the_default_backend(name):
    """Four million dependent blocks a chain: under the backend that serves users of this machine."""
    check_chain(name, lambda key, mode: single(tk.Twofish(key), mode))
