"""Messages of more than 4 GiB: lengths that do not fit in 32 bits. Minutes and gigabytes; -m slow.

Legrandin/pycryptodome 226: a hang above 4 GiB. pyca/cryptography 5003: a 2.1 GiB array overflowed an int32.
The data are sparse files, mapped into memory, so that disk and not memory holds them.
"""

from pathlib import Path

import numpy as np
import pytest

import twofishkit as tk

pytestmark = pytest.mark.slow

#: 4 GiB and one block.
N = (1 << 32) + 16
KEY, IV = bytes(range(32)), b"\xff" * 12 + b"\xf0\0\0\0"


@pytest.fixture
def sparse(tmp_path: Path):
    """Zeros of N bytes that take no room until they are written, and none again afterwards."""
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(N)
    mapped = np.memmap(path, np.uint8, "r+")
    yield mapped
    del mapped
    path.unlink()


def keystream(first_block: int, n_blocks: int) -> bytes:
    """Blocks of the keystream from the block cipher itself."""
    start = int.from_bytes(IV)
    counters = b"".join(((start + first_block + i) % (1 << 128)).to_bytes(16) for i in range(n_blocks))
    return tk.ECB(KEY).encrypt(counters)


#: Blocks to look at: the ends, 2 GiB, 4 GiB, and the carry out of the last 32 bits of the counter.
PLACES = [0, 1, (1 << 27) - 2, 1 << 27, (1 << 28) - 2, (1 << 28) - 1, 1 << 28]


def check(data: np.ndarray) -> None:
    for block in PLACES:
        n = min(3, (1 << 28) + 1 - block)
        assert data[16 * block :][: 16 * n].tobytes() == keystream(block, n), block


def test_ctr_in_place_on_a_mapped_file(sparse):
    mode = tk.CTR(KEY, IV)
    assert mode.encrypt(sparse, out=sparse) is sparse
    check(sparse)
    mode.decrypt(sparse, out=sparse)
    assert all(not sparse[i : i + (1 << 28)].any() for i in range(0, N, 1 << 28))


def test_ctr_to_bytes(sparse):
    """A result in bytes is not copied: it alone is in memory."""
    found = tk.CTR(KEY, IV).encrypt(memoryview(sparse))
    assert type(found) is bytes
    assert len(found) == N
    check(np.frombuffer(found, np.uint8))


def test_ctr_in_pieces_beyond_four_gib(sparse):
    context = tk.CTR(KEY, IV).encryptor()
    step = (1 << 31) + 7
    for i in range(0, N, step):
        piece = sparse[i : i + step]
        context.update(piece, out=piece)
    check(sparse)


def test_cbc_decryption_and_padding_in_place(sparse):
    """Decryption of zeros is D(0), and in the first block D(0) ^ iv."""
    block = np.frombuffer(tk.ECB(KEY).decrypt(bytes(16)), np.uint8)
    tk.CBC(KEY, bytes(16)).decrypt(sparse, out=sparse)
    for i in (0, 1 << 31, (1 << 32) - 16, 1 << 32):
        assert np.array_equal(sparse[i : i + 16], block)
    with pytest.raises(tk.InvalidPadding):
        tk.CBC(KEY, bytes(16)).decrypt(sparse, padding="pkcs7")


def test_xts_sectors_on_a_mapped_file(sparse):
    whole = sparse[: 1 << 32]
    tk.XTS(KEY).encrypt(whole, 2**64 - 5, sector_size=4096, out=whole)
    for sector in (0, 4, 5, 6, (1 << 20) - 1):
        expected = tk.XTS(KEY).encrypt(bytes(4096), 2**64 - 5 + sector)
        assert whole[4096 * sector :][:4096].tobytes() == expected
    assert not sparse[1 << 32 :].any()


def test_xts_stealing_beyond_four_gib(sparse):
    """One data unit; the last blocks and the block stolen from are beyond 4 GiB."""
    unit = sparse[: N - 3]
    tk.XTS(KEY).encrypt(unit, 0, out=unit)
    tk.XTS(KEY).decrypt(unit, 0, out=unit)
    assert not unit[:4096].any()
    assert not unit[-4096:].any()


def test_limit_on_blocks_at_full_size(sparse):
    """Within the limit of a 32-bit counter, which wraps on the way: 2^28 + 1 blocks."""
    mode = tk.CTR(KEY, b"\xff" * 16, counter_bits=32)
    mode.encrypt(sparse, out=sparse)
    for block in (0, 1, 1 << 28):
        counter = b"\xff" * 12 + ((block - 1) % (1 << 32)).to_bytes(4)
        assert sparse[16 * block :][:16].tobytes() == tk.ECB(KEY).encrypt(counter)


def test_xor_beyond_four_gib(sparse):
    sparse[-1] = 1
    assert tk.xor(sparse, sparse, sparse) is sparse
    assert sparse[-1] == 0
