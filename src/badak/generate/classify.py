"""Texts told by their class, or by a number; and the words that mattered.

What a word did is found by leaving it out: the model reads the text once more without that word, and the answer changes as much
as the word mattered. Words are what white space separates. Nothing is approximated, as with gradients or attention: the two
answers are the model's own. A word that only says again what another one says changes little.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from badak.data.padding import BucketBatchSampler, pad
from badak.data.tokenizer import BERT_MARKS, Tokenizer
from badak.errors import ArgumentError
from badak.generate.sampling import answering
from badak.models.bert import TextClassifier
from badak.tensor import float32

TOGETHER, TOKENS = 512, 8_192  # texts that are looked at together, and tokens that go through the model at once


@dataclass(frozen=True)
class Word:
    """A word of a text, at place `at` among its words, and the answer without it: the probability of the class, or the number."""

    text: str
    at: int
    without: float


@dataclass(frozen=True)
class Verdict:
    """What the model says of a text.

    label       the likeliest class, "" where a number is told
    value       its probability, or the number
    ranking     all classes with their probabilities, the likeliest first; empty where a number is told
    words       the words, the one that changed most first: value - without, for one that spoke for the answer above 0
    cut         tokens at its end that were not read
    """

    text: str
    label: str
    value: float
    ranking: list[tuple[str, float]]
    words: list[Word]
    cut: int


class TextJudge:
    """A classifier with its tokenizer and the names of its classes; without names, a number of this mean and deviation is told."""

    def __init__(self, model: TextClassifier, tokenizer: Tokenizer, labels: Sequence[str] = (), mean: float = 0.0,
                 deviation: float = 1.0):  # fmt: skip
        self.model, self.tokenizer, self.labels, self.mean, self.deviation = model, tokenizer, tuple(labels), mean, deviation
        if len(tokenizer) > model.config.vocab_size or max(len(self.labels), 1) != model.config.classes:
            raise ArgumentError(
                f"TextJudge: {len(tokenizer)} tokens and {len(self.labels)} classes; the model has {model.config.vocab_size} and "
                f"{model.config.classes}", "the tokenizer and the labels that the model was trained with",
            )  # fmt: skip
        if not {BERT_MARKS[2], BERT_MARKS[3]} <= set(tokenizer.ids):
            raise ArgumentError(f"TextJudge: the tokenizer has no {BERT_MARKS[2]} and {BERT_MARKS[3]}", "a tokenizer as BERT's")

    def judge(self, texts: Sequence[str], words: bool = True) -> Iterator[Verdict]:
        """A verdict on each text, in order; without `words` they are not looked for, which takes a pass for each word."""
        for first in range(0, len(texts), TOGETHER):
            part = texts[first : first + TOGETHER]
            empty = next((i for i, text in enumerate(part) if not text.strip()), None)
            if empty is not None:
                raise ArgumentError(f"text {first + empty + 1} is empty", "give it a word, or leave it out")
            answers, cuts = self.answers(part)
            for text, answer, cut in zip(part, answers, cuts):
                yield self._verdict(text, answer, cut, words)

    def answers(self, texts: Sequence[str]) -> tuple[np.ndarray, list[int]]:
        """Probabilities (N, classes), or numbers (N, 1), of N texts, and how many tokens of each were not read."""
        rows, cuts = frame(self.tokenizer, texts, self.model.config.context)
        made = np.empty((len(rows), self.model.config.classes))
        with answering(self.model):
            for chosen in BucketBatchSampler([len(row) for row in rows], tokens=max(TOKENS, self.model.config.context),
                                             shuffle=False):  # fmt: skip
                outputs = self.model(pad([rows[i] for i in chosen], self.model.config.pad_id)).to(float32)
                made[chosen] = (outputs.softmax(dim=-1) if self.labels else outputs).numpy()
        return (made if self.labels else self.mean + self.deviation * made), cuts

    def _verdict(self, text: str, answer: np.ndarray, cut: int, words: bool) -> Verdict:
        best = int(answer.argmax())
        ranking = [(self.labels[i], float(answer[i])) for i in np.argsort(-answer, kind="stable")] if self.labels else []
        value = float(answer[best])
        found = self._words(text, best, value) if words else []
        return Verdict(text, self.labels[best] if self.labels else "", value, ranking, found, cut)

    def _words(self, text: str, best: int, value: float) -> list[Word]:
        """Each word with the answer that the text gets without it, the largest change first; of equals the first."""
        words = text.split()
        without = self.answers([" ".join(words[:i] + words[i + 1 :]) for i in range(len(words))])[0][:, best].tolist()
        size = self._odds if self.labels else float
        found = [Word(word, i, left) for i, (word, left) in enumerate(zip(words, without))]
        return sorted(found, key=lambda one: -abs(size(value) - size(one.without)))

    @staticmethod
    def _odds(chance: float) -> float:
        """log p / (1 - p): from 0.999 to 0.99 is as far as from 0.9 to 0.5, nearly."""
        return math.log(max(chance, 1e-12)) - math.log(max(1 - chance, 1e-12))


def frame(tokenizer: Tokenizer, texts: Sequence[str], context: int) -> tuple[list[np.ndarray], list[int]]:
    """[CLS] tokens [SEP] of each text, cut at `context`, its last mark kept; and how many tokens of each were cut off."""
    first, last = (tokenizer.ids[mark] for mark in BERT_MARKS[2:4])
    rows = tokenizer.encode_all(texts)
    return [np.array([first, *row[: context - 2], last]) for row in rows], [max(len(row) + 2 - context, 0) for row in rows]
