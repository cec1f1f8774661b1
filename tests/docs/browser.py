"""Opens pages in a headless Chromium and tells what is wrong with them.

Chromium is driven by Selenium through the ``chromedriver`` that the distribution's package brings: no
browser is downloaded, and none of Selenium's own look-ups of drivers run, since both paths are given.
"""

import json
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

#: Chromium runs as root in containers, and asks nobody on the network for anything.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1300,1000",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Widths of a laptop's window and of a telephone.
WIDTHS = (1300, 500)

_LOOK = """
const done = arguments[arguments.length - 1];
const shown = element => element.getClientRects().length > 0;
const images = [...document.images].filter(shown);
Promise.allSettled([document.fonts.ready, ...images.map(image => image.decode())]).then(() => done({
    title: document.title,
    heading: [...document.querySelectorAll("h1")].some(h => shown(h) && h.innerText.trim()),
    lost: images.filter(image => !image.naturalWidth).map(image => image.getAttribute("src").slice(0, 80)),
    mute: images.filter(image => !image.hasAttribute("alt")).map(image => image.src.slice(0, 80)),
    links: [...document.querySelectorAll("a[href]")].map(a => a.href),
    anchors: [...document.querySelectorAll("[id]")].map(each => each.id),
}));
"""


def missing() -> str:
    """Why no browser can be started, or nothing if one can."""
    lacking = [] if browser() else ["Chromium"]
    lacking += [] if shutil.which("chromedriver") else ["chromedriver"]
    return f"{' and '.join(lacking)} not installed" if lacking else ""


def browser() -> str | None:
    """The program, as one of `BROWSERS`."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """A running Chromium with an empty profile; ended with the block."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser() or ""
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(
        shutil.which("chromedriver"), env={**os.environ, "NO_PROXY": "*", "no_proxy": "*"}
    )
    driver = webdriver.Chrome(options=options, service=service)
    try:
        driver.set_page_load_timeout(60)
        driver.set_script_timeout(60)
        yield driver
    finally:
        driver.quit()


class Visit:
    """Pages of one site, opened one after the other.

    Parameters
    ----------
    driver : what `chromium` gives
    root : the site's address, with a slash at its end
    """

    def __init__(self, driver: Any, root: str) -> None:
        self._driver, self._root = driver, root
        self._anchors: dict[str, set[str]] = {}
        self._links: dict[str, set[str]] = {}

    def open(self, page: str) -> list[str]:
        """Open a page; what is wrong with it as it is shown."""
        address = self._root + page
        self._driver.get(address)
        seen = self._driver.execute_async_script(_LOOK)
        self._anchors[address] = set(seen["anchors"])
        self._links[address] = set(seen["links"])
        faults = [] if seen["title"] else ["it has no title"]
        faults += [] if seen["heading"] else ["no heading is shown"]
        faults += [f"an image is not shown: {source}" for source in seen["lost"]]
        faults += [f"an image has no alternative text: {source}" for source in seen["mute"]]
        for width in WIDTHS:
            self._driver.set_window_size(width, 1000)
            wide = self._driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
            if wide > 0:
                faults.append(f"it is {wide} pixels wider than a window of {width}")
        self._driver.set_window_size(WIDTHS[0], 1000)
        return faults + self._logged()

    def _logged(self) -> list[str]:
        """Errors of scripts, requests that failed, and requests to other hosts, since the last call."""
        faults = [
            f"the console says: {entry['message']}"
            for entry in self._driver.get_log("browser")
            if entry["level"] == "SEVERE"
        ]
        asked: dict[str, str] = {}
        for entry in self._driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            told = message["params"]
            # Only what the site's pages ask for: the browser has business of its own when it starts.
            if message["method"] == "Network.requestWillBeSent" and told["documentURL"].startswith(
                self._root
            ):
                asked[told["requestId"]] = address = told["request"]["url"]
                if self._elsewhere(address):
                    faults.append(f"something is asked elsewhere: {address}")
            elif told.get("requestId") not in asked:
                continue
            elif message["method"] == "Network.loadingFailed":
                faults.append(f"a request failed: {told['errorText']} {asked[told['requestId']]}")
            elif message["method"] == "Network.responseReceived" and told["response"]["status"] >= 400:
                faults.append(f"a request failed: {told['response']['status']} {asked[told['requestId']]}")
        return faults

    def _elsewhere(self, address: str) -> bool:
        return urlsplit(address).scheme in ("http", "https") and not address.startswith(self._root)

    def broken_links(self) -> list[str]:
        """Links of the pages that were opened to places within the site that there are not."""
        broken = []
        for page, links in self._links.items():
            for link in sorted(links):
                if link.startswith(self._root) and not self._holds(*urldefrag(link)):
                    broken.append(f"{page.removeprefix(self._root)}: {link.removeprefix(self._root)}")
        return broken

    def _holds(self, address: str, fragment: str) -> bool:
        address = address.partition("?")[0]
        if address.endswith("/"):
            address += "index.html"
        if address not in self._anchors:
            return not fragment and self._exists(address)
        return not fragment or unquote(fragment) in self._anchors[address]

    def _exists(self, address: str) -> bool:
        """Whether a file that is no page of these is served."""
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(urllib.request.Request(address, method="HEAD"), timeout=60):
                return True
        except urllib.error.HTTPError:
            return False
