"""The learning rate of each step, by the formulas that the schedules come from."""

import math

import pytest

from badak.core.errors import ArgumentError
from badak.training.config import TrainConfig


def test_inverse_sqrt_is_the_rate_of_attention_is_all_you_need():
    """lrate = d^-0.5 min(step^-0.5, step warmup^-1.5), here in units of its highest value, d^-0.5 warmup^-0.5."""
    config = TrainConfig(schedule="inverse_sqrt", warmup_steps=400)
    for step in (1, 2, 399, 400, 401, 10_000):
        assert config.rate(step - 1, 10) == pytest.approx(min(step**-0.5, step * 400**-1.5) * 400**0.5)


def test_inverse_sqrt_does_not_ask_how_long_the_run_is():
    config = TrainConfig(schedule="inverse_sqrt", warmup_steps=10)
    assert config.rate(500, 600) == config.rate(500, 6_000)


def test_linear_falls_to_its_end():
    config = TrainConfig(schedule="linear", warmup_steps=0, min_lr_ratio=0.2)
    assert [config.rate(step, 100) for step in (0, 50, 100, 200)] == pytest.approx([1.0, 0.6, 0.2, 0.2])


def test_each_schedule_warms_up_alike():
    for schedule in ("constant", "inverse_sqrt"):
        assert TrainConfig(schedule=schedule, warmup_steps=8).rate(3, 10**9) == pytest.approx(0.5)
    for schedule in ("cosine", "linear"):
        assert TrainConfig(schedule=schedule, warmup_steps=8).rate(3, 10**9) == pytest.approx(0.5, abs=1e-6)
    assert math.isclose(TrainConfig(schedule="inverse_sqrt", warmup_steps=0).rate(0, 1), 1.0)


def test_an_update_of_no_batch_is_refused():
    with pytest.raises(ArgumentError, match=r"expected grad_accum_steps >= 1 \(batches\); got 0\nfix: "):
        TrainConfig(grad_accum_steps=0)
    assert TrainConfig(grad_accum_steps=4, epochs=3).last_step(10) == 9
