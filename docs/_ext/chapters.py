"""What the site adds to a chapter of the guide: its interactive figure, and its notebook to download."""

import html
import json
import re
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx.application import Sphinx

import figures
from tools import notebooks

CHAPTER = re.compile(r"tutorials/guide/(\d\d)-[^/]*$")
PLACE = "_notebooks"
DOWNLOAD = {"en": "This chapter as a notebook", "ko": "이 장을 노트북으로 내려받기"}


def on_read(app: Sphinx, doctree: nodes.document) -> None:
    """Put the figure behind the first picture, the notebook beneath the title."""
    docname = app.env.docname
    if not (found := CHAPTER.search(docname)):
        return
    language = "ko" if app.config.language == "ko" else "en"
    made = figures.figure(found[1], language)
    data = json.dumps(made, ensure_ascii=False).replace("</", "<\\/")
    text = html.escape(made["caption"])
    body = f'<figcaption>{text}</figcaption><script type="application/json">{data}</script>'
    body = f'<figure class="live" id="figure-{found[1]}">{body}</figure>'
    picture = next(iter(doctree.findall(nodes.image)))
    picture.parent.parent.insert(picture.parent.parent.index(picture.parent) + 1, nodes.raw("", body, format="html"))
    link = f'<p><a href="../../{PLACE}/{Path(docname).name}.ipynb" download>{DOWNLOAD[language]}</a></p>'
    section = next(iter(doctree.findall(nodes.section)))
    section.insert(2, nodes.raw("", link, format="html"))


def on_finished(app: Sphinx, error: Exception | None) -> None:
    """Write the notebooks beside the pages."""
    if error is None and app.builder.format == "html":
        folder = Path(app.outdir) / PLACE
        folder.mkdir(exist_ok=True)
        for docname in app.env.found_docs:
            if CHAPTER.search(docname):
                page = Path(app.env.doc2path(docname))
                nbformat.write(notebooks.chapter(page), folder / f"{page.stem}.ipynb")


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls it."""
    app.add_js_file("figures.js", loading_method="defer")
    app.connect("doctree-read", on_read)
    app.connect("build-finished", on_finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
