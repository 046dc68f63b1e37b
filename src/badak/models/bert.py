"""BERT: an encoder that sees the whole sentence at once, and what can be read from it.

    h = norm(token[ids] + position[0..T-1] + segment)             (B, T, C)
    h = encoder(h)                    every position sees every other, except padding

    BERT              what stood where a [MASK] stands:           norm(gelu(h W + b)) tokenᵀ + bias       (B, T, V)
    BERTClassifier    a class, or a number, for the whole text:   read(h) W + b                           (B, classes)
    SentenceEncoder   one vector for the whole text:              read(h) / |read(h)|                     (B, C)

The whole text is read from its first token, which has no word of its own ("cls"), or as the mean of all that are no padding.

Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019; here without the sentence-pair task.
Sentence vectors: Reimers and Gurevych 2019, "Sentence-BERT".
"""

from dataclasses import dataclass
from typing import Literal

from badak import nn
from badak.core.errors import ArgumentError, IndexOutOfRangeError, tr
from badak.data.padding import padding_mask
from badak.io.config import option
from badak.models.heads import WithHeads, expect_mask
from badak.models.pretrained import Pretrained
from badak.nn import functional as F
from badak.nn.mask import Mask
from badak.tensor import Tensor, zeros


@dataclass(frozen=True)
class BERTConfig(WithHeads):
    """The sizes of a BERT; the defaults are those of the thirty proverbs."""

    vocab_size: int = option(200, "vocabulary size V (taken from the data)", unit="tokens", at_least=1)
    context: int = option(32, "longest sequence T, special tokens included", unit="tokens", at_least=3)
    d_model: int = option(128, "width C of the encoder", unit="channels", at_least=1)
    heads: int = option(8, "attention heads H per layer; H divides C", unit="heads", at_least=1)
    layers: int = option(2, "number of encoder layers L", unit="layers", at_least=1)
    feedforward_ratio: int = option(4, "width of the feed-forward layer", unit="x d_model", at_least=1)
    dropout: float = option(0.1, "dropout probability", at_least=0, below=1)
    pad_id: int = option(0, "padding token id (taken from the data)", at_least=0)
    type_vocab_size: int = option(0, "number of token types (segment embeddings; 0 = none)", at_least=0)
    norm_eps: float = option(1e-5, "epsilon of the layer norm", above=0)


@dataclass(frozen=True)
class TextConfig(BERTConfig):
    """The sizes of a text classifier, and how it reads the whole text."""

    classes: int = option(2, "number of classes (1 = regression)", unit="classes", at_least=1)
    pooling: Literal["cls", "mean"] = option("cls", "pooling: the first token ([CLS]) or the mean of all tokens")
    pooler: bool = option(True, "a linear layer and tanh before the head")


@dataclass(frozen=True)
class SentenceConfig(BERTConfig):
    """The sizes of a sentence encoder, and how it reads the whole text."""

    pooling: Literal["cls", "mean"] = option("mean", "pooling: the first token ([CLS]) or the mean of all tokens")
    normalize: bool = option(True, "normalize vectors to length 1")


class BERTEncoder(Pretrained):
    """ids (B, T) with T at most `config.context` -> h (B, T, C); positions with `pad_id` are seen by nobody.

    token_type_ids: of which sentence each token is, (B, T) or (T,), where the model has vectors for that; 0 unless given.
    mask: a badak.Mask of what else may be seen; padding never is.
    """

    marks, writes = ("sos", "eos"), False

    def __init__(self, config: BERTConfig) -> None:
        super().__init__()
        self.config, C = config, config.d_model
        self.token = nn.Embedding(config.vocab_size, C)
        self.position = nn.Embedding(config.context, C)
        self.segment = nn.Embedding(config.type_vocab_size, C) if config.type_vocab_size else None
        self.norm, self.drop = nn.LayerNorm(C, config.norm_eps), nn.Dropout(config.dropout)
        layer = nn.TransformerEncoderLayer(
            C, config.heads, config.feedforward_ratio * C, config.dropout, "gelu", config.norm_eps, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False)

    def start(self) -> None:
        """Every matrix normal with deviation 0.02: the layers differ from each other."""
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02)

    def hidden(self, ids: Tensor, token_type_ids: Tensor | None = None, mask: Mask | None = None) -> Tensor:
        """What the encoder makes of each token, (B, T, C)."""
        T = ids.shape[1]
        expect_mask(mask)
        if T > self.config.context:
            raise IndexOutOfRangeError(
                tr("{}: length {} > context {}", type(self).__name__, T, self.config.context),
                fix=tr(
                    "shorten the sentence to {} words and its two marks, or train with a larger context", self.config.context - 2
                ),
                code=13,
            )
        if token_type_ids is not None and self.segment is None:
            cause = tr("{}: token_type_ids for a model that has no vectors for them", type(self).__name__)
            raise ArgumentError(cause, "token_type_ids=None")
        h = self.token(ids) + self.position.weight[:T]
        if self.segment is not None:
            h = h + (self.segment.weight[0] if token_type_ids is None else self.segment(token_type_ids))
        return self.encoder(self.drop(self.norm(h)), mask, padding_mask(ids, self.config.pad_id))

    def whole(self, h: Tensor, ids: Tensor) -> Tensor:
        """The text as one vector, (B, C): its first token's, or the mean of those that are no padding."""
        if self.config.pooling == "cls":
            return h[:, 0]
        kept = (~padding_mask(ids, self.config.pad_id)).unsqueeze(-1).to(h.dtype)  # (B, T, 1)
        return (h * kept).sum(dim=1) / kept.sum(dim=1).clamp(min=1)

    def forward(self, ids: Tensor, token_type_ids: Tensor | None = None, mask: Mask | None = None) -> Tensor:
        return self.hidden(ids, token_type_ids, mask)


class MaskedHead(nn.Module):
    """h (B, T, C) and the token table (V, C) -> logits (B, T, V)."""

    def __init__(self, config: BERTConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.d_model, config.d_model)
        self.norm = nn.LayerNorm(config.d_model, config.norm_eps)
        self.bias = nn.Parameter(zeros(config.vocab_size))

    def forward(self, h: Tensor, table: Tensor) -> Tensor:
        return F.linear(self.norm(F.gelu(self.dense(h))), table, self.bias)


class BERT(BERTEncoder):
    """ids (B, T) -> logits (B, T, V): for each position, the token that stood there."""

    def __init__(self, config: BERTConfig) -> None:
        super().__init__(config)
        self.head = MaskedHead(config)
        self.start()

    def forward(self, ids: Tensor, token_type_ids: Tensor | None = None, mask: Mask | None = None) -> Tensor:
        return self.head(self.hidden(ids, token_type_ids, mask), self.token.weight)  # (B, T, V)


class BERTClassifier(BERTEncoder):
    """ids (B, T) -> logits (B, classes), or with one class a number for each text, (B, 1)."""

    def __init__(self, config: TextConfig) -> None:
        super().__init__(config)
        self.pooler = nn.Linear(config.d_model, config.d_model) if config.pooler else None
        self.head = nn.Linear(config.d_model, config.classes)
        self.start()

    def forward(self, ids: Tensor, token_type_ids: Tensor | None = None, mask: Mask | None = None) -> Tensor:
        y = self.whole(self.hidden(ids, token_type_ids, mask), ids)
        if self.pooler is not None:
            y = self.pooler(y).tanh()
        return self.head(self.drop(y))


class SentenceEncoder(BERTEncoder):
    """ids (B, T) -> vectors (B, C): the nearer two texts in meaning, the larger the product of their vectors."""

    def __init__(self, config: SentenceConfig) -> None:
        super().__init__(config)
        self.start()

    def forward(self, ids: Tensor, token_type_ids: Tensor | None = None, mask: Mask | None = None) -> Tensor:
        y = self.whole(self.hidden(ids, token_type_ids, mask), ids)
        return F.normalize(y, dim=-1) if self.config.normalize else y
