"""Texts told by their class, or by a number; and the words that mattered.

What a word did is found by leaving it out: the model reads the text once more without that word, and the answer changes as much
as the word mattered. Words are what white space separates. Nothing is approximated, as with gradients or attention: the two
answers are the model's own. A word that only says again what another one says changes little.
"""

import bisect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from badak.core.errors import ArgumentError, tr
from badak.data.padding import BucketBatchSampler, pad
from badak.data.tokenizer import BERT_MARKS, Tokenizer
from badak.generation.framing import Framed, Text, framed, segments_of
from badak.generation.framing import frame as frame
from badak.generation.reader import answering
from badak.models.bert import BERTClassifier
from badak.tensor import float32, from_numpy

TOGETHER, TOKENS = 512, 8_192  # texts that are looked at together, and tokens that go through the model at once


@dataclass(frozen=True)
class Word:
    """A word of a text, at place `at` among its words, and the answer without it: the probability of the class, or the number.

    Of a pair the places go on through the second text.
    """

    text: str
    at: int
    without: float


@dataclass(frozen=True)
class Prediction:
    """What the model says of a text.

    label       the most likely class, "" where a number is told
    value       its probability, or the number
    ranking     all classes with their probabilities, the most likely first; empty where a number is told
    words       the words, the one that changed most first: value - without, for one that spoke for the answer above 0
    cut         tokens at its end that were not read
    second      the second text of a pair
    """

    text: str
    label: str
    value: float
    ranking: list[tuple[str, float]]
    words: list[Word]
    cut: int
    second: str = ""


class TextClassifier:
    """A classifier with its tokenizer and the names of its classes; without names, a number of this mean and deviation is told.

    pairs: whether an example is a pair of texts, (text, second text); None: both are read.
    """

    def __init__(self, model: BERTClassifier, tokenizer: Tokenizer, labels: Sequence[str] = (), mean: float = 0.0,
                 deviation: float = 1.0, pairs: bool | None = None) -> None:  # fmt: skip
        self.pairs = pairs
        self.model, self.tokenizer, self.labels, self.mean, self.deviation = model, tokenizer, tuple(labels), mean, deviation
        if len(tokenizer) > model.config.vocab_size or max(len(self.labels), 1) != model.config.classes:
            cause = tr("TextClassifier: {} tokens and {} classes; the model has {} and {}", len(tokenizer), len(self.labels),
                       model.config.vocab_size, model.config.classes)  # fmt: skip
            raise ArgumentError(cause, "the tokenizer and the labels that the model was trained with")
        if not {BERT_MARKS[2], BERT_MARKS[3]} <= set(tokenizer.ids):
            cause = tr("TextClassifier: the tokenizer has no {} and {}", BERT_MARKS[2], BERT_MARKS[3])
            raise ArgumentError(cause, "a tokenizer as BERT's")

    def judge(self, texts: Sequence[Text], words: bool = True) -> Iterator[Prediction]:
        """A verdict on each text or pair, in order; without `words` they are not looked for, which takes a pass for each."""
        for first in range(0, len(texts), TOGETHER):
            part = texts[first : first + TOGETHER]
            for at, text in enumerate(part, first + 1):
                self._expect(text, at)
            answers, framed_ = self._answers(part)
            for text, answer, cut, row, second in zip(part, answers, framed_.cuts, framed_.rows, framed_.seconds):
                kept = (int(second) - 2, len(row) - int(second) - 1)  # tokens that are read of the first text, and of the second
                yield self._verdict(text, answer, cut, kept if words else None)

    def answers(self, texts: Sequence[Text]) -> tuple[np.ndarray, list[int]]:
        """Probabilities (N, classes), or numbers (N, 1), of N texts, and how many tokens of each were not read."""
        answers, framed_ = self._answers(texts)
        return answers, framed_.cuts

    def _expect(self, text: Text, at: int) -> None:
        """Refuse a text without a word, and one where a pair is read, or the other way round."""
        if not all(part.strip() for part in ([text] if isinstance(text, str) else text)):
            raise ArgumentError(tr("text {} is empty", at), "give it a word, or leave it out")
        if self.pairs is not None and self.pairs is isinstance(text, str):
            cause = tr("text {} is {}; the model was trained on {}", at, tr("one text") if self.pairs else tr("a pair"),
                       tr("pairs of texts") if self.pairs else tr("single texts"))  # fmt: skip
            raise ArgumentError(cause, "the first and the second text as a pair" if self.pairs else "one text at a time")

    def _answers(self, texts: Sequence[Text]) -> tuple[np.ndarray, Framed]:
        config = self.model.config
        made = np.empty((len(texts), config.classes))
        found = framed(self.tokenizer, texts, config.context)
        pairs = any(not isinstance(text, str) for text in texts)
        with answering(self.model):
            for chosen in BucketBatchSampler([len(row) for row in found.rows], tokens=max(TOKENS, config.context),
                                             shuffle=False):  # fmt: skip
                ids = pad([found.rows[i] for i in chosen], config.pad_id)
                token_type_ids = (
                    from_numpy(segments_of(found.seconds[chosen], ids.shape[1])) if pairs and config.type_vocab_size > 1 else None
                )
                outputs = self.model(ids, token_type_ids).to(float32)
                made[chosen] = (outputs.softmax(dim=-1) if self.labels else outputs).numpy()
        return (made if self.labels else self.mean + self.deviation * made), found

    def _verdict(self, text: Text, answer: np.ndarray, cut: int, kept: tuple[int, int] | None) -> Prediction:
        best = int(answer.argmax())
        ranking = [(self.labels[i], float(answer[i])) for i in np.argsort(-answer, kind="stable")] if self.labels else []
        value = float(answer[best])
        found = self._words(text, best, value, kept if cut else None) if kept else []
        first, second = (text, "") if isinstance(text, str) else text
        return Prediction(first, self.labels[best] if self.labels else "", value, ranking, found, cut, second)

    def _words(self, text: Text, best: int, value: float, kept: tuple[int, int] | None) -> list[Word]:
        """Each word with the answer that the text gets without it, the largest change first; of equals the first.

        kept: how many tokens of each text are read, where not all are. A word behind them changes nothing and is left out, and so
        is whatever no text with one word less reaches: the time does not grow with what is not read.
        """
        parts = [text] if isinstance(text, str) else list(text)
        words = [part.split() for part in parts]
        read = [len(some) for some in words]
        if kept is not None:
            within = [self._within(some, room) for some, room in zip(words, kept)]
            words, read = [some for some, _ in within], [count for _, count in within]
        tried = [(at, i) for at, count in enumerate(read) for i in range(count)]
        shorter = [[" ".join(some[:i] + some[i + 1 :] if at == of else some) for of, some in enumerate(words)] for at, i in tried]
        without = self.answers([one[0] if isinstance(text, str) else (one[0], one[1]) for one in shorter])[0][:, best].tolist()
        size = self._odds if self.labels else float
        found = [Word(words[at][i], i + at * len(parts[0].split()), left) for (at, i), left in zip(tried, without)]
        return sorted(found, key=lambda one: -abs(size(value) - size(one.without)))

    def _within(self, words: list[str], room: int) -> tuple[list[str], int]:
        """The words that can be read when one of them is left out, and how many of them are read at least in part."""

        def count(most: int) -> int:
            return len(self.tokenizer.encode(" ".join(words[:most])))

        context, enough = self.model.config.context, 2 * self.model.config.context
        while enough < len(words):
            longest = max(map(len, self.tokenizer.encode_all(words[:enough])))
            if count(enough) >= context + longest + 1:  # behind a white space a word may be one token more
                break
            enough *= 2
        words = words[:enough]
        return words, bisect.bisect_left(range(len(words)), room, key=count)

    @staticmethod
    def _odds(chance: float) -> float:
        """log p / (1 - p): from 0.999 to 0.99 is as far as from 0.9 to 0.5, nearly."""
        return math.log(max(chance, 1e-12)) - math.log(max(1 - chance, 1e-12))
