"""Positions: attention does not see in which order its keys stand, so something must say it.

Three ways, all badak's own names (PyTorch has none of them). T length, C channels, D channels of one head.
"""

import math
from collections.abc import Sequence
from typing import SupportsIndex

from badak.core.errors import ArgumentTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.nn import functional as F
from badak.nn import init
from badak.nn.cache import KeyValueCache
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Tensor, arange, cat, cos, empty, exp, float64, get_default_dtype, sin, stack, tensor, zeros
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812


class PositionalEncoding(Module):
    """y = dropout(x + pe): each position t gets a fixed vector of sines and cosines added.

        pe[t, 2i] = sin(t / 10000^(2i / C))        pe[t, 2i + 1] = cos(t / 10000^(2i / C))

    x (T, B, C), or (B, T, C) with batch_first, or (T, C). C may be odd. max_len: the longest T. The table is not part of
    the state_dict: it can be computed. Source: Vaswani et al. 2017, section 3.5.
    """

    def __init__(
        self,
        d_model: int,
        dropout: float = 0.1,
        max_len: int = 5000,
        batch_first: bool = False,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.d_model, self.p, self.max_len, self.batch_first = d_model, dropout, max_len, batch_first
        table = sinusoids(max_len, d_model).to(device=device, dtype=dtype or get_default_dtype())
        self.register_buffer("pe", table, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x + _rows(self.pe, x, self.batch_first), self.p, self.training)

    def extra_repr(self) -> str:
        return f"{self.d_model}, dropout={self.p}, max_len={self.max_len}, batch_first={self.batch_first}"


class LearnedPositionalEncoding(Module):
    """y = dropout(x + W[0 .. T-1]): each position gets a vector of its own, learned. W starts normal(0, 0.02).

    Shapes as in PositionalEncoding. Source: Gehring et al. 2017; used by BERT and GPT-2.
    """

    def __init__(
        self,
        d_model: int,
        dropout: float = 0.1,
        max_len: int = 512,
        batch_first: bool = False,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.d_model, self.p, self.max_len, self.batch_first = d_model, dropout, max_len, batch_first
        self.weight = Parameter(empty(max_len, d_model, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw W again."""
        init.normal_(self.weight, std=0.02)

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x + _rows(self.weight, x, self.batch_first), self.p, self.training)

    extra_repr = PositionalEncoding.extra_repr


class RotaryEmbedding(Module):
    """Turns each pair of channels of a query or key by an angle that grows with its position, before q k^T.

        angle[t, i] = t / base^(2i / D)
        (a, b) -> (a cos - b sin, b cos + a sin)

    so that q_s k_t depends on s - t only. Which channels make a pair i: i and i + D/2 (the default, as GPT-NeoX and LLaMA in
    the Hugging Face layout), or 2i and 2i + 1 with interleaved=True (the paper). x (..., T, D); offset: position of the
    first row, or the KeyValueCache behind whose tokens the rows stand, or for x (B, H, T, D) the positions int64 (B, T), or what
    `turns` gives for one of these, which layers can share.
    frequencies: D / 2 numbers in the place of base^(-2i / D), radians per position.
    Source: Su et al. 2021, "RoFormer", equation 34.
    """

    def __init__(
        self,
        dim: int,
        max_len: int = 2048,
        base: float = 10000.0,
        interleaved: bool = False,
        device: Device = None,
        frequencies: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        if dim % 2:
            raise ShapeError(tr("RotaryEmbedding: expected an even dim, since channels turn in pairs; got dim={}", dim))
        if frequencies is not None and len(frequencies) != dim // 2:
            raise ShapeError(tr("RotaryEmbedding: expected dim / 2 = {} frequencies; got {}", dim // 2, len(frequencies)))
        self.dim, self.max_len, self.base, self.interleaved, self.frequencies = dim, max_len, base, interleaved, frequencies
        self.reset_parameters(device)

    def reset_parameters(self, device: Device = None) -> None:
        """Work the tables of cosines and sines out again: they are part of no state_dict."""
        angles = _angles(self.max_len, self.dim, self.base, self.frequencies)
        self.register_buffer("cos", cos(angles).to(device=device, dtype=get_default_dtype()), persistent=False)
        self.register_buffer("sin", sin(angles).to(device=device, dtype=get_default_dtype()), persistent=False)

    def turns(self, offset: int | KeyValueCache | Tensor, T: int) -> tuple[Tensor, Tensor]:
        """The cosines and sines (T, D / 2) of T rows, or (B, 1, T, D / 2) where each text has positions of its own."""
        if isinstance(offset, Tensor):
            c, s = (F.embedding(offset, table).unsqueeze(1) for table in (self.cos, self.sin))
        elif isinstance(offset, KeyValueCache):
            c, s = offset.rows(self.cos, T), offset.rows(self.sin, T)
        else:
            if not isinstance(offset, SupportsIndex):
                raise ArgumentTypeError(
                    tr("RotaryEmbedding: expected a number, a KeyValueCache or a Tensor as offset; got {}", type(offset).__name__),
                    "offset=0",
                )
            _check_length(offset + T, self.max_len)
            c, s = self.cos[offset : offset + T], self.sin[offset : offset + T]
        return c, s

    def forward(self, x: Tensor, offset: int | KeyValueCache | Tensor | tuple[Tensor, Tensor] = 0) -> Tensor:
        c, s = (each.to(x.dtype) for each in (offset if isinstance(offset, tuple) else self.turns(offset, x.shape[-2])))
        if self.interleaved:
            a, b = x[..., 0::2], x[..., 1::2]
            return stack((a * c - b * s, b * c + a * s), dim=-1).flatten(-2)
        a, b = x.chunk(2, dim=-1)
        return cat((a * c - b * s, b * c + a * s), dim=-1)

    def extra_repr(self) -> str:
        return f"{self.dim}, max_len={self.max_len}, base={self.base}, interleaved={self.interleaved}"


def sinusoids(length: int, d_model: int) -> Tensor:
    """The table pe (length, d_model) of PositionalEncoding, in float64."""
    angles = _angles(length, d_model, 10000.0)
    table = zeros(length, d_model, dtype=float64)
    table[:, 0::2] = sin(angles)
    table[:, 1::2] = cos(angles[:, : d_model // 2])
    return table


def _angles(length: int, width: int, base: float, frequencies: Sequence[float] | None = None) -> Tensor:
    """t / base^(2i / width), (length, ceil(width / 2)), in float64: in float32 the angle of position 5000 is off by 1e-4."""
    if frequencies is None:
        steps = exp(arange(0, width, 2, dtype=float64) * (-math.log(base) / width))
    else:
        steps = tensor(list(frequencies), dtype=float64)
    return arange(length, dtype=float64).unsqueeze(1) * steps


def _rows(table: Tensor, x: Tensor, batch_first: bool) -> Tensor:
    """The first T rows of the table, shaped to be added to x."""
    T = x.shape[0] if x.dim() == 2 or not batch_first else x.shape[1]
    _check_length(T, table.shape[0])
    return table[:T].unsqueeze(1) if x.dim() == 3 and not batch_first else table[:T]


def _check_length(length: int, max_len: int) -> None:
    if length > max_len:
        cause = tr("length {} > max_positions {}", length, max_len)
        raise IndexOutOfRangeError(cause, tr("shorten the input, or max_len={}", length))
