"""Many parameters updated by one call: the bits are those of one call each, whatever the arrays are like."""

import numpy as np
import pytest

from badak.kernels import reference
from badak.kernels.update import quotient
from badak.optim import ASGD, SGD, Adadelta, Adagrad, Adam, Adamax, NAdam, RAdam, RMSprop, Rprop
from badak.tensor import Tensor
from tests.kernels.twin import fast_kernels, normal

fast = fast_kernels()

from badak.kernels.numba.threadpool.parallel import Kernel, parallel_exact  # noqa: E402
from tests.tiers import looped  # noqa: E402

SHAPES = [(4, 3), (), (0, 2), (40_000,), (5,), (129, 130)]
BOTH = pytest.mark.parametrize("kernels", [reference, fast], ids=["reference", "numba"])
RULES = [
    (Adam, {"lr": 1e-2, "weight_decay": 0.1, "amsgrad": True, "maximize": True}),
    (Adam, {"lr": 1e-2, "weight_decay": 0.1, "decoupled_weight_decay": True, "betas": (0.9, 0.99)}),
    (Adam, {"lr": 1e-2, "betas": (0.3, 0.4)}),
    (SGD, {"lr": 0.1, "weight_decay": 0.1}),
    (SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "maximize": True}),
    (SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    (RMSprop, {"lr": 0.1, "alpha": 0.8, "weight_decay": 0.1}),
    (RMSprop, {"lr": 0.1, "momentum": 0.9, "maximize": True}),
    (RMSprop, {"lr": 0.1, "centered": True}),
    (RMSprop, {"lr": 0.1, "centered": True, "momentum": 0.9}),
    (Adagrad, {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1}),
    (Adadelta, {"lr": 0.1, "rho": 0.8, "weight_decay": 0.1}),
    (Adamax, {"lr": 0.1, "weight_decay": 0.1, "maximize": True}),
    (NAdam, {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    (RAdam, {"lr": 0.1, "betas": (0.9, 0.8), "weight_decay": 0.1}),
    (Rprop, {"lr": 0.1, "maximize": True}),
    (ASGD, {"lr": 0.1, "t0": 2, "weight_decay": 0.1}),
]
EACH_RULE = pytest.mark.parametrize("rule, options", RULES, ids=lambda x: getattr(x, "__name__", str(x)))


class Work:
    """An update with its settings on arrays of every shape: params, grads, and a column for each slot in use."""

    def __init__(self, rule, options, dtype=np.float32):
        self.rule = rule
        self.group = rule([plain_leaf()], **options).param_groups[0]
        self.used = [not slot.when or bool(self.group[slot.when]) for slot in rule.SLOTS.values()]
        count = 2 + sum(self.used)
        self.start = [
            [np.asarray(abs(normal(10 * c + i, *shape, dtype=dtype)), dtype) for i, shape in enumerate(SHAPES)]
            for c in range(count)
        ]
        if rule is RMSprop:  # a mean square above the square of the mean
            self.start[2] = [np.asarray(x + 30, dtype) for x in self.start[2]]

    def slots(self, lists):
        columns = iter(lists[2:])
        return [next(columns) if used else None for used in self.used]

    def together(self, kernels, lists, steps, memo):
        numbers = [np.full((), 0.5) for _ in self.rule.NUMBERS]
        scalars = [self.rule.scalars(self.group, step, *(x.copy() for x in numbers)) for step in steps]
        kernels.update_all(self.rule.UPDATE, lists[0], lists[1], self.slots(lists), scalars, memo)

    def each(self, kernels, lists, steps):
        for row, step in enumerate(steps):
            self.together(kernels, [[column[row]] for column in lists], [step], {})


def plain_leaf():
    return Tensor._of(np.ones(1, np.float32)).requires_grad_()


ADAM = Adam, {"lr": 1e-2, "betas": (0.9, 0.99), "weight_decay": 0.1, "decoupled_weight_decay": True}


def copied(lists):
    return [[np.array(x, order="K") for x in column] for column in lists]


def assert_same(found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@EACH_RULE
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@BOTH
def test_one_call_for_all_is_a_call_for_each_at_steps_of_their_own(kernels, dtype, rule, options):
    work, memo = Work(rule, options, dtype), {}
    mine, theirs = copied(work.start), copied(work.start)
    for steps in ([1] * 6, [2] * 6, [3, 3, 3, 9, 1, 3]):
        mine[1] = [np.array(x) for x in theirs[1]]  # gradients are other arrays at every step
        work.together(kernels, mine, steps, memo)
        work.each(kernels, theirs, steps)
    assert_same(mine, theirs)
    assert all(x.size == 0 or not np.array_equal(x, before) for x, before in zip(mine[0], work.start[0]))


@EACH_RULE
@looped(dtype=[np.float32, np.float64])
def test_compiled_and_plain_updates_agree(dtype, rule, options):
    work = Work(rule, options, dtype)
    mine, theirs = copied(work.start), copied(work.start)
    for step in (1, 2, 3):
        work.together(fast, mine, [step] * 6, {})
        work.together(reference, theirs, [step] * 6, {})
    for found, expected in zip(mine, theirs):
        for one, other in zip(found, expected):
            np.testing.assert_allclose(one, other, rtol=100 * np.finfo(dtype).eps, atol=10 * np.finfo(dtype).eps)


def loose(lists):
    """A copy with gaps, Fortran's order and another dtype among parameters, gradients and moments."""
    lists = copied(lists)
    lists[0][0] = np.asfortranarray(lists[0][0])
    lists[0][4] = lists[0][4].astype(np.float64)
    lists[1][5] = np.repeat(lists[1][5], 2, axis=1)[:, ::2]
    lists[2][3] = np.repeat(lists[2][3], 2)[::2]
    return lists


def test_what_compiled_code_cannot_take_is_done_as_before_and_the_rest_together():
    work, memo = Work(*ADAM), {}
    together, each = loose(work.start), loose(work.start)
    for step in (1, 2):
        work.together(fast, together, [step] * 6, memo)
        work.each(fast, each, [step] * 6)
    assert_same(together, each)
    assert all(x.size == 0 or not np.array_equal(x, before) for x, before in zip(together[0], work.start[0]))


def test_parameters_that_share_memory_are_updated_one_after_the_other():
    work = Work(SGD, {"lr": 0.1, "weight_decay": 0.1})
    base, twin = normal(0, 50_000, dtype=np.float32), normal(0, 50_000, dtype=np.float32)
    grads = [normal(i, 40_000, dtype=np.float32) for i in (1, 2)]
    work.together(fast, [[base[:40_000], base[10_000:]], grads], [1, 1], {})
    for param, grad in zip((twin[:40_000], twin[10_000:]), grads):
        work.together(fast, [[param], [grad]], [1], {})
    np.testing.assert_array_equal(base, twin)


@BOTH
def test_a_read_only_parameter_is_not_written_to(kernels):
    param = normal(0, 3, dtype=np.float32)
    before = param.copy()
    param.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        Work(SGD, {}).together(kernels, [[param], [np.ones(3, np.float32)]], [1], {})
    np.testing.assert_array_equal(param, before)


def test_the_table_is_made_anew_only_for_other_arrays():
    work, memo, tables = Work(*ADAM), {}, []
    lists = copied(work.start)
    for change in (None, "gradients", "a parameter", "fewer"):
        if change == "gradients":
            lists[1] = [np.array(x) for x in lists[1]]
        if change == "a parameter":
            lists[0][3] = lists[0][3].copy()
        if change == "fewer":
            lists = [column[1:] for column in lists]
        work.together(fast, lists, [1] * len(lists[0]), memo)
        tables.append(memo["table"])
    assert tables[0] is tables[1] and len(set(map(id, tables))) == 3


@pytest.mark.slow
@EACH_RULE
def test_one_two_and_four_threads_update_all_to_the_same_bits(threads, rule, options):
    work, steps, results = Work(rule, options), [3, 3, 3, 5, 3, 3], []
    for count in (1, 2, 4):
        with threads(count):
            results.append(copied(work.start))
            work.together(fast, results[-1], steps, {})
    assert_same(results[0], results[1])
    assert_same(results[0], results[2])


def test_updates_reach_parameters_that_are_views():
    """A parameter with gaps has no flat view; the update must still land in it."""
    wide = normal(0, 6, 8, dtype=np.float32)
    expected = wide[:, ::2] - np.float32(0.5)
    Work(SGD, {"lr": 0.5}).together(fast, [[wide[:, ::2]], [np.ones((6, 4), np.float32)]], [1], {})
    np.testing.assert_array_equal(wide[:, ::2], expected)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quotients_by_a_shared_number_have_the_bits_of_divisions(dtype):
    def divide(task, y, x, by):
        for i in range(x.size):
            y[i] = quotient(x[i], by)

    kernel = parallel_exact("W1 R1 f")(divide)
    Kernel.all.remove(kernel)  # not one that `warmup` compiles
    rng, limits = np.random.default_rng(0), np.finfo(dtype)
    roots = np.sqrt([0, limits.smallest_subnormal, limits.tiny, limits.max, np.inf, np.nan]).astype(dtype)
    x = np.concatenate([roots, np.exp(rng.uniform(-50, 40, 300_000)).astype(dtype), 1 + limits.eps * np.arange(-9, 9, dtype=dtype)])
    near_one = 1 - limits.eps * np.arange(1, 9)
    steps = np.sqrt(1 - 0.999 ** rng.integers(1, 10_000, 60))
    for by in [0, 1, 1e-8, 0.5, *near_one, *near_one / 2, *steps, *rng.uniform(0.01, 1, 60)]:
        y, by = np.empty_like(x), dtype(by)
        kernel(1, 0, y, x, by)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(y, x / by)
