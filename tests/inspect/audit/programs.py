"""The programs that are audited, sound: badak's own models here, those of others by `clients.py`."""

import numpy as np

import badak
from badak import models, nn
from badak.nn import functional as F
from tests.inspect.audit.plants import Program

B, T, V = 4, 12, 37


def ids(rng, low: int = 1, length: int = T):
    return badak.tensor(rng.integers(low, V, (B, length)))


def padded(rng, length: int = T):
    """Texts of different lengths, filled up with 0."""
    x = rng.integers(1, V, (B, length))
    for row in range(B):
        x[row, length - 2 * row :] = 0
    return badak.tensor(x)


def gpt(rng):
    config = models.GPTConfig(vocab_size=V, context=16, d_model=32, heads=4, layers=2, dropout=0.1)
    return Program(models.GPT(config), (ids(rng),))


def llama(rng):
    config = models.LlamaConfig(vocab_size=V, context=16, d_model=32, heads=4, num_key_value_heads=2, layers=2, feedforward=48)
    return Program(models.Llama(config), (ids(rng),))


def bert(rng):
    config = models.BERTConfig(vocab_size=V, context=16, d_model=32, heads=4, layers=2)
    return Program(models.BERT(config), (padded(rng),), kind="bidirectional", said="bidirectional")


def text_classifier(rng):
    config = models.TextConfig(vocab_size=V, context=16, d_model=32, heads=4, layers=2, pooling="mean", classes=3)
    return Program(models.BERTClassifier(config), (padded(rng),), kind="bidirectional")


def sentence_encoder(rng):
    config = models.SentenceConfig(vocab_size=V, context=16, d_model=32, heads=4, layers=2)
    return Program(models.SentenceEncoder(config), (padded(rng),), kind="bidirectional")


def classifier(rng):
    config = models.ClassifierConfig(rows=8, row_width=8, d_model=16, encoder_layers=2, decoder_layers=2)
    return Program(models.build_classifier(config), (badak.tensor(rng.random((B, 8, 8)).astype("f")),), kind="image")


def cls_classifier(rng):
    config = models.ClassifierConfig(rows=8, row_width=8, d_model=16, encoder_layers=2, decoder_layers=2, pooling="cls")
    return Program(models.build_classifier(config), (badak.tensor(rng.random((B, 8, 8)).astype("f")),), kind="image")


class Translator(nn.Module):
    """A text into another, on PyTorch's layers."""

    def __init__(self):
        super().__init__()
        self.src_table, self.tgt_table = nn.Embedding(V, 32, padding_idx=0), nn.Embedding(V, 32, padding_idx=0)
        self.pos = nn.PositionalEncoding(32, dropout=0.1, max_len=20, batch_first=True)
        self.transformer = nn.Transformer(32, 4, 2, 2, 64, 0.1, batch_first=True)
        self.out = nn.Linear(32, V)

    def forward(self, src, tgt):
        padding = src == 0
        h = self.transformer(
            self.pos(self.src_table(src)),
            self.pos(self.tgt_table(tgt)),
            tgt_mask=badak.ones(tgt.shape[1], tgt.shape[1], dtype=badak.bool).triu(1),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_key_padding_mask=tgt == 0,
        )
        return self.out(h)


def translator(rng):
    return Program(Translator(), (padded(rng), padded(rng, T - 2)), kind="encoder-decoder")


class Tagger(nn.Module):
    """Written by hand, as a beginner does: a mask that is a buffer, softmax by hand, the loss within."""

    def __init__(self):
        super().__init__()
        self.table, self.position = nn.Embedding(V, 24), nn.Embedding(16, 24)
        self.blocks = nn.ModuleList([HandBlock() for _ in range(2)])
        self.head = nn.Linear(24, V)

    def forward(self, ids, targets=None):
        h = self.table(ids) + self.position(badak.arange(ids.shape[1]))
        for block in self.blocks:
            h = block(h)
        logits = self.head(h)
        if targets is None:
            return logits
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class HandBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(24), nn.LayerNorm(24)
        self.mlp = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 24), nn.Dropout(0.2))
        self.register_buffer("tril", badak.ones(16, 16).tril())

    def forward(self, x):
        n, T = self.norm1(x), x.shape[1]
        scores = self.q(n) @ self.k(n).transpose(-2, -1) / 24**0.5
        weights = scores.masked_fill(self.tril[:T, :T] == 0, float("-inf")).softmax(-1)
        x = x + self.o(weights @ self.v(n))
        return x + self.mlp(self.norm2(x))


def tagger(rng):
    x = rng.integers(0, V, (B, T + 1))
    return Program(Tagger(), (badak.tensor(x[:, :-1]), badak.tensor(x[:, 1:])))


OWN = [gpt, llama, bert, text_classifier, sentence_encoder, classifier, cls_classifier, translator, tagger]


def built(make, seed: int = 0) -> Program:
    """A program as it is, the same for the same seed."""
    badak.manual_seed(seed)
    program = make(np.random.default_rng(seed))
    program.optimizers = program.optimizers or [badak.optim.AdamW(program.model.parameters(), lr=1e-3)]
    return program
