"""Python callables as targets."""

from collections.abc import Callable

from twofishkit.errors import InvalidTag
from twofishkit.testing.cases import REFUSED, UNSUPPORTED, Answer, Case

#: What a function may return for a case.
Result = Answer | bytes | tuple[bytes, bytes]


def called(function: Callable[[], Result]) -> Answer:
    """The answer that a call gives; its exceptions are answers as well."""
    try:
        result = function()
    except InvalidTag:
        return REFUSED
    except NotImplementedError as error:
        return Answer(status="unsupported", message=str(error)[:200])
    except Exception as error:  # whatever the code under test may raise
        return Answer(status="error", message=f"{type(error).__name__}: {error}"[:200])
    if isinstance(result, Answer):
        return result
    data, tag = result if isinstance(result, tuple) else (result, b"")
    return Answer(bytes(data), bytes(tag))


class FunctionTarget:
    """A function of a `Case`.

    Parameters
    ----------
    function : callable
        Returns the output, or (output, tag), or an `Answer`. Raises `twofishkit.InvalidTag` to refuse a
        tag and NotImplementedError for what it does not have.
    name : str, optional
        For reports.
    """

    def __init__(self, function: Callable[[Case], Result], name: str | None = None) -> None:
        self._function = function
        self.name = name or str(getattr(function, "__name__", function))

    def answer(self, case: Case) -> Answer:
        return called(lambda: self._function(case))

    def close(self) -> None:
        """Nothing to let go of."""


class BlockTarget:
    """A bare block cipher: functions of (key, block) for 16 bytes. Modes are unsupported.

    Parameters
    ----------
    encrypt_block : callable
    decrypt_block : callable, optional
    """

    def __init__(
        self,
        encrypt_block: Callable[[bytes, bytes], bytes],
        decrypt_block: Callable[[bytes, bytes], bytes] | None = None,
        name: str | None = None,
    ) -> None:
        self._functions = {"ecb-encrypt": encrypt_block, "ecb-decrypt": decrypt_block}
        self.name = name or str(getattr(encrypt_block, "__name__", encrypt_block))

    def answer(self, case: Case) -> Answer:
        permute = self._functions.get(case.operation)
        if permute is None or case.chunks or case.in_place:
            return UNSUPPORTED
        blocks = [case.data[i : i + 16] for i in range(0, len(case.data), 16)]
        return called(lambda: b"".join(bytes(permute(case.key, block)) for block in blocks))

    def close(self) -> None:
        """Nothing to let go of."""
