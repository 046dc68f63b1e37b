"""From text to text."""

import pytest

import badak
from badak.data.text import CharVocabulary, WordVocabulary
from badak.errors import ArgumentError
from badak.generate import SampleConfig
from badak.generate.text import fill_sentence, known, write_on
from tests.generate.test_sampling import Counting

GREEDY = SampleConfig(new_tokens=3, temperature=0.0, top_k=0)
WORDS = WordVocabulary.from_texts(["one two three Four"])  # 5, 6, 7, 8


def test_characters_are_written_one_by_one():
    pieces = list(write_on(Counting(V=5), CharVocabulary("\nabcd"), "ab", GREEDY))
    assert pieces == ["ab", "c", "d", "\n"]


def test_an_empty_prompt_is_a_new_line():
    assert "".join(write_on(Counting(V=5), CharVocabulary("\nabcd"), "", GREEDY)) == "abc"


def test_words_have_spaces_between_and_end_before_eos():
    assert "".join(write_on(Counting(V=9), WORDS, "one", GREEDY)) == "one two three Four"
    assert "".join(write_on(Counting(V=9), WORDS, "one", GREEDY, eos=7)) == "one two"


def test_a_word_never_seen_is_named_with_the_nearest_one():
    with pytest.raises(ArgumentError, match=r"never seen the word 'four,'\nfix: the model knows Four"):
        known(WORDS, "one four,")
    with pytest.raises(ArgumentError, match=r"never seen the word 'five'\nfix: use the words of the training text"):
        known(WORDS, "five")


def test_a_prompt_without_a_word_is_refused():
    with pytest.raises(ArgumentError, match="the prompt has no word"):
        list(write_on(Counting(V=9), WORDS, "  ", GREEDY))


def test_every_hole_is_filled():
    filled, rankings = fill_sentence(Counting(V=9, context=16), WORDS, "[MASK] two [MASK]", top=2)
    assert filled == "one two one" and [ranking[0][0] for ranking in rankings] == ["one", "one"]
    assert badak.is_grad_enabled()
