"""Twofish on byte shuffles, in vectors of any width: no table in memory is indexed.

A batch is as many blocks as a vector has bytes: 64 with AVX-512BW, 32 with AVX2, 16 with SSSE3 or NEON.
One round of one batch:

1. *slice*    the words A and B -> one vector per byte position (byte shuffle, dword and quadword unpacks)
2. *S-boxes*  of 256 bytes: 16 byte shuffles of 16 entries a vector (x86, see `simd.targets`) or 4 of 64
              (NEON); the same work for all key sizes, and less than computing q on nibbles even for 128 bits
3. *MDS*      by doublings alone, since the S-boxes are divided by x^2 (`shuffle_schedule.mds`)
4. *join*     bytes -> words by unpacks; then PHT, round keys and rotations on words

Between the steps the eight byte vectors lie in memory, so that the processors with 16 registers do not
spill, and the eight look-ups are a loop. Each round runs over BATCHES batches before the next begins,
so that one batch fills the latency of another. Up to LIMIT blocks go to `shuffle_few`.

Cost: docs/performance.md.
Timing: constant; no address and no branch depends on key or data, only on the number of blocks.
"""

import numpy as np

from twofishkit.kernels.jit import inline, kernel
from twofishkit.kernels.native import FEW_BYTES, core
from twofishkit.kernels.rounds import finish_round, join_bytes, load_batch, transpose_words
from twofishkit.kernels.shuffle_few import FEW, few
from twofishkit.kernels.shuffle_schedule import EXPAND_BYTES, ROWS, SCHEDULE_BYTES, SUBKEYS, expand, mds
from twofishkit.kernels.wide_memory import load_block
from twofishkit.kernels.wide_slots import make_slots
from twofishkit.kernels.words import load_u32
from twofishkit.simd import vectors as v

REQUIRES_512 = frozenset({"x86-64", "ssse3", "avx2", "avx512f", "avx512bw"})
REQUIRES_256 = frozenset({"x86-64", "ssse3", "avx2"})
REQUIRES_128 = frozenset({"x86-64", "ssse3"})
REQUIRES_NEON = frozenset({"aarch64", "neon"})

#: Batches that a round runs over.
BATCHES = 4

#: What is XORed where there is no mask: four vectors.
ZEROS = np.zeros(256, np.uint8)

#: Bytes 0 of four words, then their bytes 1, 2 and 3.
GROUPED = v.lanes(*(4 * word + byte for byte in range(4) for word in range(4)))


@inline
def _grouped(x):
    octets = v.as_u8(x)
    return v.as_u32(v.shuffle_blocks(octets, octets, GROUPED))


@inline
def slice_words(W, source, t0, t1, t2, t3):
    """Four vectors of words at ``source`` to their bytes 0 at t0, 1 at t1, ...; undone by `join_bytes`."""
    size = v.n_bytes(W)
    b0, b1, b2, b3 = transpose_words(
        _grouped(v.load(W, source, 0)),
        _grouped(v.load(W, source, size)),
        _grouped(v.load(W, source, 2 * size)),
        _grouped(v.load(W, source, 3 * size)),
    )
    v.store(t0, 0, b0)
    v.store(t1, 0, b1)
    v.store(t2, 0, b2)
    v.store(t3, 0, b3)


@inline
def look_up(T, schedule, octets):
    """S-box j of vectors j and j + 4 of eight, in place."""
    size = v.n_bytes(T)
    if size == 64:  # 32 registers: both together, so that rows are loaded once
        for j in range(4):
            at = size * j
            y = v.lookup256(schedule, ROWS + 16 * j, v.load(T, octets, at))
            z = v.lookup256(schedule, ROWS + 16 * j, v.load(T, octets, at + 4 * size))
            v.store(octets, at, y)
            v.store(octets, at + 4 * size, z)
    else:
        for i in range(8):
            at = size * i
            v.store(octets, at, v.lookup256(schedule, ROWS + 16 * (i & 3), v.load(T, octets, at)))


@inline
def multiply(T, octets):
    """The words whose S-box outputs are four vectors, times MDS."""
    size = v.n_bytes(T)
    z0, z1, z2, z3 = mds(
        T,
        v.load(T, octets, 0),
        v.load(T, octets, size),
        v.load(T, octets, 2 * size),
        v.load(T, octets, 3 * size),
    )
    return join_bytes(z0, z1, z2, z3)


@inline
def wide_round(T, W, schedule, batch, octets, source, k0, k1, decrypting):
    """One round of one batch: the half at ``source`` changes the other. ``octets``: eight vectors."""
    size = v.n_bytes(T)
    a, b = octets, octets + 4 * size
    slice_words(W, batch + source, a, a + size, a + 2 * size, a + 3 * size)
    # g takes B rotated: its byte j - 1 is looked up in S-box j.
    slice_words(W, batch + source + 4 * size, b + size, b + 2 * size, b + 3 * size, b)
    look_up(T, schedule, octets)
    t0, t1 = multiply(T, a), multiply(T, b)
    finish_round(W, batch, 8 * size - source, t0, t1, k0, k1, decrypting)


@inline
def wide_rounds(T, W, schedule, scratch, octets, batches, decrypting):
    """All 16 rounds of the batches in scratch, round by round."""
    half = 8 * v.n_bytes(T)
    for i in range(16):
        r = 15 - i if decrypting else i
        at = SUBKEYS + 32 + 8 * r
        k0, k1 = v.splat(W, load_u32(schedule, at)), v.splat(W, load_u32(schedule, at + 4))
        for b in range(batches):
            wide_round(T, W, schedule, scratch + 2 * half * b, octets, (r & 1) * half, k0, k1, decrypting)


@inline
def store_padded(dst, padded, n, mask, step):
    """The first n blocks of a batch, XORed with those at ``mask`` (see `cipher`); the last first."""
    for i in range(n - 1, -1, -1):
        v.store(dst, 16 * i, load_block(padded, 16 * i) ^ load_block(mask, 16 * i & step))


@inline
def store_batch(W, dst, batch, whitening, first, second, mask, step):
    """The inverse of `load_batch`, with whitening after, XORed with the blocks at ``mask`` (see `cipher`).

    Runs from the last block to the first, see `native`.
    """
    size = v.n_bytes(W)
    k0, k1 = v.splat(W, load_u32(whitening, 0)), v.splat(W, load_u32(whitening, 4))
    k2, k3 = v.splat(W, load_u32(whitening, 8)), v.splat(W, load_u32(whitening, 12))
    for i in range(4):
        g = 3 - i
        at = 4 * size * g
        v0, v1, v2, v3 = transpose_words(
            v.load(W, batch, first + size * g) ^ k0,
            v.load(W, batch, first + size * (g + 4)) ^ k1,
            v.load(W, batch, second + size * g) ^ k2,
            v.load(W, batch, second + size * (g + 4)) ^ k3,
        )
        m = mask + (at & step)
        v0, v1 = v0 ^ v.load(W, m, 0), v1 ^ v.load(W, m, size)
        v2, v3 = v2 ^ v.load(W, m, 2 * size), v3 ^ v.load(W, m, 3 * size)
        v.store(dst, at + 3 * size, v3)
        v.store(dst, at + 2 * size, v2)
        v.store(dst, at + size, v1)
        v.store(dst, at, v0)


@inline
def wide(T, W, schedule, src, dst, n, mask, step, scratch, decrypting):
    """Cipher n blocks, at most BATCHES batches; the last batch may be partial and runs padded."""
    before, after = schedule + SUBKEYS, schedule + SUBKEYS + 16
    if decrypting:
        before, after = after, before
    size = v.n_bytes(T)
    first = 8 * size if decrypting else 0
    second = 8 * size - first
    batches, whole = (n + size - 1) // size, n // size
    rest, end = n - size * whole, 16 * size * whole
    octets = scratch + 16 * size * batches
    padded = octets + 8 * size
    for i in range(rest):
        v.store(padded, 16 * i, load_block(src, end + 16 * i))
    for b in range(batches):
        at = 16 * size * b
        source = src + at if b < whole else padded
        load_batch(W, scratch + at, source, before, first, second)
    wide_rounds(T, W, schedule, scratch, octets, batches, decrypting)
    for b in range(batches - 1, -1, -1):
        at = 16 * size * b
        if b < whole:
            store_batch(W, dst + at, scratch + at, after, second, first, mask + (at & step), step)
        else:
            store_batch(W, padded, scratch + at, after, second, first, v.address(ZEROS), 0)
            store_padded(dst + at, padded, rest, mask + (at & step), step)


@inline
def cipher(T, W, F, G, limit, schedule, src, dst, n, mask, scratch, decrypting):
    """Cipher any number of blocks from the end: up to ``limit`` in F vectors, the others in batches of T.

    W and G are T and F with 32-bit lanes. Without a mask zeros are XORed, over and over the same (step 0):
    a condition on the mask would have LLVM write all loops twice.
    """
    size, step = v.n_bytes(T), -1
    if mask == 0:
        mask, step = v.address(ZEROS), 0
    if 16 * n <= FEW_BYTES and n > limit:  # a batch of T, but the caller wipes no more than FEW_BYTES
        wide(T, W, schedule, src, dst, n, mask, step, scratch, decrypting)
        v.wipe(scratch + FEW_BYTES, 40 * size - FEW_BYTES)
        return
    rest = n % size if n > limit else n
    if rest <= limit:
        while rest > 0:
            m = (rest - 1) % FEW + 1
            rest, n = rest - m, n - m
            at = 16 * n
            few(F, G, schedule, src + at, dst + at, m, mask + (at & step), step, decrypting)
    while n > 0:
        m = (n - 1) % (BATCHES * size) + 1
        n -= m
        at = 16 * n
        wide(T, W, schedule, src + at, dst + at, m, mask + (at & step), step, scratch, decrypting)


@inline
def each(F, G, keys, src, dst, decrypting):
    """Block i under key i, the schedule made on the stack."""
    schedule, scratch = v.stack(SCHEDULE_BYTES), v.stack(EXPAND_BYTES)
    n, length = keys.shape
    for i in range(n):
        expand(F, schedule, v.address(keys) + length * i, length >> 3, scratch)
        few(
            F,
            G,
            schedule,
            v.address(src) + 16 * i,
            v.address(dst) + 16 * i,
            1,
            v.address(ZEROS),
            0,
            decrypting,
        )
    v.wipe(schedule, SCHEDULE_BYTES)
    v.wipe(scratch, EXPAND_BYTES)


@inline
def expand_into(T, memory, key):
    """Fill a schedule, all but its header, from 16, 24 or 32 key bytes; returns its offset in ``memory``.

    ``memory`` is uint8[SCHEDULE_BYTES + 64]; the schedule is aligned to 64 bytes within it.
    """
    start = -v.address(memory) & 63
    scratch = v.stack(EXPAND_BYTES)
    expand(T, v.address(memory) + start, v.address(key), key.size >> 3, scratch)
    v.wipe(scratch, EXPAND_BYTES)
    return start


EXPAND = "i8(u1[::1], u1[::1])"
EACH = "void(u1[:, ::1], u1[:, ::1], u1[:, ::1])"


# 64 bytes a vector; 32 for a few blocks, and for keys ----------------------------------------------


@core
def encrypt_512(schedule, src, dst, n, mask, scratch):
    """dst = E(src) ^ mask, block by block; a core, see `native`. Timing: constant."""
    cipher(v.u8x64, v.u32x16, v.u8x32, v.u32x8, 32, schedule, src, dst, n, mask, scratch, False)


@core
def decrypt_512(schedule, src, dst, n, mask, scratch):
    """dst = D(src) ^ mask, block by block; a core, see `native`. Timing: constant."""
    cipher(v.u8x64, v.u32x16, v.u8x32, v.u32x8, 32, schedule, src, dst, n, mask, scratch, True)


# 32 bytes a vector ---------------------------------------------------------------------------------


@core
def encrypt_256(schedule, src, dst, n, mask, scratch):
    """dst = E(src) ^ mask, block by block; a core, see `native`. Timing: constant."""
    cipher(v.u8x32, v.u32x8, v.u8x32, v.u32x8, 16, schedule, src, dst, n, mask, scratch, False)


@core
def decrypt_256(schedule, src, dst, n, mask, scratch):
    """dst = D(src) ^ mask, block by block; a core, see `native`. Timing: constant."""
    cipher(v.u8x32, v.u32x8, v.u8x32, v.u32x8, 16, schedule, src, dst, n, mask, scratch, True)


@kernel(EXPAND)
def expand_256(memory, key):
    """See `expand_into`."""
    return expand_into(v.u8x32, memory, key)


@kernel(EACH)
def encrypt_each_256(keys, src, dst):
    """dst[i] = E(src[i]) under keys[i]; keys uint8[n, 16 | 24 | 32], blocks uint8[n, 16]."""
    each(v.u8x32, v.u32x8, keys, src, dst, False)


@kernel(EACH)
def decrypt_each_256(keys, src, dst):
    """dst[i] = D(src[i]) under keys[i]."""
    each(v.u8x32, v.u32x8, keys, src, dst, True)


# 16 bytes a vector ---------------------------------------------------------------------------------


@core
def encrypt_128(schedule, src, dst, n, mask, scratch):
    """dst = E(src) ^ mask, block by block; a core, see `native`. Timing: constant."""
    cipher(v.u8x16, v.u32x4, v.u8x16, v.u32x4, 8, schedule, src, dst, n, mask, scratch, False)


@core
def decrypt_128(schedule, src, dst, n, mask, scratch):
    """dst = D(src) ^ mask, block by block; a core, see `native`. Timing: constant."""
    cipher(v.u8x16, v.u32x4, v.u8x16, v.u32x4, 8, schedule, src, dst, n, mask, scratch, True)


@kernel(EXPAND)
def expand_128(memory, key):
    """See `expand_into`."""
    return expand_into(v.u8x16, memory, key)


@kernel(EACH)
def encrypt_each_128(keys, src, dst):
    """dst[i] = E(src[i]) under keys[i]; keys uint8[n, 16 | 24 | 32], blocks uint8[n, 16]."""
    each(v.u8x16, v.u32x4, keys, src, dst, False)


@kernel(EACH)
def decrypt_each_128(keys, src, dst):
    """dst[i] = D(src[i]) under keys[i]."""
    each(v.u8x16, v.u32x4, keys, src, dst, True)


# Slots --------------------------------------------------------------------------------------------


def _slots(name, encrypt_core, decrypt_core, expand, encrypt_each, decrypt_each):
    return make_slots(
        name,
        encrypt_core=encrypt_core,
        decrypt_core=decrypt_core,
        expand_into=expand,
        schedule_bytes=SCHEDULE_BYTES,
        encrypt_each=encrypt_each,
        decrypt_each=decrypt_each,
    )


_OF_512 = encrypt_512, decrypt_512, expand_256, encrypt_each_256, decrypt_each_256
_OF_256 = encrypt_256, decrypt_256, expand_256, encrypt_each_256, decrypt_each_256
_OF_128 = encrypt_128, decrypt_128, expand_128, encrypt_each_128, decrypt_each_128

SLOTS_512, SLOTS_256, SLOTS_128 = (_slots("shuffle", *width) for width in (_OF_512, _OF_256, _OF_128))
#: By names of their own, for tests and comparisons where a wider one would run.
SHUFFLE256, SHUFFLE128 = _slots("shuffle256", *_OF_256), _slots("shuffle128", *_OF_128)
