"""Texts to be judged, from files as others write them: a table (CSV, TSV), JSON Lines, JSON, or a text in each line.

read_records("reviews.csv", "review")               the texts of a column, each with the line at which it stands
read_records("pairs.jsonl", "premise", "hypothesis") pairs of texts
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from badak.core.errors import ArgumentError, FileError, tr
from badak.data.csv import TEXT_NAMES, Header, Table
from badak.data.files import read_text
from badak.io.atomic import as_path
from badak.io.config import parse_json
from badak.io.errors import shown

TABLES, LINES, WHOLE = (".csv", ".tsv", ".tab"), (".jsonl", ".ndjson"), (".json",)  # endings, each also with .gz
Text = str | tuple[str, str]


@dataclass(frozen=True)
class Records:
    """Texts, or pairs of texts, the line (of JSON: the place from 1 on) at which each stands, and how many had no text."""

    texts: list[Text]
    lines: list[int]
    empty: int


def read_records(path: str | os.PathLike, text: str = "", pair: str = "", header: Header = "auto", quotes: bool = True) -> Records:
    """The texts of a file, by the end of its name; text and pair name columns or keys, without a name the most likely is taken.

    In a file of lines the two texts of a pair stand with a tab between. FileError names file and line of what cannot be read.
    """
    place = as_path(path)
    name = place.name.lower().removesuffix(".gz")
    if name.endswith(TABLES):
        table = Table.read(place, header, quotes, [text, pair])
        columns = [_column(table, text), *([table.column(pair, "--pair-column")] if pair else [])]
        return _records(place, zip(table.lines, ([row[at] for at in columns] for row in table.rows)))
    if name.endswith(LINES + WHOLE):
        return _records(place, _objects(place, name.endswith(WHOLE), text, pair))
    if text or pair:
        cause = tr("{}: a file of lines has no column {}", place, shown(text or pair))
        raise ArgumentError(cause, tr("a file that ends with {}", ", ".join(TABLES + LINES)))
    return lines_of(place, read_text(place))


def lines_of(where: str | Path, text: str, pairs: bool = False) -> Records:
    """A text in each line; with `pairs`, two with a tab between."""
    lines = list(enumerate(text.removesuffix("\n").split("\n"), 1)) if text else []
    broken = next((at for at, line in lines if pairs and line.strip() and line.count("\t") != 1), None)
    if broken is not None:
        cause = tr("{}: line {}: expected two texts with a tab between", where, broken)
        raise FileError(cause, "the first text, a tab, the second one")
    return _records(where, ((at, line.split("\t") if pairs else [line]) for at, line in lines))


def _records(where: Any, rows: Any) -> Records:
    """Those whose texts are all there."""
    texts: list[Text] = []
    lines: list[int] = []
    empty = 0
    for at, parts in rows:
        if any(not part.strip() for part in parts):
            empty += 1
            continue
        texts.append(parts[0] if len(parts) == 1 else (parts[0], parts[1]))
        lines.append(at)
    if not texts:
        raise FileError(tr("{}: no line has a text", where), "a text in each line")
    return Records(texts, lines, empty)


def _column(table: Table, asked: str) -> int:
    """The column of texts."""
    if asked:
        return table.column(asked, "--text-column")
    return 0 if table.width == 1 else table.guess_text(-1)


def _objects(path: Path, whole: bool, text: str, pair: str) -> Iterator[tuple[int, list[str]]]:
    """(line, texts) of each object; a text alone stands for itself."""
    said = read_text(path)
    if whole:
        values = parse_json(said, path)
        if not isinstance(values, list):
            cause = tr("{}: expected a list of objects; got {}", path, shown(values))
            raise FileError(cause, "a list; .jsonl has an object in each line")
        objects = list(enumerate(values, 1))
    else:
        lines = enumerate(said.split("\n"), 1)
        objects = [(at, parse_json(line, tr("{}: line {}", path, at))) for at, line in lines if line.strip()]
    for at, value in objects:
        yield at, _texts(tr("{}: {} {}", path, tr("object") if whole else tr("line"), at), value, text, pair)


def _texts(where: str, value: Any, text: str, pair: str) -> list[str]:
    if isinstance(value, str) and not text and not pair:
        value, text = {"text": value}, "text"
    if not isinstance(value, dict):
        raise FileError(tr("{}: expected an object; got {}", where, shown(value)), 'an object such as {"text": "..."}')
    key = text or next((name for name in value if name.casefold() in TEXT_NAMES), "")
    if not key:  # no name says it: the longest text
        texts = {name: len(one) for name, one in value.items() if isinstance(one, str)}
        key = max(texts, key=texts.__getitem__, default="")
    for name in [key, *([pair] if pair else [])]:
        if not isinstance(value.get(name), str | None):
            raise FileError(tr("{}: {} is {}, no text", where, shown(name), shown(value[name])), "a text, or another --text-column")
        if name not in value:
            keys = ", ".join(map(shown, list(value)[:8])) or tr("no key")
            raise FileError(tr("{}: has no {}; it has {}", where, shown(name), keys), "--text-column names another key")
        if _is_broken(value[name]):
            raise FileError(tr("{}: {} has half of a surrogate pair, no text", where, shown(name)), "write the file again as UTF-8")
    return [value[name] or "" for name in [key, *([pair] if pair else [])]]


def _is_broken(text: str | None) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text or "")


def dump(value: Any) -> str:
    """A value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
