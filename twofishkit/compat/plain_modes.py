"""The unauthenticated modes of `twofishkit.compat.pep272`: ECB, CBC, CFB, OFB, CTR and OPENPGP.

An object serves one message. Its first call decides whether it encrypts or decrypts; further calls go on
with the same message.
"""

import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np

from twofishkit.buffers import Bytes, Data, as_bytes, byte_length, small
from twofishkit.cipher import BLOCK_SIZE, Cipher, as_index
from twofishkit.compat.calls import MessageTooLong, OutOfOrder, Output, check_output, given, refuse_unknown
from twofishkit.errors import InvalidLength, InvalidParameter, UnsupportedType
from twofishkit.modes.cbc import CBC
from twofishkit.modes.cfb import CFB, CFB8
from twofishkit.modes.ctr import CTR
from twofishkit.modes.ecb import ECB
from twofishkit.modes.ofb import OFB
from twofishkit.modes.streaming import KeystreamContext


class EcbMode:
    """ECB: whole blocks, each on its own. Both directions at any time."""

    block_size = BLOCK_SIZE

    def __init__(self, cipher: Cipher, parameters: dict[str, Any]) -> None:
        refuse_unknown(parameters, "ECB")
        self._mode = ECB(cipher)

    def encrypt(self, plaintext: Data, output: Output = None) -> Any:
        """Encrypt whole blocks; return them, or None if they are in output."""
        _check_blocks(plaintext, output, "Data must be aligned to block boundary in ECB mode")
        return given(self._mode.encryptor().update(plaintext, out=output), output)

    def decrypt(self, ciphertext: Data, output: Output = None) -> Any:
        """Decrypt whole blocks; return them, or None if they are in output."""
        _check_blocks(ciphertext, output, "Data must be aligned to block boundary in ECB mode")
        return given(self._mode.decryptor().update(ciphertext, out=output), output)


class StreamMode:
    """What CBC, CFB, OFB and CTR have in common: one message, one direction, any number of calls.

    Parameters
    ----------
    mode : object with ``encryptor()`` and ``decryptor()``
    whole_blocks : str, optional
        The error message for data that is not whole blocks; any length is fine without.
    """

    block_size = BLOCK_SIZE

    def __init__(self, mode: Any, whole_blocks: str | None = None) -> None:
        self._mode = mode
        self._whole_blocks = whole_blocks
        self._direction = ""
        self._context: Any = None

    def encrypt(self, plaintext: Data, output: Output = None) -> Any:
        """Encrypt the next piece; return it, or None if it is in output.

        Raises
        ------
        OutOfOrder
            A TypeError, after `decrypt`.
        InvalidLength, MessageTooLong
            ValueErrors: an output of the wrong size, no whole blocks in CBC, no counters left.
        UnsupportedType
            A TypeError, for data or output of the wrong type.
        """
        return self._next("encrypt", "decrypt", plaintext, output)

    def decrypt(self, ciphertext: Data, output: Output = None) -> Any:
        """Decrypt the next piece. Results and errors are those of `encrypt`, the other way round."""
        return self._next("decrypt", "encrypt", ciphertext, output)

    def _next(self, direction: str, other: str, data: Data, output: Output) -> Any:
        if self._direction == other:
            raise OutOfOrder(f"{direction}() cannot be called after {other}()")
        self._direction = direction
        if self._whole_blocks:
            _check_blocks(data, output, self._whole_blocks)
        else:
            check_output(data, output)
        if self._context is None:
            self._context = self._mode.encryptor() if direction == "encrypt" else self._mode.decryptor()
        return given(self._context.update(data, out=output), output)


class IvMode(StreamMode):
    """CBC, CFB or OFB, with the IV as attributes ``iv`` and ``IV``."""

    def __init__(self, iv: bytes, mode: Any, whole_blocks: str | None = None) -> None:
        super().__init__(mode, whole_blocks)
        self.iv = self.IV = iv


def new_cbc(cipher: Cipher, parameters: dict[str, Any]) -> IvMode:
    iv = _iv(parameters)
    refuse_unknown(parameters, "CBC")
    return IvMode(iv, CBC(cipher, iv), "Data must be padded to 16 byte boundary in CBC mode")


def new_ofb(cipher: Cipher, parameters: dict[str, Any]) -> IvMode:
    iv = _iv(parameters)
    refuse_unknown(parameters, "OFB")
    return IvMode(iv, OFB(cipher, iv))


def new_cfb(cipher: Cipher, parameters: dict[str, Any]) -> IvMode:
    """CFB; segment_size counts bits, and is 8 unless given."""
    iv = _iv(parameters)
    segment, rest = divmod(as_index(parameters.pop("segment_size", 8), "segment_size"), 8)
    if rest or not 1 <= segment <= BLOCK_SIZE:
        raise InvalidParameter("'segment_size' must be positive and multiple of 8 bits, and at most 128")
    refuse_unknown(parameters, "CFB")
    if segment == 1:
        return IvMode(iv, CFB8(cipher, iv))
    return IvMode(iv, CFB(cipher, iv) if segment == BLOCK_SIZE else Segments(cipher, iv, segment))


class Segments:
    """CFB with segments of 2 to 15 bytes: C_i = P_i ^ first bytes of E(R); R then shifts C_i in.

    One segment at a time: rare enough to stay simple. Source: NIST SP 800-38A, 6.3.
    """

    def __init__(self, cipher: Cipher, iv: bytes, segment: int) -> None:
        self._ecb, self._register, self._segment = ECB(cipher), iv, segment
        self._keystream = b""
        self._ciphertext = b""  # of the segment in progress
        self._decrypting = False

    def encryptor(self) -> "Segments":
        return self

    def decryptor(self) -> "Segments":
        self._decrypting = True
        return self

    def update(self, data: Data, *, out: Output = None) -> Any:
        """Process the next piece, any length."""
        source, result = as_bytes(data).tobytes(), bytearray()
        while len(result) < len(source):
            if not self._keystream:
                self._register = (self._register + self._ciphertext)[-BLOCK_SIZE:]
                self._ciphertext = b""
                self._keystream = self._ecb.encrypt(self._register)[: self._segment]
            piece = source[len(result) : len(result) + len(self._keystream)]
            done = bytes(a ^ b for a, b in zip(piece, self._keystream, strict=False))
            self._ciphertext += piece if self._decrypting else done
            self._keystream = self._keystream[len(piece) :]
            result += done
        if out is None:
            return bytes(result)
        memoryview(out).cast("B")[:] = result
        return out


class CtrMode(StreamMode):
    """CTR; ``nonce`` is what precedes the counter (not set if something follows it)."""

    def __init__(self, counter: "Counter") -> None:
        super().__init__(counter)
        if not counter.suffix:
            self.nonce = counter.prefix


class Counter:
    """Counter blocks of any shape, prefix || counter || suffix, as a mode with contexts.

    Parameters
    ----------
    cipher : Cipher
    prefix, suffix : bytes
        The constant part of each block.
    initial : int
        The counter of the first block. It wraps; the limit is on the number of blocks.
    byteorder : "big" or "little"
    """

    def __init__(
        self, cipher: Cipher, prefix: bytes, suffix: bytes, initial: int, byteorder: Any = "big"
    ) -> None:
        self.cipher, self.prefix, self.suffix = cipher, prefix, suffix
        self.width = BLOCK_SIZE - len(prefix) - len(suffix)
        self.byteorder = byteorder
        self.initial = initial

    def block(self, i: int) -> bytes:
        """Counter block number i of the message."""
        value = (self.initial + i) % (1 << 8 * self.width)
        return self.prefix + value.to_bytes(self.width, self.byteorder) + self.suffix

    def encryptor(self) -> "CounterContext":
        return CounterContext(self)

    decryptor = encryptor


class CounterContext:
    """One message under a `Counter`, given in pieces."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._bytes = self._blocks = 0
        self._stream = KeystreamContext(counter.cipher, self._add_keystream)

    def update(self, data: Data, *, out: Output = None) -> Any:
        """Process the next piece.

        Raises
        ------
        MessageTooLong
            If a counter block would come for the second time; nothing is processed then.
        """
        self._bytes += byte_length(data)
        if self._bytes > BLOCK_SIZE << 8 * self._counter.width:
            self._bytes -= byte_length(data)
            raise MessageTooLong("The counter has wrapped around in CTR mode")
        return self._stream.update(data, out=out)

    def _add_keystream(self, schedule: Any, src: Bytes, dst: Bytes) -> None:
        """XOR whole blocks of keystream; where the kernel's counter would carry out of ours, begin anew."""
        counter, at = self._counter, 0
        little = counter.byteorder == "little"
        # The kernel counts in one end of the block; anything else is prepared block by block.
        counts = not counter.prefix if little else not counter.suffix
        while at < src.size:
            first = (counter.initial + self._blocks) % (1 << 8 * counter.width)
            n = min((src.size - at) // BLOCK_SIZE, (1 << 8 * counter.width) - first)
            piece = slice(at, at + n * BLOCK_SIZE)
            if counts:
                start = counter.block(self._blocks)
                CTR(counter.cipher, start, byteorder=counter.byteorder).encrypt(src[piece], out=dst[piece])
            else:
                blocks = b"".join(counter.block(self._blocks + i) for i in range(n))
                keystream = np.frombuffer(ECB(counter.cipher).encrypt(blocks), np.uint8)
                np.bitwise_xor(src[piece], keystream, out=dst[piece])
            self._blocks += n
            at = piece.stop


def new_ctr(cipher: Cipher, parameters: dict[str, Any]) -> CtrMode:
    """CTR from a nonce and an initial value, or from an object of ``Crypto.Util.Counter``."""
    parameters.pop("threads", None)
    counter, nonce = parameters.pop("counter", None), parameters.pop("nonce", None)
    initial = parameters.pop("initial_value", None)
    refuse_unknown(parameters, "CTR")
    if counter is not None:
        if (nonce, initial) != (None, None):
            raise UnsupportedType("'counter' and 'nonce'/'initial_value' are mutually exclusive")
        return CtrMode(_given_counter(cipher, counter))
    prefix = secrets.token_bytes(BLOCK_SIZE // 2)
    if nonce is not None:
        prefix = small(nonce, "nonce", range(BLOCK_SIZE), "0 to 15 bytes in CTR mode")
    width = BLOCK_SIZE - len(prefix)
    if initial is None or isinstance(initial, int | np.integer):
        value = int(initial or 0)
        if not 0 <= value < 1 << 8 * width:
            raise InvalidParameter("Initial counter value is too large")
    else:
        value = int.from_bytes(small(initial, "initial_value", (width,), f"{width} bytes"), "big")
    return CtrMode(Counter(cipher, prefix, b"", value))


def _given_counter(cipher: Cipher, counter: Mapping[str, Any]) -> Counter:
    try:
        width, prefix, suffix = counter["counter_len"], counter["prefix"], counter["suffix"]
        value, little = counter["initial_value"], counter["little_endian"]
    except (KeyError, TypeError):
        raise UnsupportedType("Incorrect counter object (use Crypto.Util.Counter.new)") from None
    size = len(prefix) + width + len(suffix)
    if size != BLOCK_SIZE:
        raise InvalidParameter(f"Size of the counter block ({size} bytes) must match block size (16)")
    return Counter(cipher, bytes(prefix), bytes(suffix), value, "little" if little else "big")


class OpenPgpMode:
    """CFB as OpenPGP's older packets use it, with resynchronisation after the prefix.

    The ciphertext begins with the encrypted IV, 18 bytes; to decrypt, those are the ``iv`` given.
    Source: RFC 4880, 13.9.
    """

    block_size = BLOCK_SIZE

    def __init__(self, cipher: Cipher, parameters: dict[str, Any]) -> None:
        iv = _iv(parameters, (BLOCK_SIZE, BLOCK_SIZE + 2), "16 bytes to encrypt, 18 to decrypt")
        refuse_unknown(parameters, "OPENPGP")
        prefix = CFB(cipher, bytes(BLOCK_SIZE))
        if len(iv) == BLOCK_SIZE:
            self._encrypted_iv: bytes = prefix.encrypt(iv + iv[-2:])
        else:
            self._encrypted_iv, iv = iv, prefix.decrypt(iv)[:-2]
        self.iv = self.IV = iv
        self._stream = StreamMode(CFB(cipher, self._encrypted_iv[2:]))
        self._prefix_due = True

    def encrypt(self, plaintext: Data) -> bytes:
        """Encrypt the next piece; the first one comes with the encrypted IV before it."""
        result: bytes = self._stream.encrypt(plaintext)
        if self._prefix_due:
            result, self._prefix_due = self._encrypted_iv + result, False
        return result

    def decrypt(self, ciphertext: Data) -> bytes:
        """Decrypt the next piece of what follows the encrypted IV."""
        result: bytes = self._stream.decrypt(ciphertext)
        return result


def _iv(
    parameters: dict[str, Any],
    lengths: tuple[int, ...] = (BLOCK_SIZE,),
    allowed: str = "16 bytes",
) -> bytes:
    """The IV given as ``iv`` or ``IV``, or a random one."""
    iv, other = parameters.pop("IV", None), parameters.pop("iv", None)
    if iv is not None and other is not None:
        raise UnsupportedType("You must either use 'iv' or 'IV', not both")
    iv = other if iv is None else iv
    if iv is None:
        return secrets.token_bytes(BLOCK_SIZE)
    return small(iv, "iv", lengths, allowed)


def _check_blocks(data: Data, output: Output, message: str) -> None:
    check_output(data, output)
    if byte_length(data) % BLOCK_SIZE:
        raise InvalidLength(message)
