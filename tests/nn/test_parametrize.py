"""Parametrized weights, against PyTorch's."""

import pytest

import badak
from badak.core.errors import ArgumentError


def symmetric_training(framework):
    """Three steps of a layer whose weight is symmetric and of length one."""
    nn, parametrize = framework.nn, framework.nn.utils.parametrize

    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

    class Unit(nn.Module):
        def forward(self, x):
            return nn.functional.normalize(x, dim=-1)

        def right_inverse(self, x):
            return x * 2

    framework.manual_seed(0)
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Unit())
    parametrize.register_parametrization(layer, "weight", Symmetric())
    optimizer = framework.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        with parametrize.cached():
            layer(layer(framework.ones(2, 3))).square().sum().backward()
        optimizer.step()
    names = sorted(layer.state_dict())
    trained = layer.weight.detach().numpy().copy()
    kind, is_one = parametrize.type_before_parametrizations(layer), parametrize.is_parametrized(layer, "weight")
    parametrize.remove_parametrizations(layer, "weight")
    return (
        trained,
        layer.weight.detach().numpy(),
        (names, kind.__name__, is_one, type(layer).__name__, sorted(layer.state_dict())),
    )


def test_it_trains_as_pytorchs_does():
    import torch.nn.utils.parametrize  # noqa: F401

    ours, theirs = symmetric_training(badak), symmetric_training(torch)
    assert ours[2] == theirs[2]
    for a, b in zip(ours[:2], theirs[:2]):
        assert abs(a - b).max() < 1e-5  # some ulp of ten products and two norms


def test_what_cannot_be_parametrized_is_said():
    register = badak.nn.utils.parametrize.register_parametrization
    with pytest.raises(ArgumentError, match="name wait\nfix: one of \\['weight', 'bias'\\]"):
        register(badak.nn.Linear(1, 1), "wait", badak.nn.Identity())
    with pytest.raises(ArgumentError, match="may not change the shape"):
        register(badak.nn.Linear(2, 1), "weight", badak.nn.Flatten(0))
