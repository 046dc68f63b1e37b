"""All parameters of a group in one update: which they are may change from step to step."""

import copy

import numpy as np
import pytest

from badak import kernels, optim
from badak.tensor import Tensor
from tests.compare import assert_close
from tests.optim.test_updates import STEP
from tests.optim.twins import both, leaf, run, set_gradients

RULES = [("AdamW", {"lr": 0.01}), ("Adam", {"lr": 0.01, "amsgrad": True}), ("SGD", {"lr": 0.01, "momentum": 0.9})]
each_rule = pytest.mark.parametrize("name, options", RULES, ids=str)


def assert_agree(ours, theirs):
    for p, q in zip(ours, theirs):
        assert_close(p, q, units=6 * STEP)  # of 6 steps at most


@each_rule
@pytest.mark.parametrize("groups", [False, True])
def test_a_parameter_that_skips_steps_keeps_a_count_of_its_own(name, options, groups):
    ours, optimizer, theirs, twin = both(name, "float32", groups=groups, **options)
    for step in range(6):
        set_gradients(ours, theirs, step)
        if step % 3:
            ours[1].grad = theirs[1].grad = None
        optimizer.step()
        twin.step()
    assert_agree(ours, theirs)
    if name != "SGD":
        assert [optimizer.state[p]["step"].item() for p in ours] == [6, 2, 6, 6, 6]


@each_rule
def test_parameters_of_two_dtypes_in_one_group(name, options):
    singles, _, theirs_singles, _ = both(name, "float32")
    doubles, _, theirs_doubles, _ = both(name, "float64")
    ours = [p for pair in zip(singles, doubles) for p in pair]
    theirs = [p for pair in zip(theirs_singles, theirs_doubles) for p in pair]
    optimizer, twin = getattr(optim, name)(ours, **options), type(_)(theirs, **options)
    run(ours, optimizer, theirs, twin, range(4))
    assert_agree(singles, theirs_singles)
    assert_agree(doubles, theirs_doubles)


@each_rule
def test_a_loaded_state_takes_the_place_of_the_arrays_before(name, options):
    """The second optimizer has made steps, and a table of its moments, before it loads other ones."""
    ours, optimizer, theirs, twin = both(name, "float32", **options)
    run(ours, optimizer, theirs, twin, range(3))
    saved, values = copy.deepcopy(optimizer.state_dict()), [p._array.copy() for p in ours]
    run(ours, optimizer, theirs, twin, range(3, 5))
    expected = [p._array.copy() for p in ours]
    optimizer.load_state_dict(saved)
    for p, before in zip(ours, values):
        p._array[...] = before
    run(ours, optimizer, theirs, twin, range(3, 5))
    for p, after in zip(ours, expected):
        np.testing.assert_array_equal(p._array, after)


@each_rule
def test_parameters_and_moments_may_be_replaced_between_steps(name, options):
    ours, optimizer, theirs, twin = both(name, "float32", **options)
    run(ours, optimizer, theirs, twin, range(2))
    old = [p._array for p in ours]
    for p in ours:
        p.data = Tensor._of(p._array.copy())
        for key, moment in optimizer.state[p].items():
            optimizer.state[p][key] = Tensor._of(moment._array.copy())
    kept = [array.copy() for array in old]
    run(ours, optimizer, theirs, twin, range(2, 4))
    assert_agree(ours, theirs)
    for array, before in zip(old, kept):
        np.testing.assert_array_equal(array, before)


@each_rule
def test_the_plain_kernels_agree(name, options):
    ours, optimizer, theirs, twin = both(name, "float32", **options)
    with kernels.use("reference"):
        run(ours, optimizer, theirs, twin, range(3))
    run(ours, optimizer, theirs, twin, range(3, 6))
    assert_agree(ours, theirs)


@each_rule
def test_a_repeated_parameter_is_updated_twice_in_a_row(name, options):
    p, q = leaf(np.ones(40_000, np.float32)), leaf(np.ones(40_000, np.float32))
    with pytest.warns(UserWarning, match="duplicate parameters"):
        twice = getattr(optim, name)([p, p], **options)
    once = getattr(optim, name)([q], **options)
    p.grad = q.grad = Tensor._of(np.full(40_000, 0.5, np.float32))
    twice.step()
    once.step()
    once.step()
    np.testing.assert_array_equal(p._array, q._array)


def test_the_table_of_a_batch_holds_no_gradients():
    ours, optimizer, theirs, twin = both("AdamW", "float32")
    run(ours, optimizer, theirs, twin, range(2))
    table = optimizer._memos[0, "f"].get("table")
    gradients = {id(p.grad._array) for p in ours}
    assert table is None or not gradients & {id(x) for column in table.columns for x in column}
