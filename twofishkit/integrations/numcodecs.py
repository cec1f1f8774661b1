"""A numcodecs codec: for arrays of Zarr format 2, and whatever else takes one."""

from typing import Any, ClassVar

from numcodecs.abc import Codec
from numcodecs.registry import register_codec

from twofishkit.errors import InvalidParameter
from twofishkit.integrations import frames, keys

CODEC_ID = "twofishkit"


class TwofishCodec(Codec):  # type: ignore[misc]
    """Encrypts and authenticates chunks with Twofish-256.

    Where data is compressed too, this comes last: encrypted data does not compress.

    Parameters
    ----------
    key_id : str
        The name of the key: see `twofishkit.integrations.keys`.
    mode : "gcm" or "siv"
        GCM with a random nonce for each chunk, for up to 2^32 chunks under one key; or SIV, which
        survives repeated nonces and takes more than ten times as long.

    Raises
    ------
    InvalidParameter
        When it is made. WrongKey, InvalidTag and FormatError when it is used.
    """

    codec_id: ClassVar[str] = CODEC_ID

    def __init__(self, key_id: str, mode: str = "gcm") -> None:
        self.key_id = keys.check_id(key_id)
        self.mode = frames.check_mode(mode)
        self._framer: frames.Framer | None = None

    def _ready(self) -> frames.Framer:
        if self._framer is None:
            self._framer = frames.Framer(self.key_id, self.mode)
        return self._framer

    def encode(self, buf: Any) -> Any:
        """The encrypted chunk, uint8[n]."""
        return self._ready().encode(buf)

    def decode(self, buf: Any, out: Any = None) -> Any:
        """The chunk."""
        return self._ready().decode(buf, out)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "TwofishCodec":
        """From what stands in metadata, without its id."""
        if not {"key_id"} <= set(config) <= {"key_id", "mode"}:
            raise InvalidParameter(f"not the configuration of the codec {CODEC_ID}: {config!a}")
        return cls(**config)

    def get_config(self) -> dict[str, Any]:
        """What is written to metadata: no key."""
        return {"id": self.codec_id, "key_id": self.key_id, "mode": self.mode}

    def __reduce__(self) -> Any:
        # The key stays in this process.
        return type(self), (self.key_id, self.mode)

    def __repr__(self) -> str:
        return f"TwofishCodec(key_id={self.key_id!r}, mode={self.mode!r})"


register_codec(TwofishCodec)
