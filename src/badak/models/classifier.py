"""Pictures read row by row: each row of pixels is a token, a Transformer looks at the rows, a linear layer names the class.

    h = rows W + b + position                 (B, 28, C)     the 28 rows of a 28 x 28 picture
    y = transformer(h, h)                     (B, 28, C)     encoder, then decoder, over the same rows
    logits = flatten(y) W' + b'               (B, 10)

`Classifier` reads all rows of y, each with weights of its own; `MeanClassifier` their mean. `ClsClassifier` puts one learned token
in front of the rows and reads only that one: it has no pixels of its own, so it is free to gather what the class needs.

Source: Vaswani et al., "Attention Is All You Need", 2017; the class token: Devlin et al. 2019, Dosovitskiy et al. 2021.
"""

from dataclasses import dataclass
from typing import Literal

from badak import nn
from badak.core.errors import ShapeError, tr
from badak.io.config import option
from badak.models.heads import WithHeads
from badak.tensor import Tensor, cat, zeros


@dataclass(frozen=True)
class ClassifierConfig(WithHeads):
    """The sizes of a picture classifier; the defaults are those of the small MNIST experiment."""

    rows: int = option(28, "rows of an image, one token each", unit="rows", at_least=1)
    row_width: int = option(28, "pixels in a row", unit="pixels", at_least=1)
    classes: int = option(10, "number of classes", unit="classes", at_least=2)
    d_model: int = option(32, "width C of the model (hidden size)", unit="channels", at_least=1)
    heads: int = option(4, "attention heads H per layer; H divides C", unit="heads", at_least=1)
    encoder_layers: int = option(1, "encoder layers", unit="layers", at_least=1)
    decoder_layers: int = option(1, "decoder layers", unit="layers", at_least=1)
    feedforward_ratio: int = option(4, "width of the feed-forward layer", unit="x d_model", at_least=1)
    dropout: float = option(0.1, "dropout probability", at_least=0, below=1)
    norm_first: bool = option(True, "pre-norm: layer norm before each sublayer instead of after it")
    pooling: Literal["flatten", "mean", "cls"] = option("flatten", "pooling: all rows, their mean, or a learned [CLS] token")


class Classifier(nn.Module):
    """pictures (B, 28, 28) in [0, 1] -> logits (B, 10), read from all rows."""

    def __init__(self, config: ClassifierConfig) -> None:
        super().__init__()
        self.config, C = config, config.d_model
        self.rows = nn.Linear(config.row_width, C)
        self.position = nn.PositionalEncoding(C, dropout=0.0, max_len=config.rows + 1, batch_first=True)
        self.transformer = nn.Transformer(
            C, config.heads, config.encoder_layers, config.decoder_layers, config.feedforward_ratio * C, config.dropout,
            batch_first=True, norm_first=config.norm_first,
        )  # fmt: skip
        self.head = nn.Linear(self.readout_width(), config.classes)

    def readout_width(self) -> int:
        """Values that the head reads."""
        return self.config.rows * self.config.d_model

    def forward(self, pictures: Tensor) -> Tensor:
        rows, width = self.config.rows, self.config.row_width
        if tuple(pictures.shape[1:]) != (rows, width):
            cause = tr(
                "{}: expected pictures (B, rows={}, row_width={}); got {}", type(self).__name__, rows, width, tuple(pictures.shape)
            )
            raise ShapeError(cause, fix="one picture alone is pictures[None]")
        h = self.position(self.tokens(self.rows(pictures)))
        return self.head(self.pooling(self.transformer(h, h)))

    def tokens(self, h: Tensor) -> Tensor:
        """The sequence that the Transformer sees, from the rows (B, 28, C)."""
        return h

    def pooling(self, y: Tensor) -> Tensor:
        """What the head sees, from the Transformer's output."""
        return y.flatten(1)  # (B, 28 C)


class MeanClassifier(Classifier):
    """The same, the class read from the mean of the rows: what a row shows must say itself where it stands."""

    def readout_width(self) -> int:
        return self.config.d_model

    def pooling(self, y: Tensor) -> Tensor:
        return y.mean(dim=1)  # (B, C)


class ClsClassifier(Classifier):
    """The same with one learned token before the rows; the class is read from that token alone."""

    def __init__(self, config: ClassifierConfig) -> None:
        super().__init__(config)
        self.cls = nn.Parameter(zeros(1, 1, config.d_model))

    def readout_width(self) -> int:
        return self.config.d_model

    def tokens(self, h: Tensor) -> Tensor:
        return cat([self.cls.expand(h.shape[0], 1, -1), h], dim=1)  # (B, 29, C)

    def pooling(self, y: Tensor) -> Tensor:
        return y[:, 0]


def build_classifier(config: ClassifierConfig) -> Classifier:
    """The classifier with the pooling that `config` names."""
    return {"flatten": Classifier, "mean": MeanClassifier, "cls": ClsClassifier}[config.pooling](config)
