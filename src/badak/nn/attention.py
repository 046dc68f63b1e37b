"""Multi-head attention: every position asks all others a question, several questions at a time.

    q, k, v   = query Wq^T + bq,  key Wk^T + bk,  value Wv^T + bv         cut into H heads of D = C / H channels
    scores    = q k^T / sqrt(D)                                           (B, H, T, S), -inf where hidden
    weights   = softmax(scores) over S, then dropout
    y         = (weights v, heads side by side) Wo^T + bo                 (B, T, C)

Source: Vaswani et al. 2017, "Attention is all you need", section 3.2. What is here are the weights and the order of the
steps; each step is a few lines of `functional/multi_head.py`, and the inner one, from q, k, v to weights v, is one operation,
`ops/attention.py`, with its backward derived by hand.

B batch, T target length (queries), S source length (keys), C embed_dim, H heads, D head_dim.
"""

from typing import Any

from badak.core.public_api import overriding
from badak.nn import init
from badak.nn.attention_checks import check_cached, check_inputs, check_sizes
from badak.nn.cache import KeyValueCache
from badak.nn.functional._common import tensor as needed
from badak.nn.functional.linear import linear
from badak.nn.functional.multi_head import add_keys, attend, cut_heads, join_heads, visible
from badak.nn.linear import NonDynamicallyQuantizableLinear
from badak.nn.mask import AnyMask, Mask
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.nn.sdp_backend import SDPBackend as SDPBackend  # PyTorch keeps these two here
from badak.nn.sdp_backend import sdpa_kernel as sdpa_kernel
from badak.tensor import Tensor, empty
from badak.tensor.dtypes import Device


class MultiheadAttention(Module):
    """Attention with num_heads heads over embed_dim channels.

    The input projections start Xavier-uniform, biases 0, the output projection as nn.Linear.

    Args:
        embed_dim: channels C of query and output
        num_heads: heads H; C / H channels each
        dropout: on the weights, in training
        bias: whether the four projections add one
        add_bias_kv: one more key and value, learned, that every query may attend to
        add_zero_attn: one more key and value, zero: a query may attend to nothing
        kdim, vdim: channels of key and value, if not embed_dim; then Wq, Wk, Wv are three parameters instead of one
        batch_first: tensors are (B, T, C) instead of (T, B, C)
        device, dtype: of the parameters

    Returns: module; `forward(query, key, value)` gives (output (T, B, C), weights (B, T, S)), with batch_first (B, T, C);
        the weights are None with need_weights=False

    Raises:
        ArgumentError: where num_heads does not divide embed_dim

    Derivation: docs/explanation/derivations/attention.md

    Example:
        >>> attention = nn.MultiheadAttention(8, 2, batch_first=True)
        >>> x = badak.randn(1, 5, 8)
        >>> output, weights = attention(x, x, x)
        >>> tuple(output.shape), tuple(weights.shape)
        ((1, 5, 8), (1, 5, 5))
    """

    def __init__(
        self,
        embed_dim: Any,
        num_heads: Any,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: Any = None,
        vdim: Any = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_sizes(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn

        place: dict[str, Any] = {"device": device, "dtype": dtype}
        C, packed = embed_dim, self._qkv_same_embed_dim
        self._register("in_proj_weight", packed, 3 * C, C, **place)
        self._register("q_proj_weight", not packed, C, C, **place)
        self._register("k_proj_weight", not packed, C, self.kdim, **place)
        self._register("v_proj_weight", not packed, C, self.vdim, **place)
        self._register("in_proj_bias", bias, 3 * C, **place)
        self.out_proj = NonDynamicallyQuantizableLinear(C, C, bias=bias, **place)
        self._register("bias_k", add_bias_kv, 1, 1, C, **place)
        self._register("bias_v", add_bias_kv, 1, 1, C, **place)
        self._reset_parameters()

    def _register(self, name: str, wanted: bool, *shape: int, **place) -> None:
        self.register_parameter(name, Parameter(empty(*shape, **place)) if wanted else None)

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one that True hides by, (B, H, T, T), and which kind it is.

        Args:
            attn_mask: (T, T) or (B H, T, T), or None
            key_padding_mask: (B, T), or None
            query: (B, T, C)

        Returns: (mask, kind); kind 2 where attn_mask is given, 1 with key_padding_mask alone, which is given back, else None
        """
        for name, given in (("attn_mask", attn_mask), ("key_padding_mask", key_padding_mask)):
            if given is not None:
                needed(given, "merge_masks", name)
        needed(query, "merge_masks", "query")
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        B, T, _ = query.shape
        merged = attn_mask.view(B, -1, T, T) if attn_mask.dim() == 3 else attn_mask.view(1, 1, T, T).expand(B, self.num_heads, T, T)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(B, 1, 1, T).expand(B, self.num_heads, 1, T)
        return merged, 2

    def forward(  # type: ignore[override]  # arguments by keyword only
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: AnyMask | None = None,
        need_weights: bool = True,
        attn_mask: AnyMask | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
        *,
        cache: KeyValueCache | None = None,
        layer: int = 0,
    ) -> tuple[Tensor, Tensor | None]:
        """query (T, B, C), key (S, B, kdim), value (S, B, vdim) -> y (T, B, C), weights or None.

        In both masks True means *hide*, and floats are added to the scores (PyTorch's polarity). Either may be a badak.Mask.

        key_padding_mask       (B, S): keys that no query sees
        attn_mask              (T, S) or (B H, T, S): which query sees which key
        is_causal              query t sees the keys 0 .. t; a tensor as attn_mask is then not looked at
        need_weights           return them: (B, T, S), or (B, H, T, S) with average_attn_weights=False

        cache, layer           badak's own, see `nn.KeyValueCache`: the keys and values of this layer. Where query, key and
                               value are one tensor it is appended and attended to causally, key_padding_mask
                               (B, length + T), or as a Mask says; else key and value are projected with the first tokens only

        Without a batch, all shapes are without B. A query that sees no key gives y = bo and weights 0.
        Parity: PyTorch demands attn_mask with is_causal, and gives NaN where a query sees no key.
        """
        if overriding.active and cache is None and overriding.overridden((query, key, value), {}):
            options = key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
            return overriding.asked_as("multi_head_attention_forward", self.forward, query, key, value, *options)
        if cache is None:
            check_inputs(self, query, key, value, key_padding_mask, attn_mask)
        else:
            check_cached(self, query, key, value, key_padding_mask, attn_mask, need_weights, is_causal, cache)
        batched = query._array.ndim == 3
        batch_first = self.batch_first and batched
        if not batched:
            query, key, value = _with_batch(query, key, value)
        if cache is not None:
            y = self._attend_cached(query, key, value, key_padding_mask, attn_mask, batch_first, cache, layer)
            y = self.out_proj(join_heads(y))
            return y.squeeze(1) if not batched else y.transpose(0, 1) if batch_first else y, None
        q, k, v = (cut_heads(x, self.num_heads, batch_first) for x in self._project(query, key, value))
        seen = visible(attn_mask, key_padding_mask, is_causal, q, k)  # q (B, H, T, D), k and v (B, H, S, D)
        bias_k, bias_v = self._held("bias_k", "bias_v")
        k, v, seen = add_keys(k, v, seen, bias_k, bias_v, self.add_zero_attn)
        y, weights = attend(q, k, v, seen, self.dropout if self.training else 0.0, need_weights)
        y = self.out_proj(join_heads(y))  # (T, B, C), also where batch_first: a dropout after it draws in this order
        if weights is not None and average_attn_weights:
            weights = weights.mean(dim=1)  # (B, T, S)
        if not batched:
            return y.squeeze(1), None if weights is None else weights.squeeze(0)
        return y.transpose(0, 1) if batch_first else y, weights

    def _attend_cached(self, query, key, value, padding, mask, batch_first: bool, cache: KeyValueCache, layer: int) -> Tensor:
        """(B, H, T, D) of what the cache has of this layer, and of what is new."""
        p = self.dropout if self.training else 0.0
        if query is key and key is value:
            q, k, v = (cut_heads(x, self.num_heads, batch_first) for x in self._project(query, key, value))
            if padding is not None:
                pads = padding if isinstance(padding, Mask) else Mask.of(hide=padding[:, None])
                mask = (Mask.causal() if mask is None else mask) & pads
            return cache.attend(layer, q, k, v, p, mask)

        def project() -> tuple[Tensor, Tensor]:
            k, v = self._project_some((key, value), (1, 2))
            return cut_heads(k, self.num_heads, batch_first), cut_heads(v, self.num_heads, batch_first)

        q = cut_heads(self._project_some((query,), (0,))[0], self.num_heads, batch_first)
        k, v = cache.cross_attention(layer, key, project, 0 if batch_first else 1)
        return attend(q, k, v, visible(mask, padding, False, q, k), p, False)[0]

    def _project_some(self, inputs: tuple[Tensor, ...], which: tuple[int, ...]) -> list[Tensor]:
        """Some of q, k and v (0, 1, 2), all heads side by side."""
        weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        if self._qkv_same_embed_dim:
            weights = self.in_proj_weight.chunk(3)
        biases = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return [linear(x, weights[i], biases[i]) for x, i in zip(inputs, which, strict=True)]

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor] | tuple[Tensor, ...]:
        """q, k and v, all heads side by side; in self-attention by one matrix product for all three."""
        if self._qkv_same_embed_dim and query is key and key is value:
            return linear(query, *self._held("in_proj_weight", "in_proj_bias")).chunk(3, dim=-1)
        return self._project_some((query, key, value), (0, 1, 2))


def _with_batch(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(T, C), (S, kdim), (S, vdim) with a batch of one at axis 1; what was one tensor stays one."""
    made = {id(x): x.unsqueeze(1) for x in (query, key, value)}
    return made[id(query)], made[id(key)], made[id(value)]
