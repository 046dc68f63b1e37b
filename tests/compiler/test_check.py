"""BADAK_COMPILE_CHECK: a replay that differs from running the step is found, whatever differs."""

from typing import Any

import pytest

import badak
from badak import nn, optim
from badak.compiler import check, compiled
from badak.core.errors import GraphError
from badak.nn import functional as F


@pytest.fixture(autouse=True)
def check_every_replay(monkeypatch):
    monkeypatch.setattr(check, "EVERY", 1)
    monkeypatch.setattr(compiled, "EVERY", 1)


class Training:
    """A small training whose recorded step can be tampered with."""

    def __init__(self):
        badak.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.3))
        self.optimizer = optim.AdamW(self.model.parameters(), lr=0.1)
        self.schedule = optim.lr_scheduler.StepLR(self.optimizer, 3)
        self.step: Any = badak.compile(self._step)
        for _ in range(8):
            self.step(badak.randn(5, 4))
        (self.plan,) = self.step.recordings

    def memory(self):
        return self.optimizer.state[self.model[0].bias]

    def _step(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x).square().mean()
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        return {"loss": loss}


TAMPERINGS = {
    "the result": (lambda t: t.plan.results.result["loss"]._array.fill(7.0), "its result['loss'] has other values"),
    "a parameter": (lambda t: t.model[0].weight._array.fill(7.0), "array of a tensor of shape (4, 4) has other values"),
    "a gradient": (lambda t: t.model[0].weight._grad._array.fill(7.0), "grad of a tensor of shape (4, 4) has other values"),
    "a lost gradient": (lambda t: t.model[0].weight._set_grad(None), "grad of a tensor of shape (4, 4) has other values"),
    "a buffer": (lambda t: t.model[1].running_mean._array.fill(7.0), "array of a tensor of shape (4,) has other values"),
    "a moment": (lambda t: t.memory()["exp_avg"]._array.fill(7.0), "array of a tensor of shape (4,) has other values"),
    "a count": (lambda t: t.memory()["step"]._array.fill(7.0), "array of a tensor of shape () has other values"),
    "the schedule": (lambda t: setattr(t.schedule, "last_epoch", 77), "last_epoch is 77 instead of 10"),
    "the rate": (lambda t: t.optimizer.param_groups[0].update(lr=77.0), "lr is 77.0 instead of"),
    "the generator": (lambda t: badak.manual_seed(1), "Generator._seed is 1 instead of 0"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_difference_is_an_error_of_two_lines(name):
    tamper, difference = TAMPERINGS[name]
    training = Training()
    training.step(badak.randn(5, 4))
    training.plan.steps.append(lambda: tamper(training))
    with pytest.raises(GraphError) as caught:
        training.step(badak.randn(5, 4))
    cause, fix = str(caught.value).split("\n")
    assert cause.startswith("compile: a replay of Training._step differs from running it: ") and difference in cause
    assert fix == "fix: badak.compile(..., disable=True) runs it as it is; report this, it should not happen"


def test_an_error_in_one_of_them_only_is_a_difference():
    step = badak.compile(lambda x, i: F.embedding(i, x))
    table = badak.randn(5, 3)
    for _ in range(4):
        step(table, badak.tensor([1, 2]))
    (plan,) = step.recordings
    with pytest.raises(IndexError, match="Embedding has 5 rows"):
        step(table, badak.tensor([1, 9]))
    plan.steps.clear()
    with pytest.raises(GraphError, match=r"one raises IndexOutOfRangeError\(.*, the other None"):
        step(table, badak.tensor([1, 9]))


@pytest.mark.slow
def test_checking_leaves_no_trace():
    """The step is run twice for each call, and yet counted once."""
    one, two = Training(), Training()
    two.step = two.step.function
    for training in (one, two):
        badak.manual_seed(3)
        for _ in range(5):
            training.step(badak.randn(5, 4))
    for mine, theirs in zip(one.model.state_dict().values(), two.model.state_dict().values()):
        assert badak.equal(mine, theirs)
    assert one.schedule.last_epoch == two.schedule.last_epoch
