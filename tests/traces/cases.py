"""The calls whose traces are compared: ciphers, GHASH and modes on keys and data that differ."""

import random

from tests.traces.tracing import Case, Layout, arrays, core
from twofishkit.kernels import ghash, ghash_clmul, schedule, shuffle_schedule
from twofishkit.kernels.native import SCRATCH_BYTES
from twofishkit.reference import block, gf128, modes
from twofishkit.reference.authenticated import gcm_encrypt

_K = "twofishkit.kernels."


class Cipher:
    """A backend's kernels, by the names under which they are compiled."""

    def __init__(self, name, module, cores, expand, schedule_bytes):
        self.name = name
        self.encrypt, self.decrypt = (f"{_K}{module}:{core}" for core in cores)
        self.expand, self.schedule_bytes = _K + expand, schedule_bytes


def _shuffle(bits):
    cores = f"encrypt_{bits}", f"decrypt_{bits}"
    return Cipher(
        f"shuffle{bits}", "shuffle", cores, f"shuffle:expand_{bits}", shuffle_schedule.SCHEDULE_BYTES
    )


SHUFFLE256, SHUFFLE128 = _shuffle(256), _shuffle(128)
GATHER = Cipher(
    "gather", "gather", ("gather_encrypt", "gather_decrypt"), "schedule:expand_into", schedule.SCHEDULE_BYTES
)
TABLE_WORDS = {"ghash": ghash.TABLE_WORDS, "ghash_pclmul": ghash_clmul.TABLE_WORDS}


def trials(layout, seed, **sizes):
    """Arenas whose fields, sizes given, are all zero, all ones, and twice random."""
    random_bytes = random.Random(seed).randbytes
    return (
        layout.contents(),
        layout.contents(**{name: b"\xff" * size for name, size in sizes.items()}),
        layout.contents(**{name: random_bytes(size) for name, size in sizes.items()}),
        layout.contents(**{name: random_bytes(size) for name, size in sizes.items()}),
    )


class CipherCase(Case):
    """Key schedule, then E(src) ^ mask and D(src) ^ mask of n blocks; ``masked`` or with no mask."""

    @classmethod
    def of(cls, cipher, key_bytes, n, masked=False):
        sizes = {"key": key_bytes, "src": 16 * n, "mask": 16 * n * masked}
        layout = Layout(
            memory=cipher.schedule_bytes + 64,
            **sizes,
            encrypted=16 * n,
            decrypted=16 * n,
            scratch=SCRATCH_BYTES if n > 1 else 0,
        )
        mask = layout.address("mask") if masked else "0L"
        scratch = layout.address("scratch") if n > 1 else "0L"
        memory, src = layout.address("memory"), layout.address("src")
        calls = (
            arrays(cipher.expand, layout.array("memory"), layout.array("key")),
            core(cipher.encrypt, memory, src, layout.address("encrypted"), n, mask, scratch),
            core(cipher.decrypt, memory, src, layout.address("decrypted"), n, mask, scratch),
        )
        name = f"{cipher.name}, {8 * key_bytes}-bit key, {n} blocks{' masked' * masked}"
        return cls(name, layout, calls, trials(layout, name, **sizes))

    def is_right(self, before, after):
        key, src, mask = (self.layout.field(before, name) for name in ("key", "src", "mask"))
        reference = block.expand_key(key)
        for name, ecb in (("encrypted", modes.ecb_encrypt), ("decrypted", modes.ecb_decrypt)):
            expected = ecb(reference, src)
            if self.layout.field(after, name) != (gf128.xor(expected, mask) if mask else expected):
                return False
        return True


class GhashCase(Case):
    """Key expansion, then GHASH of n blocks."""

    @classmethod
    def of(cls, module, n):
        sizes = {"h": 16, "y": 16, "src": 16 * n}
        layout = Layout(table=8 * TABLE_WORDS[module], **sizes)
        table, y, src = layout.array("table", 8), layout.array("y"), layout.array("src")
        calls = (
            arrays(f"{_K}{module}:_expand_ghash", table, layout.array("h")),
            arrays(f"{_K}{module}:ghash", table, y, src),
        )
        name = f"{module}, {n} blocks"
        return cls(name, layout, calls, trials(layout, name, **sizes))

    def is_right(self, before, after):
        h, y, src = (self.layout.field(before, name) for name in ("h", "y", "src"))
        return self.layout.field(after, "y") == gf128.ghash(h, src, y)


class CbcCase(Case):
    """CBC encryption, the serial use of a core: n blocks, one at a time."""

    @classmethod
    def of(cls, cipher, n):
        sizes = {"key": 32, "iv": 16, "src": 16 * n}
        layout = Layout(memory=cipher.schedule_bytes + 64, **sizes, dst=16 * n)
        memory = layout.array("memory")
        cores = cipher.encrypt, cipher.decrypt
        others = (layout.array(name) for name in ("iv", "src", "dst"))
        calls = (
            arrays(cipher.expand, memory, layout.array("key")),
            arrays(f"{_K}wide:cbc_encrypt", memory, *others, through=cores),
        )
        name = f"{cipher.name}, CBC, {n} blocks"
        return cls(name, layout, calls, trials(layout, name, **sizes))

    def is_right(self, before, after):
        key, iv, src = (self.layout.field(before, name) for name in ("key", "iv", "src"))
        return self.layout.field(after, "dst") == modes.cbc_encrypt(block.expand_key(key), iv, src)


class GcmCase(Case):
    """GCM's CTR and GHASH of n bytes. The counter is public: the same in all trials."""

    COUNTER = bytes(range(1, 13)) + b"\0\0\0\2"

    @classmethod
    def of(cls, cipher, gcm, ghash_module, n):
        sizes = {"key": 32, "h": 16, "src": n}
        layout = Layout(
            memory=cipher.schedule_bytes + 64,
            **sizes,
            table=8 * TABLE_WORDS[ghash_module],
            counter=16,
            y=16,
            dst=n,
        )
        memory, table = layout.array("memory"), layout.array("table", 8)
        cores = cipher.encrypt, cipher.decrypt
        others = (layout.array(name) for name in ("counter", "y", "src", "dst"))
        calls = (
            arrays(cipher.expand, memory, layout.array("key")),
            arrays(f"{_K}{ghash_module}:_expand_ghash", table, layout.array("h")),
            arrays(f"{_K}{gcm}:gcm_encrypt", memory, table, *others, through=cores),
        )
        name = f"{cipher.name}, {gcm}, {n} bytes"
        at = layout.fields["counter"][0]
        arenas = trials(layout, name, **sizes)
        arenas = tuple(arena[:at] + cls.COUNTER + arena[at + 16 :] for arena in arenas)
        return cls(name, layout, calls, arenas)

    def is_right(self, before, after):
        key, h, src = (self.layout.field(before, name) for name in ("key", "h", "src"))
        expected = gcm_encrypt(block.expand_key(key), self.COUNTER[:12], src)[0]
        y = gf128.ghash(h, expected + bytes(-len(expected) % 16))
        return (self.layout.field(after, "dst"), self.layout.field(after, "y")) == (expected, y)


# What is traced, by target -----------------------------------------------------------------------


def _ciphers(cipher, *shapes):
    return [CipherCase.of(cipher, *shape) for shape in shapes]


def _ghash(module, *lengths):
    return [GhashCase.of(module, n) for n in lengths]


#: One block alone (the serial modes); a few, whole batches, and a batch that is not full.
QUICK_SHAPES = (16, 1), (24, 1), (32, 1), (32, 27, True), (16, 40), (32, 40)
SLOW_SHAPES = [(24, n, bool(n & 1)) for n in (2, 3, 7, 8, 9, 13, 16, 17, 31, 32, 33, 64, 65, 129, 300)]

QUICK = {
    "AVX2": [
        *_ciphers(SHUFFLE256, *QUICK_SHAPES),
        *_ghash("ghash", 1, 5, 40),
        *_ghash("ghash_pclmul", 1, 5, 40),
        CbcCase.of(SHUFFLE256, 5),
    ],
    "SSSE3": _ciphers(SHUFFLE128, *QUICK_SHAPES),
}
SLOW = {
    "AVX2": [
        *_ciphers(SHUFFLE256, *SLOW_SHAPES),
        *_ghash("ghash", *range(2, 18), 100),
        *_ghash("ghash_pclmul", *range(2, 18), 100),
        GcmCase.of(SHUFFLE256, "gcm_pclmul", "ghash_pclmul", 1000),
        GcmCase.of(SHUFFLE256, "gcm_portable", "ghash", 1000),
    ],
    "SSSE3": [
        *_ciphers(SHUFFLE128, *SLOW_SHAPES),
        *_ghash("ghash", 1, 5, 40),
        CbcCase.of(SHUFFLE128, 5),
    ],
    "Westmere": _ghash("ghash_pclmul", 1, 5, 40),
}
#: What must be found to differ. Traced together with the others, by the same program.
TELLTALE = _ciphers(GATHER, (16, 1), (32, 1), (32, 40))
QUICK_AND_TELLTALE = {**QUICK, "AVX2": QUICK["AVX2"] + TELLTALE}
