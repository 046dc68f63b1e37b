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


class Picks(nn.Module):
    """Logits of pictures' points, of a batch, or of one number; with what stands behind the last map."""

    def __init__(self, classes, behind):
        super().__init__()
        self.one, self.two, self.head, self.behind = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, classes, 1), behind

    def forward(self, x):
        return self.behind(self.head(F.relu(self.two(F.relu(self.one(x))))))


def dice(y, labels, dim):
    return 1 - (y.softmax(dim)[:, 1] * labels).sum() / labels.sum()


POINTS = {
    "cross entropy of logits": (2, lambda y: y, lambda y, labels: F.cross_entropy(y, labels), 0),
    "cross entropy of probabilities": (2, lambda y: y.softmax(1), lambda y, labels: F.cross_entropy(y, labels), 1),
    "negative log of probabilities": (2, lambda y: y.softmax(1), lambda y, labels: F.nll_loss(y, labels), 1),
    "negative log": (2, lambda y: y.log_softmax(1), lambda y, labels: F.nll_loss(y, labels), 0),
    "coins of logits": (1, lambda y: y[:, 0], lambda y, labels: F.binary_cross_entropy_with_logits(y, labels.float()), 0),
    "coins of probabilities": (
        1, lambda y: y[:, 0].sigmoid(), lambda y, labels: F.binary_cross_entropy_with_logits(y, labels.float()), 1
    ),
    "probabilities of classes": (2, lambda y: y, lambda y, labels: dice(y, labels, 1), 0),
    "probabilities over the batch": (2, lambda y: y, lambda y, labels: dice(y, labels, 0), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", POINTS)
def test_a_loss_is_given_what_it_takes(name):
    classes, behind, loss, wrong = POINTS[name]
    badak.manual_seed(0)
    labels = badak.randint(2, (5, 8, 8))
    report = badak.audit(Picks(classes, behind), badak.randn(5, 3, 12, 12), loss=lambda y: loss(y, labels))
    assert [finding.probe for finding in report.findings] == ["loss"] * wrong, report


class Tags(nn.Module):
    """A recurrent tagger of packed rows; with labels it gives a loss that is made by hand, of all transitions of three tags."""

    def __init__(self, bug=""):
        super().__init__()
        self.table, self.rnn = nn.Embedding(V, 12, padding_idx=0), nn.GRU(12, 8, batch_first=True, bidirectional=True)
        self.head, self.turns, self.ends, self.bug = nn.Linear(16, 4), nn.Parameter(badak.randn(4, 4)), badak.randn(4), bug

    def forward(self, ids, lengths, tags=None):
        x = nn.utils.rnn.pack_padded_sequence(self.table(ids), lengths, batch_first=True, enforce_sorted=False)
        scores = self.head(nn.utils.rnn.pad_packed_sequence(self.rnn(x)[0], batch_first=True, total_length=ids.shape[1])[0])
        if tags is None:
            return scores
        keep = badak.arange(ids.shape[1])[None] < lengths[:, None]
        paths, own = scores[:, 0], scores[:, 0].gather(1, tags[:, :1]).squeeze(1)
        for t in range(1, ids.shape[1]):
            new = badak.logsumexp(paths.unsqueeze(2) + self.turns + scores[:, t : t + 1], dim=1)
            new = new - new.logsumexp(0) + new.logsumexp(0).detach() * 0 if self.bug == "rows joined" else new
            paths = badak.where(keep[:, t, None], new, paths)
            step = self.turns[tags[:, t - 1], tags[:, t]] + scores[:, t].gather(1, tags[:, t : t + 1]).squeeze(1)
            own = own + step * keep[:, t]
            own = own + 0.1 * tags[:, t] * ~keep[:, t] if self.bug == "labels of padding" else own
        last = tags.gather(1, lengths[:, None] - 1).squeeze(1)
        return (paths.logsumexp(1) - own - self.ends[last]).mean()


def tagged():
    badak.manual_seed(0)
    lengths, ids, tags = badak.tensor([9, 5, 7, 4, 8]), badak.randint(1, V, (5, 9)), badak.randint(4, (5, 9))
    past = badak.arange(9)[None] >= lengths[:, None]
    return ids.masked_fill(past, 0), lengths, tags.masked_fill(past, 0), past


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", "rows joined", "labels of padding"])
def test_a_loss_that_a_model_makes_by_hand_keeps_rows_and_padding_apart(bug):
    ids, lengths, tags, _ = tagged()
    report = badak.audit(Tags(bug), (ids, lengths, tags))
    assert [finding.probe for finding in report.findings] == ["loss"] * bool(bug), report


@pytest.mark.parametrize("counts", [False, True])
def test_labels_in_the_places_of_padding_do_not_count(counts):
    ids, lengths, tags, past = tagged()
    labels = tags if counts else tags.masked_fill(past, -100)
    model = Tags()
    model.turns.requires_grad_(False)  # no part of these answers
    report = badak.audit(model, (ids, lengths), loss=lambda y: F.cross_entropy(y.flatten(0, 1), labels.flatten()))
    assert [finding.probe for finding in report.findings] == ["loss"] * counts, report
