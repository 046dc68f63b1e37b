"""The base classes that libraries derive from, the transforms, the constraints and their registry, as PyTorch has them."""

import pickle

import pytest
import torch

import badak

D, T = badak.distributions, torch.distributions


def close(a, b, tolerance=1e-10):
    assert tuple(a.shape) == tuple(b.shape)
    torch.testing.assert_close(
        torch.tensor(a.tolist(), dtype=torch.float64), b.double(), rtol=tolerance, atol=tolerance, equal_nan=True, check_dtype=False
    )


def both(values):
    return badak.tensor(values, dtype=badak.float64), torch.tensor(values, dtype=torch.float64)


P = [[0.1, 0.5, 0.49999, 0.9], [0.2, 0.5005, 0.3, 0.999]]
FAMILIES = {
    "ContinuousBernoulli": [dict(probs=P), dict(logits=[[-1.0, 0.001, 2.0, 3.0]] * 2)],
    "FisherSnedecor": [dict(df1=[[1.0, 3.0, 5.0, 7.0]] * 2, df2=[[2.0, 4.5, 6.0, 9.0]] * 2)],
    "Kumaraswamy": [dict(concentration1=[[0.5, 1.0, 2.0, 3.0]] * 2, concentration0=[[1.5, 1.0, 2.0, 0.3]] * 2)],
    "GeneralizedPareto": [
        dict(loc=[[0.0, 0.0, -0.5, 0.0]] * 2, scale=[[1.0, 2.0, 3.0, 1.0]] * 2, concentration=[[0.0, 0.4, 0.6, 2.0]] * 2)
    ],
    "VonMises": [dict(loc=[[0.0, 1.0, -2.0, 3.0]] * 2, concentration=[[0.1, 1.0, 20.0, 70.0]] * 2)],
}


@pytest.mark.parametrize("name", FAMILIES)
def test_families_say_what_pytorchs_say(name):
    for kwargs in FAMILIES[name]:
        pairs = {key: both(value) for key, value in kwargs.items()}
        d = getattr(D, name)(**{key: a for key, (a, _) in pairs.items()})
        t = getattr(T, name)(**{key: b for key, (_, b) in pairs.items()})
        inside, known = both([[0.01, 0.3, 0.7, 0.99]] * 2)
        for word in ("mean", "variance", "stddev", "mode", "entropy", "log_prob", "cdf", "icdf"):
            try:
                b = getattr(t, word)
                b = b(known) if word in ("log_prob", "cdf", "icdf") else b() if callable(b) else b
            except (NotImplementedError, RuntimeError):  # PyTorch's cdf refuses float64 here
                continue
            a = getattr(d, word)
            close(a(inside) if word in ("log_prob", "cdf", "icdf") else a() if callable(a) else a, b, 1e-5)
        assert tuple(d.expand((3, 2, 4)).log_prob(inside).shape) == (3, 2, 4)
        badak.manual_seed(0)
        drawn = d.sample((4000,))
        if name not in ("FisherSnedecor", "GeneralizedPareto", "VonMises"):
            assert float((drawn.mean(0) - d.mean).abs().max()) < 0.05
        assert bool(d.support.check(drawn).all())


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 3, 5])
def test_lkj_and_wishart(dim):
    badak.manual_seed(dim)
    eta, known = both([0.7, 2.0])
    d, t = D.LKJCholesky(dim, eta), T.LKJCholesky(dim, known)
    x = d.sample((3,))
    close(d.log_prob(x), t.log_prob(torch.tensor(x.tolist(), dtype=torch.float64)))
    assert bool(d.support.check(x).all()) and tuple(d.expand((4, 2)).sample().shape) == (4, 2, dim, dim)
    lower = badak.eye(dim, dtype=badak.float64) * 0.5 + badak.ones(dim, dim, dtype=badak.float64).tril(-1) * 0.1
    df, df2 = both([dim + 2.0, dim + 5.0])
    d, t = D.Wishart(df, scale_tril=lower), T.Wishart(df2, scale_tril=torch.tensor(lower.tolist(), dtype=torch.float64))
    x = d.rsample((2,))
    for word in ("mean", "mode", "variance", "covariance_matrix", "precision_matrix"):
        close(getattr(d, word), getattr(t, word))
    close(d.log_prob(x), t.log_prob(torch.tensor(x.tolist(), dtype=torch.float64)))
    close(d.entropy(), t.entropy())
    assert tuple(d._bartlett_sampling().shape) == tuple(t._bartlett_sampling().shape) == (2, dim, dim)
    assert float((D.Wishart(df, scale_tril=lower).sample((3000,)).mean(0) / d.mean - 1).abs().max()) < 0.2


def transforms(M, real):
    return {
        "stick": M.StickBreakingTransform(),
        "corr": M.CorrCholeskyTransform(),
        "lower": M.LowerCholeskyTransform(),
        "definite": M.PositiveDefiniteTransform(),
        "reshape": M.ReshapeTransform((6,), (2, 3)),
        "cat": M.CatTransform([M.ExpTransform(), M.SigmoidTransform()], dim=-1, lengths=[2, 4]),
        "stack": M.StackTransform([M.ExpTransform(), M.SigmoidTransform(), M.TanhTransform()], dim=-2),
        "affine": M.AffineTransform(real([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), -2.0, event_dim=1),
        "compose": M.ComposeTransform([M.AffineTransform(0.5, 2.0), M.StickBreakingTransform()]),
        "independent": M.IndependentTransform(M.TanhTransform(), 1),
        "power": M.ComposeTransform([M.ExpTransform(), M.PowerTransform(real(0.5)), M.SoftplusTransform().inv]),
        "softmax": M.SoftmaxTransform(),
        "abs": M.AbsTransform(),
    }


WORDS = list(transforms(T, torch.tensor))


@pytest.mark.parametrize("name", WORDS)
def test_transforms_are_pytorchs(name):
    shape = (4, 3, 3) if name in ("lower", "definite") else (4, 3, 6)
    known = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    x = badak.tensor(known.numpy())
    a, b = transforms(D, badak.tensor)[name], transforms(T, torch.tensor)[name]
    y, z = a(x), b(known)
    close(y, z)
    assert (a.bijective, a.domain.event_dim, a.codomain.event_dim) == (b.bijective, b.domain.event_dim, b.codomain.event_dim)
    assert tuple(a.forward_shape(badak.Size(shape))) == tuple(b.forward_shape(torch.Size(shape)))
    assert tuple(a.inverse_shape(y.shape)) == tuple(b.inverse_shape(z.shape)) and bool(a.codomain.check(y).all())
    close(a.inv(y), b.inv(z), 1e-7)
    if b.bijective and name not in ("lower", "definite"):
        close(a.log_abs_det_jacobian(x, y), b.log_abs_det_jacobian(known, z), 1e-8)
        close(a.inv.log_abs_det_jacobian(y, x), b.inv.log_abs_det_jacobian(z, known), 1e-8)
    kept = a.with_cache() if name != "independent" else a
    assert name == "independent" or kept.inv(kept(x)) is x or name in ("compose", "power")
    assert pickle.loads(pickle.dumps(a))(x).equal(y) and a.inv.inv is a


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
def test_the_registry_leads_where_pytorchs_leads(registry):
    def every(M, real):
        c = M.constraints
        return [
            c.real, c.positive, c.nonnegative, c.greater_than(2.0), c.greater_than(real([2.0])), c.less_than(-1.0),
            c.unit_interval, c.interval(-2.0, 3.0), c.half_open_interval(0.0, 1.0), c.real_vector, c.simplex, c.corr_cholesky,
            c.independent(c.positive, 1), c.cat([c.positive, c.real], -1, [2, 4]),
            c.stack([c.positive, c.real, c.unit_interval], -2),
        ]  # fmt: skip

    known = torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    for mine, theirs in zip(every(D, badak.tensor), every(T, torch.tensor)):
        a, b = getattr(D, registry)(mine), getattr(T, registry)(theirs)
        close(a(badak.tensor(known.numpy())), b(known))
        assert repr(a).replace("badak", "torch") == repr(b) and bool(mine.check(a(badak.tensor(known.numpy()))).all())
        assert type(mine).__name__ == type(theirs).__name__ and mine.event_dim == theirs.event_dim
    for one in (D.constraints.lower_cholesky, D.constraints.positive_definite):
        square = badak.tensor(known.numpy())[..., :3]
        assert bool(one.check(getattr(D, registry)(one)(square)).all())
    with pytest.raises(NotImplementedError):
        getattr(D, registry)(D.constraints.boolean)


LIBRARY = """
class Shifted(M.Normal):
    def __init__(self, loc, scale, shift, validate_args=None):
        self.shift = shift
        super().__init__(loc, scale, validate_args=validate_args)
    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Shifted, _instance)
        new.shift = self.shift.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)
    def log_prob(self, value):
        return super().log_prob(value - self.shift)

class Own(M.Distribution):
    arg_constraints = {"scale": M.constraints.positive, "bound": M.constraints.dependent(is_discrete=False, event_dim=0)}
    def __init__(self, scale, validate_args=None):
        self.scale, self.bound = scale, scale * 2
        super().__init__(scale.shape, validate_args=validate_args)
    @M.constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return M.constraints.interval(0.0, self.bound)
    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Own, _instance)
        new.scale, new.bound = self.scale.expand(batch_shape), self.bound.expand(batch_shape)
        super(Own, new).__init__(batch_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new
    @M.utils.lazy_property
    def double(self):
        return self.scale * 2

class Cubed(M.Transform):
    domain = codomain = M.constraints.real
    bijective, sign = True, 1
    def _call(self, x): return x ** 3
    def _inverse(self, y): return y.sign() * y.abs() ** (1 / 3)
    def log_abs_det_jacobian(self, x, y): return (3 * x ** 2).log()
"""


def test_classes_that_others_derive_do_the_same():
    told = []
    for package, M in ((badak, D), (torch, T)):
        space = {"M": M}
        exec(LIBRARY, space)
        one = package.tensor(1.0)
        shifted = space["Shifted"](one, one, one).expand((2, 3))
        own = space["Own"](one * 3).expand((4,))
        cubed = M.TransformedDistribution(M.Normal(package.zeros(3, 2), 1.0),
                                          [space["Cubed"](cache_size=1), M.AffineTransform(1.0, 2.0)])  # fmt: skip
        x = package.full((3, 2), 1.5)
        facts = [shifted.log_prob(package.ones(2, 3)).tolist(), tuple(shifted.batch_shape), type(shifted).__name__]
        facts += [own.support.upper_bound.tolist(), own.double.tolist(), space["Own"].support.event_dim, tuple(own.batch_shape)]
        facts += [cubed.log_prob(x).sum().item(), cubed.cdf(x).tolist(), tuple(cubed.expand((5, 3, 2)).batch_shape)]
        flow = M.TransformedDistribution(M.Normal(package.zeros(5, 4), package.ones(5, 4)), M.StickBreakingTransform())
        facts += [tuple(flow.batch_shape), tuple(flow.event_shape), repr(flow.support), tuple(flow.expand((2, 5)).batch_shape)]
        told.append(facts)
        with pytest.raises(NotImplementedError, match="must also define a custom"):
            type("Wild", (M.Normal,), {"__init__": lambda self: None})()._get_checked_instance(M.Normal)
    for mine, theirs in zip(*told):
        assert mine == pytest.approx(theirs, rel=1e-5) if isinstance(mine, float) else mine == theirs, (mine, theirs)


def test_triangles_and_vectors():
    x, known = both([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for diag in (0, -1):
        a, b = D.utils.vec_to_tril_matrix(x, diag), T.utils.vec_to_tril_matrix(known, diag)
        close(a, b)
        close(D.utils.tril_matrix_to_vec(a, diag), known)
    assert tuple(D.utils._standard_normal(badak.Size((2, 3)), badak.float64, "cpu").shape) == (2, 3)
    close(D.utils._sum_rightmost(x, 1), T.utils._sum_rightmost(known, 1))


def test_the_entropy_of_an_exponential_family_follows_from_its_normalizer():
    class Own(D.ExponentialFamily):
        arg_constraints = {}
        _mean_carrier_measure = 0.0

        def __init__(self, rate):
            self.rate = rate
            super().__init__(rate.shape)

        _natural_params = property(lambda self: (-self.rate,))

        def _log_normalizer(self, x):
            return -(-x).log()

    rate, known = both([0.5, 2.0, 7.0])
    close(Own(rate).entropy(), T.Exponential(known).entropy())


def _said(rule):
    """event_dim and is_discrete of a constraint, where it knows them without a distribution."""
    found = []
    for name in ("event_dim", "is_discrete"):
        try:
            found.append(getattr(rule, name))
        except NotImplementedError:
            found.append("unknown")
    return found


@pytest.mark.parametrize(
    "name", [n for n in T.__all__ if isinstance(kind := getattr(T, n), type) and issubclass(kind, T.Distribution)]
)
def test_a_family_knows_its_support_and_its_draws_before_one_is_made(name):
    ours, theirs = getattr(D, name), getattr(T, name)
    if name not in ("Distribution", "ExponentialFamily"):
        assert _said(ours.support) == _said(theirs.support)
    for word in ("has_rsample", "has_enumerate_support"):
        known = getattr(theirs, word)
        assert isinstance(getattr(ours, word), property) if isinstance(known, property) else getattr(ours, word) is known


def test_a_value_has_the_shape_of_an_event():
    for lib, d in ((badak, D), (torch, T)):
        made = d.Dirichlet(lib.ones(2, 3))
        for shape in ((3, 1), (2, 3, 1), ()):
            with pytest.raises(ValueError, match="right-most size of value must match event_shape"):
                made.log_prob(lib.ones(shape))
    with pytest.warns(UserWarning, match="does not define `support`"):
        type("Own", (D.Distribution,), {"arg_constraints": {}})()._validate_sample(badak.ones(2))


def test_a_derived_family_with_an_init_of_its_own_must_say_how_it_expands():
    for lib, d in ((badak, D), (torch, T)):

        class Own(d.Beta):
            def __init__(self, a, b):
                super().__init__(a, b)
                self.both = a + b

        with pytest.raises(NotImplementedError, match="must also define a custom .expand"):
            Own(lib.ones(1), lib.ones(1)).expand((2, 1))
        assert type("Plain", (d.Beta,), {})(lib.ones(1), lib.ones(1)).expand((2, 1)).batch_shape == (2, 1)


def test_what_cannot_be_enumerated_is_not_implemented():
    for lib, d in ((badak, D), (torch, T)):
        assert d.Independent(d.Bernoulli(lib.ones(2) / 2), 0).enumerate_support().shape == (2, 2)
        for wrong in (
            lambda: d.Binomial(lib.tensor([1.0, 2.0]), lib.tensor(0.5)).enumerate_support(),  # noqa: B023
            lambda: d.Multinomial(lib.tensor([1.0, 2.0]), lib.ones(2, 2)),  # noqa: B023
            lambda: d.Independent(d.Bernoulli(lib.ones(2) / 2), 1).enumerate_support(),  # noqa: B023
        ):
            with pytest.raises(NotImplementedError):
                wrong()


def test_wishart_takes_one_value_for_as_many_distributions_as_rows():
    found = []
    for lib, d in ((badak, D), (torch, T)):
        covariance = lib.eye(3, dtype=lib.float64) * lib.tensor([1.0, 2.0, 3.0], dtype=lib.float64)[:, None, None]
        value = lib.eye(3, dtype=lib.float64) + lib.tensor([[0.1], [0.2], [0.3]]).double() * lib.tensor([0.1, 0.2, 0.3])
        found.append(d.Wishart(lib.tensor(5.0).double().expand(3), covariance).log_prob(value))
    close(*found)


def test_the_entropy_of_counts():
    p, q = both([[0.2, 0.3, 0.5], [0.1, 0.0, 0.9]])
    for n in (1, 7):
        close(D.Multinomial(n, p).entropy(), T.Multinomial(n, q).entropy(), 1e-6)  # PyTorch's ln n! is float32


def test_a_uniform_number_has_no_mode_and_a_gamma_number_a_cdf():
    (a, b), (x, y) = both([0.5, 3.0]), both([0.2, 4.0])
    close(D.Gamma(a, x).cdf(x), T.Gamma(b, y).cdf(y))
    close(D.Uniform(a - 1, a).mode, T.Uniform(b - 1, b).mode)


def test_the_sigmoid_that_stays_inside_has_pytorchs_name():
    x = [-200.0, 0.0, 200.0]
    ours = badak.distributions.transforms._clipped_sigmoid(badak.tensor(x))
    assert ours.tolist() == torch.distributions.transforms._clipped_sigmoid(torch.tensor(x)).tolist()


def test_the_way_back_of_several_transforms_is_several_transforms():
    for lib in (badak, torch):
        ways = lib.distributions.transforms
        several = ways.ComposeTransform([ways.AffineTransform(1.0, 2.0), ways.ExpTransform()])
        back, x = several.inv, lib.tensor([0.3, 2.0])
        assert isinstance(back, ways.ComposeTransform) and back.inv is several and several.inv is back
        assert ways.identity_transform == ways.identity_transform.inv
        assert ways.ComposeTransform([ways.ExpTransform()]).inv == ways.ComposeTransform([ways.ExpTransform()]).inv
        y = several(x)
        assert lib.allclose(back(y), x)
        assert lib.allclose(back.log_abs_det_jacobian(y, x), -several.log_abs_det_jacobian(x, y))
