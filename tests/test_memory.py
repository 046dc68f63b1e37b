"""Memory is given back: nothing grows from step to step, and without gradients nothing is kept."""

import gc
import tracemalloc
from pathlib import Path

import pytest

import badak
from badak import nn
from badak.nn import functional as F

C = 32


def resident_kb() -> int:
    """What the process holds now; 0 where the system does not say."""
    status = Path("/proc/self/status")
    facts = dict(line.split(":", 1) for line in status.read_text().splitlines()) if status.exists() else {}
    return int(facts.get("VmRSS", "0").split()[0])


class TrainState:
    """A small Transformer that trains on one batch."""

    def __init__(self):
        self.model = nn.TransformerEncoderLayer(C, 4, 64, 0.1, batch_first=True)
        self.optimizer = badak.optim.AdamW(self.model.parameters())
        self.x, self.y = badak.randn(4, 8, C), badak.randn(4, 8, C)

    def step(self) -> float:
        loss = F.mse_loss(self.model(self.x), self.y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


@pytest.mark.slow
def test_a_thousand_steps_hold_no_more_than_a_hundred():
    learner = TrainState()
    for _ in range(100):
        learner.step()
    resident = resident_kb()
    tracemalloc.start()
    try:
        before = held_after(learner, steps=50)  # as many as below: numbers that Python keeps settle at another size
        assert held_after(learner, steps=50) - before < 2 * 1024  # an array of a step that is kept: 50 x 100 bytes at least
    finally:
        tracemalloc.stop()
    for _ in range(850):
        learner.step()
    assert resident_kb() - resident < 4 * 1024  # one activation of each step kept: 3.6 MiB; its graph: 100 MiB


def held_after(learner: TrainState, steps: int) -> int:
    """Bytes that are held after some more steps, without those that Python keeps at hand for its next objects."""
    for _ in range(steps):
        learner.step()
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def peak_of(run) -> int:
    """Bytes that `run` holds at most beyond what was there."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        kept = run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
        del kept


def test_without_gradients_activations_are_freed_at_once():
    model = nn.Sequential(*[layer for _ in range(20) for layer in (nn.Linear(64, 64), nn.Tanh())])
    x = badak.randn(256, 64)
    activation = x.numel() * 4
    model(x)
    with badak.no_grad():
        assert peak_of(lambda: model(x)) < 4 * activation
    assert peak_of(lambda: model(x)) > 20 * activation


@pytest.mark.slow
def test_a_step_leaves_no_cycles_for_the_garbage_collector():
    learner = TrainState()
    learner.step()
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            learner.step()
        assert gc.collect() == 0
    finally:
        gc.enable()
