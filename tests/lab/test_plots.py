"""Plots: on the right axes, of the right values, with titles; and what happens without matplotlib."""

import builtins

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.lab.results import RESULTS
from twofishkit import errors, lab

matplotlib.use("Agg")


@pytest.fixture(params=RESULTS)
def result(request):
    return RESULTS[request.param]()


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_every_plot_says_what_it_shows(result):
    axes = np.atleast_1d(result.plot())
    for each in axes:
        assert each.get_title()
    if "pixels" not in repr(result):
        assert all(each.get_xlabel() for each in axes)
        assert axes[0].get_ylabel()
    axes[0].figure.canvas.draw()


def test_plots_draw_on_axes_that_they_are_given():
    _, ax = plt.subplots()
    assert lab.avalanche(samples=5, rounds=2).plot(ax) is ax
    assert ax.get_ylim() == (0, 128)
    _, panels = plt.subplots(1, 4)
    assert list(lab.strict_avalanche(samples=2, rounds=3).plot(panels)) == list(panels)
    assert [each.get_title() for each in panels] == ["0 rounds", "1 round", "2 rounds", "3 rounds"]
    with pytest.raises(errors.InvalidLength, match="4 axes were given, and there are 5 panels"):
        lab.encrypted_pictures().plot(panels)


def test_plotted_values_are_the_results():
    counts = lab.avalanche(samples=20, rounds=4)
    line = lab.avalanche(samples=20, rounds=4).plot().get_lines()[0]
    assert np.array_equal(line.get_ydata(), np.median(counts, axis=1))
    table = lab.linear_table(lab.q0)
    assert np.array_equal(table.plot().get_images()[0].get_array(), table)


def test_without_matplotlib_everything_works_but_plot(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *rest):
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    result = lab.difference_table(lab.q0)
    assert "<img" in result._repr_html_()
    with pytest.raises(errors.MissingDependency, match=r"twofishkit\[lab\]") as caught:
        result.plot()
    assert isinstance(caught.value, ImportError)
