"""Vocabularies: text to numbers and back, and damaged files by their name."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from badak.core.errors import ArgumentError, FileError, IndexOutOfRangeError
from badak.data.files import read_text
from badak.data.text import MASK, SPECIALS, CharVocabulary, WordVocabulary, python_topics
from badak.tensor import tensor
from tests.real_data import real_data

GREAT = "Great minds think alike, but they also think differently"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_characters_come_back_as_they_were(text):
    vocabulary = CharVocabulary.from_text(text)
    ids = vocabulary.encode(text)
    assert ids.dtype == np.int64 and ids.shape == (len(text),) and vocabulary.decode(ids) == text
    assert list(vocabulary.tokens) == sorted(set(text))


def test_characters_are_numbered_in_their_order():
    vocabulary = CharVocabulary.from_text("바닥 badak")
    assert vocabulary.tokens == (" ", "a", "b", "d", "k", "닥", "바") and len(vocabulary) == 7
    assert vocabulary.encode("바닥").tolist() == [6, 5]
    assert vocabulary.decode(tensor([6, 5])) == vocabulary.decode([6, 5]) == "바닥"


def test_words_are_numbered_after_the_special_ones():
    vocabulary = WordVocabulary.from_texts([GREAT, "Great ideas"])
    assert vocabulary.tokens[:5] == SPECIALS and vocabulary.tokens[5:8] == ("Great", "minds", "think")
    assert len(vocabulary) == 5 + 9
    assert (vocabulary.pad, vocabulary.sos, vocabulary.eos, vocabulary.unk, vocabulary.mask) == (0, 1, 2, 3, 4)
    assert vocabulary.encode(f"Great minds {MASK} alike, too").tolist() == [5, 6, 4, 8, 3]
    assert vocabulary.decode(vocabulary.encode(GREAT)) == GREAT


def test_a_frame_has_a_start_an_end_and_padding():
    vocabulary = WordVocabulary.from_texts([GREAT])
    assert vocabulary.frame("Great minds", 6).tolist() == [1, 5, 6, 2, 0, 0]
    assert vocabulary.frame("Great minds").tolist() == [1, 5, 6, 2]
    assert vocabulary.decode(vocabulary.frame("Great minds", 6)) == "<sos> Great minds <eos> <pad> <pad>"
    assert vocabulary.decode(vocabulary.frame("Great minds", 6), skip_special=True) == "Great minds"
    with pytest.raises(ArgumentError, match="4 tokens with <sos> and <eos> do not fit into length=3"):
        vocabulary.frame("Great minds", 3)


@pytest.mark.parametrize("vocabulary", [CharVocabulary.from_text('바닥\n\t"'), WordVocabulary.from_texts([GREAT])])
def test_a_vocabulary_comes_back_from_its_file(tmp_path, vocabulary):
    vocabulary.save(tmp_path / "v.json")
    assert type(vocabulary).load(tmp_path / "v.json") == vocabulary
    assert type(vocabulary).from_dict(json.loads(json.dumps(vocabulary.to_dict()))) == vocabulary


@pytest.mark.parametrize(
    "content, cause",
    [
        (b'{"kind": "words", "tokens": [', "not JSON: line 1"),
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON: its brackets go too deep"),
        (b"[]", "not a vocabulary of words: expected kind and a list of tokens; got list"),
        (b'{"kind": "words"}', "not a vocabulary"),
        (b'{"kind": "words", "tokens": [1]}', "not a vocabulary"),
        (b'{"kind": "characters", "tokens": ["a"]}', "got kind 'characters'"),
        (b'{"kind": "words", "tokens": ["a"]}', "expected the tokens <pad>"),
        (json.dumps({"kind": "words", "tokens": [*SPECIALS, "a", "a"]}).encode(), "'a' stands there twice"),
        (b'{"kind": "words", "tokens": ["\xff"]}', "not UTF-8 text: byte 30 is 0xff"),
    ],
)
def test_damaged_vocabularies_are_named(tmp_path, content, cause):
    file = tmp_path / "v.json"
    file.write_bytes(content)
    with pytest.raises(FileError, match=cause) as caught:
        WordVocabulary.load(file)
    assert str(file) in caught.value.cause


def test_what_a_vocabulary_lacks_is_named():
    vocabulary = CharVocabulary.from_text("abc")
    with pytest.raises(ArgumentError, match=r"'x' \(at character 2\) is not among the 3 characters known"):
        vocabulary.encode("abxc")
    for wrong in (3, -1):
        with pytest.raises(IndexOutOfRangeError, match=f"token {wrong} is outside of this vocabulary of 3 tokens"):
            vocabulary.decode([wrong])
    with pytest.raises(ArgumentError, match="single characters"):
        CharVocabulary(["ab"])


def test_text_files_are_read_as_utf8(tmp_path):
    file = tmp_path / "t.txt"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert read_text(file) == "one\ntwo\nthree\n"
    with pytest.raises(FileError, match="no such file"):
        read_text(tmp_path / "absent")


def test_python_brings_its_own_prose():
    text = python_topics()
    assert len(text) > 300_000 and 'The "for" statement' in text
    assert python_topics() == text
    assert len(CharVocabulary.from_text(text)) < 300


@pytest.mark.slow
def test_the_characters_of_shakespeare_are_65():
    text = read_text(real_data("tinyshakespeare/input.txt"))
    vocabulary = CharVocabulary.from_text(text)
    assert len(text) == 1_115_394 and len(vocabulary) == 65
    assert vocabulary.decode(vocabulary.encode(text)) == text
