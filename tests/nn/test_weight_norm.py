"""Weights by length and direction, and by their largest singular value, against PyTorch's."""

import copy
import warnings

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError

LAYERS = [
    lambda nn: nn.Linear(3, 4),
    lambda nn: nn.Conv1d(2, 4, 3, groups=2, padding=1),
    lambda nn: nn.ConvTranspose1d(2, 3, 2),
]
INPUTS = [(5, 3), (2, 2, 6), (2, 2, 6)]
WAYS = {
    "parametrized": lambda lib, layer: lib.nn.utils.parametrizations.weight_norm(layer, dim=0),
    "other dim": lambda lib, layer: lib.nn.utils.parametrizations.weight_norm(layer, dim=1),
    "all dims": lambda lib, layer: lib.nn.utils.parametrizations.weight_norm(layer, dim=None),
    "hook": lambda lib, layer: lib.nn.utils.weight_norm(layer),
    "spectral": lambda lib, layer: lib.nn.utils.parametrizations.spectral_norm(layer, n_power_iterations=2),
}


def trained(lib, make, shape, way):
    """A layer, its weight after three steps, the weight evaluated, its state_dict."""
    lib.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch calls the hook deprecated
        layer = WAYS[way](lib, make(lib.nn))
    optimizer = lib.optim.SGD(layer.parameters(), lr=0.1)
    x = lib.from_numpy(np.random.default_rng(0).standard_normal(shape).astype("f"))
    for _ in range(3):
        optimizer.zero_grad()
        layer(x).square().mean().backward()
        optimizer.step()
    layer.eval()
    y = layer(x).detach().numpy()
    return layer, y, {name: value.numpy().copy() for name, value in layer.state_dict().items()}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make, shape", list(zip(LAYERS, INPUTS)), ids=["Linear", "Conv1d", "ConvTranspose1d"])
def test_three_steps_are_pytorchs(make, shape, way):
    ours, y, state = trained(badak, make, shape, way)
    theirs, expected, other = trained(torch, make, shape, way)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    assert list(state) == list(other) and repr(ours) == repr(theirs)
    for name in state:
        np.testing.assert_allclose(state[name], other[name], rtol=1e-4, atol=1e-5)
    fresh = WAYS[way](badak, make(badak.nn)).eval()
    fresh.load_state_dict(ours.state_dict())
    np.testing.assert_array_equal(fresh(badak.ones(*shape)).detach().numpy(), ours(badak.ones(*shape)).detach().numpy())


@pytest.mark.parametrize("way", WAYS)
def test_a_layer_on_the_meta_device_is_normalised(way):
    """How a model is built into which a checkpoint is loaded."""
    with warnings.catch_warnings(), badak.device("meta"):
        warnings.simplefilter("ignore")
        layer = WAYS[way](badak, badak.nn.Linear(3, 4))
    assert layer.weight.shape == (4, 3) and {p.device.type for p in layer.state_dict().values()} == {"meta"}


def test_the_older_names_are_read_by_the_parametrization():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        older = badak.nn.utils.weight_norm(badak.nn.Linear(2, 3))
    newer = badak.nn.utils.parametrizations.weight_norm(badak.nn.Linear(2, 3))
    newer.load_state_dict(older.state_dict())
    np.testing.assert_allclose(newer.weight.detach().numpy(), older.weight.detach().numpy(), rtol=1e-6)


def test_removing_leaves_the_weight_as_it_was():
    for norm, remove in (
        (badak.nn.utils.weight_norm, badak.nn.utils.remove_weight_norm),
        (
            badak.nn.utils.parametrizations.weight_norm,
            lambda layer: badak.nn.utils.parametrize.remove_parametrizations(layer, "weight"),
        ),
    ):
        layer = norm(badak.nn.Linear(2, 3))
        before = layer.weight.detach().numpy().copy()
        remove(layer)
        np.testing.assert_array_equal(layer.weight.detach().numpy(), before)
        assert sorted(layer.state_dict()) == ["bias", "weight"] and isinstance(layer.weight, badak.nn.Parameter)
        assert type(layer) is badak.nn.Linear


def test_an_assigned_weight_becomes_length_and_direction():
    layer = badak.nn.utils.parametrizations.weight_norm(badak.nn.Linear(2, 3))
    layer.weight = badak.arange(6.0).reshape(3, 2) + 1
    np.testing.assert_allclose(layer.weight.detach().numpy(), np.arange(6.0).reshape(3, 2) + 1, rtol=1e-6)
    np.testing.assert_allclose(copy.deepcopy(layer).weight.detach().numpy(), layer.weight.detach().numpy())


def test_what_cannot_be_done_is_said():
    layer = badak.nn.utils.weight_norm(badak.nn.Linear(2, 3))
    with pytest.raises(ArgumentError, match="Cannot register two weight_norm hooks on the same parameter weight\nfix: remove"):
        badak.nn.utils.weight_norm(layer)
    with pytest.raises(ArgumentError, match="weight_norm of 'bias' not found in Linear"):
        badak.nn.utils.remove_weight_norm(layer, "bias")
    parametrized = badak.nn.utils.parametrizations.weight_norm(badak.nn.Linear(2, 3))
    with pytest.raises(ArgumentError, match="parametrized in terms of a sequence of tensors.\nfix: leave_parametrized=True"):
        badak.nn.utils.parametrize.remove_parametrizations(parametrized, "weight", leave_parametrized=False)
    with pytest.raises(ArgumentError, match="has no parameter or buffer with name 'wait'\nfix: name='weight'"):
        badak.nn.utils.parametrizations.spectral_norm(badak.nn.Linear(2, 3), "wait")
