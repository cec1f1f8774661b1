"""Arrays that know how to show themselves: in a notebook as HTML, elsewhere as text, and with `plot`.

`Shown` is an ordinary NumPy array with a `Look`. Whatever is computed from it (slices, sums, copies of
another shape) is a plain array again, since the look says what the whole of it means.
"""

from typing import Any, Protocol

import numpy as np

from twofishkit.errors import MissingDependency, UnsupportedType


class Look(Protocol):
    """How to show one kind of result."""

    def text(self, values: Any) -> str:
        """A few lines for `repr`."""
        ...

    def html(self, values: Any) -> str:
        """Deterministic HTML."""
        ...

    def draw(self, values: Any, ax: Any, pyplot: Any) -> Any:
        """Draw with matplotlib on ``ax``, or on new axes if it is None; return the axes."""
        ...


class Shown(np.ndarray[Any, np.dtype[Any]]):
    """A NumPy array that a notebook shows as a table or a picture, and that has `plot`.

    Slices of it and results computed from it are plain arrays.
    """

    look: Look | None

    def __array_finalize__(self, source: Any) -> None:
        self.look = None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        plain = [_plain(each) for each in inputs]
        if out is not None:
            options["out"] = tuple(_plain(each) for each in out)
        return getattr(ufunc, method)(*plain, **options)

    def __getitem__(self, index: Any) -> Any:
        return _plain(self)[_plain(index)]

    def __reduce__(self) -> Any:
        return _plain(self).__reduce__()

    def __repr__(self) -> str:
        return repr(_plain(self)) if self.look is None else self.look.text(_plain(self))

    __str__ = __repr__

    def _repr_html_(self) -> str | None:
        return None if self.look is None else self.look.html(_plain(self))

    def plot(self, ax: Any = None) -> Any:
        """Draw with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, or an array of them where several panels are drawn; optional
            New ones are made if there are none given.

        Returns
        -------
        matplotlib.axes.Axes
            Those that were drawn on.

        Raises
        ------
        MissingDependency
            If matplotlib is not installed; it comes with ``pip install "twofishkit[lab]"``.
        UnsupportedType
            For an array that was reshaped or viewed, and has no meaning of its own any more.
        """
        if self.look is None:
            raise UnsupportedType(
                "this array was made from a result of twofishkit.lab, and has no plot itself"
            )
        return self.look.draw(_plain(self), ax, pyplot())


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Shown) else value


def show(values: Any, look: Look) -> Shown:
    """The array as a `Shown` with this look."""
    shown = np.asarray(values).view(Shown)
    shown.look = look
    return shown


def pyplot() -> Any:
    """matplotlib.pyplot, imported when it is first needed.

    Raises
    ------
    MissingDependency : it is not installed
    """
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise MissingDependency(
            f'plot() needs {error.name}, which is not installed: pip install "twofishkit[lab]"'
        ) from None
    return plt
