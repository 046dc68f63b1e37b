"""Writing, explained: for each token its probability, what the filters removed, and where the model looked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.core.public_api import guard_names as _guard_names
from badak.core.public_api import guard_types as _guard_types
from badak.data.validation import whole
from badak.generation.logit_filters import FILTERS, GenerationConfig
from badak.generation.reader import Reader, answering, next_logits
from badak.generation.sampling import drawn
from badak.generation.validation import ONE_ROW, Ends, ends_of, expect_prompt, expect_settings
from badak.nn import Module
from badak.ops.attention import Attention
from badak.tensor import Generator, Tensor, cat


@dataclass(frozen=True)
class Step:
    """One token that was written, and why.

    chance      its probability as the model gave it, before any filter
    rank        how many tokens were likelier
    removed     how many tokens each filter took away, by the filter's name
    most likely   the most likely tokens with their probabilities, the most likely first
    sources     where the last position looked: (place in the text, share of the attention), the largest first; the mean of
                all heads and layers. Empty for a model without attention.
    """

    token: int
    chance: float
    rank: int
    removed: dict[str, int]
    most_likely: list[tuple[int, float]]
    sources: list[tuple[int, float]]


class _Attention(events.Observer):
    """Keeps what the attention of each layer was asked with."""

    def __init__(self) -> None:
        self.asked: list = []

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        if issubclass(op, Attention):
            self.asked.append((arrays[0], arrays[1], arrays[3], attributes.get("scale")))

    def shares(self, length: int) -> np.ndarray:
        """How much the last query looks at each of the `length` positions, (length,), the mean of heads and layers."""
        rows = [_last_row(*one) for one in self.asked if one[1].shape[2] == length]
        return np.mean(rows, axis=0) if rows else np.zeros(0)


def _last_row(q, k, keep, scale) -> np.ndarray:
    """The weights (S,) of the last query in q (1, H, T, D) over the keys k (1, G, S, D), the mean of its heads."""
    H, G, D = q.shape[1], k.shape[1], q.shape[3]
    keys = np.repeat(k[0].astype(np.float32), H // G, axis=0)  # (H, S, D)
    scores = (keys @ q[0, :, -1].astype(np.float32)[..., None])[..., 0] * (D**-0.5 if scale is None else scale)  # (H, S)
    if keep is not None:
        scores = np.where(np.broadcast_to(keep, (*q.shape[:3], k.shape[2]))[0, :, -1], scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).mean(axis=0)


def explain(
    model: Module, ids: Tensor, config: GenerationConfig, eos: Ends = None, suppress_tokens: Sequence[int] = (), top: int = 3
) -> Iterator[Step]:
    """`stream` for one prompt ids (1, T), with the reasons: the same tokens for the same seed. `top`: how many to list."""
    expect_settings(model, config, eos, suppress_tokens)
    expect_prompt(ids)
    whole("explain", "top", top, least=0)
    if ids.shape[0] != 1:
        raise ArgumentError(tr("explain: expected one prompt ids (1, T); got {}", tuple(ids.shape)), ONE_ROW)
    return _explained(model, ids, config, ends_of(eos), suppress_tokens, top)


def _explained(
    model: Module, ids: Tensor, config: GenerationConfig, ends: tuple[int, ...], suppress_tokens: Sequence[int], top: int
) -> Iterator[Step]:
    generator, reader = Generator().manual_seed(config.seed), Reader(model, ids.shape[1] + config.max_new_tokens - 1)
    for _ in range(config.max_new_tokens):
        watched = _Attention()
        with answering(model), watched:
            logits = next_logits(reader, ids, ends, suppress_tokens)
            token, step = _chosen(logits, ids, config, generator, top)
        seen = ids.shape[1] if reader.context is None else min(ids.shape[1], reader.context)
        shares = watched.shares(seen)
        places = np.argsort(-shares, kind="stable")[:top]
        step["sources"] = [(int(place) + ids.shape[1] - seen, float(shares[place])) for place in places]
        yield Step(**step)
        ids = cat([ids, token], dim=1)
        if step["token"] in ends:
            return


def _chosen(logits: Tensor, ids: Tensor, config: GenerationConfig, generator: Generator, top: int) -> tuple[Tensor, dict]:
    """The token (1, 1) that the filters and the draw lead to, and what there is to say of it."""
    chances = logits.softmax(dim=-1)[0].numpy()
    removed, left = {}, int(logits.isfinite().sum())
    for name, (asked, filtered) in FILTERS.items():
        if asked(config):
            logits = filtered(logits, ids, config)
            before, left = left, int(logits.isfinite().sum())
            if before > left:
                removed[name] = before - left
    token = drawn(logits, config, generator)
    number = int(token)
    best = np.argsort(-chances, kind="stable")[:top]
    return token, {
        "token": number,
        "chance": float(chances[number]),
        "rank": int((chances > chances[number]).sum()),
        "removed": removed,
        "most_likely": [(int(one), float(chances[one])) for one in best],
    }


def loop_in(ids: Sequence[int], least: int = 3, tokens: int = 8) -> tuple[int, int] | None:
    """(length, times) of the run of tokens that a text ends with again and again: `least` times or more, `tokens` in all or more.

    None where it does not repeat itself. The shortest run is told.
    """
    if not hasattr(ids, "__iter__"):
        raise ArgumentTypeError(tr("loop_in: expected a list of tokens; got {}", type(ids).__name__), "loop_in([7, 7, 7, 7])")
    whole("loop_in", "least", least, least=2)
    whole("loop_in", "tokens", tokens)
    text = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    for length in range(1, len(text) // least + 1):
        times = 1
        while text[-(times + 1) * length : -times * length] == text[-length:]:
            times += 1
        if times >= least and times * length >= tokens:
            return length, times
    return None


_guard_names(globals(), __name__)
_guard_types(globals(), __name__)
