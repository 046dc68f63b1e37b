"""Task 2: what comes next? A GPT learns a text, as one stream or line by line."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from badak.data import DataLoader, Dataset, RandomSampler
from badak.data.pieces import PieceVocabulary
from badak.data.sentences import TEN_SENTENCES
from badak.data.text import CharVocabulary, WordVocabulary, python_topics, read_text
from badak.errors import ArgumentError
from badak.generate.filters import SampleConfig
from badak.generate.text import TextVocabulary, write_on
from badak.models.gpt import GPT
from badak.tensor import Tensor, from_numpy
from badak.tensor.random import Generator
from badak.train.experiment import IGNORED, Experiment, judge
from badak.train.score import Score
from badak.train.setups import GPTSetup, TextData

TEST_BATCH = 64


class Windows(Dataset):
    """Window i of a text of N tokens: tokens i .. i+T-1, and as labels the same ones moved on by one."""

    def __init__(self, ids: np.ndarray, context: int):
        self.ids, self.context = ids, context

    def __len__(self) -> int:
        return len(self.ids) - self.context

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        ids, labels = self.gather([index])
        return ids[0], labels[0]

    def gather(self, starts: list[int]) -> tuple[Tensor, Tensor]:
        """A batch: ids and labels, each (B, T)."""
        block = self.ids[np.asarray(starts)[:, None] + np.arange(self.context + 1)]  # (B, T + 1)
        return from_numpy(np.ascontiguousarray(block[:, :-1])), from_numpy(np.ascontiguousarray(block[:, 1:]))


class Lines(Dataset):
    """Line i: its tokens, and as labels the ones that follow, the last one `eos`; filled up, unlabelled, to the longest."""

    def __init__(self, lines: list[np.ndarray], eos: int):
        longest = max(len(line) for line in lines)
        self.ids = np.zeros((len(lines), longest), np.int64)
        self.labels = np.full((len(lines), longest), IGNORED, np.int64)
        for i, line in enumerate(lines):
            self.ids[i, : len(line)] = line
            self.labels[i, : len(line)] = [*line[1:], eos]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return from_numpy(self.ids[index]), from_numpy(self.labels[index])


class Writing(Experiment):
    """A GPT over a text: an epoch is as many tokens as the text has, in windows that begin anywhere, or every line once."""

    setup: GPTSetup

    def __init__(self, setup: GPTSetup, log: Callable[[str], None]):
        text = read_corpus(setup.data)
        self.vocabulary = make_vocabulary(setup.data, text)
        model = replace(setup.model, vocab_size=len(self.vocabulary))
        self.setup = replace(setup, model=model, vocabulary=self.vocabulary.tokens)
        self.text, self.eos = text, end_of_line(self.vocabulary) if setup.data.lines else None
        self.model = GPT(model)
        order = Generator().manual_seed(setup.train.seed)
        learned, tested = self._lines(text) if setup.data.lines else self._windows(text)
        samples = len(learned) if setup.data.lines else max(1, len(learned) // model.context)
        sampler = RandomSampler(learned, replacement=not setup.data.lines, num_samples=samples, generator=order)
        self.loader = DataLoader(learned, setup.train.batch_size, sampler=sampler)
        self.tests = tested
        log(f"{len(text):,} characters, {len(self.vocabulary):,} distinct {setup.data.tokens}")

    def _windows(self, text: str) -> tuple[Windows, DataLoader]:
        """Windows of the first part to learn from, and those of the last part, side by side, to test with."""
        context, ids = self.setup.model.context, self.vocabulary.encode(text)
        cut = len(ids) - int(len(ids) * self.setup.data.held_out)
        parts = {"text to learn": ids[:cut], "held-out text": ids[cut:] if cut < len(ids) else ids}
        for name, part in parts.items():
            if len(part) <= context:
                raise ArgumentError(f"the {name} has {len(part)} tokens, a window needs {context + 1}",
                                    "a longer text, a smaller --context, or --held-out 0")  # fmt: skip
        learned, tested = (Windows(part, context) for part in parts.values())
        return learned, DataLoader(tested, TEST_BATCH, sampler=range(0, len(tested), context))

    def _lines(self, text: str) -> tuple[Lines, DataLoader]:
        """Every line to learn from, but for the last ones, which are tested with; all of them where none is held out."""
        context, lines = self.setup.model.context, [line for line in text.split("\n") if line.strip()]
        encoded = [self.vocabulary.encode(line) for line in lines]
        longest = max(range(len(lines)), key=lambda i: len(encoded[i]))
        if len(encoded[longest]) > context:
            raise ArgumentError(f"line {longest + 1} has {len(encoded[longest])} tokens, more than context={context}",
                                f"--context {len(encoded[longest])}")  # fmt: skip
        cut, eos = len(lines) - int(len(lines) * self.setup.data.held_out), end_of_line(self.vocabulary)
        return Lines(encoded[:cut], eos), DataLoader(Lines(encoded[cut:] or encoded, eos), TEST_BATCH)

    def loss(self, batch: tuple[Tensor, Tensor], smoothing: float = 0.0) -> tuple[Tensor, Score]:
        ids, labels = batch
        return judge(self.model(ids), labels, ids.numel(), smoothing)

    def evaluate(self) -> Score:
        return sum((self.loss(batch)[1] for batch in self.tests), Score())

    def closing_words(self) -> list[str]:
        """A sample of the text that was learned; of lines the greedy completions of their first two words."""
        if not self.setup.data.lines:
            return ["", "a sample:", "".join(write_on(self.model, self.vocabulary, "", SampleConfig())), ""]
        return [f"  {start} ...{''.join([*completion][1:])}" for start, completion in self.completions()]

    def completions(self) -> list[tuple[str, Iterator[str]]]:
        """For the first ten lines, their first two words and what the model writes after them, greedily."""
        config = SampleConfig(new_tokens=self.setup.model.context, temperature=0.0, top_k=0)
        starts = [" ".join(line.split()[:2]) for line in self.text.split("\n") if line.strip()][:10]
        return [(start, write_on(self.model, self.vocabulary, start, config, self.eos)) for start in starts]


def read_corpus(data: TextData) -> str:
    """The text of the file that `data` names, or a corpus that needs none."""
    text = (
        read_text(data.path)
        if data.path
        else "\n".join(TEN_SENTENCES)
        if data.corpus == "sentences"
        else python_topics()
    )
    if not text.strip():
        raise ArgumentError(f"{data.path}: the file has no text", "give a file with some pages of text")
    return text


def make_vocabulary(data: TextData, text: str) -> TextVocabulary:
    """The distinct tokens of `text` and of a line's end, of the kind that `data` names."""
    text += "\n"
    if data.tokens == "pieces":
        return PieceVocabulary.from_text(text, data.pieces)
    return CharVocabulary.from_text(text) if data.tokens == "characters" else WordVocabulary.from_texts([text])


def end_of_line(vocabulary: TextVocabulary) -> int:
    """The token that ends a line."""
    return vocabulary.eos if isinstance(vocabulary, WordVocabulary) else vocabulary.ids["\n"]
