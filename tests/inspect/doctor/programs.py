"""Sound training runs, small: a model, batches, a loss, an optimizer, a loop. `plants.py` spoils them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import badak
from badak import models, nn, optim
from badak.nn import functional as F
from tests.inspect.audit.programs import Translator

B, T, V = 8, 12, 37


@dataclass
class Training:
    """What a loop needs; the switches are what faults in the loop itself turn."""

    name: str
    model: Any
    batch: Callable[[Any], tuple]  # of a generator
    loss: Callable[[Any, tuple], Any]
    optimizer: Any = None
    head: Any = None  # the module that makes the logits
    clear: bool = True
    clear_late: bool = False  # between backward() and step()
    step_first: bool = False
    parts: int = 1  # backwards for each step
    part_scale: float | None = None  # of the loss of a part; 1 / parts where None
    clear_parts: bool = False
    evaluate: bool = True
    to_eval: bool = True
    to_train: bool = True

    def run(self, steps: int) -> None:
        """Train; half-way and at the end, test."""
        rng = np.random.default_rng(7)
        self.model.train()
        for i in range(steps):
            if self.step_first:
                self.optimizer.step()
            if self.clear:
                self.optimizer.zero_grad()
            for _ in range(self.parts):
                loss = self.loss(self.model, self.batch(rng))
                if self.parts > 1:
                    loss = loss * (1 / self.parts if self.part_scale is None else self.part_scale)
                if self.clear_parts:
                    self.optimizer.zero_grad()
                loss.backward()
            if self.clear_late:
                self.optimizer.zero_grad()
            if not self.step_first:
                self.optimizer.step()
            if self.evaluate and i % 10 == 8:
                self.test(rng)

    def test(self, rng) -> float:
        if self.to_eval:
            self.model.eval()
        with badak.no_grad():
            loss = self.loss(self.model, self.batch(rng)).item()
        if self.to_train:
            self.model.train()
        return loss


def _ids(rng, length: int = T + 1):
    """Texts in which much can be learnt: each token tells the next."""
    first = rng.integers(0, V, (B, 1))
    noise = rng.integers(0, 3, (B, length))
    return badak.tensor((first + np.cumsum(noise, axis=1) * 5) % V)


def _next_token(model, batch):
    ids = batch[0]
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def gpt() -> Training:
    config = models.GPTConfig(vocab_size=V, context=16, d_model=32, heads=4, layers=2, dropout=0.1)
    model = models.GPT(config)
    return Training("gpt", model, lambda rng: (_ids(rng),), _next_token)


class ByHand(nn.Module):
    """One attention and a feed-forward net as a course writes them."""

    def __init__(self, d: int = 32):
        super().__init__()
        self.table, self.places = nn.Embedding(V, d), nn.Embedding(T, d)
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.norm = nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Dropout(0.1), nn.Linear(2 * d, d))
        self.head = nn.Linear(d, V)

    def forward(self, ids):
        h = self.table(ids) + self.places(badak.arange(ids.shape[1]))
        hide = badak.ones(ids.shape[1], ids.shape[1]).tril() == 0
        scores = self.q(h) @ self.k(h).transpose(-2, -1) / h.shape[-1] ** 0.5
        h = h + self.o(scores.masked_fill(hide, float("-inf")).softmax(-1) @ self.v(h))
        return self.head(h + self.mlp(self.norm(h)))


def by_hand() -> Training:
    model = ByHand()
    return Training("by_hand", model, lambda rng: (_ids(rng),), _next_token, head=model.head)


class Encoder(nn.Module):
    """PyTorch's layers: a text in, a class out."""

    def __init__(self, d: int = 32):
        super().__init__()
        self.table = nn.Embedding(V, d, padding_idx=0)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 64, 0.1, batch_first=True), 2)
        self.head = nn.Linear(d, 5)

    def forward(self, ids):
        h = self.encoder(self.table(ids), src_key_padding_mask=ids == 0)
        return self.head(h.mean(1))


def _labelled(rng):
    ids = rng.integers(1, V, (B, T))
    for row in range(B):
        ids[row, T - row % 4 :] = 0
    return badak.tensor(ids), badak.tensor(ids[:, 0] % 5)


def encoder() -> Training:
    model = Encoder()
    return Training("encoder", model, _labelled, lambda m, b: F.cross_entropy(m(b[0]), b[1]), head=model.head)


def convolutions() -> Training:
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(72, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 10),
    )  # fmt: skip

    def batch(rng):
        y = rng.integers(0, 10, B)
        x = rng.standard_normal((B, 1, 8, 8)).astype("f") + np.arange(8, dtype="f") * (y / 10).astype("f")[:, None, None, None]
        return badak.tensor(x), badak.tensor(y)

    return Training("convolutions", model, batch, lambda m, b: F.cross_entropy(m(b[0]), b[1]), head=model[-1])


def two_classes() -> Training:
    model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Dropout(0.1), nn.Linear(32, 1))

    def batch(rng):
        x = rng.standard_normal((32, 16)).astype("f")
        return badak.tensor(x), badak.tensor((x[:, :1] > x[:, 1:2]).astype("f"))

    def loss(m, b):
        return F.binary_cross_entropy_with_logits(m(b[0]), b[1])

    return Training("two_classes", model, batch, loss, head=model[-1])


def translator() -> Training:
    model = Translator()

    def batch(rng):
        src, tgt = _ids(rng, T) % (V - 1) + 1, _ids(rng, T) % (V - 1) + 1
        for row in range(B):
            src[row, T - row % 4 :], tgt[row, T - row % 3 :] = 0, 0
        return src, tgt

    def loss(m, b):
        logits = m(b[0], b[1][:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), b[1][:, 1:].flatten(), ignore_index=0)

    return Training("translator", model, batch, loss, head=model.out)


OWN = [gpt, by_hand, encoder, convolutions, two_classes, translator]


def built(make: Callable[[], Training]) -> Training:
    """A training as it is, the same each time."""
    badak.manual_seed(0)
    training = make()
    training.optimizer = training.optimizer or optim.AdamW(training.model.parameters(), lr=1e-3)
    return training
