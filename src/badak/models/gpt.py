"""GPT: a decoder that reads tokens from left to right and predicts, at every position, the token that comes next.

    h = token[ids] + position[0..T-1]                             (B, T, C)
    h = h + attention(norm(h))        once per layer: look back   (each position sees itself and what stands before it)
    h = h + feed_forward(norm(h))                     think it over, each position by itself
    logits = norm(h) tokenᵀ                                       (B, T, V)

The norm stands before each part ("pre-norm"), so that the sum h runs through all layers untouched and gradients reach
the first layer undamped. The output reuses the token table ("tied" weights): a token's row is both what it means when
read and what h must point at to predict it.

Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019 (GPT-2).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from badak import nn
from badak.core.errors import ArgumentError, DTypeError, IndexOutOfRangeError, ShapeError, expect_kind, tr
from badak.io.config import option
from badak.models.heads import WithHeads, expect_mask
from badak.models.pretrained import Pretrained
from badak.nn import functional as F
from badak.nn.cache import KeyValueCache
from badak.nn.mask import AnyMask, Mask, StartsMask
from badak.tensor import Tensor, arange, int64


@dataclass(frozen=True)
class GPTConfig(WithHeads):
    """The sizes of a GPT; the defaults are a small model for a CPU (0.8 M parameters at 100 characters)."""

    vocab_size: int = option(100, "vocabulary size V (taken from the data)", unit="tokens", at_least=1)
    context: int = option(64, "context length T", unit="tokens", at_least=1)
    d_model: int = option(128, "width C of the residual stream", unit="channels", at_least=1)
    heads: int = option(4, "attention heads H per layer; H divides C", unit="heads", at_least=1)
    layers: int = option(4, "number of blocks L", unit="layers", at_least=1)
    feedforward_ratio: int = option(4, "width of the feed-forward layer", unit="x d_model", at_least=1)
    dropout: float = option(0.0, "dropout probability", at_least=0, below=1)
    initializer_range: float = option(0.02, "standard deviation of the initial weights", at_least=0)


class Attention(nn.Module):
    """Causal self-attention: each position takes from those before it what its query asks for."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.heads, self.dropout = config.heads, config.dropout
        self.qkv = nn.Linear(config.d_model, 3 * config.d_model)
        self.out = nn.Linear(config.d_model, config.d_model)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, keep: AnyMask | None = None, cache: KeyValueCache | None = None, layer: int = 0) -> Tensor:
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)  # each (B, H, T, D)
        p = self.dropout if self.training else 0.0
        if cache is None:
            y = F.scaled_dot_product_attention(q, k, v, keep, p, is_causal=keep is None)  # (B, H, T, D)
        else:
            y = cache.attend(layer, q, k, v, p, keep)  # the same, with the keys and values of what was read before
        return self.drop(self.out(y.transpose(1, 2).reshape(B, T, C)))


class FeedForward(nn.Module):
    """Two linear maps with a GELU between them, at each position alone."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.d_model, config.feedforward_ratio * config.d_model)
        self.down = nn.Linear(config.feedforward_ratio * config.d_model, config.d_model)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.drop(self.down(F.gelu(self.up(x), approximate="tanh")))


class Block(nn.Module):
    """One layer: first look back, then think it over."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(config.d_model), Attention(config)
        self.norm2, self.feed_forward = nn.LayerNorm(config.d_model), FeedForward(config)

    def forward(self, x: Tensor, *seen: Any) -> Tensor:  # seen: a mask, then a cache and the number of this layer
        x = x + self.attention(self.norm1(x), *seen)
        return x + self.feed_forward(self.norm2(x))


class GPT(Pretrained):
    """ids (B, T) with T at most `config.context` -> logits (B, T, V); logits[:, t] depends on ids[:, :t+1] only.

    With a `cache` (nn.KeyValueCache of `config.layers`), ids are the T tokens that follow the `cache.length` which it has
    read already: the logits are those that the whole text has at these places, to rounding, and the tokens count as read.
    The text as a whole stays within the context. No gradients then; where it fails, nothing counts as read.

    starts: where the text of each row begins, int64 (B,), for texts of different lengths that end together. What stands before
    is seen by nobody, and positions are counted from there; below 0 it began before these tokens, and all are seen.
    mask: a badak.Mask; of what stands before, only what it shows is seen. It says so of all S keys, those of a cache included.
    logits_to_keep: the logits of so many last places only, 0 for all, as in transformers.

    Raises IndexOutOfRangeError for a text longer than the context (or the cache's max_length), ArgumentError for a cache of another
    number
    of layers, ShapeError for one of another batch.
    """

    lookups = ("token",)

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab_size, config.d_model)
        self.position = nn.Embedding(config.context, config.d_model)
        self.drop = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.layers)])
        self.norm = nn.LayerNorm(config.d_model)
        self.apply(partial(start, std=config.initializer_range))
        # 2 L parts add into the residual stream: keep the variance of their sum at one part's
        for block in self.blocks:
            for last in (block.attention.out, block.feed_forward.down):
                nn.init.normal_(last.weight, std=config.initializer_range / math.sqrt(2 * config.layers))

    def forward(
        self,
        ids: Tensor,
        cache: KeyValueCache | None = None,
        starts: Tensor | None = None,
        mask: Mask | None = None,
        logits_to_keep: int = 0,
    ) -> Tensor:
        T = ids.shape[1]
        expect_fits(self, T, cache, too_long)
        keep = seen(T, len(ids), cache, starts, mask)
        h = self.drop(self.token(ids) + self._positions(T, cache, starts))  # (B, T, C)
        for layer, block in enumerate(self.blocks):
            h = block(h) if keep is None and cache is None else block(h, keep, cache, layer)
        if cache is not None:
            cache.advance(T)
        h, token = self.norm(last_places(h, logits_to_keep)), self.token
        return token.logits(h) if hasattr(token, "logits") else F.linear(h, token.weight)  # (B, T, V)

    def _positions(self, T: int, cache: KeyValueCache | None, starts: Tensor | None) -> Tensor:
        """The vectors of the places where T tokens stand, (T, C), or (B, T, C) where texts begin at different places."""
        if starts is None:
            return self.position.weight[:T] if cache is None else cache.rows(self.position.weight, T)
        return self.position(places_from(starts, T, cache))

    @property
    def takes_cache(self) -> bool:
        """Whether `forward` can use a cache: not if it, or a block or its attention, was replaced or taken out."""
        if not is_own(self, GPT) or len(self.blocks) != self.config.layers:
            return False
        return all(is_own(block, Block) and is_own(block.attention, Attention) for block in self.blocks)

    @property
    def takes_starts(self) -> bool:
        """Whether `forward` can be told where the text of each row begins."""
        return self.takes_cache


def seen(T: int, batch: int, cache: KeyValueCache | None, starts: Tensor | None, mask: Mask | None) -> AnyMask | None:
    """Which keys T new tokens see: none after themselves, none before the text of their row, and only what `mask` shows.

    None where causal order says all. What stands before a text sees itself, so that no query is blind; nobody asks for its answer.
    """
    expect_mask(mask)
    if starts is None:
        return None if mask is None else Mask.causal() & mask
    expect_starts(starts, batch)
    if mask is not None:
        return StartsMask(starts) & mask
    return StartsMask(starts).keep(T) if cache is None else cache.seen(starts, T)


def last_places(h: Tensor, count: int) -> Tensor:
    """The last `count` of T places (B, T, C); all for 0."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ArgumentError(tr("logits_to_keep: expected an integer of at least 0; got {!r:.40}", count), "logits_to_keep=1")
    return h[:, -count:] if 0 < count < h.shape[1] else h


def places_from(starts: Tensor, T: int, cache: KeyValueCache | None) -> Tensor:
    """Where T tokens stand in texts that begin at `starts`, (B, T); 0 before them."""
    places = arange(T) if cache is None else cache.places(T)
    return (places - starts.clamp(min=0)[:, None]).clamp(min=0)


def expect_starts(starts: Any, batch: int) -> None:
    """Refuse what does not say of each of `batch` texts where it begins."""
    expect_kind(starts, Tensor, "starts: expected a Tensor (B,); got {}", "badak.tensor([0, 3])")
    if starts.shape != (batch,):
        cause = tr("starts: expected ({},), a number for each text; got {}", batch, tuple(starts.shape))
        raise ShapeError(cause, "badak.tensor([0, 3])")
    if starts.dtype is not int64:
        raise DTypeError(tr("starts: expected integers, int64; got {}", starts.dtype), "starts.long()")


def is_own(module: nn.Module, kind: type[nn.Module]) -> bool:
    """Whether the forward of `module` is the one of `kind`, compiled or not."""
    forward = getattr(module.forward, "function", module.forward)
    return getattr(forward, "__func__", None) is kind.forward


def expect_fits(model: Any, T: int, cache: KeyValueCache | None, complaint: Callable) -> None:
    """Raise complaint(length, context, cache) for T tokens too many, ArgumentError for the cache of a model of other layers."""
    if cache is None:
        if T > model.config.context:
            raise complaint(T, model.config.context, None)
        return
    layers = len(model.blocks)
    if len(cache) != layers:
        cause = tr("{}: a cache of {} layers for a model of {}", type(model).__name__, len(cache), layers)
        raise ArgumentError(cause, fix=f"nn.KeyValueCache({layers}, max_length={cache.max_length})")
    cache.expect_within(model.config.context, T, complaint)


def too_long(length: int, context: int, cache: KeyValueCache | None) -> IndexOutOfRangeError:
    """The complaint about a text that does not fit into the context."""
    what = "" if cache is None else tr(", {} of them in the cache", cache._length)
    where = "" if cache is None else tr(" and no cache: every place changes")
    cause = tr("GPT: length {} > context {}{}", length, context, what)
    return IndexOutOfRangeError(cause, fix=tr("give the last {} tokens, ids[:, -{}:]{}", context, context, where), code=13)


def start(module: nn.Module, std: float) -> None:
    """The initial weights: normal with this standard deviation (GPT-2: 0.02 at widths from 768 on), biases zero."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=std)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
