"""Numbers that went through int8, and their gradients, against PyTorch."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError, IndexOutOfRangeError, ShapeError

X = (np.random.default_rng(0).standard_normal((4, 5)) * 3).astype(np.float32)


@pytest.mark.parametrize("options", [(0.1, 3, -8, 7), (0.07, 2, 0, 255), (2.0, 0, -128, 127), "by lines", "by columns"])
def test_values_and_gradients(options):
    found = []
    for lib in (torch, badak):
        x = lib.tensor(X, requires_grad=True)
        if type(options) is tuple:
            y = lib.fake_quantize_per_tensor_affine(x, *options)
        else:
            axis = 0 if options == "by lines" else 1
            n = X.shape[axis]
            y = lib.fake_quantize_per_channel_affine(x, lib.linspace(0.05, 0.4, n), lib.arange(n, dtype=lib.int32), axis, -7, 8)
        y.square().sum().backward()
        found.append((y.detach().numpy(), x.grad.numpy()))
    for theirs, ours in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_what_cannot_be():
    x = badak.tensor(X)
    scale, zero = badak.ones(3), badak.zeros(3, dtype=badak.int32)
    with pytest.raises(ArgumentError, match="should be less than or equal to `quant_max`; got 8 and 7"):
        badak.fake_quantize_per_tensor_affine(x, 0.1, 0, 8, 7)
    with pytest.raises(ArgumentError, match="`zero_point` must be between `quant_min` and `quant_max`"):
        badak.fake_quantize_per_tensor_affine(x, 0.1, 300, -8, 7)
    with pytest.raises(ShapeError, match=r"\(3,\) and \(3,\) for 4 entries"):
        badak.fake_quantize_per_channel_affine(x, scale, zero, 0, -8, 7)
    with pytest.raises(IndexOutOfRangeError, match="`axis` must be between 0 and number of dimensions of input; got 4"):
        badak.fake_quantize_per_channel_affine(x, scale, zero, 4, -8, 7)
