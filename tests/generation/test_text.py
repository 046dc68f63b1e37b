"""From text to text."""

import pytest

import badak
from badak import nn
from badak.core.errors import ArgumentError
from badak.data.text import SPECIALS, CharVocabulary, WordVocabulary
from badak.generation import GenerationConfig
from badak.generation.text import fill_sentence, generate_text, known
from badak.models import GPTConfig
from tests.generation.test_sampling import Counting

GREEDY = GenerationConfig(max_new_tokens=3, temperature=0.0, top_k=0)
WORDS = WordVocabulary.from_texts(["one two three Four"])  # 5, 6, 7, 8


def test_characters_are_written_one_by_one():
    pieces = list(generate_text(Counting(V=5), CharVocabulary("\nabcd"), "ab", GREEDY))
    assert pieces == ["ab", "c", "d", "\n"]


def test_an_empty_prompt_is_a_new_line():
    assert "".join(generate_text(Counting(V=5), CharVocabulary("\nabcd"), "", GREEDY)) == "abc"


def test_words_have_spaces_between_and_end_before_eos():
    assert "".join(generate_text(Counting(V=9), WORDS, "one", GREEDY)) == "one two three Four"
    assert "".join(generate_text(Counting(V=9), WORDS, "one", GREEDY, eos=7)) == "one two"


class Fond(nn.Module):
    """Likes some tokens best, whatever it reads."""

    def __init__(self, V, likes, context=16):
        super().__init__()
        self.config, self.V, self.likes = GPTConfig(vocab_size=V, context=context), V, likes

    def forward(self, ids):
        logits = badak.zeros(*ids.shape, self.V)
        logits[..., list(self.likes)] = 5.0
        return logits


@pytest.mark.parametrize("config", [
    GenerationConfig(max_new_tokens=200, temperature=0.0, top_k=0), GenerationConfig(max_new_tokens=200),
    GenerationConfig(max_new_tokens=200, top_k=3),
    GenerationConfig(max_new_tokens=200, temperature=3.0, top_k=0, top_p=0.99, repetition_penalty=1.5),
])  # fmt: skip
@pytest.mark.parametrize("eos", [None, WORDS.eos])
def test_no_special_token_is_written_but_the_one_that_ends_a_line(config, eos):
    said = "".join(generate_text(Fond(9, range(5)), WORDS, "one two", config, eos))
    assert not set(said.split()) & set(SPECIALS)
    if eos is None:
        assert len(said.split()) == 202
    elif config.temperature == 0:
        assert said == "one two"


def test_no_special_token_fills_a_hole():
    filled, (ranking,) = fill_sentence(Fond(9, range(5)), WORDS, "one [MASK] two", top=9)
    assert [word for word, _ in ranking] == ["one", "two", "three", "Four"] and filled == "one one two"
    assert sum(chance for _, chance in ranking) == pytest.approx(1)


def test_a_vocabulary_without_a_word_writes_nothing():
    with pytest.raises(ArgumentError, match=r"each of the 5 tokens is forbidden\nfix: a vocabulary with words"):
        list(generate_text(Fond(5, ()), WordVocabulary.from_texts([]), "[MASK]", GREEDY))


def test_a_word_never_seen_is_named_with_the_nearest_one():
    with pytest.raises(ArgumentError, match=r"never seen the word 'four,'\nfix: the model knows Four"):
        known(WORDS, "one four,")
    with pytest.raises(ArgumentError, match=r"never seen the word 'five'\nfix: use the words of the training text"):
        known(WORDS, "five")


def test_a_prompt_without_a_word_is_refused():
    with pytest.raises(ArgumentError, match="the prompt has no word"):
        list(generate_text(Counting(V=9), WORDS, "  ", GREEDY))


def test_every_hole_is_filled():
    filled, rankings = fill_sentence(Counting(V=9, context=16), WORDS, "[MASK] two [MASK]", top=2)
    assert filled == "one two one" and [ranking[0][0] for ranking in rankings] == ["one", "one"]
    assert badak.is_grad_enabled()
