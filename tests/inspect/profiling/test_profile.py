"""A profile adds up, changes no number, and leaves nothing behind."""

from itertools import count

import numpy as np
import pytest

import badak
from badak import nn
from badak.compiler import Compiled
from badak.core.modes import modes
from badak.inspect.profiling.profile import BACKWARD, FORWARD, UPDATE, WALK, Enough, Profile, Row
from badak.inspect.profiling.report import HEADS, table
from badak.nn import functional as F
from badak.ops.linear import Linear
from badak.ops.op import Op
from badak.optim import AdamW
from badak.tensor import Tensor, apply


def train(steps, after=lambda: None):
    """A few updates of a small model; the loss of the last one."""
    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3))
    optimizer = AdamW(model.parameters())
    for _ in range(steps):
        loss = F.cross_entropy(model(badak.ones(5, 4)), badak.zeros(5, dtype=badak.int64))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        after()
    return loss.item()


def test_the_parts_and_the_rest_make_up_the_whole():
    clock = count()  # every look at it is one second later, so all figures are exact
    with Profile(clock=lambda: float(next(clock))) as profile:
        train(3)
    assert profile.steps == 3 and profile.python > 0
    assert sum(row.seconds for row in profile.rows.values()) + profile.python == profile.seconds
    assert all(row.seconds > 0 for row in profile.rows.values())


def test_what_a_part_calls_of_others_counts_there():
    clock = count()
    with Profile(clock=lambda: float(next(clock))) as profile:
        train(1)
    backwards = [row for (kind, _), row in profile.rows.items() if kind == BACKWARD]
    walk = profile.rows[WALK, "backward"]
    # the walk looks at the clock twice, each backward inside it twice: between those looks n + 1 seconds are the walk's own
    assert walk.seconds == sum(row.calls for row in backwards) + 1


def test_calls_are_counted_by_operation_and_direction():
    with Profile() as profile:
        train(2)
    assert profile.rows[FORWARD, "linear"].calls == profile.rows[BACKWARD, "linear"].calls == 4
    assert profile.rows[FORWARD, "gelu"].calls == 2
    assert profile.rows[UPDATE, "AdamW"].calls == 2


def test_bytes_are_those_of_the_arrays_read_and_written():
    with Profile() as profile:
        F.gelu(badak.ones(10, 10))
    assert profile.rows[FORWARD, "gelu"].bytes == 2 * 400


def test_steps_to_warm_up_are_left_out():
    with Profile(skip=2) as profile:
        train(5)
    assert profile.steps == 3 and profile.rows[UPDATE, "AdamW"].calls == 3


def test_the_program_ends_when_enough_was_measured():
    made = []
    with pytest.raises(Enough), Profile(skip=1, limit=2) as profile:
        train(100, after=lambda: made.append(1))
    assert profile.steps == 2 and len(made) == 2


def test_a_program_without_updates_is_one_step():
    with Profile() as profile, badak.no_grad():
        F.softmax(badak.ones(3, 3), dim=-1)
    assert profile.steps == 1 and profile.rows[FORWARD, "softmax"].calls == 1


def test_nothing_is_replaced_while_it_is_on_and_nobody_watches_when_it_is_over():
    before = dict(vars(Linear)), dict(vars(AdamW)), dict(vars(Tensor)), dict(vars(Compiled))
    with pytest.raises(ZeroDivisionError), Profile():
        assert (dict(vars(Linear)), dict(vars(AdamW)), dict(vars(Tensor)), dict(vars(Compiled))) == before
        1 / 0  # noqa: B018
    assert modes.observer is None


def test_numbers_do_not_change():
    plain = train(3)
    with Profile():
        assert train(3) == plain


def test_an_operation_born_while_it_is_on_is_watched_too():
    with Profile() as profile:

        class Doubled(Op):
            @staticmethod
            def forward(save, x):
                return 2 * x

        y = apply(Doubled, badak.ones(2))
    assert profile.rows[FORWARD, "doubled"].calls == 1
    np.testing.assert_array_equal(apply(Doubled, y).numpy(), [4, 4])
    assert profile.rows[FORWARD, "doubled"].calls == 1


def test_an_operation_that_fails_is_counted_and_its_error_passed_on():
    with pytest.raises(RuntimeError), Profile() as profile:
        try:
            badak.ones(2, 3) @ badak.ones(2, 3)
        finally:
            F.gelu(badak.ones(2))
            profile._end_lap()
    assert profile.rows[FORWARD, "gelu"].calls == 1
    assert profile.seconds >= sum(row.seconds for row in profile.rows.values())


def test_an_optimizer_within_an_optimizer_is_one_step():
    class Twice(AdamW):
        def step(self, closure=None):
            super().step()
            return super().step()

    x = badak.ones(3, requires_grad=True)
    optimizer = Twice([x])
    with Profile() as profile:
        x.sum().backward()
        optimizer.step()
    assert profile.steps == 1


def test_the_table_has_a_line_for_each_operation_and_ends_with_the_sum():
    profile = Profile(steps=2, seconds=1.0)
    profile.rows = {
        (FORWARD, "linear"): Row(4, 0.3, 3_000_000), (BACKWARD, "linear"): Row(4, 0.5, 5_000_000),
        (FORWARD, "relu"): Row(2, 0.1, 0), (UPDATE, "SGD"): Row(2, 0.04, 0), (WALK, "backward"): Row(2, 0.01, 0),
    }  # fmt: skip
    head, linear, relu, sgd, walk, rest, step = table(profile)
    assert head.split() == " ".join(HEADS).split()
    assert linear.split() == ["linear", "4", "150.000", "250.000", "80.0%", "4.00", "0.0"]
    assert relu.startswith("relu") and sgd.split()[:3] == ["SGD.step", "1", "20.000"] and "walk" in walk
    assert "25.000" in rest and rest.endswith(f"{'5.0%':>12}{'':>24}") and "500.000" in step
    assert "1 more" in table(profile, top=1)[2]


def test_a_compiled_step_is_measured_as_it_is_written():
    x = badak.ones(3, requires_grad=True)
    optimizer = AdamW([x])

    @badak.compile
    def step():
        loss = x.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    with Profile() as profile:
        for _ in range(6):
            step()
    assert profile.steps == 6 and profile.rows[FORWARD, "sum"].calls == 6
