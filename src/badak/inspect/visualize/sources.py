"""What the microscope is pointed at: a run of badak train or a folder of Hugging Face, and a text or a picture for its model.

Each reader gives what `badak.look` takes: the model, its batch, the labels that it is measured by, the texts of its tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from badak.compat.torch.first_call import first_call
from badak.core.errors import ArgumentError, FileError, NotSupportedError, tr
from badak.data.marian import MarianTokens
from badak.data.tokenizer import Tokenizer
from badak.generation.classify import frame
from badak.generation.folder import is_published, place_of, read_labels
from badak.generation.picture import read_picture
from badak.generation.text import known, prompt_ids
from badak.generation.translate import TranslateConfig, framed, translations
from badak.inspect.visualize import Look, look
from badak.io.config import read_json
from badak.models.bert import BERT, BERTClassifier, BERTEncoder
from badak.models.gpt import GPT
from badak.models.llama import Llama
from badak.models.pretrained import CONFIG, from_pretrained, model_type_of
from badak.models.seq2seq import Seq2Seq
from badak.nn import Module
from badak.tensor import Tensor, from_numpy
from badak.training.build import open_model, open_vocabulary
from badak.training.example import KINDS, example
from badak.training.run import Run

IGNORED = -100
HUGGING_FACE = tr("a folder of GPT-2, Llama, Qwen, Mistral, BERT or Marian")
PICTURES = "preprocessor_config.json"
PROGRAM = Path(__file__).with_name("by_transformers.py")


@dataclass
class Sight:
    """Arguments of `badak.look`, and words about what was done to get them."""

    model: Module
    batch: tuple
    labels: Any = None
    tokenizer: Any = None
    classes: list[str] | None = None
    kind: str | None = None
    place: int | None = None
    words: list[dict[str, Any]] = field(default_factory=list)

    def remark(self, code: str, text: str, **values: Any) -> None:
        """A word of the record."""
        self.words.append({"code": code, "text": text, "values": values})


def look_at_run(
    folder: str,
    what: str | None = None,
    target: str | None = None,
    label: str | None = None,
    most: int = 64,
    place: int | None = None,
) -> Look:
    """A look into the model of a folder: what, a text or the name of a picture's file; None, the next row of its training data.

    target     what a translation is to be; the model's own unless given
    label      the right class
    """
    found_at = place_of(folder)
    if not found_at.is_dir():
        raise FileError(tr("{}: no such file or folder", folder), 'badak look RUN "a text", or badak look train.py')
    read = _published if is_published(found_at) else _of_run
    sight = read(found_at, what, target, label)
    title = f"{Path(folder).resolve().name}: {type(sight.model).__name__}"
    seen = look(
        sight.model, sight.batch, tokenizer=sight.tokenizer, labels=sight.labels, classes=sight.classes, kind=sight.kind,
        title=title, most=most, place=sight.place if place is None else place,
    )  # fmt: skip
    seen.record["words"][:0] = sight.words
    return seen


def _of_run(folder: Path, what: str | None, target: str | None, label: str | None) -> Sight:
    experiment = Run.open(folder).setup.experiment
    if experiment not in _READERS:
        raise ArgumentError(
            tr("{} is a run of a program of its own", folder), "badak look PROGRAM, or badak.look(model, batch) in it"
        )
    _expect_asked(experiment, target, label)
    if what is None:
        sight = _next(folder)
    else:
        trained = open_model(folder, experiment)
        sight = _READERS[experiment](Asked(trained.model, trained.vocabulary, _names(trained.setup), what, target, label))
    sight.kind = KINDS[experiment]
    return sight


def _next(folder: Path) -> Sight:
    """The first row of the batch that comes next in training."""
    next_, run = example(folder), Run.open(folder)
    labels = None if next_.labels.is_floating_point() else next_.labels[:1]
    return Sight(next_.model, tuple(x[:1] for x in next_.inputs), labels, open_vocabulary(run), _names(run.setup) or None)


def _names(setup: Any) -> list[str]:
    """What the classes are called; of digits, as they are."""
    digits = range(getattr(setup.model, "classes", 0)) if setup.experiment == "classify" else ()
    return list(getattr(setup, "labels", ())) or [str(i) for i in digits]


def _expect_asked(kind: str, target: str | None, label: str | None) -> None:
    if target is not None and kind != "translate":
        raise ArgumentError("--target is the translation that a translator is to give", "leave it out")
    if label is not None and kind not in ("text", "classify"):
        raise ArgumentError("--label is the right class of a picture or a text", "leave it out")


# ---------------------------------------------------------------- one reader for each task


class Asked(NamedTuple):
    """A model, its vocabulary and the names of its classes, and what was asked of it."""

    model: Any
    vocabulary: Any
    names: list[str]
    what: str
    target: str | None
    label: str | None


def _written(asked: Asked) -> Sight:
    """A text that is read from left to right: its own next tokens are the labels."""
    sight = Sight(asked.model, (), tokenizer=asked.vocabulary, kind="causal")
    ids = _fitting(sight, prompt_ids(asked.vocabulary, asked.what))
    labels = np.append(ids[1:], IGNORED) if len(ids) > 1 else None
    sight.batch, sight.labels = (_row(ids),), None if labels is None else _row(labels)
    return sight


def _fitting(sight: Sight, ids: np.ndarray) -> np.ndarray:
    """As many tokens as the model reads."""
    context = cast(Any, sight.model).config.context
    if len(ids) > context:
        sight.remark("cut_context", tr("the model reads {} tokens: the last {} of the text were left out", context,
                                       len(ids) - context),
                  kept=context, of=len(ids))  # fmt: skip
    return ids[:context]


def _guessing(asked: Asked) -> Sight:
    vocabulary = asked.vocabulary
    ids = np.array([vocabulary.sos, *known(vocabulary, asked.what), vocabulary.eos], np.int64)
    return _guessed(asked.model, vocabulary, ids, vocabulary.mask)


def _guessed(model: Module, vocabulary: Any, ids: np.ndarray, mask: int | None) -> Sight:
    """A sentence with holes: the numbers are those of the first."""
    holes = [place for place, token in enumerate(ids) if token == mask]
    return Sight(model, (_row(ids),), tokenizer=vocabulary, kind="bidirectional", place=holes[0] if holes else None)


def _read(asked: Asked) -> Sight:
    if not asked.what.strip():
        raise ArgumentError("the text is empty", 'badak look RUN "a text"')
    config, names = asked.model.config, asked.names
    rows, cuts = frame(asked.vocabulary, [asked.what], config.context)
    sight = Sight(asked.model, (_row(rows[0]),), tokenizer=asked.vocabulary, classes=names or None, kind="bidirectional")
    if cuts[0]:
        sight.remark("cut_context", tr("the model reads {} tokens: the last {} of the text were left out", len(rows[0]), cuts[0]),
                  kept=len(rows[0]), of=len(rows[0]) + cuts[0])  # fmt: skip
    sight.labels = _class(asked.label, names or [str(i) for i in range(config.classes)])
    return sight


def _class(label: str | None, names: list[str]) -> Any:
    if label is None:
        return None
    if label not in names:
        raise ArgumentError(tr("--label {}: the model knows {}", label, ", ".join(names[:20])), tr("--label {}", names[0]))
    return _row(np.array([names.index(label)]))


def _translated(asked: Asked) -> Sight:
    """The source next to what is asked for, else next to the model's own translation."""
    model, tokenizer = asked.model, asked.vocabulary
    rows = framed(tokenizer, [asked.what])
    if len(rows[0]) < 2:
        raise ArgumentError("the sentence is empty", 'badak look RUN "a sentence"')
    sight = Sight(model, (), tokenizer=tokenizer, kind="encoder-decoder")
    if asked.target is None:
        wanted = translations(model, rows, TranslateConfig())[0]
        sight.remark("own_translation", tr("the target is the model's own translation"))
    else:
        wanted = framed(tokenizer, [asked.target])[0]
    given = np.concatenate([[model.config.sos_id], wanted[:-1]])
    sight.batch, sight.labels = (_row(rows[0]), _row(given)), _row(wanted)
    return sight


def _pictured(asked: Asked) -> Sight:
    batch = (_row(read_picture(asked.what)),)
    return Sight(asked.model, batch, _class(asked.label, asked.names), classes=asked.names, kind="image")


_READERS: dict[str, Callable[[Asked], Sight]] = {
    "gpt": _written, "bert": _guessing, "text": _read, "translate": _translated, "classify": _pictured,
}  # fmt: skip


def _row(x: np.ndarray) -> Any:
    """One row of a batch."""
    return from_numpy(np.ascontiguousarray(x))[None]


# ---------------------------------------------------------------- folders of Hugging Face


def _published(folder: Path, what: str | None, target: str | None, label: str | None) -> Sight:
    if what is None and (folder / PICTURES).is_file():
        raise ArgumentError(tr("{}: no picture", folder), tr("badak look {} picture.png", folder))
    if what is None:
        raise ArgumentError(tr("{}: no text", folder), tr('badak look {} "a text"', folder))
    kind, ours = model_type_of(folder)
    if not ours:
        return _by_transformers(folder, kind, what, target, label)
    model = from_pretrained(folder)
    kind = "translate" if isinstance(model, Seq2Seq) else "text" if isinstance(model, BERTClassifier) else ""
    _expect_asked(kind, target, label)
    tokenizer: Any = MarianTokens.load(folder) if isinstance(model, Seq2Seq) else Tokenizer.load(folder)
    readers = {Seq2Seq: _translated, GPT: _written, Llama: _written, BERTClassifier: _read}
    read = next((read for of, read in readers.items() if isinstance(model, of)), None)
    if read is not None:
        names = list(read_labels(folder)) if isinstance(model, BERTClassifier) else []
        return read(Asked(model, tokenizer, names, what, target, label))
    if isinstance(model, BERTEncoder):
        ids = tokenizer.encode(what, marks=True)[: model.config.context]
        return _guessed(model, tokenizer, ids, tokenizer.mask if isinstance(model, BERT) else None)
    raise ArgumentError(tr("{}: badak look does not know how a {} reads a text", folder, type(model).__name__), HUGGING_FACE)


def _by_transformers(folder: Path, kind: str, what: str, target: str | None, label: str | None) -> Sight:
    """A model that badak.models does not have, as Hugging Face's library builds it on badak, up to its first call."""
    if find_spec("transformers") is None:
        cause = tr("{}: badak.models has no {}, and the library transformers, which has, is not installed", folder, kind)
        raise NotSupportedError(cause, "pip install transformers")
    if (folder / PICTURES).is_file():
        read_picture(what)  # says what is wrong with the file
    if (read_json(folder / CONFIG) or {}).get("is_encoder_decoder"):
        cause = tr("{}: badak look does not know what the decoder of a {} begins with", folder, kind)
        raise ArgumentError(cause, "a program that calls the model with its decoder_input_ids: badak look PROGRAM")
    call = first_call(str(PROGRAM), [str(folder), what])
    names = list(read_labels(folder))
    classes = names if type(call.model).__name__.endswith("Classification") else []
    _expect_asked("text" if classes else "", target, label)
    sight = Sight(call.model, (call.args, call.kwargs), _class(label, classes), classes=classes or None)
    ids = call.kwargs.get("input_ids")
    if isinstance(ids, Tensor) and (folder / "tokenizer.json").is_file():
        sight.tokenizer = tokenizer = Tokenizer.load(folder)
        holes = [at for at, token in enumerate(ids[0].tolist()) if token == getattr(tokenizer, "mask", None)]
        sight.place = holes[0] if holes else None
    return sight
