"""What a model is asked with: a prompt and settings. What is neither is refused before anything is read."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, IndexOutOfRangeError, expect_kind, tr
from badak.data.validation import several, whole
from badak.generation.logit_filters import GenerationConfig
from badak.nn import Module
from badak.tensor import Tensor, tensor

Ends = int | Sequence[int] | None  # tokens that end a text
ONE_ROW = tr("one text alone is ids[None]; an empty text can start with a newline or the start mark")


def expect_settings(model: Any, config: Any, eos: Any, suppress_tokens: Any) -> None:
    """Refuse what is no model, no GenerationConfig, and no number of a token."""
    expect_model("generate", model)
    expect_kind(config, GenerationConfig, "generate: expected a GenerationConfig; got {}", "GenerationConfig(max_new_tokens=100)")
    for one in ends_of(eos):
        whole("generate", "eos", one, least=0)
    for token in several("generate", suppress_tokens, tr("the tokens that are never written"), "suppress_tokens=[0]"):
        whole("generate", tr("a token of suppress_tokens"), token, least=0)


def expect_model(where: str, model: Any) -> None:
    """Refuse what is no module."""
    expect_kind(model, Module, "{}: expected a model, an nn.Module; got {}", "a class of nn.Module with forward(ids)", where)


def expect_prompt(ids: Any) -> None:
    """Refuse what is no prompt (B, T) of integers."""
    expect_kind(ids, Tensor, "generate: expected a prompt ids (B, T) as a Tensor; got {}", "badak.tensor([[1, 2]])")
    if ids.dim() != 2 or 0 in ids.shape:
        raise ArgumentError(tr("generate: expected a prompt ids (B, T) with at least one token; got {}", tuple(ids.shape)), ONE_ROW)
    _expect_whole(ids)


def ends_of(eos: Ends) -> tuple[int, ...]:
    """The tokens that end a text: none, one or several."""
    return () if eos is None else tuple(eos) if isinstance(eos, list | tuple) else (eos,)  # type: ignore[return-value]


def expect_known(ends: tuple[int, ...], tokens: int) -> None:
    """Refuse an end mark that the model cannot write."""
    beyond = next((eos for eos in ends if eos >= tokens), None)
    if beyond is not None:
        cause = tr("generate: eos={} is outside of the model's {} tokens", beyond, tokens)
        raise IndexOutOfRangeError(cause, "the tokenizer that the model was trained with")


def prompts_of(ids: Any) -> list[Tensor]:
    """Prompts (T,) of any lengths, at least one token each."""
    example = "[[1, 2, 3], [4]]"
    prompts = [_prompt(one) for one in several("generate", ids, tr("prompts of token numbers"), example)]
    if any(one.dim() != 1 or not len(one) for one in prompts):
        raise ArgumentError("generate: expected prompts of one axis and at least one token each", example)
    for one in prompts:
        _expect_whole(one)
    return prompts


def _prompt(one: Any) -> Tensor:
    if isinstance(one, Tensor):
        return one
    try:
        numbers = np.asarray(one)
    except ValueError:  # lists of unequal lengths
        numbers = np.zeros((0, 0), np.int64)
    if numbers.dtype.kind not in "biuf":
        cause = tr("generate: expected prompts of token numbers; got {}", type(one).__name__)
        raise ArgumentTypeError(cause, "tokenizer.encode(text)")
    return tensor(numbers if numbers.size else numbers.astype(np.int64))


def _expect_whole(ids: Tensor) -> None:
    if ids.is_floating_point() or ids.is_complex() or ids.dtype.name == "bool":
        raise DTypeError(tr("generate: expected token numbers, which are whole; got {}", ids.dtype), "ids.long()")


def expect_answers(model: Module, logits: Tensor) -> None:
    """Refuse logits (B, V) from which nothing can be chosen: NaN, infinite, or -inf for every token."""
    best = logits.detach().numpy().max(axis=-1, initial=-np.inf)
    if not np.isfinite(best).all():
        wrong = best[~np.isfinite(best)][0]
        cause = tr("generate: {} gave logits whose largest is {}", type(model).__name__, wrong)
        raise ArgumentError(cause, "weights of a training that has not diverged")


def expect_some_left(logits: Tensor) -> None:
    """Refuse filtered logits (B, V) that leave a row nothing."""
    if not np.isfinite(logits.numpy().max(axis=-1, initial=-np.inf)).all():
        cause = tr("generate: the filters leave none of the {} tokens", logits.shape[-1])
        raise ArgumentError(cause, "a larger no_repeat_ngram_size, or fewer max_new_tokens")
