"""`badak bench`: badak's own models on two libraries compute the same."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import badak
from badak.inspect.profiling.contest import SAME_LOSS, TASKS, Standing, Step, Task, compete, libraries

SMALL = {"d_model": 16, "heads": 2, "layers": 1}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_both_libraries_start_and_train_alike(task):
    task = replace(task, config={**task.config, **SMALL}, batch=2, length=8)
    ours, theirs = Step(badak, task), Step(torch, task)
    assert ours.parameters == theirs.parameters
    losses = [[step.step() for _ in range(3)] for step in (ours, theirs)]
    np.testing.assert_allclose(*losses, rtol=0, atol=SAME_LOSS / 10)
    assert task.train == (losses[0][2] < losses[0][0])


@pytest.mark.slow
def test_a_task_is_competed_for_in_two_processes():
    task = Task("tiny", "gpt", {"vocab_size": 11, "context": 8, **SMALL}, batch=2, length=8)
    standing = compete(task, threads=1, rounds=1, seconds=0.0)
    assert standing.agrees and standing.ratio is not None and standing.badak["steps"] == 3


def test_without_pytorch_badak_runs_alone(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert libraries() == ["badak"]
    alone = Standing("tiny", 1, {"ms": 1.0}, None, None)
    assert alone.ratio is None and alone.agrees


def test_losses_too_far_apart_are_told():
    assert not Standing("tiny", 1, {"ms": 1.0}, {"ms": 2.0}, 2e-4).agrees
