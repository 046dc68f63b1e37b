"""Texts to be judged, from files of every form: the same texts, with the lines at which they stand; and what is refused."""

import gzip
import json

import pytest

from badak.core.errors import BadakError
from badak.data.records import dump, lines_of, read_records

TEXTS = ["노래가 좋다", 'a "quoted", text', "-1", "\u2028 is no line end here \x1b[31m"]


def forms():
    rows = [{"id": i, "review": text, "stars": i} for i, text in enumerate(TEXTS)]
    quoted = ['"' + text.replace('"', '""') + '"' for text in TEXTS]
    yield "a.jsonl", "\n".join(json.dumps(row) for row in rows), range(1, 5), "review"
    yield "a.ndjson", "\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n", range(1, 9, 2), ""
    yield "b.jsonl", "\r\n".join(json.dumps(text) for text in TEXTS), range(1, 5), ""
    yield "a.json", json.dumps(rows, indent=2), range(1, 5), "review"
    yield "a.csv", "id,review,stars\n" + "".join(f"{i},{text},5\n" for i, text in enumerate(quoted)), range(2, 6), ""
    yield "one.csv", "text\n" + "\n".join(quoted), range(2, 6), ""
    yield "a.tsv", "review\tid\n" + "".join(f"{text}\t{i}\n" for i, text in enumerate(quoted)), range(2, 6), "1"
    yield "a.txt", "\n".join(TEXTS) + "\n", range(1, 5), ""
    yield "no-ending", "\ufeff" + "\n".join(TEXTS), range(1, 5), ""


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name, data, lines, column", list(forms()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_form_has_the_same_texts_with_their_lines(tmp_path, name, data, lines, column, packed):
    path = tmp_path / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(data.encode()) if packed else data.encode())
    found = read_records(path, column)
    assert found.texts == TEXTS and found.lines == list(lines) and found.empty == 0


def test_pairs_and_rows_without_a_text(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"text": "a", "other": "b"}\n{"text": "c", "other": null}\n{"text": " ", "other": "d"}\n')
    found = read_records(path, "", "other")
    assert (found.texts, found.lines, found.empty) == ([("a", "b")], [1], 2)
    path = tmp_path / "p.csv"
    path.write_text("premise,hypothesis\na,b\nc,d\n")
    assert read_records(path, "premise", "hypothesis").texts == [("a", "b"), ("c", "d")]
    assert lines_of("pipe", "a\tb\nc\td\n", pairs=True).texts == [("a", "b"), ("c", "d")]


WRONG = {  # name, content, columns, cause, fix
    "no json": ("a.jsonl", '{"text": "a"}\n{"text"', {}, "line 2: not JSON", "fix that line"),
    "no object": ("a.jsonl", "[1]", {}, "line 1: expected an object; got [1]", "an object such as"),
    "a number": ("a.jsonl", '{"text": 3}', {}, "line 1: 'text' is 3, no text", "a text, or another --text-column"),
    "no such key": ("a.jsonl", '{"text": "a"}', {"text": "x"}, "line 1: has no 'x'; it has 'text'", "--text-column names"),
    "no text at all": ("a.jsonl", '{"n": 1}', {}, "line 1: has no ''; it has 'n'", "--text-column names"),
    "no second text": ("a.jsonl", '{"text": "a"}', {"pair": "b"}, "line 1: has no 'b'", "--text-column names"),
    "half a pair": ("a.jsonl", '{"text": "\\ud800"}', {}, "line 1: 'text' has half of a surrogate pair", "as UTF-8"),
    "twice": ("a.jsonl", '{"text": "a", "text": "b"}', {}, "not JSON: the key 'text' stands there twice", ""),
    "no list": ("a.json", '{"text": "a"}', {}, "expected a list of objects; got {'text': 'a'}", "a list; .jsonl"),
    "deep": ("a.json", "[" * 100_000, {}, "not JSON", "write it again"),
    "no column": ("a.csv", "text,label\na,b", {"text": "x"}, "no column 'x'; it has text, label", "--text-column text"),
    "a column of lines": ("a.txt", "a\n", {"text": "x"}, "a file of lines has no column 'x'", "a file that ends with .csv"),
    "nothing": ("a.txt", "\n \n", {}, "no line has a text", "a text in each line"),
    "nothing in a list": ("a.json", "[]", {}, "no line has a text", "a text in each line"),
    "nothing in JSON Lines": ("a.jsonl", "", {}, "no line has a text", "a text in each line"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_read_is_answered_in_two_lines(tmp_path, what):
    name, content, columns, cause, fix = WRONG[what]
    (tmp_path / name).write_text(content)
    with pytest.raises(BadakError) as caught:
        read_records(tmp_path / name, **columns)
    assert name in caught.value.cause and cause in caught.value.cause and fix in caught.value.fix
    assert len(str(caught.value).split("\n")) == 2


def test_lines_of_pairs_have_one_tab():
    with pytest.raises(BadakError, match="pipe: line 2: expected two texts with a tab between\nfix: the first text, a tab"):
        lines_of("pipe", "a\tb\nc d\n", pairs=True)


def test_what_is_written_is_one_line():
    assert dump({"text": "a\n\u2028바"}) == '{"text": "a\\n\u2028바"}'


def test_a_first_line_with_the_name_that_is_asked_for_is_a_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("premise,hypothesis\na,b\n")
    assert read_records(path, "premise").texts == ["a"] and read_records(path, "1").texts == ["premise", "a"]
    assert read_records(path, "premise", header="yes").lines == [2]
