"""The copies of the public vectors are complete and unchanged."""

import hashlib
import json

import pytest

from tests.vectors_io import VECTORS, document, sample, vectors

SUMS = dict(reversed(line.split("  ")) for line in (VECTORS / "SHA256SUMS").read_text("ascii").splitlines())


def test_every_file_is_as_it_was_copied():
    present = {
        f"./{path.relative_to(VECTORS).as_posix()}"
        for path in VECTORS.rglob("*")
        if path.is_file() and path.name not in ("SHA256SUMS", "README.md", ".gitattributes")
    }
    assert present == set(SUMS)
    for name, digest in SUMS.items():
        assert hashlib.sha256((VECTORS / name).read_bytes()).hexdigest() == digest, name


def test_only_our_own_files_are_in_the_repository():
    """Files of other projects have licences of their own."""
    ours = {entry["file"] for entry in document("real_files.json")["files"] if entry["license"] == "own data"}
    assert {f"real/{path.name}" for path in (VECTORS / "real").iterdir()} == ours


def test_the_copies_are_those_of_the_shared_data(shared_dir):
    for name in SUMS:
        shared = shared_dir / "vectors" / name
        assert shared.read_bytes() == (VECTORS / name).read_bytes(), name


def test_every_shared_vector_file_has_a_copy(shared_dir):
    for pattern in ("*.json", "aes/*.json"):
        for path in (shared_dir / "vectors").glob(pattern):
            name = f"./{path.relative_to(shared_dir / 'vectors').as_posix()}"
            assert name in SUMS, f"{name} is new; copy it and test it"


@pytest.mark.parametrize("name", sorted(n for n in SUMS if n.startswith("./") and n.count("/") == 1))
def test_every_vector_names_a_known_source(name):
    loaded = json.loads((VECTORS / name).read_text("utf-8"))
    for vector in loaded.get("vectors", []):
        if "source" in vector:
            assert vector["source"] in loaded["sources"]


def test_ids_are_unique():
    for name in SUMS:
        if name.count("/") == 1 and "vectors" in document(name[2:]):
            ids = [vector["id"] for vector in vectors(name[2:])]
            assert len(set(ids)) == len(ids), name


def test_sample_keeps_both_ends():
    records = vectors("ecb_kat.json")
    chosen = sample(records, 10)
    assert len(chosen) == 10
    assert chosen[0] is records[0]
    assert chosen[-1] is records[-1]
    assert sample(records[:3], 10) == records[:3]
