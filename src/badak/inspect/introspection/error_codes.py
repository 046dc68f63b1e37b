"""The situations that have a code: `badak explain BADAK-011` shows the section of docs/reference/errors.md with that number."""

import re
from dataclasses import dataclass
from pathlib import Path

from badak.core.errors import ArgumentError, name_of
from badak.core.i18n import language, say, tr

_HERE = Path(__file__).parent
_PAGES = {  # the tree's, the wheel's
    "en": (_HERE.parents[3] / "docs" / "reference" / "errors.md", _HERE / "errors.md"),
    "ko": (_HERE.parents[3] / "docs" / "ko" / "reference" / "errors.md", _HERE / "errors.ko.md"),
}


@dataclass(frozen=True)
class Situation:
    """A section of the page: its number, which is given once and for ever, its title, and its text and programs in order, as
    (kind, text) with kind "", "python" or "text"."""

    code: int
    name: str
    parts: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        return f"{name_of(self.code)}  {self.name}"

    def __str__(self) -> str:
        return "\n\n".join([self.title, *(shown(kind, text) for kind, text in self.parts)])


def situations(spoken: str = "en") -> list[Situation]:
    """All of them, as the page in a language has them."""
    return of_page(next(path for path in _PAGES[spoken] if path.is_file()).read_text(encoding="utf-8"))


def of_page(page: str) -> list[Situation]:
    """The sections of a page."""
    found = []
    for section in re.split(r"^## ", page.partition("\n<!--")[0], flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        code, _, name = heading.partition(". ")
        parts = []
        for place, text in enumerate(re.split(r"^```(python|text)?\n", body, flags=re.MULTILINE)[::2]):
            parts.append(("code" if place % 2 else "", text.strip("\n")))
        found.append(Situation(int(code), name, tuple(part for part in parts if part[1].strip())))
    return found


def explain(name: str) -> str:
    """What badak knows of a code ("BADAK-011", "11") or a word ("mask"): the section, or the titles where there are several.

    Raises ArgumentError where nothing is called so.
    """
    asked = name.strip().lower().removeprefix("badak-")
    known = situations(language())
    if asked.isdigit():
        chosen = [one for one in known if one.code == int(asked)]
    else:
        chosen = [one for one, english in zip(known, situations()) if asked in f"{english.name} {one.name}".lower()]
        chosen = chosen or [one for one in known if any(asked in text.lower() for _, text in one.parts)]
    if not asked or not chosen:
        raise ArgumentError(
            tr("explain: nothing is called {!r}", name[:60]), "badak explain BADAK-011, or a word: badak explain mask"
        )
    return str(chosen[0]) if len(chosen) == 1 else "\n".join(one.title for one in chosen)


def shown(kind: str, text: str) -> str:
    """A part of a section in the person's language; programs and messages indented."""
    if kind:
        return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
    return "\n\n".join(say(re.sub(r"\[(.*?)\]\(.*?\)", r"\1", " ".join(each.split()))) for each in text.split("\n\n"))
