"""Several batches in one update are one large batch: the mean over all labelled tokens, whatever each batch has of them."""

import warnings

import numpy as np
import pytest

import badak
from badak import kernels
from badak.core.errors import BadakWarning
from badak.training.build import build, start
from badak.training.loop import train
from badak.training.presets import PRESETS, change
from badak.training.train_state import TrainState

LINES = change(
    change(PRESETS["gpt"]["sentences"], "model", {"d_model": 16, "heads": 2, "layers": 1, "dropout": 0.0}),
    "train", {"epochs": 3, "batch_size": 12, "lr": 1e-2, "eval_every": 1, "optimizer": "sgd", "max_grad_norm": 1.0},
)  # fmt: skip


def in_parts(batch_size, accumulate, **more):
    return change(LINES, "train", {"batch_size": batch_size, "grad_accum_steps": accumulate, **more})


def gradients(setup):
    """Those of the first update."""
    learner = TrainState(build(setup), setup.train)
    learner.update()
    return [p.grad.numpy().copy() for p in learner.experiment.model.parameters()]


@pytest.mark.parametrize("size, parts", [(5, 2), (4, 3), (3, 4), (1, 12)])
def test_gradients_are_those_of_the_large_batch(size, parts):
    """To the rounding of sums in float32: the lines differ in length, so a mean of means would be another number."""
    whole, sum_of_parts = gradients(in_parts(12, 1, max_grad_norm=0.0)), gradients(in_parts(size, parts, max_grad_norm=0.0))
    for one, other in zip(whole, sum_of_parts):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=2e-6 * np.abs(one).max() + 1e-9)


def test_a_mean_of_means_would_be_another_number(monkeypatch):
    monkeypatch.setattr("badak.training.experiment.Experiment.count", lambda self, labels: badak.tensor(1))
    whole, means = gradients(in_parts(12, 1, max_grad_norm=0.0)), gradients(in_parts(3, 4, max_grad_norm=0.0))
    assert any(np.abs(one - other).max() > 1e-3 * np.abs(one).max() for one, other in zip(whole, means))


@pytest.mark.slow
def test_a_training_in_parts_is_the_training_in_large_batches(tmp_path):
    """Ten lines in batches of 3, two in an update: each epoch has a batch of 6 and one of 4, as with batches of 6."""
    found = {}
    for name, setup in {"whole": in_parts(6, 1), "parts": in_parts(3, 2)}.items():
        run, experiment = start(tmp_path / name, setup)
        assert train(experiment, setup.train, run)
        found[name] = run.rows()
    assert [row.step for row in found["whole"]] == [row.step for row in found["parts"]] == [1, 2, 3, 4, 5, 6]
    for one, other in zip(found["whole"], found["parts"]):
        assert (one.epoch, one.lr) == (other.epoch, other.lr)
        assert other.train_loss == pytest.approx(one.train_loss, rel=1e-5)
        assert other.val_loss == pytest.approx(one.val_loss, rel=1e-5)


@pytest.mark.slow
def test_accumulated_batches_are_replayed_bit_for_bit():
    setup = in_parts(5, 2, epochs=8, optimizer="adamw")
    weights = []
    for compiled in (True, False):
        learner = TrainState(build(setup), setup.train)
        if not compiled:
            learner.add = learner._add
        for _ in range(8):
            learner.experiment.model.train()
            learner.update()
        assert not compiled or (learner.add.recordings and learner.add.fallback_reason == "")
        weights.append([p.detach().numpy().copy() for p in learner.experiment.model.parameters()])
    for one, other in zip(*weights):
        assert one.tobytes() == other.tobytes()


def test_batches_without_a_label_change_nothing():
    with kernels.use("reference"):
        learner = TrainState(build(in_parts(5, 2)), LINES.train)
        learner.config = in_parts(5, 2).train
        before = [p.detach().numpy().copy() for p in learner.experiment.model.parameters()]
        prepare = learner.experiment.prepare
        learner.experiment.prepare = lambda batch: (prepare(batch)[0], badak.full_like(prepare(batch)[1], -100))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BadakWarning)  # which says so, once
            assert learner.update().count == 0
        assert all((p.detach().numpy() == old).all() for p, old in zip(learner.experiment.model.parameters(), before))
