"""Functions of tensors that are no operations, random numbers, and what a replay must refuse."""

import numpy as np
import pytest

import badak
from badak.nn import functional as F

FUNCTIONS = {
    "comparisons": lambda x, i: (x > 0, x <= x.mean(), i == 2, (i > 1) & (x > 0), ~(x < 1), badak.isclose(x, x + 1e-9)),
    "where": lambda x, i: badak.where(x > 0, x, -x),
    "masked_fill": lambda x, i: x.masked_fill(i == 1, float("-inf")).softmax(-1),
    "any all": lambda x, i: ((x > 0).any(1), (i > 0).all(0)),
    "argmax": lambda x, i: (x.argmax(), x.argmax(1), x.argmin(0, keepdim=True)),
    "max min": lambda x, i: (*x.max(1), *x.min(0), x.max(), x.amax(1)),
    "sort": lambda x, i: (*x.sort(1), *x.sort(0, descending=True), x.argsort(1), *x.topk(2)),
    "median": lambda x, i: (x.median(), *x.median(1), *x.kthvalue(2, 1)),
    "gather": lambda x, i: (x.gather(1, i), x.index_select(0, i[:, 0]), badak.take_along_dim(x, i, 1)),
    "scatter": lambda x, i: (x.scatter(1, i[:, :1], 5.0), badak.zeros(4, 5).scatter_add(1, i, x)),
    "indexing": lambda x, i: (x[i[:, 0]], x[:, 1], x[1:3, ::2], x[None, ..., 0], x[badak.arange(4), i[:, 1]]),
    "one_hot": lambda x, i: F.one_hot(i, 6),
    "cumsum": lambda x, i: (x.cumsum(0), x.cumprod(1), x.diff(dim=1)),
    "in place": lambda x, i: (x * 1).add_(1).mul_(2).clamp_(-1, 1).masked_fill_(i == 0, 7.0),
    "set": lambda x, i: _set(x * 1, i),
    "norms": lambda x, i: (x.norm(), F.normalize(x), x.std(1), x.var(0), x.logsumexp(1)),
    "einsum": lambda x, i: (badak.einsum("ij,kj->ik", x, x), x @ x.T, badak.outer(x[0], x[1])),
    "losses": lambda x, i: (F.mse_loss(x, x + 1), F.nll_loss(x.log_softmax(1), i[:, 0]), F.l1_loss(x, x * 2)),
    "linalg": lambda x, i: (badak.linalg.inv(x @ x.T + 3 * badak.eye(4)), badak.linalg.norm(x)),
    "repeat": lambda x, i: (x.repeat(2, 1), x.repeat_interleave(2, 0), badak.stack([x, x]), badak.cat([x, x], 1)),
    "dtypes": lambda x, i: (x.double().sum(), x.long(), i.float() / 3, x.half() + 1, i // 2, i % 3),
    "triangles": lambda x, i: (x.tril(), badak.ones(4, 4).triu(1), badak.full((2, 2), 0.5), badak.linspace(0, 1, 5)),
    "dropout": lambda x, i: (F.dropout(x, 0.5), F.dropout1d(x[None], 0.3), F.alpha_dropout(x, 0.2, True)),
    "random": lambda x, i: (badak.rand(4, 5) + x, badak.randn(4, 5) * x, badak.bernoulli(x.sigmoid()), badak.randperm(9)),
    "noise": lambda x, i: x + badak.randn_like(x) * 0.1,
    "drawing": lambda x, i: badak.multinomial(x.softmax(1), 1),
    "attention": lambda x, i: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None], dropout_p=0.3),
    "unique": lambda x, i: badak.unique(i),
    "nonzero": lambda x, i: badak.nonzero(x > 0),
    "mask": lambda x, i: x[x > 0],
    "item": lambda x, i: x * x.sum().item(),
    "branch": lambda x, i: x if x.sum() > 0 else -x,
    "index of a tensor": lambda x, i: x[i[0, 0]],
    "numpy": lambda x, i: badak.from_numpy(np.tanh(x.numpy())),
    "fewer random": lambda x, i: x[0] + badak.randn(5),
    "histc": lambda x, i: (badak.histc(x, 4), badak.bincount(i.flatten()), badak.quantile(x, 0.3)),
    "gradient": lambda x, i: _gradient(x),
    "views": lambda x, i: (x.T, x.unfold(1, 2, 1), x.expand(2, 4, 5), x.flip(0), x.roll(1, 0), *x.split(2, 1), *x.unbind(0)),
}  # fmt: skip


def _set(x, i):
    x[0] = 1.0
    x[:, 1] = x[:, 2]
    x[i[:, 0] > 1] = 0.0
    x.index_copy_(0, badak.tensor([1, 3]), x[:2] * 2)
    return x


def _gradient(x):
    leaf = x.detach().clone().requires_grad_()
    (leaf.tanh() * leaf).sum().backward()
    return leaf.grad


def flat(value) -> list:
    if isinstance(value, badak.Tensor):
        return [(value.shape, value.dtype, value.detach().numpy().tobytes())]
    return [bit for part in value for bit in flat(part)]


def inputs(seed):
    rng = np.random.default_rng(seed)
    x, i = rng.standard_normal((4, 5)).astype(np.float32), rng.integers(0, 4, (4, 5))
    return badak.tensor(x), badak.tensor(i)


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_give_their_bits_when_they_are_compiled(name):
    function = FUNCTIONS[name]
    compiled = badak.compile(lambda x, i: function(x, i))
    for alike in (True, False):  # recorded on the same values, or on different ones
        badak.manual_seed(1)
        expected = [flat(function(*inputs(0 if alike and call < 3 else call))) for call in range(6)]
        badak.manual_seed(1)
        assert [flat(compiled(*inputs(0 if alike and call < 3 else call))) for call in range(6)] == expected
        compiled.reset()


REFUSED = {
    "unique": "it reads a value (unique, for the size of its result)",
    "nonzero": "it reads a value (nonzero, for the size of its result)",
    "mask": "the shape of what index gives depends on values",
    "item": "it reads a value (item)",
    "branch": "it reads a value (bool())",
    "index of a tensor": "it reads a value (an index)",
    "numpy": "it reads a value (numpy)",
    "histc": "it reads a value (bool())",
}


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_replayed_or_says_why_it_is_not(name):
    compiled = badak.compile(lambda x, i: FUNCTIONS[name](x, i))
    for seed in range(4):
        compiled(*inputs(seed))
    assert compiled.fallback_reason == REFUSED.get(name, "")
    assert bool(compiled.recordings) == (name not in REFUSED)


def filled(make, change):
    """A tensor that the code of the step makes, and changes afterwards."""

    def function(x, i):
        made = make()
        change(made, x, i)
        return made * 1

    return function


CHANGED = {
    "add_": filled(lambda: badak.zeros(4, 5), lambda y, x, i: y.add_(x)),
    "a slice": filled(lambda: badak.ones(6, 5), lambda y, x, i: y[1:5].mul_(x)),
    "a part is set": filled(lambda: badak.zeros(6, 5), lambda y, x, i: y.__setitem__(slice(1, 5), x)),
    "a mask": filled(lambda: badak.full((4, 5), 2.0), lambda y, x, i: y.__setitem__(x > 0, -1.0)),
    "fill_": filled(lambda: badak.zeros(4, 5), lambda y, x, i: (y.add_(x), y[0].fill_(3.0), y.add_(1))),
    "index_copy_": filled(lambda: badak.zeros(4, 5), lambda y, x, i: y.add_(1).index_copy_(0, i[:2, 0], x[:2])),
    "numbers": filled(lambda: badak.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), lambda y, x, i: y.copy_(y + x[0])),
    "two alike": lambda x, i: tuple(badak.zeros(4, 5).add_(part) * 2 for part in (x, -x)),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_the_code_makes_begins_anew_in_every_replay(name):
    compiled = badak.compile(CHANGED[name], fullgraph=True)
    for seed in range(8):
        assert flat(compiled(*inputs(seed))) == flat(CHANGED[name](*inputs(seed)))


IN_PLACE = {
    "fill_": lambda y, x: y.fill_(3.0),
    "add_": lambda y, x: y.add_(1),
    "a mask": lambda y, x: y.__setitem__(x > 0, -9.0),
    "index_copy_": lambda y, x: y.index_copy_(0, badak.arange(2), x[:2]),
    "bernoulli_": lambda y, x: y.bernoulli_(),
}


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", IN_PLACE)
def test_of_two_equal_results_one_may_be_changed(name):
    def function(x):
        with badak.no_grad():
            one, two = x.relu(), x.relu()
            IN_PLACE[name](one, x)
        return one, two

    compiled = badak.compile(function)
    for seed in range(6):
        x = inputs(seed)[0]
        badak.manual_seed(seed)
        expected = flat(function(x))
        badak.manual_seed(seed)
        assert flat(compiled(x)) == expected
    assert compiled.fallback_reason == "it changes a result in place that it computed twice"


@pytest.mark.filterwarnings("ignore:compile")
def test_a_comparison_into_memory_of_its_own_is_not_replayed():
    kept = badak.zeros(4, 5, dtype=badak.bool)

    def function(x):
        found = []
        for part in (x, -x):
            badak.gt(part, 0, out=kept)
            found.append(kept.logical_not())
        return found

    compiled = badak.compile(function)
    for seed in range(6):
        x = inputs(seed)[0]
        assert flat(compiled(x)) == [*flat(~(x > 0)), *flat(~(x < 0))]
    assert compiled.fallback_reason == "out= changes memory directly"
