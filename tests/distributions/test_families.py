"""Every family against PyTorch's: values, gradients, moments, shapes; draws, where they are PyTorch's, else their means."""

import functools
import itertools
import math

import numpy as np
import pytest
import torch
from scipy import special

import badak
from badak.kernels.reference.special import beta_slope, gamma_slope
from tests.distributions.test_distributions import made
from tests.parity.compare import assert_same

rng = np.random.default_rng(0)
ROW = rng.standard_normal((3, 4))
P = rng.uniform(0.1, 0.9, (3, 4))
A, B = rng.uniform(0.5, 5.0, (3, 4)), rng.uniform(0.5, 5.0, (3, 4))
TRIL = np.tril(rng.standard_normal((4, 4)) * 0.3) + np.diag(rng.uniform(0.5, 2.0, 4))
COUNTS = np.array([4.0, 7.0, 2.0, 5.0])
SAME_DRAWS = {  # the others take gamma, Poisson or binomial numbers, which are not PyTorch's
    "Laplace": ("Laplace", {"loc": ROW, "scale": P}),
    "Cauchy": ("Cauchy", {"loc": ROW, "scale": P}),
    "Exponential": ("Exponential", {"rate": A}),
    "LogNormal": ("LogNormal", {"loc": ROW, "scale": P}),
    "HalfNormal": ("HalfNormal", {"scale": A}),
    "HalfCauchy": ("HalfCauchy", {"scale": A}),
    "Gumbel": ("Gumbel", {"loc": ROW, "scale": P}),
    "Pareto": ("Pareto", {"scale": A, "alpha": B + 2}),
    "Weibull": ("Weibull", {"scale": A, "concentration": B}),
    "Geometric": ("Geometric", {"probs": P}),
    "Geometric logits": ("Geometric", {"logits": ROW}),
    "Multinomial": ("Multinomial", {"total_count": 7, "probs": P}),
    "OneHotCategorical": ("OneHotCategorical", {"logits": ROW}),
    "OneHotCategoricalStraightThrough": ("OneHotCategoricalStraightThrough", {"probs": P}),
    "MultivariateNormal": ("MultivariateNormal", {"loc": ROW, "scale_tril": TRIL}),
    "MultivariateNormal covariance": ("MultivariateNormal", {"loc": ROW, "covariance_matrix": TRIL @ TRIL.T}),
    "MultivariateNormal precision": ("MultivariateNormal", {"loc": ROW[0], "precision_matrix": TRIL @ TRIL.T}),
}
OTHER_DRAWS = {
    "Gamma": ("Gamma", {"concentration": A, "rate": B}),
    "Chi2": ("Chi2", {"df": A}),
    "Beta": ("Beta", {"concentration1": A, "concentration0": B}),
    "Dirichlet": ("Dirichlet", {"concentration": A}),
    "StudentT": ("StudentT", {"df": A + 3, "loc": ROW, "scale": P}),
    "InverseGamma": ("InverseGamma", {"concentration": A + 3, "rate": B}),
    "Poisson": ("Poisson", {"rate": A}),
    "Binomial": ("Binomial", {"total_count": 6, "probs": P}),
    "NegativeBinomial": ("NegativeBinomial", {"total_count": COUNTS, "probs": P}),
}
ALL = SAME_DRAWS | OTHER_DRAWS
each = pytest.mark.parametrize("name, given", ALL.values(), ids=list(ALL))
# PyTorch's trigamma has nine digits, so gradients of digamma are compared to eight
EXACT = 60  # a handful of special functions, each of a few roundings
NO_ENTROPY = ("Multinomial", "Poisson", "NegativeBinomial")


def moved(lib, x):
    return lib.from_numpy(x.numpy().copy()) if lib is badak else x


@pytest.mark.parametrize("name, given", SAME_DRAWS.values(), ids=list(SAME_DRAWS))
def test_draws_and_their_gradients_are_those_of_pytorch(name, given):
    found = []
    for lib in (badak, torch):
        lib.manual_seed(3)
        distribution, leaves = made(lib, name, given, grad=True)
        drawn = distribution.sample((5,))
        if distribution.has_rsample:
            x = distribution.rsample((2,))
            (x.sin() * x.cos()).sum().backward()
        found.append([drawn, *(leaf.grad for leaf in leaves if distribution.has_rsample)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-9)


@each
def test_log_prob_entropy_and_moments_with_their_gradients(name, given):
    found = []
    for lib in (badak, torch):
        torch.manual_seed(7)
        x = moved(lib, made(torch, name, given)[0].sample((5,)))
        distribution, leaves = made(lib, name, given, grad=True)
        values = [distribution.log_prob(x)] + ([] if name in NO_ENTROPY else [distribution.entropy()])
        sum((v.clamp(-50, 50) * v.clamp(-50, 50)).sum() for v in values).backward()
        assert tuple(distribution.batch_shape) == tuple(values[0].shape[1:])
        moments = [distribution.mean, distribution.variance, distribution.stddev]
        moments += [] if name == "Multinomial" else [distribution.mode]
        found.append([*values, *moments, *(leaf.grad for leaf in leaves)])
        assert distribution.support.check(x).all()
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=2e-8, atol=1e-9)


@pytest.mark.parametrize(
    "name", ["Laplace", "Cauchy", "Exponential", "LogNormal", "HalfNormal", "HalfCauchy", "Gumbel", "Pareto", "Weibull"]
)
def test_distribution_functions_and_quantiles(name):
    x, p = rng.uniform(6.0, 9.0, (2, 3, 4)) - (6 if name == "Gumbel" else 0), rng.uniform(0.05, 0.95, (2, 3, 4))
    found = [(d.cdf(lib.from_numpy(x)), d.icdf(lib.from_numpy(p))) for lib in (badak, torch) for d in [made(lib, *ALL[name])[0]]]
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9)


@each
def test_expanding(name, given):
    ours, theirs = (made(lib, name, given)[0] for lib in (badak, torch))
    shape = (2, *ours.batch_shape)
    ours, theirs = ours.expand(shape), theirs.expand(shape)
    assert ours.batch_shape == tuple(theirs.batch_shape) and ours.event_shape == tuple(theirs.event_shape)
    assert ours.sample((3,)).shape == tuple(theirs.sample((3,)).shape)
    assert_same(ours.mean, theirs.mean, EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("name, given", OTHER_DRAWS.values(), ids=list(OTHER_DRAWS))
def test_other_draws_have_the_right_mean_and_spread(name, given):
    badak.manual_seed(1)
    distribution, _ = made(badak, name, given)
    x = distribution.sample((20_000,)).numpy()
    mean, deviation = distribution.mean.numpy(), distribution.stddev.numpy()
    assert np.abs(x.mean(0) - mean).max() < 5 * (deviation / 141).max()
    np.testing.assert_allclose(x.std(0), deviation, rtol=0.25)  # heavy tails: InverseGamma, StudentT
    badak.manual_seed(1)
    np.testing.assert_array_equal(made(badak, name, given)[0].sample((20_000,)).numpy(), x)


def test_a_gamma_draw_moves_with_its_concentration_as_in_pytorch():
    a = np.concatenate([rng.uniform(0.05, 2.0, 300), rng.uniform(2.0, 80.0, 300)])
    x = rng.gamma(a)
    expected = torch._standard_gamma_grad(torch.from_numpy(a), torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(gamma_slope(x, a), expected, rtol=2e-3)  # PyTorch's is an approximation to four digits
    step = 1e-5  # and by differences of the quantile of one concentration, where it is a sum that ends: a = 2
    cdf = lambda x, a: torch.special.gammainc(torch.tensor(a, dtype=torch.float64), torch.tensor(x, dtype=torch.float64)).item()  # noqa: E731
    for x in (0.3, 1.0, 2.5, 6.0):
        slope = -(cdf(x, 2 + step) - cdf(x, 2 - step)) / (2 * step) / (x * np.exp(-x))
        np.testing.assert_allclose(gamma_slope(np.array(x), np.array(2.0)), slope, rtol=1e-6)


@pytest.mark.parametrize("spread", [0.5, 3.0])
def test_proportions_move_with_their_concentrations_as_their_distribution_says(spread):
    a, b = np.exp(rng.normal(0, spread, (2, 300)))
    x = rng.beta(a, b).clip(1e-12, 1 - 1e-12)
    theirs = torch._dirichlet_grad(*map(torch.from_numpy, (x, a, a + b))).numpy() * (1 - x)
    np.testing.assert_allclose(beta_slope(x, a, a + b), theirs, rtol=1e-2)  # PyTorch's is an approximation to three digits
    np.testing.assert_allclose(beta_slope(x, a, a + 1), -x * np.log(x) / a, rtol=1e-9)  # F = x^a
    step = 1e-5 * a
    moved = special.betainc(a + step, b, x) - special.betainc(a - step, b, x)
    seen = (x > 0.01) & (x < 0.99) & (np.maximum(a, b) < 30)  # where differences have digits
    exact = -moved / (2 * step) / np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - special.betaln(a, b))
    np.testing.assert_allclose(beta_slope(x, a, a + b)[seen], exact[seen], rtol=1e-5)


@pytest.mark.parametrize("name", ["Gamma", "Beta", "Dirichlet", "StudentT", "InverseGamma", "Chi2"])
def test_gradients_of_gamma_draws(name):
    grads = []
    for lib in (badak, torch):
        lib.manual_seed(0)
        distribution, leaves = made(lib, *ALL[name], grad=True)
        distribution.rsample((40,)).sqrt().nan_to_num(0.0).mean(0).sum().backward()
        grads.append([leaf.grad.numpy() for leaf in leaves])
    for ours, theirs in zip(*grads):
        np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=1e-4)


KL = ["Laplace", "Exponential", "LogNormal", "HalfNormal", "Geometric", "OneHotCategorical", "MultivariateNormal",
      "MultivariateNormal covariance", "Gamma", "Chi2", "Beta", "Dirichlet", "Poisson"]  # fmt: skip


@pytest.mark.parametrize("name", KL)
def test_divergences(name):
    found = []
    kind, given = ALL[name]
    for lib in (badak, torch):
        scaled = {k: v * 0.7 if isinstance(v, np.ndarray) else v for k, v in given.items()}
        found.append(lib.distributions.kl_divergence(made(lib, kind, scaled)[0], made(lib, kind, given)[0]))
    np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), rtol=1e-9, atol=1e-12)


def test_independent_and_transformed():
    found = []
    for lib in (badak, torch):
        D = lib.distributions
        base = D.Independent(D.Normal(lib.from_numpy(ROW), lib.from_numpy(P)), 1)
        steps = [D.TanhTransform(), D.AffineTransform(1.0, 2.0), D.ExpTransform(), D.SigmoidTransform().inv.inv]
        made = D.TransformedDistribution(base, steps)
        lib.manual_seed(2)
        x = made.sample((3,))
        other = D.Independent(D.Normal(lib.from_numpy(ROW * 2), lib.from_numpy(P * 2)), 1)
        found.append([x, made.log_prob(x), base.log_prob(x), base.entropy(), D.kl_divergence(base, other)])
        assert tuple(made.batch_shape) == (3,) and tuple(made.event_shape) == (4,)
        again = made.expand((2, 3))
        assert tuple(again.batch_shape) == (2, 3) and tuple(again.sample().shape) == (2, 3, 4)
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", ["exp", "sigmoid", "softplus", "tanh", "power", "affine", "compose", "abs", "softmax"])
def test_transforms_and_their_stretch(name):
    found = []
    for lib in (badak, torch):
        D = lib.distributions
        t = {
            "exp": D.ExpTransform(), "sigmoid": D.SigmoidTransform(), "softplus": D.SoftplusTransform(), "tanh": D.TanhTransform(),
            "power": D.PowerTransform(lib.from_numpy(B)), "affine": D.AffineTransform(1.0, -3.0), "abs": D.AbsTransform(),
            "softmax": D.SoftmaxTransform(), "compose": D.ComposeTransform([D.AffineTransform(0.0, 0.5), D.TanhTransform()]),
        }[name]  # fmt: skip
        x = lib.from_numpy(P)
        y = t(x)
        found.append([y, t.inv(y)] + ([t.log_abs_det_jacobian(x, y)] if t.bijective else []))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-10, atol=1e-12)


def test_constraints_say_what_pytorchs_say():
    values = [ROW, P, A, np.floor(A), (P > 0.5) * 1.0, P / P.sum(-1, keepdims=True), np.eye(4), TRIL]
    values += [TRIL @ TRIL.T, -np.eye(4), TRIL.T]
    names = "boolean real simplex one_hot real_vector positive nonnegative unit_interval".split()
    names += ["nonnegative_integer", "positive_integer"]
    names += "square symmetric lower_triangular lower_cholesky positive_semidefinite positive_definite".split()
    for name in names:
        ours, theirs = (getattr(lib.distributions.constraints, name) for lib in (badak, torch))
        assert (ours.is_discrete, ours.event_dim) == (theirs.is_discrete, theirs.event_dim), name
        for value in values:
            if ours.event_dim == 2 and value.shape[0] != value.shape[1]:
                continue
            found, expected = ours.check(badak.from_numpy(value.copy())), theirs.check(torch.from_numpy(value.copy()))
            np.testing.assert_array_equal(found.numpy(), expected.numpy(), err_msg=name)
    for name in ("real", "positive", "unit_interval", "simplex"):
        ours, theirs = (getattr(lib.distributions.constraints, name) for lib in (badak, torch))
        assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_what_is_refused(lib):
    D, t = lib.distributions, lib.tensor
    for call in (
        lambda: D.Exponential(-1.0),
        lambda: D.Gamma(1.0, 0.0),
        lambda: D.Gamma(1.0, 1.0).log_prob(t(-1.0)),
        lambda: D.Beta(1.0, 1.0).log_prob(t(1.5)),
        lambda: D.Dirichlet(t(1.0)),
        lambda: D.Dirichlet(t([1.0, 1.0])).log_prob(t([0.9, 0.9])),
        lambda: D.Poisson(t(1.0)).log_prob(t(0.5)),
        lambda: D.Geometric(probs=t(0.0)),
        lambda: D.Geometric(),
        lambda: D.Binomial(3, probs=t(0.5)).log_prob(t(4.0)),
        lambda: D.MultivariateNormal(t([0.0, 0.0])),
        lambda: D.MultivariateNormal(t(0.0), lib.eye(1)),
        lambda: D.MultivariateNormal(t([0.0, 0.0]), -lib.eye(2)),
        lambda: D.Independent(D.Normal(0.0, 1.0), 1),
        lambda: D.OneHotCategorical(t([0.5, 0.5])).log_prob(t([1.0, 1.0])),
        lambda: D.HalfNormal(1.0).log_prob(t(-1.0)),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(NotImplementedError):
        D.Poisson(t(1.0)).rsample()
    with pytest.raises(NotImplementedError):
        D.kl_divergence(D.Poisson(t(1.0)), D.Normal(0.0, 1.0))


def test_poisson_and_binomial_numbers_answer_wrong_input():
    with pytest.raises(ValueError, match="expected rate to be non-negative; got -1.0\nfix: x.clamp"):
        badak.poisson(badak.tensor([-1.0]))
    with pytest.raises(TypeError, match="poisson: expected floats; got badak.int64\nfix: x.float()"):
        badak.poisson(badak.tensor([1]))
    with pytest.raises(ValueError, match="binomial: expected count >= 0; got -1.0"):
        badak.binomial(badak.tensor([-1.0]), badak.tensor([0.5]))


STRANGE = {
    "the mode below 1": lambda d, t: d.Dirichlet(t.tensor([[0.5, 0.2, 0.2], [2.0, 2.0, 1.0], [0.5, 2.0, 0.2]])).mode,
    "the mode of a beta below 1": lambda d, t: d.Beta(t.tensor([0.5, 2.0]), t.tensor([0.5, 3.0])).mode,
    "numbers of a gamma": lambda d, t: d.Gamma(1.0, 2.0).log_prob(1),
    "numbers of a chi2": lambda d, t: d.Chi2(1).log_prob(1.5),
    "whole counts": lambda d, t: d.NegativeBinomial(t.tensor([3, 4]), t.tensor([0.3, 0.4])).total_count,
    "whole counts of trials": lambda d, t: d.Binomial(t.tensor([3, 4]), t.tensor([0.3, 0.4])).total_count,
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_parameters_and_values(name):
    ours, theirs = (STRANGE[name](lib.distributions, lib) for lib in (badak, torch))
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]


def test_the_slope_of_a_binomial_at_logits_0():
    for lib in (badak, torch):
        x = lib.tensor(0.0, requires_grad=True)
        lib.distributions.Binomial(1.0, logits=x).log_prob(lib.tensor(0.0)).backward()
        assert x.grad.item() == -0.5


def test_parameters_that_are_computed_are_checked():
    for lib in (badak, torch):
        for df in (-1.0, 0.0):
            with pytest.raises(ValueError, match="Expected parameter df .* of distribution Chi2"):
                lib.distributions.Chi2(lib.tensor([df]), validate_args=True)
        with pytest.raises(RuntimeError, match="The size of tensor a \\(2\\) must match the size of tensor b \\(3\\)"):
            lib.distributions.Normal(lib.zeros(2), lib.ones(3))


def test_a_class_that_says_nothing_of_its_parameters_is_warned_of():
    for lib in (badak, torch):
        with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
            type("Mine", (lib.distributions.Distribution,), {})(validate_args=True)


def test_singular_draws_of_a_wishart_are_drawn_again():
    badak.manual_seed(0)
    one = badak.distributions.Wishart(badak.tensor([2.1, 9.0]), badak.eye(3).expand(2, 3, 3))
    for shape in ((400,), ()):
        draws = one.sample(shape)
        assert draws.shape == (*shape, 2, 3, 3) and bool(one.support.check(draws).all())


@pytest.mark.parametrize("change", ["bernoulli_", "exponential_", "normal_"])
def test_draws_in_place_of_a_dual_number_have_slope_0(change):
    for lib in (badak, torch):
        forward = lib.autograd.forward_ad
        with forward.dual_level():
            x = forward.make_dual(lib.tensor(1.0), lib.tensor(1.0))
            assert forward.unpack_dual(getattr(x, change)()).tangent.item() == 0
            y = forward.make_dual(lib.tensor(1.0), lib.tensor(2.0))
            assert forward.unpack_dual(y).tangent.item() == 2 and forward.unpack_dual(y.mul_(y)).tangent.item() == 4
            assert forward.unpack_dual(lib.poisson(y)).tangent.item() == 0


KINDS = {
    "Bernoulli": (0.3,), "Beta": (1.5, 2.5), "Binomial": (5, 0.3), "Cauchy": (0.2, 1.5), "ContinuousBernoulli": (0.3,),
    "Exponential": (1.5,), "Gamma": (2.5, 1.5), "Gumbel": (0.3, 1.2), "HalfNormal": (1.3,), "Laplace": (0.3, 0.8),
    "Normal": (0.4, 0.7), "Pareto": (0.2, 3.5), "Poisson": (1.4,), "Uniform": (0.25, 0.75),
}  # fmt: skip


def test_divergences_of_two_families_are_pytorchs():
    asked = 0
    for a, p in KINDS.items():
        for b, q in KINDS.items():
            others = tuple(x * 1.25 if a == b and b != "Binomial" else x for x in q)
            made = []
            for lib in (torch, badak):
                one, two = (
                    getattr(lib.distributions, kind)(*(lib.tensor([x, x], dtype=lib.float64) for x in given))
                    for kind, given in ((a, p), (b, others))
                )
                try:
                    made.append(lib.distributions.kl_divergence(one, two).numpy())
                except NotImplementedError:
                    made.append(None)
            if made[0] is not None and (a, b) != ("ContinuousBernoulli", "Uniform"):  # where PyTorch's is wrong
                np.testing.assert_allclose(made[1], made[0], rtol=1e-5, err_msg=f"{a} {b}")
                asked += 1
    assert asked >= 75


@pytest.mark.parametrize(
    "p, q",
    [
        (("Uniform", (-0.5, 0.5)), ("Exponential", (1.0,))),
        (("Uniform", (-0.5, 0.5)), ("Gamma", (2.0, 1.0))),
        (("Uniform", (0.5, 1.5)), ("Beta", (2.0, 1.0))),
        (("Uniform", (0.5, 1.5)), ("ContinuousBernoulli", (0.3,))),
        (("Uniform", (0.5, 1.5)), ("Pareto", (1.0, 2.0))),
        (("Beta", (2.0, 3.0)), ("Uniform", (0.25, 1.0))),
        (("Pareto", (1.0, 0.5)), ("Exponential", (1.0,))),
        (("Pareto", (1.0, 1.5)), ("Normal", (0.0, 1.0))),
        (("Pareto", (0.5, 1.5)), ("Pareto", (1.0, 1.5))),
    ],
)
def test_divergences_from_what_has_other_values_are_infinite(p, q):
    for lib in (torch, badak):
        one, two = (getattr(lib.distributions, kind)(*map(lib.tensor, given)) for kind, given in (p, q))
        assert lib.distributions.kl_divergence(one, two).item() == math.inf


def test_the_divergence_of_a_continuous_bernoulli_from_the_uniform_is_its_entropy():
    one = badak.distributions.ContinuousBernoulli(badak.tensor(0.3))
    y = badak.distributions.kl_divergence(one, badak.distributions.Uniform(0.0, 1.0))
    assert y.item() == pytest.approx(-one.entropy().item(), rel=1e-6)


def test_divergences_of_normals_of_low_rank():
    made = []
    for lib in (badak, torch):
        numbers = (lib.arange(24.0).sin() + 0.1).reshape(2, 12)
        D = lib.distributions
        low = [D.LowRankMultivariateNormal(x[:3], x[3:9].reshape(3, 2), x[9:].abs() + 0.2) for x in numbers]
        full = [D.MultivariateNormal(each.loc, each.covariance_matrix) for each in low]
        pairs = [(low[0], low[1]), (low[0], full[1]), (full[0], low[1])]
        made.append([D.kl_divergence(*pair).item() for pair in pairs])
    np.testing.assert_allclose(made[0], made[1], rtol=1e-4)


@pytest.mark.parametrize("call", [
    lambda D, lib: D.Bernoulli(lib.tensor(0.3)).log_prob(lib.tensor(math.nan)),
    lambda D, lib: D.Poisson(lib.tensor([1.0, 2.0])).log_prob(lib.tensor([-1.0, 2.0])),
    lambda D, lib: D.Normal(0.0, -1.0),
    lambda D, lib: D.Categorical(lib.tensor([-1.0, 2.0])),
    lambda D, lib: D.Dirichlet(lib.tensor([[1.0, -1.0]])),
])  # fmt: skip
def test_values_outside_of_the_support_are_refused_in_pytorchs_words(call):
    said = []
    for lib in (badak, torch):
        with pytest.raises(ValueError, match="^Expected .*, but found invalid values:") as refused:
            call(lib.distributions, lib)
        said.append(str(refused.value).partition(" values:")[0].replace("badak.Size", "torch.Size"))
    assert said[0] == said[1]


@pytest.mark.parametrize("call", [
    lambda lib: lib._standard_gamma("a"),
    lambda lib: lib._sample_dirichlet(3.0),
    lambda lib: lib._standard_gamma_grad(1.0, 2.0),
    lambda lib: lib._dirichlet_grad(lib.ones(2, dtype=lib.int64), lib.ones(2), lib.ones(2)),
    lambda lib: lib._dirichlet_grad(lib.rand(2), lib.rand(3), lib.rand(3)),
])  # fmt: skip
def test_draws_and_their_gradients_are_of_floating_tensors(call):
    for lib in (badak, torch):
        with pytest.raises((TypeError, ValueError, RuntimeError)) as refused:
            call(lib)
        if lib is badak:
            assert "\nfix: " in str(refused.value)


# families whose parameters and values may all be round numbers, and how many parameters each has
ROUND = {
    "Bernoulli": 1, "Beta": 2, "Binomial": 2, "Cauchy": 2, "Exponential": 1, "Gamma": 2, "Geometric": 1, "Gumbel": 2,
    "HalfNormal": 1, "Kumaraswamy": 2, "Laplace": 2, "LogNormal": 2, "NegativeBinomial": 2, "Normal": 2, "Pareto": 2, "Poisson": 1,
    "StudentT": 3, "VonMises": 2, "Weibull": 2,
}  # fmt: skip


@pytest.mark.parametrize("kind", ROUND)
def test_slopes_at_round_numbers_are_pytorchs(kind):
    """Where a formula of parts meets itself, such as max(x, 0) at 0, each part has a slope of its own."""

    def asked(lib):
        leaves = [lib.tensor(x, dtype=lib.float64, requires_grad=True) for x in given]
        y = getattr(lib.distributions, kind)(*leaves, validate_args=False).log_prob(lib.tensor(at, dtype=lib.float64))
        slopes = lib.autograd.grad(y, leaves, allow_unused=True)
        return [y.item(), *(0.0 if slope is None else slope.item() for slope in slopes)]

    count = 0
    for *given, at in itertools.product(*[[0.5, 1.0, 2.0]] * ROUND[kind], [0.0, 0.5, 1.0, 2.0]):
        theirs = asked(torch)
        if np.isfinite(theirs).all():
            # PyTorch's Bessel function of VonMises has seven digits
            np.testing.assert_allclose(asked(badak), theirs, rtol=1e-6, atol=1e-9, err_msg=f"{kind}{given} at {at}")
            count += 1
    assert count >= 3


def test_divergences_of_derived_classes_and_far_from_0():
    made = []
    for lib in (torch, badak):
        D, t = lib.distributions, functools.partial(lib.tensor, dtype=lib.float64)
        derived = type("Derived", (D.Beta,), {})
        pairs = [
            (D.Chi2(t(3.0)), D.Gumbel(t(0.5), t(2.0))), (derived(t(2.0), t(3.0)), D.Gamma(t(1.5), t(2.0))),
            (D.Gumbel(t(500.0), t(1.0)), D.Gumbel(t(501.0), t(2.0))), (D.Normal(t(500.0), t(1.0)), D.Gumbel(t(501.0), t(2.0))),
            (D.Uniform(t(500.0), t(501.0)), D.Gumbel(t(501.0), t(2.0))),
        ]  # fmt: skip
        made.append([D.kl_divergence(*pair).item() for pair in pairs])
    np.testing.assert_allclose(made[1], made[0], rtol=1e-5)
    assert np.isfinite(made[1]).all()
