"""Where a call looked right and was not: values, gradients and refusals of functions with rare arguments, against PyTorch."""

import numpy as np
import pytest
import torch

import badak as bk
from badak.errors import BadakError
from tests.nn.twins import agree


def test_the_gradient_of_broadcast_parts_of_complex_numbers():
    a, b = np.arange(1.0, 7.0).reshape(3, 2), np.array(0.5)
    for make in ("complex", "polar"):
        agree(lambda lib, x, y, make=make: lib.view_as_real(getattr(lib, make)(x, y)), a, b)
        agree(lambda lib, x, y, make=make: lib.view_as_real(getattr(lib, make)(x, y)), a[:, :1], a[0])


KEYS = [
    [[0, 1], [1, 0]],
    [[0, 1]],
    [[[0, 1], [1, 0]]],
    [[0, 1], 1],
    [[0], slice(None)],
    [0, 1],
    [None, 0],
    [[True, False], [0, 1]],
    ([[0, 1], [1, 0]],),
]


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_list_as_a_key_means_what_it_means_in_pytorch(key):
    agree(lambda lib, x: x[key], np.arange(6.0).reshape(2, 3))


REFUSED = {
    "reshape": (lambda lib, x: x.reshape(-2), "invalid shape dimension -2 of shape [-2]"),
    "view": (lambda lib, x: x.view(3, -2), "invalid shape dimension -2 of shape [3, -2]"),
    "diag": (lambda lib, x: lib.diag(x.reshape(1, 2, 3)), "diag(): Supports 1D or 2D tensors. Got 3D"),
    "searchsorted": (lambda lib, x: lib.searchsorted(x, "a"), "searchsorted: expected a Tensor or a number; got str"),
    "searchsorted side": (lambda lib, x: lib.searchsorted(x[0], 1.0, side="middle"), "searchsorted: expected side"),
    "linspace": (lambda lib, x: lib.linspace(0, 1, -1), "number of steps must be non-negative; got -1"),
    "logspace": (lambda lib, x: lib.logspace(0, 1, -1), "number of steps must be non-negative; got -1"),
    "requires_grad_": (lambda lib, x: x.requires_grad_("a"), "requires_grad_(): argument 'requires_grad' must be bool, not str"),
    "GRU": (lambda lib, x: lib.nn.GRU(0, 2), "input_size, hidden_size and num_layers must be greater than zero; got 0, 2 and 1"),
    "interpolate": (lambda lib, x: lib.nn.functional.interpolate(x[None], size=-1), "interpolate: Input and output sizes"),
    "meshgrid": (lambda lib, x: lib.meshgrid(), "meshgrid expects a non-empty TensorList"),
    "tensor_split": (lambda lib, x: lib.tensor_split(x, 0), "number of sections must be larger than 0, got 0"),
    "quantile": (lambda lib, x: lib.quantile(x, 1.5), "quantile() q values must be in the range [0, 1]; got 1.5"),
    "flip": (lambda lib, x: x.flip(0, 0), "flip: a dim appears multiple times in the list of dims"),
    "diff": (lambda lib, x: lib.diff(x, -1), "order must be non-negative but got -1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused(name):
    call, text = REFUSED[name]
    with pytest.raises(Exception):  # noqa: B017  (PyTorch's own kinds)
        call(torch, torch.arange(6.0).reshape(2, 3))
    with pytest.raises(BadakError) as caught:
        call(bk, bk.arange(6.0).reshape(2, 3))
    assert str(caught.value).startswith(text) and "\nfix: " in str(caught.value)


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("dim", [None, 0, -1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_quantiles_and_their_gradients(interpolation, dim, keepdim):
    x = np.random.default_rng(0).standard_normal((4, 5))
    q = np.array([0.0, 0.3, 0.5, 1.0])
    agree(lambda lib, x: lib.quantile(x, 0.3, dim, keepdim, interpolation=interpolation), x)
    agree(lambda lib, x: lib.quantile(x, lib.from_numpy(q).to(x.dtype), dim, keepdim, interpolation=interpolation), x)
    x[1, 2] = np.nan
    with_nan = [lib.quantile(lib.from_numpy(x), 0.3, dim, interpolation=interpolation).numpy() for lib in (bk, torch)]
    np.testing.assert_allclose(*with_nan)


def test_the_first_of_equal_maxima_in_reading_order():
    x = np.array([[[[0.0, 1.0], [1.0, 0.0]]]])
    agree(lambda lib, x: lib.nn.functional.adaptive_max_pool2d(x, 1, return_indices=True)[0], x)
    _, place = bk.nn.functional.adaptive_max_pool2d(bk.from_numpy(x), 1, return_indices=True)
    assert place.item() == 1
