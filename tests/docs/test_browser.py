"""The built site, served by ``python -m http.server``, as a browser shows it."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.docs import browser

pytestmark = pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())


@contextmanager
def served(directory):
    """The address of a directory, served on the loopback interface."""
    command = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "-d", directory, "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ}
    ) as server:
        try:
            yield f"http://127.0.0.1:{server.stdout.readline().split(' port ')[1].split()[0]}/"
        finally:
            server.kill()


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser.chromium(tmp_path_factory.mktemp("chromium")) as found:
        yield found


@pytest.fixture(scope="module")
def site(built):
    with served(built) as address:
        yield address


def pages_of(directory):
    return sorted(
        path.relative_to(directory).as_posix()
        for path in directory.rglob("*.html")
        if "_static" not in path.relative_to(directory).parts  # templates of the theme
    )


def test_every_page_is_shown_whole_and_every_link_holds(driver, site, built):
    visit = browser.Visit(driver, site)
    faults = {page: visit.open(page) for page in pages_of(built)}
    assert len(faults) > 35
    assert {page: found for page, found in faults.items() if found} == {}
    assert visit.broken_links() == []


def test_search_finds_pages(driver, site):
    """The index is made when the site is built, and read by a script: no server has a part in it."""
    driver.get(f"{site}search.html?q=carry-less")
    driver.implicitly_wait(30)
    try:
        found = driver.find_elements("css selector", "#search-results li a")
    finally:
        driver.implicitly_wait(0)
    assert "How the kernels work" in [each.text for each in found]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("page", "count"), [("anatomy", 100), ("modes", 5)])
def test_words_in_outputs_stand_out_from_their_background(driver, site, theme, page, count):
    """What notebooks show brings no colours of its own: it must be readable on the theme's."""
    driver.get(f"{site}notebooks/{page}.html")
    driver.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    ratios = driver.execute_script(_CONTRAST, ".cell_output :is(caption, figcaption, td, p)")
    assert len(ratios) >= count
    assert min(ratios) > 4.5


#: WCAG 2's ratio of the luminances of an element's words and of what is behind it.
_CONTRAST = """
const parse = colour => colour.match(/[\\d.]+/g).map(Number);
const luminance = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
const behind = element => {
    for (let at = element; at; at = at.parentElement) {
        const colour = parse(getComputedStyle(at).backgroundColor);
        if (colour.length === 3 || colour[3] > .5) return colour;
    }
    return [255, 255, 255];
};
return [...document.querySelectorAll(arguments[0])].map(element => {
    const lights = [parse(getComputedStyle(element).color), behind(element)].map(luminance);
    return (Math.max(...lights) + .05) / (Math.min(...lights) + .05);
});
"""

BROKEN = """<!DOCTYPE html><html><head><title></title><link rel="icon" href="data:,"></head><body>
<p>no heading</p><div style="position: absolute; left: 0; width: 1400px">wide</div>
<img src="lost.png"><img alt="" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E">
<a href="good.html#there">1</a> <a href="good.html#gone">2</a> <a href="none.html">3</a> <a href="#gone">4</a>
<a href="some.txt">5</a> <a href="http://example.invalid/">6</a>
<script>undefined_function()</script><script src="http://127.0.0.1:9/elsewhere.js"></script>
</body></html>"""
GOOD = """<!DOCTYPE html><html><head><title>Good</title><link rel="icon" href="data:,"></head>
<body><h1 id="there">Good</h1></body></html>"""


def test_faults_are_found(driver, tmp_path):
    (tmp_path / "broken.html").write_text(BROKEN)
    (tmp_path / "good.html").write_text(GOOD)
    (tmp_path / "some.txt").write_text("here")
    with served(tmp_path) as address:
        visit = browser.Visit(driver, address)
        faults = visit.open("broken.html")
        assert visit.open("good.html") == []
        assert visit.broken_links() == [
            "broken.html: broken.html#gone",
            "broken.html: good.html#gone",
            "broken.html: none.html",
        ]
    for expected in (
        "it has no title",
        "no heading is shown",
        "an image is not shown: lost.png",
        f"an image has no alternative text: {address}lost.png",
        "it is 100 pixels wider than a window of 1300",
        "a request failed: 404 " + address + "lost.png",
        "something is asked elsewhere: http://127.0.0.1:9/elsewhere.js",
    ):
        assert expected in faults
    assert any(fault.startswith("the console says") and "undefined_function" in fault for fault in faults)
