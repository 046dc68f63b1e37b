"""Losses that programs write by hand: what they compare is seen, and along which axis a softmax of theirs was taken."""

import pytest

import badak
from badak import nn
from badak.nn import functional as F

V = 40


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.places, self.head = nn.Embedding(V, 16), nn.Embedding(12, 16), nn.Linear(16, V)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)

    def forward(self, ids):
        t = ids.shape[1]
        mask = badak.ones(t, t, dtype=badak.bool).triu(1)
        return self.head(self.layer(self.table(ids) + self.places(badak.arange(t)), src_mask=mask))


def smooth(labels):
    return badak.full((labels.numel(), V), 0.1 / V).scatter(1, labels.reshape(-1, 1), 0.9)


LOSSES = {
    "gather": lambda y, labels, dim: -y.softmax(dim).log().gather(2, labels.unsqueeze(-1)).mean(),
    "index": lambda y, labels, dim: -y.log_softmax(dim).view(-1, V)[badak.arange(labels.numel()), labels.reshape(-1)].mean(),
    "negative": lambda y, labels, dim: F.nll_loss(y.log_softmax(dim).view(-1, V), labels.reshape(-1)),
    "smooth": lambda y, labels, dim: F.kl_div(y.log_softmax(dim).view(-1, V), smooth(labels), reduction="batchmean"),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("way", ["sound", "not moved", "rows"])
def test_what_a_loss_compares_is_seen_however_it_is_written(name, way):
    badak.manual_seed(0)
    model, text = Writer(), badak.randint(V, (5, 11))
    labels = text[:, :-1] if way == "not moved" else text[:, 1:]
    report = badak.audit(model, text[:, :-1], loss=lambda y: LOSSES[name](y, labels, 0 if way == "rows" else -1))
    wanted = {"sound": set(), "not moved": {"future"}, "rows": {"axis"}}[way]
    assert {finding.probe for finding in report.findings} == wanted, report


class Foretells(nn.Module):
    def __init__(self):
        super().__init__()
        self.read, self.rnn, self.head = nn.Linear(3, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.rnn(self.read(x))[0])


@pytest.mark.parametrize(
    "loss", [F.l1_loss, F.smooth_l1_loss, lambda y, x: ((y - x) ** 2).mean(), lambda y, x: (x - y).abs().sum()]
)
@pytest.mark.parametrize("moved", [True, False])
def test_series_that_are_compared_with_themselves(loss, moved):
    badak.manual_seed(0)
    x = badak.randn(4, 13, 3)
    target = x[:, 1:] if moved else x[:, :-1]
    report = badak.audit(Foretells(), x[:, :-1], kind="causal", loss=lambda y: loss(y, target))
    assert [finding.probe for finding in report.findings] == ([] if moved else ["future"]), report
