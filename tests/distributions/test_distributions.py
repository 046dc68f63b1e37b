"""Distributions against PyTorch's: the same draws from the same seed, values and gradients."""

import itertools
import math

import numpy as np
import pytest
import torch

import badak
from tests.parity.compare import DEEP, assert_same
from tests.tiers import looped

rng = np.random.default_rng(0)
ROW = rng.standard_normal((3, 4)).astype(np.float32)
P = rng.uniform(0.05, 0.95, (3, 4)).astype(np.float32)
MAKE = {
    "Categorical logits": ("Categorical", {"logits": ROW}),
    "Categorical probs": ("Categorical", {"probs": P}),
    "Categorical row": ("Categorical", {"logits": ROW[0]}),
    "Bernoulli logits": ("Bernoulli", {"logits": ROW}),
    "Bernoulli probs": ("Bernoulli", {"probs": P}),
    "Bernoulli number": ("Bernoulli", {"probs": 0.3}),
    "Normal": ("Normal", {"loc": ROW, "scale": P}),
    "Normal numbers": ("Normal", {"loc": 1.0, "scale": 2.0}),
    "Normal broadcast": ("Normal", {"loc": ROW[:, :1], "scale": P[:1]}),
    "Uniform": ("Uniform", {"low": ROW, "high": ROW + P}),
    "Uniform numbers": ("Uniform", {"low": -1, "high": 2.0}),
}
each = pytest.mark.parametrize("name, given", MAKE.values(), ids=list(MAKE))


def made(lib, name, given, grad=False):
    values = {key: lib.from_numpy(v.copy()).requires_grad_(grad) if isinstance(v, np.ndarray) else v for key, v in given.items()}
    return getattr(lib.distributions, name)(**values), [v for v in values.values() if not isinstance(v, float | int)]


@each
@looped(shape=[(), (5,), (2, 3)])
def test_draws_are_those_of_pytorch(name, given, shape):
    drawn, shown = [], []
    for lib in (badak, torch):
        lib.manual_seed(3)
        distribution, _ = made(lib, name, given, grad=True)
        shown.append(repr(distribution).replace("badak", "torch"))
        x = distribution.sample(shape)
        assert not x.requires_grad
        drawn.append(x)
    assert shown[0] == shown[1]
    assert str(drawn[0].dtype).split(".")[1] == str(drawn[1].dtype).split(".")[1]
    assert_same(drawn[0], drawn[1], 32)


@each
def test_log_prob_entropy_and_moments_with_their_gradients(name, given):
    found = []
    for lib in (badak, torch):
        torch.manual_seed(7)
        x = made(torch, name, given)[0].sample((5,))
        distribution, leaves = made(lib, name, given, grad=True)
        x = lib.from_numpy(x.numpy()) if lib is badak else x
        values = [distribution.log_prob(x), distribution.entropy()]
        extra = [distribution.perplexity()]
        extra += [] if name == "Categorical" else [distribution.mean, distribution.variance, distribution.stddev]
        if hasattr(distribution, "cdf") and name in ("Normal", "Uniform"):
            values.append(distribution.cdf(x))
        if leaves:
            sum((v * v).sum() for v in values).backward()
        assert tuple(distribution.batch_shape) == tuple(extra[0].shape) and tuple(distribution.event_shape) == ()
        found.append([*values, *extra, *(leaf.grad for leaf in leaves)])
    for ours, theirs in zip(*found, strict=True):
        assert_same(ours, theirs, DEEP)


@pytest.mark.parametrize("name", ["Normal", "Normal broadcast", "Uniform"])
def test_rsample_hands_gradients_on(name):
    found = []
    for lib in (badak, torch):
        lib.manual_seed(3)
        distribution, leaves = made(lib, *MAKE[name], grad=True)
        x = distribution.rsample((6,))
        (x * x).sum().backward()
        found.append([x, *(leaf.grad for leaf in leaves)])
    for ours, theirs in zip(*found):
        assert_same(ours, theirs, DEEP)


@pytest.mark.parametrize("name", ["Categorical logits", "Bernoulli probs", "Normal", "Uniform"])
def test_divergences(name):
    found = []
    for lib in (badak, torch):
        p, q = (made(lib, MAKE[name][0], {k: v * scale for k, v in MAKE[name][1].items()})[0] for scale in (0.5, 1.0))
        found.append(lib.distributions.kl_divergence(p, q))
    assert_same(*found, DEEP)


def test_impossible_classes():
    for lib in (badak, torch):
        row = lib.distributions.Categorical(logits=lib.tensor([0.0, -math.inf, 0.0]))
        assert row.entropy().item() == pytest.approx(math.log(2)) and row.log_prob(lib.tensor(1)).item() == -math.inf
        certain = lib.distributions.Categorical(probs=lib.tensor([1.0, 0.0]))
        assert lib.distributions.kl_divergence(row.expand((2,)), row.expand((2,))).shape == (2,)
        assert certain.mode.item() == 0 and math.isnan(certain.mean.item())
        assert certain.enumerate_support().tolist() == [0, 1]


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_what_is_refused(lib):
    D, t = lib.distributions, lib.tensor
    for call in (
        lambda: D.Categorical(),
        lambda: D.Categorical(probs=t([1.0]), logits=t([1.0])),
        lambda: D.Categorical(probs=t(1.0)),
        lambda: D.Categorical(probs=t([-1.0, 2.0])),
        lambda: D.Categorical(logits=t([math.nan, 2.0])),
        lambda: D.Categorical(logits=t([1.0, 2.0])).log_prob(t(2)),
        lambda: D.Bernoulli(probs=1.5),
        lambda: D.Bernoulli(probs=0.5).log_prob(t(0.5)),
        lambda: D.Normal(0.0, 0.0),
        lambda: D.Normal(t([0.0, 1.0]), 1.0).log_prob(t([1.0, 2.0, 3.0])),
        lambda: D.Normal(0.0, 1.0).log_prob(1.0),
        lambda: D.Uniform(1.0, 1.0),
        lambda: D.Uniform(0.0, 1.0).log_prob(t(2.0)),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(NotImplementedError):
        D.Categorical(logits=t([1.0])).rsample()
    assert D.Normal(0.0, -1.0, validate_args=False).scale.item() == -1


def test_expanding():
    for name in MAKE:
        ours, theirs = (made(lib, *MAKE[name])[0] for lib in (badak, torch))
        shape = (2, *ours.batch_shape)
        assert ours.expand(shape).batch_shape == tuple(theirs.expand(shape).batch_shape)
        found, expected = ours.expand(shape).entropy(), theirs.expand(shape).entropy()
        assert_same(found, expected, DEEP)


def test_a_pair_of_kinds_without_a_formula_has_a_remedy():
    D, one = badak.distributions, badak.tensor([1.0, 2.0])
    for p, q in itertools.permutations([D.Normal(one, one), D.Poisson(one)], 2):
        assert (D.kl_divergence(p, p).abs() < 1e-6).all()
        with pytest.raises(NotImplementedError, match="fix: the mean of"):
            D.kl_divergence(p, q)
