"""Pieces: no text is lost, frequent words are one token, unknown characters are named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from badak.core.errors import ArgumentError
from badak.data.pieces import PieceVocabulary
from badak.data.sentences import PROVERBS, TEN_SENTENCES
from badak.data.text import python_topics

TEXT = "the cat sat on the mat.\n\n  the end, the_end 12  한글 한글\n"


LETTERS = len(set(TEXT))


@pytest.mark.parametrize("words", [0, 1, 5, 100])
def test_a_text_comes_back_as_it_was(words):
    vocabulary = PieceVocabulary.from_text(TEXT, LETTERS + words)
    assert len(vocabulary) == LETTERS + words or words == 100
    assert vocabulary.decode(vocabulary.encode(TEXT)) == TEXT


@given(st.text(alphabet=sorted(set(TEXT))))
def test_any_text_of_known_characters_comes_back(text):
    vocabulary = PieceVocabulary.from_text(TEXT, LETTERS + 6)
    assert vocabulary.decode(vocabulary.encode(text)) == text


def test_the_most_frequent_words_get_a_token_of_their_own():
    vocabulary = PieceVocabulary.from_text(TEXT, LETTERS + 2)
    assert vocabulary.tokens[-2:] == (" the", "the")
    assert len(vocabulary.encode(" the")) == 1 == len(vocabulary.encode("the")) and len(vocabulary.encode(" cat")) == 4


def test_an_unknown_character_is_named():
    with pytest.raises(ArgumentError, match="'é' "):
        PieceVocabulary.from_text(TEXT, LETTERS + 5).encode("até")


def test_a_vocabulary_without_room_for_the_characters_is_refused():
    with pytest.raises(
        ArgumentError, match=f"has {LETTERS} distinct characters, more than vocab_size=3\nfix: vocab_size={LETTERS} or"
    ):
        PieceVocabulary.from_text(TEXT, 3)


@pytest.mark.slow
def test_the_help_texts_of_python_come_back():
    text = python_topics()
    vocabulary = PieceVocabulary.from_text(text, 4000)
    ids = vocabulary.encode(text)
    assert vocabulary.decode(ids) == text and len(ids) < len(text) / 2


def test_the_sentences_are_all_different_and_begin_differently():
    assert len(TEN_SENTENCES) == 10 and len({" ".join(s.split()[:2]) for s in TEN_SENTENCES}) == 10
    assert len(set(PROVERBS)) == 30 and PROVERBS[0] == "Great minds think alike, but they also think differently"
