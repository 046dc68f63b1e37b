"""Every schedule against PyTorch's over 50 steps; states; words."""

import copy
import inspect
import math
import warnings

import numpy as np
import pytest
import torch

import badak
from badak import optim
from badak.core.errors import BadakWarning
from tests.optim.twins import both, set_gradients

SCHEDULES = [
    ("LambdaLR", {"lr_lambda": lambda t: 0.9**t}),
    ("LambdaLR", {"lr_lambda": [lambda t: 0.9**t, lambda t: 1 / (1 + t)]}),
    ("MultiplicativeLR", {"lr_lambda": lambda t: 0.97}),
    ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [3, 7, 7, 30], "gamma": 0.3}),
    ("ConstantLR", {"factor": 0.3, "total_iters": 4}),
    ("LinearLR", {"start_factor": 0.2, "total_iters": 7}),
    ("LinearLR", {"start_factor": 1.0, "end_factor": 0.0, "total_iters": 60}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("PolynomialLR", {"total_iters": 9, "power": 2.0}),
    ("CosineAnnealingLR", {"T_max": 12, "eta_min": 1e-3}),
    ("CosineAnnealingLR", {"T_max": 50}),
    ("CosineAnnealingWarmRestarts", {"T_0": 4, "T_mult": 2, "eta_min": 1e-3}),
    ("CosineAnnealingWarmRestarts", {"T_0": 7}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 50}),
    (
        "OneCycleLR",
        {"max_lr": [0.5, 0.1], "epochs": 6, "steps_per_epoch": 10, "anneal_strategy": "linear", "three_phase": True},
    ),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 50, "cycle_momentum": False, "pct_start": 0.1}),
]
ids = [f"{name}-{number}" for number, (name, _) in enumerate(SCHEDULES)]


def trail(ours, opt, theirs, twin, schedules, steps=50, start=0):
    """Take the steps in both and return the settings seen: [(ours, theirs), ...]."""
    seen = []
    for step in range(start, start + steps):
        set_gradients(ours, theirs, step)
        for one in (opt, twin):
            one.step()
        for one in schedules:
            one.step()
        seen.append([[(g["lr"], g.get("betas"), g.get("momentum")) for g in one.param_groups] for one in (opt, twin)])
        assert schedules[0].get_last_lr() == [g["lr"] for g in opt.param_groups]
    return seen


@pytest.mark.parametrize("name, options", SCHEDULES, ids=ids)
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_schedule_equals_pytorchs_over_50_steps(name, options, optimizer):
    extra = {"momentum": 0.9} if optimizer == "SGD" else {}
    ours, opt, theirs, twin = both(optimizer, groups=True, lr=0.1, **extra)
    schedules = [getattr(lib, name)(o, **options) for lib, o in ((optim.lr_scheduler, opt), (torch.optim.lr_scheduler, twin))]
    assert [g["lr"] for g in opt.param_groups] == [g["lr"] for g in twin.param_groups]
    for mine, other in trail(ours, opt, theirs, twin, schedules, 49):
        assert mine == other


@pytest.mark.parametrize("name, options", SCHEDULES, ids=ids)
def test_state_dict_is_pytorchs_and_travels_both_ways(name, options):
    ours, opt, theirs, twin = both("Adam", groups=True, lr=0.1)
    schedules = [getattr(lib, name)(o, **options) for lib, o in ((optim.lr_scheduler, opt), (torch.optim.lr_scheduler, twin))]
    trail(ours, opt, theirs, twin, schedules, 10)
    states = [schedule.state_dict() for schedule in schedules]
    assert states[0] == states[1]
    again, opt2, theirs2, twin2 = both("Adam", groups=True, lr=0.1)
    resumed = [getattr(lib, name)(o, **options) for lib, o in ((optim.lr_scheduler, opt2), (torch.optim.lr_scheduler, twin2))]
    for one, source in ((opt2, opt), (twin2, twin)):
        state = copy.deepcopy(source.state_dict())
        one.load_state_dict(state)
    for one, state in zip(resumed, reversed(states)):
        one.load_state_dict(copy.deepcopy(state))
    expected = trail(ours, opt, theirs, twin, schedules, 10, 10)
    assert trail(again, opt2, theirs2, twin2, resumed, 10, 10) == expected


@pytest.mark.parametrize(
    "name, options", [row for row in SCHEDULES if "OneCycle" not in row[0]], ids=[i for i in ids if "OneCycle" not in i]
)
def test_last_epoch_goes_on_where_the_groups_have_their_start(name, options):
    seen = []
    for lib, o in zip((optim.lr_scheduler, torch.optim.lr_scheduler), both("SGD", groups=True, lr=0.1)[1::2]):
        for group in o.param_groups:
            group["initial_lr"] = group["lr"]
        seen.append([g["lr"] for _ in [getattr(lib, name)(o, **options, last_epoch=8)] for g in o.param_groups])
    assert seen[0] == seen[1]


def test_last_epoch_without_a_start_is_explained():
    with pytest.raises(ValueError, match=r"param 'initial_lr' is not specified in param_groups\[0\] when resuming scheduler"):
        optim.lr_scheduler.StepLR(both("SGD")[1], 3, last_epoch=4)


def composed(lib, opt):
    parts = [
        lib.LinearLR(opt, start_factor=0.1, total_iters=5),
        lib.CosineAnnealingLR(opt, T_max=15),
        lib.ConstantLR(opt, 0.5, 3),
    ]
    return lib.SequentialLR(opt, parts, milestones=[5, 20])


def chained(lib, opt):
    return lib.ChainedScheduler([lib.ConstantLR(opt, 0.1, 3), lib.ExponentialLR(opt, 0.9)])


@pytest.mark.parametrize("make", [composed, chained])
def test_schedules_of_schedules_equal_pytorchs(make):
    ours, opt, theirs, twin = both("SGD", groups=True, lr=0.1)
    schedules = [make(optim.lr_scheduler, opt), make(torch.optim.lr_scheduler, twin)]
    for mine, other in trail(ours, opt, theirs, twin, schedules):
        assert mine == other
    states = [schedule.state_dict() for schedule in schedules]
    assert states[0] == states[1]
    again = make(optim.lr_scheduler, both("SGD", groups=True, lr=0.1)[1])
    again.load_state_dict(copy.deepcopy(states[1]))
    assert again.state_dict() == states[0]


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 2},
        {"patience": 0, "cooldown": 2, "min_lr": 0.01},
        {"mode": "max", "threshold_mode": "abs", "threshold": 0.05},
        {"mode": "max", "patience": 1},
        {"threshold_mode": "abs", "patience": 1, "min_lr": [0.02, 0.001]},
    ],
    ids=str,
)
def test_reduce_on_plateau_equals_pytorchs(options):
    _, opt, _, twin = both("SGD", groups=True, lr=0.1)
    mine, other = (
        optim.lr_scheduler.ReduceLROnPlateau(opt, **options),
        torch.optim.lr_scheduler.ReduceLROnPlateau(twin, **options),
    )
    rng = np.random.default_rng(0)
    for step in range(50):
        metric = 1.0 / (1 + step) if step < 5 else 0.2 + 0.1 * rng.random()
        mine.step(metric)
        other.step(metric)
        assert [g["lr"] for g in opt.param_groups] == [g["lr"] for g in twin.param_groups]
    assert mine.state_dict() == other.state_dict()


def test_noam_follows_the_papers_equation():
    optimizer = both("Adam", lr=1.0)[1]
    schedule = optim.lr_scheduler.NoamLR(optimizer, d_model=512, warmup_steps=4)
    rates = []
    for n in range(1, 20):
        rates.append(optimizer.param_groups[0]["lr"])
        assert rates[-1] == pytest.approx(512**-0.5 * min(n**-0.5, n * 4**-1.5), rel=1e-15)
        optimizer._opt_called = True
        schedule.step()
    assert rates.index(max(rates)) + 1 == 4 and max(rates) == pytest.approx((512 * 4) ** -0.5)


@pytest.mark.parametrize("name", [n for n in dir(optim.lr_scheduler) if n[0].isupper() and hasattr(torch.optim.lr_scheduler, n)])
def test_signature_is_pytorchs(name):
    def shape(cls):
        return [(p.name, p.kind, p.default) for p in inspect.signature(cls).parameters.values()]

    assert shape(getattr(optim.lr_scheduler, name)) == shape(getattr(torch.optim.lr_scheduler, name))


def test_a_users_schedule_works_as_in_pytorch():
    def make(lib):
        class Half(lib._LRScheduler):
            def __init__(self, optimizer, last_epoch=-1):
                super().__init__(optimizer, last_epoch)

            def get_lr(self):
                return [lr * 0.5**self.last_epoch for lr in self.base_lrs]

        return Half

    ours, opt, theirs, twin = both("SGD", groups=True, lr=0.1)
    schedules = [make(lib)(o) for lib, o in ((optim.lr_scheduler, opt), (torch.optim.lr_scheduler, twin))]
    for mine, other in trail(ours, opt, theirs, twin, schedules, 5):
        assert mine == other
    assert schedules[0]._step_count == schedules[1]._step_count == 6


def test_the_rate_may_be_a_tensor_and_stays_the_same_one():
    from badak.tensor import Tensor

    optimizer = optim.SGD(both("SGD")[0], lr=Tensor._of(np.array(0.1)))
    rate = optimizer.param_groups[0]["lr"]
    schedule = optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer._opt_called = True
    schedule.step()
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == pytest.approx(0.01) and schedule.base_lrs[0].item() == 0.1


def test_stepping_the_schedule_first_warns_once_with_pytorchs_first_words():
    ours, opt, theirs, _ = both("SGD", lr=0.1)
    schedule = optim.lr_scheduler.StepLR(opt, 2)
    with pytest.warns(UserWarning) as caught:
        schedule.step()
        schedule.step()
    assert [str(w.message) for w in caught] == [
        "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first value of the schedule, lr=0.1, "
        "was never used.\n"
        "fix: call optimizer.step() first, then lr_scheduler.step(): "
        "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
    ]
    assert caught[0].category is BadakWarning and caught[0].filename == __file__


def test_the_right_order_does_not_warn():
    ours, opt, theirs, _ = both("SGD", lr=0.1)
    schedule = optim.lr_scheduler.StepLR(opt, 2)
    set_gradients(ours, theirs, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opt.step()
        schedule.step()


def test_an_epoch_can_be_given_the_old_way():
    values = []
    ours, mine, theirs, other = both("SGD", groups=True, lr=0.1)
    set_gradients(ours, theirs, 0)
    for lib, opt in zip((optim.lr_scheduler, torch.optim.lr_scheduler), (mine, other)):
        schedule = lib.StepLR(opt, 2)
        opt.step()
        with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step\\(\\)` was not necessary"):
            schedule.step(5)
        values.append(schedule.get_last_lr())
    assert values[0] == values[1]


def test_warm_restarts_take_fractions_of_epochs():
    values = []
    for lib, opt in zip((optim.lr_scheduler, torch.optim.lr_scheduler), both("SGD", groups=True, lr=0.1)[1::2]):
        schedule = lib.CosineAnnealingWarmRestarts(opt, 2, T_mult=2)
        values.append([])
        for epoch in np.arange(0, 20, 0.25):
            schedule.step(float(epoch))
            values[-1].append(schedule.get_last_lr())
    assert values[0] == values[1]


L = optim.lr_scheduler


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda o: L.StepLR("x", 3), "StepLR: str is not an Optimizer"),
        (lambda o: L.LambdaLR(o, [len] * 4), "LambdaLR: expected one lr_lambda for each of 1 groups; got 4"),
        (lambda o: L.LambdaLR(o, 3), "lr_lambda should be a function, but got int"),
        (lambda o: L.ConstantLR(o, 2), "ConstantLR: expected 0 < factor <= 1; got 2"),
        (lambda o: L.LinearLR(o, 0), "LinearLR: expected 0 < start_factor <= 1; got 0"),
        (lambda o: L.LinearLR(o, 1, 2), "LinearLR: expected 0 <= end_factor <= 1; got 2"),
        (
            lambda o: L.CosineAnnealingWarmRestarts(o, 0),
            "CosineAnnealingWarmRestarts: expected a positive integer T_0; got 0",
        ),
        (
            lambda o: L.OneCycleLR(o, 0.1),
            "OneCycleLR: You must define either total_steps OR (epochs AND steps_per_epoch)",
        ),
        (lambda o: L.OneCycleLR(o, 0.1, 0), "OneCycleLR: expected a positive integer total_steps; got 0"),
        (lambda o: L.OneCycleLR(o, 0.1, 5, pct_start=2.0), "OneCycleLR: expected a float pct_start in [0, 1]; got 2.0"),
        (lambda o: L.ReduceLROnPlateau(o, "x"), "ReduceLROnPlateau: expected mode 'min' or 'max'; got 'x'"),
        (lambda o: L.ReduceLROnPlateau(o, factor=1.0), "ReduceLROnPlateau: expected factor < 1; got 1.0"),
        (
            lambda o: L.SequentialLR(o, [L.ConstantLR(o)], [3]),
            "SequentialLR expects one milestone fewer than schedulers; got 1 schedulers and 1 milestones",
        ),
        (lambda o: L.ChainedScheduler([]), "ChainedScheduler expects at least one scheduler, but got no scheduler."),
        (
            lambda o: L.ChainedScheduler([L.ReduceLROnPlateau(o)]),
            "ChainedScheduler does not support ReduceLROnPlateau (index 0)",
        ),
        (lambda o: L.NoamLR(o, 0), "NoamLR: expected d_model > 0; got 0"),
    ],
)
def test_arguments_without_meaning_are_named(make, text):
    with pytest.raises((ValueError, TypeError)) as caught:
        make(both("SGD")[1])
    assert str(caught.value).startswith(text) and "\nfix: " in str(caught.value)


def test_one_cycle_ends_with_its_steps():
    optimizer = both("Adam")[1]
    schedule = L.OneCycleLR(optimizer, 0.1, 3)
    optimizer._opt_called = True
    for _ in range(3):
        schedule.step()
    with pytest.raises(ValueError, match="Tried to step 4 times. The specified number of total steps is 3"):
        schedule.step()
    assert math.isfinite(optimizer.param_groups[0]["lr"])


@pytest.mark.filterwarnings("ignore:Detected call", "ignore:step\\(\\) before backward")
@pytest.mark.parametrize("steps", [0, 1, 3, 5])
def test_the_state_of_schedules_within_schedules_comes_back(steps):
    """Each SequentialLR takes its schedules a step back, so that those of an inner one that has not begun stand at -2."""
    rates = []
    for lib in (torch, badak):
        schedules = lib.optim.lr_scheduler

        def made(lib=lib, schedules=schedules):
            optimizer = lib.optim.SGD([lib.nn.Parameter(lib.ones(2))], lr=1.0)
            inner = [schedules.LinearLR(optimizer, 0.5, total_iters=2), schedules.StepLR(optimizer, 2)]
            outer = [schedules.SequentialLR(optimizer, inner, [2]), schedules.ExponentialLR(optimizer, 0.9)]
            return optimizer, schedules.SequentialLR(optimizer, outer, [4])

        optimizer, schedule = made()
        for _ in range(steps):
            optimizer.step()
            schedule.step()
        state, (again, loaded) = (optimizer.state_dict(), schedule.state_dict()), made()
        again.load_state_dict(state[0])
        loaded.load_state_dict(state[1])
        found = []
        for _ in range(6):
            again.step()
            loaded.step()
            found.append(again.param_groups[0]["lr"])
        rates.append(found)
    assert rates[1] == pytest.approx(rates[0])


@pytest.mark.filterwarnings("ignore:Detected call")
def test_what_cannot_begin_at_a_milestone_is_refused_when_it_is_made():
    """PyTorch's NotImplementedError comes when the milestone is reached."""
    S = optim.lr_scheduler
    optimizer = optim.SGD([badak.nn.Parameter(badak.ones(2))], lr=1.0)
    for make in (S.ChainedScheduler, lambda schedules: S.SequentialLR(optimizer, schedules, [])):
        late = make([S.StepLR(optimizer, 2)])
        with pytest.raises(NotImplementedError, match="has no rate of its own to begin with at a milestone"):
            S.SequentialLR(optimizer, [S.StepLR(optimizer, 2), late], [3])
        S.SequentialLR(optimizer, [late, S.StepLR(optimizer, 2)], [3])


RATES = {  # schedules of rates that are tensors
    "CyclicLR": lambda lib, opt, of: lib.optim.lr_scheduler.CyclicLR(
        opt, of(0.1), of(0.4), 2, base_momentum=of(0.7), max_momentum=of(0.9)
    ),
    "OneCycleLR": lambda lib, opt, of: lib.optim.lr_scheduler.OneCycleLR(
        opt, of(0.4), 8, base_momentum=of(0.7), max_momentum=of(0.9)
    ),
    "SWALR": lambda lib, opt, of: lib.optim.swa_utils.SWALR(opt, of(0.4), 4),
    "StepLR": lambda lib, opt, of: lib.optim.lr_scheduler.StepLR(opt, 2),
}


@pytest.mark.filterwarnings("ignore:.*lr_scheduler.step")
@pytest.mark.parametrize("tensor_first", [True, False])
@pytest.mark.parametrize("name", RATES)
def test_rates_that_are_tensors_are_as_numbers_and_may_change_afterwards(name, tensor_first):
    def story(lib, of, first):
        given: list = []

        def kept(number):
            given.append(of(number))
            return given[-1]

        lr = of(0.1) if first else 0.1
        p = lib.nn.Parameter(lib.ones(1))
        p.grad = lib.ones(1)
        opt = lib.optim.SGD([p], lr=lr, momentum=0.9)
        schedule = RATES[name](lib, opt, kept)
        for each in given:
            if not isinstance(each, float):
                each.mul_(7)
        seen = []
        for _ in range(6):
            opt.step()
            schedule.step()
            seen.append(float(opt.param_groups[0]["lr"]))
        return seen, not first or opt.param_groups[0]["lr"] is lr

    numbers = story(badak, float, False)[0]
    for lib in (torch, badak) if tensor_first else (badak,):  # PyTorch's CyclicLR changes its base_lr, where the rate was a number
        seen, kept = story(lib, lib.tensor, tensor_first)
        assert seen == pytest.approx(numbers, abs=1e-6) and kept
