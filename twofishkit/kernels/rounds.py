"""What the table-free kernels share: the layout of a batch, PHT, one round's last step.

A *batch* of W bytes a vector holds W blocks as words: 16 vectors of W/4 lanes, in memory ("scratch") in the
order A0 A1 A2 A3 B0 ... D3. Where a block sits within the batch is of no matter, as long as all its
words sit alike and `slice_words` and `join_bytes` undo each other.

The words of a message are taken out of their blocks by 4x4 transpositions of dwords inside 16-byte
blocks of four vectors: word vector g of a batch holds the blocks of message vectors 4g ... 4g + 3.

Twofish swaps its halves after each round; here nothing moves: even rounds change (C, D) from (A, B)
and odd rounds (A, B) from (C, D). After 16 rounds the ciphertext is (C, D, A, B) ^ (K4, K5, K6, K7).

Source: "Twofish: A 128-Bit Block Cipher", sections 4.1 to 4.3.
"""

from twofishkit.kernels.jit import inline
from twofishkit.kernels.words import load_u32
from twofishkit.simd import vectors as v

RS_FEEDBACK = 0x14D  # w(x) of section 4.3
MDS_FEEDBACK = 0x169  # v(x) of section 4.2


@inline
def transpose_words(v0, v1, v2, v3):
    """Rows to columns of the 4x4 dwords in each 16-byte block of four vectors; its own inverse."""
    low01, low23 = v.unpack_low(v0, v1), v.unpack_low(v2, v3)
    high01, high23 = v.unpack_high(v0, v1), v.unpack_high(v2, v3)
    return (
        v.as_u32(v.unpack_low(v.as_u64(low01), v.as_u64(low23))),
        v.as_u32(v.unpack_high(v.as_u64(low01), v.as_u64(low23))),
        v.as_u32(v.unpack_low(v.as_u64(high01), v.as_u64(high23))),
        v.as_u32(v.unpack_high(v.as_u64(high01), v.as_u64(high23))),
    )


@inline
def join_bytes(z0, z1, z2, z3):
    """Four vectors of bytes to four of words whose bytes they are, least significant first."""
    low01, high01 = v.as_u16(v.unpack_low(z0, z1)), v.as_u16(v.unpack_high(z0, z1))
    low23, high23 = v.as_u16(v.unpack_low(z2, z3)), v.as_u16(v.unpack_high(z2, z3))
    return (
        v.as_u32(v.unpack_low(low01, low23)),
        v.as_u32(v.unpack_high(low01, low23)),
        v.as_u32(v.unpack_low(high01, high23)),
        v.as_u32(v.unpack_high(high01, high23)),
    )


@inline
def load_batch(T, scratch, src, whitening, first, second):
    """Read n_bytes(T) blocks, XOR whitening words 0..3, and lay them out with words 0, 1 at ``first``."""
    size = v.n_bytes(T)
    k0, k1 = v.splat(T, load_u32(whitening, 0)), v.splat(T, load_u32(whitening, 4))
    k2, k3 = v.splat(T, load_u32(whitening, 8)), v.splat(T, load_u32(whitening, 12))
    for g in range(4):
        at = 4 * size * g
        w0, w1, w2, w3 = transpose_words(
            v.load(T, src, at),
            v.load(T, src, at + size),
            v.load(T, src, at + 2 * size),
            v.load(T, src, at + 3 * size),
        )
        v.store(scratch, first + size * g, w0 ^ k0)
        v.store(scratch, first + size * (g + 4), w1 ^ k1)
        v.store(scratch, second + size * g, w2 ^ k2)
        v.store(scratch, second + size * (g + 4), w3 ^ k3)


@inline
def store_batch(T, dst, scratch, whitening, first, second, mask):
    """The inverse of `load_batch`, with whitening after; XORs the blocks at ``mask`` unless that is 0.

    Runs from the last block to the first, see `native`.
    """
    size = v.n_bytes(T)
    k0, k1 = v.splat(T, load_u32(whitening, 0)), v.splat(T, load_u32(whitening, 4))
    k2, k3 = v.splat(T, load_u32(whitening, 8)), v.splat(T, load_u32(whitening, 12))
    for i in range(4):
        g = 3 - i
        at = 4 * size * g
        v0, v1, v2, v3 = transpose_words(
            v.load(T, scratch, first + size * g) ^ k0,
            v.load(T, scratch, first + size * (g + 4)) ^ k1,
            v.load(T, scratch, second + size * g) ^ k2,
            v.load(T, scratch, second + size * (g + 4)) ^ k3,
        )
        if mask != 0:
            v0, v1 = v0 ^ v.load(T, mask, at), v1 ^ v.load(T, mask, at + size)
            v2, v3 = v2 ^ v.load(T, mask, at + 2 * size), v3 ^ v.load(T, mask, at + 3 * size)
        v.store(dst, at + 3 * size, v3)
        v.store(dst, at + 2 * size, v2)
        v.store(dst, at + size, v1)
        v.store(dst, at, v0)


@inline
def finish_round(T, scratch, target, t0, t1, k0, k1, decrypting):
    """PHT, round keys, and the change of the two words at ``target``. Source: sections 4.1, 4.3.2."""
    size = v.n_bytes(T)
    for g in range(4):
        f0 = t0[g] + t1[g]
        f1 = f0 + t1[g] + k1
        f0 = f0 + k0
        c = v.load(T, scratch, target + size * g)
        d = v.load(T, scratch, target + size * (g + 4))
        if decrypting:
            c = v.rotl(c, 1) ^ f0
            d = v.rotr(d ^ f1, 1)
        else:
            c = v.rotr(c ^ f0, 1)
            d = v.rotl(d, 1) ^ f1
        v.store(scratch, target + size * g, c)
        v.store(scratch, target + size * (g + 4), d)


@inline
def _rs_step(x):
    """x times the generator's root, modulo w(x), in all lanes: a step of the RS code as a recurrence.

    The RS matrix is the generator of a (12, 8) code with the polynomial x^4 + (a + 1/a) x^3 + a x^2 +
    (a + 1/a) x + 1 over GF(2^8)/w(x); eight steps of division by it give RS times the bytes.
    """
    top = x >> 24
    twice = (top << 1) ^ ((top >> 7) * RS_FEEDBACK)
    half = (top >> 1) ^ ((top & 1) * (RS_FEEDBACK >> 1))
    total = half ^ twice
    return (x << 8) ^ (total << 24) ^ (twice << 16) ^ (total << 8) ^ top


@inline
def rs(key, k):
    """S_i = RS (m_{8i} ... m_{8i+7}) for i < k, from the key at an address; lanes from k on are 0.

    In vector lanes, because LLVM makes a scalar product with one bit of the key a select, and might make
    that a branch. Source: section 4.3. Timing: constant.
    """
    low, high = v.zero(v.u32x4), v.zero(v.u32x4)
    for i in range(k):
        low = v.insert(low, i, load_u32(key, 8 * i))
        high = v.insert(high, i, load_u32(key, 8 * i + 4))
    x = high
    for _ in range(4):
        x = _rs_step(x)
    x = x ^ low
    for _ in range(4):
        x = _rs_step(x)
    return x
