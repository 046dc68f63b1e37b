"""Task 4: what is said here? A text classifier learns from texts with a label, or with a number, each."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from badak.data import BucketBatchSampler, DataLoader, Dataset, pad
from badak.data.opinions import opinions
from badak.data.tables import Table, classes, expect_numbers, table_files
from badak.data.tokenizer import BERT_MARKS, Tokenizer
from badak.errors import ArgumentError, FileError
from badak.generate.classify import TextJudge, Verdict, frame
from badak.io.errors import shown
from badak.models.bert import TextClassifier
from badak.nn import functional as F
from badak.tensor import Tensor, from_numpy
from badak.tensor.random import Generator
from badak.train import vocabulary as vocabularies
from badak.train.experiment import Experiment
from badak.train.score import Score
from badak.train.setups import LabelledData, TextSetup

MULTIPLE = 8  # lengths are rounded up to one of these: compiled steps see few shapes
TEST_TOKENS = 8_192
MOST_CLASSES = 1_000

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Part:
    """Texts, what is said of each (a class, or a number, as it stands in the file), and where each stands."""

    texts: list[str]
    said: list[str]
    places: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, chosen: Sequence[int]) -> "Part":
        """Those with these numbers."""
        return Part(*([column[i] for i in chosen] for column in (self.texts, self.said, self.places)))


class Rows(Dataset):
    """Texts as tokens, all in one array, each with its answer.

    Nothing else is kept of them: a compiled step looks at all that can be reached from it, and a hundred thousand little arrays
    or strings take seconds each time.
    """

    def __init__(self, rows: list[np.ndarray], answers: np.ndarray):
        self.lengths = np.array([len(row) for row in rows])
        self.ids, self.answers = np.concatenate(rows).astype(np.int32), answers
        self.ends = np.cumsum(self.lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, i: int) -> tuple[np.ndarray, np.generic]:
        return self.ids[self.ends[i] - self.lengths[i] : self.ends[i]], self.answers[i]


class Reading(Experiment):
    """A TextClassifier over texts with classes, in batches of texts of like length."""

    setup: TextSetup
    model: TextClassifier
    vocabulary: Tokenizer

    def __init__(self, setup: TextSetup, log: Callable[[str], None], tokenizer: Tokenizer | None = None):
        learned, tested = read_parts(setup.data, setup.train.seed, log)
        self.parts = [hashlib.sha256("\n".join(column).encode("utf-8", "surrogatepass")).digest()
                      for part in (learned, tested) for column in (part.texts, part.said)]  # fmt: skip
        self.vocabulary = tokenizer or train_tokenizer(setup.data, learned.texts)
        setup = self.with_labels(setup, learned, tested)
        pad_id = self.vocabulary.ids[BERT_MARKS[0]]
        model = replace(setup.model, vocab_size=len(self.vocabulary), pad_id=pad_id, classes=max(len(setup.labels), 1))
        self.setup = vocabularies.noted(replace(setup, model=model), self.vocabulary)
        self.model = TextClassifier(model)
        self.sample = tested.take(range(min(3, len(tested))))
        order = Generator().manual_seed(setup.train.seed)
        learn, test = self.rows(learned, "learn from", log), self.rows(tested, "test with", log)
        budget = max(TEST_TOKENS, model.context + MULTIPLE)
        self.loader = self.batches(learn, batch_size=setup.train.batch_size, generator=order)
        self.tests = self.batches(test, tokens=budget, shuffle=False)
        log(f"{len(learned):,} texts to learn from, {len(tested):,} to test with, {len(self.vocabulary):,} pieces of words")
        log(self.target(learned))

    # What is asked

    def with_labels(self, setup: TextSetup, learned: Part, tested: Part) -> TextSetup:
        """`setup` with the classes that the texts to learn from have."""
        labels = classes(learned.said)
        if len(labels) == 1:
            raise ArgumentError(f"all {len(learned):,} texts to learn from have the label {shown(labels[0])}: there is nothing to "
                                "tell apart", "texts of two classes or more; --label-column names another column")  # fmt: skip
        if len(labels) > min(MOST_CLASSES, len(learned) // 2):
            raise ArgumentError(
                f"{len(labels):,} distinct labels in {len(learned):,} texts: {shown(labels[0])}, {shown(labels[1])}, ...",
                "--task numbers learns a number; --label-column names another column",
            )
        known = set(labels)
        strange = next((i for i, label in enumerate(tested.said) if label not in known), None)
        if strange is not None:
            names = ", ".join(shown(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")
            raise FileError(
                f"{tested.places[strange]}: the label {shown(tested.said[strange])} is on no text to learn from ({names})",
                "mend that line, or learn from texts with this label, too",
            )
        return replace(setup, labels=labels)

    def answers(self, part: Part) -> np.ndarray:
        """What is to be told of each text: the number of its class, int64 (N,)."""
        numbered = {label: i for i, label in enumerate(self.setup.labels)}
        return np.array([numbered[label] for label in part.said], np.int64)

    def target(self, learned: Part) -> str:
        """What is learned, to read."""
        counts = Counter(learned.said)
        names = [f"{shown(label)} {counts[label] / len(learned):.1%}" for label in self.setup.labels[:8]]
        return f"{len(self.setup.labels)} classes: {', '.join(names)}{', ...' if len(self.setup.labels) > 8 else ''}"

    # Batches

    def rows(self, part: Part, purpose: str, log: Callable[[str], None]) -> Rows:
        """The tokens of each text with its answer; what does not fit into the context is cut off its end, and said."""
        context = self.setup.model.context
        framed, cuts = frame(self.vocabulary, part.texts, context)
        longer = sum(cut > 0 for cut in cuts)
        if longer:
            log(
                f"{longer:,} of {len(part):,} texts to {purpose} have more than context={context} tokens, "
                f"{context + max(cuts):,} at most: their ends are cut off (--context keeps more)"
            )
        return Rows(framed, self.answers(part))

    def batches(self, rows: Rows, **order: Any) -> DataLoader:
        """Batches (ids (B, T), answers (B,)) of texts of like length."""
        sampler = BucketBatchSampler(rows.lengths, multiple=MULTIPLE, **order)
        return DataLoader(rows, batch_sampler=sampler, collate_fn=self.collate)

    def collate(self, rows: list) -> Batch:
        """Texts as one tensor, filled up."""
        ids, answers = zip(*rows)
        return pad(ids, self.setup.model.pad_id, MULTIPLE), from_numpy(np.array(answers))

    def prepare(self, batch: Batch) -> tuple[tuple[Tensor], Tensor]:
        ids, answers = batch
        return (ids,), answers

    def seen(self, inputs: tuple[Tensor, ...]) -> int:
        return len(inputs[0])

    def data(self) -> list[bytes]:
        return self.parts

    # The test, and what can be asked afterwards

    def evaluate(self) -> Score:
        return self.scored(self.tests)

    def example(self) -> list[str]:
        text = next((one for one in self.sample.texts if len(one.split()) > 2), self.sample.texts[0])
        return ["--", text] if text.startswith("-") else [text]

    def closing_words(self) -> list[str]:
        """Three texts of the test with what the model says of them."""
        judge = TextJudge(self.model, self.vocabulary, self.setup.labels, self.setup.mean, self.setup.deviation)
        return [self.told(verdict, said) for verdict, said in zip(judge.judge(self.sample.texts, words=False), self.sample.said)]

    def told(self, verdict: Verdict, said: str) -> str:
        """A verdict beside the truth."""
        return f"  {shown(verdict.text)}: {verdict.label} {verdict.value:.0%}   (is {said})"


class ReadingNumbers(Reading):
    """The same with a number for each text: the model tells it in deviations from the mean of what it learned from.

        loss = mean((y - (x - mean) / deviation)^2)            1 where the mean is always told; R^2 = 1 - loss
    """

    error: np.ndarray | None = None  # of each text of the last test, (N,), and
    true: np.ndarray | None = None  # what is right, both in deviations

    def with_labels(self, setup: TextSetup, learned: Part, tested: Part) -> TextSetup:
        values = np.array(learned.said, np.float64)
        if values.std() == 0:
            raise ArgumentError(f"all {len(values):,} texts to learn from have the number {values[0]:g}: there is nothing to learn",
                                "--label-column names another column")  # fmt: skip
        return replace(setup, mean=float(values.mean()), deviation=float(values.std()))

    def answers(self, part: Part) -> np.ndarray:
        values = (np.array(part.said, np.float64) - self.setup.mean) / self.setup.deviation
        return values.astype(np.float32)

    def target(self, learned: Part) -> str:
        return f"numbers of mean {self.setup.mean:.4g} and deviation {self.setup.deviation:.4g}"

    def measure(self, outputs: Tensor, labels: Tensor, smoothing: float = 0.0) -> tuple[Tensor, None, Tensor]:
        return F.mse_loss(outputs.squeeze(1).float(), labels), None, self.count(labels)

    def count(self, labels: Tensor) -> Tensor:
        return (labels == labels).sum()

    def evaluate(self) -> Score:
        def told(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
            ids, labels = batch
            return self.model(ids).squeeze(1).float().numpy(), labels.numpy()

        outputs, true = zip(*self.each(self.tests, told))
        self.true = np.concatenate(true).astype(np.float64)
        self.error = np.concatenate(outputs) - self.true
        return Score(float((self.error**2).sum()), None, len(self.error), len(self.error))

    def closing_words(self) -> list[str]:
        """How far from the truth the numbers of the last test are, and three of them."""
        if self.error is None or self.true is None:
            return super().closing_words()
        spread, squares = ((self.true - self.true.mean()) ** 2).sum(), (self.error**2).sum()
        unit = self.setup.deviation
        figures = (
            f"test: R² {1 - squares / spread if spread else math.nan:.4f}, "
            f"mean absolute error {unit * np.abs(self.error).mean():.4g}, "
            f"root of the mean square {unit * math.sqrt(squares / len(self.error)):.4g}"
        )
        return [figures, *super().closing_words()]

    def told(self, verdict: Verdict, said: str) -> str:
        return f"  {shown(verdict.text)}: {verdict.value:.3g}   (is {said})"


def read_text_task(setup: TextSetup, log: Callable[[str], None], tokenizer: Tokenizer | None = None) -> Reading:
    """The task over classes or over numbers, as `setup` says."""
    return {"classes": Reading, "numbers": ReadingNumbers}[setup.data.task](setup, log, tokenizer)


def train_tokenizer(data: LabelledData, texts: list[str]) -> Tokenizer:
    """Pieces of the words of `texts`, of the kind that `data` names, with BERT's marks."""
    if data.tokens == "bpe":
        return Tokenizer.train_bpe(texts, data.pieces, special=BERT_MARKS)
    return Tokenizer.train_wordpiece(texts, data.pieces, small=data.lowercase)


# ---------------------------------------------------------------------- files


def read_parts(data: LabelledData, seed: int, log: Callable[[str], None]) -> tuple[Part, Part]:
    """What to learn from and what to test with: two files, or one with a part of it held out, drawn with the seed."""
    if not data.path:
        rows = opinions()
        whole = Part([text for text, _, _ in rows], [row[2 if data.task == "numbers" else 1] for row in rows],
                     [f"opinion {i + 1}" for i in range(len(rows))])  # fmt: skip
        return split(whole, data, seed)
    train, test = table_files(data.path)
    test = Path(data.test) if data.test else test
    learned = read_part(data, train, log)
    if test is None:
        return split(learned, data, seed)
    tested = read_part(data, test, log)
    return first(learned, data.examples), first(tested, data.test_examples)


def first(part: Part, number: int) -> Part:
    """The first ones; 0: all."""
    return part.take(range(min(number, len(part)))) if number else part


def split(part: Part, data: LabelledData, seed: int) -> tuple[Part, Part]:
    """A part that is held out, and the rest."""
    order = Generator().manual_seed(seed).permutation(len(part)).tolist()
    cut = len(part) - max(1, round(len(part) * data.held_out))
    if cut < 2:
        raise ArgumentError(f"{len(part)} texts are too few to learn from and to test with", "a text and its label in each row")
    return first(part.take(sorted(order[:cut])), data.examples), first(part.take(sorted(order[cut:])), data.test_examples)


def read_part(data: LabelledData, path: Path, log: Callable[[str], None]) -> Part:
    """The texts of a file with what is said of them. Rows without a text are left out, and counted."""
    table = Table.read(path, data.header, data.quotes)
    label = table.column(data.label_column, "--label-column") if data.label_column else table.guess_label()
    text = table.column(data.text_column, "--text-column") if data.text_column else table.guess_text(label)
    if text == label:
        raise ArgumentError(f"{path}: {table.name_of(text)} would be text and label at once", "--text-column and --label-column")
    said = "number" if data.task == "numbers" else "label"
    about = "" if table.header else "; no header (--header yes if it has one)"
    log(f"{path.name}: text from {table.name_of(text)}, {said} from {table.name_of(label)}{about}")
    kept = [i for i, row in enumerate(table.rows) if row[text].strip()]
    left_out = [table.lines[i] for i in sorted(set(range(len(table.rows))) - set(kept))]
    if left_out or table.empty:
        what = [f"{len(left_out):,} rows without a text (line {left_out[0]} first)"] if left_out else []
        what += [f"{table.empty:,} empty lines"] if table.empty else []
        log(f"{path.name}: {' and '.join(what)} left out")
    if not kept:
        raise FileError(f"{path}: no row has a text in {table.name_of(text)}", "--text-column names another column")
    nameless = next((i for i in kept if not table.rows[i][label].strip()), None)
    if nameless is not None:
        raise FileError(f"{path}: line {table.lines[nameless]} has a text and no label", "give it one, or take the line out")
    if data.task == "numbers":
        expect_numbers(table, label, kept)
    return Part(
        [table.rows[i][text] for i in kept],
        [table.rows[i][label].strip() for i in kept],
        [f"{path}: line {table.lines[i]}" for i in kept],
    )
