"""A shared library as a target, through ctypes.

Either it has one function that speaks the line protocol,

    int twofishkit_answer(const char *request, char *reply, size_t reply_bytes);

(0 when it has written its lines, with a zero byte after them), or functions for whole blocks:

    void encrypt(const uint8_t *key, size_t key_bytes, const uint8_t *in, uint8_t *out, size_t bytes);

The library runs inside this process, and takes it along if it crashes. ``python -m twofishkit diff
--library`` therefore puts it into a process of its own; so does `twofishkit.testing.serve`.
"""

import ctypes
import os
from ctypes import c_char_p, c_int, c_size_t
from typing import Any

from twofishkit.errors import InvalidParameter
from twofishkit.testing import protocol
from twofishkit.testing.cases import UNSUPPORTED, Answer, Case
from twofishkit.testing.targets.function import called

_ANSWER = "twofishkit_answer"
_REPLY_BYTES = 1 << 20


class LibraryTarget:
    """Functions of a shared library.

    Parameters
    ----------
    path : str or path
    encrypt, decrypt : str, optional
        Names of functions for whole blocks. Without them the library has ``twofishkit_answer``.

    Raises
    ------
    InvalidParameter
        If the library cannot be loaded, or has no such function.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, encrypt: str | None = None, decrypt: str | None = None
    ) -> None:
        self.name = os.fspath(path)
        try:
            # A path, not a name to search for.
            library = ctypes.CDLL(os.path.abspath(path))
        except OSError as error:
            raise InvalidParameter(f"cannot load {self.name}: {error}") from None
        self._answer: Any = None
        self._blocks: dict[str, Any] = {}
        if encrypt is None and decrypt is None:
            self._answer = self._function(library, _ANSWER, c_int, c_char_p, c_char_p, c_size_t)
        for operation, name in (("ecb-encrypt", encrypt), ("ecb-decrypt", decrypt)):
            if name is not None:
                arguments = (c_char_p, c_size_t, ctypes.c_void_p, ctypes.c_void_p, c_size_t)
                self._blocks[operation] = self._function(library, name, None, *arguments)

    def _function(self, library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
        try:
            function = getattr(library, name)
        except AttributeError:
            raise InvalidParameter(f"{self.name} has no function {name}") from None
        function.restype, function.argtypes = result, arguments
        return function

    def answer(self, case: Case) -> Answer:
        if self._answer is not None:
            return self._by_lines(case)
        function = self._blocks.get(case.operation)
        if function is None or case.chunks:
            return UNSUPPORTED
        return called(lambda: self._by_blocks(function, case))

    def _by_blocks(self, function: Any, case: Case) -> bytes:
        n = len(case.data)
        source = ctypes.create_string_buffer(case.data, n + 1)
        # One byte more, to see whether the function writes beyond its output.
        out = source if case.in_place else ctypes.create_string_buffer(n + 1)
        out[n] = b"\xa5"
        function(case.key, len(case.key), source, out, n)
        if out.raw[n:] != b"\xa5":
            raise MemoryError("wrote beyond the end of the output")
        return out.raw[:n]

    def _by_lines(self, case: Case) -> Answer:
        reply = ctypes.create_string_buffer(_REPLY_BYTES)
        code = self._answer(protocol.request(1, case).encode("ascii"), reply, _REPLY_BYTES)
        if code:
            return Answer(status="error", message=f"{_ANSWER} returned {code}")
        try:
            return protocol.parse_reply(1, reply.value.decode("ascii", "replace").splitlines())
        except protocol.MalformedLine as error:
            return Answer(status="malformed", message=str(error))

    def close(self) -> None:
        """Libraries stay loaded."""
