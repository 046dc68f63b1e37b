"""What quantization costs a model that writes: bytes and error of each layer, perplexity and logits on a text, in one report."""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, tr
from badak.data.gguf_tokens import tokenizer_facts
from badak.generation.folder import Template, TextGenerator
from badak.io.gguf import write_gguf
from badak.models.gguf import model_as_gguf
from badak.nn import Module
from badak.nn import functional as F
from badak.nn.quantization import quantize
from badak.nn.quantized import Quantized
from badak.tensor import Tensor, tensor
from badak.training.score import Score

TOKENS, WINDOW = 8192, 512  # of a text that are read, and at once


@dataclass(frozen=True)
class Layer:
    """One layer: its shape, the bytes of its weights before and after, and |W - W'| / |W|, W' what is left of W."""

    name: str
    shape: tuple[int, int]
    before: int
    after: int
    error: float


@dataclass(frozen=True)
class OnText:
    """What both models say of a text of `tokens`: losses in nats, and the cosines of their logits at each position."""

    tokens: int
    before: Score
    after: Score
    cosines: np.ndarray


@dataclass(frozen=True)
class Report:
    """Layers, the bytes of all weights before and after, and what a text shows, None without one."""

    layers: list[Layer]
    before: int
    after: int
    text: OnText | None


def quantized(writer: TextGenerator, form: str, text: str = "") -> tuple[Any, Report]:
    """A quantized copy of the writer's model, and what that costs.

    text: one on which perplexities and logits are compared, its first 8,192 tokens in windows of at most 512.
    """
    whole, model = writer.model, quantize(copy.deepcopy(writer.model), form)
    layers = [_layer(name, whole.get_submodule(name), part) for name, part in model.named_modules() if isinstance(part, Quantized)]
    seen = _compared(whole, model, _windows(writer, text)) if text else None
    return model, Report(layers, size_of(whole), size_of(model), seen)


def _layer(name: str, before: Module, after: Any) -> Layer:
    w = before.weight.detach()._array.astype(np.float32)
    norm = float(np.linalg.norm(w))
    error = float(np.linalg.norm(w - after.numbers())) / norm if norm else 0.0
    return Layer(name, w.shape, before.weight._array.nbytes, size_of(after) - size_of(after, "bias"), error)


def size_of(model: Module, end: str = "") -> int:
    """Bytes of the weights, of those whose names end so; shared memory counts once."""
    arrays = {
        x._array.__array_interface__["data"][0]: x._array.nbytes for name, x in model.state_dict().items() if name.endswith(end)
    }
    return sum(arrays.values())


def _windows(writer: TextGenerator, text: str) -> list[Tensor]:
    """The text's tokens in windows, each (1, T)."""
    ids = writer.vocabulary.encode(text)[:TOKENS]
    size = min(writer.model.config.context, WINDOW)  # type: ignore[union-attr]
    if len(ids) < 2:
        raise ArgumentError(tr("the text has {} tokens, and the first one is given", len(ids)), "a text of some pages")
    return [tensor(ids[None, at : at + size]) for at in range(0, len(ids), size) if len(ids) - at > 1]


@no_grad()
def _compared(whole: Module, model: Module, windows: list[Tensor]) -> OnText:
    scores, cosines = [Score(), Score()], []
    for ids in windows:
        both = [one(ids)[0].float() for one in (whole, model)]
        scores = [score + _score(logits[:-1], ids[0, 1:]) for score, logits in zip(scores, both)]
        cosines.append(F.cosine_similarity(*both, dim=-1).numpy())
    return OnText(scores[0].count, scores[0], scores[1], np.concatenate(cosines))


def _score(logits: Tensor, target: Tensor) -> Score:
    loss = float(F.cross_entropy(logits, target, reduction="sum"))
    return Score(loss, int((logits.argmax(-1) == target).sum()), len(target), len(target))


def write(writer: TextGenerator, model: Any, path: str) -> None:
    """Write the model, with the writer's tokenizer and template, as a GGUF file. ArgumentError where GGUF has no words for it."""
    template = writer.template.text if isinstance(writer.template, Template) else None
    words = tokenizer_facts(writer.vocabulary, model.config.vocab_size, template)
    facts, tensors = model_as_gguf(model)
    write_gguf(path, facts | words, tensors)
