"""Task 5: the same in another language. A Seq2Seq learns pairs of sentences; at the end it translates others, with BLEU."""

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from badak.core.errors import ArgumentError, tr
from badak.data import BucketBatchSampler, DataLoader, pad
from badak.data.bitext import Corpus, Pairs, read_corpus
from badak.data.sentences import KOREAN_ENGLISH
from badak.data.tokenizer import Tokenizer
from badak.generation.translate import MARKS, bleu, framed, spaced, translate
from badak.models.seq2seq import Seq2Seq
from badak.tensor import Tensor
from badak.tensor.random import Generator
from badak.training import vocabulary as vocabularies
from badak.training.experiment import IGNORED, Experiment
from badak.training.presets import TranslateData, TranslateSetup
from badak.training.score import Score

MULTIPLE = 4  # lengths are rounded up to one of these: compiled steps see few shapes
TEST_TOKENS = 4_096
LARGE, FEW = 1_024, 1_000  # tokens, pairs: beyond them a recording of each length costs more than it saves

Rows = list[tuple[np.ndarray, np.ndarray]]


class Translating(Experiment):
    """A Seq2Seq over pairs of sentences, in batches of pairs of like length."""

    setup: TranslateSetup
    model: Seq2Seq

    def __init__(self, setup: TranslateSetup, log: Callable[[str], None], tokenizer: Tokenizer | None = None) -> None:
        data, context = setup.data, setup.model.context
        self.corpus = read_pairs(data)
        for note in self.corpus.notes:
            log(note)
        self.vocabulary = tokenizer or Tokenizer.train_bpe(
            spaced(itertools.chain.from_iterable(self.corpus.train)), data.vocabulary, MARKS, small=data.lowercase
        )
        pad_id, sos, eos = (self.vocabulary.ids[mark] for mark in MARKS)
        model = replace(setup.model, vocab_size=len(self.vocabulary), pad_id=pad_id, sos_id=sos, eos_id=eos)
        self.setup = vocabularies.noted(replace(setup, model=model), self.vocabulary)
        learned, tested = (self.rows(pairs, context, log) for pairs in (self.corpus.train, self.corpus.val))
        self.model = Seq2Seq(model)
        self.compiled = data.batch_tokens < LARGE and len(learned) <= FEW
        order = Generator().manual_seed(setup.train.seed)
        size = None if data.batch_tokens else setup.train.batch_size
        buckets = BucketBatchSampler(lengths(learned), size, data.batch_tokens or None, MULTIPLE, generator=order)
        self.loader = self.batches(learned, buckets)
        self.validation = self.batches(
            tested, BucketBatchSampler(lengths(tested), tokens=TEST_TOKENS, multiple=MULTIPLE, shuffle=False)
        )
        log(tr("{:,} pairs of sentences, {:,} tokens of both languages", len(learned), len(self.vocabulary)))

    def rows(self, pairs: Pairs, context: int, log: Callable[[str], None]) -> Rows:
        """The tokens of each pair: source with its end, target with its start and end. Those above the context are left out."""
        sides = [framed(self.vocabulary, side) for side in zip(*pairs)]
        kept = [
            (source, np.concatenate([[self.setup.model.sos_id], target]))
            for source, target in zip(*sides)
            if max(len(source), len(target)) <= context
        ]
        if len(kept) < len(pairs):
            log(tr("{:,} of {:,} pairs are longer than {} tokens and left out", len(pairs) - len(kept), len(pairs), context))
        if not kept:
            longest = min(max(len(source), len(target)) for source, target in zip(*sides))
            cause = tr("all {:,} pairs are longer than context={} tokens", len(pairs), context)
            raise ArgumentError(cause, tr("--context {}", longest))
        return kept

    def batches(self, rows: Rows, order: BucketBatchSampler) -> DataLoader:
        """Batches (source (B, S), target (B, T + 1)), filled up; S = T."""
        return DataLoader(rows, batch_sampler=order, collate_fn=self.collate)

    def collate(self, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        """Source, target and labels, all (B, T): what is read, what was written before each place, and what stands there."""
        fill, longest = self.setup.model.pad_id, max(lengths(rows))  # one length for all: few shapes

        def even(ids: np.ndarray, value: int) -> np.ndarray:
            return np.pad(ids, (0, longest - len(ids)), constant_values=value)

        return (
            pad([even(source, fill) for source, _ in rows], fill, MULTIPLE),
            pad([even(target[:-1], fill) for _, target in rows], fill, MULTIPLE),
            pad([even(target[1:], IGNORED) for _, target in rows], IGNORED, MULTIPLE),
        )

    def data(self) -> list[bytes]:
        parts = (self.corpus.train, self.corpus.val, *self.corpus.tests.values())
        return ["\n".join("\t".join(pair) for pair in pairs).encode("utf-8", "surrogatepass") for pairs in parts]

    def prepare(self, batch: tuple[Tensor, Tensor, Tensor]) -> tuple[tuple[Tensor, Tensor], Tensor]:
        source, target, labels = batch
        return (source, target), labels

    def seen(self, inputs: tuple[Tensor, ...]) -> int:
        """Tokens of both languages, without those that fill up."""
        return sum(int((ids != self.setup.model.pad_id).sum()) for ids in inputs)

    def evaluate(self) -> Score:
        return self.scored(self.validation)

    def example(self) -> list[str]:
        sentence = next(iter(self.corpus.tests.values()), self.corpus.val)[0][0]
        return ["--", sentence] if sentence.startswith("-") else [sentence]

    def closing_words(self) -> list[str]:
        """The first translations of what was kept for the end, and the BLEU of all; of the phrases, what was learned."""
        said: list[str] = []
        for name, pairs in (self.corpus.tests or {"": self.corpus.val[:5]}).items():
            sources, references = zip(*pairs)
            made = translate(self.model, self.vocabulary, sources, cut=too_long(said.append, self.setup.model.context))
            said += [f"  {source}\n    {line}" for source, line in list(zip(sources, made))[:5]]
            if name:
                score, signature = bleu(made, references, self.setup.data.lowercase)
                said.append(f"{name}: BLEU {score:.2f}   {signature}")
        return said


def too_long(log: Callable[[str], None], context: int) -> Callable[[int, int], None]:
    """Says of a sentence, counted from 0, that it has more tokens than the model reads."""
    return lambda i, tokens: log(
        tr("sentence {:,} has {:,} tokens, the model reads {:,}: what stands behind them is not translated", i + 1, tokens, context)
    )


def read_pairs(data: TranslateData) -> Corpus:
    """The pairs that `data` names, or the phrases that come with badak, which are all learned and tested with."""
    if not data.path:
        pairs = list(KOREAN_ENGLISH)
        if (data.src, data.tgt) == ("en", "ko"):
            pairs = [(english, korean) for korean, english in pairs]
        elif (data.src, data.tgt) != ("ko", "en"):
            cause = tr("the phrases that come with badak are Korean and English; got {} and {}", data.src, data.tgt)
            raise ArgumentError(cause, "--data DIR, or --src ko --tgt en")
        return Corpus(pairs, pairs)
    return read_corpus(data.path, data.src, data.tgt, (data.source_column, data.target_column), data.val_split)


def lengths(rows: Rows) -> list[int]:
    """The longer side of each pair, as it goes through the model."""
    return [max(len(source), len(target) - 1) for source, target in rows]
