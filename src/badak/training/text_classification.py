"""Task 4: what is said here? A text classifier learns from texts with a label, or with a number, each."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, FileError
from badak.core.i18n import say, tr
from badak.data import BucketBatchSampler, DataLoader, Dataset, pad
from badak.data.csv import Table, classes, expect_numbers, one_spelling, table_files
from badak.data.reviews import opinions
from badak.data.tokenizer import BERT_MARKS, Tokenizer
from badak.generation.classify import Prediction, TextClassifier
from badak.generation.framing import Text, framed, segments_of
from badak.io.errors import shown
from badak.models.bert import BERTClassifier
from badak.models.pretrained import found
from badak.nn import functional as F
from badak.tensor import Tensor, from_numpy
from badak.tensor.random import Generator
from badak.training import vocabulary as vocabularies
from badak.training.experiment import Experiment
from badak.training.memory import expect_memory
from badak.training.presets import LabelledData, TextSetup
from badak.training.score import Score, r2
from badak.training.start import Learned, first_reader, read_learned

MULTIPLE = 8  # lengths are rounded up to one of these: compiled steps see few shapes
TEST_TOKENS = 8_192
MOST_CLASSES = 1_000

Batch = tuple[Tensor, ...]


@dataclass(frozen=True)
class Part:
    """Texts or pairs, what is said of each (a class, or a number, as it stands in the file), and where each stands."""

    texts: list[Text]
    said: list[str]
    places: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, chosen: Sequence[int]) -> "Part":
        """Those with these numbers."""
        return Part(*([column[i] for i in chosen] for column in (self.texts, self.said, self.places)))  # type: ignore[arg-type]

    def plain(self) -> list[str]:
        """All texts, the second ones of pairs behind the first ones."""
        return [part for text in self.texts for part in ([text] if isinstance(text, str) else text)]


class Rows(Dataset):
    """Texts as tokens, all in one array, each with its answer; of pairs also where the second text begins (`seconds`).

    Nothing else is kept of them: a compiled step looks at all that can be reached from it, and a hundred thousand little arrays
    or strings take seconds each time.
    """

    def __init__(self, rows: list[np.ndarray], answers: np.ndarray, seconds: np.ndarray | None = None) -> None:
        self.lengths, self.seconds = np.array([len(row) for row in rows]), seconds
        self.ids, self.answers = np.concatenate(rows).astype(np.int32), answers
        self.ends = np.cumsum(self.lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, i: int) -> tuple:
        row = self.ids[self.ends[i] - self.lengths[i] : self.ends[i]], self.answers[i]
        return row if self.seconds is None else (*row, self.seconds[i])


class Reading(Experiment):
    """A BERTClassifier over texts with classes, in batches of texts of like length."""

    setup: TextSetup
    model: BERTClassifier
    vocabulary: Tokenizer

    def __init__(self, setup: TextSetup, log: Callable[[str], None], tokenizer: Tokenizer | None = None) -> None:
        began = read_learned(setup)
        learned, tested = read_parts(setup.data, setup.train.seed, log)
        self.parts = [hashlib.sha256("\n".join(column).encode("utf-8", "surrogatepass")).digest()
                      for part in (learned, tested) for column in (part.plain(), part.said)]  # fmt: skip
        learned = replace(learned, said=one_spelling(learned.said))
        tested = replace(tested, said=one_spelling(tested.said, learned.said))
        if tokenizer is None:
            tokenizer = train_tokenizer(setup.data, learned.plain()) if began is None else its_tokenizer(began)
        self.vocabulary = tokenizer
        setup = self.sized(self.with_labels(setup, learned, tested), began, log)
        self.setup, model = vocabularies.noted(setup, self.vocabulary), setup.model
        expect_memory(setup)
        self.model, self.setup, new = first_reader(self.setup, began)
        if began is not None:
            log(
                tr("begins with the weights of {}; ", began.folder)
                + (tr("new: {}", ", ".join(new)) if new else "the classes are its own")
            )
        self.sample = tested.take(range(min(3, len(tested))))
        order = Generator().manual_seed(setup.train.seed)
        learn, test = self.rows(learned, tr("learn from"), log), self.rows(tested, tr("test with"), log)
        budget = max(TEST_TOKENS, model.context + MULTIPLE)
        self.loader = self.batches(learn, batch_size=setup.train.batch_size, generator=order)
        self.validation = self.batches(test, tokens=budget, shuffle=False)
        log(
            tr("{:,} texts to learn from, {:,} to test with, {:,} pieces of words", len(learned), len(tested), len(self.vocabulary))
        )
        log(self.target(learned))

    # What is asked

    def sized(self, setup: TextSetup, began: Learned | None, log: Callable[[str], None]) -> TextSetup:
        """`setup` with a model for this vocabulary and these classes, of the sizes of what it begins with."""
        classes, pairs = max(len(setup.labels), 1), bool(setup.data.pair_column)
        if setup.start.folder:
            model = replace(setup.model if began is None else began.config, dropout=setup.model.dropout, classes=classes)
            if began is not None and setup.model.context > model.context:
                log(tr("the model of {} reads {} tokens of a text at most", setup.start.folder, model.context))
            if pairs and model.type_vocab_size < 2:
                log(tr("the model of {} has no segments: what separates the texts of a pair is [SEP] alone", setup.start.folder))
            model = replace(model, context=min(model.context, setup.model.context))
            return replace(setup, model=model, data=replace(setup.data, tokens="tokenizer"))
        if setup.data.tokens == "tokenizer":
            cause = tr("--tokens tokenizer is that of a folder: there is no --init-from")
            raise ArgumentError(cause, "--init-from FOLDER, or another --tokens")
        type_vocab_size = max(setup.model.type_vocab_size, 2) if pairs else setup.model.type_vocab_size
        pad_id, size = self.vocabulary.ids[BERT_MARKS[0]], len(self.vocabulary)
        return replace(
            setup, model=replace(setup.model, vocab_size=size, pad_id=pad_id, classes=classes, type_vocab_size=type_vocab_size)
        )

    def with_labels(self, setup: TextSetup, learned: Part, tested: Part) -> TextSetup:
        """`setup` with the classes that the texts to learn from have."""
        labels = classes(learned.said)
        if len(labels) == 1:
            cause = tr(
                "all {:,} texts to learn from have the label {}: there is nothing to tell apart", len(learned), shown(labels[0])
            )
            raise ArgumentError(cause, "texts of two classes or more; --label-column names another column")
        if len(labels) > min(MOST_CLASSES, len(learned) // 2):
            cause = tr(
                "{:,} distinct labels in {:,} texts: {}, {}, ...", len(labels), len(learned), shown(labels[0]), shown(labels[1])
            )
            raise ArgumentError(cause, "--task regression learns a number; --label-column names another column")
        known = set(labels)
        strange = next((i for i, label in enumerate(tested.said) if label not in known), None)
        if strange is not None:
            names = ", ".join(shown(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")
            raise FileError(
                tr("{}: the label {} is on no text to learn from ({})", tested.places[strange], shown(tested.said[strange]), names),
                "fix that line, or learn from texts with this label, too",
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
        rows, cuts, seconds = framed(self.vocabulary, part.texts, context)
        longer = sum(cut > 0 for cut in cuts)
        if longer:
            log(
                tr("{:,} of {:,} texts to {} have more than context={} tokens, "
                   "{:,} at most: their ends are cut off (--context keeps more)", longer, len(part), purpose, context,
                   context + max(cuts))
            )  # fmt: skip
        return Rows(rows, self.answers(part), seconds if self.setup.data.pair_column else None)

    def batches(self, rows: Rows, **order: Any) -> DataLoader:
        """Batches (ids (B, T), answers (B,)) of texts of like length, of pairs (ids, answers, token_type_ids (B, T))."""
        sampler = BucketBatchSampler(rows.lengths, multiple=MULTIPLE, **order)
        return DataLoader(rows, batch_sampler=sampler, collate_fn=self.collate)

    def collate(self, rows: list) -> Batch:
        """Texts as one tensor, filled up."""
        tokens, answers, *seconds = zip(*rows)
        ids = pad(tokens, self.setup.model.pad_id, MULTIPLE)
        if not seconds or self.setup.model.type_vocab_size < 2:
            return ids, from_numpy(np.array(answers))
        return ids, from_numpy(np.array(answers)), from_numpy(segments_of(np.array(seconds[0]), ids.shape[1]))

    def prepare(self, batch: Batch) -> tuple[tuple[Tensor, ...], Tensor]:
        ids, answers, *token_type_ids = batch
        return (ids, *token_type_ids), answers

    def seen(self, inputs: tuple[Tensor, ...]) -> int:
        return len(inputs[0])

    def data(self) -> list[bytes]:
        return self.parts

    # The test, and what can be asked afterwards

    def evaluate(self) -> Score:
        return self.classified(self.validation, self.setup.labels)

    def example(self) -> list[str]:
        words = {text: len((text if isinstance(text, str) else text[0]).split()) for text in self.sample.texts}
        text = next((one for one in words if words[one] > 2), self.sample.texts[0])
        first, pair = (text, []) if isinstance(text, str) else (text[0], [f"--pair={text[1]}"])
        return [*pair, *(["--"] if first.startswith("-") else []), first]

    def closing_words(self) -> list[str]:
        """A class that is never predicted, and three texts of the test with what the model says of them."""
        never = self.confusion.never() if self.confusion else ""
        pairs = bool(self.setup.data.pair_column)
        judge = TextClassifier(self.model, self.vocabulary, self.setup.labels, self.setup.mean, self.setup.deviation, pairs)
        told = [self.told(verdict, said) for verdict, said in zip(judge.judge(self.sample.texts, words=False), self.sample.said)]
        return [say(never), *told] if never else told

    def told(self, verdict: Prediction, said: str) -> str:
        """A verdict next to the truth."""
        return f"  {quoted(verdict)}: {verdict.label} {verdict.value:.0%}   (is {said})"


class ReadingNumbers(Reading):
    """The same with a number for each text: the model tells it in deviations from the mean of what it learned from.

        loss = mean((y - (x - mean) / deviation)^2)            about 1 where the mean is always told

    Its figures: R^2 (see `score.r2`), and the mean absolute error and the root of the mean square, in the unit of the numbers.
    """

    def with_labels(self, setup: TextSetup, learned: Part, tested: Part) -> TextSetup:
        values = np.array(learned.said, np.float64)
        if values.std() == 0:
            cause = tr("all {:,} texts to learn from have the number {:g}: there is nothing to learn", len(values), values[0])
            raise ArgumentError(cause, "--label-column names another column")
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
            inputs, labels = self.prepare(batch)
            return self.model(*inputs).squeeze(1).float().numpy(), labels.numpy()

        outputs, true = zip(*self.each(self.validation, told))
        right = np.concatenate(true).astype(np.float64)
        error = np.concatenate(outputs) - right
        unit, squares = self.setup.deviation, error**2
        self.figures = {
            "r2": r2(error, right), "mae": unit * float(np.abs(error).mean()), "rmse": unit * math.sqrt(squares.mean())
        }  # fmt: skip
        return Score(float(squares.sum()), None, len(error), len(error))

    def closing_words(self) -> list[str]:
        """How far from the truth the numbers of the last test are, and three of them."""
        if not self.figures:
            return super().closing_words()
        figures = tr("val: R² {:.4f}, mean absolute error {:.4g}, root of the mean square {:.4g}", self.figures["r2"],
                     self.figures["mae"], self.figures["rmse"])  # fmt: skip
        return [say(figures), *super().closing_words()]

    def told(self, verdict: Prediction, said: str) -> str:
        return f"  {quoted(verdict)}: {verdict.value:.3g}   (is {said})"


def quoted(verdict: Prediction) -> str:
    """The text of a verdict, or its pair."""
    return shown(verdict.text) + (f", {shown(verdict.second)}" if verdict.second else "")


def read_text_task(setup: TextSetup, log: Callable[[str], None], tokenizer: Tokenizer | None = None) -> Reading:
    """The task over classes or over numbers, as `setup` says."""
    return {"classification": Reading, "regression": ReadingNumbers}[setup.data.task](setup, log, tokenizer)


def its_tokenizer(began: Learned) -> Tokenizer:
    """That of the folder, which must have BERT's marks and no tokens that its model lacks."""
    tokenizer = Tokenizer.load(found(began.folder))
    size, model = len(tokenizer), began.config
    missing = [mark for mark in (BERT_MARKS[0], *BERT_MARKS[2:4]) if mark not in tokenizer.ids]
    if missing or size > model.vocab_size or tokenizer.ids[BERT_MARKS[0]] != model.pad_id:
        what = tr("has no {}", missing[0]) if missing else tr("has {} tokens, the model {}", size, model.vocab_size)
        if not missing and size <= model.vocab_size:
            what = tr("fills up with token {}, the model with {}", tokenizer.ids[BERT_MARKS[0]], model.pad_id)
        raise FileError(tr("{}: the tokenizer {}", began.folder, what), "the tokenizer that the model was trained with")
    return tokenizer


def train_tokenizer(data: LabelledData, texts: list[str]) -> Tokenizer:
    """Pieces of the words of `texts`, of the kind that `data` names, with BERT's marks."""
    if data.tokens == "bpe":
        return Tokenizer.train_bpe(texts, data.vocabulary, special=BERT_MARKS)
    return Tokenizer.train_wordpiece(texts, data.vocabulary, small=data.lowercase)


# ---------------------------------------------------------------------- files


def read_parts(data: LabelledData, seed: int, log: Callable[[str], None]) -> tuple[Part, Part]:
    """What to learn from and what to test with: two files, or one with a part of it held out, drawn with the seed."""
    if not data.path:
        rows = opinions()
        if data.pair_column:
            raise ArgumentError("the opinions that come with badak are no pairs", "--data FILE, or leave out --pair-column")
        whole = Part([text for text, _, _ in rows], [row[2 if data.task == "regression" else 1] for row in rows],
                     [f"opinion {i + 1}" for i in range(len(rows))])  # fmt: skip
        return split(whole, data, seed)
    train, test = table_files(data.path)
    test = Path(data.val_data) if data.val_data else test
    learned = read_part(data, train, log)
    if test is None:
        return split(learned, data, seed)
    tested = read_part(data, test, log)
    return first(learned, data.examples), first(tested, data.val_examples)


def first(part: Part, number: int) -> Part:
    """The first ones; 0: all."""
    return part.take(range(min(number, len(part)))) if number else part


def split(part: Part, data: LabelledData, seed: int) -> tuple[Part, Part]:
    """A part that is held out, and the rest."""
    order = Generator().manual_seed(seed).permutation(len(part)).tolist()
    cut = len(part) - max(1, round(len(part) * data.val_split))
    if cut < 2:
        cause = tr("{} texts are too few to learn from and to test with", len(part))
        raise ArgumentError(cause, "a text and its label in each row")
    return first(part.take(sorted(order[:cut])), data.examples), first(part.take(sorted(order[cut:])), data.val_examples)


def read_part(data: LabelledData, path: Path, log: Callable[[str], None]) -> Part:
    """The texts of a file with what is said of them. Rows without a text are left out, and counted."""
    table = Table.read(path, data.header, data.quotes, [data.text_column, data.pair_column, data.label_column])
    label = table.column(data.label_column, "--label-column") if data.label_column else table.guess_label()
    text = table.column(data.text_column, "--text-column") if data.text_column else table.guess_text(label)
    pair = table.column(data.pair_column, "--pair-column") if data.pair_column else None
    if text == label:
        cause = tr("{}: {} would be text and label at once", path, table.name_of(text))
        raise ArgumentError(cause, "--text-column and --label-column")
    if pair in (text, label):
        twice = tr("both texts of the pair") if pair == text else tr("second text and label at once")
        raise ArgumentError(tr("{}: {} would be {}", path, table.name_of(text if pair == text else label), twice),
                            "--text-column, --pair-column and --label-column")  # fmt: skip
    said = "number" if data.task == "regression" else "label"
    about = "" if table.header else "; no header (--header yes if it has one)"
    second = "" if pair is None else f" and {table.name_of(pair)}"
    log(tr("{}: text from {}{}, {} from {}{}", path.name, table.name_of(text), second, said, table.name_of(label), about))
    kept = [i for i, row in enumerate(table.rows) if row[text].strip() and (pair is None or row[pair].strip())]
    left_out = [table.lines[i] for i in sorted(set(range(len(table.rows))) - set(kept))]
    if left_out or table.empty:
        what = [f"{len(left_out):,} rows without a text (line {left_out[0]} first)"] if left_out else []
        what += [f"{table.empty:,} empty lines"] if table.empty else []
        log(tr("{}: {} left out", path.name, tr(" and ").join(what)))
    if not kept:
        raise FileError(tr("{}: no row has a text in {}", path, table.name_of(text)), "--text-column names another column")
    nameless = next((i for i in kept if not table.rows[i][label].strip()), None)
    if nameless is not None:
        raise FileError(tr("{}: line {} has a text and no label", path, table.lines[nameless]), "give it one, or take the line out")
    if data.task == "regression":
        expect_numbers(table, label, kept)
    return Part(
        [table.rows[i][text] if pair is None else (table.rows[i][text], table.rows[i][pair]) for i in kept],
        [table.rows[i][label].strip() for i in kept],
        [tr("{}: line {}", path, table.lines[i]) for i in kept],
    )
