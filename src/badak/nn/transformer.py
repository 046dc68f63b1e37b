"""The Transformer of Vaswani et al. 2017, "Attention is all you need": layers, stacks, and the whole.

B batch, T target length, S source length, C = d_model. Tensors are (T, B, C) unless batch_first, then (B, T, C); without a
batch, (T, C). In every mask of this file True means *hide* (PyTorch's polarity); a float mask is added to the scores. A badak.Mask
may stand for any of them, with its own one meaning.

Parity: there is one numeric path. PyTorch's inference path gives zeros at padded positions of the encoder's output; here they
keep what training computes there.
"""

from collections.abc import Callable
from typing import Any

from badak.nn import functional as F
from badak.nn import init
from badak.nn.attention import MultiheadAttention
from badak.nn.cache import KeyValueCache
from badak.nn.dropout import Dropout
from badak.nn.functional.mask_warnings import question_padding
from badak.nn.linear import Linear
from badak.nn.mask import AnyMask, Mask
from badak.nn.module import Module
from badak.nn.norm import LayerNorm
from badak.nn.transformer_checks import check_batch, check_cache, check_features
from badak.nn.transformer_parts import activation_of, causal_mask, copies, is_causal_mask, kept_in
from badak.tensor import Tensor
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812


class _TransformerLayer(Module):
    """What the two layers share: self-attention, two linear layers, and next to them attention to the encoder's output, or not."""

    _across = False

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias=bias, batch_first=batch_first, **place)
        if self._across:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias=bias, batch_first=batch_first, **place)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        for part in (1, 2, 3) if self._across else (1, 2):
            self.add_module(f"norm{part}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place))
        for part in (1, 2, 3) if self._across else (1, 2):
            self.add_module(f"dropout{part}", Dropout(dropout))
        self.activation = activation_of(activation)

    def _sa_block(
        self, x: Tensor, attn_mask: AnyMask | None, key_padding_mask: AnyMask | None, is_causal: bool = False, kept=None
    ) -> Tensor:
        how = {"need_weights": False, "attn_mask": attn_mask, "is_causal": is_causal, **kept_in(kept)}
        x, _ = self.self_attn(x, x, x, key_padding_mask=key_padding_mask, **how)
        return self.dropout1(x)

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout3(x) if self._across else self.dropout2(x)


class TransformerEncoderLayer(_TransformerLayer):
    """Self-attention, then two linear layers, each with a residual and a norm.

        norm_first=False (the paper):   x = norm1(x + attend(x));   y = norm2(x + feed(x))
        norm_first=True  (pre-norm):    x = x + attend(norm1(x));   y = x + feed(norm2(x))
        feed(x) = linear2(activation(linear1(x)))

    activation: "relu", "gelu" or any function of a tensor. bias=False leaves out every bias, those of the norms too.

    Args:
        d_model: channels C
        nhead: heads; they divide C
        dim_feedforward: channels between the two linear layers
        dropout: probability, on the attention weights and behind each part
        activation: "relu", "gelu" or a function of a tensor
        layer_norm_eps: added to the variances of the two norms
        batch_first: tensors are (B, T, C) instead of (T, B, C)
        norm_first: norms stand before the parts (pre-norm) instead of behind them
        bias: whether linear layers and norms have one
        device, dtype: of the parameters

    Returns: module; `forward(src, src_mask, src_key_padding_mask, is_causal)` keeps the shape of src. In the masks True =
        hide

    Raises:
        ArgumentError: where nhead does not divide d_model

    Example:
        >>> layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        >>> tuple(layer(badak.randn(2, 5, 8)).shape)
        (2, 5, 8)
    """

    def forward(
        self, src: Tensor, src_mask: AnyMask | None = None, src_key_padding_mask: AnyMask | None = None, is_causal: bool = False
    ) -> Tensor:
        masks = src_mask, src_key_padding_mask, is_causal
        if self.norm_first:
            x = src + self._sa_block(self.norm1(src), *masks)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(src + self._sa_block(src, *masks))
        return self.norm2(x + self._ff_block(x))


class TransformerDecoderLayer(_TransformerLayer):
    """Self-attention, attention to the encoder's output (`memory`), two linear layers, each with a residual and a norm.

    Arguments as in TransformerEncoderLayer. `forward` takes a cache as TransformerDecoder's does, of which it is layer `layer`;
    who calls it counts the tokens as read.

    Args:
        d_model: channels C
        nhead: heads; they divide C
        dim_feedforward: channels between the two linear layers
        dropout: probability, on the attention weights and behind each part
        activation: "relu", "gelu" or a function of a tensor
        layer_norm_eps: added to the variances of the three norms
        batch_first: tensors are (B, T, C) instead of (T, B, C)
        norm_first: norms stand before the parts (pre-norm) instead of behind them
        bias: whether linear layers and norms have one
        device, dtype: of the parameters

    Returns: module; `forward(tgt, memory, ...)` keeps the shape of tgt

    Raises:
        ArgumentError: where nhead does not divide d_model

    Example:
        >>> layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
        >>> tuple(layer(badak.randn(2, 3, 8), badak.randn(2, 5, 8)).shape)
        (2, 3, 8)
    """

    _across = True

    def forward(  # type: ignore[override]  # arguments by keyword only
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: AnyMask | None = None,
        memory_mask: AnyMask | None = None,
        tgt_key_padding_mask: AnyMask | None = None,
        memory_key_padding_mask: AnyMask | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
        *,
        cache: KeyValueCache | None = None,
        layer: int = 0,
    ) -> Tensor:
        check_batch(self.self_attn.batch_first, tgt=tgt, memory=memory)
        own: tuple = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        across: tuple = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        if cache is not None:
            own, across = (tgt_mask, tgt_key_padding_mask, True, (cache, layer)), (*across, (cache, layer))
        if self.norm_first:
            x = tgt + self._sa_block(self.norm1(tgt), *own)
            x = x + self._mha_block(self.norm2(x), *across)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(tgt + self._sa_block(tgt, *own))
        x = self.norm2(x + self._mha_block(x, *across))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: AnyMask | None, key_padding_mask: AnyMask | None, is_causal: bool = False,
        kept=None,
    ) -> Tensor:  # fmt: skip
        how = {"need_weights": False, "attn_mask": attn_mask, "is_causal": is_causal, **kept_in(kept)}
        x, _ = self.multihead_attn(x, mem, mem, key_padding_mask=key_padding_mask, **how)
        return self.dropout2(x)


class TransformerEncoder(Module):
    """num_layers copies of `encoder_layer`, one after the other, and a norm at the end if given.

    The copies start equal, as in PyTorch; with independent_init (badak's own) all but the first draw their weights again.
    enable_nested_tensor and mask_check are accepted and change nothing.

    Args:
        encoder_layer: the layer that is copied
        num_layers: how many copies
        norm: applied at the end, if given
        enable_nested_tensor, mask_check: accepted; no effect
        independent_init: all copies but the first draw new weights (badak's own)

    Returns: module; `forward(src, mask, src_key_padding_mask)` keeps the shape of src

    Example:
        >>> layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        >>> tuple(nn.TransformerEncoder(layer, 3)(badak.randn(2, 5, 8)).shape)
        (2, 5, 8)
    """

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
        *,
        independent_init: bool = False,
    ) -> None:
        super().__init__()
        self.layers = copies(encoder_layer, num_layers, independent_init)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(
        self, src: Tensor, mask: AnyMask | None = None, src_key_padding_mask: AnyMask | None = None, is_causal: bool | None = None
    ) -> Tensor:
        """src (S, B, C), mask (S, S) or (B H, S, S), src_key_padding_mask (B, S) -> (S, B, C).

        is_causal None: found out from the mask. True: position t sees t and what is before it, whatever the mask holds.
        """
        if isinstance(src_key_padding_mask, Tensor):
            question_padding(src_key_padding_mask._array, True, "src_key_padding_mask")
        is_causal = is_causal_mask(mask, is_causal)
        x = src
        for layer in self.layers:
            x = layer(x, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=is_causal)
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(Module):
    """num_layers copies of `decoder_layer`, one after the other, and a norm at the end if given.

    independent_init as in TransformerEncoder.

    Args:
        decoder_layer: the layer that is copied
        num_layers: how many copies
        norm: applied at the end, if given
        independent_init: all copies but the first draw new weights (badak's own)

    Returns: module; `forward(tgt, memory, ...)` keeps the shape of tgt

    Example:
        >>> layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
        >>> decoder = nn.TransformerDecoder(layer, 2)
        >>> tuple(decoder(badak.randn(2, 3, 8), badak.randn(2, 5, 8)).shape)
        (2, 3, 8)
    """

    def __init__(
        self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None, *, independent_init: bool = False
    ) -> None:
        super().__init__()
        self.layers = copies(decoder_layer, num_layers, independent_init)
        self.num_layers, self.norm = num_layers, norm

    def forward(  # type: ignore[override]  # arguments by keyword only
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: AnyMask | None = None,
        memory_mask: AnyMask | None = None,
        tgt_key_padding_mask: AnyMask | None = None,
        memory_key_padding_mask: AnyMask | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
        *,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """tgt (T, B, C), memory (S, B, C), tgt_mask (T, T), memory_mask (T, S), padding masks (B, T), (B, S) -> (T, B, C).

        tgt_is_causal None: found out from tgt_mask.

        cache (badak's own): an `nn.KeyValueCache` of num_layers. tgt are then the T tokens that follow those which it has read, and
        count as read; each sees itself and all before it. Keys and values of `memory` are computed with the first tokens and
        kept, so it stays the same until the cache is rewound. tgt_key_padding_mask is (B, tokens read + T). The result is that of
        the whole text at these places, to rounding. No gradients then; where it fails, nothing counts as read.
        """
        x, tgt_is_causal = tgt, is_causal_mask(tgt_mask, tgt_is_causal)
        if cache is not None:
            check_cache(cache, self.num_layers, tgt_mask, tgt_is_causal)
            tgt_mask = tgt_mask if isinstance(tgt_mask, Mask) else None
        for at, layer in enumerate(self.layers):
            x = layer(
                x,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
                **kept_in(None if cache is None else (cache, at)),
            )
        if cache is not None:
            first = self.layers[0].self_attn
            cache.advance(tgt.shape[1 if first.batch_first and tgt.dim() == 3 else 0])
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """Encoder and decoder: memory = encoder(src); y = decoder(tgt, memory). No embedding, no output layer.

    custom_encoder, custom_decoder: used in the place of the stacks. All matrices start Xavier-uniform.
    independent_init as in TransformerEncoder (here it is about what is no matrix: the biases).

    Args:
        d_model: channels C
        nhead: heads; they divide C
        num_encoder_layers, num_decoder_layers: layers of the two stacks
        dim_feedforward: channels between the two linear layers of a layer
        dropout: probability
        activation: "relu", "gelu" or a function of a tensor
        custom_encoder, custom_decoder: used in place of the stacks
        layer_norm_eps: added to the variances of the norms
        batch_first: tensors are (B, T, C) instead of (T, B, C)
        norm_first: norms stand before the parts (pre-norm)
        bias: whether linear layers and norms have one
        device, dtype: of the parameters
        independent_init: layers draw weights of their own (badak's own)

    Returns: module; `forward(src, tgt, ...)` gives the shape of tgt

    Example:
        >>> model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
        >>> tuple(model(badak.randn(2, 5, 8), badak.randn(2, 3, 8)).shape)
        (2, 3, 8)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: DType | None = None,
        *,
        independent_init: bool = False,
    ) -> None:
        super().__init__()
        norm = d_model, layer_norm_eps, True, bias, device, dtype
        rest = dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype
        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(d_model, nhead, *rest)
            custom_encoder = TransformerEncoder(
                encoder_layer, num_encoder_layers, LayerNorm(*norm), independent_init=independent_init
            )
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(d_model, nhead, *rest)
            custom_decoder = TransformerDecoder(
                decoder_layer, num_decoder_layers, LayerNorm(*norm), independent_init=independent_init
            )
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: AnyMask | None = None,
        tgt_mask: AnyMask | None = None,
        memory_mask: AnyMask | None = None,
        src_key_padding_mask: AnyMask | None = None,
        tgt_key_padding_mask: AnyMask | None = None,
        memory_key_padding_mask: AnyMask | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """src (S, B, C), tgt (T, B, C) -> (T, B, C); masks as in TransformerEncoder and TransformerDecoder."""
        check_batch(self.batch_first, src=src, tgt=tgt)
        check_features(self.d_model, src=src, tgt=tgt)
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Device = None, dtype: DType | None = None) -> Tensor:
        """(sz, sz), 0 where query i may see key j (j <= i), -inf above the diagonal."""
        return causal_mask(sz, device, dtype)
