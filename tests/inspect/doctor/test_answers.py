"""What is made of answers and labels: losses by where(), thresholds of a test, rows that come again; and their sound twins."""

import pytest

import badak
from badak import nn, optim
from badak.nn import functional as F
from tests.inspect.doctor.test_classroom import checked, codes, mlp, trained

X = badak.randn(400, 6, generator=badak.Generator().manual_seed(0))
Y = (X[:, 0] > 0).float()


def binary(*end):
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1), *end, nn.Flatten(0))


def focal(p, y, other=lambda p: 1 - p, sign=-1):
    right = badak.where(y == 1, p, other(p))
    return sign * ((1 - right) ** 2 * right.clamp(min=1e-6).log()).mean()


FOCAL = {
    "sound": ((), {}, None, []),
    "same for both": ((), {"other": lambda p: p}, None, ["BADAK-260"]),
    "maximised": ((), {"sign": 1}, None, ["BADAK-254"]),
    "twice": ((nn.Sigmoid(),), {}, None, ["BADAK-202"]),
    "other rows": ((), {}, lambda n: badak.randperm(len(X))[:n], ["BADAK-256"]),
}


@pytest.mark.parametrize("name", FOCAL)
def test_a_focal_loss(name):
    end, how, other, expected = FOCAL[name]
    model = binary(*end)

    def loss(step):
        rows = badak.randperm(len(X))[:32]
        return focal(badak.sigmoid(model(X[rows])), Y[rows if other is None else other(32)], **how)

    assert codes(trained(model, loss, 12, lambda p: optim.Adam(p, lr=1e-2))) == expected


@pytest.mark.parametrize(
    ("limit", "end", "found"), [(0.5, (), 1), (0.0, (), 0), (0.5, (nn.Sigmoid(),), 0), (0.0, (nn.Sigmoid(),), 1)]
)
def test_the_threshold_of_a_test(limit, end, found):
    model = binary(*end)
    rule = F.binary_cross_entropy if end else F.binary_cross_entropy_with_logits

    def after(model, optimizer, step, made):
        with badak.no_grad():
            (model(badak.randn(40, 6)) > limit).float().mean().item()

    def loss(step):
        rows = badak.randperm(len(X))[:32]
        return rule(model(X[rows]), Y[rows])

    assert codes(trained(model, loss, after=after)) == ["BADAK-263"] * found


@pytest.mark.parametrize(("axis", "found"), [(0, 1), (1, 0)])
def test_the_largest_of_a_test(axis, found):
    model = mlp()

    def after(model, optimizer, step, made):
        with badak.no_grad():
            model(badak.randn(40, 6)).argmax(axis)

    def loss(step):
        rows = badak.randperm(len(X))[:32]
        return F.cross_entropy(model(X[rows]), X[rows][:, :4].argmax(1))

    assert codes(trained(model, loss, after=after)) == ["BADAK-263"] * found


@pytest.mark.parametrize(("scale", "found"), [(1.0, 0), (40.0, 1)])
def test_the_last_part_of_a_series_that_rises(scale, found):
    """It lies beyond what was learnt, and in a narrower band; prices in the place of shares of them lie far beyond."""
    noise = 0.05 * badak.randn(460, generator=badak.Generator().manual_seed(1))
    series, model = badak.linspace(0, 1.15, 460) + noise, nn.Linear(4, 1)
    windows, following = series.unfold(0, 4, 1)[:-1], series[4:]

    def after(model, optimizer, step, made):
        with badak.no_grad():
            F.mse_loss(model(windows[-60:]).squeeze(1), scale * following[-60:])

    def loss(step):
        rows = badak.randperm(396)[:64]
        return F.mse_loss(model(windows[rows]).squeeze(1), following[rows])

    assert codes(trained(model, loss, after=after)) == ["BADAK-263"] * found


@pytest.mark.parametrize(("of", "found"), [(12, 1), (400, 0)])
def test_few_rows_again_and_again(of, found):
    model = binary()

    def loss(step):
        rows = badak.randperm(len(X))[:32] % of
        return F.binary_cross_entropy_with_logits(model(X[rows]), Y[rows])

    assert codes(trained(model, loss, 12)) == ["BADAK-222"] * found


@pytest.mark.parametrize("found", [0, 1])
def test_a_seed_that_is_set_again(found):
    model = binary()

    def train():
        optimizer = optim.SGD(model.parameters(), lr=1e-2)
        for epoch in range(2):
            badak.manual_seed(7 if found else epoch)
            for _ in range(6):
                rows = badak.randperm(len(X))[:32]
                optimizer.zero_grad()
                F.binary_cross_entropy_with_logits(model(X[rows]), Y[rows]).backward()
                optimizer.step()

    assert codes(checked(train, 12)) == ["BADAK-222"] * found


@pytest.mark.parametrize("found", [0, 1])
def test_clipping_between_two_backwards(found):
    model = binary()

    def train():
        optimizer = optim.SGD(model.parameters(), lr=1e-2)
        for _ in range(6):
            optimizer.zero_grad()
            for part in range(2):
                rows = badak.randperm(len(X))[:32]
                if found and part:
                    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                (F.binary_cross_entropy_with_logits(model(X[rows]), Y[rows]) / 2).backward()
            if not found:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    assert codes(checked(train, 6)) == ["BADAK-235"] * found


@pytest.mark.parametrize(("how", "code"), [("sound", []), ("answers", ["BADAK-261"]), ("targets", ["BADAK-260"])])
def test_all_rows_have_one_answer_or_one_target(how, code):
    model = mlp()

    def loss(step):
        x = badak.randn(32, 6)
        y, t = model(x), x[:, :4]
        y, t = (y.mean(0).expand(32, 4) if how == "answers" else y), (t.mean(0).expand(32, 4) if how == "targets" else t)
        return F.binary_cross_entropy_with_logits(y, t.sigmoid())

    assert codes(trained(model, loss)) == code
