"""Scores that are divided wrongly, maps in a row, places and labels in another order: small models with one bug each."""

import pytest

import badak
from badak import nn
from badak.nn import functional as F

V, T, C, H = 30, 12, 16, 2
WAYS = [
    ("", set()),
    ("undivided", {"scale"}),
    ("multiplied", {"scale"}),
    ("divided twice", {"scale"}),
    ("no nonlinearity", {"straight"}),
    ("label read", {"future"}),
    ("labels along the other axis", {"future"}),
    ("places come back in another order", {"heads"}),
    ("map is not added", {"residual"}),
]


class Block(nn.Module):
    def __init__(self, way):
        super().__init__()
        self.way = way
        self.n1, self.n2, self.n3, self.qkv, self.out = (
            nn.LayerNorm(C),
            nn.LayerNorm(C),
            nn.LayerNorm(C),
            nn.Linear(C, 3 * C),
            nn.Linear(C, C),
        )
        self.fc1, self.fc2, self.fc3, self.fc4 = nn.Linear(C, 40), nn.Linear(40, C), nn.Linear(C, 24), nn.Linear(24, C)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, H, C // H).permute(2, 0, 3, 1, 4).unbind(0)
        root = (C // H) ** 0.5
        s = q @ k.transpose(-2, -1)
        s = {"undivided": s, "multiplied": s * root, "divided twice": s / root / root}.get(self.way, s / root)
        s = s.masked_fill(badak.ones(t, t).triu(1).bool(), float("-inf"))
        y = self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, C))
        x = x + y
        h = self.fc1(self.n2(x))
        x = x + self.fc2(h if self.way == "no nonlinearity" else F.gelu(h))
        z = self.n3(x).view(b, t // 3, 3, C)
        z = self.fc4(F.gelu(self.fc3(z.transpose(1, 2) if "another order" in self.way else z)))
        z = z.reshape(b, t, C)
        return z if self.way == "map is not added" else x + z


class Reader(nn.Module):
    def __init__(self, way):
        super().__init__()
        self.way = way
        self.word, self.place = nn.Embedding(V, C), nn.Embedding(T, C)
        self.blocks, self.head = nn.ModuleList([Block(way), Block(way)]), nn.Linear(C, V)
        self.mark = nn.Embedding(V, C) if way == "label read" else None

    def forward(self, ids, labels):
        x = self.word(ids) + self.place.weight
        if self.way == "label read":
            x = x + self.mark(labels)
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        laid = logits.transpose(0, 1) if "other axis" in self.way else logits
        return logits, F.cross_entropy(laid.reshape(-1, V), labels.reshape(-1))


@pytest.mark.parametrize(("way", "probes"), WAYS, ids=[way or "sound" for way, _ in WAYS])
def test_one_bug_is_found_by_its_question(way, probes):
    badak.manual_seed(0)
    text = badak.randint(V, (5, T + 1))
    report = badak.audit(Reader(way), {"ids": text[:, :-1], "labels": text[:, 1:]})
    assert probes <= {finding.probe for finding in report.findings} and bool(report.findings) == bool(probes), report


class Pictures(nn.Module):
    """Films, read picture by picture; one bug each."""

    def __init__(self, way):
        super().__init__()
        self.way, self.see, self.answer = way, nn.Conv2d(3, 8, 4, stride=4), nn.Linear(32, 5)

    def forward(self, films):
        b, c, t, h, w = films.shape
        films = films[:, :, :2] if self.way == "half of the time" else films
        pictures = films if self.way == "times for channels" else films.permute(0, 2, 1, 3, 4)
        x = self.see(pictures.reshape(-1, c, h, w)).relu()
        return self.answer(x.reshape(b, -1, 32).mean(dim=1))


@pytest.mark.parametrize(("way", "probes"), [("", set()), ("half of the time", {"positions"}), ("times for channels", {"heads"})])
def test_what_films_are_read_by(way, probes):
    badak.manual_seed(0)
    report = badak.audit(Pictures(way), badak.randn(3, 3, 4, 8, 8))
    assert probes == {finding.probe for finding in report.findings} - {"order"}, report


class Norm(nn.Module):
    """A norm of the program's own."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(badak.ones(C))

    def forward(self, x):
        return x * (x.pow(2).mean(-1, keepdim=True) + 1e-5).rsqrt() * self.weight


class Mixer(nn.Module):
    """Runs of places are summed with a decay: no attention."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(C, 2 * C), nn.Linear(C, C)

    def forward(self, x):
        a, b = self.one(x).chunk(2, dim=-1)
        return self.two((a.cumsum(1) / badak.arange(1, x.shape[1] + 1)[:, None]) * F.silu(b))


class Layer(nn.Module):
    def __init__(self, around):
        super().__init__()
        self.norm, self.mixer, self.around = Norm(), Mixer(), around

    def forward(self, x):
        y = self.mixer(self.norm(x))
        return x + y if self.around else y


@pytest.mark.parametrize("around", [True, False])
def test_layers_with_norms_of_their_own_have_a_way_around(around):
    badak.manual_seed(0)
    model = nn.Sequential(nn.Embedding(V, C), *(Layer(around) for _ in range(3)), Norm(), nn.Linear(C, V))
    report = badak.audit(model, badak.randint(V, (4, T)), kind="causal")
    assert {finding.probe for finding in report.findings} == (set() if around else {"residual"}), report


class Graph(nn.Module):
    """Each node asks its neighbours, by scores that are a sum, with the heads last."""

    def __init__(self, axis):
        super().__init__()
        self.map, self.ask, self.answer, self.head = nn.Linear(6, 2 * C), nn.Linear(C, 1), nn.Linear(C, 1), nn.Linear(2 * C, 3)
        self.axis = axis

    def forward(self, x, adjacent):
        h = self.map(x).view(*x.shape[:2], 2, C)
        scores = F.leaky_relu(self.ask(h).squeeze(-1)[:, :, None] + self.answer(h).squeeze(-1)[:, None], 0.2)
        weights = scores.masked_fill(adjacent.unsqueeze(-1) == 0, -1e9).softmax(self.axis)
        return self.head(F.elu(badak.einsum("bijh,bjhf->bihf", weights, h).flatten(2)).mean(1))


@pytest.mark.parametrize("axis", [2, 1])
def test_the_axis_of_weights_with_the_heads_last(axis):
    badak.manual_seed(0)
    adjacent = ((badak.rand(4, 7, 7) < 0.4).float() + badak.eye(7) > 0).float()
    report = badak.audit(Graph(axis), (badak.randn(4, 7, 6), adjacent))
    assert {finding.probe for finding in report.findings} == ({"axis"} if axis == 1 else set()), report


@pytest.mark.parametrize("counts", [False, True])
def test_a_mean_of_nodes_leaves_those_out_that_fill_up(counts):
    class Pooled(Graph):
        def forward(self, x, adjacent, keep):
            h = F.relu(self.map(x))
            h = h + adjacent @ h
            total = (h * keep.unsqueeze(-1)).sum(1)
            return self.head(total / (x.shape[1] if counts else keep.sum(1, keepdim=True)))

    badak.manual_seed(0)
    keep = badak.arange(9)[None] < badak.tensor([9, 6, 7, 4])[:, None]
    adjacent = (badak.rand(4, 9, 9) < 0.4).float() * keep[:, :, None] * keep[:, None]
    model = Pooled(2)
    del model.ask, model.answer
    report = badak.audit(model, (badak.randn(4, 9, 6) * keep.unsqueeze(-1), adjacent, keep))
    assert [finding.probe for finding in report.findings] == ["padding"] * counts, report


class Small(nn.Module):
    """Tables, a sum of maps and codes; one bug each."""

    def __init__(self, way):
        super().__init__()
        self.way, self.one, self.two = way, nn.Embedding(5, C), nn.Embedding(5, C)
        self.a, self.b, self.out = nn.Linear(2 * C, 6 * C), nn.Linear(2 * C, 6 * C), nn.Linear(6 * C, 3)

    def forward(self, numbers, kinds):
        x = badak.cat([self.one(kinds[:, 0]) + numbers, self.two(kinds[:, 0 if self.way == "column" else 1])], dim=1)
        return self.out(self.a(x) + self.b(x) if self.way == "sum" else badak.sigmoid(self.a(x)) * self.b(x))


@pytest.mark.parametrize(("way", "probes"), [("", set()), ("column", {"tokens"}), ("sum", {"straight"})])
def test_what_reads_a_column_and_what_reads_a_sum(way, probes):
    badak.manual_seed(0)
    report = badak.audit(Small(way), {"numbers": badak.randn(6, C), "kinds": badak.randint(5, (6, 2))})
    assert probes == {finding.probe for finding in report.findings}, report


class Codes(nn.Module):
    """The nearest of a few codes stands for each row."""

    def __init__(self):
        super().__init__()
        self.enter, self.leave, self.book = nn.Linear(6, 2), nn.Linear(2, 6), nn.Parameter(badak.randn(3, 2))

    def forward(self, x):
        z = self.enter(x)
        e = self.book[badak.cdist(z, self.book).argmin(1)]
        return self.leave(z + (e - z).detach()), ((z - e) ** 2).mean()


def test_rows_of_one_code_may_be_alike():
    badak.manual_seed(0)
    report = badak.audit(Codes(), badak.randn(24, 6))
    assert "tokens" not in {finding.probe for finding in report.findings}, report
