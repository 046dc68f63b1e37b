"""What writes or judges text, wherever it comes from: a run of badak train, a folder of Hugging Face, or a name of its Hub."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from badak.core.errors import ArgumentError, tr
from badak.data.marian import SOURCE, VOCABULARY, MarianTokens
from badak.data.tokenizer import FILE as TOKENIZER
from badak.data.tokenizer import Tokenizer
from badak.generation.classify import TextClassifier
from badak.generation.embed import TextEncoder
from badak.generation.folder import TextGenerator, is_published, open_folder, open_gguf, own_words, place_of, read_labels
from badak.generation.settings import sample_config
from badak.generation.translate import MARKS, TranslateConfig
from badak.io.gguf import is_gguf
from badak.models.bert import BERT, BERTClassifier, BERTEncoder
from badak.models.gpt import GPT
from badak.models.hints import GENERATION
from badak.models.llama import Llama
from badak.models.pretrained import class_of
from badak.models.seq2seq import Seq2Seq
from badak.training.build import Trained, floats_of, load_classifier, narrow, open_model
from badak.training.presets import GPTSetup, TranslateSetup
from badak.training.run import Run


def load_generator(folder: str | Path, precision: str = "float32") -> TextGenerator:
    """The model of a folder, a name of the Hub or a GGUF file; with weights of "float32", "bf16", "int8", "q8_0" or "q4_0", in a
    file as they are there."""
    folder = place_of(folder)
    if is_gguf(folder):
        if precision != "float32":
            cause = tr("{}: a GGUF file has weights of its own kind; {} was asked for", folder, precision)
            raise ArgumentError(cause, "leave it out")
        return open_gguf(folder)
    if not is_published(folder):
        trained = open_model(folder, "gpt", precision)
        by_lines = isinstance(trained.setup, GPTSetup) and trained.setup.data.lines
        return TextGenerator(trained.model, trained.vocabulary, () if trained.eos is None else (trained.eos,), alone=by_lines)
    writer = open_folder(folder, floats_of(precision))
    narrow(writer.model, precision)
    return writer


TASKS = {"gpt": "generate", "bert": "fill-mask", "text": "classify", "translate": "translate"}  # of runs
CLASSES: dict[type, str] = {
    GPT: "generate", Llama: "generate", BERT: "fill-mask", BERTClassifier: "classify", Seq2Seq: "translate", BERTEncoder: "embed",
}  # fmt: skip


def task_of(folder: str | Path) -> str:
    """What a model answers: "generate", "embed", "classify", "translate" or "fill-mask". Its weights are not read."""
    place = place_of(folder)
    if is_gguf(place):
        return "generate"
    if is_published(place):
        kind = class_of(place)
        return next(task for cls, task in CLASSES.items() if issubclass(kind, cls))
    run = Run.open(place)
    if run.setup.experiment not in TASKS:
        cause = tr("{} is a run of {}, which answers no text", folder, run.made_by())
        raise ArgumentError(cause, tr("a run of badak train {}", ", ".join(TASKS)))
    return TASKS[run.setup.experiment]


def load_fill_mask(folder: str | Path) -> TextClassifier | Trained:
    """What tells texts, of a run of badak train text or a folder of Hugging Face, or else the run of badak train classify."""
    place = place_of(folder)
    if is_published(place):
        return TextClassifier(BERTClassifier.from_pretrained(place), Tokenizer.load(place), read_labels(place))
    return (
        load_classifier(place) if Run.open(place).setup.experiment == "text" else open_model(place, "classify", "float32", "text")
    )


def load_text_encoder(folder: str | Path) -> TextEncoder:
    """What embeds texts, of a folder of sentence-transformers or its name on the Hub."""
    place = place_of(folder)
    if not is_published(place):
        made_by = Run.open(place).made_by()
        cause = tr("{} is a run of {}, which embeds no texts", folder, made_by)
        raise ArgumentError(cause, "a sentence-transformers folder or Hub name")
    return TextEncoder.load(place)


@dataclass(frozen=True)
class Translator:
    """What translates: a model, its tokens, and whether it knows small letters only."""

    model: Seq2Seq
    vocabulary: Any
    lowercase: bool = False
    config: TranslateConfig = TranslateConfig()  # how it searches unless told otherwise


def load_translator(folder: str | Path, precision: str = "float32") -> Translator:
    """The model of a run of badak train translate, of a folder of Marian, or of its name on the Hub."""
    place = place_of(folder)
    if not is_published(place):
        trained = open_model(place, "translate", precision)
        return Translator(cast(Seq2Seq, trained.model), trained.vocabulary, cast(TranslateSetup, trained.setup).data.lowercase)
    model = Seq2Seq.from_pretrained(place, floats_of(precision))
    tokens = Tokenizer.load(place) if (place / TOKENIZER).is_file() and not (place / SOURCE).is_file() else MarianTokens.load(place)
    if len(tokens) > model.config.vocab_size:
        cause = tr("{}: {} tokens in {}, a model of {}", folder, len(tokens),
                   TOKENIZER if isinstance(tokens, Tokenizer) else VOCABULARY, model.config.vocab_size)  # fmt: skip
        raise ArgumentError(cause, "the files that belong to the model")
    if isinstance(tokens, Tokenizer) and MARKS[2] not in tokens.ids:
        cause = tr("{}: has no {}, which ends a sentence", place / TOKENIZER, MARKS[2])
        raise ArgumentError(cause, "the files that belong to the model")
    narrow(model, precision)
    return Translator(model, tokens, own_words(model.hints.settings).get("lowercase") is True, _search(model, place))


def _search(model: Seq2Seq, place: Path) -> TranslateConfig:
    """How the folder of a model says that it searches."""
    said = model.hints.generation or {}
    usual = sample_config(said, place / GENERATION)
    known = [name for name in ("num_beams", "length_penalty") if said.get(name) is not None]
    return TranslateConfig(**{name: getattr(usual, name) for name in known})


def open_filler(folder: str | Path) -> Trained:
    """What fills holes in: the model of a run of badak train bert, or of a folder of Hugging Face."""
    place = place_of(folder)
    if not is_published(place):
        return open_model(place, "bert")
    model, tokens = BERT.from_pretrained(place), Tokenizer.load(place)
    if tokens.mask is None:
        raise ArgumentError(tr("{}: its tokenizer has no mask", folder), "the tokenizer that the model was trained with")
    if len(tokens) > model.config.vocab_size:
        cause = tr("{}: a tokenizer of {} tokens, a model of {}", folder, len(tokens), model.config.vocab_size)
        raise ArgumentError(cause, "the tokenizer that the model was trained with")
    return Trained(None, model, tokens)
