"""nn.grad and torch.convolution against PyTorch: values, gradients of gradients, and the kinds that convolutions have."""

import itertools

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError
from tests.nn.twins import normal

AXES = {1: (7,), 2: (7, 6), 3: (5, 4, 6)}
SETTINGS = [{}, {"stride": 2}, {"padding": 1, "groups": 2}, {"stride": 3, "dilation": 2, "padding": 2}]


def shapes(axes, settings):
    """Of input, weight and result."""
    groups = settings.get("groups", 1)
    x, w = (2, 4, *AXES[axes]), (6, 4 // groups, *(2,) * axes)
    return x, w, tuple(getattr(torch.nn.functional, f"conv{axes}d")(torch.ones(x), torch.ones(w), None, **settings).shape)


def gradients(lib, axes, settings):
    """Both gradients of a convolution, and what they are differentiated in."""
    x_shape, w_shape, y_shape = shapes(axes, settings)
    x, w, dy = (
        lib.from_numpy(normal(seed, *shape).astype(np.float64)).requires_grad_()
        for seed, shape in enumerate([x_shape, w_shape, y_shape])
    )
    dx = getattr(lib.nn.grad, f"conv{axes}d_input")(x_shape, w, dy, **settings)
    dw = getattr(lib.nn.grad, f"conv{axes}d_weight")(x, w_shape, dy, **settings)
    (dx.square().sum() + dw.square().sum()).backward()
    return [t.detach().numpy() for t in (dx, dw, x.grad, w.grad, dy.grad)]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("axes", AXES)
def test_gradients_of_convolutions_are_pytorchs(axes, settings):
    for mine, other in zip(gradients(badak, axes, settings), gradients(torch, axes, settings), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


def test_a_gradient_of_another_shape_is_refused_and_none_is_recorded_under_no_grad():
    weight = badak.ones(1, 1, 2).requires_grad_()
    with pytest.raises(BadakError, match="\nfix: "):
        badak.nn.grad.conv1d_input((1, 1, 4), weight, badak.ones(1, 1, 2))
    with badak.no_grad():
        assert not badak.nn.grad.conv1d_input((1, 1, 3), weight, badak.ones(1, 1, 2)).requires_grad
    assert badak.nn.functional.grad.conv1d_input is badak.nn.grad.conv1d_input


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("transposed", [False, True])
def test_convolution_is_pytorchs_and_of_its_kind(axes, transposed):
    for stride, dilation, groups in itertools.product((1, 2), (1, 2), (1, 2)):
        many = [(n,) * axes for n in (stride, 1, dilation)]
        found = []
        for lib in (badak, torch):
            x = lib.from_numpy(normal(0, 2, 4, *AXES[axes]))
            w = lib.from_numpy(normal(1, *((4, 6 // groups) if transposed else (6, 4 // groups)), *(2,) * axes))
            b = lib.from_numpy(normal(2, 6))
            given = (x, w, b, *many, transposed, (0,) * axes, groups)
            found.append((lib.convolution(*given).numpy(), kind(lib, *given)))
        np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-4, atol=1e-5)
        assert found[0][1] == found[1][1]


def kind(lib, *given):
    """The kind of a convolution, in PyTorch without oneDNN and NNPACK."""
    if lib is badak:
        return badak._C._select_conv_backend(*given).name
    before = torch.backends.nnpack.set_flags(False)
    torch._C._set_mkldnn_enabled(False)
    try:
        return torch._C._select_conv_backend(*given).name
    finally:
        torch.backends.nnpack.set_flags(*before)
        torch._C._set_mkldnn_enabled(True)


@pytest.mark.parametrize("shape", [(0, 4, 7), (2, 0, 7), (0, 4, 7, 6)])
def test_a_convolution_of_nothing_is_empty(shape):
    axes = len(shape) - 2
    names = []
    for lib in (badak, torch):
        given = (lib.zeros(shape), lib.zeros(6, shape[1], *(2,) * axes), None, *[(n,) * axes for n in (1, 0, 1)], False)
        names.append(kind(lib, *given, (0,) * axes, 1))
    assert names == ["Empty", "Empty"]


def test_what_no_convolution_takes_is_refused():
    for input, weight in [((2, 4, 7), (6, 3, 2)), ((2, 4), (6, 4)), ((2, 4, 0), (6, 4, 0))]:
        given = (badak.ones(input), badak.ones(weight), None, [1], [0], [1], False, [0], 1)
        with pytest.raises(BadakError, match="\nfix: "):
            badak._C._select_conv_backend(*given)
