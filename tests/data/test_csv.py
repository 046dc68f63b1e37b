"""Tables of texts and labels: Python's own csv writer judges what is read, and what is wrong is answered in two lines."""

import csv
import gzip
import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from badak.core.errors import BadakError
from badak.data.csv import Table, classes, expect_numbers, has_header, table_files

FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00\ufeff"), max_size=12)


def written(place, text, name="reviews.tsv"):
    path = place / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.tuples(FIELD, FIELD, st.sampled_from("ab")), min_size=1, max_size=8))
def test_what_python_writes_is_read(rows, tmp_path_factory):
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([("name", "words, too", "label"), *rows])
    table = Table.read(written(tmp_path_factory.mktemp("t"), out.getvalue()), "yes")
    assert table.header == ("name", "words, too", "label")
    assert [tuple(row) for row in table.rows] == rows


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("separator, name", [("\t", "a.tsv"), (",", "a.csv"), (";", "a.csv"), ("|", "a.txt")])
def test_separators_line_ends_and_places(tmp_path, separator, name, packed):
    text = f"id{separator}document{separator}label\r\n\r\n7{separator}좋아요{separator}1\r\n8{separator}싫어요{separator}0"
    data = "\ufeff".encode() + text.encode()
    path = written(tmp_path, gzip.compress(data) if packed else data, name + ".gz" * packed)
    table = Table.read(path)
    assert (table.header, table.rows, table.lines, table.empty) == (
        ("id", "document", "label"), [["7", "좋아요", "1"], ["8", "싫어요", "0"]], [3, 4], 1,
    )  # fmt: skip
    assert [table.column(name) for name in ("document", "label", "1", "3")] == [1, 2, 0, 2]
    assert table.guess_label() == 2 and table.guess_text(2) == 1


def test_a_field_in_quotes_holds_separators_lines_and_quotes(tmp_path):
    path = written(tmp_path, 'a,"one, ""two""\nthree"\nb,four\n', "a.csv")
    table = Table.read(path)
    assert table.rows == [["a", 'one, "two"\nthree'], ["b", "four"]]
    assert table.lines == [1, 3]
    plain = written(tmp_path, '1\t"so\n0\tthen" he said\n')
    assert Table.read(plain, quotes=False).rows == [["1", '"so'], ["0", 'then" he said']]


@pytest.mark.parametrize(
    "rows, named",
    [
        ([["id", "Document", "x"], ["1", "a", "b"]], True),
        ([["문장", "정답"], ["가", "나"]], True),
        ([["what", "how much"], ["a", "1"], ["b", "2.5"]], True),
        ([["good", "1"], ["bad", "0"]], False),
        ([["good", "fine"], ["bad", "poor"]], False),
    ],
)
def test_a_header_is_known_by_its_names_or_by_numbers_below(rows, named):
    assert has_header(rows) is named


def test_without_names_the_last_column_is_the_label_and_the_longest_the_text(tmp_path):
    table = Table.read(written(tmp_path, "7\ta long text\tok\n8\tanother one\tno\n"))
    assert table.header is None and len(table.rows) == 2
    assert table.guess_label() == 2 and table.guess_text(2) == 1
    assert Table.read(written(tmp_path, "7\tx\ty\n"), "yes").rows == []


def test_classes_are_in_order():
    assert classes(["10", "9", "-1", "9"]) == ("-1", "9", "10")
    assert classes(["나", "가", "10"]) == ("10", "가", "나")


def test_the_files_of_a_folder(tmp_path):
    for name in ("ratings_train.txt.gz", "ratings_test.txt.gz", "README.md"):
        written(tmp_path, "x", name)
    assert table_files(tmp_path) == (tmp_path / "ratings_train.txt.gz", tmp_path / "ratings_test.txt.gz")
    assert table_files(tmp_path / "README.md") == (tmp_path / "README.md", None)
    (tmp_path / "ratings_test.txt.gz").rename(tmp_path / "valid.csv")
    assert table_files(tmp_path)[1] == tmp_path / "valid.csv"


def numbers_of(path):
    table = Table.read(path)
    expect_numbers(table, 1, range(len(table.rows)))


WRONG = {  # what stands in the file: (what is called, cause, fix)
    "two quotes far apart": ('a\t"b\nc\td\ne\tf"\n', Table.read, "{}: line 1: the quote that opens there is closed in a later row",
                             "close it, or --no-quotes where quotes are characters like others"),
    "a quote that never closes": ('a,b\nc,"d\ne,f\n', Table.read, "{}: line 2: the quote that opens there never closes",
                                  "close it, or --no-quotes where quotes are characters like others"),
    "a quote in the middle": ('a,b\nc,"d"e\n', Table.read, "{}: line 2: a quote closes in the middle of a field",
                              'write a quote within quotes twice (""), or --no-quotes where quotes are characters like others'),
    "nothing": ("\n \n", Table.read, "{}: the file has no row", "a text and its label in each line, a tab or a comma between"),
    "fewer fields": ("a\tb\nc\n", Table.read, "{}: line 2 has 1 fields, line 1 has 2 (between tabs)",
                     "fix line 2; a text with tabs in it stands in quotes"),
    "broken UTF-8": (b"a,b\nc,\xff\n", Table.read, "{}: not UTF-8 text: byte 6 is 0xff", "save it as UTF-8"),
    "no number": ("a,1\nb,2\nc,much\n", numbers_of, "{}: line 3: 'much' is no number (column 2)",
                  "fix that line, name another --label-column, or --task classification"),
    "infinity": ("a,1\nb,inf\n", numbers_of, "{}: line 2: 'inf' is no number (column 2)",
                 "fix that line, name another --label-column, or --task classification"),
    "no column": ("text,label\na,1\n", lambda path: Table.read(path).column("score", "--label-column"),
                  "{}: no column 'score'; it has text, label", "--label-column text, or another one of them"),
    "no column, no names": ("a,b\nc,d\n", lambda path: Table.read(path).column("3", "--label-column"),
                            "{}: no column '3'; it has 1 to 2, without names",
                            "--label-column 1, or another one of them; --header yes"),
    "a name twice": ("text,text\na,1\n", lambda path: Table.read(path).column("text", "--text-column"),
                     "{}: two columns are called 'text'", "name it by its place: --text-column 1"),
    "one column": ("text\na\n", lambda path: Table.read(path).guess_text(0),
                   "{}: one column; a text and its label are two", "a tab or a comma between them"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_table_is_answered_in_two_lines(tmp_path, what):
    text, call, cause, fix = WRONG[what]
    path = written(tmp_path, text, "a.csv")
    with pytest.raises(BadakError) as caught:
        call(path)
    assert (caught.value.cause, caught.value.fix) == (cause.format(path), fix)


def test_a_folder_without_files_or_with_too_many(tmp_path):
    with pytest.raises(BadakError, match=re.escape("no file with 'train' in its name (nothing that ends with .csv, .tsv")):
        table_files(tmp_path)
    for name in ("train.csv", "train-2.csv"):
        written(tmp_path, "x", name)
    with pytest.raises(BadakError) as caught:
        table_files(tmp_path)
    assert caught.value.cause == f"{tmp_path}: 2 files with 'train' in their names (train-2.csv, train.csv)"
    assert caught.value.fix == "name the file itself: --data FILE, and --val-data FILE for the other"
