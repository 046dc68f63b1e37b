"""Task 3: which word was here? A BERT learns sentences with some of their words hidden."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from badak.core.errors import ArgumentError, tr
from badak.data import DataLoader, TensorDataset, pad
from badak.data.files import read_text
from badak.data.sentences import PROVERBS
from badak.data.text import MASK, SPECIALS, WordVocabulary
from badak.generation.text import fill_sentence
from badak.models.bert import BERT
from badak.tensor import Tensor, from_numpy, rand
from badak.tensor.random import Generator
from badak.training.experiment import IGNORED, Experiment, judge
from badak.training.presets import BERTSetup
from badak.training.score import Score
from badak.training.vocabulary import noted

TEST_BATCH, TEST_CASES = 64, 2_000


class Guessing(Experiment):
    """A BERT over sentences: other words are hidden in each epoch; it is tested with each word hidden alone."""

    setup: BERTSetup

    def __init__(self, setup: BERTSetup, log: Callable[[str], None], tokenizer: None = None) -> None:
        self.sentences = read_sentences(setup.data.path)
        self.vocabulary = WordVocabulary.from_texts(self.sentences)
        model = replace(setup.model, vocab_size=len(self.vocabulary), pad_id=self.vocabulary.pad)
        self.setup = noted(replace(setup, model=model), self.vocabulary)
        ids = frame_all(self.vocabulary, self.sentences, model.context)
        self.model = BERT(model)
        order = Generator().manual_seed(setup.train.seed)
        self.loader = DataLoader(TensorDataset(from_numpy(ids)), setup.train.batch_size, shuffle=True, generator=order)
        self.validation: DataLoader = DataLoader(TensorDataset(*each_word_hidden(ids, self.vocabulary.mask)), TEST_BATCH)
        log(tr("{:,} sentences, {:,} distinct words", len(self.sentences), len(self.vocabulary)))

    def data(self) -> list[bytes]:
        return [sentence.encode("utf-8", "surrogatepass") for sentence in self.sentences]

    def prepare(self, batch: tuple[Tensor]) -> tuple[tuple[Tensor], Tensor]:
        (ids,) = batch
        noise = rand(*ids.shape).masked_fill(ids < len(SPECIALS), 2.0)  # (B, T); the marks are never hidden
        hidden = (noise < self.setup.data.masked) | (noise == noise.amin(dim=1, keepdim=True))  # one in each sentence at least
        seen = ids.masked_fill(hidden, self.vocabulary.mask)
        return (seen,), ids.masked_fill(~hidden, IGNORED)

    def evaluate(self) -> Score:
        return sum(self.each(self.validation, lambda batch: judge(self.model(batch[0]), batch[1], batch[0].numel())[1]), Score())

    def with_a_hole(self) -> str:
        """The first sentence with its third word hidden."""
        words = self.sentences[0].split()
        words[min(2, len(words) - 1)] = MASK
        return " ".join(words)

    def example(self) -> list[str]:
        sentence = self.with_a_hole()
        return ["--", sentence] if sentence.startswith("-") else [sentence]

    def closing_words(self) -> list[str]:
        """The first sentence with its third word hidden, and what the model makes of it."""
        filled, rankings = fill_sentence(self.model, self.vocabulary, self.with_a_hole())
        return [self.with_a_hole(), f"{filled}   ({rankings[0][0][1]:.0%})"]


def read_sentences(path: str) -> list[str]:
    """The lines of a file that have words, or the proverbs."""
    sentences = [line.strip() for line in read_text(path).split("\n") if line.strip()] if path else list(PROVERBS)
    if not sentences:
        raise ArgumentError(tr("{}: the file has no sentence", path), "write one sentence in each line")
    return sentences


def frame_all(vocabulary: WordVocabulary, sentences: list[str], context: int) -> np.ndarray:
    """All sentences as <sos> words <eos> <pad> ..., int64 (N, T) with T the longest of them."""
    lengths = [len(sentence.split()) + 2 for sentence in sentences]
    if max(lengths) > context:
        cause = tr(
            "sentence {} has {} tokens with its marks, more than context={}", lengths.index(max(lengths)) + 1, max(lengths), context
        )
        raise ArgumentError(cause, tr("--context {}", max(lengths)))
    return pad([vocabulary.frame(sentence) for sentence in sentences], vocabulary.pad).numpy()


def each_word_hidden(ids: np.ndarray, mask: int) -> tuple[Tensor, Tensor]:
    """For each word of each sentence (the first 2,000) the sentence without it, and the labels: that word alone."""
    rows, places = (index[:TEST_CASES] for index in np.nonzero(ids >= len(SPECIALS)))
    cases, each = ids[rows], np.arange(len(rows))
    labels = np.full_like(cases, IGNORED)
    labels[each, places] = cases[each, places]
    cases[each, places] = mask
    return from_numpy(cases), from_numpy(labels)
