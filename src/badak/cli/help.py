"""--help in the person's language: what click prints goes through `say`, and wide letters count as two when lines are cut."""

import re
import unicodedata
from collections.abc import Iterable

import click

from badak.core.i18n import say, tr

WORDS_OF_CLICK = (  # templates of what click itself says and of notes behind a help text, the longer ones first
    "No such command {0}. (Did you mean one of: {1}?)",
    "No such option {0}. (Did you mean one of: {1}?)",
    "No such option {0}. (Did you mean one of: {1})",
    "No such option: {0} (Possible options: {1})",
    "No such command {0}. Did you mean {1}?",
    "No such option: {0} Did you mean {1}?",
    "No such option {0}. Did you mean {1}?",
    "Got unexpected extra arguments ({0})",
    "Got unexpected extra argument ({0})",
    "Option {0} does not take a value.",
    "Option {0} requires an argument.",
    "{0} is not in the range {1}.",
    "Show this message and exit.",
    "{0} is not a valid integer.",
    "{0} is not a valid boolean.",
    "Invalid value for {0}: {1}",
    "{0} is not a valid float.",
    "{0} is not one of {1}.",
    "Missing argument {0}.",
    "No such command {0}.",
    "with --init-from {0}",
    "No such option: {0}",
    "No such option {0}.",
    "Missing option {0}.",
    "Missing command.",
    "with --data {0}",
    "default: {0}",
    "default {0}",
    "Commands",
    "required",
    "Usage: ",
    "Options",
)
_NOTES = re.compile(r"(.*)  \[([^\[\]]*)\]", re.DOTALL)  # a help text, and [default: 3; required] behind it
_DEFAULT = re.compile(r"(default (?:\S+))(?: (.+))?")  # of a field: its value and its unit
_WIDE = "\0"  # stands behind a letter of two columns while lines are cut


def of_click(text: str) -> str:
    """What click says, which comes as finished English, as a message."""
    for template in WORDS_OF_CLICK:
        found = re.fullmatch(re.sub(r"\\{\d\\}", "(.+?)", re.escape(template)), text)
        if found:
            return tr(template, *map(of_click, found.groups()))
    return text


class Formatter(click.HelpFormatter):
    """Writes help in the person's language."""

    def write(self, string: str) -> None:
        super().write(string.replace(_WIDE, ""))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, say("Usage: ") if prefix is None else prefix)

    def write_heading(self, heading: str) -> None:
        super().write_heading(say(heading))

    def write_text(self, text: str) -> None:
        super().write_text("\n\n".join(columns(say(" ".join(part.split()))) for part in text.split("\n\n")))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(name, columns(described(text))) for name, text in rows], col_max, col_spacing)


class Context(click.Context):
    formatter_class = Formatter


def described(text: str) -> str:
    """What --help says of an option: the text and the notes behind it, each by itself."""
    whole, found = say(of_click(text)), _NOTES.fullmatch(text)
    if whole != text or found is None:
        return whole
    notes = "; ".join(", ".join(noted(note) for note in part.split(", ")) for part in found[2].split("; "))
    return f"{described(found[1])}  [{notes}]"


def noted(note: str) -> str:
    """One of the notes: default: 3, required, or default 3 steps, where the unit is a word of its own."""
    found = _DEFAULT.fullmatch(note)
    return f"{say(of_click(found[1]))} {say(found[2] or '')}".rstrip() if found else say(of_click(note))


def columns(text: str) -> str:
    """The text with a mark behind each letter that takes two columns."""
    return "".join(letter + _WIDE if unicodedata.east_asian_width(letter) in "WF" else letter for letter in text)
