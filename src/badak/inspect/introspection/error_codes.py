"""The situations that have a code: `badak explain BADAK-011` shows the section of docs/reference/errors.md with that number."""

import re
from dataclasses import dataclass
from pathlib import Path

from badak.core.errors import ArgumentError, name_of
from badak.core.i18n import language, say, tr

SITUATIONS = {  # code: title, as on the page; a code is given once and for ever. From 201 on: badak.doctor's diagnoses
    1: "A float mask of zeros and ones",
    2: "A mask of the wrong polarity",
    3: "Padding given as attn_mask",
    4: "Padding of a batch that is as large as it is long",
    5: "A mask that does not broadcast to the scores",
    6: "A query with nothing to attend to",
    7: "A batch that is all padding",
    8: "batch_first forgotten",
    9: "A memory of another batch",
    10: "Heads that do not divide",
    11: "A label out of range",
    12: "A token id out of range",
    13: "A sequence that is too long",
    14: "Logits of every position",
    15: "Nothing to learn from",
    16: "Probabilities in place of logits",
    17: "Layers in a list",
    18: "An optimizer without parameters",
    19: "A layer that no optimizer knows",
    20: "A value overwritten that a gradient needs",
    21: "Gradients that are not cleared",
    22: "An encoder that is cut off",
    23: "A loss without a graph",
    24: "backward twice",
    25: "step without backward",
    26: "A checkpoint of another vocabulary",
    27: "A checkpoint with prefixed keys",
    28: "Odd d_model",
    29: "Dropout while answering",
    30: "Padding in generation",
    31: "A process that has died",
    32: "The first call of the Numba kernels",
    33: "Sigmoid before BCEWithLogits",
    34: "A state that is carried from step to step",
    35: "A loss that is NaN",
}
_HERE = Path(__file__).parent
_PAGES = {  # the tree's, the wheel's
    "en": (_HERE.parents[3] / "docs" / "reference" / "errors.md", _HERE / "errors.md"),
    "ko": (_HERE.parents[3] / "docs" / "ko" / "reference" / "errors.md", _HERE / "errors.ko.md"),
}


@dataclass(frozen=True)
class Situation:
    """A section of the page: its number, and its text and programs in order, as (kind, text) with kind "", "python" or "text"."""

    code: int
    parts: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        return f"{name_of(self.code)}  {say(SITUATIONS[self.code])}"

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
        parts = []
        for place, text in enumerate(re.split(r"^```(python|text)?\n", body, flags=re.MULTILINE)[::2]):
            parts.append(("code" if place % 2 else "", text.strip("\n")))
        found.append(Situation(int(heading.partition(".")[0]), tuple(part for part in parts if part[1].strip())))
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
        chosen = [one for one in known if asked in f"{SITUATIONS[one.code]} {say(SITUATIONS[one.code])}".lower()]
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
