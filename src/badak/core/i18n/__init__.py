"""What badak says to people, in their language: `say(text)`; `ko/LC_MESSAGES/` holds the Korean, a file for each room.

Which language that is BADAK_LANG=ko|en says, else the locale.
"""

import importlib
import locale
import os
import re
import sys
import unicodedata

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


def say(text: str) -> str:
    """The text in the person's language; as it is where the catalogue does not know it, and in English, which reads none.

    A message counts in the plural, "{n} steps". English has a singular: one step.
    """
    spoken = language()
    if spoken == "en" or not text:
        return _ONE.sub(lambda found: f"1 {singular(found[1])}{_VERBS[found[2]]}", text) if "1 " in text else text
    return importlib.import_module("badak.core.i18n.catalogue").catalogue(spoken).message(text)


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
