"""Docstrings as reStructuredText: they are written to be read in an editor and a terminal, so every mark in them means itself.

`names` in backquotes are code, four spaces begin code, "- " a list, and the sections Args, Returns, Raises, Example and Derivation
are what they are called.
"""

import re
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

SECTIONS = {"Args", "Returns", "Raises", "Yields", "Example", "Examples", "Derivation", "Source"}
FIELD = re.compile(r"(\*{0,2}[\w., *]+?): +(.*)")


def as_rst(lines: list[str]) -> list[str]:
    """The lines of a docstring, whose marks are escaped and whose sections are fields."""
    out: list[str] = []
    for kind, block in _blocks(lines):
        if kind == "text":
            out += [_safe(" ".join(line.strip() for line in block)), ""]
        elif kind == "code":
            doctest = block[0].lstrip().startswith(">>>")
            out += [".. code-block:: " + ("pycon" if doctest else "text"), "", *(f"   {line}" for line in block), ""]
        elif kind == "list":
            out += [f"- {_safe(item)}" for item in _items(block)] + [""]
        else:
            out += [*_fields(kind, block), ""]
    return out


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """(kind, lines) of each part of a docstring; the kind is text, code, list, or the name of a section."""
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
            continue
        word, _, rest = line.partition(":")
        if word in SECTIONS and (not rest.strip() or word in ("Derivation", "Source", "Returns")):
            block, at = _indented(lines, at + 1)
            yield word, [*([rest.strip()] if rest.strip() else []), *block]
        elif line.startswith("    "):
            block, at = _indented(lines, at)
            yield "code", block
        else:
            kind = "list" if line.startswith("- ") else "text"
            begin, at = at, at + 1
            while (
                at < len(lines)
                and lines[at].strip()
                and not lines[at].startswith("    ")
                and lines[at].partition(":")[0] not in SECTIONS
            ):
                if (lines[at].startswith("- ")) != (kind == "list") and not (kind == "list" and lines[at].startswith(" ")):
                    break
                at += 1
            yield kind, lines[begin:at]


def _indented(lines: list[str], at: int) -> tuple[list[str], int]:
    """The lines from here that are indented or blank, without what they share, and where they end."""
    begin = at
    while at < len(lines) and (not lines[at].strip() or lines[at].startswith("  ")):
        at += 1
    block = lines[begin:at]
    while block and not block[-1].strip():
        block = block[:-1]
    margin = min((len(line) - len(line.lstrip()) for line in block if line.strip()), default=0)
    return [line[margin:] for line in block], at


def _items(block: list[str]) -> list[str]:
    items: list[str] = []
    for line in block:
        if line.startswith("- "):
            items.append(line[2:])
        else:
            items[-1] += " " + line.strip()
    return items


def _fields(section: str, block: list[str]) -> list[str]:
    """A section as fields of Python's domain."""
    if section in ("Example", "Examples"):
        return [".. rubric:: Example", "", ".. code-block:: pycon", "", *(f"   {line}" for line in block)]
    if section == "Derivation":
        page = block[0].strip().removeprefix("docs/").removesuffix(".md")
        return [f"Derivation: :doc:`/{page}`"]
    if section in ("Returns", "Yields", "Source"):
        word = {"Returns": "returns", "Yields": "yields", "Source": "Source"}[section]
        return [f":{word}: {_safe(' '.join(line.strip() for line in block))}"]
    fields: list[list[str]] = []
    for line in block:
        found = FIELD.match(line)
        if found and not line.startswith(" "):
            fields.append([found[1], found[2]])
        elif fields:
            fields[-1][1] += " " + line.strip()
    word = "param" if section == "Args" else "raises"
    tight = [
        (name.replace("*", chr(92) + "*").replace(", ", ",\u200b"), text) for name, text in fields
    ]  # a blank would make it a type
    return [f":{word} {name}: {_safe(text)}" for name, text in tight]


def _safe(text: str) -> str:
    """A paragraph in which nothing but backquotes is a mark."""
    parts = re.split(r"`([^`]+)`", text)
    out = [re.sub(r"([\\*_|`])", r"\\\1", part) if at % 2 == 0 else f"\0``{part.strip()}``\0" for at, part in enumerate(parts)]
    joined = "".join(out)
    joined = re.sub(r"(?<=[^\s(\[{\"'/-])\0(?=``)", r"\\ ", joined)
    joined = re.sub(r"\0(?=[^\s)\]}\"'.,:;!?/-])(?!``)", r"\\ ", joined).replace("\0", "")
    if re.match(r"(\(?\w{1,4}[.)]\s|[-+•>:.=#~^\"]|\w+::)", joined):
        joined = "\\ " + joined
    return re.sub(r"::$", ":\\ :", joined)


def on_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Autodoc's event."""
    lines[:] = as_rst(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls it."""
    app.connect("autodoc-process-docstring", on_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
