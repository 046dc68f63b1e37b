"""erf, activations, softmax, dropout and optimizer updates in NumPy against PyTorch and against the math module."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from badak.kernels import reference
from badak.kernels.reference.error_function import erf
from tests.kernels.twin import DTYPES, assert_close, normal, strided, twin
from tests.tiers import looped

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
SHAPES = [(3, 5), (0, 4), (1, 1), (7,), (2, 3, 4)]


def test_erf_is_exact_to_two_units_in_the_last_place():
    x = np.concatenate([np.linspace(-7, 7, 20001), [0.46875, -0.46875, 1e-300, 1e300, np.inf, -np.inf]])
    exact = np.array([math.erf(v) for v in x])
    with np.errstate(all="ignore"):
        assert (np.abs(erf(x) - exact) <= 4.5e-16 * np.abs(exact)).all()
        single = x.astype(np.float32)
        exact = np.array([math.erf(v) for v in single])
        assert (np.abs(erf(single) - exact) <= 2**-24 * np.abs(exact) + 1e-45).all()
    assert math.isnan(erf(np.array([np.nan]))[0])
    assert str(erf(np.array([-0.0]))[0]) == "-0.0"


def test_erf_is_computed_block_by_block_without_seams():
    x = np.linspace(-3, 3, 40_000).reshape(200, 200)
    np.testing.assert_array_equal(erf(x), np.stack([erf(row) for row in x]))


ACTIVATIONS = {
    "gelu": (lambda x: F.gelu(x), lambda x: reference.gelu(x, "none"), lambda dy, x, y: reference.gelu_backward(dy, x, "none")),
    "gelu_tanh": (
        lambda x: F.gelu(x, approximate="tanh"),
        lambda x: reference.gelu(x, "tanh"),
        lambda dy, x, y: reference.gelu_backward(dy, x, "tanh"),
    ),
    "relu": (F.relu, reference.relu, lambda dy, x, y: reference.relu_backward(dy, y)),
    "silu": (F.silu, reference.silu, lambda dy, x, y: reference.silu_backward(dy, x)),
    "tanh": (torch.tanh, reference.tanh, lambda dy, x, y: reference.tanh_backward(dy, y)),
    "sigmoid": (torch.sigmoid, reference.sigmoid, lambda dy, x, y: reference.sigmoid_backward(dy, y)),
}


@each_dtype
@pytest.mark.parametrize("name", ACTIVATIONS)
@looped(shape=SHAPES)
def test_activation_and_its_gradient(name, shape, dtype):
    function, forward, backward = ACTIVATIONS[name]
    x, dy = 2 * normal(0, *shape, dtype=dtype), normal(1, *shape, dtype=dtype)
    (y,), (dx,) = twin(function, [x], [dy])
    assert_close(forward(x), y)
    assert_close(backward(dy, x, forward(x)), dx)
    assert_close(backward(strided(dy), strided(x), strided(forward(strided(x)))), dx)


EXTREMES = [0.0, -0.0, 1e-30, -1e-30, 30.0, -30.0, 88.0, -88.0, 1e4, -1e4]


@each_dtype
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_at_extreme_values(name, dtype):
    function, forward, backward = ACTIVATIONS[name]
    x = np.array(EXTREMES, dtype)
    for one in x:  # one by one: the allowance follows the size of the value
        one = one.reshape(1)
        (y,), (dx,) = twin(function, [one], [np.ones_like(one)])
        np.testing.assert_allclose(forward(one), y, rtol=16 * np.finfo(dtype).eps, atol=np.finfo(np.float32).tiny)
        found = backward(np.ones_like(one), one, forward(one))
        np.testing.assert_allclose(found, dx, rtol=16 * np.finfo(dtype).eps, atol=np.finfo(np.float32).tiny)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_keeps_nan_and_is_finite_where_its_limit_is(name):
    _, forward, backward = ACTIVATIONS[name]
    x = np.array([np.nan, 1e20, -1e20], np.float32)
    y = forward(x)
    assert np.isnan(y[0])
    assert np.isfinite(y[1:]).all()
    assert np.isfinite(backward(np.ones_like(x), x, y)[1:]).all()


SOFTMAX = {
    "softmax": (lambda x: torch.softmax(x, -1), reference.softmax, reference.softmax_backward),
    "log_softmax": (lambda x: torch.log_softmax(x, -1), reference.log_softmax, reference.log_softmax_backward),
}


@each_dtype
@pytest.mark.parametrize("name", SOFTMAX)
@looped(shape=[*SHAPES, (3, 0)])
def test_softmax_and_its_gradient(name, shape, dtype):
    function, forward, backward = SOFTMAX[name]
    x, dy = 3 * normal(0, *shape, dtype=dtype), normal(1, *shape, dtype=dtype)
    (y,), (dx,) = twin(function, [x], [dy])
    assert_close(forward(x), y)
    assert_close(backward(dy, forward(x)), dx)
    assert_close(backward(strided(dy), forward(strided(x))), dx)


@pytest.mark.parametrize("name", SOFTMAX)
def test_softmax_of_masked_and_extreme_rows(name):
    function, forward, backward = SOFTMAX[name]
    inf = np.inf
    x = np.array([[1e4, 0, -1e4], [0, -inf, -inf], [-inf, -inf, -inf], [1e30, 1e30, 0], [np.nan, 0, 1]], np.float32)
    (y,), (dx,) = twin(function, [x], [np.ones_like(x)])
    assert_close(forward(x), y)
    np.testing.assert_allclose(backward(np.ones_like(x), forward(x)), dx, atol=1e-6)


def test_softmax_ignores_a_shift_of_its_input():
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(reference.softmax(x + 1024), reference.softmax(x))


@each_dtype
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
@looped(shape=[(3, 5), (0, 4), (1,)])
def test_dropout_rounds_as_pytorch_does(p, shape, dtype):
    x, keep = normal(0, *shape, dtype=dtype), np.random.default_rng(1).random(shape) >= p
    noise = torch.from_numpy(keep.astype(dtype)).div_(1 - p) if p < 1 else torch.zeros(shape, dtype=torch.float64)
    expected = (torch.from_numpy(x) * noise.to(torch.from_numpy(x).dtype)).numpy()
    np.testing.assert_array_equal(reference.dropout(x, keep, p), expected)
