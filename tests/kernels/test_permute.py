"""The `permute` kernels: proof of constant time, and the edges of their paths.

Equality with the reference for every slot is in test_cipher_slots.py; here are the borders between the
paths for few blocks, padded batches and whole batches, and what the optimised code does with secrets.
"""

import re

import numpy as np
import pytest

from tests.constant_time import leaks
from twofishkit import backend
from twofishkit.reference.block import expand_key

if "permute" not in backend.available():
    pytest.skip("this processor, or Numba's target, has no AVX-512 VBMI and GFNI", allow_module_level=True)

from numba import types

from twofishkit.kernels import gcm_pclmul, permute, permute_schedule, wide, wide_many, wide_ocb, wide_xts
from twofishkit.kernels.jit import Kernel

KEY = bytes(range(32))


def as_kernel(core):
    """A core in the form in which `leaks` takes kernels."""
    return Kernel(core.function.__wrapped__, types.void(*(types.intp,) * 6))


@pytest.mark.parametrize("core", [permute.permute_encrypt, permute.permute_decrypt], ids=repr)
def test_cores_are_constant_time(core):
    assert leaks(as_kernel(core)) == []


@pytest.mark.parametrize(
    "kernel", [permute_schedule.expand_into, permute.encrypt_each, permute.decrypt_each], ids=repr
)
def test_key_set_up_is_constant_time(kernel):
    assert leaks(kernel) == []


VERDICTS = [gcm_pclmul.gcm_open, gcm_pclmul.gcm_open_long, wide_ocb.ocb_open]
MODES = [
    value
    for module in (wide, wide_many, wide_ocb, wide_xts)
    for value in vars(module).values()
    if isinstance(value, Kernel) and value not in VERDICTS
]
GCM = [gcm_pclmul.gcm_seal, gcm_pclmul.gcm_seal_long, gcm_pclmul.gcm_encrypt]


@pytest.mark.parametrize("kernel", [*MODES, *GCM], ids=repr)
def test_modes_are_constant_time_around_the_cores(kernel):
    """What a mode may do with what it loads: call the core, to which the schedule leads by two addresses.

    Beside these is whether the core counts, on which it may branch. Counters are loaded too: where one
    carries out of its low 32 bits or its low word are the other branches allowed.
    """
    branches = beside_calls_of_cores(kernel)
    assert len(branches) <= CARRIES.get(kernel.dispatcher.__name__, 0)


#: How often a mode asks where a counter carries: for the next chunk, for the core, for `fill_counters`.
CARRIES = {"ctr": 3, "ctr_message": 2, "xts_encrypt_units": 1, "xts_decrypt_units": 1}


def beside_calls_of_cores(kernel):
    """What else is found in a kernel: branches, and they alone; not those on whether the core counts."""
    found = leaks(kernel)
    flags = [line for line in found if re.match(r"%\S+ = load i64, ptr \S+ align 1", line)]
    found = [line for line in found if line not in flags]
    calls = [line for line in found if re.match(r"(tail )?call void %\S+\(i64", line)]
    loads = [line for line in found if re.match(r"%\S+ = load i64, ", line)]
    branches = [line for line in found if line.startswith("br i1")]
    assert calls
    assert len(loads) <= len(calls)
    assert len(flags) <= CARRIES.get(kernel.dispatcher.__name__, 1)
    assert len(found) == len(calls) + len(loads) + len(branches)
    return branches[len(flags) :]


@pytest.mark.parametrize("kernel", VERDICTS, ids=repr)
def test_only_the_verdict_on_a_tag_is_told(kernel):
    """All branches on what was loaded are on one value: whether the two words that differ are zero."""
    conditions = {re.match(r"br i1 (%\S+),", line)[1] for line in beside_calls_of_cores(kernel)}
    assert len(conditions) == 1


EDGES = [*range(1, 20), 31, 32, 33, 47, 63, 64, 65, 79, 80, 81, 127, 128, 129, 191, 192, 256]
LONG = [511, 512, 513, 528, 529, 575, 576, 577, 592, 593, 1024, 1041, 1100]


@pytest.mark.parametrize("key_bytes", [16, 24, 32])
def test_every_path_and_border(key_bytes):
    """Long inputs repeat blocks whose encryption the reference has computed once."""
    key = KEY[:key_bytes]
    reference = expand_key(key)
    blocks = [bytes((i * j + i) % 256 for j in range(16)) for i in range(61)]
    encrypted = [reference.encrypt_block(block) for block in blocks]
    slots = backend.kernels("permute", threads=1).cipher
    schedule = slots.expand_key(np.frombuffer(key, np.uint8))
    for n in EDGES + LONG:
        order = [(7 * i + n) % 61 for i in range(n)]
        src = np.frombuffer(b"".join(blocks[i] for i in order), np.uint8)
        dst = np.zeros(16 * n + 64, np.uint8)
        slots.encrypt_blocks(schedule, src, dst[: 16 * n])
        assert dst[: 16 * n].tobytes() == b"".join(encrypted[i] for i in order), n
        assert not dst[16 * n :].any()
        slots.decrypt_blocks(schedule, dst[: 16 * n], dst[: 16 * n])
        assert dst[: 16 * n].tobytes() == src.tobytes(), n


def test_wiping_a_schedule_keeps_only_addresses():
    slots = backend.kernels("permute").cipher
    schedule = slots.expand_key(np.frombuffer(KEY, np.uint8))
    slots.wipe(schedule)
    assert schedule[:16].any()
    assert not schedule[16:].any()
