"""The catalogue of what badak says: `python tools/words.py [--missing PACKAGE ...]`.

Reads every text from the source (tools/templates.py), brings `src/badak/core/i18n/ko/LC_MESSAGES/PACKAGE.po` up to date, one file
for each package, with the translations that are there, and compiles each to the PACKAGE.mo that badak reads.
--missing lists what has no translation, --check says what is wrong and changes nothing. Needs Babel (the extra "test").
"""

import io
import re
import string
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from badak.core.i18n.particles import LISTS, PAIRS, of_list
from tools.templates import Text, read

FOLDER = Path(__file__).resolve().parent.parent / "src" / "badak" / "core" / "i18n" / "ko" / "LC_MESSAGES"
# What programs written for PyTorch look for in str(error): it stays in the Korean, too.
KEPT = (
    "out of memory",
    "Error(s) in loading state_dict",
    "Missing key(s) in state_dict",
    "Unexpected key(s) in state_dict",
    "size mismatch",
)

CODE = re.compile(r"(?<![\w-])--[a-z][a-z-]*|(?<![\w-])[a-z]+(?:_[a-z0-9]+)+", re.ASCII)  # options and names of Python


def said() -> dict[str, str]:
    """The translations that are there, of all packages."""
    found = {}
    for path in sorted(FOLDER.glob("*.po")):
        for message in opened(path):
            if message.id and message.string:
                if not message.context:
                    found[message.id] = message.string
                found.setdefault(message.id, message.string)
    return found


def opened(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale="ko")


def catalogues(texts: dict[str, Text], known: dict[str, str]) -> dict[str, Catalog]:
    """A catalogue for each package."""
    rooms: dict[str, Catalog] = {}
    for key, text in sorted(texts.items(), key=lambda row: (min(row[1].files), row[0])):
        if text.room not in rooms:
            rooms[text.room] = Catalog("ko", charset="utf-8")
        holes = [f"{{{i}}} = {hole.source[:90]}{' (may be left out)' * hole.short}" for i, hole in enumerate(text.holes)]
        rooms[text.room].add(key, known.get(key, ""), auto_comments=holes, locations=[(min(text.files), 0)])
    return rooms


def as_po(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_po(file, catalog, width=0, omit_header=True, include_lineno=False)
    return b'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n' + file.getvalue().lstrip()


def as_mo(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def holes(template: str) -> list[tuple[str, str]]:
    """(number, particle) of each hole; an error where the braces do not pair."""
    return [(name, form or "") for _, name, form, _ in string.Formatter().parse(template) if name is not None]


def faults(texts: dict[str, Text], known: dict[str, str]) -> Iterator[str]:
    """What is wrong with the translations that are there."""
    for key, text in texts.items():
        korean = known.get(key)
        if not korean:
            continue
        where = f"{text.room}: {text.template!r}"
        try:
            theirs = holes(korean)
        except ValueError as error:
            yield f"{where}: {error}"
            continue
        names, wanted = {name for name, _ in theirs}, {str(i) for i in range(len(text.holes))}
        if names - wanted or wanted - names - {str(i) for i in text.optional}:
            yield f"{where}: the holes are {sorted(wanted)}, the translation has {sorted(names)}"
        unknown = {form for _, form in theirs if of_list(form)[1] not in ("", *PAIRS)}
        if unknown:
            yield f"{where}: no particle is called {sorted(unknown)}; there are {', '.join([*PAIRS, *LISTS])}"
        english, own = set(CODE.findall(text.template)), set(CODE.findall(korean))
        if codes := (english - own) | {code for code in own - english if code.startswith("--")}:
            yield f"{where}: {', '.join(sorted(codes))} is in only one of the two languages"
        for words in KEPT:
            if words in text.template and words not in korean:
                yield f"{where}: programs look for {words!r} in it, which has to stay"


def missing(texts: dict[str, Text], known: dict[str, str], rooms: set[str]) -> list[Text]:
    return [text for key, text in texts.items() if not known.get(key) and (not rooms or text.room in rooms)]


def main(arguments: list[str]) -> int:
    texts, known = read(), said()
    wrong = list(faults(texts, known))
    if "--missing" in arguments:
        lines = [f"{text.room}: {text.template!r}" for text in missing(texts, known, set(arguments) - {"--missing"})]
        print("\n".join(lines))
    elif "--check" not in arguments:
        FOLDER.mkdir(parents=True, exist_ok=True)
        rooms = catalogues(texts, known)
        for path in FOLDER.glob("*.[mp]o"):
            if path.stem not in rooms:
                path.unlink()
        for room, catalog in rooms.items():
            (FOLDER / f"{room}.po").write_bytes(as_po(catalog))
            (FOLDER / f"{room}.mo").write_bytes(as_mo(opened(FOLDER / f"{room}.po")))
            done = sum(bool(message.string) for message in catalog if message.id)
            print(f"{room:14} {done:5} of {len(catalog):5} in Korean")
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
