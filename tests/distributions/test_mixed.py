"""Mixtures, normal vectors of low rank and soft choices against PyTorch: draws, densities, moments, gradients."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError

rng = np.random.default_rng(0)
ROW, P = rng.standard_normal((3, 4)), rng.uniform(0.1, 0.9, (3, 4))
FACTOR, DIAGONAL = rng.standard_normal((3, 4, 2)), rng.uniform(0.5, 2.0, (3, 4))


def mixture(lib, row, p):
    d = lib.distributions
    return d.MixtureSameFamily(d.Categorical(logits=row), d.Normal(row, p))


def of_vectors(lib, row, p):
    d = lib.distributions
    return d.MixtureSameFamily(d.Categorical(probs=p[:, 0]), d.Independent(d.Normal(row, p), 1))


def soft(lib, row):
    return lib.distributions.RelaxedOneHotCategorical(lib.tensor(0.7).double(), logits=row)


MAKE = {
    "MixtureSameFamily": (mixture, ROW, P),
    "MixtureSameFamily of vectors": (of_vectors, ROW, P),
    "LowRankMultivariateNormal": (lambda lib, m, w, d: lib.distributions.LowRankMultivariateNormal(m, w, d), ROW, FACTOR, DIAGONAL),
    "RelaxedBernoulli": (lambda lib, p: lib.distributions.RelaxedBernoulli(lib.tensor(0.7).double(), probs=p), P),
    "RelaxedBernoulli logits": (lambda lib, row: lib.distributions.RelaxedBernoulli(0.7, logits=row), ROW),
    "RelaxedOneHotCategorical": (soft, ROW),
    "RelaxedOneHotCategorical probs": (lambda lib, p: soft(lib, (p / p.sum(-1, keepdim=True)).log()), P),
}  # fmt: skip
NUMBER = {"RelaxedBernoulli logits": "PyTorch asks the temperature for its logarithm, as of a tensor"}


def found(lib, name):
    make, *given = MAKE[name]
    leaves = [lib.from_numpy(a.copy()).requires_grad_() for a in given]
    distribution = make(lib, *leaves)
    lib.manual_seed(2)
    values = [distribution.sample((5,))]
    x = values[0].detach()
    if distribution.has_rsample:
        values.append(distribution.rsample((2,)))
    if name not in NUMBER:
        values.append(distribution.log_prob(x))
    if "Relaxed" not in name:
        values += [distribution.mean, distribution.variance]
    if name == "LowRankMultivariateNormal":
        values += [distribution.entropy(), distribution.covariance_matrix, distribution.precision_matrix]
    if name == "MixtureSameFamily":
        values.append(distribution.cdf(x))
    sum(v.sin().sum() for v in values[1:]).backward()
    wider = distribution.expand((2, *distribution.batch_shape)).sample()
    shapes = tuple(distribution.batch_shape), tuple(distribution.event_shape), tuple(wider.shape)
    return shapes, [v.detach().numpy() for v in values] + [leaf.grad.numpy() for leaf in leaves]


@pytest.mark.parametrize("name", MAKE)
def test_draws_densities_moments_and_gradients_are_pytorchs(name):
    ours, theirs = found(badak, name), found(torch, name)
    assert ours[0] == theirs[0]
    for mine, other in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-9)


REFUSED = {
    "mixture": (lambda d: d.MixtureSameFamily(d.Normal(0.0, 1.0), d.Normal(0.0, 1.0)), "The Mixture distribution needs to be an"),
    "weights": (
        lambda d: d.MixtureSameFamily(d.Categorical(logits=badak.ones(3)), d.Normal(badak.zeros(2), 1.0)),
        "`mixture_distribution component` (3) does not equal",
    ),
    "factor": (
        lambda d: d.LowRankMultivariateNormal(badak.zeros(2), badak.ones(3, 1), badak.ones(2)),
        "cov_factor must be a batch of matrices with shape 2 x m",
    ),
    "diagonal": (
        lambda d: d.LowRankMultivariateNormal(badak.zeros(2), badak.ones(2, 1), badak.ones(3)),
        "cov_diag must be a batch of vectors with shape 2",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name):
    call, text = REFUSED[name]
    with pytest.raises(BadakError) as caught:
        call(badak.distributions)
    assert str(caught.value).startswith(text)


def test_what_was_first_asked_for_without_gradients_has_them_later():
    row = badak.tensor(ROW, requires_grad=True)
    for distribution, name in (
        (badak.distributions.Bernoulli(logits=row), "probs"),
        (badak.distributions.Categorical(probs=row.sigmoid()), "logits"),
        (badak.distributions.Geometric(logits=row), "probs"),
        (badak.distributions.MultivariateNormal(row, badak.eye(4).double() * row.square().sum()), "precision_matrix"),
    ):
        with badak.no_grad():
            getattr(distribution, name)
        assert getattr(distribution, name).requires_grad
