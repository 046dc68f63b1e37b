"""Losses that no single operation makes, of one term and of several, and sound programs that look like a mistake in them."""

import pytest

import badak
from badak import nn
from badak.nn import functional as F
from tests.inspect.doctor.test_classroom import batch, classified, codes, mlp, trained

LOSSES = {
    "l1": F.l1_loss,
    "huber": F.huber_loss,
    "of one's own": lambda y, t: ((y - t) ** 2).sum(1).mean(),
    "bce": lambda y, t: F.binary_cross_entropy(y.sigmoid(), t, reduction="sum"),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("mixed", [False, True])
def test_labels_of_other_rows_are_found_in_any_loss(name, mixed):
    data, goal, model = badak.randn(64, 6), badak.rand(64, 4), mlp()

    def loss(step):
        rows = badak.randperm(64)[:16]
        return LOSSES[name](model(data[rows]), goal[badak.randperm(64)[:16] if mixed else rows])

    assert codes(trained(model, loss)) == ["BADAK-256"] * mixed


@pytest.mark.parametrize("part", [False, True])
def test_a_sum_of_losses_of_which_one_is_differentiated(part):
    model, head = mlp(), nn.Linear(4, 3)

    def loss(step):
        x, y = batch()
        h = model(x)
        first, second = F.cross_entropy(h, y), F.mse_loss(head(h), x[:, :3])
        both = first + 0.5 * second
        return first if part else both

    found = codes(trained(nn.ModuleList([model, head]), loss))
    assert found == ["BADAK-217"] * part


class MakesAnew(nn.Module):
    """A layer that its calls make anew, or that it holds."""

    def __init__(self, anew):
        super().__init__()
        self.first, self.held = nn.Linear(6, 16), None if anew else nn.Linear(16, 4)

    def forward(self, x):
        return (self.held or nn.Linear(16, 4))(self.first(x).relu())


@pytest.mark.parametrize("anew", [False, True])
def test_a_layer_that_each_call_makes(anew):
    model = MakesAnew(anew)

    def loss(step):
        x, y = batch()
        return F.cross_entropy(model(x), y)

    found = trained(model, loss)
    assert codes(found) == ["BADAK-211"] * anew, found
    if anew:
        (said,) = found.findings
        assert "the calls of MakesAnew used 8 Linear that it does not hold" in said.cause
        assert said.fix == "make the layer once, in __init__: self.layer = Linear(...)"


@pytest.mark.parametrize("kept", [False, True])
def test_losses_that_are_kept_with_their_graphs(kept):
    model, losses = mlp(), []

    def after(model, optimizer, step, made):
        losses.append(made if kept else made.detach())

    assert codes(trained(model, classified(model), 12, after=after)) == ["BADAK-232"] * kept


@pytest.mark.parametrize("late", [False, True])
def test_gradients_are_clipped_after_the_step(late):
    model = mlp()

    def clip(model, optimizer, step, made=None):
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)

    found = trained(model, classified(model), **({"after": clip} if late else {"before": clip}))
    assert codes(found) == ["BADAK-235"] * late


@pytest.mark.parametrize(("how", "expected"), [("average", []), ("still", ["BADAK-262"]), ("momentum", [])])
def test_an_average_in_a_list(how, expected):
    model = mlp()
    kept = [p.detach().clone() for p in model.parameters()]

    def after(model, optimizer, step, made):
        with badak.no_grad():
            for i, p in enumerate(model.parameters()):
                if how == "momentum":  # moments of an optimizer of one's own
                    kept[i] = p.grad.clone() if step == 0 else kept[i].mul_(0.9).add_(p.grad)
                else:
                    kept[i].mul_(0.9).add_(p if how == "average" else kept[i], alpha=0.1)

    assert codes(trained(model, classified(model), 12, after=after)) == expected


class Backwards(nn.Module):
    """A text through one vector, and back."""

    def __init__(self, narrow):
        super().__init__()
        self.embed, self.out = nn.Embedding(19, 16), nn.Linear(16, 19)
        self.encoder, self.decoder, self.narrow = nn.GRU(16, 16, batch_first=True), nn.GRU(16, 16, batch_first=True), narrow

    def forward(self, ids):
        h, last = self.encoder(self.embed(ids))
        h = last[-1].unsqueeze(1).repeat(1, ids.size(1), 1) if self.narrow else h
        return self.out(self.decoder(h)[0])


@pytest.mark.parametrize("narrow", [False, True])
def test_a_text_that_is_to_be_given_back(narrow):
    model = Backwards(narrow)

    def loss(step):
        ids = badak.randint(19, (8, 7))
        return F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())

    assert codes(trained(model, loss)) == ["BADAK-204"] * (not narrow)
