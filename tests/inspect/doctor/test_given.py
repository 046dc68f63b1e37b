"""What goes into a model and its loss: data of a test, labels among the inputs, odd labels, settings without effect."""

import copy

import numpy as np
import pytest

import badak
from badak import nn, optim
from badak.nn import functional as F
from tests.inspect.doctor.test_classroom import checked, codes, mlp, trained


def guessed(model):
    """Cross entropy of random labels."""
    return F.cross_entropy(model(badak.randn(16, 6)), badak.randint(4, (16,)))


@pytest.mark.parametrize(("scale", "found"), [(1.0, False), (1.5, False), (5.0, True), (0.1, True)])
def test_data_of_a_test_that_was_prepared_otherwise(scale, found):
    model = mlp()

    def after(*_):
        model.eval()
        with badak.no_grad():
            model(badak.randn(40, 6) * scale)
        model.train()

    assert codes(trained(model, lambda step: guessed(model), after=after)) == ["BADAK-257"] * found


@pytest.mark.parametrize("kind", ["numbers", "classes", "noisy"])
def test_a_label_among_the_inputs(kind):
    model = mlp()

    def loss(step):
        x, y = badak.randn(16, 6), badak.randint(4, (16,))
        if kind == "classes":
            x[:, 2] = (y == 1).float() * 3 - 1
            return F.cross_entropy(model(x), y)
        x[:, 2] = y.float() * 0.5 + (0.01 * badak.randn(16) if kind == "noisy" else 0.0)
        return F.mse_loss(model(x)[:, 0], y.float())

    assert codes(trained(model, loss)) == ["BADAK-258"] * (kind != "noisy")


def misspelt(model, optimizer):
    next(model.parameters()).require_grad = False


def on_the_module(model, optimizer):
    model[0].requires_grad = False


def on_the_optimizer(model, optimizer):
    optimizer.lr = 1e-4


def in_the_group(model, optimizer):
    optimizer.param_groups[0]["learning_rate"] = 1e-4


def into_another(model, optimizer):
    mlp().load_state_dict(model.state_dict())


def of_other_names(model, optimizer):
    model.load_state_dict({f"net.{name}": value for name, value in model.state_dict().items()}, strict=False)


def as_it_should_be(model, optimizer):
    optimizer.param_groups[0]["lr"] = 1e-4
    model.load_state_dict(mlp().state_dict())


EVERY = [misspelt, on_the_module, on_the_optimizer, in_the_group, into_another, of_other_names, as_it_should_be]


@pytest.mark.parametrize("do", EVERY)
def test_settings_that_nobody_reads(do):
    model = mlp()

    def train():
        optimizer = optim.AdamW(model.parameters(), lr=1e-3)
        do(model, optimizer)
        for _ in range(8):
            optimizer.zero_grad()
            guessed(model).backward()
            optimizer.step()

    assert codes(checked(train)) == ["BADAK-259"] * (do is not as_it_should_be)


@pytest.mark.parametrize("frozen", [True, False])
def test_a_group_of_what_is_frozen(frozen):
    model = mlp()
    model[0].requires_grad_(not frozen)
    make = lambda p: optim.AdamW([{"params": model[0].parameters(), "lr": 1e-4}, {"params": model[2].parameters()}], lr=1e-3)
    assert codes(trained(model, lambda step: guessed(model), make=make)) == ["BADAK-259"] * frozen


@pytest.mark.parametrize("copied", [True, False])
def test_the_best_weights_are_a_copy(copied):
    model = mlp()
    kept = []

    def after(model, optimizer, step, made):
        if step == 2 and copied:
            kept.append(copy.deepcopy(model.state_dict()))
        elif step == 2:
            best_state = model.state_dict()
            kept.append(best_state)

    assert codes(trained(model, lambda step: guessed(model), after=after)) == ["BADAK-259"] * (not copied)


def several_classes(model):
    return F.cross_entropy(model(badak.randn(16, 6)), (badak.rand(16, 4) < 0.5).float())


def shares(model):
    return F.cross_entropy(model(badak.randn(16, 6)), badak.rand(16, 4).softmax(1))


def positives(weight):
    y = (badak.arange(32) < 4).float()
    return lambda model: F.binary_cross_entropy_with_logits(model(badak.randn(32, 6))[:, 0], y, pos_weight=badak.tensor([weight]))


def weighted(*weight):
    y = (badak.arange(32) > 24).long() + (badak.arange(32) > 29).long()
    w = badak.tensor([*weight, 1.0])
    return lambda model: F.cross_entropy(model(badak.randn(32, 6)), y[badak.randperm(32)], weight=w)


def all_zero(model):
    return F.binary_cross_entropy_with_logits(model(badak.randn(16, 6))[:, 0], badak.zeros(16))


def hundreds(model):
    return F.mse_loss(model(badak.randn(16, 6))[:, 0], 400 + 50 * badak.randn(16))


CASES = [
    (several_classes, True), (shares, False), (positives(0.14), True), (positives(7.0), False), (weighted(3.0, 1.0, 0.3), True),
    (weighted(0.3, 1.0, 3.0), False), (all_zero, True), (hundreds, True),
]  # fmt: skip


@pytest.mark.parametrize(("loss", "found"), CASES)
def test_labels_that_do_not_fit_the_loss(loss, found):
    model = mlp()
    assert ("BADAK-260" in codes(trained(model, lambda step: loss(model)))) == found


@pytest.mark.parametrize("alike", ["answers", "units", "nothing"])
def test_what_should_differ_is_all_alike(alike):
    model = mlp()
    if alike == "units":
        for p in model.parameters():
            nn.init.constant_(p, 0.1)

    def loss(step):
        z = model(badak.randn(16, 6))
        return F.cross_entropy(z[:, :1].expand(-1, 4) if alike == "answers" else z, badak.randint(4, (16,)))

    assert ("BADAK-261" in codes(trained(model, loss))) == (alike != "nothing")


AVERAGES = [
    (lambda a, b: a.mul_(0.9).add_(b, alpha=0.1), False), (lambda a, b: a.lerp_(b, 0.1), False), (lambda a, b: a.copy_(b), False),
    (lambda a, b: a.mul_(0.5), True), (lambda a, b: a.lerp_(a, 0.1), True), (lambda a, b: a.add_(b, alpha=0.9), True),
]  # fmt: skip


@pytest.mark.parametrize(("average", "found"), AVERAGES)
def test_an_average_of_the_weights(average, found):
    model = mlp()
    copied = copy.deepcopy(model).requires_grad_(False)

    def after(*_):
        with badak.no_grad():
            for a, b in zip(copied.parameters(), model.parameters()):
                average(a, b)

    assert codes(trained(model, lambda step: guessed(model), after=after)) == ["BADAK-262"] * found


@pytest.mark.parametrize("kind", ["logarithm", "noisy", "trend"])
def test_a_number_that_orders_the_rows_as_their_labels_do(kind):
    model, rng = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)), np.random.default_rng(0)

    def loss(step):
        x = badak.tensor(rng.standard_normal((16, 6)).astype("f"))
        y = badak.tensor(rng.standard_normal(16).astype("f"))
        if kind == "trend":  # of a series that rises all numbers do
            x = y[:, None].exp() + badak.arange(6)
        else:
            x[:, 3] = y.exp() + (0.5 * badak.randn(16) if kind == "noisy" else 0.0)
        return F.mse_loss(model(x).squeeze(1), y)

    assert ("BADAK-258" in codes(trained(model, loss))) == (kind == "logarithm")


@pytest.mark.parametrize("right", [False, True])
def test_parts_of_a_batch_of_which_the_last_has_fewer(right):
    model = mlp()

    def train():
        optimizer = optim.AdamW(model.parameters(), lr=1e-3)
        for part in [part for epoch in range(3) for part in range(14)]:
            F.cross_entropy(model(badak.randn(16, 6)), badak.randint(4, (16,))).div(3 if right else 1).backward()
            if part % 3 == 2 or part == 13:
                optimizer.step()
                optimizer.zero_grad()

    assert codes(checked(train, 12)) == ["BADAK-224"] * (not right)


@pytest.mark.parametrize("right", [False, True])
def test_what_is_normalised_by_hand_is_made_less_likely(right):
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8))

    def loss(step):
        kind, z = badak.randint(3, (16,)), F.normalize(model(badak.randn(16, 6)), dim=1)
        alike = (kind[:, None] == kind[None]) & ~badak.eye(16, dtype=badak.bool)
        sim = (z @ z.T / 0.5).masked_fill(badak.eye(16, dtype=badak.bool), -1e9)
        logs = sim - badak.logsumexp(sim, dim=1, keepdim=True)
        return (logs * alike).sum(1).mean() * (-1 if right else 1)

    assert ("BADAK-254" in codes(trained(model, loss))) != right


@pytest.mark.parametrize("late", [0, 6])
@pytest.mark.parametrize("last", [False, True])
def test_the_end_of_a_window_is_what_is_asked_for_wherever_its_channels_stand(last, late):
    model, series = nn.Sequential(nn.Flatten(), nn.Linear(60, 6)), badak.randn(900, 3)

    def loss(step):
        begins = [int(i) for i in badak.randint(800, (16,))]
        x = badak.stack([series[i : i + 20] for i in begins])
        y = badak.stack([series[i + 14 + late : i + 20 + late, 0] for i in begins])
        return F.mse_loss(model(x.transpose(1, 2).contiguous() if last else x), y)

    assert ("BADAK-258" in codes(trained(model, loss))) == (late == 0)


class Two(nn.Module):
    """Reads a row and what belongs to it."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(9, 4)

    def forward(self, x, condition):
        return self.body(badak.cat([x, condition], dim=1))


@pytest.mark.parametrize("right", [False, True])
def test_of_two_inputs_that_were_picked_alike_one_is_moved_on(right):
    model, x, condition, y = Two(), badak.randn(200, 6), badak.randn(200, 3), badak.randint(4, (200,))

    def loss(step):
        rows = badak.randperm(200)[:16]
        beside = condition[rows]
        return F.cross_entropy(model(x[rows], beside if right else beside.roll(1, 0)), y[rows])

    assert ("BADAK-256" in codes(trained(model, loss))) != right


@pytest.mark.parametrize("sound", [False, True])
def test_columns_and_rows_that_meet_within_the_model(sound):
    class Rated(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 1), nn.Linear(6, 1)

        def forward(self, x):
            return self.a(x).squeeze(1) + (self.b(x).squeeze(1) if sound else self.b(x))

    model = Rated()

    def loss(step):
        x = badak.randn(16, 6)
        return ((model(x) - x[:, 0] * 0.5 - badak.randn(16)) ** 2).mean()

    found = codes(trained(model, loss))
    assert found == [] if sound else "BADAK-241" in found


@pytest.mark.parametrize("sound", [False, True])
def test_columns_that_are_all_one(sound):
    model = mlp()
    found = codes(
        trained(
            model, lambda step: F.cross_entropy(model(badak.randn(16, 6 if sound else 1).expand(16, 6)), badak.randint(4, (16,)))
        )
    )
    assert ("BADAK-221" in found) == (not sound)
