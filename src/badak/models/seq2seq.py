"""The Transformer of the paper: an encoder reads a sentence, a decoder writes another one, looking at what was read.

    m = encoder(table[source] sqrt(C) + position)           (B, S, C)    every word sees every other
    h = decoder(table[target] sqrt(C) + position, m)        (B, T, C)    each sees m, and what was written before it
    logits = h tableᵀ                                       (B, T, V)    the word that comes next

One table of vectors serves source, target and output (one vocabulary for both languages): a word that both have, a name or a
number, is learned once. Dropout stands where the paper has it: on the sums of tables and positions, and on what each part of a
layer adds; not on the weights of attention, nor within the feed-forward part.

Source: Vaswani et al., "Attention Is All You Need", 2017, sections 3.1 to 3.5. The norm before each part instead of after it
(norm_first): Xiong et al. 2020.
"""

from dataclasses import dataclass
from typing import Literal

from badak import nn
from badak.core.errors import IndexOutOfRangeError, ShapeError, tr
from badak.io.config import option
from badak.models.heads import WithHeads
from badak.models.pretrained import Pretrained
from badak.nn import functional as F
from badak.nn.cache import KeyValueCache
from badak.tensor import Tensor, cat, zeros


@dataclass(frozen=True)
class Seq2SeqConfig(WithHeads):
    """The sizes of a translator; the defaults are those of 29,000 captions of photos."""

    vocab_size: int = option(10_000, "vocabulary size V (taken from the data)", unit="tokens", at_least=1)
    context: int = option(128, "longest source or target sequence, special tokens included", unit="tokens", at_least=2)
    d_model: int = option(256, "width C of the model", unit="channels", at_least=2)
    heads: int = option(4, "attention heads H per layer; H divides C", unit="heads", at_least=1)
    encoder_layers: int = option(4, "encoder layers", unit="layers", at_least=1)
    decoder_layers: int = option(4, "decoder layers", unit="layers", at_least=1)
    feedforward: int = option(512, "width of the feed-forward layer", unit="channels", at_least=1)
    dropout: float = option(0.3, "dropout probability", at_least=0, below=1)
    norm_first: bool = option(True, "pre-norm: layer norm before each sublayer instead of after it")
    activation: Literal["relu", "gelu", "silu"] = option("relu", "activation of the feed-forward layer")
    positions: Literal["pairs", "halves"] = option(
        "pairs", "layout of sinusoidal positions: sine and cosine interleaved, or all sines and then all cosines"
    )
    output_bias: bool = option(False, "bias of the output logits")
    pad_id: int = option(0, "padding token id (taken from the data)", at_least=0)
    sos_id: int = option(1, "start token id (taken from the data)", at_least=0)
    eos_id: int = option(2, "end token id (taken from the data)", at_least=0)

    @property
    def computed(self) -> int:
        """Numbers in the table of positions, which is worked out and not learned."""
        return self.context * self.d_model


class Seq2Seq(Pretrained):
    """source (B, S), target (B, T) -> logits (B, T, V); logits[:, t] depends on the source and target[:, :t+1] only.

    Both at most `config.context` long. Tokens `config.pad_id` of the source are seen by nobody; those of the target stand at its
    end, where only what is behind them sees them.

    `encode` and `decode` are the two halves. With a `cache` (nn.KeyValueCache of `config.decoder_layers`) `decode` is given the
    tokens that follow those which the cache has read, and the keys and values of `memory` are computed once.

    Raises IndexOutOfRangeError for a sentence longer than the context, ShapeError for batches that differ.
    """

    marks = ("", "eos")

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config, C = config, config.d_model
        self.token = nn.Embedding(config.vocab_size, C, config.pad_id)
        self.compute_tables()
        self.drop = nn.Dropout(config.dropout)
        sizes = C, config.heads, config.feedforward, config.dropout, getattr(F, config.activation), 1e-5, True, config.norm_first
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*sizes), config.encoder_layers, nn.LayerNorm(C) if config.norm_first else None, False
        )
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(*sizes), config.decoder_layers, nn.LayerNorm(C) if config.norm_first else None
        )
        self.bias = nn.Parameter(zeros(1, config.vocab_size)) if config.output_bias else None
        self.apply(_without_inner_dropout)
        self.start()

    def compute_tables(self) -> None:
        """The sines and cosines of each position."""
        self.position = nn.PositionalEncoding(self.config.d_model, 0.0, self.config.context, batch_first=True)
        if self.config.positions == "halves":
            self.position.pe = positions_of(self.config)

    def start(self) -> None:
        """The initial weights: matrices Xavier-uniform, the table normal with deviation 1 / sqrt(C), so that sqrt(C) makes it 1."""
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.xavier_uniform_(weight)
        nn.init.normal_(self.token.weight, std=self.config.d_model**-0.5)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def embed(self, ids: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """What the stacks read of tokens, (B, T, C), at the beginning or behind those that a cache has read."""
        T, pe = ids.shape[1], self.position.pe
        if cache is not None:
            cache.expect_within(self.config.context, T, too_long)
        elif T > self.config.context:
            raise too_long(T, self.config.context, None)
        return self.drop(self.token(ids) * self.config.d_model**0.5 + (pe[:T] if cache is None else cache.rows(pe, T)))

    def encode(self, source: Tensor) -> Tensor:
        """What was read of source (B, S): memory (B, S, C)."""
        return self.encoder(self.embed(source), src_key_padding_mask=source == self.config.pad_id)

    def decode(self, target: Tensor, memory: Tensor, source: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """The logits (B, T, V) after each token of target (B, T), for what was read of source (B, S)."""
        if target.shape[0] != source.shape[0]:
            cause = tr("Seq2Seq: {} targets for {} sources", target.shape[0], source.shape[0])
            raise ShapeError(cause, "as many sentences of either language")
        hidden = source == self.config.pad_id
        h = self.embed(target, cache)
        if cache is not None:
            return self.logits(self.decoder(h, memory, memory_key_padding_mask=hidden, cache=cache))
        causal = nn.Transformer.generate_square_subsequent_mask(h.shape[1])
        return self.logits(self.decoder(h, memory, causal, memory_key_padding_mask=hidden, tgt_is_causal=True))

    def logits(self, h: Tensor) -> Tensor:
        """Which token comes next, (B, T, V), of what the decoder made, (B, T, C)."""
        y = F.linear(h, self.token.weight)
        return y if self.bias is None else y + self.bias

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.decode(target, self.encode(source), source)


def positions_of(config: Seq2SeqConfig) -> Tensor:
    """The sines and cosines of each position, (context, C), in the order that `config` names."""
    pe = nn.PositionalEncoding(config.d_model, 0.0, config.context, batch_first=True).pe
    return cat([pe[:, 0::2], pe[:, 1::2]], dim=1) if config.positions == "halves" else pe


def too_long(length: int, context: int, cache: KeyValueCache | None) -> IndexOutOfRangeError:
    """The complaint about a sentence that does not fit into the context."""
    fix = tr("shorter sentences, or a model with a larger context")
    return IndexOutOfRangeError(tr("Seq2Seq: length {} > context {}", length, context), fix, code=13)


def _without_inner_dropout(module: nn.Module) -> None:
    """Dropout on what a part adds, and nowhere else."""
    if isinstance(module, nn.MultiheadAttention):
        module.dropout = 0.0
    if isinstance(module, (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)):
        module.dropout = nn.Dropout(0.0)
