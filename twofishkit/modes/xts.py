"""XTS, the mode of disk encryption: C_j = E1(P_j ^ T_j) ^ T_j, where T_j = E2(tweak) . alpha^j.

Two keys: the first for data, the second for tweaks. A data unit (a sector) is 16 bytes or more; its
tweak is the number of the sector. The length does not change: a last block of r < 16 bytes *steals*
the end of the ciphertext of the block before, as follows (q is the number of whole blocks, CC = E of
the last whole one under T_{q-1})::

    C_q = CC[:r]        C_{q-1} = E(P_q || CC[r:]) under T_q

and the other way round when decrypting, where T_q therefore is used before T_{q-1}.

Each sector is encrypted deterministically: who sees two versions of it sees which blocks changed,
and altered ciphertext is not noticed. NIST SP 800-38E limits a data unit to 2^20 blocks; that
limit is not enforced.

The keys should be independent. FIPS 140 requires that they differ, but published vectors and
existing disks with equal keys have to be read, so equal keys are accepted.

Source: IEEE 1619-2007, 5.3 and 5.4.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from twofishkit.buffers import Bytes, Data, Out, Result, byte_length, prepare, small
from twofishkit.cipher import BLOCK_SIZE, as_index, describe, two_ciphers
from twofishkit.errors import InvalidLength, InvalidNonce, InvalidParameter
from twofishkit.slots import Schedule

#: Sectors are processed in groups of about this many bytes, so that temporary memory stays small.
_GROUP_BYTES = 1 << 22

Slot = Callable[[Schedule, Bytes, Bytes, Bytes], None]


class XTS:
    """XTS with ciphertext stealing: C_j = E1(P_j ^ T_j) ^ T_j, where T_j = E2(tweak) . alpha^j.

    Parameters
    ----------
    key : bytes-like, or a pair
        Data key and tweak key joined, 32, 48 or 64 bytes; or a pair of two keys or two `Twofish`
        objects of equal size. Equal keys are accepted.

    Raises
    ------
    InvalidKey, UnsupportedType
        For any other length or type.

    Source: IEEE 1619-2007.
    """

    __slots__ = ("_data_cipher", "_tweak_cipher")

    def __init__(self, key: Data | tuple[Any, Any]) -> None:
        self._data_cipher, self._tweak_cipher = two_ciphers(key, "XTS")

    def encrypt(
        self, data: Data, tweak: Data | int, *, sector_size: int | None = None, out: Out = None
    ) -> Result:
        """Encrypt one data unit, or many consecutive sectors in one call.

        Parameters
        ----------
        data : bytes-like or ndarray
            One unit of at least 16 bytes, of any length; or whole sectors.
        tweak : bytes-like or int
            Of the (first) unit: 16 bytes, or the sector's number (encoded little-endian).
        sector_size : int, optional
            Bytes of a sector, at least 16; data is then as many sectors as fit, and their tweaks
            count up from tweak, taken as a little-endian number.
        out : writable buffer, optional
            As many bytes as data; may be data itself.

        Returns
        -------
        An ndarray like data for an ndarray, bytes for other input, ``out`` if it is given.

        Raises
        ------
        InvalidLength
            If a unit has fewer than 16 bytes, or data is not whole sectors.
        InvalidNonce
            If tweak is not 16 bytes or a number below 2^128, or counts past that.
        InvalidParameter
            If sector_size is below 16.
        InvalidBuffer, UnsupportedType, StateError
            For buffers that cannot be used, or a wiped key.
        """
        slots = self._data_cipher._kernels.cipher
        slot, units_slot = slots.xts_encrypt, slots.xts_encrypt_units
        return self._process(slot, units_slot, _encrypt_stealing, data, tweak, sector_size, out)

    def decrypt(
        self, data: Data, tweak: Data | int, *, sector_size: int | None = None, out: Out = None
    ) -> Result:
        """Decrypt one data unit, or many consecutive sectors in one call.

        Parameters, results and errors are those of `encrypt`.
        """
        slots = self._data_cipher._kernels.cipher
        slot, units_slot = slots.xts_decrypt, slots.xts_decrypt_units
        return self._process(slot, units_slot, _decrypt_stealing, data, tweak, sector_size, out)

    def _process(
        self,
        slot: Slot,
        units_slot: Callable[..., None] | None,
        stealing: Callable[[Slot, Schedule, Bytes, Bytes, Bytes], None],
        data: Data,
        tweak: Data | int,
        sector_size: int | None,
        out: Out,
    ) -> Result:
        data_schedule, tweak_schedule = self._data_cipher._schedule, self._tweak_cipher._schedule
        n = byte_length(data)
        m = _unit_size(n, sector_size)
        units = n // m
        first = _tweak_number(tweak, units)
        src, dst, finish = prepare(data, out)
        if (
            units_slot is not None
            and m % BLOCK_SIZE == 0
            and n <= self._data_cipher._kernels.long_bytes
            and self._tweak_cipher._kernels.cipher.cores
        ):
            units_slot(data_schedule, tweak_schedule, first.to_bytes(BLOCK_SIZE, "little"), m, src, dst)
            return finish()
        src, dst = src.reshape(units, m), dst.reshape(units, m)
        group = max(1, _GROUP_BYTES // m)
        for start in range(0, units, group):
            some = slice(start, min(start + group, units))
            tweaks = _tweaks(first + start, some.stop - start)
            flat = tweaks.reshape(-1)
            self._tweak_cipher._kernels.cipher.encrypt_blocks(tweak_schedule, flat, flat)
            if m % BLOCK_SIZE:
                stealing(slot, data_schedule, tweaks, src[some], dst[some])
            else:
                slot(data_schedule, tweaks, src[some], dst[some])
        return finish()

    def __repr__(self) -> str:
        return f"XTS(2 x {describe(self._data_cipher)})"


def _unit_size(n: int, sector_size: int | None) -> int:
    """Bytes of each data unit of a message of n bytes."""
    if sector_size is None:
        if n < BLOCK_SIZE:
            raise InvalidLength(f"data has {n} bytes; an XTS data unit has at least {BLOCK_SIZE}")
        return n
    m = as_index(sector_size, "sector_size")
    if m < BLOCK_SIZE:
        raise InvalidParameter(f"sector_size is {m}; an XTS data unit has at least {BLOCK_SIZE} bytes")
    if n % m:
        raise InvalidLength(f"data has {n} bytes, which is not whole sectors of {m} bytes")
    return m


def _tweak_number(tweak: Data | int, units: int) -> int:
    """The first tweak as a number, such that all units have one."""
    if isinstance(tweak, (int, np.integer)):
        number = int(tweak)
        if not 0 <= number < 1 << 128:
            raise InvalidNonce(f"tweak is {number}; a sector number is from 0 to 2^128 - 1")
    else:
        encoded = small(tweak, "tweak", (BLOCK_SIZE,), "16 bytes, unless it is a sector number")
        number = int.from_bytes(encoded, "little")
    if number + units > 1 << 128:
        raise InvalidNonce(f"tweak is {number}, and {units} sectors would count past 2^128 - 1")
    return number


def _tweaks(first: int, n: int) -> Bytes:
    """The numbers first, ..., first + n - 1 as little-endian uint8[n, 16]."""
    numbers = np.empty((n, 2), "<u8")
    low, high = first & (1 << 64) - 1, first >> 64
    numbers[:, 0] = np.arange(n, dtype=np.uint64)
    numbers[:, 0] += np.uint64(low)  # modulo 2^64; what is then below low has carried
    numbers[:, 1] = np.uint64(high)
    numbers[:, 1] += numbers[:, 0] < np.uint64(low)
    return numbers.view(np.uint8)


def _first_bytes(slot: Slot, schedule: Schedule, tweaks: Bytes, src: Bytes, dst: Bytes, count: int) -> None:
    """Process the first count bytes, whole blocks, of each unit; slots want them contiguous."""
    if count == 0:
        return
    if len(src) == 1:
        slot(schedule, tweaks, src[0, :count].reshape(1, count), dst[0, :count].reshape(1, count))
        return
    part = np.array(src[:, :count], order="C")
    slot(schedule, tweaks, part, part)
    dst[:, :count] = part


def _encrypt_stealing(slot: Slot, schedule: Schedule, tweaks: Bytes, src: Bytes, dst: Bytes) -> None:
    """Encrypt units whose length is not a multiple of 16; names as in the module's text.

    dst may be src: each part is read before it is written.
    """
    r = src.shape[1] % BLOCK_SIZE
    whole = src.shape[1] - r
    partial = src[:, whole:]
    _first_bytes(slot, schedule, tweaks, src, dst, whole)
    cc = dst[:, whole - BLOCK_SIZE : whole]
    stolen = np.concatenate((partial, cc[:, r:]), axis=1)
    dst[:, whole:] = cc[:, :r]
    slot(schedule, tweaks, stolen, stolen)
    dst[:, whole - BLOCK_SIZE : whole] = stolen


def _decrypt_stealing(slot: Slot, schedule: Schedule, tweaks: Bytes, src: Bytes, dst: Bytes) -> None:
    """Decrypt units whose length is not a multiple of 16; names as in the module's text.

    dst may be src: each part is read before it is written.
    """
    r = src.shape[1] % BLOCK_SIZE
    whole = src.shape[1] - r
    end = np.array(src[:, whole - BLOCK_SIZE : whole], order="C")
    partial = src[:, whole:]
    _first_bytes(slot, schedule, tweaks, src, dst, whole - BLOCK_SIZE)
    before_last = tweaks.copy()
    slot(schedule, tweaks, end, np.empty_like(end))  # only to advance the tweaks
    slot(schedule, tweaks, end, end)
    stolen = np.concatenate((partial, end[:, r:]), axis=1)
    dst[:, whole:] = end[:, :r]
    slot(schedule, before_last, stolen, stolen)
    dst[:, whole - BLOCK_SIZE : whole] = stolen
