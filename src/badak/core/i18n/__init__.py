"""What badak says to people, in their language: `say(text)`; `ko/LC_MESSAGES/` holds the Korean, a file for each room.

Which language that is BADAK_LANG=ko|en says, else the locale. `tr("{} of {}", a, b)` makes a message: finished English that
knows its template and its values, by which it is said again in Korean when it is shown.
"""

import importlib
import locale
import os
import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Self

LANGUAGES = ("en", "ko")
# What badak counts. Verbs that look like them (reads, holds), and what PyTorch's own messages count, are not here.
COUNTED = """attentions batches blocks bytes calls cases channels characters classes columns cores documents entries
    evaluations examples files forwards gradients groups heads hints items kernels keys kinds labels layers
    lines losses matrices models modules names numbers operations optimizers pages pairs parameters pieces
    pixels places points positions predictions processes queries ranks requests rounds rows runs samples
    scores seconds sentences sequences sizes steps tasks texts threads times tokens translations units updates
    vectors warnings weights words""".split()
_ONE = re.compile(rf"(?<![^\s(])(?<!of )1 ({'|'.join(COUNTED)})\b(?![.\-/\\]\w)( are\b| were\b| have\b)?")
_VERBS = {" are": " is", " were": " was", " have": " has", None: ""}
_HOLE = re.compile(r"\{\{|\}\}|\{(\d*)((?:![rsa])?(?::[^{}]*)?)\}")  # of a template; a doubled brace is one
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set decides, as in POSIX


def language() -> str:
    """ "ko" or "en"; asked again each time something is shown, so that a program can change its mind."""
    asked = os.environ.get("BADAK_LANG", "").strip().lower()
    if asked:
        return of_locale(asked)
    found = next((os.environ[name] for name in _LOCALE if os.environ.get(name)), "")
    if not found and sys.platform == "win32":  # which sets none of them
        found = locale.getlocale()[0] or ""
    return of_locale(found)


def of_locale(name: str) -> str:
    """The language of "ko_KR.UTF-8", "ko", "Korean_Korea.949" (ko); English for all that badak does not speak."""
    return "ko" if name.lower().replace("-", "_").partition(".")[0].partition("_")[0] in ("ko", "korean") else "en"


class Message(str):
    """A text in English that knows what it is made of: `parts` are its own words and, between them, what stands in its holes.

    The own words are the key of its translation.
    """

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, text: str, parts: tuple[str, ...] = ()) -> Self:
        self = super().__new__(cls, text)
        self.parts = parts or (text,)
        return self

    def __str__(self) -> Self:
        return self

    def __add__(self, other: str) -> "Sum":
        return Sum.of((self, other))

    def __radd__(self, other: str) -> "Sum":
        return Sum.of((other, self))

    def join(self, texts: Iterable[str]) -> "Sum":
        return Sum.of(tuple(piece for text in texts for piece in (self, text))[1:])

    def flat(self) -> tuple[str, ...]:
        return self.parts


class Sum(Message):
    """Messages behind each other, and constants: said as one where the catalogue has the whole, else each by itself."""

    __slots__ = ()

    @classmethod
    def of(cls, pieces: tuple[str, ...]) -> Self:
        return cls("".join(pieces), pieces)

    def flat(self) -> tuple[str, ...]:
        parts = [""]
        for piece in self.parts:
            first, *others = piece.flat() if isinstance(piece, Message) else (piece,)
            parts = [*parts[:-1], parts[-1] + first, *others]
        return tuple(parts)


def message(text: str) -> Message:
    """A text of ours, made a message where it is none."""
    return text if isinstance(text, Message) else Message(text)


def tr(template: str, *values: object) -> Message:
    """The message that a template ("{} of {:.3g}") and its values make; without values, the text as it is.

    It is made where an error is raised, not before: it costs some microseconds.
    """
    if not values:
        return _constant(template)
    words, holes = _read(template)
    parts = [words[0]]
    for word, (at, form) in zip(words[1:], holes):
        value = values[at]
        if isinstance(value, list | tuple) and len(value) > 2 * _SHOWN:  # a million tensors take minutes to print
            value = type(value)([*value[:_SHOWN], *value[-_SHOWN:]])
        parts += value if not form and (type(value) is str or isinstance(value, Message)) else (form or "{}").format(value), word
    return Message("".join(parts), tuple(parts))


_SHOWN = 1000  # of a list, from its beginning and from its end: more than an error shows of a line (`core/errors.py`)
_constant = cache(Message)  # one for each text, as calls that raise nothing name theirs, too


@cache
def _read(template: str) -> tuple[list[str], list[tuple[int, str]]]:
    """The words around the holes of a template, and of each hole the number of its value and, where it has one, its form."""
    words, holes, at = [""], list[tuple[int, str]](), 0
    for found in _HOLE.finditer(template):
        words[-1] += template[at : found.start()] + (found[0][0] if found[1] is None else "")
        at = found.end()
        if found[1] is not None:
            holes.append((int(found[1] or len(holes)), found[2] and f"{{{found[2]}}}"))
            words.append("")
    words[-1] += template[at:]
    return words, holes


def key_of(parts: tuple[str, ...]) -> str:
    """The key of a translation, "{0} of {1}", by the own words of a message."""
    words = [word.replace("{", "{{").replace("}", "}}") for word in parts[::2]]
    return words[0] + "".join(f"{{{i}}}{word}" for i, word in enumerate(words[1:]))


def say(text: str, *values: object) -> str:
    """The text, or the message that it makes with its values, in the person's language; in English no catalogue is read.

    A message counts in the plural, "{n} steps". English has a singular: one step.
    """
    if values:
        text = tr(text, *values)
    spoken = language()
    if spoken == "en" or not text:
        return _ONE.sub(lambda found: f"1 {singular(found[1])}{_VERBS[found[2]]}", text) if "1 " in text else text
    return importlib.import_module("badak.core.i18n.catalogue").catalogue(spoken).said(text)


def singular(noun: str) -> str:
    """ "step" for "steps", "class" for "classes", "query" for "queries"."""
    if noun == "matrices":
        return "matrix"
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return noun[: -2 if noun.endswith(("sses", "ches", "xes", "shes")) else -1]


def padded(text: str, width: int, right: bool = False) -> str:
    """The text filled with spaces to `width` columns of a terminal, where a Korean letter takes two."""
    gap = " " * (width - columns(text))
    return gap + text if right else text + gap


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
