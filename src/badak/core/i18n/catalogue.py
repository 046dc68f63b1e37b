"""The catalogue: puts a text into the person's language when it is shown.

A message is an English f-string where it is raised. The catalogue knows it as a template, "target[{0}] = {1} but ...",
which `tools/words.py` reads from the source. Here the finished English is matched with the templates, and said again from
the translation. So nothing is paid where a message is made, and nothing at all in English.
"""

import gettext
import re
import string
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from badak.core.i18n.particles import Hole

FOLDER = Path(__file__).resolve().parent
PART = "part"  # the context (msgctxt) of what stands in holes
FIX = "\nfix: "
_NAME = re.compile(r"\b(badak|torch)\.(?=[A-Za-z_])")  # what `import torch` gave badak is called torch in its messages


@dataclass(frozen=True)
class Template:
    """A message with holes: what stands before, between and after them, and what to say instead."""

    fixed: tuple[str, ...]
    said: str

    def holes(self, text: str) -> list[str] | None:
        """What fills the holes of a text that this template made, each as short as it can be; None where it made it not."""
        first, *middle, last = self.fixed
        at, end = len(first), len(text) - len(last)
        if at > end or not text.startswith(first) or not text.endswith(last):
            return None
        found = []
        for fixed in middle:
            where = text.find(fixed, at, end)
            if where < 0:
                return None
            found.append(text[at:where])
            at = where + len(fixed)
        return [*found, text[at:end]]


class Words(gettext.GNUTranslations):
    """A compiled catalogue whose entries can be listed."""

    def __init__(self, file: Any):
        self.entries: dict[str, str] = {}
        super().__init__(file)

    def _parse(self, fp: Any) -> None:
        super()._parse(fp)  # type: ignore[misc]
        self.entries = {key: text for key, text in self._catalog.items() if isinstance(key, str)}  # type: ignore[attr-defined]


class Catalogue:
    """What can be said in one language: whole messages, and parts that stand in holes."""

    def __init__(self, entries: dict[str, str]):
        self.exact: tuple[dict[str, str], dict[str, str]] = ({}, {})  # messages, parts
        self.templates: tuple[list[Template], list[Template]] = ([], [])
        for key, said in entries.items():
            context, separator, text = key.rpartition("\x04")
            if said and text and (not separator or context == PART):
                self._add(int(bool(separator)), text, said)
        for kind in self.templates:
            kind.sort(key=lambda each: -sum(map(len, each.fixed)))  # the template that says most itself comes first

    def _add(self, kind: int, text: str, said: str) -> None:
        fixed = fixed_parts(text)
        if len(fixed) > 1:
            self.templates[kind].append(Template(fixed, said))
        else:
            self.exact[kind][fixed[0]] = string.Formatter().vformat(said, (), {})

    def message(self, text: str) -> str:
        """A whole text: a cause with its fix, one of both, or several lines of them."""
        cause, label, fix = text.rpartition(FIX)
        if label:
            return f"{self.message(cause)}\n{self.exact[0].get('fix:', 'fix:')} {self.message(fix)}"
        found = self._found(text, (0,))
        if found is None and "torch." in text:
            found = self._found(_NAME.sub("badak.", text), (0,))
            found = found and _NAME.sub("torch.", found)
        if found is None and "\n" in text:
            return "\n".join(self.message(line) for line in text.split("\n"))
        if found is None and text[:1].isspace():
            return text[0] + self.message(text[1:])
        return text if found is None else found

    def part(self, text: str) -> str:
        """What stands in a hole: words of ours, a message of ours, several of them; else a name or a number, which stays."""
        if not any(letter.isalpha() for letter in text):
            return text
        if "\n" in text:
            lines = text.split("\n")  # those with a tab are PyTorch's report on a state_dict, which programs take apart
            return "\n".join(line if line.startswith("\t") else self.part(line) for line in lines)
        found = self._found(text, (1, 0) if " " in text else (1,))
        if found is not None:
            return found
        for comma in ("; ", ", "):
            if comma in text and text.count(comma) < 100:
                return comma.join(self.part(each) for each in text.split(comma))
        return text

    def _hole(self, text: str) -> Hole:
        hole = Hole(self.part(text))
        hole.part = self.part
        return hole

    def _found(self, text: str, kinds: tuple[int, ...]) -> str | None:
        for kind in kinds:
            if text in self.exact[kind]:
                return self.exact[kind][text]
            for template in self.templates[kind]:
                holes = template.holes(text)
                if holes is not None and holes != [text]:
                    return string.Formatter().vformat(template.said, [self._hole(hole) for hole in holes], {})
        return None


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


def fixed_parts(text: str) -> tuple[str, ...]:
    """What stands around the holes of a template: "{0} of {1}" is ("", " of ", "")."""
    parts = [""]
    for literal, name, _, _ in string.Formatter().parse(text):
        parts[-1] += literal
        if name is not None:
            parts.append("")
    return tuple(parts)
