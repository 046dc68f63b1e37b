"""Two builds of one site: links that leave a build, and the switch between the languages.

The Korean page of docs/X.md is docs/ko/X.md. English is built into build/docs, Korean into build/docs/ko. Links in a page lead
to files of the repository. Here they become pages: of this build, of the other one, or of highlighted source.
"""

import html
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
KOREAN = DOCS / "ko"
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^\s*(```|~~~)")
NAMES = {"en": "English", "ko": "한국어"}
LEXERS = {".py": "python", ".md": "markdown", ".json": "json", ".toml": "toml", ".yml": "yaml"}


def prose(text: str) -> Iterator[tuple[int, str]]:
    """(number, line) of the lines outside code."""
    fenced = False
    for at, line in enumerate(text.split("\n")):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield at, line


def target(page: Path, link: str) -> Path:
    """The file that a link of a page leads to; of a folder its index."""
    path = Path(os.path.normpath(page.parent / link))
    indices = [path / name for name in ("index.md", "README.md") if (path / name).is_file()]
    return indices[0] if indices else path


def build_of(path: Path) -> Path | None:
    """The sources of the build that a page belongs to."""
    return (KOREAN if path.is_relative_to(KOREAN) else DOCS) if path.suffix == ".md" and path.is_relative_to(DOCS) else None


def on_source_read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Rewrite the links of a page that leave this build. What leads nowhere stays, for Sphinx to complain of."""
    page = Path(app.env.doc2path(docname))
    lines = source[0].split("\n")
    for at, line in prose(source[0]):
        lines[at] = LINK.sub(lambda link: _led(Path(app.srcdir), page, docname, link), line)
    source[0] = "\n".join(lines)


def _led(here: Path, page: Path, docname: str, link: re.Match) -> str:
    """One link, as it leads from this build."""
    text, anchor, path, up = link[1], link[3] or "", target(page, link[2]), "../" * docname.count("/")
    if not path.exists():
        return link[0]
    if build_of(path) == here:
        return f"[{text}]({os.path.relpath(path, page.parent)}{anchor})"
    if build_of(path) is not None:
        to = path.relative_to(build_of(path) or here).with_suffix(".html")
        return f'<a href="{up}{"../" if here == KOREAN else "ko/"}{to}{anchor}">{text}</a>'
    if path.is_file() and path.suffix in LEXERS:
        return f'<a href="{up}{source_page(path)}.html">{text}</a>'
    return text if path.is_dir() else link[0]  # a folder has no page; of another file MyST makes a copy


def source_page(path: Path) -> str:
    """The name of the page that shows a file of the repository."""
    return f"source/{path.relative_to(ROOT)}"


def on_collect_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page of highlighted source for every file of the repository that a page links."""
    linked = set()
    for docname in app.env.found_docs:
        page = Path(app.env.doc2path(docname))
        for _, line in prose(page.read_text(encoding="utf-8")):
            linked |= {target(page, found[2]) for found in LINK.finditer(line)}
    for path in sorted(path for path in linked if path.is_file() and path.suffix in LEXERS and build_of(path) is None):
        title = str(path.relative_to(ROOT))
        code = app.builder.highlighter.highlight_block(path.read_text(encoding="utf-8"), LEXERS[path.suffix], linenos=False)  # type: ignore[attr-defined]
        yield source_page(path), {"title": title, "body": f"<h1>{html.escape(title)}</h1>{code}"}, "page.html"


def on_page(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Tell the sidebar where the page is in the other language: the same page, or the index."""
    korean = Path(app.srcdir) == KOREAN
    to = pagename if ((DOCS if korean else KOREAN) / f"{pagename}.md").is_file() else "index"
    context["other_language"] = NAMES["en" if korean else "ko"]
    context["other_page"] = "../" * pagename.count("/") + ("../" if korean else "ko/") + f"{to}.html"


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls it."""
    app.connect("source-read", on_source_read)
    app.connect("html-collect-pages", on_collect_pages)
    app.connect("html-page-context", on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
