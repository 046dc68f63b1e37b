"""Weight initialisation: PyTorch's draws, in place, through views, and outside of any gradient."""

import math

import numpy as np
import pytest
import torch

import badak
from badak import nn
from badak.core.errors import ArgumentError, BadakWarning
from badak.nn import init
from badak.tensor import Tensor
from tests.tiers import looped

THEIRS = torch.nn.init
SHAPES = [(3, 4), (40, 50), (7, 3), (3, 5, 4)]

SCHEMES = [
    ("uniform_", (-0.2, 0.3), {}),
    ("normal_", (0.2, 0.3), {}),
    ("trunc_normal_", (), {}),
    ("trunc_normal_", (0.0, 0.02, -0.04, 0.04), {}),
    ("trunc_normal_", (0.0, 1.0, 1.5, 2.5), {}),  # a tail: drawn by acceptance
    ("trunc_normal_", (), dict(a=-0.1, b=0.1)),
    ("xavier_uniform_", (), dict(gain=1.3)),
    ("xavier_normal_", (), dict(gain=1.3)),
    ("kaiming_uniform_", (), dict(a=math.sqrt(5))),
    ("kaiming_uniform_", (), dict(mode="fan_out", nonlinearity="relu")),
    ("kaiming_normal_", (), dict(mode="fan_out", nonlinearity="selu")),
]


def pair(shape, dtype=np.float32, turned=False):
    """The same zeros as a torch and as a badak tensor."""
    theirs, ours = torch.from_numpy(np.zeros(shape, dtype)), np.zeros(shape, dtype)
    return (theirs.transpose(0, 1), Tensor._of(ours.swapaxes(0, 1))) if turned else (theirs, Tensor._of(ours))


def run(name, theirs, ours, args, named):
    torch.manual_seed(5)
    badak.manual_seed(5)
    getattr(THEIRS, name)(theirs, *args, **named)
    assert getattr(init, name)(ours, *args, **named) is ours
    assert np.array_equal(torch.get_rng_state().numpy(), badak.get_rng_state()._array)


@looped(turned=[False, True])
@looped(dtype=[np.float32, np.float64])
@looped(shape=SHAPES)
@pytest.mark.parametrize("name, args, named", SCHEMES)
def test_schemes_draw_the_bits_of_torch(name, args, named, shape, dtype, turned):
    theirs, ours = pair(shape, dtype, turned)
    run(name, theirs, ours, args, named)
    assert np.array_equal(theirs.numpy(), ours._array)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 2e-6), (np.float64, 1e-14)])
def test_orthogonal_equals_that_of_torch_to_rounding(shape, dtype, tolerance):
    theirs, ours = pair(shape, dtype)
    run("orthogonal_", theirs, ours, (), dict(gain=1.3))
    np.testing.assert_allclose(ours._array, theirs.numpy(), rtol=0, atol=tolerance)
    flat = ours._array.reshape(shape[0], -1).astype(np.float64) / 1.3
    product = flat @ flat.T if shape[0] <= flat.shape[1] else flat.T @ flat
    np.testing.assert_allclose(product, np.eye(len(product)), atol=tolerance)


@pytest.mark.parametrize(
    "name, shape, args",
    [
        ("eye_", (3, 5), ()),
        ("dirac_", (4, 3, 5), ()),
        ("dirac_", (6, 3, 5, 4), (3,)),
        ("dirac_", (2, 2, 3, 3, 3), ()),
        ("constant_", (3,), (0.1,)),
        ("ones_", (2, 3), ()),
        ("zeros_", (2, 3), ()),
        ("sparse_", (10, 4), (0.3,)),
    ],
)
def test_fixed_patterns_equal_those_of_torch(name, shape, args):
    theirs, ours = pair(shape)
    run(name, theirs.fill_(7), ours.fill_(7), args, {})
    assert np.array_equal(theirs.numpy(), ours._array)


@pytest.mark.parametrize("name", ["uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "kaiming_normal_", "orthogonal_"])
def test_a_generator_is_drawn_from_where_one_is_given(name):
    theirs, ours = pair((20, 30))
    before = badak.get_rng_state()._array
    getattr(THEIRS, name)(theirs, generator=torch.Generator().manual_seed(3))
    getattr(init, name)(ours, generator=badak.Generator().manual_seed(3))
    np.testing.assert_allclose(ours._array, theirs.numpy(), atol=2e-6 if name == "orthogonal_" else 0, rtol=0)
    assert np.array_equal(badak.get_rng_state()._array, before)


@pytest.mark.parametrize(
    "name, param", [("linear", None), ("conv2d", None), ("sigmoid", None), ("tanh", None), ("relu", None), ("selu", None),
                    ("leaky_relu", None), ("leaky_relu", 0.2), ("leaky_relu", 1)],
)  # fmt: skip
def test_gains_equal_those_of_torch(name, param):
    assert init.calculate_gain(name, param) == THEIRS.calculate_gain(name, param)


def test_a_vector_has_no_fans_and_the_error_is_pythons_own():
    with pytest.raises(ValueError, match="fewer than 2 dimensions\nfix: .*normal_") as caught:
        init.xavier_uniform_(badak.empty(3))
    assert type(caught.value) is ValueError


def test_fans_count_the_receptive_field():
    assert init._calculate_fan_in_and_fan_out(badak.empty(4, 3, 5, 2)) == (30, 40)


def test_a_parameter_stays_a_leaf_that_requires_grad():
    p = nn.Parameter(badak.zeros(4, 5))
    assert init.normal_(p) is p
    assert p.requires_grad and p.is_leaf and p.std() > 0


def test_what_is_written_to_data_is_written_through():
    p = nn.Parameter(badak.zeros(4, 5))
    init.xavier_uniform_(p.data)
    init.ones_(p.data[0])
    assert (p[0] == 1).all() and (p[1:] != 0).all()


def test_layers_start_with_the_weights_of_torch():
    torch.manual_seed(1)
    badak.manual_seed(1)
    theirs, ours = torch.nn.Linear(20, 30), nn.Linear(20, 30)
    assert np.array_equal(theirs.weight.detach().numpy(), ours.weight._array)
    assert np.array_equal(theirs.bias.detach().numpy(), ours.bias._array)
    theirs, ours = torch.nn.Embedding(50, 8), nn.Embedding(50, 8)
    assert np.array_equal(theirs.weight.detach().numpy(), ours.weight._array)


def test_old_names_warn_and_work():
    for name in ("uniform", "normal", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal", "orthogonal", "eye"):
        with pytest.warns(FutureWarning, match=f"nn.init.{name}_"):
            getattr(init, name)(badak.empty(3, 4))


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: init.kaiming_uniform_(badak.empty(3, 3), mode="fan"), "Mode fan not supported"),
        (lambda: init.calculate_gain("gelu"), "Unsupported nonlinearity gelu"),
        (lambda: init.calculate_gain("leaky_relu", "x"), "not a valid number"),
        (lambda: init.eye_(badak.empty(3)), "2 dimensions"),
        (lambda: init.sparse_(badak.empty(3), 0.1), "2 dimensions"),
        (lambda: init.dirac_(badak.empty(3, 3)), "3, 4, or 5 dimensions"),
        (lambda: init.dirac_(badak.empty(3, 3, 3), 2), "divisible by groups"),
        (lambda: init.orthogonal_(badak.empty(3)), "2 or more dimensions"),
    ],
)
def test_mistakes_are_named(call, text):
    with pytest.raises(ArgumentError, match=text):
        call()
    with pytest.raises(ValueError):
        call()


def test_doubtful_calls_are_warned_of():
    with pytest.warns(BadakWarning, match="more than 2 std"):
        init.trunc_normal_(badak.empty(3, 3), mean=5.0)
    with pytest.warns(BadakWarning, match="no-op"):
        init.kaiming_uniform_(badak.empty(0, 3))
