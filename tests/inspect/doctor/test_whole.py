"""What whole tables and whole runs tell, whatever the program calls them: each next to what looks like it and is right."""

import numpy as np
import pytest

import badak
from badak import nn, optim
from badak.nn import functional as F
from tests.inspect.doctor.test_quiet_faults import checked, codes

pytestmark = pytest.mark.filterwarnings("ignore::badak.core.errors.BadakWarning")


@pytest.fixture(autouse=True)
def seeded():
    badak.manual_seed(0)


def fitted(way):
    """What scales some rows by the numbers of others."""
    if way == "range":
        return lambda x, rows: (x - rows.min(0)) / (rows.max(0) - rows.min(0))
    return lambda x, rows: (x - rows.mean(0)) / rows.std(0)


@pytest.mark.parametrize("way", ["spread", "range"])
@pytest.mark.parametrize("loads", [True, False])
@pytest.mark.parametrize(("by", "expected"), [("train", []), ("all", ["BADAK-238"]), ("own", ["BADAK-257"])])
def test_by_which_rows_tables_were_scaled(way, loads, by, expected):
    raw = np.random.default_rng(0).normal(3, 2, (400, 5)).astype(np.float32) * [1, 2, 3, 4, 0.5]
    train, test = raw[:300], raw[300:]
    to = fitted(way)
    rows = {"train": (train, train), "all": (raw, raw), "own": (train, test)}[by]
    a, b = (badak.tensor(to(x, r).astype(np.float32)) for x, r in zip((train, test), rows))
    target = badak.tensor(raw[:, 0] > 3).long()
    parts = badak.data.TensorDataset(a, target[:300]), badak.data.TensorDataset(b, target[300:])
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 2))
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    with badak.doctor(20, quiet=True) as checkup:
        for _ in range(2):
            model.train()
            order = badak.randperm(300).split(30)
            batches = badak.data.DataLoader(parts[0], 30, shuffle=True) if loads else ((a[i], target[:300][i]) for i in order)
            for x, y in batches:
                optimizer.zero_grad()
                F.cross_entropy(model(x), y).backward()
                optimizer.step()
            model.eval()
            with badak.no_grad():
                for x, _ in badak.data.DataLoader(parts[1], 50) if loads else ((b, None),):
                    model(x)
    assert codes(checkup) == expected, checkup


def test_rows_that_are_each_scaled_by_themselves_are_sound():
    x = badak.randn(200, 16) + badak.randn(200, 1)
    x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
    model = nn.Sequential(nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    with badak.doctor(10, quiet=True) as checkup:
        for _ in range(10):
            rows = badak.randint(150, (30,))
            optimizer.zero_grad()
            F.cross_entropy(model(x[rows]), (x[rows, 0] > 0).long()).backward()
            optimizer.step()
            with badak.no_grad():
                model(x[150:])
    assert checkup.ok, checkup


@pytest.mark.parametrize("each", [True, False])
def test_columns_of_different_units_and_one_scale(each):
    raw = badak.randn(300, 4) * badak.tensor([1.0, 60.0, 2.0, 30.0])
    x = (raw - raw.mean(0)) / raw.std(0) if each else (raw - raw.mean()) / raw.std()
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

    def loss(step):
        rows = badak.randint(300, (32,))
        return F.mse_loss(model(x[rows]).squeeze(1), x[rows].sum(1) + badak.randn(32))

    assert codes(checked(model, loss)) == ["BADAK-223"] * (not each)


@pytest.mark.parametrize("squash", [badak.sigmoid, lambda z: z])
def test_an_overlap_of_logits(squash):
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 6))

    def loss(step):
        x = badak.randn(16, 6)
        y, z = (x > 0).float(), model(x) * 3
        p = squash(z)
        dice = (2 * (p * y).sum(1) + 1) / (p.sum(1) + y.sum(1) + 1)
        return F.binary_cross_entropy_with_logits(z, y) + (1 - dice).mean()

    assert codes(checked(model, loss)) == ["BADAK-267"] * (squash is not badak.sigmoid)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_entropy_of_a_policy(sign, monkeypatch):
    monkeypatch.setattr("badak.inspect.doctor.diagnoses.sign.own_text", lambda: "reward = 0")
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))

    def loss(step):
        dist = badak.distributions.Categorical(logits=model(badak.randn(16, 4)))
        action = dist.sample()
        gain = badak.randn(16)
        return -(dist.log_prob(action) * gain).mean() + sign * 0.01 * dist.entropy().mean()

    assert codes(checked(model, loss)) == ["BADAK-254"] * (sign > 0)


@pytest.mark.parametrize("limit", [0, 0.5])
def test_shares_that_are_compared_with_0(limit):
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    with badak.doctor(10, quiet=True) as checkup:
        for _ in range(10):
            x = badak.randn(32, 6)
            optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(model(x).squeeze(1), (x[:, 0] > 0).float()).backward()
            optimizer.step()
            with badak.no_grad():
                p = badak.sigmoid(model(badak.randn(32, 6)).squeeze(1))
                (p > limit).sum()
    assert codes(checkup) == ["BADAK-263"] * (limit == 0), checkup


@pytest.mark.parametrize("same", [True, False])
def test_what_is_compared_with_itself(same):
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))

    def loss(step):
        x, noise = badak.randn(16, 6), badak.randn(16, 6)
        a, b, c = model(x), model(x if same else x + 0.1 * badak.randn(16, 6)), model(noise)
        return F.relu((a - b).pow(2).sum(1) - (a - c).pow(2).sum(1) + 1).mean()

    assert codes(checked(model, loss)) == ["BADAK-217"] * same


@pytest.mark.parametrize("keeps", [True, False])
def test_a_state_that_is_thrown_away_where_a_text_is_written(keeps):
    model = nn.ModuleDict({"table": nn.Embedding(9, 8), "rnn": nn.GRU(8, 8, batch_first=True), "head": nn.Linear(8, 9)})
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    with badak.doctor(8, quiet=True) as checkup:
        for _ in range(8):
            ids = badak.randint(9, (8, 6))
            optimizer.zero_grad()
            out, _ = model["rnn"](model["table"](ids[:, :-1]))
            F.cross_entropy(model["head"](out).flatten(0, 1), ids[:, 1:].flatten()).backward()
            optimizer.step()
            with badak.no_grad():
                word, state = ids[:, :1], badak.ones(1, 8, 8)
                for _ in range(6):
                    out, new = model["rnn"](model["table"](word), state)
                    state, word = new if keeps else state, model["head"](out).argmax(-1)
    assert codes(checkup) == ["BADAK-264"] * (not keeps), checkup
