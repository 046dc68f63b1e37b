"""LSTM layers with a projected state, live against PyTorch: same weights from the same seed, outputs, states, gradients."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError

X = np.random.default_rng(0).standard_normal((5, 3, 4)).astype(np.float32)
H0, C0 = (np.random.default_rng(i).standard_normal((4, 3, n)).astype(np.float32) for i, n in ((1, 2), (2, 6)))


def run(lib, given: bool, packed: bool, **options):
    """Outputs, last states and gradients of two layers in both directions."""
    lib.manual_seed(3)
    layer = lib.nn.LSTM(4, 6, 2, bidirectional=True, proj_size=2, **options)
    x = lib.tensor(X, requires_grad=True)
    state = (lib.tensor(H0, requires_grad=True), lib.tensor(C0, requires_grad=True)) if given else None
    rnn = lib.nn.utils.rnn
    y, (h, c) = layer(rnn.pack_padded_sequence(x, lib.tensor([2, 5, 3]), enforce_sorted=False) if packed else x, state)
    y = rnn.pad_packed_sequence(y)[0] if packed else y
    ((y**2).sum() + (h * h).sum() + c.sin().sum()).backward()
    leaves = [x, *(state or ()), *layer.parameters()]
    return [y, h, c, *(leaf.grad for leaf in leaves)], list(layer.state_dict()), repr(layer), len(layer.all_weights[0])


@pytest.mark.filterwarnings("ignore:LSTM with projections:UserWarning")
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("options", [{}, {"bias": False}], ids=str)
def test_a_projected_lstm_is_pytorchs(given, packed, options):
    (theirs, *rest), (ours, *our_rest) = (run(lib, given, packed, **options) for lib in (torch, badak))
    assert rest == our_rest
    for a, b in zip(theirs, ours, strict=True):
        scale = max(1.0, a.abs().max().item())
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-5, atol=2e-6 * scale)


def test_sizes_without_meaning_are_refused():
    for size in (-1, 6, 7):
        with pytest.raises(ArgumentError, match="proj_size has to be smaller than hidden_size"):
            badak.nn.LSTM(4, 6, proj_size=size)
    with pytest.raises(ArgumentError, match="only supported for LSTM"):
        badak.nn.modules.rnn.RNNBase("GRU", 4, 6, proj_size=2)


WRONG = {
    "an empty sequence": lambda lib: lib.nn.RNN(3, 4)(lib.ones(0, 2, 3)),
    "an empty sequence after the batch": lambda lib: lib.nn.GRU(3, 4, batch_first=True)(lib.ones(2, 0, 3)),
    "a state for one": lambda lib: lib.nn.RNNCell(10, 20)(lib.ones(3, 10), lib.ones(1, 20)),
    "a narrow state": lambda lib: lib.nn.GRUCell(10, 20)(lib.ones(3, 10), lib.ones(3, 1)),
    "a narrow input": lambda lib: lib.nn.RNNCell(10, 20)(lib.ones(3, 1), lib.ones(3, 20)),
    "a second state for one": lambda lib: lib.nn.LSTMCell(10, 20)(lib.ones(3, 10), (lib.ones(3, 20), lib.ones(1, 20))),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_refused_in_pytorchs_words(name):
    texts = []
    for lib in (torch, badak):
        with pytest.raises(RuntimeError) as caught:
            WRONG[name](lib)
        texts.append(str(caught.value).partition("\n")[0])
    assert texts[0] == texts[1] and "\nfix: " in str(caught.value)


def test_the_names_of_all_weights_are_pytorchs():
    for options in ({}, {"num_layers": 2, "bidirectional": True}, {"bias": False}):
        ours, theirs = (lib.nn.LSTM(3, 4, **options) for lib in (badak, torch))
        assert ours._flat_weights_names == theirs._flat_weights_names and ours._all_weights == theirs._all_weights


def test_all_weights_are_in_one_list():
    for options in ({}, {"bias": False}, {"num_layers": 2, "bidirectional": True}):
        ours, theirs = (lib.nn.GRU(3, 4, **options)._flat_weights for lib in (badak, torch))
        assert [tuple(weight.shape) for weight in ours] == [tuple(weight.shape) for weight in theirs]


def test_weights_that_are_given_as_one_list_are_computed_with():
    found = []
    for lib in (torch, badak):
        layer = lib.nn.GRU(3, 4)
        layer._flat_weights = [lib.full(tuple(weight.shape), 0.1) for weight in layer._flat_weights]
        found.append(layer(lib.ones(2, 1, 3))[0].tolist())
    assert np.allclose(*found)
