"""Models that are served: what each of them is decides what it answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from badak.cli.serving.engine import Engine
from badak.cli.serving.errors import RequestError
from badak.cli.serving.guide import Grammars
from badak.cli.serving.lane import Lane
from badak.cli.serving.limits import Limits
from badak.core.errors import ArgumentError, tr
from badak.data.tokenizer import Tokenizer
from badak.generation.classify import Prediction, TextClassifier
from badak.generation.embed import TextEncoder
from badak.generation.folder import TextGenerator
from badak.generation.framing import Text
from badak.generation.text import fill_sentence
from badak.generation.translate import translate
from badak.models.pretrained import is_hub_name
from badak.nn import Module
from badak.nn.quantization import quantize
from badak.training.build import PRECISIONS, Trained
from badak.training.load import Translator, load_fill_mask, load_generator, load_text_encoder, load_translator, open_filler, task_of

TOGETHER = 64  # texts of several requests that an encoder reads at once


class Served:
    """A model by its name. task: as `training.load.task_of` says."""

    task = ""
    worker: Engine | Lane

    def __init__(self, name: str):
        self.name = name


class Writer(Served):
    """What writes text."""

    task = "generate"

    def __init__(self, name: str, writer: TextGenerator, limits: Limits):
        super().__init__(name)
        self.writer = writer
        self.worker = self.engine = Engine(writer.model, writer.vocabulary, limits)
        self.grammars = Grammars(writer.vocabulary, writer.ends, writer.model.config.vocab_size)
        self.suppress_tokens = [token for token in writer.vocabulary.special if token not in writer.ends]


class Encoder(Served):
    """What makes vectors of texts."""

    task = "embed"

    def __init__(self, name: str, encoder: TextEncoder, limits: Limits):
        super().__init__(name)
        self.encoder = encoder
        self.worker = self.lane = Lane(lambda texts: [*encoder.encode(texts)], TOGETHER, limits.queue)
        self.width: int = encoder.model.config.d_model


class Classifier(Served):
    """What tells the classes of texts, or numbers."""

    task = "classify"

    def __init__(self, name: str, classifier: TextClassifier, limits: Limits):
        super().__init__(name)
        self.classifier = classifier
        self.worker = self.lane = Lane(self._judge, 0, limits.queue)

    def _judge(self, texts: list[Text]) -> list[Prediction]:
        return list(self.classifier.judge(texts, words=False))


class Interpreter(Served):
    """What translates."""

    task = "translate"

    def __init__(self, name: str, translator: Translator, limits: Limits):
        super().__init__(name)
        self.translator = translator
        self.worker = self.lane = Lane(self._translate, 0, limits.queue)

    def _translate(self, items: list[tuple[str, Any]]) -> Sequence[str]:
        """items: sentences with how they are translated, the same for all."""
        return translate(self.translator.model, self.translator.vocabulary, [text for text, _ in items], items[0][1])


class Filler(Served):
    """What fills holes in."""

    task = "fill-mask"

    def __init__(self, name: str, filler: Trained, limits: Limits):
        super().__init__(name)
        self.filler = filler
        self.worker = self.lane = Lane(self._fill, 0, limits.queue)

    def _fill(self, items: list[tuple[str, int]]) -> list[tuple[str, list[list[tuple[str, float]]]]]:
        vocabulary: Any = self.filler.vocabulary
        made = []
        for text, top in items:
            by_pieces = isinstance(vocabulary, Tokenizer)
            tokens = len(vocabulary.encode(text, marks=True)) if by_pieces else len(vocabulary.encode(text)) + 2  # two marks
            if tokens > self.filler.model.config.context:
                cause = tr("a text has {:,} tokens, the model reads {:,}", tokens, self.filler.model.config.context)
                raise RequestError(cause, "a shorter text", param="input")
            made.append(fill_sentence(self.filler.model, vocabulary, text, top))
        return made


def open_served(place: str, name: str, precision: str, limits: Limits) -> Served:
    """The model of a run, of a folder of Hugging Face, or of a name of its Hub."""
    task = task_of(place)
    if task == "generate":
        return Writer(name, load_generator(place, precision), limits)
    if task == "translate":
        return Interpreter(name, load_translator(place, precision), limits)
    if task == "embed":
        encoder = load_text_encoder(place)
        return Encoder(name, _with_precision(encoder, encoder.model, precision), limits)
    if task == "classify":
        classifier: Any = load_fill_mask(place)
        return Classifier(name, _with_precision(classifier, classifier.model, precision), limits)
    filler = open_filler(place)
    return Filler(name, _with_precision(filler, filler.model, precision), limits)


def _with_precision(answers: Any, model: Module, precision: str) -> Any:
    """The same, its weights quantized."""
    if precision != "float32":
        quantize(model, PRECISIONS[precision])
    return answers


def open_all(places: Sequence[str], precision: str, limits: Limits) -> dict[str, Served]:
    """All models by their names: those of the Hub, or of their folders."""
    names = [place if is_hub_name(place) else Path(place).resolve().name for place in places]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ArgumentError(tr("two models are called {}", twice), "folders of different names")
    for place in places:
        task_of(place)  # all that can be refused is, before weights are read
    return {name: open_served(place, name, precision, limits) for name, place in zip(names, places)}
