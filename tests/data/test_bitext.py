"""Sentences and their translations, from folders and files of pairs; what is wrong with them is said in two lines."""

import gzip

import pytest

from badak.core.errors import ArgumentError, FileError
from badak.data.bitext import read_corpus, split

DE, EN = ["Ein Hund.", "Zwei Katzen.", "Drei Bäume."], ["A dog.", "Two cats.", "Three trees."]


def write(place, name, lines, packed=False):
    text = "".join(f"{line}\n" for line in lines).encode()
    (place / (name + ".gz" * packed)).write_bytes(gzip.compress(text) if packed else text)


@pytest.fixture
def folder(tmp_path):
    for part in ("train", "val", "test_a"):
        write(tmp_path, f"{part}.de", DE, packed=part == "train")
        write(tmp_path, f"{part}.en", EN)
    return tmp_path


def test_a_folder_packed_or_not(folder):
    corpus = read_corpus(str(folder), "de", "en")
    assert corpus.train == corpus.val == corpus.tests["test_a"] == list(zip(DE, EN)) and corpus.notes == []
    assert read_corpus(str(folder), "en", "de").train == list(zip(EN, DE))
    write(folder, "test_b.de", DE), write(folder, "test_b.en", EN), write(folder, "test_c.de", DE)  # c has no translation
    assert list(read_corpus(str(folder), "de", "en").tests) == ["test_a", "test_b"]


def test_lines_that_are_empty_in_both_files_are_left_out_and_said(folder):
    write(folder, "val.de", [*DE, "", "Vier."]), write(folder, "val.en", [*EN, " ", "Four."])
    corpus = read_corpus(str(folder), "de", "en")
    assert corpus.val == [*zip(DE, EN), ("Vier.", "Four.")]
    assert corpus.notes == [f"{folder}: 1 lines of val.de and val.en are empty and left out"]


def test_only_a_newline_ends_a_line(folder):
    """Other programs end lines at U+2028 or a form feed, too: the two files would no longer fit together."""
    write(folder, "val.de", ["eins\u2028zwei\x0cdrei", "vier"]), write(folder, "val.en", ["one", "four"])
    assert len(read_corpus(str(folder), "de", "en").val) == 2


FAULTS = {
    "line counts": (lambda f: write(f, "val.en", EN[:2]), r"val\.de has 3 lines, val\.en has 2\nfix: each line of the one must be"),
    "an empty line": (lambda f: write(f, "val.en", ["A dog.", "", "Three."]),
                      r"val\.en: line 2 is empty, where val\.de has 'Zwei Katzen\.'\nfix: write the translation there, or remove"),
    "broken UTF-8": (lambda f: (f / "val.en").write_bytes(b"A dog.\nTwo c\xffts.\nThree.\n"),
                     r"val\.en: not UTF-8 text: byte 12 is 0xff\nfix: save it as UTF-8"),
    "no text": (lambda f: [write(f, f"val.{end}", []) for end in ("de", "en")], r"val\.de: the file has no sentence\nfix: write"),
    "no files to test with": (lambda f: (f / "val.en").unlink(), r"no files val\.de and val\.en to test with\nfix: put some"),
    "no training files": (lambda f: (f / "train.en").unlink(), r"no file train\.en\nfix: name the files train\.de and train\.en"),
    "damaged gzip": (lambda f: (f / "train.de.gz").write_bytes(b"\x1f\x8b\x08\x00\xff"), r"train\.de\.gz: a damaged gzip file"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_a_folder_is_said_in_two_lines(folder, fault):
    spoil, text = FAULTS[fault]
    spoil(folder)
    with pytest.raises((FileError, ArgumentError), match=text) as told:
        read_corpus(str(folder), "de", "en")
    assert len(str(told.value).split("\n")) == 2


def test_an_unknown_language_names_those_that_are_there(folder):
    with pytest.raises(ArgumentError, match=r"no file train\.fr\nfix: the languages there are de, en: --src de --tgt en"):
        read_corpus(str(folder), "de", "fr")
    with pytest.raises(ArgumentError, match=r"source and target are both 'de'\nfix: --src de --tgt en"):
        read_corpus(str(folder), "de", "de")
    with pytest.raises(FileError, match=r"none: there is no such file or folder\nfix: a folder with train\.de"):
        read_corpus(str(folder / "none"), "de", "en")


def test_a_file_of_pairs_holds_sentences_out_with_all_their_translations(tmp_path):
    rows = [f"word {i}\t낱말 {i}\tby someone" for i in range(400)] + [f"word {i}\t말 {i}\tby another" for i in range(0, 400, 2)]
    write(tmp_path, "pairs.tsv", [*rows, ""])
    corpus = read_corpus(str(tmp_path / "pairs.tsv"), "ko", "en", (2, 1), 0.1)
    parts = [corpus.train, corpus.val, corpus.tests["test"]]
    assert sum(map(len, parts)) == 600 and all(len(part) > 20 for part in parts[1:])
    assert corpus == read_corpus(str(tmp_path / "pairs.tsv"), "ko", "en", (2, 1), 0.1)  # told by the text, not drawn
    for side in (0, 1):
        seen = [{pair[side] for pair in part} for part in parts]
        assert not (seen[0] & seen[1] or seen[0] & seen[2] or seen[1] & seen[2])


def test_no_source_is_both_learned_and_tested():
    corpus = split([("same", f"target {i}") for i in range(200)] + [(f"s {i}", f"t {i}") for i in range(200)], 0.1)
    held = {source for part in (corpus.val, *corpus.tests.values()) for source, _ in part}
    assert "same" in held and "same" not in {source for source, _ in corpus.train}
    assert "pairs are left out: their source is tested with" in corpus.notes[0]


PAIRS = {
    "one column": (["a\tb", "c"],
                   r"line 2 has 1 column; expected source in column 1 and target in column 2, tabs between them\nfix: "),
    "an empty cell": (["a\t "], r"line 1 has an empty cell|line 1 has 1 column"),
    "nothing": ([""], r"the file has no pair\nfix: write a pair in each line: source, tab, target"),
}  # fmt: skip


@pytest.mark.parametrize("fault", PAIRS)
def test_what_is_wrong_with_pairs_is_said_in_two_lines(tmp_path, fault):
    lines, text = PAIRS[fault]
    write(tmp_path, "pairs.tsv", lines)
    with pytest.raises(FileError, match=text) as told:
        read_corpus(str(tmp_path / "pairs.tsv"), "ko", "en")
    assert len(str(told.value).split("\n")) == 2
