"""Check that every link within a built site leads to a page and a heading: `python tools/site_links.py build/docs`.

Sphinx checks the links that it makes; those from one language to the other and to pages of source are made by docs/_ext.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse


class Page(HTMLParser):
    """The links of a page, and the places in it that have a name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.places.add(known.get("id") or "")
        if link := known.get("href" if tag in ("a", "link") else "src"):
            self.links.append(link)


def lost(site: Path) -> list[str]:
    """page: link, for each that leads nowhere. Highlighted modules are left out: their way back is by names that Sphinx guesses."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.resolve().rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link in page.links if "_modules" not in path.parts else []:
            address = urlparse(link)
            if address.scheme or address.netloc:
                continue
            to = (path.parent / unquote(address.path)).resolve() if address.path else path
            if not to.exists() or (to in pages and unquote(address.fragment) not in pages[to].places):
                found.append(f"{path.relative_to(site.resolve())}: {link}")
    return found


if __name__ == "__main__":
    wrong = lost(Path(sys.argv[1]))
    print("\n".join(wrong) or "every link leads somewhere")
    sys.exit(1 if wrong else 0)
