"""The commonest mistakes as people write them: in layers of their own, in functional calls, around nn.Transformer and its kin.

Each variant names its situation (docs/reference/errors.md), what badak must say, and what it must propose.
"""

import warnings

import pytest

import badak
from badak import nn, optim
from badak.core import errors
from badak.core.errors import BadakError
from badak.nn import functional as F

x = badak.randn


class Own(nn.Module):
    """Attention as lectures write it."""

    def __init__(self, C=8, H=2):
        super().__init__()
        self.H, self.D = H, C // H
        self.q, self.k, self.v = (nn.Linear(C, C) for _ in range(3))

    def forward(self, x, memory=None):
        memory = x if memory is None else memory
        cut = lambda y: y.view(y.shape[0], -1, self.H, self.D).transpose(1, 2)  # noqa: E731
        q, k, v = cut(self.q(x)), cut(self.k(memory)), cut(self.v(memory))
        return (F.softmax(q @ k.transpose(-2, -1), dim=-1) @ v).transpose(1, 2).flatten(2)


class Holder(nn.Module):
    """Holds what it is given, as an attribute."""

    def __init__(self, held):
        super().__init__()
        self.held, self.out = held, nn.Linear(2, 2)


def labels(*shape, value=0):
    return badak.full(shape, value)


def causal(T):
    return badak.ones(T, T).triu(1).bool()


def overwritten(make):
    make().sum().backward()


def add_to_sigmoid():
    y = nn.Linear(4, 4)(x(2, 4)).sigmoid()
    y += 1
    return y


def write_into_weights():
    weights = F.softmax(nn.Linear(4, 4)(x(2, 4)), dim=-1)
    weights[0] = 0
    return weights * weights


def double_after_norm():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    h = layer(x(2, 3, 8))
    again = layer.norm1(h)
    h.mul_(2)
    return again * again


def twice(make):
    loss = make()
    loss.backward()
    loss.backward()


def carried(step):
    state = None
    for _ in range(2):
        out, state = step(state)
        out.sum().backward()


def one_encoding_two_losses():
    memory, head = nn.TransformerEncoderLayer(8, 2, 16)(x(5, 2, 8)), nn.Linear(8, 2)
    for _ in range(2):
        head(memory).sum().backward()


def probabilities():
    e = nn.Linear(4, 3)(x(4, 4)).exp()
    return e / e.sum(-1, keepdim=True)


layer, state = nn.Linear(2, 2), nn.Linear(2, 2).state_dict()
cell, gru = nn.LSTMCell(3, 4), nn.GRU(3, 4, batch_first=True)
ids = badak.tensor([[3, 10]])
VARIANTS = {
    "08 encoder, mask": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 1)(x(2, 5, 8), mask=causal(5)),
                         "(length=2, batch=5) because batch_first=False", "batch_first=True"),
    "08 encoder, padding": (lambda: nn.TransformerEncoderLayer(8, 2, 16)(x(2, 5, 8), src_key_padding_mask=labels(2, 5).bool()),
                            "(batch, keys) = (5, 2), but got (2, 5)", "batch_first=True"),
    "08 Transformer": (lambda: nn.Transformer(8, 2, 1, 1, 16)(x(2, 7, 8), x(2, 5, 8)),
                       "read as (length, batch, dim) have batch 7 vs 5", "batch_first=True"),
    "09 own": (lambda: Own()(x(2, 5, 8), x(3, 7, 8)), "the shapes are (2, 2) and (3, 2)", "aligned from the right"),
    "09 functional": (lambda: F.scaled_dot_product_attention(x(2, 2, 5, 4), x(3, 2, 7, 4), x(3, 2, 7, 4)),
                      "different batches: query=(2, 2, 5, 4), key=(3, 2, 7, 4)", "the same leading axes"),
    "09 Transformer": (lambda: nn.Transformer(8, 2, 1, 1, 16, batch_first=True)(x(2, 7, 8), x(3, 5, 8)),
        "have batch 2 vs 3", ""),
    "10 own": (lambda: Own(10, 4)(x(2, 5, 10)), "invalid for input of size 100", "the tensor has shape (2, 5, 10)"),
    "10 functional": (lambda: F.multi_head_attention_forward(x(5, 2, 10), x(5, 2, 10), x(5, 2, 10), 10, 4, x(30, 10), x(30), None,
                                                             None, False, 0.0, x(10, 10), x(10)),
        "10 not divisible by num_heads 4", "num_heads"),
    "10 Transformer": (lambda: nn.Transformer(10, 4),
        "embed_dim=10 is not divisible by num_heads=4", "num_heads in {1, 2, 5, 10}"),
    "11 nll": (lambda: F.nll_loss(F.log_softmax(x(4, 3), -1), badak.arange(4)),
        "target[3] = 3 but logits have 3 classes", "labels from 0"),
    "11 text": (lambda: nn.CrossEntropyLoss()(x(2, 5, 7).transpose(1, 2), labels(2, 5, value=7)),
        "10 of 10 labels", "Linear(..., 8)"),
    "11 by hand": (lambda: -F.log_softmax(x(4, 3), -1).gather(1, badak.arange(4)[:, None]),
        "index 3 is out of bounds", "valid are 0..2"),
    "11 one_hot": (lambda: F.one_hot(badak.arange(4), 3), "smaller than num_classes; got id 3", "num_classes=4"),
    "12 functional": (lambda: F.embedding(ids, x(10, 4)), "input_ids[0, 1] = 10 but Embedding has 10 rows", "vocab_size=11"),
    "12 own table": (lambda: x(10, 4)[ids], "index 10 is out of bounds", "(10, 4)"),
    "12 floats": (lambda: nn.Embedding(10, 4)(ids.float()), "expected ids of dtype int64", "ids.long()"),
    "12 ignored labels": (lambda: nn.Embedding(10, 4)(labels(1, 2, value=-100)), "min id -100", "replace negative ids"),
    "13 own mask": (lambda: x(1, 2, 9, 9).masked_fill(causal(8), 0), "(1, 2, 9, 9) and (8, 8)", ""),
    "13 functional": (lambda: F.scaled_dot_product_attention(*x(3, 1, 2, 9, 4), ~causal(8)),
        "mask (8, 8) does not broadcast", "(9, 9)"),
    "13 encoder": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)(x(1, 9, 8), src_mask=causal(8)),
                   "(8, 8), but should be (queries, keys) = (9, 9)", "a mask of shape (9, 9)"),
    "13 positions": (lambda: nn.PositionalEncoding(4, max_len=8, batch_first=True)(x(1, 9, 4)),
        "length 9 > max_positions 8", "max_len=9"),
    "13 own table": (lambda: nn.Embedding(8, 4)(badak.arange(9)), "ids count up 0..8, as positions do", "a table of 9 positions"),
    "13 own table, rows": (lambda: nn.Embedding(8, 4)(badak.arange(3, 12).expand(2, 9)),
        "ids count up 3..11, as positions do", "texts of at most 8 tokens"),
    "14 one-hot": (lambda: F.cross_entropy(x(4, 3), F.one_hot(badak.arange(4) % 3, 3)),
        "target (4, 3) holds one-hot rows as badak.int64", "target.argmax(1) gives class ids"),
    "14 nll": (lambda: F.nll_loss(x(2, 5, 7), labels(2, 5)),
        "(2, 5, 7) are read as (batch, classes, d1)", "logits.flatten(0, 1)"),
    "14 module": (lambda: nn.CrossEntropyLoss()(x(2, 5, 7), labels(2, 5)),
        "(2, 5, 7) are read as (batch, classes, d1)", "logits.flatten(0, 1)"),
    "14 one flattened": (lambda: F.cross_entropy(x(10, 7), labels(2, 5)), "logits (10, 7)", "class ids of shape (10,)"),
    "14 one shifted": (lambda: F.cross_entropy(x(8, 7), labels(10)),
        "Expected target size [8], got [10]", "one label for each row"),
    "16 Sequential": (lambda: nn.CrossEntropyLoss()(nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1))(x(4, 4)), labels(4)),
                      "received probabilities", "pass logits"),
    "16 by hand": (lambda: F.cross_entropy(probabilities(), labels(4)), "received probabilities", "pass logits"),
    "16 NLLLoss's twin": (lambda: F.binary_cross_entropy(nn.Linear(4, 1)(100 * x(9, 4)), badak.ones(9, 1)),
        "between 0 and 1", "takes logits"),
    "17 list": (lambda: list(Holder([nn.TransformerEncoderLayer(2, 2)]).parameters()),
        "Holder.held is a list with 1 module:", "nn.ModuleList("),
    "17 dict": (lambda: optim.Adam(Holder({"a": layer}).parameters()),
        "Holder.held is a dict with 1 module:", "nn.ModuleDict("),
    "17 parameters": (lambda: list(Holder([nn.Parameter(x(2))]).parameters()),
        "a list with 1 parameter: they are", "nn.ParameterList("),
    "17 Sequential of a list": (lambda: nn.Sequential([layer]), "list is not a Module subclass", "nn.Sequential(*modules)"),
    "17 ModuleList called": (lambda: nn.ModuleList([layer])(x(1, 2)),
        'missing the required "forward"', "x = layers[0](x)"),
    "18 module": (lambda: optim.Adam(layer), "Adam: params is the module Linear itself", "model.parameters()"),
    "18 method": (lambda: optim.SGD(layer.parameters, lr=0.1), "a function that was not called", "with parentheses"),
    "18 state": (lambda: optim.AdamW(state), "a dict of tensors by name", "model.parameters()"),
    "20 own": (lambda: overwritten(add_to_sigmoid), "output of sigmoid is at version 1", "y = y + 1"),
    "20 functional": (lambda: overwritten(write_into_weights), "overwritten by __setitem__", "out-of-place"),
    "20 encoder": (lambda: overwritten(double_after_norm), "input 0 of layer_norm", "out-of-place"),
    "24 own": (lambda: twice(lambda: Own()(x(2, 5, 8)).sum()), "a second time", "compute the loss again"),
    "24 functional": (lambda: twice(lambda: F.cross_entropy(layer(x(2, 2)), labels(2))),
        "a second time", "compute the loss again"),
    "24 encoder": (one_encoding_two_losses, "a second time", "Two losses of one graph"),
    "27 whole checkpoint": (lambda: layer.load_state_dict({"model": state, "step": 3}),
        "the weights stand under 'model'", "checkpoint['model']"),
    "27 compiled": (lambda: layer.load_state_dict({f"_orig_mod.{k}": v for k, v in state.items()}),
        "a compiled model", 'strip_prefix="_orig_mod."'),
    "27 module": (lambda: layer.load_state_dict(nn.Linear(2, 2)), "to be dict-like", "other.state_dict()"),
    "27 path": (lambda: layer.load_state_dict("model.pt"), "to be dict-like", "badak.load(path)"),
    "33 module": (lambda: nn.BCEWithLogitsLoss()(nn.Sigmoid()(nn.Linear(4, 1)(x(4, 4))), badak.ones(4, 1)),
        "what sigmoid made", "pass logits"),
    "34 GRU": (lambda: carried(lambda h: gru(x(2, 5, 3), h)), "a second time", "h = h.detach()"),
    "34 LSTMCell": (lambda: carried(lambda h: (lambda new: (new[0], new))(cell(x(2, 3), h))),
        "a second time", "h = h.detach()"),
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_of_a_mistake_is_answered(name):
    make, cause, fix = VARIANTS[name]
    errors.forget_warnings()
    badak.manual_seed(0)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            make()
        except BadakError as error:
            said = str(error)
        else:
            said = str(heard[0].message)
    before, _, after = said.partition("\nfix: ")
    assert cause in before and fix in after, said
    assert after and len(said) < 600
