"""Every optimizer against PyTorch's over 20 steps, and states that travel between the two."""

import copy

import numpy as np
import pytest
import torch

import badak
from badak import optim
from badak.tensor import Tensor
from tests.compare import assert_close
from tests.optim.twins import both, run, value
from tests.tiers import looped

STEP = 12  # units of a step: the most roundings on the way through a rule, on both sides, and what they do to the next one

OPTIONS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.3}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.5, "maximize": True}),
    ("Adam", {}),
    ("Adam", {"lr": 0.01, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.01, "betas": (0.3, 0.4)}),
    ("Adam", {"lr": 0.01, "betas": (0.0, 0.0)}),
    ("Adam", {"lr": 0.01, "eps": 0.0}),
    ("Adam", {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.01, "maximize": True}),
    ("Adam", {"lr": 0.01, "decoupled_weight_decay": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.01, "foreach": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.01, "weight_decay": 0.3, "amsgrad": True, "maximize": True}),
    ("AdamW", {"lr": 0.01, "fused": True}),
    ("Adagrad", {}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    ("Adagrad", {"maximize": True, "eps": 1e-3}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.01, "alpha": 0.8, "momentum": 0.9, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.01, "centered": True, "maximize": True, "eps": 1e-3}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.8, "weight_decay": 0.1, "eps": 1e-3, "maximize": True}),
    ("Adamax", {}),
    ("Adamax", {"lr": 0.01, "betas": (0.3, 0.9), "weight_decay": 0.1, "maximize": True}),
    ("NAdam", {}),
    ("NAdam", {"lr": 0.01, "weight_decay": 0.1, "momentum_decay": 0.3, "maximize": True}),
    ("NAdam", {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True, "betas": (0.3, 0.9)}),
    ("RAdam", {}),
    ("RAdam", {"lr": 0.01, "weight_decay": 0.1, "betas": (0.8, 0.9), "maximize": True}),
    ("RAdam", {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.1, "etas": (0.3, 1.7), "step_sizes": (0.01, 0.5), "maximize": True}),
    ("ASGD", {}),
    ("ASGD", {"lr": 0.1, "lambd": 0.2, "alpha": 0.5, "t0": 3, "weight_decay": 0.1, "maximize": True}),
]


@pytest.mark.parametrize("name, options", OPTIONS, ids=str)
@looped(dtype=["float32", "float64"])
def test_optimizer_agrees_with_pytorch_over_20_steps(name, options, dtype):
    ours, optimizer, theirs, twin = both(name, dtype, **options)
    for step in range(20):
        run(ours, optimizer, theirs, twin, [step])
        for p, q in zip(ours, theirs):
            assert_close(p, q, units=STEP * (step + 1))


@pytest.mark.parametrize("name, options", OPTIONS, ids=str)
def test_groups_with_settings_of_their_own_agree_with_pytorch(name, options):
    ours, optimizer, theirs, twin = both(name, groups=True, **options)
    run(ours, optimizer, theirs, twin, range(5))
    for p, q in zip(ours, theirs):
        assert_close(p, q, units=STEP * 8)


@pytest.mark.parametrize("name, options", OPTIONS, ids=str)
def test_state_dict_has_the_form_and_the_values_of_pytorchs(name, options):
    ours, optimizer, theirs, twin = both(name, "float32", groups=True, **options)
    run(ours, optimizer, theirs, twin, range(3))
    mine, other = optimizer.state_dict(), twin.state_dict()
    assert mine["param_groups"] == other["param_groups"]
    assert mine["state"].keys() == other["state"].keys()
    for number, entries in other["state"].items():
        assert mine["state"][number].keys() == {key for key in entries if entries[key] is not None}
        for key, found in mine["state"][number].items():
            expected = entries[key]
            assert value(found).dtype == value(expected).dtype and value(found).shape == tuple(expected.shape)
            assert_close(found, expected, units=STEP * 3)


def fresh(name, options, params):
    lib, leaf = (
        (optim, lambda p: Tensor._of(p._array.copy()).requires_grad_())
        if isinstance(params[0], Tensor)
        else (torch.optim, lambda p: p.detach().clone().requires_grad_())
    )
    params = [leaf(p) for p in params]
    return params, getattr(lib, name)(params, **options)


@pytest.mark.parametrize("name, options", OPTIONS, ids=str)
def test_a_state_of_pytorch_goes_on_here(name, options):
    ours, optimizer, theirs, twin = both(name, **options)
    run(ours, optimizer, theirs, twin, range(4))
    again, resumed = fresh(name, options, ours)
    resumed.load_state_dict(twin.state_dict())
    run(again, resumed, theirs, twin, range(4, 8))
    for p, q in zip(again, theirs):
        assert_close(p, q, units=STEP * 8)


@pytest.mark.parametrize("name, options", OPTIONS, ids=str)
def test_our_state_goes_on_in_pytorch(name, options):
    ours, optimizer, theirs, twin = both(name, **options)
    run(ours, optimizer, theirs, twin, range(4))
    state = optimizer.state_dict()
    state["state"] = {
        n: {k: torch.from_numpy(v._array.copy()) for k, v in entries.items()} for n, entries in state["state"].items()
    }
    again, resumed = fresh(name, options, theirs)
    resumed.load_state_dict(state)
    run(ours, optimizer, again, resumed, range(4, 8))
    units = 1e-10 / 2.2e-16 if name in ("NAdam", "ASGD") else STEP * 8  # PyTorch goes on with their float32 numbers as float64
    for p, q in zip(ours, again):
        assert_close(p, q, units=units)


@pytest.mark.parametrize("name, options", OPTIONS, ids=str)
def test_resumed_equals_uninterrupted_bit_for_bit(name, options):
    ours, optimizer, theirs, twin = both(name, "float32", **options)
    run(ours, optimizer, theirs, twin, range(3))
    again, resumed = fresh(name, options, ours)
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    run(ours, optimizer, theirs, twin, range(3, 6))
    run(again, resumed, theirs, twin, range(3, 6))
    for p, q in zip(ours, again):
        np.testing.assert_array_equal(p._array, q._array)


def test_steps_are_counted_in_double_precision_where_that_is_the_default_as_in_pytorch():
    badak.set_default_dtype(badak.float64)
    torch.set_default_dtype(torch.float64)
    try:
        ours, optimizer, theirs, twin = both("Adam", "float32")
        run(ours, optimizer, theirs, twin, [0])
    finally:
        badak.set_default_dtype(badak.float32)
        torch.set_default_dtype(torch.float32)
    assert optimizer.state[ours[0]]["step"].numpy().dtype == twin.state[theirs[0]]["step"].numpy().dtype == np.float64


@pytest.mark.slow
@pytest.mark.parametrize("name, options", [row for row in OPTIONS if "fused" not in row[1]], ids=str)
def test_complex_parameters_change_as_pairs_of_real_ones(name, options):
    rng = np.random.default_rng(0)
    values = [rng.standard_normal((3, 2)) + 1j * rng.standard_normal((3, 2)) for _ in range(6)]
    p, q = Tensor._of(values[0].copy()).requires_grad_(), torch.tensor(values[0], requires_grad=True)
    optimizer, twin = getattr(optim, name)([p], **options), getattr(torch.optim, name)([q], **options)
    for g in values[1:]:
        p.grad, q.grad = Tensor._of(g.copy()), torch.tensor(g)
        optimizer.step()
        twin.step()
    assert_close(p, q, units=STEP * 5)
    for key, found in optimizer.state[p].items():
        assert_close(found, twin.state[q][key], units=STEP * 5)


def test_a_loaded_state_shares_no_memory_with_what_it_came_from():
    ours, optimizer, theirs, twin = both("Adam")
    run(ours, optimizer, theirs, twin, range(2))
    state = optimizer.state_dict()
    before = state["state"][0]["exp_avg"]._array.copy()
    again, resumed = fresh("Adam", {}, ours)
    resumed.load_state_dict(state)
    run(again, resumed, theirs, twin, range(2, 4))
    np.testing.assert_array_equal(state["state"][0]["exp_avg"]._array, before)
    assert state["state"][0]["step"].item() == 2


def test_moments_are_loaded_in_the_dtype_of_the_parameter_and_steps_in_their_own():
    ours, optimizer, theirs, twin = both("Adam", "float64")
    run(ours, optimizer, theirs, twin, range(2))
    singles = [Tensor._of(p._array.astype(np.float32)).requires_grad_() for p in ours]
    resumed = optim.Adam(singles)
    resumed.load_state_dict(optimizer.state_dict())
    assert resumed.state[singles[0]]["exp_avg"]._array.dtype == np.float32
    assert resumed.state[singles[0]]["step"]._array.dtype == np.float32


def test_a_step_count_that_is_a_plain_number_is_understood():
    ours, optimizer, theirs, twin = both("Adam")
    run(ours, optimizer, theirs, twin, range(2))
    state = optimizer.state_dict()
    for entries in state["state"].values():
        entries["step"] = 2
    again, resumed = fresh("Adam", {}, ours)
    resumed.load_state_dict(state)
    run(again, resumed, theirs, twin, [2])
    for p, q in zip(again, theirs):
        assert_close(p, q, units=STEP * 8)


def test_a_learning_rate_may_be_a_tensor():
    ours, theirs = both("Adam")[::2]
    optimizer, twin = (
        optim.Adam(ours, lr=Tensor._of(np.array(0.01))),
        torch.optim.Adam(theirs, lr=torch.tensor(0.01, dtype=torch.float64)),
    )
    run(ours, optimizer, theirs, twin, range(3))
    for p, q in zip(ours, theirs):
        assert_close(p, q, units=STEP * 8)


def test_parameters_without_gradient_stay_and_remember_nothing():
    ours, optimizer, theirs, twin = both("Adam")
    run(ours, optimizer, theirs, twin, [0])
    kept = ours[1]._array.copy()
    ours[1].grad = None
    optimizer.step()
    np.testing.assert_array_equal(ours[1]._array, kept)
    assert optimizer.state[ours[1]]["step"].item() == 1 and optimizer.state[ours[0]]["step"].item() == 2


def test_adamw_stays_adamw_after_loading_a_state_of_adam():
    ours, optimizer, theirs, twin = both("Adam", weight_decay=0.1)
    run(ours, optimizer, theirs, twin, [0])
    again, decoupled = fresh("AdamW", {}, ours)
    decoupled.load_state_dict(optimizer.state_dict())
    assert decoupled.param_groups[0]["decoupled_weight_decay"] is True


def test_non_contiguous_parameters_are_updated_in_place():
    base, twin_base = np.arange(12.0).reshape(3, 4), torch.arange(12.0, dtype=torch.float64).reshape(3, 4).t()
    p, q = Tensor._of(base.T).requires_grad_(), twin_base.detach().requires_grad_()
    p.grad, q.grad = Tensor._of(np.ones((4, 3))), torch.ones(4, 3, dtype=torch.float64)
    for lib, x in ((optim, p), (torch.optim, q)):
        lib.AdamW([x]).step()
    assert_close(base.T, q, units=STEP)
