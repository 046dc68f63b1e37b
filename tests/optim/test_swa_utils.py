"""Averages of weights over training: each step as PyTorch's, state and schedule too."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import BadakError

AVERAGES = {
    "equal": lambda swa: {},
    "ema": lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.9)},
    "ema of one": lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.9)},
    "swa": lambda swa: {"multi_avg_fn": swa.get_swa_multi_avg_fn()},
    "swa of one": lambda swa: {"avg_fn": swa.get_swa_avg_fn()},
    "buffers": lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.5), "use_buffers": True},
    "own": lambda swa: {"avg_fn": lambda a, w, n: 0.25 * a + 0.75 * w},
}


def model(lib):
    lib.manual_seed(0)
    return lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.BatchNorm1d(4), lib.nn.Linear(4, 2))


def batches(lib):
    rng = np.random.default_rng(3)
    return [lib.from_numpy(rng.standard_normal((6, 3)).astype("f")) for _ in range(4)]


def numbers(state):
    return {name: value.detach().numpy().astype("d") for name, value in state.items()}


def trained(lib, name):
    """The averages after four steps, then with batch norms of their own."""
    swa, net = lib.optim.swa_utils, model(lib)
    averaged = swa.AveragedModel(net, **AVERAGES[name](swa))
    optimizer = lib.optim.SGD(net.parameters(), lr=0.1)
    for x in batches(lib):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
        averaged.update_parameters(net)
    before = numbers(averaged.state_dict())
    swa.update_bn([(x, 1) for x in batches(lib)], averaged)
    return before, numbers(averaged.state_dict()), averaged(batches(lib)[0]).detach().numpy()


@pytest.mark.parametrize("name", AVERAGES)
def test_averages_are_pytorchs(name):
    ours, theirs = trained(badak, name), trained(torch, name)
    for mine, other in zip(ours[:2], theirs[:2]):
        assert list(mine) == list(other)
        for key in mine:
            np.testing.assert_allclose(mine[key], other[key], rtol=1e-5, atol=1e-6, err_msg=key)
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore:step\\(\\) before backward")
@pytest.mark.filterwarnings("ignore:To get the last learning rate")
@pytest.mark.filterwarnings("ignore:Detected call of")
@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 1, 4])
def test_the_schedule_is_pytorchs_and_goes_on_from_its_state(strategy, epochs):
    def rates(lib, resume):
        optimizer = lib.optim.SGD([{"params": [lib.nn.Parameter(lib.ones(1))], "lr": lr} for lr in (0.1, 0.5)], lr=0.1)
        earlier = lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        schedule = lib.optim.swa_utils.SWALR(optimizer, [0.05, 0.02], epochs, strategy)
        found = []
        for step in range(7):
            optimizer.step()
            (earlier if step == 2 else schedule).step()
            found.append([group["lr"] for group in optimizer.param_groups])
            if resume and step == 3:
                state = schedule.state_dict()
                schedule = lib.optim.swa_utils.SWALR(optimizer, [0.05, 0.02], epochs, strategy)
                schedule.load_state_dict(state)
        return found

    for resume in (False, True):
        np.testing.assert_allclose(rates(badak, resume), rates(torch, resume), rtol=1e-9)


def test_what_has_no_meaning_is_refused():
    swa, net = badak.optim.swa_utils, badak.nn.Linear(1, 1)
    optimizer = badak.optim.SGD(net.parameters(), lr=0.1)
    for call, text in (
        (lambda: swa.get_ema_multi_avg_fn(1.5), "Invalid decay value 1.5 provided"),
        (lambda: swa.AveragedModel(net, avg_fn=max, multi_avg_fn=max), "Only one of avg_fn and multi_avg_fn should be provided"),
        (lambda: swa.SWALR(optimizer, [0.1, 0.2]), "SWALR: swa_lr must have one number for each group: 1 group, got 2"),
        (lambda: swa.SWALR(optimizer, 0.1, anneal_strategy="step"), "anneal_strategy must be one of 'cos' or 'linear'"),
        (lambda: swa.SWALR(optimizer, 0.1, anneal_epochs=-1), "anneal_epochs must be equal or greater than 0, got -1"),
        (lambda: swa.SWALR(optimizer, 0.1, anneal_epochs=1.5), "anneal_epochs must be equal or greater than 0, got 1.5"),
    ):
        with pytest.raises(BadakError) as caught:
            call()
        assert str(caught.value).startswith(text) and "\nfix: " in str(caught.value)
