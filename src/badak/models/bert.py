"""BERT: an encoder that sees the whole sentence at once and says what stood where a [MASK] stands.

    h = norm(token[ids] + position[0..T-1])                       (B, T, C)
    h = encoder(h)                    every position sees every other, except padding
    logits = norm(gelu(h W + b)) tokenᵀ + bias                    (B, T, V)

Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019; here without the sentence-pair task.
"""

from dataclasses import dataclass

from badak import nn
from badak.errors import RangeError
from badak.io.config import check, option
from badak.models.heads import check_heads
from badak.nn import functional as F
from badak.tensor import Tensor, zeros


@dataclass(frozen=True)
class BERTConfig:
    """The sizes of a BERT; the defaults are those of the thirty proverbs."""

    vocab_size: int = option(200, "number of distinct tokens V (taken from the data)", unit="tokens", at_least=1)
    context: int = option(32, "longest sentence with its marks T", unit="tokens", at_least=3)
    d_model: int = option(128, "width of the encoder C", unit="channels", at_least=1)
    heads: int = option(8, "attention heads H in each layer; H divides C", unit="heads", at_least=1)
    layers: int = option(2, "encoder layers L", unit="layers", at_least=1)
    feedforward_ratio: int = option(4, "width of the feed-forward part", unit="x d_model", at_least=1)
    dropout: float = option(0.1, "probability that a value is dropped in training", at_least=0, below=1)
    pad_id: int = option(0, "id of the token that fills short sentences up (taken from the data)", at_least=0)

    def __post_init__(self):
        check(self)
        check_heads(type(self).__name__, self.d_model, self.heads)


class MaskedHead(nn.Module):
    """h (B, T, C) and the token table (V, C) -> logits (B, T, V)."""

    def __init__(self, config: BERTConfig):
        super().__init__()
        self.dense = nn.Linear(config.d_model, config.d_model)
        self.norm = nn.LayerNorm(config.d_model)
        self.bias = nn.Parameter(zeros(config.vocab_size))

    def forward(self, h: Tensor, table: Tensor) -> Tensor:
        return F.linear(self.norm(F.gelu(self.dense(h))), table, self.bias)


class BERT(nn.Module):
    """ids (B, T) with T at most `config.context` -> logits (B, T, V); positions with `pad_id` are seen by nobody."""

    def __init__(self, config: BERTConfig):
        super().__init__()
        self.config, C = config, config.d_model
        self.token = nn.Embedding(config.vocab_size, C)
        self.position = nn.Embedding(config.context, C)
        self.norm, self.drop = nn.LayerNorm(C), nn.Dropout(config.dropout)
        layer = nn.TransformerEncoderLayer(
            C, config.heads, config.feedforward_ratio * C, config.dropout, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False)
        self.head = MaskedHead(config)
        for weight in self.parameters():  # every matrix normal with deviation 0.02: the layers differ from each other
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        T = ids.shape[1]
        if T > self.config.context:
            raise RangeError(
                f"BERT: length {T} > context {self.config.context}",
                fix=f"shorten the sentence to {self.config.context - 2} words and its two marks, or train with a larger context",
            )
        h = self.drop(self.norm(self.token(ids) + self.position.weight[:T]))  # (B, T, C)
        h = self.encoder(h, src_key_padding_mask=ids == self.config.pad_id)
        return self.head(h, self.token.weight)  # (B, T, V)
