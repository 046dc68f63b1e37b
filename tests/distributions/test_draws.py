"""Draws by rejection: the numbers of a seed are PyTorch's, bit for bit, and so is the place in the stream afterwards."""

import warnings

import numpy as np
import pytest
import torch

import badak

DRAWS = {
    "gamma": lambda lib, d: lib.distributions.Gamma(lib.tensor([0.1, 0.5, 1.0, 2.5, 30.0], dtype=d), lib.tensor(0.7, dtype=d)),
    "beta": lambda lib, d: lib.distributions.Beta(lib.tensor([0.5, 2.0, 5.0], dtype=d), lib.tensor([0.5, 1.0, 3.0], dtype=d)),
    "dirichlet": lambda lib, d: lib.distributions.Dirichlet(lib.tensor([0.5, 2.0, 5.0, 0.01], dtype=d)),
    "poisson": lambda lib, d: lib.distributions.Poisson(lib.tensor([0.0, 0.3, 4.0, 9.9, 10.0, 55.0, 1000.0], dtype=d)),
    "binomial": lambda lib, d: lib.distributions.Binomial(
        lib.tensor([1.0, 5.0, 20.0, 100.0, 1000.0, 0.0], dtype=d), lib.tensor([0.3, 0.9, 0.5, 0.2, 0.7, 0.5], dtype=d)
    ),
    "binomial, certain": lambda lib, d: lib.distributions.Binomial(lib.tensor(9.0, dtype=d), lib.tensor([0.0, 1.0], dtype=d)),
    "binomial, rare": lambda lib, d: lib.distributions.Binomial(  # the waiting time is past what an integer holds
        lib.tensor(1000.0, dtype=d), lib.tensor([1e-30, 1e-20, 1e-10, 1e-3], dtype=d)
    ),
    "chi2": lambda lib, d: lib.distributions.Chi2(lib.tensor([1.0, 3.0, 7.5], dtype=d)),
    "student": lambda lib, d: lib.distributions.StudentT(
        lib.tensor([1.0, 3.0, 7.5], dtype=d), lib.tensor([1.0, 2.0, 0.0], dtype=d)
    ),
    "fisher": lambda lib, d: lib.distributions.FisherSnedecor(lib.tensor([1.0, 3.0], dtype=d), lib.tensor([4.0, 2.0], dtype=d)),
    "negative binomial": lambda lib, d: lib.distributions.NegativeBinomial(
        lib.tensor([5.0, 20.0], dtype=d), lib.tensor([0.3, 0.7], dtype=d)
    ),
}


@pytest.mark.thin(20)
@pytest.mark.parametrize("kernels", ("reference", "numba"))
@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_gives_pytorchs_numbers(name, dtype, kernels):
    for seed, shape in ((0, (300,)), (5, ()), (6, (3, 7))):
        found = []
        for lib in (badak, torch):
            with badak.kernels.use(kernels):
                lib.manual_seed(seed)
                drawn = DRAWS[name](lib, getattr(lib, dtype)).sample(shape)
                found.append([drawn.numpy(), lib.randn(3).numpy(), lib.rand(2).numpy()])
        for ours, theirs in zip(*found):
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape and np.array_equal(ours, theirs)


@pytest.mark.slow
def test_the_functions_take_any_layout_and_a_generator():
    for draw in (
        lambda lib, g: lib.poisson(lib.arange(30.0).reshape(5, 6).t(), generator=g),
        lambda lib, g: lib.binomial(lib.full((4, 3), 20.0), lib.linspace(0, 1, 3).expand(4, 3), generator=g),
        lambda lib, g: lib._standard_gamma(lib.tensor([0.0, 0.5, 3.0]), g),
        lambda lib, g: lib._sample_dirichlet(lib.ones(2, 3), g),
        lambda lib, g: lib.poisson(lib.tensor([3.0, 20.0]).half().expand(50, 2), generator=g),
    ):
        ours, theirs = (draw(lib, lib.Generator().manual_seed(4)) for lib in (badak, torch))
        assert np.array_equal(ours.double().numpy(), theirs.double().numpy())


@pytest.mark.slow
def test_two_seeds_differ_and_gradients_arrive():
    a = badak.tensor([0.5, 3.0], requires_grad=True)
    badak.manual_seed(0)
    first = badak.distributions.Dirichlet(a).rsample((4,))
    assert not badak.equal(first, badak.distributions.Dirichlet(a).rsample((4,)))
    (first**2).sum().backward()
    assert badak.isfinite(a.grad).all() and (a.grad != 0).all()


def test_the_gradient_of_a_draw_may_have_a_history_and_no_gradient():
    for lib in (badak, torch):
        a, w = lib.tensor([0.5, 3.0], requires_grad=True), lib.tensor([2.0, 1.0], requires_grad=True)
        lib.manual_seed(0)
        (slope,) = lib.autograd.grad((lib.distributions.Gamma(a, lib.ones(2)).rsample() * w).sum(), a, create_graph=True)
        lib.manual_seed(0)
        (plain,) = lib.autograd.grad((lib.distributions.Gamma(a, lib.ones(2)).rsample() * w).sum(), a)
        assert lib.equal(slope, plain)
        with pytest.raises(RuntimeError):
            slope.sum().backward()


def test_nonsense_is_refused():
    for wrong in (
        lambda: badak.poisson(badak.tensor([-1.0])),
        lambda: badak.poisson(badak.tensor([1])),
        lambda: badak.poisson(badak.tensor([float("nan")])),
        lambda: badak.poisson(badak.tensor([float("inf")])),
        lambda: badak._standard_gamma(badak.tensor([float("nan")])),
        lambda: badak._standard_gamma(badak.tensor([1.0, -0.5])),
        lambda: badak.binomial(badak.tensor([-1.0]), badak.tensor([0.5])),
        lambda: badak.binomial(badak.tensor([3.0, 1.0]), badak.tensor([0.5, 0.5, 0.5])),
    ):
        with pytest.raises(badak.core.errors.BadakError, match="\nfix: "):
            wrong()


@pytest.mark.parametrize("shape", [(), (3,), (2, 40)])
def test_what_is_drawn_in_rounds_is_pytorchs(shape):
    """VonMises takes what a later round accepts, Wishart draws again what is sound."""
    found = []
    for lib in (torch, badak):
        families = lib.distributions
        drawn = []
        for seed in range(3):
            lib.manual_seed(seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for d in (
                    families.VonMises(lib.zeros(2), lib.tensor([0.5, 4.0])),
                    families.Wishart(lib.tensor(4.0), lib.eye(2)),
                    families.Wishart(lib.tensor([4.0, 5.0]), lib.eye(3)),
                ):
                    drawn += d.sample(shape).reshape(-1).tolist()
            drawn.append(lib.rand(1).item())
        found.append(drawn)
    np.testing.assert_allclose(*found, rtol=2e-4, atol=1e-5)
