"""The settings of each experiment in one place: model, training, data. They are the config.json of a run.

`PRESETS` holds settings by name; the first of each experiment is what `badak train` does when nothing else is asked.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from badak.core.errors import ArgumentError, tr
from badak.io.config import Checked, option
from badak.models.bert import BERTConfig, TextConfig
from badak.models.classifier import ClassifierConfig
from badak.models.gpt import GPTConfig
from badak.models.llama import LlamaConfig
from badak.models.seq2seq import Seq2SeqConfig
from badak.training.config import TrainConfig


@dataclass(frozen=True)
class PictureData(Checked):
    """MNIST: 60,000 and 10,000 pictures of handwritten digits."""

    path: str = option("", "folder with the four IDX files (.gz or not) [downloaded once if not given]")
    train_images: int = option(60_000, "training images, the first N of 60,000", unit="pictures", at_least=1, at_most=60_000)
    test_images: int = option(
        10_000, "validation images, the first N of MNIST's 10,000 test images", unit="pictures", at_least=1, at_most=10_000
    )
    shift: int = option(0, "shift each training image randomly by up to this much", unit="pixels", at_least=0, at_most=8)


Kind = Literal["pieces", "characters", "words", "bpe", "wordpiece", "tokenizer"]


@dataclass(frozen=True)
class TextData(Checked):
    """A text, as one stream or line by line."""

    path: str = option("", "UTF-8 text file, folder of text files, or output of badak tokenize [default: --corpus]")
    corpus: Literal["stories", "topics", "sentences"] = option(
        "topics", "built-in text: short stories (in Korean with BADAK_LANG=ko), Python's help topics, or ten sentences"
    )
    tokens: Kind = option("pieces", "tokenization; bpe and wordpiece are trained on the text, tokenizer is the one of --tokenizer")
    vocabulary: int = option(4_000, "vocabulary size of pieces, bpe or wordpiece", unit="tokens", at_least=1)
    tokenizer: str = option("", "existing tokenizer: tokenizer.json, vocab.json, vocab.txt, or their folder")
    seq_len: int = option(0, "tokens per training sequence (0 = the context length)", unit="tokens", at_least=0)
    lines: bool = option(False, "make each line one training sequence instead of cutting the text into windows")
    val_split: float = option(
        0.1,
        "fraction of the text, at its end, held out for validation (0 = evaluate on the training text)",
        at_least=0.0,
        below=1.0,
    )

    language: str = ""  # of the stories


@dataclass(frozen=True)
class SentenceData(Checked):
    """Sentences whose words are hidden and guessed."""

    path: str = option("", "UTF-8 text file with one sentence per line [default: thirty proverbs]")
    masked: float = option(0.3, "fraction of tokens to mask in training", above=0.0, at_most=1.0)


@dataclass(frozen=True)
class LabelledData(Checked):
    """Texts, each with a class or a number."""

    path: str = option(
        "", "CSV or TSV file (.gz or not) of texts and labels, or a folder with a train and a test file [default: short opinions]"
    )
    val_data: str = option("", "validation file [default: the folder's test file, or --val-split of the data]")
    task: Literal["classification", "regression"] = option("classification", "predict a class or a number")
    text_column: str = option("", "text column: name or number from 1 [default: detected]")
    pair_column: str = option("", "second text column, for pairs of texts")
    label_column: str = option("", "label column: name or number from 1 [default: detected]")
    header: Literal["auto", "yes", "no"] = option("auto", "whether the first line is a header")
    quotes: bool = option(True, "fields may be quoted; with --no-quotes a quote is an ordinary character")
    tokens: Literal["wordpiece", "bpe", "tokenizer"] = option(
        "wordpiece", "subword tokenizer to train; tokenizer is the one of --init-from"
    )
    vocabulary: int = option(8_000, "maximum vocabulary size", unit="tokens", at_least=300)
    lowercase: bool = option(True, "WordPiece: lowercase the text and decompose Hangul into letters")
    examples: int = option(0, "use the first N training texts (0 = all)", unit="texts", at_least=0)
    val_examples: int = option(0, "use the first N validation texts (0 = all)", unit="texts", at_least=0)
    val_split: float = option(0.1, "fraction of a single file held out for validation, drawn by --seed", above=0.0, below=1.0)


@dataclass(frozen=True)
class TranslateData(Checked):
    """Sentences and their translations."""

    path: str = option(
        "", "folder with train.SRC, train.TGT, val.*, test*.* (.gz or not), or a file of sentence pairs [default: fifty phrases]"
    )
    src: str = option("ko", "source language, as in the file extensions")
    tgt: str = option("en", "target language")
    source_column: int = option(1, "source column in a tab-separated file of pairs", at_least=1)
    target_column: int = option(2, "target column in a file of pairs", at_least=1)
    val_split: float = option(
        0.05, "fraction of a file of pairs held out for validation, and as much again to translate at the end", above=0, below=0.5
    )
    vocabulary: int = option(400, "size of the shared vocabulary (byte-level BPE)", unit="tokens", at_least=260)
    lowercase: bool = option(False, "lowercase all text")
    batch_tokens: int = option(
        0, "tokens per batch and language, padding included (0 = --batch-size pairs)", unit="tokens", at_least=0
    )


@dataclass(frozen=True)
class ClassifySetup:
    """Pictures in, digits out."""

    metric: ClassVar = "accuracy"
    counted: ClassVar = "pictures"

    experiment: Literal["classify"] = "classify"
    model: ClassifierConfig = ClassifierConfig()
    train: TrainConfig = TrainConfig()
    data: PictureData = PictureData()


FREEZE = tr("freeze the embeddings and the lowest N layers")


@dataclass(frozen=True)
class TextStart(Checked):
    """What a training begins with, instead of initial weights from the seed."""

    folder: str = option(
        "", "fine-tune this model: Hugging Face folder or Hub name (BERT, MiniLM, a text classifier); --context "
    "sets the sequence length"
    )  # fmt: skip
    freeze: int = option(0, FREEZE, unit="layers", at_least=0)
    sha256: str = ""  # of the folder's weights

    def __post_init__(self):
        super().__post_init__()
        for name in ("freeze", "lora"):
            if getattr(self, name, 0) and not self.folder:
                cause = tr("--{} is for a model that has learned something: there is no --init-from", name)
                raise ArgumentError(cause, "--init-from FOLDER")


@dataclass(frozen=True)
class Start(TextStart):
    """The same for a model that writes."""

    folder: str = option(
        "", "fine-tune this model: Hugging Face folder (GPT-2, Llama, Qwen, Mistral); --seq-len sets the sequence length"
    )
    lora: int = option(0, "LoRA rank; only the adapters are trained and saved (0 = train all weights)", at_least=0)
    lora_alpha: float = option(16.0, "LoRA alpha: adapters are scaled by alpha / rank", above=0)
    base: Literal["float32", "q8", "q4"] = option("float32", "format of the weights below the adapters (QLoRA)")

    def __post_init__(self):
        super().__post_init__()
        if self.base != "float32" and not self.lora:
            raise ArgumentError(tr("--base {}: weights in blocks do not learn, and there are no adapters", self.base), "--lora 8")
        if self.freeze and self.lora:
            raise ArgumentError("--freeze and --lora: with LoRA nothing else learns anyway", "one of the two")


@dataclass(frozen=True)
class GPTSetup:
    """Text in, the next token out."""

    metric: ClassVar = "perplexity"
    counted: ClassVar = "tokens"
    fixed: ClassVar[tuple[set[str], set[str]]] = ({"dropout"}, set())  # with --init-from: free sizes, data settings that are not

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
    fixed: ClassVar[tuple[set[str], set[str]]] = ({"dropout", "context"}, {"tokens", "vocabulary", "lowercase"})

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
        """What is shown next to the loss."""
        return "accuracy" if self.data.task == "classification" else "r2"


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
            model=ClassifierConfig(d_model=64, feedforward_ratio=2), train=TrainConfig(epochs=6, lr=2e-3, beta2=0.99)
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
    "gpt": {  # a corpus has the preset of its name
        "stories": GPTSetup(  # about a minute on two cores; with an initializer_range of 0.02 it learns to copy names too late
            model=GPTConfig(context=104, d_model=64, initializer_range=0.12),  # 1 / sqrt(d_model)
            train=replace(STREAM, steps=3_000, batch_size=16, eval_every=500),
            data=TextData(corpus="stories", lines=True, val_split=0.05),
        ),
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
            train=TrainConfig(epochs=100, batch_size=10, lr=1e-3, eval_every=30, **{**PLAIN, "warmup_steps": 20})
        ),
    },
    "text": {
        "opinions": TextSetup(  # seconds
            model=TextConfig(d_model=64, heads=4, layers=1),
            train=TrainConfig(epochs=10, batch_size=16, warmup_steps=20, weight_decay=0.1),
            data=LabelledData(vocabulary=300),
        ),
        "reviews": TextSetup(  # what --data begins with
            model=TextConfig(context=128, heads=4, dropout=0.2),
            train=TrainConfig(epochs=3, warmup_steps=200, min_lr_ratio=0.0, weight_decay=0.1, max_grad_norm=1.0),
        ),
        "finetune": TextSetup(  # what --init-from begins with
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
        "phrases": TranslateSetup(  # fifty of them, from memory
            model=Seq2SeqConfig(d_model=64, encoder_layers=2, decoder_layers=2, feedforward=128, dropout=0.0),
            train=TrainConfig(epochs=60, batch_size=10, lr=2e-3, eval_every=50, warmup_steps=50, min_lr_ratio=0.0),
        ),
        "pairs": TranslateSetup(  # some thousand short pairs
            model=Seq2SeqConfig(d_model=128, encoder_layers=2, decoder_layers=2, feedforward=256),
            train=TrainConfig(
                epochs=30, lr=2e-3, beta2=0.98, label_smoothing=0.1, warmup_steps=200, min_lr_ratio=0.0, ema_decay=0.99
            ),
            data=TranslateData(vocabulary=3_000, lowercase=True, batch_tokens=1_024),
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
            data=TranslateData(src="de", tgt="en", vocabulary=10_000, lowercase=True, batch_tokens=4_096),
        ),
    },
}


def change(setup: Setup, section: str, values: dict) -> Setup:
    """`setup` with some values of one section changed, checked again; epochs alone take the place of steps."""
    if section == "train" and "epochs" in values and "steps" not in values:
        values = {**values, "steps": 0}
    return replace(setup, **{section: replace(getattr(setup, section), **values)}) if values else setup
