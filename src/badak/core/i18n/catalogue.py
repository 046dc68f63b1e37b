"""The catalogue: says a message in the person's language when it is shown.

A message knows its template, "target[{0}] = {1} but ...", and its values; the template is the key of its translation, which
`tools/words.py` reads from the source. A plain text is its own key. So nothing is paid for it in English.
"""

import gettext
import string
import sys
from functools import cache
from pathlib import Path
from typing import Any

from badak.core.i18n import Message, Sum, key_of
from badak.core.i18n.particles import Hole

FOLDER = Path(__file__).resolve().parent
FIX = "\nfix: "


class Words(gettext.GNUTranslations):
    """A compiled catalogue whose entries can be listed."""

    def __init__(self, file: Any) -> None:
        self.entries: dict[str, str] = {}
        super().__init__(file)

    def _parse(self, fp: Any) -> None:
        super()._parse(fp)  # type: ignore[misc]
        self.entries = {key: text for key, text in self._catalog.items() if isinstance(key, str)}  # type: ignore[attr-defined]


class Catalogue:
    """What can be said in one language: `entries` are translations by template."""

    def __init__(self, entries: dict[str, str]) -> None:
        self.entries = {key: said for key, said in entries.items() if said}

    def said(self, text: str) -> str:
        """A whole text: a message; or a plain one, a cause with its fix, one of both, or several lines of them."""
        found = self._found(text)
        if found is not None:
            return found
        if isinstance(text, Sum):
            return "".join(map(self.part, text.parts))
        if isinstance(text, Message) and len(text.parts) > 1:
            own, holes = text.parts[::2], text.parts[1::2]
            return own[0] + "".join(self.part(hole) + word for hole, word in zip(holes, own[1:]))
        cause, label, fix = text.rpartition(FIX)
        if label:
            return f"{self.said(cause)}\n{self.said('fix:')} {self.said(fix)}"
        if "\n" in text:
            return "\n".join(map(self.said, text.split("\n")))
        return text[0] + self.said(text[1:]) if text[:1].isspace() else str.__str__(text)

    def part(self, text: str) -> str:
        """What stands in a hole: a message, or a phrase of ours; a single word that is no message is a name, which stays."""
        if isinstance(text, Message):
            return self.said(text)
        found = self._found(text) if " " in text else None
        return text if found is None else found

    def _found(self, text: str) -> str | None:
        parts = text.flat() if isinstance(text, Message) else (text,)
        said = self.entries.get(key_of(parts))
        return None if said is None else string.Formatter().vformat(said, [self._hole(hole) for hole in parts[1::2]], {})

    def _hole(self, text: str) -> Hole:
        hole = Hole(self.part(text))
        hole.part = self.part
        return hole


@cache
def catalogue(spoken: str) -> Catalogue:
    """Everything that the packages say, read when it is first needed."""
    entries: dict[str, str] = {}
    folder = FOLDER / spoken / "LC_MESSAGES"
    if not any(folder.glob("*.mo")) and any(folder.glob("*.po")):
        sys.stderr.write("badak: the Korean texts of this checkout are not compiled, English follows\nfix: pip install -e .\n")
    for path in sorted(folder.glob("*.mo")):
        with path.open("rb") as file:
            entries = Words(file).entries | entries
    entries.pop("", None)  # the header
    return Catalogue(entries)
