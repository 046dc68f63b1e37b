"""Tables of texts and what is said of each: CSV, or fields between tabs, plain or gzip.

    table = Table.read("ratings_train.txt")          9976970 TAB 아 더빙.. 진짜 짜증나네요 목소리 TAB 0
    table.column("document")                         its place, counted from 0; "2" is the second one
    train, test = table_files("nsmc/")               the two files of a folder, by their names

A field may stand in quotes, and then hold separators and line ends; a quote within it is written twice (RFC 4180).
"""

import csv
import io
import math
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from badak.core.errors import ArgumentError, FileError, tr
from badak.data.files import read_text
from badak.io.atomic import unreadable
from badak.io.errors import line as one_line
from badak.io.errors import shown

ENDINGS = (".csv", ".tsv", ".txt", ".tab")  # of tables in a folder, each also with .gz
SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
TEXT_NAMES = tuple("text document sentence review comment content body utterance 문장 글 본문 내용 리뷰".split())
LABEL_NAMES = tuple("label class category target sentiment score rating stars y 분류 범주 라벨 점수 평점".split())
Header = Literal["auto", "yes", "no"]


@dataclass(frozen=True)
class Table:
    """The rows of a file, each with the number of its first line; `header` is None where the file has none."""

    path: Path
    header: tuple[str, ...] | None
    rows: list[list[str]]
    lines: list[int]
    empty: int  # lines without a field

    @classmethod
    def read(cls, path: str | os.PathLike, header: Header = "auto", quotes: bool = True, asked: Iterable[str] = ()) -> "Table":
        """The table of a file. header: whether the first line names the columns; "auto" looks (see `has_header`).

        quotes: fields may stand in quotes; without, a quote is a character like any other. asked: columns that will be asked for:
        a first line that has one of these names is a header.

        FileError names file and line: for what is no UTF-8, a quote that never closes, a row with more or fewer fields than others.
        """
        place = Path(path)
        text = read_text(place)
        first = next((line for line in text.split("\n") if line.strip()), None)
        if first is None:
            raise FileError(tr("{}: the file has no row", place), "a text and its label in each line, a tab or a comma between")
        separator = max(SEPARATORS, key=lambda one: (one in first, one == "\t", first.count(one)))
        rows, lines, empty = _rows(place, text, separator, quotes)
        known = {name.strip() for name in rows[0]} & set(asked)
        named = header == "yes" or (header == "auto" and (bool(known) or has_header(rows)))
        width = len(rows[0])
        for row, line in zip(rows, lines):
            if len(row) != width:
                cause = tr("{}: line {} has {} fields, line {} has {} (between {})", place, line, len(row), lines[0], width,
                           SEPARATORS[separator])  # fmt: skip
                raise FileError(cause, tr("fix line {}; a text with {} in it stands in quotes", line, SEPARATORS[separator]))
        names = tuple(name.strip() for name in rows[0]) if named else None
        return cls(place, names, rows[named:], lines[named:], empty)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.header or self.rows[0])

    def names(self) -> str:
        """The columns, to read."""
        return ", ".join(self.header) if self.header else tr("1 to {}, without names", self.width)

    def column(self, asked: str, option: str = "column") -> int:
        """The place, counted from 0, of the column with this name, or with this number, counted from 1."""
        if self.header and asked in self.header:
            if self.header.count(asked) > 1:
                cause = tr("{}: two columns are called {}", self.path, shown(asked))
                raise ArgumentError(cause, tr("name it by its place: {} 1", option))
            return self.header.index(asked)
        if asked.isascii() and asked.isdigit() and 1 <= int(asked) <= self.width:
            return int(asked) - 1
        raise ArgumentError(
            tr("{}: no column {}; it has {}", self.path, shown(asked), self.names()),
            tr("{} {}, or another one of them", option, self.header[0] if self.header else 1)
            + ("" if self.header else "; --header yes"),
        )

    def guess_label(self) -> int:
        """The column called as labels are, else the last."""
        return self._known(LABEL_NAMES, self.width - 1)

    def guess_text(self, label: int) -> int:
        """The column called as texts are, else the one with the most characters next to the labels."""
        if self.width < 2:
            raise FileError(tr("{}: one column; a text and its label are two", self.path), "a tab or a comma between them")
        sizes = [sum(len(row[i]) for row in self.rows[:1_000]) if i != label else -1 for i in range(self.width)]
        return self._known(TEXT_NAMES, sizes.index(max(sizes)))

    def _known(self, names: tuple[str, ...], other: int) -> int:
        small = [name.casefold() for name in self.header or ()]
        return next((small.index(name) for name in names if name in small), other)

    def name_of(self, column: int) -> str:
        """How a column is called, to read."""
        return shown(self.header[column]) if self.header else f"column {column + 1}"


def has_header(rows: list[list[str]]) -> bool:
    """Whether the first row looks like names: one that texts or labels are called by, or a word over numbers only."""
    first, others = rows[0], rows[1:1_000]
    if any(name.strip().casefold() in TEXT_NAMES + LABEL_NAMES for name in first):
        return True
    columns = list(zip(*(row for row in others if len(row) == len(first))))
    return any(not is_number(name) and all(map(is_number, column)) for name, column in zip(first, columns))


def is_number(text: str) -> bool:
    """Whether a field is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def table_files(place: str | os.PathLike) -> tuple[Path, Path | None]:
    """The file to learn from and the one to test with: of a folder, those with "train" and with "test" in their names (or "valid",
    or "dev"); a file alone has no other. FileError where a folder has none or several."""
    path = Path(place)
    if not path.is_dir():
        return path, None
    try:
        found = sorted(one for one in path.iterdir() if one.name.removesuffix(".gz").endswith(ENDINGS) and one.is_file())
    except OSError as error:
        raise unreadable(path, error) from error
    train, *tests = ([one for one in found if word in one.name.lower()] for word in ("train", "test", "valid", "dev"))
    test = next((one for one in tests if one), [])
    for word, files in (("train", train), ("test", test)):
        if len(files) > 1 or (word == "train" and not files):
            many = tr("{} files with {!r} in their names", len(files), word) if files else tr("no file with {!r} in its name", word)
            names = tr(", ").join(one.name for one in (files or found)[:5]) or tr("nothing that ends with {}", ", ".join(ENDINGS))
            cause = tr("{}: {} ({})", path, many, names)
            raise FileError(cause, "name the file itself: --data FILE, and --val-data FILE for the other")
    return train[0], test[0] if test else None


def _rows(path: Path, text: str, separator: str, quotes: bool) -> tuple[list[list[str]], list[int], int]:
    """Rows that have a field, the line at which each begins, and how many lines have none."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, strict=True, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    )
    rows: list[list[str]] = []
    lines: list[int] = []
    begun, empty = 1, 0
    try:
        for row in reader:
            if any(field.strip() for field in row):
                if quotes and reader.line_num > begun:
                    _expect_one_row(path, row, begun, separator)
                rows.append(row)
                lines.append(begun)
            else:
                empty += 1
            begun = reader.line_num + 1
    except csv.Error as error:
        raise _not_read(path, begun, reader.line_num, error) from None
    return rows, lines, empty


def _expect_one_row(path: Path, row: list[str], line: int, separator: str) -> None:
    """Refuse a field in quotes that holds whole rows: its quote was none, and closed at another one far below."""
    if separator == "\t" and any("\t" in part for field in row for part in field.split("\n")[1:]):
        raise _open_quote(path, line, tr("is closed in a later row"))


def _not_read(path: Path, begun: int, at: int, error: csv.Error) -> FileError:
    said = str(error)
    if "unexpected end" in said or "field larger" in said:
        return _open_quote(path, begun, tr("never closes"))
    if "expected after" in said:
        where = tr("line {}", begun) if at <= begun else tr("lines {} to {}", begun, at)
        cause = tr("{}: {}: a quote closes in the middle of a field", path, where)
        return FileError(cause, 'write a quote within quotes twice (""), or --no-quotes where quotes are characters like others')
    return FileError(tr("{}: line {}: no row of a table ({})", path, at, one_line(said)), "fix that line")


def _open_quote(path: Path, line: int, what: str) -> FileError:
    cause = tr("{}: line {}: the quote that opens there {}", path, line, what)
    return FileError(cause, "close it, or --no-quotes where quotes are characters like others")


def expect_numbers(table: Table, column: int, rows: Iterable[int]) -> None:
    """Raise FileError for the first of these rows with no number in the column."""
    for i in rows:
        field = table.rows[i][column]
        if not is_number(field) or not math.isfinite(float(field)):
            cause = tr("{}: line {}: {} is no number ({})", table.path, table.lines[i], shown(field), table.name_of(column))
            raise FileError(cause, "fix that line, name another --label-column, or --task classification")


def one_spelling(labels: list[str], known: Iterable[str] = ()) -> list[str]:
    """The labels, with 1.0 and 1.00 as 1 where that is a label, too: an integer is one class, however a table wrote it.

    known: labels of other rows, whose spelling counts first.
    """
    whole: dict[str, str] = {}
    for label in (*known, *sorted(set(labels), key=len)):
        if found := _WHOLE.fullmatch(label):
            whole.setdefault(found[1], label)
    return [whole[found[1]] if (found := _WHOLE.fullmatch(label)) else label for label in labels]


_WHOLE = re.compile(r"([+-]?\d+)(?:\.0*)?")


def classes(labels: list[str]) -> tuple[str, ...]:
    """The distinct labels, numbers by their size, other words by the alphabet."""
    found = list(Counter(labels))
    return tuple(sorted(found, key=float) if all(map(is_number, found)) else sorted(found))
