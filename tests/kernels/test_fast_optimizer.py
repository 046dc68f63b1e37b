"""Many parameters updated by one call: the bits are those of one call each, whatever the arrays are like."""

import numpy as np
import pytest

from badak.kernels import plain
from tests.kernels.twin import fast_kernels, normal

fast = fast_kernels()

SHAPES = [(4, 3), (), (0, 2), (40_000,), (5,), (129, 130)]
ADAM = (1e-2, 0.9, 0.99, 1e-8, 0.1)  # lr, beta1, beta2, eps, weight_decay
SGD = (0.1, 0.9, 0.2, 0.1, False)  # lr, momentum, dampening, weight_decay, nesterov


def columns(count, seed=0, dtype=np.float32):
    """`count` lists of arrays of every shape, not negative."""
    return [
        [np.asarray(abs(normal(seed + 10 * c + i, *shape, dtype=dtype)), dtype) for i, shape in enumerate(SHAPES)]
        for c in range(count)
    ]


def copied(lists):
    return [[np.array(x, order="K") for x in column] for column in lists]


def adam_each(kernels, lists, steps, *settings):
    """`adam` of one parameter after the other; lists are params, grads, m, v and perhaps the largest v."""
    for arrays in zip(*lists, *([] if len(lists) == 5 else [[None] * len(steps)]), steps):
        kernels.adam(*arrays, *settings)


def adam_together(kernels, lists, steps, *settings, memo):
    params, grads, m, v, *maxima = lists
    kernels.adam_all(params, grads, m, v, maxima[0] if maxima else None, steps, *settings, memo)


def assert_same(found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("amsgrad, decoupled, maximize", [(False, True, False), (True, False, True)])
@pytest.mark.parametrize("kernels", [plain, fast], ids=["plain", "fast"])
def test_adam_of_all_is_adam_of_each_at_steps_of_their_own(kernels, dtype, amsgrad, decoupled, maximize):
    mine, memo = columns(5 if amsgrad else 4, dtype=dtype), {}
    theirs = copied(mine)
    for steps in ([1] * 6, [2] * 6, [3, 3, 3, 9, 1, 3]):
        mine[1] = [np.array(x) for x in theirs[1]]  # gradients are other arrays at every step
        adam_together(kernels, mine, steps, *ADAM, decoupled, maximize, memo=memo)
        adam_each(kernels, theirs, steps, *ADAM, decoupled, maximize)
    assert_same(mine, theirs)


@pytest.mark.parametrize("remembers", [False, True])
@pytest.mark.parametrize("kernels", [plain, fast], ids=["plain", "fast"])
def test_sgd_of_all_is_sgd_of_each_with_first_steps_of_their_own(kernels, remembers):
    mine, memo = columns(3), {}
    theirs = copied(mine)
    for firsts in ([True] * 6, [False, True, False, False, False, True]):
        kernels.sgd_all(mine[0], mine[1], mine[2] if remembers else None, firsts, *SGD, False, memo)
        for param, grad, buffer, first in zip(*theirs, firsts):
            kernels.sgd(param, grad, buffer if remembers else None, *SGD, False, first)
    assert_same(mine, theirs)


def loose(lists):
    """A copy with gaps, Fortran's order and another dtype among parameters, gradients and moments."""
    lists = copied(lists)
    lists[0][0] = np.asfortranarray(lists[0][0])
    lists[0][4] = lists[0][4].astype(np.float64)
    lists[1][5] = np.repeat(lists[1][5], 2, axis=1)[:, ::2]
    lists[2][3] = np.repeat(lists[2][3], 2)[::2]
    return lists


def test_what_compiled_code_cannot_take_is_done_as_before_and_the_rest_together():
    start, memo = columns(4), {}
    together, each = loose(start), loose(start)
    for step in (1, 2):
        adam_together(fast, together, [step] * 6, *ADAM, True, False, memo=memo)
        adam_each(fast, each, [step] * 6, *ADAM, True, False)
    assert_same(together, each)
    assert all(x.size == 0 or not np.array_equal(x, before) for x, before in zip(together[0], start[0]))


def test_parameters_that_share_memory_are_updated_one_after_the_other():
    base, twin = normal(0, 50_000, dtype=np.float32), normal(0, 50_000, dtype=np.float32)
    grads = [normal(i, 40_000, dtype=np.float32) for i in (1, 2)]
    fast.sgd_all([base[:40_000], base[10_000:]], grads, None, [False] * 2, *SGD, False, {})
    for param, grad in zip((twin[:40_000], twin[10_000:]), grads):
        fast.sgd(param, grad, None, *SGD, False, False)
    np.testing.assert_array_equal(base, twin)


def test_a_read_only_parameter_is_not_written_to():
    param = normal(0, 3, dtype=np.float32)
    before = param.copy()
    param.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        fast.sgd(param, np.ones(3, np.float32), None, *SGD, False, False)
    np.testing.assert_array_equal(param, before)


def test_the_table_is_made_anew_only_for_other_arrays():
    lists, memo, tables = columns(4), {}, []
    for change in (None, "gradients", "a parameter", "fewer"):
        if change == "gradients":
            lists[1] = [np.array(x) for x in lists[1]]
        if change == "a parameter":
            lists[0][3] = lists[0][3].copy()
        if change == "fewer":
            lists = [column[1:] for column in lists]
        adam_together(fast, lists, [1] * len(lists[0]), *ADAM, True, False, memo=memo)
        tables.append(memo["table"])
    assert tables[0] is tables[1] and len(set(map(id, tables))) == 3


def test_one_two_and_four_threads_update_all_to_the_same_bits(threads):
    start = columns(4)
    with threads(1):
        expected = copied(start)
        adam_together(fast, expected, [3, 3, 3, 5, 3, 3], *ADAM, True, False, memo={})
    for count in (2, 4):
        with threads(count):
            found = copied(start)
            adam_together(fast, found, [3, 3, 3, 5, 3, 3], *ADAM, True, False, memo={})
        assert_same(found, expected)
