"""Orthogonal polynomials: values as PyTorch's, slopes as differences say."""

import numpy as np
import pytest
import torch

import badak

NAMES = sorted(name for name in dir(torch.special) if "_polynomial_" in name)


@pytest.mark.parametrize("name", NAMES)
def test_values_and_slopes(name):
    ours, theirs = getattr(badak.special, name), getattr(torch.special, name)
    x = np.linspace(-1, 2.5, 15)
    for n in (0, 1, 4, 7):
        expected = theirs(torch.tensor(x), n).numpy()
        np.testing.assert_allclose(ours(badak.tensor(x), n).numpy(), expected, rtol=1e-11, atol=1e-11)
        at = badak.tensor(x[:4], requires_grad=True)
        assert badak.autograd.gradcheck(lambda x, n=n: ours(x, n), (at,))
    assert ours(3, badak.tensor([0, 1])).shape == (2,) and ours(badak.tensor(2.0), -1).item() == 0


def test_a_degree_has_no_gradient():
    n = badak.tensor([2.0], requires_grad=True)
    with pytest.raises(badak.core.errors.NotSupportedError, match="degree.*\nfix: n.detach"):
        badak.special.legendre_polynomial_p(badak.tensor([0.5]), n).sum().backward()
    x = badak.tensor([0.5], requires_grad=True)
    (dx,) = badak.autograd.grad(badak.special.hermite_polynomial_h(x, 3).sum(), x)
    assert dx.item() == 24 * 0.25 - 12
    with pytest.raises(badak.core.errors.GraphError, match="differentiated again"):
        badak.autograd.grad(badak.special.hermite_polynomial_h(x, 3).sum(), x, create_graph=True)
