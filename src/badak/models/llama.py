"""Llama: a GPT of later years. Each line is the one of `gpt.py`, with what has changed since.

    h = token[ids]                                                (B, T, C)    no table of positions
    h = h + attention(norm(h))        queries and keys are turned by an angle that grows with their place ("rotary")
    h = h + down(silu(gate n) * (up n)),   n = norm(h)            a gate says what passes ("SwiGLU")
    logits = norm(h) output                                       (B, T, V)

The norm divides by the root mean square and subtracts no mean; there are no biases. G heads of keys and values serve H heads of
queries, H / G each ("grouped"), so that a cache holds H / G times less.

Qwen2 adds biases to queries, keys and values; Qwen3 a norm to each query and key; Mistral, and some layers of Qwen, a sliding
window: a query sees the last `sliding_window` keys, its own included. What stands before reaches it through the layers between.

Sources: Touvron et al. 2023, "LLaMA"; Su et al. 2021, "RoFormer"; Shazeer 2020, "GLU Variants Improve Transformer"; Zhang and
Sennrich 2019, "Root Mean Square Layer Normalization"; Ainslie et al. 2023, "GQA".
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

from badak import nn
from badak.core.errors import ArgumentError, IndexOutOfRangeError, tr
from badak.io.config import check, option
from badak.models.gpt import expect_fits, last_places, places_from, seen
from badak.models.heads import check_heads
from badak.models.pretrained import Pretrained
from badak.nn import functional as F
from badak.nn.cache import KeyValueCache
from badak.nn.mask import AnyMask, Mask
from badak.tensor import Tensor, cat

WIDEST = 1 << 16  # channels of a head


@dataclass(frozen=True)
class RotaryScaling:
    """How the rotary frequencies are stretched, for texts longer than those of the first training."""

    kind: Literal["none", "linear", "llama3"] = option("none", "all frequencies alike, or the low ones only")
    factor: float = option(1.0, "how many times longer", at_least=1)
    low: float = option(1.0, "llama3: a wave that fits into the first context less often is stretched wholly", above=0)
    high: float = option(4.0, "llama3: one that fits in more often is left as it is", above=0)
    original: int = option(8192, "llama3: the context of the first training", unit="tokens", at_least=1)

    def __post_init__(self):
        check(self)
        if self.high <= self.low:
            raise ArgumentError(tr("RotaryScaling: high={:g} must be above low={:g}", self.high, self.low), "low=1, high=4")


@dataclass(frozen=True)
class LlamaConfig:
    """The sizes of a Llama; the defaults are a small model for a CPU."""

    vocab_size: int = option(100, "vocabulary size V (taken from the data)", unit="tokens", at_least=1)
    context: int = option(64, "context length T", unit="tokens", at_least=1)
    d_model: int = option(128, "width C of the residual stream", unit="channels", at_least=1)
    heads: int = option(4, "attention heads H per layer", unit="heads", at_least=1)
    num_key_value_heads: int = option(2, "key and value heads G (grouped-query attention); G divides H", unit="heads", at_least=1)
    head_dim: int = option(0, "head dimension D (0 = C / H)", unit="channels", at_least=0)
    layers: int = option(4, "number of blocks L", unit="layers", at_least=1)
    feedforward: int = option(352, "width of the feed-forward layer", unit="channels", at_least=1)
    dropout: float = option(0.0, "dropout probability", at_least=0, below=1)
    norm_eps: float = option(1e-5, "epsilon of the RMS norm", above=0)
    rope_theta: float = option(10_000.0, "RoPE base frequency theta", unit="tokens", above=1)
    rotary_scaling: RotaryScaling = RotaryScaling()
    tied: bool = option(True, "tie the output layer to the token embedding")
    qkv_bias: bool = option(False, "biases of queries, keys and values (Qwen2)")
    qk_norm: bool = option(False, "normalize queries and keys (Qwen3)")
    sliding_window: int = option(0, "attention window in tokens (0 = full attention)", unit="tokens", at_least=0)
    layer_types: tuple[Literal["full_attention", "sliding_attention"], ...] = ()  # of each layer; (): the window is in all

    def __post_init__(self):
        check(self)
        if self.layer_types and len(self.layer_types) != self.layers:
            cause = tr("LlamaConfig: {} layer_types for {} layers", len(self.layer_types), self.layers)
            raise ArgumentError(cause, "one for each layer, or ()")
        if "sliding_attention" in self.layer_types and not self.sliding_window:
            raise ArgumentError("LlamaConfig: sliding_attention in layer_types, and sliding_window=0", "sliding_window=4096")
        if not self.head_dim:
            check_heads(self)
        if self.heads % self.num_key_value_heads:
            cause = tr("LlamaConfig: heads={} is not a multiple of num_key_value_heads={}", self.heads, self.num_key_value_heads)
            fix = tr("num_key_value_heads in {{{}}}",
                     ", ".join(str(g) for g in range(1, min(self.heads, 64) + 1) if self.heads % g == 0))  # fmt: skip
            raise ArgumentError(cause, fix)
        if self.width > WIDEST:
            raise ArgumentError(tr("LlamaConfig: a head has {:,} channels, {:,} at most", self.width, WIDEST), "a smaller head_dim")
        if self.width % 2:
            cause = tr("LlamaConfig: a head has {} channels, and rotary positions turn pairs of them", self.width)
            raise ArgumentError(cause, "an even head_dim")

    @property
    def width(self) -> int:
        """Channels D of a head."""
        return self.head_dim or self.d_model // self.heads

    @property
    def computed(self) -> int:
        """Numbers in the tables of angles, which are worked out and not learned."""
        return self.context * self.width

    def windows(self) -> list[int]:
        """How many keys a query of each layer sees, (L,); 0: all."""
        kinds = self.layer_types or ("sliding_attention",) * self.layers
        return [self.sliding_window if kind == "sliding_attention" else 0 for kind in kinds]

    def frequencies(self) -> list[float]:
        """Radians that each pair of channels turns from one position to the next, (D / 2,)."""
        plain = [self.rope_theta ** (-2 * i / self.width) for i in range(self.width // 2)]
        scaling = self.rotary_scaling
        if scaling.kind == "llama3":
            return [_stretched(f, scaling) for f in plain]
        return [f / scaling.factor for f in plain]


def _stretched(frequency: float, by: RotaryScaling) -> float:
    """Low frequencies divided by the factor, high ones as they are, and between them something between."""
    times = by.original * frequency / (2 * math.pi)  # how often the wave fits into the first context
    share = min(max((times - by.low) / (by.high - by.low), 0.0), 1.0)
    return frequency * (share + (1 - share) / by.factor)


class Attention(nn.Module):
    """Causal self-attention with rotary positions; query head h reads key head h // (H / G). window: keys that a query sees."""

    def __init__(self, config: LlamaConfig, window: int = 0) -> None:
        super().__init__()
        H, G, D = config.heads, config.num_key_value_heads, config.width
        self.window = window
        self.heads, self.num_key_value_heads, self.dropout = H, G, config.dropout
        self.qkv = nn.Linear(config.d_model, (H + 2 * G) * D, bias=config.qkv_bias)
        self.out = nn.Linear(H * D, config.d_model, bias=False)
        self.q_norm, self.k_norm = (nn.RMSNorm(D, config.norm_eps) if config.qk_norm else nn.Identity() for _ in range(2))
        self.drop = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        rotary: nn.Module,
        turns: tuple[Tensor, Tensor],
        keep: AnyMask | None = None,
        cache: KeyValueCache | None = None,
        layer: int = 0,
    ) -> Tensor:
        B, T, _ = x.shape
        H, G = self.heads, self.num_key_value_heads
        q, k, v = self.qkv(x).view(B, T, H + 2 * G, -1).transpose(1, 2).split((H, G, G), dim=1)  # (B, H or G, T, D)
        turned = rotary(cat([self.q_norm(q), self.k_norm(k)], dim=1), turns)
        q, k = turned[:, :H], turned[:, H:]
        p = self.dropout if self.training else 0.0
        if cache is None:
            keep = within(keep, self.window, T)
            y = F.scaled_dot_product_attention(q, k, v, keep, p, is_causal=keep is None, enable_gqa=True)  # (B, H, T, D)
        else:
            y = cache.attend(layer, q, k, v, p, keep, self.window)  # the same, with the keys and values of what was read before
        return self.drop(self.out(y.transpose(1, 2).flatten(2)))


def within(keep: AnyMask | None, window: int, T: int) -> AnyMask | None:
    """What T queries see of `keep` (None: causal order) where each sees `window` keys at most, its own included; 0: all."""
    if not window or T <= window:
        return keep
    near = Mask.window(window)
    return keep & near.keep(T) if isinstance(keep, Tensor) else (Mask.causal() if keep is None else keep) & near


class FeedForward(nn.Module):
    """down(silu(gate x) * (up x)), at each position alone."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.gate_up = nn.Linear(config.d_model, 2 * config.feedforward, bias=False)
        self.down = nn.Linear(config.feedforward, config.d_model, bias=False)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.drop(self.down(F.silu(gate) * up))


class Block(nn.Module):
    """One layer: first look back, then think it over."""

    def __init__(self, config: LlamaConfig, window: int = 0) -> None:
        super().__init__()
        self.norm1, self.attention = nn.RMSNorm(config.d_model, config.norm_eps), Attention(config, window)
        self.norm2, self.feed_forward = nn.RMSNorm(config.d_model, config.norm_eps), FeedForward(config)

    def forward(
        self, x: Tensor, rotary: nn.Module, *seen: Any
    ) -> Tensor:  # seen: how far to turn, a mask, then a cache and the number of this layer
        x = x + self.attention(self.norm1(x), rotary, *seen)
        return x + self.feed_forward(self.norm2(x))


class Llama(Pretrained):
    """ids (B, T) with T at most `config.context` -> logits (B, T, V); logits[:, t] depends on ids[:, :t+1] only.

    With a `cache` (nn.KeyValueCache of `config.layers`), ids are the T tokens that follow the `cache.length` which it has read
    already; `starts` is where the text of each row begins, `mask` what may be seen, and `logits_to_keep` of how many last places
    logits are wanted, as in `GPT`. Raises IndexOutOfRangeError for a text longer than the context, ArgumentError for a cache of
    other layers.
    """

    lookups = ("token",)

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab_size, config.d_model)
        self.rotary = nn.RotaryEmbedding(config.width, config.context, frequencies=config.frequencies())
        self.blocks = nn.ModuleList([Block(config, window) for window in config.windows()])
        self.norm = nn.RMSNorm(config.d_model, config.norm_eps)
        self.output = None if config.tied else nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.apply(start)

    def forward(
        self,
        ids: Tensor,
        cache: KeyValueCache | None = None,
        starts: Tensor | None = None,
        mask: Mask | None = None,
        logits_to_keep: int = 0,
    ) -> Tensor:
        expect_fits(self, ids.shape[1], cache, too_long)
        keep = seen(ids.shape[1], len(ids), cache, starts, mask)
        # Only how far apart two tokens stand counts, to rounding: counted from its start, a text has the bits that it has alone
        places = (0 if cache is None else cache) if starts is None else places_from(starts, ids.shape[1], cache)
        turns = self.rotary.turns(places, ids.shape[1])
        h = self.token(ids)  # (B, T, C)
        for layer, block in enumerate(self.blocks):
            h = block(h, self.rotary, turns, keep, cache, layer)
        if cache is not None:
            cache.advance(ids.shape[1])
        h = self.norm(last_places(h, logits_to_keep))
        if self.output is not None:
            return self.output(h)  # (B, T, V)
        return self.token.logits(h) if hasattr(self.token, "logits") else F.linear(h, self.token.weight)

    def rows_of(self, name: str, parts: int) -> list[int]:
        """Queries, keys and values have as many rows as their heads have channels."""
        if ".qkv." not in name:
            return super().rows_of(name, parts)
        config = self.config
        return [heads * config.width for heads in (config.heads, config.num_key_value_heads, config.num_key_value_heads)]

    takes_cache = takes_starts = True


def too_long(length: int, context: int, cache: KeyValueCache | None) -> IndexOutOfRangeError:
    """The complaint about a text that does not fit into the context."""
    fix = tr("give the last {} tokens, ids[:, -{}:]", context, context)
    return IndexOutOfRangeError(tr("Llama: length {} > context {}", length, context), fix, code=13)


def start(module: nn.Module) -> None:
    """The initial weights: normal with deviation 0.02, biases zero."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
        if getattr(module, "bias", None) is not None:
            nn.init.zeros_(module.bias)
