"""AdaptiveLogSoftmaxWithLoss against PyTorch: same seed same weights, log-probabilities, loss, gradients, what is refused."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError
from tests.nn.twins import normal

CASES = [(10, [2, 5], {}), (10, [4, 8], {"div_value": 2.0, "head_bias": True}), (20, [5, 10, 15], {"div_value": 1.5}), (4, [2], {})]
TARGETS = {"all parts": lambda n: np.arange(n), "frequent": lambda n: np.zeros(5, np.int64), "rare": lambda n: np.full(1, n - 1)}


def run(lib, case, target):
    n, cutoffs, settings = CASES[case]
    lib.manual_seed(case)
    layer = lib.nn.AdaptiveLogSoftmaxWithLoss(8, n, cutoffs, **settings)
    at = TARGETS[target](n)
    x = lib.from_numpy(normal(1, len(at), 8)).requires_grad_()
    output, loss = layer(x, lib.from_numpy(at))
    loss.backward()
    alone = layer(x[0], lib.from_numpy(at)[0]).output
    grads = [p.grad for p in layer.parameters() if p.grad is not None and p.numel()]
    values = (output, loss, x.grad, alone, layer.log_prob(x), layer.predict(x), *layer.parameters(), *grads)
    return repr(layer), list(layer.state_dict()), [value.detach().numpy() for value in values]


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_numbers_are_pytorchs(case, target):
    ours, theirs = run(badak, case, target), run(torch, case, target)
    assert ours[:2] == theirs[:2]
    for mine, other in zip(ours[2], theirs[2], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
        assert mine.shape == other.shape


def test_log_probabilities_are_those_of_a_distribution_and_reset_draws_anew():
    layer = badak.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5], div_value=2.0)
    assert badak.allclose(layer.log_prob(badak.randn(4, 8)).exp().sum(1), badak.ones(4))
    before = [p.detach().clone() for p in layer.parameters()]
    layer.reset_parameters()
    assert not any(badak.equal(p, old) for p, old in zip(layer.parameters(), before) if p.numel())


WRONG = {
    "nothing": (lambda nn, ones: nn.AdaptiveLogSoftmaxWithLoss(16, 20, []), "cutoffs should be a sequence of length larger"),
    "twice": (lambda nn, ones: nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 15, 15]), "cutoffs should be a sequence of unique,"),
    "falling": (lambda nn, ones: nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 15, 10]), "cutoffs should be a sequence of unique,"),
    "too far": (lambda nn, ones: nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10, 20]), "cutoffs should be a sequence of unique,"),
    "zero": (lambda nn, ones: nn.AdaptiveLogSoftmaxWithLoss(16, 20, [0, 10]), "cutoffs should be a sequence of unique,"),
    "rows": (lambda nn, ones: layer(nn)(ones(2, 16), ones(3).long()), "Input and target should have the same size in the batch"),
    "target": (lambda nn, ones: layer(nn)(ones(2, 16), ones(2).long() * 20), "Target values should be in"),
    "negative": (lambda nn, ones: layer(nn)(ones(2, 16), -ones(2).long()), "Target values should be in"),
    "two dims": (lambda nn, ones: layer(nn)(ones(2, 16), ones(2, 1).long()), "0D or 1D target tensor expected, multi-target"),
    "no batch": (lambda nn, ones: layer(nn)(ones(2), ones(2).long()), "1D target tensor expects 2D input tensors"),
    "a batch": (lambda nn, ones: layer(nn)(ones(2, 16), ones(()).long()), "0D target tensor expects 1D input tensors"),
}


def layer(nn):
    return nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10, 15], div_value=2.0)


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_refused_as_in_pytorch(name):
    call, text = WRONG[name]
    with pytest.raises((ValueError, RuntimeError), match=text):
        call(torch.nn, torch.ones)
    with pytest.raises(BadakError, match=text) as caught:
        call(badak.nn, badak.ones)
    assert "\nfix: " in str(caught.value)
