"""Every optimizer and every schedule over 20 steps against PyTorch's, and states that travel between the two."""

import numpy as np
import pytest
import torch

import badak
from tests.parity.compare import DEEP, array, assert_same

both_dtypes = pytest.mark.parametrize("dtype", ["float32", "float64"])
STEPS = 20

OPTIMIZERS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"lr": 0.1, "maximize": True}),
    ("Adam", {"lr": 0.01}),
    ("Adam", {"lr": 0.01, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.01, "amsgrad": True}),
    ("Adam", {"lr": 0.01, "maximize": True}),
    ("AdamW", {"lr": 0.01}),
    ("AdamW", {"lr": 0.01, "weight_decay": 0.3, "amsgrad": True}),
]


def label(value) -> str:
    return str(value)


def parameters(lib, dtype: str):
    rng = np.random.default_rng(0)
    return [lib.nn.Parameter(lib.from_numpy(rng.standard_normal(shape).astype(dtype))) for shape in [(4, 3), (5,), (1, 1, 7)]]


def set_gradients(lib, params, dtype: str, step: int) -> None:
    """Gradients of many sizes: at 1e-8 the places where an eps can stand give different answers."""
    rng = np.random.default_rng(step)
    for p in params:
        size = 10.0 ** rng.integers(-9, 1, tuple(p.shape))
        p.grad = lib.from_numpy((rng.standard_normal(tuple(p.shape)) * size).astype(dtype))


@pytest.mark.parametrize("name, options", OPTIMIZERS, ids=label)
@both_dtypes
def test_optimizer_agrees_with_pytorch_over_20_steps(name, options, dtype):
    runs = []
    for lib in (badak, torch):
        params = parameters(lib, dtype)
        optimizer = getattr(lib.optim, name)(params, **options)
        trail = []
        for step in range(STEPS):
            set_gradients(lib, params, dtype, step)
            optimizer.step()
            trail.append([array(p).copy() for p in params])
        runs.append((trail, optimizer.state_dict()))
    (found, state), (expected, twin_state) = runs
    for step in range(STEPS):
        for a, b in zip(found[step], expected[step]):
            assert_same(a, b, DEEP, f"{name} after step {step + 1}")
    assert state["param_groups"][0]["params"] == twin_state["param_groups"][0]["params"]
    assert set(state["state"]) == set(twin_state["state"])
    for number, entries in twin_state["state"].items():
        assert set(state["state"][number]) == set(entries), f"{name}: state keys"
        for key, value in entries.items():
            if value is not None:
                assert_same(state["state"][number][key], value, DEEP, f"{name}: state {key}")


@pytest.mark.parametrize("name, options", OPTIMIZERS, ids=label)
def test_a_state_of_pytorch_continues_here(name, options):
    theirs = parameters(torch, "float64")
    optimizer = getattr(torch.optim, name)(theirs, **options)
    for step in range(5):
        set_gradients(torch, theirs, "float64", step)
        optimizer.step()
    ours = [badak.nn.Parameter(badak.from_numpy(array(p).copy())) for p in theirs]
    continued = getattr(badak.optim, name)(ours, **options)
    state = optimizer.state_dict()
    moved = {
        n: {k: badak.from_numpy(array(v).copy()) if torch.is_tensor(v) else v for k, v in entries.items()}
        for n, entries in state["state"].items()
    }
    continued.load_state_dict({"state": moved, "param_groups": state["param_groups"]})
    for step in range(5, 10):
        for lib, params, opt in ((torch, theirs, optimizer), (badak, ours, continued)):
            set_gradients(lib, params, "float64", step)
            opt.step()
    for a, b in zip(ours, theirs):
        assert_same(a, b, DEEP, name)


SCHEDULES = [
    ("LambdaLR", {"lr_lambda": lambda step: 0.9**step}),
    ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("LinearLR", {"start_factor": 0.2, "total_iters": 7}),
    ("CosineAnnealingLR", {"T_max": 12, "eta_min": 1e-3}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 21}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 21, "anneal_strategy": "linear", "three_phase": True}),
    ("ConstantLR", {"factor": 0.3, "total_iters": 4}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("MultiStepLR", {"milestones": [3, 7], "gamma": 0.1}),
    ("CosineAnnealingWarmRestarts", {"T_0": 4, "T_mult": 2}),
    ("PolynomialLR", {"total_iters": 9, "power": 2.0}),
]
SCHEDULES = [row for row in SCHEDULES if hasattr(badak.optim.lr_scheduler, row[0])]


def rates(lib, make, use_metric: bool = False, optimizer: str = "SGD"):
    params = parameters(lib, "float64")
    opt = getattr(lib.optim, optimizer)([{"params": params[:1], "lr": 0.1}, {"params": params[1:], "lr": 0.02}], lr=0.1)
    schedule = make(lib, opt)
    found = [[group["lr"] for group in opt.param_groups]]
    for step in range(STEPS):
        set_gradients(lib, params, "float64", step)
        opt.step()
        schedule.step(*([1.0 / (1 + step) if step < 5 else 0.2] if use_metric else []))
        found.append([group["lr"] for group in opt.param_groups])
    return found


@pytest.mark.parametrize("name, options", SCHEDULES, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_schedule_agrees_with_pytorch_over_20_steps(name, options, optimizer):
    def make(lib, opt):
        return getattr(lib.optim.lr_scheduler, name)(opt, **options)

    np.testing.assert_allclose(rates(badak, make, optimizer=optimizer), rates(torch, make, optimizer=optimizer), rtol=1e-12)


def test_sequential_schedules_agree_with_pytorch():
    def make(lib, opt):
        kinds = lib.optim.lr_scheduler
        parts = [kinds.LinearLR(opt, start_factor=0.1, total_iters=5), kinds.CosineAnnealingLR(opt, T_max=15)]
        return kinds.SequentialLR(opt, parts, milestones=[5])

    np.testing.assert_allclose(rates(badak, make), rates(torch, make), rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [{"patience": 2}, {"patience": 0, "cooldown": 1, "min_lr": 0.01}, {"mode": "max", "threshold_mode": "abs"}],
    ids=str,
)
def test_reduce_on_plateau_agrees_with_pytorch(options):
    def make(lib, opt):
        return lib.optim.lr_scheduler.ReduceLROnPlateau(opt, **options)

    np.testing.assert_allclose(rates(badak, make, use_metric=True), rates(torch, make, use_metric=True), rtol=1e-12)


@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf")])
@pytest.mark.parametrize("limit", [0.5, 1e6])
def test_clipping_by_norm_agrees_with_pytorch(norm_type, limit):
    results = []
    for lib in (badak, torch):
        params = parameters(lib, "float64")
        set_gradients(lib, params, "float64", 1)
        total = lib.nn.utils.clip_grad_norm_(params, limit, norm_type=norm_type)
        results.append([array(total), *(array(p.grad) for p in params)])
    for a, b in zip(*results):
        assert_same(a, b, 18, "clip_grad_norm_")


def test_clipping_by_value_agrees_with_pytorch():
    results = []
    for lib in (badak, torch):
        params = parameters(lib, "float64")
        set_gradients(lib, params, "float64", 1)
        lib.nn.utils.clip_grad_value_(params, 0.1)
        results.append([array(p.grad) for p in params])
    for a, b in zip(*results):
        assert_same(a, b, 0, "clip_grad_value_")
