"""Zarr: a codec that encrypts chunks, and a store that also binds everything to its path.

The codec encrypts each chunk on its own. It is not told which chunk that is: whoever can write to
the storage can exchange chunks that were encrypted with one key, and change metadata.
The store encrypts every value, metadata too, together with its path in the store, so that
a value opens nowhere else. Neither notices that a value was deleted (Zarr then reads the fill value) or
that an older value of the same path was put back.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from zarr.abc.codec import BytesBytesCodec
from zarr.abc.store import (
    ByteRequest,
    OffsetByteRequest,
    RangeByteRequest,
    Store,
    SuffixByteRequest,
)
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.registry import register_codec
from zarr.storage import WrapperStore

from twofishkit.buffers import as_bytes
from twofishkit.errors import (
    FormatError,
    InvalidParameter,
    InvalidTag,
    TwofishKitError,
    UnsupportedType,
    WrongKey,
)
from twofishkit.integrations import frames, keys
from twofishkit.sealed import stream
from twofishkit.sealed.aead import TWOFISH_256_GCM
from twofishkit.sealed.stream import CHUNK_BYTES, PREFIX_BYTES, Bytes, ChunkedMessage

CODEC_NAME = "twofishkit"
#: Below this, handing work to another thread costs more than it saves.
_THREAD_FROM = 1 << 16


@dataclass(frozen=True)
class TwofishCodec(BytesBytesCodec):
    """Encrypts and authenticates chunks with Twofish-256: the Zarr v3 codec ``twofishkit``.

    Give it after the compressor: ``compressors=[BloscCodec(), TwofishCodec(key_id="...")]``.

    Parameters
    ----------
    key_id : str
        The name of the key: see `twofishkit.integrations.keys`. The key itself is looked up in
        each process when it is first used, and never stored or sent.
    mode : "gcm" or "siv"
        GCM with a random nonce for each chunk, for up to 2^32 chunks under one key; or SIV, which
        survives repeated nonces and takes more than ten times as long.

    Raises
    ------
    InvalidParameter
        When it is made. WrongKey, InvalidTag and FormatError when it is used.
    """

    key_id: str
    mode: str = "gcm"

    is_fixed_size = True

    def __post_init__(self) -> None:
        keys.check_id(self.key_id)
        frames.check_mode(self.mode)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """From what stands in metadata."""
        configuration = data.get("configuration", {})
        names = set(configuration)
        if data.get("name") != CODEC_NAME or not {"key_id"} <= names <= {"key_id", "mode"}:
            raise InvalidParameter(f"not the metadata of the codec {CODEC_NAME}: {data!a}")
        return cls(**configuration)

    def to_dict(self) -> dict[str, Any]:
        """What is written to metadata: no key."""
        return {"name": CODEC_NAME, "configuration": {"key_id": self.key_id, "mode": self.mode}}

    def __reduce__(self) -> Any:
        # Without what is cached: the key stays in this process.
        return type(self), (self.key_id, self.mode)

    @cached_property
    def _framer(self) -> frames.Framer:
        return frames.Framer(self.key_id, frames.check_mode(self.mode))

    async def _encode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer:
        data = as_bytes(chunk_data.as_numpy_array())
        frame = await _in_thread(data.size, self._framer.encode, data)
        return chunk_spec.prototype.buffer.from_array_like(frame)

    async def _decode_single(self, chunk_data: Buffer, chunk_spec: ArraySpec) -> Buffer:
        data = as_bytes(chunk_data.as_numpy_array())
        chunk = await _in_thread(data.size, self._framer.decode, data)
        return chunk_spec.prototype.buffer.from_array_like(chunk)

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: ArraySpec) -> int:
        """Bytes of a chunk when encrypted."""
        return input_byte_length + frames.overhead(frames.check_mode(self.mode))


register_codec(CODEC_NAME, TwofishCodec)


async def _in_thread(n_bytes: int, function: Any, *arguments: Any) -> Any:
    if n_bytes < _THREAD_FROM:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)


_START = b"\x89TFS\x01\0\0\0"
_HEAD_BYTES = len(_START) + PREFIX_BYTES
_LABEL = b"twofishkit/zarr-store/v1\0"
_TAG_BYTES = TWOFISH_256_GCM.tag_bytes


class EncryptedStore(WrapperStore[Any]):
    """A Zarr store that encrypts every value, chunks and metadata, and binds it to its path.

    A value that was altered, cut, renamed or put in the place of another is refused. Parts of a value,
    as sharding asks for them, are read without the rest.

    Parameters
    ----------
    store : zarr store
        Where the encrypted values go.
    key_id : str
        The name of the key: see `twofishkit.integrations.keys`. It is not stored with the data.

    Raises
    ------
    WrongKey
        On reading: the key is not known here, or it is not the one that the value was encrypted with,
        or the value was moved here from another path.
    InvalidTag, FormatError
        On reading: the value was altered or cut, or was never encrypted.
    """

    def __init__(self, store: Any, key_id: str) -> None:
        if not isinstance(store, Store):
            raise UnsupportedType(
                f"store must be a Zarr store, such as zarr.storage.LocalStore(path), and is of type"
                f" {type(store).__name__}"
            )
        super().__init__(store)
        self.key_id = keys.check_id(key_id)

    def _with_store(self, store: Any) -> Self:
        return type(self)(store, self.key_id)

    @classmethod
    async def open(cls, store_cls: type[Any], *args: Any, key_id: str, **kwargs: Any) -> Self:
        """As `zarr.abc.store.Store.open`."""
        store = store_cls(*args, **kwargs)
        await store._open()
        return cls(store, key_id)

    def __eq__(self, value: object) -> bool:
        return super().__eq__(value) and self.key_id == getattr(value, "key_id", None)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"encrypted-{self._store}"

    def __repr__(self) -> str:
        return f"EncryptedStore({self._store!r}, key_id={self.key_id!r})"

    # Writing -----------------------------------------------------------------------------------

    def _seal(self, path: str, value: Buffer) -> Bytes:
        data = as_bytes(value.as_numpy_array())
        message = ChunkedMessage.create(TWOFISH_256_GCM, keys.get_key(self.key_id), _context(path))
        sealed = np.empty(len(_START) + stream.sealed_length(data.size, _TAG_BYTES), np.uint8)
        sealed[:_HEAD_BYTES] = np.frombuffer(_START + message.prefix, np.uint8)
        message.seal(0, data, sealed[_HEAD_BYTES:], last=True)
        message.wipe()
        return sealed

    async def _sealed(self, path: str, value: Buffer) -> Buffer:
        sealed = await _in_thread(len(value), self._seal, path, value)
        return type(value).from_array_like(sealed)

    async def set(self, key: str, value: Buffer) -> None:
        await self._store.set(key, await self._sealed(key, value))

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        await self._store.set_if_not_exists(key, await self._sealed(key, value))

    async def _set_many(self, values: Iterable[tuple[str, Buffer]]) -> None:
        await asyncio.gather(*(self.set(key, value) for key, value in values))

    # Reading -----------------------------------------------------------------------------------

    def _resume(self, path: str, head: Bytes) -> ChunkedMessage:
        given = head[:_HEAD_BYTES].tobytes()
        if len(given) < _HEAD_BYTES or not given.startswith(_START):
            raise FormatError(f"{path}: not encrypted by this store, or cut")
        key = keys.get_key(self.key_id)
        try:
            return ChunkedMessage.resume(TWOFISH_256_GCM, key, _context(path), given[len(_START) :])
        except WrongKey:
            raise WrongKey(
                f"{path}: the key {self.key_id!r} here is not the one that this was encrypted with,"
                " or it was encrypted for another path"
            ) from None

    def _opened(self, path: str, head: Bytes, sealed: Bytes, first: int, last: bool) -> Bytes:
        """Chunks from number ``first`` on, opened."""
        message = self._resume(path, head)
        try:
            n = message.opened_bytes(sealed.size, last=last)
            opened = np.empty(n, np.uint8)
            message.open(first, sealed, opened, last=last)
        except (InvalidTag, FormatError) as error:
            raise type(error)(f"{path}: {error}") from None
        finally:
            message.wipe()
        return opened

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        if byte_range is not None:
            return await self._get_part(key, prototype, byte_range)
        value = await self._store.get(key, prototype)
        if value is None:
            return None
        data = as_bytes(value.as_numpy_array())
        opened = await _in_thread(data.size, self._opened, key, data, data[_HEAD_BYTES:], 0, True)
        return prototype.buffer.from_array_like(opened)

    async def _get_part(self, key: str, prototype: BufferPrototype, part: ByteRequest) -> Buffer | None:
        try:
            total = await self._store.getsize(key)
        except FileNotFoundError:
            return None
        n = _message_bytes(key, total)
        a, b = _bounds(part, n)
        pitch = CHUNK_BYTES + _TAG_BYTES
        # Whatever reaches the end takes the last chunk along: it shows whether that is the end.
        first = a // CHUNK_BYTES
        end = n // CHUNK_BYTES + 1 if b == n else (b - 1) // CHUNK_BYTES + 1
        ends = min(_HEAD_BYTES + end * pitch, total)
        head, sealed = await asyncio.gather(
            self._store.get(key, prototype, RangeByteRequest(0, _HEAD_BYTES)),
            self._store.get(key, prototype, RangeByteRequest(_HEAD_BYTES + first * pitch, ends)),
        )
        if head is None or sealed is None:
            return None
        opened = await _in_thread(
            len(sealed),
            self._opened,
            key,
            as_bytes(head.as_numpy_array()),
            as_bytes(sealed.as_numpy_array()),
            first,
            end > n // CHUNK_BYTES,
        )
        wanted = opened[a - first * CHUNK_BYTES : b - first * CHUNK_BYTES]
        return prototype.buffer.from_array_like(wanted)

    async def getsize(self, key: str) -> int:
        """Bytes of a value, decrypted. Not authenticated."""
        return _message_bytes(key, await self._store.getsize(key))

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        return list(await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges)))

    async def _get_many(
        self, requests: Iterable[tuple[str, BufferPrototype, ByteRequest | None]]
    ) -> AsyncGenerator[tuple[str, Buffer | None], None]:
        for key, prototype, part in requests:
            yield key, await self.get(key, prototype, part)

    async def get_ranges(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        **limits: Any,
    ) -> AsyncIterator[Sequence[tuple[int, Buffer | None]]]:
        """Parts of one value, neighbours in one read."""
        given = {name: limit for name, limit in limits.items() if limit is not None}
        joining = vars(Store)["get_ranges"]  # which calls `get`; older versions know nothing of it
        try:
            async for parts in joining(self, key, byte_ranges, prototype=prototype, **given):
                yield parts
        except BaseExceptionGroup as failed:
            error: BaseException | None = failed.subgroup(TwofishKitError)
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            if error is None:
                raise
            raise error from None

    #: Zarr may then not read and write without an event loop, past the methods above.
    _supports_sync_io = False


#: What `WrapperStore` may pass on: nothing of it carries a value.
_PASSED_ON = frozenset(
    (
        "_check_writable",
        "_ensure_open",
        "_is_open",
        "_open",
        "clear",
        "close",
        "delete",
        "delete_dir",
        "exists",
        "is_empty",
        "list",
        "list_dir",
        "list_prefix",
        "read_only",
        "supports_deletes",
        "supports_listing",
        "supports_partial_writes",
        "supports_writes",
        "with_read_only",
    )
)


def _refusing(name: str) -> Any:
    def refuse(self: EncryptedStore, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedType(f"{name}() of an EncryptedStore would go past its encryption")

    return refuse


# A later Zarr adds ways to read and write, and its wrapper passes them on: values would be stored as they
# are. What is not known here is left to what a `Store` makes of the methods above, or refused.
for _name in vars(WrapperStore).keys() - vars(EncryptedStore).keys() - _PASSED_ON:
    if callable(getattr(WrapperStore, _name)) and not _name.startswith("__"):
        setattr(EncryptedStore, _name, vars(Store).get(_name) or _refusing(_name))


def _context(path: str) -> bytes:
    return _LABEL + path.encode("utf-8")


def _message_bytes(path: str, total: int) -> int:
    """Bytes of a value, from those of its encrypted form."""
    try:
        return stream.message_length(total - len(_START), _TAG_BYTES)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None


def _bounds(part: ByteRequest, n: int) -> tuple[int, int]:
    """Where a part of n bytes begins and ends; an empty one is at the end."""
    if isinstance(part, RangeByteRequest):
        return (min(part.start, n), min(part.end, n)) if part.start < part.end else (n, n)
    if isinstance(part, OffsetByteRequest):
        return min(part.offset, n), n
    assert isinstance(part, SuffixByteRequest)
    return max(n - part.suffix, 0), n
