"""Texts judged, and the words that mattered: against the model asked by hand."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError
from badak.data import pad
from badak.data.tokenizer import BERT_MARKS, Tokenizer
from badak.generation.classify import TextClassifier, frame
from badak.models.bert import BERTClassifier, TextConfig

TEXTS = ["이 영화 정말 재미없다", "노래가 좋다", "배우가 정말 좋다 좋다 좋다", "good words and bad words"]


@pytest.fixture(scope="module", params=["wordpiece", "bpe"])
def tokenizer(request):
    if request.param == "bpe":
        return Tokenizer.train_bpe(TEXTS * 5, 300, special=BERT_MARKS)
    return Tokenizer.train_wordpiece(TEXTS * 5, 120)


def model_of(tokenizer, classes=3, context=40, **more):
    badak.manual_seed(0)
    config = TextConfig(vocab_size=len(tokenizer), context=context, d_model=16, heads=2, layers=1, pad_id=tokenizer.pad,
                        classes=classes, **more)  # fmt: skip
    model = BERTClassifier(config)
    for parameter in model.parameters():  # so that classes differ
        parameter.data.mul_(4)
    return model


def asked(model, tokenizer, text):
    """The logits of one text alone, by hand."""
    ids = [tokenizer.ids["[CLS]"], *tokenizer.encode(text).tolist(), tokenizer.ids["[SEP]"]]
    model.eval()
    return model(pad([ids], 0))[0].tolist()


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_probabilities_are_those_of_each_text_alone_and_words_are_left_out(tokenizer, pooling):
    model = model_of(tokenizer, pooling=pooling)
    model.train()
    for text, verdict in zip(TEXTS, TextClassifier(model, tokenizer, ["a", "b", "c"]).judge(TEXTS), strict=True):
        chances = torch.tensor(asked(model, tokenizer, text)).softmax(0).tolist()
        best = int(np.argmax(chances))
        assert verdict.text == text and verdict.label == "abc"[best] and verdict.cut == 0
        assert dict(verdict.ranking) == pytest.approx(dict(zip("abc", chances)), abs=1e-6)
        assert [chance for _, chance in verdict.ranking] == sorted((c for _, c in verdict.ranking), reverse=True)
        words = text.split()
        assert sorted(word.at for word in verdict.words) == list(range(len(words)))
        odds = []
        for word in verdict.words:
            assert word.text == words[word.at]
            without = " ".join(words[: word.at] + words[word.at + 1 :])
            assert word.without == pytest.approx(torch.tensor(asked(model, tokenizer, without)).softmax(0)[best].item(), abs=1e-6)
            odds.append(abs(np.log(word.without / (1 - word.without)) - np.log(chances[best] / (1 - chances[best]))))
        assert odds == pytest.approx(sorted(odds, reverse=True), abs=1e-3)
        model.train()


def test_a_number_comes_in_its_own_units(tokenizer):
    model = model_of(tokenizer, classes=1)
    for verdict in TextClassifier(model, tokenizer, mean=5.0, deviation=2.0).judge(TEXTS):
        assert verdict.value == pytest.approx(5 + 2 * asked(model, tokenizer, verdict.text)[0], abs=1e-5)
        assert verdict.label == "" and verdict.ranking == []
        changes = [abs(word.without - verdict.value) for word in verdict.words]
        assert changes == sorted(changes, reverse=True)


def test_without_words_no_word_is_looked_for(tokenizer):
    assert [one.words for one in TextClassifier(model_of(tokenizer), tokenizer, "abc").judge(TEXTS, words=False)] == [[]] * 4


def test_a_long_text_is_cut_and_its_end_mark_stays(tokenizer):
    long, short = " ".join(TEXTS), TEXTS[1]
    rows, cuts = frame(tokenizer, [long, short], 8)
    whole = len(tokenizer.encode(long)) + 2
    assert len(rows[0]) == 8 and rows[0][0] == tokenizer.ids["[CLS]"] and rows[0][-1] == tokenizer.ids["[SEP]"]
    assert cuts == [whole - 8, max(len(tokenizer.encode(short)) + 2 - 8, 0)]
    judge = TextClassifier(model_of(tokenizer, context=8), tokenizer, "abc")
    assert [one.cut for one in judge.judge([long], words=False)] == [whole - 8]


def test_wrong_input_is_answered_in_two_lines(tokenizer):
    judge = TextClassifier(model_of(tokenizer), tokenizer, "abc")
    with pytest.raises(BadakError) as caught:
        list(judge.judge(["좋다", " \n"]))
    assert str(caught.value) == "text 2 is empty\nfix: give it a word, or leave it out"
    with pytest.raises(BadakError) as caught:
        TextClassifier(model_of(tokenizer), tokenizer, "ab")
    V = len(tokenizer)
    assert str(caught.value) == (
        f"TextClassifier: {V} tokens and 2 classes; the model has {V} and 3\n"
        "fix: the tokenizer and the labels that the model was trained with"
    )
