"""GHASH and POLYVAL with NumPy, without a JIT: a thousand blocks multiplied at once.

A product by a fixed element P is linear in the other factor: the XOR of one entry for each of its 16
bytes, from 16 tables of 256 blocks (64 KiB). One `numpy.take` looks all of them up for many blocks.

A long message is dealt out over L lanes, L a power of two: a step multiplies all lanes by H^L and
adds the next L blocks; at the end halves are joined, c[j] = a[j] . H^(L/2) ^ a[j + L/2], until one
lane is left, and a last product by H closes the polynomial. The tables of H, H^2, H^4 ... H^L are
made when a message is first long enough to need them: up to 704 KiB a key. Short messages go byte by
byte through one table of 256 integers (Horner, 3 us a block).

Cost: about 2 ns a byte long, 200 ns a byte short. Timing: depends on key and data, through table
indices: not constant.
"""

import numpy as np
import numpy.typing as npt

from twofishkit.slots import Bytes, GhashSlots

Words = npt.NDArray[np.uint64]

#: Lanes at most; the look-ups of one step then fill 256 KiB.
LANES = 1024
#: From this many blocks on the lanes are worth their tables.
LONG_BLOCKS = 64

#: SP 800-38D, 6.3: R = 11100001 || 0^120; the first bit of a block is the coefficient of x^0.
_R = 0xE1 << 120
_TABLE_STARTS = (np.arange(16, dtype=np.intp) << 8).reshape(16, 1)


def _times_x(v: int) -> int:
    return (v >> 1) ^ (_R if v & 1 else 0)


def _powers_of_x(element: int, count: int) -> list[int]:
    """element, element . x, element . x^2, ..."""
    powers = [element]
    for _ in range(count - 1):
        powers.append(_times_x(powers[-1]))
    return powers


def _byte_table(basis: list[int]) -> list[int]:
    """The sum of basis[j] over the bits of each byte, bit 0 of the paper (0x80) first."""
    table = [0]
    for element in reversed(basis):
        table += [element ^ entry for entry in table]
    return table


# What the byte that a product by x^8 shifts out comes back as.
_FOLDED = _byte_table(_powers_of_x(_R, 8))


class Table:
    """What one H expands to; longer messages add to it.

    Attributes
    ----------
    h : H as an integer, first byte most significant
    horner : H times each byte, as integers
    """

    __slots__ = ("_products", "h", "horner")

    def __init__(self, h: int) -> None:
        self.h = h
        self.horner = _byte_table(_powers_of_x(h, 8))
        self._products: dict[int, npt.NDArray[np.complex128]] = {}

    def product(self, log: int) -> npt.NDArray[np.complex128]:
        """The 16 * 256 products by H^(2^log); two threads that both make it make the same.

        The entries are 16 bytes of data, looked up as one item of NumPy's only 16-byte number type.
        """
        found = self._products.get(log)
        if found is None:
            if log == 0:
                element = self.h
            else:
                root = self.product(log - 1)
                # Byte 0 = 0x80 is the field's 1, so that entry is the fixed factor itself.
                square = _multiply(root, root[128:129].view(np.uint64).reshape(1, 2))
                element = int.from_bytes(square.tobytes(), "big")
            found = self._products[log] = _product_table(element)
        return found


def _product_table(element: int) -> npt.NDArray[np.complex128]:
    basis = b"".join(power.to_bytes(16, "big") for power in _powers_of_x(element, 128))
    bits = np.frombuffer(basis, np.uint64).reshape(16, 8, 2)
    table = np.zeros((16, 256, 2), np.uint64)
    for bit in range(8):
        known = 1 << bit
        np.bitwise_xor(table[:, :known], bits[:, 7 - bit, None], out=table[:, known : 2 * known])
    return table.reshape(-1).view(np.complex128)


def _multiply(products: npt.NDArray[np.complex128], blocks: Words) -> Words:
    """uint64[n, 2] blocks, each times the fixed factor of the table; a new array."""
    rows = _TABLE_STARTS + blocks.view(np.uint8).reshape(-1, 16).T
    entries = np.take(products, rows, mode="wrap").view(np.uint64)
    total: Words = np.bitwise_xor.reduce(entries, axis=0)
    return total.reshape(-1, 2)


def _absorb_short(table: Table, y: Bytes, src: Bytes) -> None:
    """Horner's rule twice over: block by block with H, and byte by byte with x^8 inside."""
    state = int.from_bytes(y.tobytes(), "big")
    data = src.tobytes()
    horner, folded = table.horner, _FOLDED
    for at in range(0, len(data), 16):
        state ^= int.from_bytes(data[at : at + 16], "big")
        product = 0
        for octet in reversed(state.to_bytes(16, "big")):
            product = product >> 8 ^ folded[product & 255] ^ horner[octet]
        state = product
    y[:] = np.frombuffer(state.to_bytes(16, "big"), np.uint8)


def _absorb_long(table: Table, y: Bytes, src: Bytes) -> None:
    """Lanes, then halves; the blocks that do not fill a step come first, after lanes of zero."""
    blocks = np.ascontiguousarray(src).view(np.uint64).reshape(-1, 2)
    log = min(len(blocks), LANES).bit_length() - 1
    lanes = 1 << log
    at = len(blocks) % lanes or lanes
    state = np.zeros((lanes, 2), np.uint64)
    state[lanes - at :] = blocks[:at]
    state[lanes - at] ^= y.view(np.uint64)
    while at < len(blocks):
        state = _multiply(table.product(log), state)
        state ^= blocks[at : at + lanes]
        at += lanes
    while log:
        log -= 1
        half = 1 << log
        state = _multiply(table.product(log), state[:half]) ^ state[half:]
    y.view(np.uint64)[:] = _multiply(table.product(0), state)[0]


def ghash_key(h: Bytes) -> Table:
    """The table of a hash key, for `ghash`. Timing: depends on h."""
    return Table(int.from_bytes(h.tobytes(), "big"))


def ghash(table: Table, y: Bytes, src: Bytes) -> None:
    """y = (...((y ^ X1).H ^ X2).H ...) in GF(2^128). Timing: depends on key and data.

    Source: NIST SP 800-38D, 6.4, algorithm 2.
    """
    if len(src) < 16 * LONG_BLOCKS:
        _absorb_short(table, y, src)
    else:
        _absorb_long(table, y, src)


def polyval_key(h: Bytes) -> Table:
    """The table of a POLYVAL key: GHASH's for x times the reversed key. Source: RFC 8452, A."""
    return Table(_times_x(int.from_bytes(h.tobytes(), "little")))


def polyval(table: Table, y: Bytes, src: Bytes) -> None:
    """POLYVAL over whole blocks, as GHASH of the reversed blocks. Source: RFC 8452, appendix A."""
    state = y[::-1].copy()
    ghash(table, state, src.reshape(-1, 16)[:, ::-1].reshape(-1))
    y[:] = state[::-1]


GHASH = GhashSlots(
    name="numpy",
    constant_time=False,
    ghash_key=ghash_key,
    ghash=ghash,
    polyval_key=polyval_key,
    polyval=polyval,
)
