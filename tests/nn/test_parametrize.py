"""Parametrized weights, against PyTorch's."""

import importlib

import pytest
import torch

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


def refused(framework, case):
    """What a wrong parametrization makes of a layer: the kind of error, or what the layer has then."""
    nn, parametrize = framework.nn, framework.nn.utils.parametrize
    wrong = {
        "dtype": {"forward": lambda self, x: x.bool()},
        "shape": {"forward": lambda self, x: x[:-1]},
        "pair": {"forward": lambda self, x: (x, x)},
        "inverse of nothing": {"forward": lambda self, x: x, "right_inverse": lambda self, x: None},
        "inverse of a pair": {"forward": lambda self, x: x, "right_inverse": lambda self, x: (x, None)},
        "inverse of another dtype": {"forward": lambda self, x: x.float(), "right_inverse": lambda self, x: x.double()},
        "inverse of another shape": {"forward": lambda self, x: x, "right_inverse": lambda self, x: x[:-1]},
        "no inverse": {"forward": lambda self, x: x},
        "right": {"forward": lambda self, x: x * 2, "right_inverse": lambda self, x: x / 2},
    }
    name, before = case
    layer = nn.Linear(3, 3).eval()
    held = layer.weight
    good = type("Good", (nn.Module,), {"forward": lambda self, x: x, "right_inverse": lambda self, x: x})
    if before:
        parametrize.register_parametrization(layer, "weight", good())
    made = type("Wrong", (nn.Module,), wrong[name])()
    try:
        parametrize.register_parametrization(layer, "weight", made)
        layer.weight = framework.ones(3, 3)
    except (ValueError, TypeError, RuntimeError) as error:
        return "refused", isinstance(error, (ValueError, RuntimeError)), parametrize.is_parametrized(layer, "weight"), made.training
    same = layer.parametrizations.weight.original is held
    return layer.weight.tolist(), same, layer.parametrizations.weight[0].training, [name for name, _ in layer.named_buffers()]


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize(
    "name",
    ["dtype", "shape", "pair", *(f"inverse of {what}" for what in ("nothing", "a pair", "another dtype", "another shape"))]
    + ["no inverse", "right"],
)
def test_a_wrong_parametrization_is_refused_where_pytorch_refuses_it(name, before):
    assert refused(badak, (name, before)) == refused(torch, (name, before))


@pytest.mark.parametrize("right_inverse", [lambda self, x: None, lambda self, x: (x, None), lambda self, x: 3])
def test_what_is_wrong_with_a_parametrization_is_said_in_two_lines(right_inverse):
    register, layer = badak.nn.utils.parametrize.register_parametrization, badak.nn.Linear(2, 2)
    wrong = type("Wrong", (badak.nn.Module,), {"forward": lambda self, x: x, "right_inverse": right_inverse})()
    for given in ((layer, wrong), (layer, 3), (3, wrong)):
        with pytest.raises((ArgumentError, TypeError)) as caught:
            register(given[0], "weight", given[1])
        assert str(caught.value).count("\nfix: ") == 1


def test_a_parametrized_buffer_stays_a_buffer():
    parametrize = badak.nn.utils.parametrize
    norm = badak.nn.BatchNorm1d(3)
    parametrize.register_parametrization(norm, "running_mean", badak.nn.Identity())
    assert "parametrizations.running_mean.original" in dict(norm.named_buffers())
    parametrize.remove_parametrizations(norm, "running_mean")
    assert "running_mean" in dict(norm.named_buffers())


@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("name", [None, "weight", "other"])
def test_parametrizations_are_handed_over_as_pytorchs(pair, name):
    found = []
    for lib in (torch, badak):
        nn, parametrize = lib.nn, importlib.import_module(f"{lib.__name__}.nn.utils.parametrize")
        double = {"forward": lambda self, x: 2 * x, "right_inverse": lambda self, x: x / 2}
        halves = {"forward": lambda self, a, b: a - b, "right_inverse": lambda self, x: (x + 1, x * 0 + 1)}
        lib.manual_seed(0)
        one, other = nn.Linear(2, 3), nn.Linear(2, 3)
        one.other = nn.Parameter(lib.ones(2))
        parametrize.register_parametrization(one, "weight", type("Part", (nn.Module,), halves if pair else double)())
        parametrize.register_parametrization(one, "other", type("Part", (nn.Module,), double)())
        assert parametrize.transfer_parametrizations_and_params(one, other, name) is other
        original = one.parametrizations[name or "weight"]._parameters
        here = other.parametrizations[name or "weight"]._parameters
        assert all(here[key] is value for key, value in original.items())
        values = {key: getattr(other, key).tolist() for key in ("weight", "other") if name in (None, key)}
        found.append((values, sorted(other.state_dict())))
    assert found[0] == found[1]
    plain = badak.nn.Linear(2, 2)
    assert badak.nn.utils.parametrize.transfer_parametrizations_and_params(badak.nn.Linear(2, 2), plain) is plain
    with pytest.raises(ArgumentError, match="does not have a parametrization on bias"):
        badak.nn.utils.parametrize.transfer_parametrizations_and_params(one, plain, "bias")
