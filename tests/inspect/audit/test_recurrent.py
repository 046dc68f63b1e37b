"""What is read one after the other: states that are handed on, gates, letters of words, and what is read from the end."""

import pytest

import badak
from badak import nn
from badak.nn import functional as F

V, C = 40, 16


class Cell(nn.Module):
    def __init__(self, bug):
        super().__init__()
        self.given, self.held, self.bug = nn.Linear(C, 4 * C), nn.Linear(C, 4 * C), bug

    def forward(self, x, state):
        h, c = state
        i, f, g, o = (self.given(x) + self.held(h)).chunk(4, dim=1)
        if self.bug == "gates exchanged":
            g, o = o, g
            g, o = o.sigmoid(), g.tanh()
        else:
            g, o = g.tanh(), o.sigmoid()
        c = f.sigmoid() * c + i.sigmoid() * g
        return o * c.tanh(), c


class Writer(nn.Module):
    def __init__(self, bug):
        super().__init__()
        self.table, self.cell, self.head, self.bug = nn.Embedding(V, C), Cell(bug), nn.Linear(C, V), bug

    def forward(self, ids, state=None):
        zeros = badak.zeros(len(ids), C), badak.zeros(len(ids), C)
        state = zeros if state is None or self.bug == "state not read" else state
        if self.bug == "half of the state":
            state = state[0], zeros[1]
        said = []
        for t in range(ids.shape[1]):
            h, c = self.cell(self.table(ids[:, t]), state)
            state = (h.detach(), c.detach()) if self.bug == "detached" else (h, c)
            if self.bug == "without a graph":
                with badak.no_grad():
                    state = h + 0, c + 0
            said.append(self.head(h))
        return badak.stack(said, dim=1), state


@pytest.mark.parametrize(
    ("bug", "wanted"),
    [
        ("", set()),
        ("state not read", {"cache"}),
        ("half of the state", {"cache"}),
        ("detached", {"gradients"}),
        ("without a graph", {"gradients"}),
        ("gates exchanged", {"gradients"}),
    ],
)
@pytest.mark.parametrize("given", [False, True])
def test_a_state_is_read_and_brings_gradients_back(bug, wanted, given):
    badak.manual_seed(0)
    text = badak.randint(V, (4, 12))
    state = ((badak.zeros(4, C), badak.zeros(4, C)),) if given else ()
    report = badak.audit(
        Writer(bug), (text[:, :-1], *state), loss=lambda out: F.cross_entropy(out[0].flatten(0, 1), text[:, 1:].flatten())
    )
    assert {finding.probe for finding in report.findings} == wanted, report


def test_a_state_that_does_not_fit_is_no_open_question():
    """What is no state by its name and its shape is not handed on."""

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.rnn, self.head = nn.Embedding(V, C), nn.GRU(C, C, batch_first=True), nn.Linear(C, V)

        def forward(self, ids, bias=None):
            y, h = self.rnn(self.table(ids))
            return self.head(y if bias is None else y + bias), h

    badak.manual_seed(0)
    report = badak.audit(Both(), badak.randint(V, (4, 12)), kind="causal")
    assert not report.findings and "cache" in report.unasked, report


class Rounds(nn.Module):
    """What has no slope goes around, and what is divided by is a number: neither is cut off by mistake."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(C, C), nn.Linear(C, 5)

    def forward(self, x):
        h = self.one(x)
        h = h - h.max(dim=-1, keepdim=True).values.detach()
        h = h / h.detach().pow(2).mean(-1, keepdim=True).sqrt()
        h = h + (h.round() - h).detach()
        return self.two(h.tanh())


class Skips(nn.Module):
    def __init__(self, cut):
        super().__init__()
        self.one, self.two, self.three, self.cut = nn.Linear(C, C), nn.Linear(C, C), nn.Linear(2 * C, 5), cut

    def forward(self, x):
        first = self.one(x).tanh()
        then = self.two(first).tanh()
        return self.three(badak.cat([first.detach() if self.cut else first, then], dim=-1))


@pytest.mark.parametrize(("model", "wanted"), [(Rounds, []), (lambda: Skips(False), []), (lambda: Skips(True), ["gradients"])])
def test_what_goes_on_without_its_history_is_found(model, wanted):
    badak.manual_seed(0)
    report = badak.audit(model(), badak.randn(6, C))
    assert [finding.probe for finding in report.findings] == wanted, report


class Words(nn.Module):
    """Words and their letters, each through recurrent layers; with what a bug does."""

    def __init__(self, bug):
        super().__init__()
        self.table, self.letters = nn.Embedding(V, C, padding_idx=0), nn.Embedding(V, 8, padding_idx=0)
        self.spell, self.there = nn.GRU(8, 6, batch_first=True), nn.GRU(C + 6, C, batch_first=True)
        self.back, self.head, self.bug = nn.GRU(C + 6, C, batch_first=True), nn.Linear(2 * C, 5), bug

    def spelled(self, letters):
        flat = letters.flatten(0, 1)
        x, lengths = self.letters(flat), (flat != 0).sum(1).clamp(min=1)
        if self.bug != "letters not packed":
            x = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return self.spell(x)[1][0].view(*letters.shape[:2], -1)

    def turned(self, x, lengths):
        at = badak.arange(x.shape[1])[None].expand(len(x), -1)
        turned = badak.where(at < lengths[:, None], lengths[:, None] - 1 - at, at)
        turned = turned if self.bug != "padding turned, too" else x.shape[1] - 1 - at
        return x.gather(1, turned.unsqueeze(-1).expand_as(x))

    def forward(self, ids, letters, lengths):
        x = badak.cat([self.table(ids), self.spelled(letters)], dim=-1)
        back = self.back(self.turned(x, lengths))[0]
        back = back if self.bug == "not turned back" else self.turned(back, lengths)
        return self.head(badak.cat([self.there(x)[0], back], dim=-1))


@pytest.mark.parametrize(
    ("bug", "probe", "module"),
    [
        ("", "", ""),
        ("letters not packed", "padding", "spell"),
        ("padding turned, too", "padding", ""),
        ("not turned back", "heads", ""),
    ],
)
def test_words_of_letters_read_from_both_ends(bug, probe, module):
    badak.manual_seed(0)
    lengths = badak.tensor([12, 9, 10, 5])
    past = badak.arange(12)[None] >= lengths[:, None]
    ids, letters = badak.randint(1, V, (4, 12)).masked_fill(past, 0), badak.randint(1, V, (4, 12, 6))
    ends = badak.arange(6) >= badak.randint(2, 7, (4, 12, 1))
    letters = letters.masked_fill(ends | past[:, :, None], 0)
    report = badak.audit(Words(bug), (ids, letters, lengths), kind="bidirectional")
    assert [(finding.probe, finding.module) for finding in report.findings] == [(probe, module)] * bool(bug), report


@pytest.mark.parametrize(("momentum", "wrong"), [(0.1, False), (None, False), (0.0, True), (0.99, True)])
def test_a_running_mean_that_does_not_follow_is_found(momentum, wrong):
    badak.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8, momentum=momentum), nn.ReLU(), nn.Flatten(), nn.Linear(288, 5))
    report = badak.audit(model, badak.randn(5, 3, 8, 8))
    assert [(finding.probe, finding.module) for finding in report.findings] == [("modes", "1")] * wrong, report


class Stack(nn.Module):
    """Causal convolutions whose parts are added up at the end, (B, V, T): as those of sounds."""

    def __init__(self, bug):
        super().__init__()
        self.table, self.head, self.bug = nn.Embedding(V, C), nn.Conv1d(C, V, 1), bug
        self.units = nn.ModuleList(ResidualUnit(bug) for _ in range(3))

    def forward(self, ids):
        x, total = self.table(ids).transpose(1, 2), 0
        for unit in self.units:
            x, part = unit(x)
            total = part if self.bug == "last part alone" else total + part
        return self.head(F.relu(total + x))


class ResidualUnit(nn.Module):
    def __init__(self, bug):
        super().__init__()
        self.one, self.two, self.part, self.bug = nn.Conv1d(C, C, 2), nn.Conv1d(C, C, 1), nn.Conv1d(C, C, 1), bug

    def forward(self, x):
        h = self.one(F.pad(x, (1, 0))).tanh()
        return (self.two(h) if self.bug == "no residual" else x + self.two(h)), self.part(h)


@pytest.mark.parametrize(
    ("bug", "wanted"),
    [
        ("", set()),
        ("not moved", {("future", "")}),
        ("no residual", {("residual", "units.0")}),  # the parts of the others lead around them
        ("last part alone", {("gradients", f"units.{i}.part") for i in range(2)}),
    ],
)
def test_convolutions_of_a_text_with_channels_first(bug, wanted):
    badak.manual_seed(0)
    text = badak.randint(V, (4, 13))
    labels = text[:, :-1] if bug == "not moved" else text[:, 1:]
    report = badak.audit(Stack(bug), text[:, :-1], loss=lambda y: F.cross_entropy(y, labels))
    assert {(finding.probe, finding.module) for finding in report.findings} == wanted, report


class Foretells(nn.Module):
    """The next number of each series (B, T), by what its numbers were divided by before."""

    def __init__(self, both=False, first=True, scaled=False):
        super().__init__()
        self.rnn, self.head = nn.LSTM(1, C, batch_first=first, bidirectional=both), nn.Linear(C * (1 + both), 1)
        self.scaled = scaled

    def forward(self, x):
        scale = x.abs().mean(dim=1, keepdim=True) if self.scaled else 1.0
        return self.head(self.rnn((x / scale).unsqueeze(-1))[0]).squeeze(-1) * scale


@pytest.mark.parametrize(
    ("how", "wanted"),
    [({}, set()), ({"both": True}, {"future"}), ({"first": False}, {"batch", "order"}), ({"scaled": True}, set())],
)
def test_series_of_one_number_each(how, wanted):
    badak.manual_seed(0)
    x = badak.randn(5, 16)
    report = badak.audit(Foretells(**how), x[:, :-1], loss=lambda y: F.mse_loss(y, x[:, 1:]))
    assert {finding.probe for finding in report.findings} == wanted, report
    assert ("scaled" in report.unasked.get("future", "")) == ("scaled" in how), report
