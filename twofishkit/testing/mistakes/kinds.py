"""What a known mistake is."""

from collections.abc import Iterator
from dataclasses import dataclass

from twofishkit.errors import TwofishKitError
from twofishkit.testing.cases import CIPHER_MODES, Answer, Case
from twofishkit.testing.mistakes.recipe import Recipe
from twofishkit.testing.oracle import Expand, ModeFunction, answer, expand

#: Whatever runs on the block cipher. (GHASH alone does not.)
ON_THE_CIPHER = ("subkeys", "sbox-key", "trace", *CIPHER_MODES, "cmac")

#: Where the inverse cipher runs.
ON_THE_INVERSE = ("ecb", "cbc", "xts", "ocb")


@dataclass(frozen=True)
class Mistake:
    """One named variation of the reference.

    Attributes
    ----------
    name : for machines, such as "rs-words-reversed"
    title : completes "equals Twofish with ..." or "equals GCM with ..."
    modes : where it can show
    recipe : the mistaken block cipher, if the mistake is there
    function : the mistaken mode, if the mistake is there
    """

    name: str
    title: str
    modes: tuple[str, ...]
    recipe: Recipe | None = None
    function: ModeFunction | None = None

    def equals(self, mode: str) -> str:
        """The sentence for a target that makes this mistake in ``mode``."""
        return f"equals {'Twofish' if self.recipe else mode.upper()} with {self.title}"

    def answer(self, case: Case, expand: Expand = expand) -> Answer | None:
        """What an implementation with this mistake answers; None if it cannot process the case.

        Parameters
        ----------
        case : of any mode; where the mistake does not show, the answer is right
        expand : the block cipher below a mistaken mode
        """
        if case.mode not in self.modes:
            return answer(case, expand)
        try:
            return answer(case, self.recipe or expand, self.function)
        except TwofishKitError:
            return None


def cipher_mistakes(recipes: dict[str, tuple[str, Recipe]]) -> Iterator[Mistake]:
    """Mistakes of the block cipher from their names, titles and recipes."""
    for name, (title, recipe) in recipes.items():
        yield Mistake(name, title, ON_THE_INVERSE if recipe.decrypting else ON_THE_CIPHER, recipe=recipe)


def mode_mistakes(mode: str, functions: dict[str, tuple[str, ModeFunction]]) -> Iterator[Mistake]:
    """Mistakes of one mode from their names, titles and functions."""
    for name, (title, function) in functions.items():
        yield Mistake(name, title, (mode,), function=function)
