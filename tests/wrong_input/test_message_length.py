"""No message prints numbers by the thousand: one argument of a right call becomes very large, of a kind drawn at random."""

import copy
import random
import warnings

import numpy as np
import pytest

import badak
from badak import nn, optim
from badak.core.errors import BadakError
from tests.tiers import looped
from tests.wrong_input.calls import BY_HAND, find

# PyTorch's samples take seconds to import: `make check` has the rows of tests/samples.
pytestmark = pytest.mark.slow

MOST = 600  # characters of a message
HUGE = {
    "tensor": badak.arange(1_000_000) / 3,
    "integers": badak.arange(1_000_000),
    "array": np.arange(1_000_000) / 3,
    "list": (np.arange(100_000) / 3).tolist(),
    "tuple": tuple(range(100_000)),
    "rows": [[0.5, 1.5]] * 50_000,
    "text": "x" * 1_000_000,
    "dict": dict(enumerate(range(100_000))),
    "set": frozenset(range(100_000)),
    "list of tensors": [badak.ones(3)] * 20_000,
    "list of tensor": [badak.arange(1_000_000)],
    "bytes": b"x" * 1_000_000,
    "number": 10**400,
}
X = badak.zeros(2, 3)
CALLS = {
    **{name: row for name, rows in BY_HAND.items() for row in rows[:1] if isinstance(row, list)},
    "nn.Linear": [3, 4], "nn.Embedding": [3, 4], "nn.LayerNorm": [3], "nn.Conv2d": [3, 4, 2], "nn.MultiheadAttention": [8, 2],
    "nn.Dropout": [0.5], "nn.BatchNorm1d": [3], "nn.LSTM": [3, 4], "nn.TransformerEncoderLayer": [8, 2], "nn.GELU": ["tanh"],
    "nn.functional.cross_entropy": [badak.zeros(2, 3), badak.tensor([0, 1])],
    "nn.functional.linear": [badak.zeros(2, 3), badak.zeros(4, 3)], "nn.functional.embedding": [X.long(), X],
    "nn.functional.layer_norm": [badak.zeros(2, 3), (3,)], "nn.functional.gelu": [badak.zeros(2), "none"],
    "nn.functional.scaled_dot_product_attention": [badak.zeros(1, 2, 3, 4)] * 3,
    "nn.functional.pad": [badak.zeros(2, 3), (1, 1)], "nn.functional.one_hot": [badak.tensor([0]), 3],
    "optim.Adam": [[badak.zeros(2, requires_grad=True)], 0.1], "optim.SGD": [[badak.zeros(2, requires_grad=True)], 0.1],
    "zeros": [2, 3], "full": [(2, 3), 1.0], "cat": [[badak.zeros(2)], 0], "stack": [[badak.zeros(2)], 0], "einsum": ["ij->i", X],
    "reshape": [badak.zeros(6), (2, 3)], "permute": [badak.zeros(2, 3), (1, 0)], "gather": [X, 1, badak.zeros(2, 1).long()],
    "index_select": [X, 0, badak.tensor([0])], "where": [X > 0, X, X], "masked_fill": [X, X > 0, 1.0], "matmul": [X, X.T],
    "sum": [X, 0], "softmax": [X, 0], "topk": [X, 1], "split": [X, 1], "chunk": [X, 2], "roll": [X, 1], "flip": [X, (0,)],
    "tensor": [[1.0]], "arange": [3], "linspace": [0, 1, 3], "load": ["file"], "manual_seed": [0], "set_num_threads": [1],
    "nn.utils.clip_grad_norm_": [[badak.zeros(2, requires_grad=True)], 1.0], "audit": [nn.Linear(2, 2), badak.zeros(1, 2)],
    "autograd.grad": [badak.zeros(2, requires_grad=True).sum(), [badak.zeros(2, requires_grad=True)]],
}  # fmt: skip


def spoken(call) -> list[str]:
    """The messages of a call, warnings as well."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except (BadakError, TypeError, ValueError, RuntimeError, IndexError, OSError, AttributeError, OverflowError) as error:
            return [str(error), *(str(w.message) for w in caught)]
        except MemoryError:
            pass
    return [str(w.message) for w in caught]


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_no_message_is_long(seed):
    draw = random.Random(seed)
    for name in draw.sample(sorted(CALLS), 40):
        function, arguments = find(name), list(CALLS[name])
        if function is None or (arguments and isinstance(arguments[-1], dict)):
            continue
        place, kind = draw.randrange(len(arguments)), draw.choice(sorted(HUGE))
        arguments[place] = copy.copy(HUGE[kind])  # which functions in place write to
        for text in spoken(lambda: function(*arguments)):  # noqa: B023
            assert len(text) <= MOST, f"{name}, argument {place} is the {kind}: {len(text)} characters: {text[:300]}"


@looped(kind=sorted(HUGE))
@pytest.mark.parametrize("member", ["lr", "params", "state", "module", "index", "item"])
def test_no_message_of_objects_is_long(kind, member):
    huge, layer = HUGE[kind], nn.Linear(2, 2)
    calls = {
        "lr": lambda: optim.AdamW(layer.parameters(), lr=huge),
        "params": lambda: optim.SGD(huge, lr=0.1),
        "state": lambda: layer.load_state_dict({"weight": huge, "bias": huge}),
        "module": lambda: layer(huge),
        "index": lambda: badak.zeros(3)[huge],
        "item": lambda: badak.zeros(3).view(huge),
    }
    for text in spoken(calls[member]):
        assert len(text) <= MOST, f"{len(text)} characters: {text[:300]}"
