"""Task 2: what comes next? A GPT learns a text, as one stream or line by line."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from badak.core.errors import ArgumentError
from badak.core.i18n import language, say, tr
from badak.data import DataLoader, Dataset, RandomSampler, Subset, pad
from badak.data.tokenizer import Tokenizer
from badak.data.tokens import TokenWindows
from badak.generation.logit_filters import GenerationConfig
from badak.generation.text import TextVocabulary, generate_text
from badak.nn import Module
from badak.nn.lora import load_lora, lora_state_dict
from badak.tensor import Tensor
from badak.tensor.random import Generator
from badak.training.corpus import open_corpus
from badak.training.experiment import IGNORED, Experiment
from badak.training.memory import expect_memory
from badak.training.presets import GPTSetup
from badak.training.score import Score
from badak.training.start import first_model, sized
from badak.training.story_test import StoryTest
from badak.training.vocabulary import noted

TEST_BATCH = 64


class Lines(Dataset):
    """Line i: its tokens, and as labels the ones that follow, the last one `eos`; filled up, unlabelled, to the longest."""

    def __init__(self, lines: list[np.ndarray], eos: int) -> None:
        self.ids = pad(lines, 0)
        self.labels = pad([[*line[1:], eos] for line in lines], IGNORED)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.ids[index], self.labels[index]


class Writing(Experiment):
    """A GPT over one stream of text: an epoch is as many tokens as the text has, in windows that begin anywhere."""

    setup: GPTSetup
    eos: int | None = None
    story_test: StoryTest | None = None  # where the corpus are the stories that badak writes

    def __init__(self, setup: GPTSetup, log: Callable[[str], None], tokenizer: Tokenizer | None = None) -> None:
        setup = spoken(sized(setup))
        self.corpus = open_corpus(setup.data, tokenizer or own_tokenizer(setup), log)
        self.vocabulary = self.corpus.vocabulary
        data = replace(setup.data, tokens=self.corpus.kind)
        setup = replace(fitted(setup, self.vocabulary), data=data)
        expect_memory(setup)
        self.model, setup = first_model(setup)
        self.setup = noted(setup, self.vocabulary)
        sampler, tested = self.read(Generator().manual_seed(setup.train.seed))
        self.loader = DataLoader(sampler.data_source, setup.train.batch_size, sampler=sampler)
        self.validation: DataLoader = DataLoader(tested, TEST_BATCH)
        if tells_stories(setup):
            self.story_test = StoryTest(setup.data.language, self.vocabulary, end_of_line(self.vocabulary))
        log(self.corpus.describe())

    def read(self, order: Generator) -> tuple[RandomSampler, Dataset]:
        """Windows of the first part to learn from, in an order, and those of the last part, side by side, to test with."""
        context, ids = window_of(self.setup), self.corpus.ids()
        cut = len(ids) - int(len(ids) * self.setup.data.val_split)
        parts = {"text to learn": ids[:cut], "held-out text": ids[cut:] if cut < len(ids) else ids}
        for name, part in parts.items():
            if len(part) <= context:
                cause = tr("the {} has {} tokens, a window needs {}", name, len(part), context + 1)
                raise ArgumentError(cause, "a longer text, a smaller --context, or --val-split 0")
        learned, tested = (TokenWindows(part, context) for part in parts.values())
        sampler = RandomSampler(learned, replacement=True, num_samples=max(1, len(learned) // context), generator=order)
        return sampler, Subset(tested, range(0, len(tested), context))

    def kept(self) -> Mapping[str, Tensor]:
        return lora_state_dict(self.model) or self.model.state_dict()

    def take(self, weights: Mapping[str, Tensor]) -> None:
        if self.setup.start.lora:
            load_lora(self.model, weights)
        else:
            self.model.load_state_dict(weights)

    def data(self) -> Iterable[bytes | memoryview]:
        return self.corpus.data()

    def prepare(self, batch: tuple[Tensor, Tensor]) -> tuple[tuple[Tensor], Tensor]:
        ids, labels = batch
        return (ids,), labels

    def evaluate(self) -> Score:
        if self.story_test:
            self.figures = self.story_test.figures(self.story_test.continuations(self.model, self.each))
        return self.scored(self.validation)

    def example(self) -> list[str]:
        return ["--prompt", self.story_test.openings[0] if self.story_test else self.corpus.first_word()]

    def closing_words(self) -> list[str]:
        """A sample of what the model writes: from a new line on, or from the first word where lines are no tokens."""
        if self.story_test:
            return closing_stories(self.story_test, self.model)
        prompt = "" if self.vocabulary.encode("\n").size else self.corpus.first_word()
        return ["", say("a sample:"), "".join(generate_text(self.model, self.vocabulary, prompt, GenerationConfig())), ""]


class WritingLines(Writing):
    """A GPT over lines that have nothing to do with each other: an epoch is every line once, each with its end."""

    def read(self, order: Generator) -> tuple[RandomSampler, Dataset]:
        """Every line to learn from but the last ones, which are tested with; all of them where none is held out."""
        self.eos = end_of_line(self.vocabulary)
        if self.eos is None:
            raise ArgumentError("the tokenizer has no token that ends a line", "leave out --lines, or another tokenizer")
        context, lines = window_of(self.setup), [self.vocabulary.encode(line) for line in self.corpus.lines()]
        longest = max(range(len(lines)), key=lambda i: len(lines[i]))
        if len(lines[longest]) > context:
            cause = tr("line {} has {} tokens, more than context={}", longest + 1, len(lines[longest]), context)
            raise ArgumentError(cause, tr("--context {}", len(lines[longest])))
        cut = len(lines) - int(len(lines) * self.setup.data.val_split)
        return RandomSampler(Lines(lines[:cut], self.eos), generator=order), Lines(lines[cut:] or lines, self.eos)

    def example(self) -> list[str]:
        if self.story_test:
            return super().example()
        return ["--prompt", " ".join(self.corpus.lines()[0].split()[:2]), "--temperature", "0"]

    def closing_words(self) -> list[str]:
        """What the model makes of the first two words of ten lines, always taking the most likely word."""
        if self.story_test:
            return super().closing_words()
        config, said = GenerationConfig(max_new_tokens=window_of(self.setup), temperature=0.0, top_k=0), []
        for line in self.corpus.lines()[:10]:
            prompt, *rest = generate_text(self.model, self.vocabulary, " ".join(line.split()[:2]), config, self.eos)
            said.append(f"  {prompt} ...{''.join(rest)}")
        return said


def fitted(setup: GPTSetup, vocabulary: TextVocabulary) -> GPTSetup:
    """`setup` with a model for this vocabulary; one that has learned has a table already, which may have rows to spare."""
    size = len(vocabulary)
    if setup.start.folder and size > setup.model.vocab_size:
        cause = tr("a vocabulary of {:,} tokens for a model of {:,}, that of {}", size, setup.model.vocab_size, setup.start.folder)
        raise ArgumentError(cause, "the tokenizer of that folder: leave out --tokenizer and --tokens")
    model = setup.model if setup.start.folder else replace(setup.model, vocab_size=size)
    return replace(setup, model=model)


def tells_stories(setup: GPTSetup) -> bool:
    """Whether the text is the corpus of stories."""
    return setup.data.corpus == "stories" and not setup.data.path


def spoken(setup: GPTSetup) -> GPTSetup:
    """`setup` with the language of its stories: that of the messages, in a new run."""
    if not tells_stories(setup) or setup.data.language:
        return setup
    return replace(setup, data=replace(setup.data, language=language()))


def closing_stories(test: StoryTest, model: Module) -> list[str]:
    """Two openings with what the model wrote after them, and what the grammar says of all."""
    texts = test.continuations(model, lambda items, work: [work(item) for item in items])
    figures, samples = test.figures(texts), zip(test.openings[:2], texts)
    said = [line for start, text in samples for line in (f"  {start}", f"  ...{text.removeprefix(start)}", "")]
    return [
        "",
        say("two openings that are in no story it learned from, and what it wrote:"),
        "",
        *said,
        say("of {} such stories: {:.1%} of the sentences are correct, "
            "{:.0%} of the stories are consistent (who has what, who is where)", len(texts), figures["parsed"],
            figures["consistent"]),
        "",
    ]  # fmt: skip


def own_tokenizer(setup: GPTSetup) -> Tokenizer | None:
    """That of the folder that the training begins with, unless another one is asked for."""
    return Tokenizer.load(setup.start.folder) if setup.start.folder and not setup.data.tokenizer else None


def window_of(setup: GPTSetup) -> int:
    """Tokens of one example."""
    if setup.data.seq_len > setup.model.context:
        cause = tr("--seq-len {} is more than the {} tokens that the model sees at once", setup.data.seq_len, setup.model.context)
        raise ArgumentError(cause, tr("--seq-len {}", setup.model.context))
    return setup.data.seq_len or setup.model.context


def write_text(setup: GPTSetup, log: Callable[[str], None], tokenizer: Tokenizer | None = None) -> Writing:
    """The task over a stream or over lines, as `setup` says."""
    return (WritingLines if setup.data.lines else Writing)(setup, log, tokenizer)


def end_of_line(vocabulary: TextVocabulary) -> int | None:
    """The token that ends a line, None where there is none."""
    eos = getattr(vocabulary, "eos", None)
    return vocabulary.ids.get("\n") if eos is None else eos
