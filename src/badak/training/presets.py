"""The settings of each experiment in one place: model, training, data. They are the config.json of a run.

`PRESETS` holds settings by name; the first of each experiment is what `badak train` does when nothing else is asked.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from badak.core.errors import ArgumentError
from badak.io.config import check, option
from badak.models.bert import BERTConfig, TextConfig
from badak.models.classifier import ClassifierConfig
from badak.models.gpt import GPTConfig
from badak.models.llama import LlamaConfig
from badak.models.seq2seq import Seq2SeqConfig
from badak.training.config import TrainConfig


@dataclass(frozen=True)
class PictureData:
    """MNIST: 60,000 and 10,000 pictures of handwritten digits."""

    path: str = option("", "folder with the four IDX files (gz or not); without it they are downloaded once")
    train_images: int = option(60_000, "pictures to learn from, the first of 60,000", unit="pictures", at_least=1, at_most=60_000)
    test_images: int = option(10_000, "pictures to test with, the first of 10,000", unit="pictures", at_least=1, at_most=10_000)
    shift: int = option(0, "move each training picture by up to this much, at random", unit="pixels", at_least=0, at_most=8)

    def __post_init__(self):
        check(self)


Kind = Literal["pieces", "characters", "words", "bpe", "wordpiece", "tokenizer"]


@dataclass(frozen=True)
class TextData:
    """A text, as one stream or line by line."""

    path: str = option("", "text file (UTF-8), a folder of them, or one of badak tokenize; without it the corpus")
    corpus: Literal["topics", "sentences"] = option("topics", "text that comes with badak: Python's help topics, or ten sentences")
    tokens: Kind = option("pieces", "what a token is; bpe and wordpiece are trained on the text, tokenizer is that of --tokenizer")
    pieces: int = option(4_000, "frequent words that get a token of their own, beside all characters", unit="words", at_least=0)
    vocabulary: int = option(4_000, "tokens of bpe and wordpiece", unit="tokens", at_least=1)
    tokenizer: str = option("", "tokenizer.json, vocab.json or vocab.txt, or their folder: its tokens instead of new ones")
    window: int = option(0, "tokens of one example; 0: as many as the model sees at once", unit="tokens", at_least=0)
    lines: bool = option(False, "each line is one example, learned whole, instead of windows of the stream")
    val_split: float = option(
        0.1,
        "part of the text, at its end, that is only tested with; 0: test with what was learned",
        at_least=0.0,
        below=1.0,
    )

    def __post_init__(self):
        check(self)


@dataclass(frozen=True)
class SentenceData:
    """Sentences whose words are hidden and guessed."""

    path: str = option("", "text file (UTF-8), one sentence in a line; without it thirty proverbs")
    masked: float = option(0.3, "part of the words that is hidden in training", above=0.0, at_most=1.0)

    def __post_init__(self):
        check(self)


@dataclass(frozen=True)
class LabelledData:
    """Texts, each with a class or a number."""

    path: str = option(
        "", "CSV or TSV file (gz or not) of texts and labels, or a folder with a train and a test file; without it short opinions"
    )
    test: str = option("", "file to test with; without it that of the folder, or a part that is held out")
    task: Literal["classes", "numbers"] = option("classes", "what is told of a text: its class, or a number")
    text_column: str = option("", "name of the column of texts, or its place from 1 on; without it the likeliest")
    pair_column: str = option("", "name of the column of second texts, or its place: what is told is told of a pair of texts")
    label_column: str = option("", "name of the column of labels or numbers, or its place; without it the likeliest")
    header: Literal["auto", "yes", "no"] = option("auto", "whether the first line names the columns; auto: look")
    quotes: bool = option(True, "a field may stand in quotes; without, a quote is a character like any other")
    tokens: Literal["wordpiece", "bpe", "tokenizer"] = option(
        "wordpiece", "how words are cut into pieces, learned from the texts to learn from; tokenizer is that of --from"
    )
    pieces: int = option(8_000, "pieces of words at most", unit="pieces", at_least=300)
    lowercase: bool = option(True, "WordPiece: read capitals as small letters, and Hangul by its letters")
    examples: int = option(0, "texts to learn from, the first ones; 0: all", unit="texts", at_least=0)
    test_examples: int = option(0, "texts to test with, the first ones; 0: all", unit="texts", at_least=0)
    val_split: float = option(0.1, "part of a single file, drawn by the seed, that is only tested with", above=0.0, below=1.0)

    def __post_init__(self):
        check(self)


@dataclass(frozen=True)
class TranslateData:
    """Sentences and their translations."""

    path: str = option(
        "", "folder with train.SRC, train.TGT, val.*, test*.* (.gz or not), or a file of pairs; without it fifty phrases"
    )
    src: str = option("ko", "language to translate from: the end of the names of its files")
    tgt: str = option("en", "language to translate into")
    source_column: int = option(1, "where the source stands in a file of pairs, tabs between the columns", at_least=1)
    target_column: int = option(2, "where the target stands in a file of pairs", at_least=1)
    val_split: float = option(
        0.05, "part of a file of pairs to test with, and as much again to translate at the end", above=0, below=0.5
    )
    pieces: int = option(400, "tokens of the vocabulary of both languages (byte-level BPE)", unit="tokens", at_least=260)
    lowercase: bool = option(False, "read and write small letters only")
    batch_tokens: int = option(
        0, "tokens of a batch in each language, with their padding; 0: batch-size pairs", unit="tokens", at_least=0
    )

    def __post_init__(self):
        check(self)


@dataclass(frozen=True)
class ClassifySetup:
    """Pictures in, digits out."""

    metric: ClassVar = "accuracy"
    counted: ClassVar = "pictures"

    experiment: Literal["classify"] = "classify"
    model: ClassifierConfig = ClassifierConfig()
    train: TrainConfig = TrainConfig()
    data: PictureData = PictureData()


FREEZE = "lowest layers that do not learn, nor the tables of tokens and positions"


@dataclass(frozen=True)
class TextStart:
    """What a training begins with, instead of first weights from the seed."""

    folder: str = option(
        "", "Hugging Face folder (BERT, MiniLM, a text classifier), or its name on the Hub: its weights, sizes and tokenizer; "
        "--context says how much of a text is read"
    )  # fmt: skip
    freeze: int = option(0, FREEZE, unit="layers", at_least=0)
    sha256: str = ""  # of the folder's weights

    def __post_init__(self):
        check(self)
        for name in ("freeze", "lora"):
            if getattr(self, name, 0) and not self.folder:
                raise ArgumentError(f"--{name} is for a model that has learned something: there is no --from", "--from FOLDER")


@dataclass(frozen=True)
class Start(TextStart):
    """The same for a model that writes."""

    folder: str = option(
        "", "Hugging Face folder (GPT-2, Llama, Qwen, Mistral): its weights, sizes and tokenizer; --window says how much is read"
    )
    lora: int = option(0, "rank of the LoRA adapters, which alone learn and are kept; 0: all weights learn", at_least=0)
    lora_alpha: float = option(16.0, "weight of the adapters, in units of 1 / rank", above=0)

    def __post_init__(self):
        super().__post_init__()
        if self.freeze and self.lora:
            raise ArgumentError("--freeze and --lora: with LoRA nothing else learns anyway", "one of the two")


@dataclass(frozen=True)
class GPTSetup:
    """Text in, the next token out."""

    metric: ClassVar = "perplexity"
    counted: ClassVar = "tokens"
    fixed: ClassVar[tuple[set[str], set[str]]] = ({"dropout"}, set())  # with --from: free sizes, data settings that are not

    experiment: Literal["gpt"] = "gpt"
    model: GPTConfig | LlamaConfig = GPTConfig()
    train: TrainConfig = TrainConfig()
    data: TextData = TextData()
    start: Start = Start()
    vocabulary: tuple[str, ...] = ()
    tokenizer: str = ""  # SHA-256 of tokenizer.json, where the tokens are those of a Tokenizer


@dataclass(frozen=True)
class BERTSetup:
    """Sentences with holes in, the hidden words out."""

    metric: ClassVar = "accuracy"
    counted: ClassVar = "tokens"

    experiment: Literal["bert"] = "bert"
    model: BERTConfig = BERTConfig()
    train: TrainConfig = TrainConfig()
    data: SentenceData = SentenceData()
    vocabulary: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextSetup:
    """Texts in, their classes or numbers out."""

    counted: ClassVar = "texts"
    fixed: ClassVar[tuple[set[str], set[str]]] = ({"dropout", "context"}, {"tokens", "pieces", "lowercase"})

    experiment: Literal["text"] = "text"
    model: TextConfig = TextConfig()
    train: TrainConfig = TrainConfig()
    data: LabelledData = LabelledData()
    start: TextStart = TextStart()
    vocabulary: tuple[str, ...] = ()
    tokenizer: str = ""  # SHA-256 of tokenizer.json
    labels: tuple[str, ...] = ()  # the classes in order; none where numbers are told
    mean: float = 0.0  # of the numbers learned from,
    deviation: float = 1.0  # in units of which the model tells its own

    @property
    def metric(self) -> str:
        """What is shown beside the loss."""
        return "accuracy" if self.data.task == "classes" else "r2"


@dataclass(frozen=True)
class OwnModel:
    """A model that a program brings: its class, and its numbers."""

    kind: str = ""
    parameters: int = 0


@dataclass(frozen=True)
class OwnData:
    """Batches that a program brings: how many, 0 where nobody knows."""

    batches: int = 0


@dataclass(frozen=True)
class OwnSetup:
    """What badak.training.fit was asked for."""

    metric: ClassVar = "loss"
    counted: ClassVar = "examples"

    experiment: Literal["own"] = "own"
    model: OwnModel = OwnModel()
    train: TrainConfig = TrainConfig()
    data: OwnData = OwnData()


@dataclass(frozen=True)
class TranslateSetup:
    """Sentences of one language in, of another one out."""

    metric: ClassVar = "perplexity"
    counted: ClassVar = "tokens"

    experiment: Literal["translate"] = "translate"
    model: Seq2SeqConfig = Seq2SeqConfig()
    train: TrainConfig = TrainConfig()
    data: TranslateData = TranslateData()
    vocabulary: tuple[str, ...] = ()
    tokenizer: str = ""  # SHA-256 of tokenizer.json


Setup = ClassifySetup | GPTSetup | BERTSetup | TextSetup | TranslateSetup
SETUPS: dict[str, type[Setup]] = {
    "classify": ClassifySetup, "gpt": GPTSetup, "bert": BERTSetup, "text": TextSetup, "translate": TranslateSetup,
}  # fmt: skip
FOLDERS: dict[str, Any] = {**SETUPS, "own": OwnSetup}  # what a run folder can hold

PLAIN: dict[str, Any] = {"optimizer": "adam", "schedule": "constant", "warmup_steps": 0}  # a rate that never changes

STREAM = TrainConfig(steps=2_000, batch_size=12, lr=2e-3, beta2=0.99, weight_decay=0.1, max_grad_norm=1.0, eval_every=250)

PRESETS: dict[str, dict[str, Setup]] = {
    "classify": {
        "digits": ClassifySetup(
            model=ClassifierConfig(d_model=64, feedforward_ratio=2),
            train=TrainConfig(epochs=6, lr=2e-3, beta2=0.99),
        ),
        "small": ClassifySetup(  # 5,000 and 1,000 pictures, post-norm, hidden 32
            model=ClassifierConfig(norm_first=False),
            train=TrainConfig(epochs=10, batch_size=64, **PLAIN),
            data=PictureData(train_images=5_000, test_images=1_000),
        ),
        "wide": ClassifySetup(  # the same data at hidden 256, with the settings that do best there
            model=ClassifierConfig(d_model=256, feedforward_ratio=2),
            train=TrainConfig(epochs=10, batch_size=32, min_lr_ratio=0.0),
            data=PictureData(train_images=5_000, test_images=1_000, shift=1),
        ),
    },
    "gpt": {
        "topics": GPTSetup(train=replace(STREAM, steps=1_500)),  # about two minutes on two cores
        "characters": GPTSetup(train=STREAM, data=TextData(tokens="characters")),  # what --data FILE begins with
        "sentences": GPTSetup(
            model=GPTConfig(d_model=256, heads=4, layers=3, context=32, dropout=0.1),
            train=TrainConfig(epochs=50, batch_size=10, lr=1e-4, eval_every=10, **PLAIN),
            data=TextData(corpus="sentences", tokens="words", lines=True, val_split=0.0),
        ),
    },
    "bert": {
        "proverbs": BERTSetup(
            train=TrainConfig(epochs=100, batch_size=10, lr=1e-3, eval_every=30, **{**PLAIN, "warmup_steps": 20}),
        ),
    },
    "text": {
        "opinions": TextSetup(  # seconds
            model=TextConfig(d_model=64, heads=4, layers=1),
            train=TrainConfig(epochs=10, batch_size=16, warmup_steps=20, weight_decay=0.1),
            data=LabelledData(pieces=300),
        ),
        "reviews": TextSetup(  # what --data begins with
            model=TextConfig(context=128, heads=4, dropout=0.2),
            train=TrainConfig(epochs=3, warmup_steps=200, min_lr_ratio=0.0, weight_decay=0.1, max_grad_norm=1.0),
        ),
        "finetune": TextSetup(  # what --from begins with
            model=TextConfig(context=128),
            train=TrainConfig(
                epochs=3,
                batch_size=32,
                lr=1e-4,
                warmup_steps=10,
                schedule="linear",
                min_lr_ratio=0.0,
                weight_decay=0.01,
                max_grad_norm=1.0,
            ),
        ),
    },
    "translate": {
        "phrases": TranslateSetup(  # fifty of them, by heart
            model=Seq2SeqConfig(d_model=64, encoder_layers=2, decoder_layers=2, feedforward=128, dropout=0.0),
            train=TrainConfig(epochs=60, batch_size=10, lr=2e-3, eval_every=50, warmup_steps=50, min_lr_ratio=0.0),
        ),
        "pairs": TranslateSetup(  # some thousand short pairs
            model=Seq2SeqConfig(d_model=128, encoder_layers=2, decoder_layers=2, feedforward=256),
            train=TrainConfig(
                epochs=30, lr=2e-3, beta2=0.98, label_smoothing=0.1, warmup_steps=200, min_lr_ratio=0.0, ema_decay=0.99
            ),
            data=TranslateData(pieces=3_000, lowercase=True, batch_tokens=1_024),
        ),
        "captions": TranslateSetup(  # 29,000 captions of photos, German and English, or what is like them
            model=Seq2SeqConfig(encoder_layers=3, decoder_layers=3),
            train=TrainConfig(
                epochs=26,
                lr=1.5e-3,
                optimizer="adam",
                beta2=0.98,
                label_smoothing=0.1,
                warmup_steps=1_000,
                schedule="inverse_sqrt",
                ema_decay=0.998,
            ),
            data=TranslateData(src="de", tgt="en", pieces=10_000, lowercase=True, batch_tokens=4_096),
        ),
    },
}


def change(setup: Setup, section: str, values: dict) -> Setup:
    """`setup` with some values of one section changed, checked again; epochs alone take the place of steps."""
    if section == "train" and "epochs" in values and "steps" not in values:
        values = {**values, "steps": 0}
    return replace(setup, **{section: replace(getattr(setup, section), **values)}) if values else setup
