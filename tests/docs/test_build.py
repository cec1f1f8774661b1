"""The pages build without a warning, their links hold, and every public name is in the reference."""

import importlib.util
import re
import zlib

import pytest

import twofishkit
from tests.docs.conftest import SCRIPT
from twofishkit import lab, testing


@pytest.fixture(scope="module")
def documented(built):
    """The names in the inventory that other projects' pages link to."""
    data = (built / "objects.inv").read_bytes()
    body = data[[i for i, byte in enumerate(data) if byte == 10][3] + 1 :]
    return {line.split(" ", 1)[0] for line in zlib.decompress(body).decode().splitlines()}


def test_every_public_name_is_in_the_reference(documented):
    names = {
        f"twofishkit.{name}"
        for name in twofishkit.__all__
        if name not in ("__version__", "backend", "errors")
    }
    names |= {f"twofishkit.lab.{name}" for name in lab.__all__}
    names |= {f"twofishkit.testing.{name}" for name in testing.__all__}
    names |= {
        f"twofishkit.errors.{name}"
        for name, value in vars(twofishkit.errors).items()
        if isinstance(value, type)
    }
    errors = {f"twofishkit.{name}" for name in vars(twofishkit.errors)}
    assert names - errors - documented == set()


def test_pages_show_what_they_should(built):
    """A picture or a figure that was lost is no warning in Sphinx."""
    kernels = (built / "kernels.html").read_text("utf-8")
    for name in ("round", "slicing", "permutes", "shuffles", "nibbles", "ghash"):
        assert f"{name}.svg" in kernels
    speed = (built / "speed.html").read_text("utf-8")
    assert "speed.svg" in speed
    assert "libgcrypt" in speed
    lab_page = (built / "lab.html").read_text("utf-8")
    assert "one block through 16 rounds" in lab_page
    assert "avalanche.png" in lab_page
    anatomy = (built / "notebooks" / "anatomy.html").read_text("utf-8")
    assert "one block through 16 rounds" in anatomy
    assert "data:image/png;base64," in anatomy


def test_nothing_is_fetched_from_elsewhere(built):
    """Pages work without a network: no script, style or picture comes from another host."""
    for page in built.rglob("*.html"):
        if "_static" in page.relative_to(built).parts:
            continue
        found = re.findall(
            r'<(?:script|img)[^>]* src="(https?:[^"]*)"|<link[^>]* href="(https?:[^"]*)"', page.read_text()
        )
        assert found == [], page


def test_broken_links_are_found(tmp_path):
    spec = importlib.util.spec_from_file_location("docs_build", SCRIPT)
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(
        '<a href="sub/page.html#there">1</a><a href="sub/page.html#gone">2</a><a href="missing.html">3</a>'
        '<a href="#top">4</a><h1 id="top">T</h1><img src="lost.png">'
        '<a href="https://example.org/x">5</a><a href="sub">6</a>'
    )
    (tmp_path / "sub" / "page.html").write_text('<h2 id="there">T</h2><a href="../index.html">1</a>')
    assert sorted(build.broken_links(tmp_path)) == [
        "index.html: lost.png",
        "index.html: missing.html",
        "index.html: sub",
        "index.html: sub/page.html#gone",
    ]
