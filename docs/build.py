"""Builds the HTML pages with warnings as errors, and checks every link within them.

    python docs/build.py [DIRECTORY]        # docs/_build/html if none is given
    python -m http.server -d docs/_build/html

Needs the extra ``twofishkit[docs]``. Nothing is fetched from a network.
"""

import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent


class _Page(HTMLParser):
    """The link targets that a page has, and those that it names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")
            elif name in ("href", "src") and value:
                self.links.add(value)


def broken_links(directory: Path) -> list[str]:
    """Links from one page to another, to an anchor or to a file, that lead nowhere: "page: link"."""
    directory = directory.resolve()
    pages = {
        path: _Page(path.read_text("utf-8"))
        for path in directory.rglob("*.html")
        if "_static" not in path.relative_to(directory).parts  # templates of the theme
    }
    broken = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            found = target.exists()
            if found and parts.fragment and target in pages:
                found = unquote(parts.fragment) in pages[target].anchors
            if not found:
                broken.append(f"{path.relative_to(directory)}: {link}")
    return broken


def build(directory: Path) -> int:
    """Build into a new directory; the number of things that are wrong."""
    from sphinx.cmd.build import main as sphinx

    if directory.exists():
        shutil.rmtree(directory)
    doctrees = directory.parent / f".{directory.name}-doctrees"
    status = sphinx(
        ["-W", "--keep-going", "-q", "-E", "-b", "html", "-d", str(doctrees), str(HERE), str(directory)]
    )
    shutil.rmtree(doctrees, ignore_errors=True)
    if status:
        return int(status)
    broken = broken_links(directory)
    for each in broken:
        print(f"broken link in {each}", file=sys.stderr)
    return len(broken)


if __name__ == "__main__":
    sys.exit(bool(build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "_build" / "html")))
