"""Whole models against PyTorch from the same weights: outputs, every gradient, ten losses, dropout included.

A file of badak.models runs on PyTorch too, once its imports say torch: the twin is the very same text.
"""

import sys
import types
from pathlib import Path

import numpy as np
import pytest
import torch

import badak
from badak import models
from tests.parity.compare import DEEP, assert_same, assert_same_gradients, assert_same_state, copy_state, draw, twins
from tests.samples import ints, uniform

both_dtypes = pytest.mark.parametrize("dtype", ["float32", "float64"])
SWAPS = [
    ("from badak import nn", "from tests.parity.test_models import torch_nn as nn"),
    ("from badak.models.pretrained import Pretrained", "from torch.nn import Module as Pretrained"),
    ("badak.nn ", "torch.nn "),
    ("badak.tensor ", "torch "),
]


class SinusoidalPositions(torch.nn.Module):
    """x + sin and cos of position / 10000^(2i/C), then dropout: badak's PositionalEncoding with PyTorch's parts."""

    def __init__(self, d_model, dropout=0.0, max_len=5000, **options):
        super().__init__()
        angle = np.arange(max_len)[:, None] / 10000.0 ** (np.arange(0, d_model, 2) / d_model)
        table = np.zeros((max_len, d_model))
        table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle[:, : d_model // 2])
        self.register_buffer("pe", torch.from_numpy(table).float(), persistent=False)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, x):
        return self.dropout(x + self.pe[: x.shape[1]].to(x.dtype))


torch_nn = types.SimpleNamespace(**{**vars(torch.nn), "PositionalEncoding": SinusoidalPositions})


def on_pytorch(name: str) -> types.ModuleType:
    """badak.models.<name> with PyTorch in place of badak's tensors and layers."""
    text = Path(sys.modules[f"badak.models.{name}"].__file__).read_text(encoding="utf-8")
    for old, new in SWAPS:
        text = text.replace(old, new)
    module = types.ModuleType(f"pytorch_{name}")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(text, f"<{name} on PyTorch>", "exec"), module.__dict__)
    return module


def gpt(lib, dropout=0.0):
    source = models if lib is badak else on_pytorch("gpt")
    return source.GPT(source.GPTConfig(vocab_size=11, context=8, d_model=16, heads=4, layers=2, dropout=dropout))


def bert(lib, dropout=0.0):
    source = models if lib is badak else on_pytorch("bert")
    return source.BERT(source.BERTConfig(vocab_size=11, context=8, d_model=16, heads=4, layers=2, dropout=dropout))


def classifier(lib, dropout=0.0, **options):
    source = models if lib is badak else on_pytorch("classifier")
    config = source.ClassifierConfig(rows=6, row_width=5, d_model=16, heads=4, dropout=dropout, **options)
    return source.build_classifier(config)


def cls_classifier(lib, dropout=0.0):
    return classifier(lib, dropout, pooling="cls", norm_first=False)


def seq2seq(lib, dropout=0.0, **options):
    source = models if lib is badak else on_pytorch("seq2seq")

    class Mirror(source.Seq2Seq):
        """The same sentence on both sides; where it has zeros, its source is padded."""

        def forward(self, ids):
            return super().forward(ids, ids)

    sizes = {"encoder_layers": 2, "decoder_layers": 2, "feedforward": 24, "dropout": dropout}
    return Mirror(source.Seq2SeqConfig(vocab_size=11, context=8, d_model=16, heads=4, **sizes, **options))


def seq2seq_of_the_paper(lib, dropout=0.0):
    return seq2seq(lib, dropout, norm_first=False, activation="gelu", positions="halves", output_bias=True)


def mean_classifier(lib, dropout=0.0):
    return classifier(lib, dropout, pooling="mean")


class Translate:
    """nn.Transformer with a linear head, as a recipe for either library."""

    def __call__(self, lib, dropout=0.0):
        class Model(lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.source, self.target = lib.nn.Embedding(11, 16), lib.nn.Embedding(11, 16)
                self.transformer = lib.nn.Transformer(16, 4, 2, 2, 32, dropout, batch_first=True)
                self.head = lib.nn.Linear(16, 11)

            def forward(self, ids):
                mask = self.transformer.generate_square_subsequent_mask(ids.shape[1], dtype=self.head.weight.dtype)
                y = self.transformer(self.source(ids), self.target(ids), tgt_mask=mask, tgt_is_causal=True)
                return self.head(y)

        return Model()


IDS, PICTURES = [ints(11, 3, 8), ints(11, 3, 8)], [uniform(0.0, 1.0, 3, 6, 5), ints(10, 3)]
MODELS = {
    "gpt": (gpt, IDS),
    "bert": (bert, IDS),
    "classifier": (classifier, PICTURES),
    "classifier with a class token": (cls_classifier, PICTURES),
    "seq2seq": (seq2seq, IDS),
    "seq2seq of the paper": (seq2seq_of_the_paper, IDS),
    "classifier from the mean": (mean_classifier, PICTURES),
    "transformer": (Translate(), IDS),
}
each_model = pytest.mark.parametrize("make, specs", MODELS.values(), ids=list(MODELS))


def loss_of(lib, model, x, target):
    logits = model(lib.from_numpy(x))
    return lib.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), lib.from_numpy(target).reshape(-1))


@each_model
@both_dtypes
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_outputs_and_every_gradient_agree(make, specs, dtype, dropout):
    theirs, ours = twins(lambda lib: make(lib, dropout), dtype)
    assert_same_state(ours, theirs, 18, "from the same seed")
    copy_state(theirs, ours)
    x, target = draw(specs, dtype)
    for lib, model in ((torch, theirs), (badak, ours)):
        lib.manual_seed(1)
        loss_of(lib, model, x, target).backward()
    assert_same_gradients(ours, theirs, DEEP, "in training")
    with torch.no_grad(), badak.no_grad():
        logits = [model.eval()(lib.from_numpy(x)) for lib, model in ((badak, ours), (torch, theirs))]
    assert_same(*logits, DEEP, "logits")


@pytest.mark.thin(8)
@each_model
@both_dtypes
@pytest.mark.parametrize(
    "optimizer", [("SGD", {"lr": 0.1, "momentum": 0.9}), ("AdamW", {"lr": 1e-2, "eps": 1e-3})], ids=lambda o: o[0]
)
def test_ten_losses_agree_with_dropout_and_the_same_seed(make, specs, dtype, optimizer):
    theirs, ours = twins(lambda lib: make(lib, 0.1), dtype)
    copy_state(theirs, ours)
    kind, options = optimizer
    trails = []
    for lib, model in ((badak, ours), (torch, theirs)):
        opt = getattr(lib.optim, kind)(model.parameters(), **options)
        lib.manual_seed(2)
        trail = []
        for step in range(10):
            loss = loss_of(lib, model, *draw(specs, dtype, seed=step))
            opt.zero_grad()
            loss.backward()
            opt.step()
            trail.append(loss.item())
        trails.append(trail)
    np.testing.assert_allclose(*trails, rtol=DEEP * np.finfo(dtype).eps)
    assert_same_state(ours, theirs, DEEP if kind == "SGD" else 10 * DEEP, "after ten steps")


@each_model
def test_weights_move_both_ways(make, specs):
    theirs, ours = twins(make, "float32")
    badak_first = make(badak)
    theirs.load_state_dict(
        {key: torch.from_numpy(value.detach().numpy().copy()) for key, value in badak_first.state_dict().items()}
    )
    copy_state(theirs, ours)
    x, _ = draw(specs, "float32")
    outputs = [m.eval()(badak.from_numpy(x)).detach().numpy() for m in (badak_first, ours)]
    np.testing.assert_array_equal(*outputs)
