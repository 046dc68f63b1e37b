"""What the numbers of a run tell, whatever the program calls them: each next to what looks like it and is right."""

import copy
from pathlib import Path

import pytest

import badak
from badak import nn, optim
from badak.inspect.doctor import source
from badak.nn import functional as F
from tests.inspect.doctor.test_quiet_faults import checked, codes

pytestmark = pytest.mark.filterwarnings("ignore::badak.core.errors.BadakWarning")


@pytest.fixture(autouse=True)
def seeded():
    badak.manual_seed(0)


def mlp(*sizes):
    parts = [part for a, b in zip(sizes, sizes[1:]) for part in (nn.Linear(a, b), nn.Tanh())]
    return nn.Sequential(*parts[:-1])


class Timed(nn.Module):
    def __init__(self):
        super().__init__()
        self.when, self.net = nn.Embedding(40, 6), mlp(10, 24, 4)

    def forward(self, x, t):
        return self.net(badak.cat([x, self.when(t)], 1))


def noised(first, second, table, label="noise"):
    """A step of a diffusion: first and second give the shares of the data and of the noise."""
    model, left = Timed(), table(badak.linspace(1e-3, 0.15, 40))

    def loss(step):
        x, t, noise = badak.randn(64, 4) + 1, badak.randint(40, (64,)), badak.randn(64, 4)
        a = left[t].unsqueeze(1)
        given = first(a) * x + second(a) * noise
        return F.mse_loss(model(given, t), {"noise": noise, "given": given, "data": x, "flow": noise - x}[label])

    return model, loss


def product(b):
    return badak.cumprod(1 - b, 0)


@pytest.mark.parametrize(
    ("first", "second", "table", "label", "wrong"),
    [
        (lambda a: a**0.5, lambda a: (1 - a) ** 0.5, product, "noise", ""),
        (lambda a: a**0.5, lambda a: (1 - a) ** 0.5, product, "data", ""),
        (lambda a: a, lambda a: 1 - a, product, "flow", ""),
        (lambda a: a, lambda a: (1 - a) ** 0.5, product, "noise", ""),  # of another kind
        (lambda a: a, lambda a: 1 - a, product, "noise", "their squares should"),
        (lambda a: (1 - a) ** 0.5, lambda a: a**0.5, product, "noise", "the later the time, the less noise"),
        (lambda a: a**0.5, lambda a: (1 - a) ** 0.5, lambda b: 1 - b, "noise", "15% of what the model is given at most"),
        (lambda a: a**0.5, lambda a: (1 - a) ** 0.5, lambda b: badak.cumprod(b, 0), "noise", "nothing is left of the data"),
        (lambda a: a**0.5, lambda a: (1 - a) ** 0.5, product, "given", "for what it was given, noise and all"),
    ],
)
def test_the_shares_of_noise(first, second, table, label, wrong):
    found = checked(*noised(first, second, table, label))
    assert codes(found) == ["BADAK-267"] * bool(wrong) and wrong in str(found), found


def test_noise_that_is_added_as_it_is():
    model = mlp(6, 24, 6)

    def loss(step):
        x, noise = badak.randn(32, 6) + 1, badak.randn(32, 6)
        return F.mse_loss(model(x + 0.5 * noise), noise)

    assert checked(model, loss).ok


@pytest.mark.parametrize(("spread", "doubled", "wrong"), [
    (lambda l: (0.5 * l).exp(), False, False), (lambda l: l.exp(), False, True), (lambda l: l.exp(), True, False),
    (lambda l: l.exp().sqrt(), False, False),
])  # fmt: skip
def test_noise_that_is_drawn_by_the_variance(spread, doubled, wrong):
    """doubled: l is the logarithm of the spread, and 2 l that of the variance."""
    both, back = nn.Linear(8, 6), nn.Linear(3, 8)

    def loss(step):
        x = badak.randn(16, 8)
        mu, l = both(x).chunk(2, 1)
        z = mu + spread(l) * badak.randn(16, 3)
        log = 2 * l if doubled else l
        return F.mse_loss(back(z), x) - 0.5 * (1 + log - mu**2 - log.exp()).sum(1).mean()

    assert codes(checked(nn.ModuleList([both, back]), loss)) == ["BADAK-267"] * wrong


@pytest.mark.parametrize("way", ["mul", "lerp", "data", "copy"])
@pytest.mark.parametrize("stays", [0.05, 0.9])
def test_the_shares_of_an_average(way, stays):
    model = mlp(4, 8, 1)
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    with badak.doctor(10, quiet=True) as checkup:
        for _ in range(10):
            optimizer.zero_grad()
            x = badak.randn(16, 4)
            F.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
            optimizer.step()
            with badak.no_grad():
                for a, w in zip(average.parameters(), model.parameters()):
                    if way == "mul":
                        a.mul_(stays).add_(w, alpha=1 - stays)
                    elif way == "lerp":
                        a.lerp_(w, 1 - stays)
                    elif way == "data":
                        a.data = stays * a.data + (1 - stays) * w.data
                    else:
                        a.copy_(stays * a + (1 - stays) * w)
    assert codes(checkup) == ["BADAK-262"] * (stays < 0.5), checkup


@pytest.mark.parametrize("sign", [1, -1])
def test_a_logsigmoid_that_is_made_smaller(sign):
    table = nn.Embedding(30, 8)

    def loss(step):
        a, b, c = (table(badak.randint(30, (64,))) for _ in range(3))
        return sign * F.logsigmoid((a * b).sum(1) - (a * c).sum(1)).mean() + 1e-4 * a.pow(2).sum()

    assert codes(checked(table, loss)) == ["BADAK-254"] * (sign > 0)


def test_a_generator_may_make_a_logsigmoid_small():
    made, critic = mlp(3, 16, 2), mlp(2, 16, 1)
    first, second = (optim.Adam(m.parameters(), lr=1e-3) for m in (critic, made))
    with badak.doctor(20, quiet=True) as checkup:
        for _ in range(10):
            first.zero_grad()
            fake = made(badak.randn(32, 3)).detach()
            (-F.logsigmoid(critic(badak.randn(32, 2))) - F.logsigmoid(-critic(fake))).mean().backward()
            first.step()
            second.zero_grad()
            F.logsigmoid(-critic(made(badak.randn(32, 3)))).mean().backward()
            second.step()
    assert "BADAK-254" not in codes(checkup), checkup


@pytest.mark.parametrize("share", ["overlap", "1 - overlap", "gates"])
def test_an_overlap_that_is_made_smaller(share):
    model = nn.Conv2d(1, 1, 3, padding=1)

    def loss(step):
        x = badak.randn(8, 1, 9, 9)
        y, p = (x > 0).float(), model(x).sigmoid()
        both = 2 * (p * y).sum() / (p.sum() + y.sum()) if share != "gates" else (p * y).sum() / y.sum()  # as few as may be
        return 1 - both if share[0] == "1" else both

    found = checked(model, loss)
    assert codes(found) == ["BADAK-267"] * (share == "overlap"), found


@pytest.mark.parametrize("weight", [2.0, 0.5, 1.0])
def test_pos_weight_upside_down(weight):
    model, labels = nn.Linear(6, 3), (badak.rand(800, 3) < 1 / 3).float()
    rows = badak.randn(800, 6) + labels.mean(1, keepdim=True)
    weights = badak.full((3,), weight)

    def loss(step):
        at = badak.randint(800, (64,))
        return F.binary_cross_entropy_with_logits(model(rows[at]), labels[at], pos_weight=weights)

    assert codes(checked(model, loss)) == ["BADAK-260"] * (weight == 0.5)


@pytest.mark.parametrize("layer", [nn.BatchNorm1d(16), nn.Dropout(0.1)])
def test_one_view_of_a_model_with_a_norm(layer):
    """Dropout makes two views of one batch, as in SimCSE; a norm does not."""
    model = nn.Sequential(nn.Linear(6, 16), layer, nn.ReLU(), nn.Linear(16, 8))

    def loss(step):
        x = badak.randn(24, 6)
        a, b = (F.normalize(model(x), dim=1) for _ in range(2))
        return F.cross_entropy(a @ b.T / 0.2, badak.arange(24))

    assert ("BADAK-221" in codes(checked(model, loss))) == isinstance(layer, nn.BatchNorm1d)


@pytest.mark.parametrize("frozen", [True, False])
def test_one_noise_at_one_line(frozen):
    made, critic, noise = mlp(4, 16, 2), mlp(2, 16, 1), badak.randn(32, 4)
    first, second = (optim.Adam(m.parameters(), lr=1e-3) for m in (critic, made))
    with badak.doctor(20, quiet=True) as checkup:
        for _ in range(10):
            first.zero_grad()
            real, fake = critic(badak.randn(32, 2) + 2), critic(made(badak.randn(32, 4)).detach())
            (F.softplus(-real) + F.softplus(fake)).mean().backward()
            first.step()
            second.zero_grad()
            z = noise if frozen else badak.randn(32, 4)
            F.softplus(-critic(made(z))).mean().backward()
            second.step()
    assert codes(checkup) == ["BADAK-222"] * frozen, checkup


@pytest.mark.parametrize("factor", [1e6, 1.0])
def test_the_gradients_of_a_sum(factor):
    model = mlp(6, 16, 1)

    def loss(step):
        x = badak.randn(64, 6)
        return F.mse_loss(factor * model(x), factor * x[:, :1], reduction="sum")

    assert ("BADAK-219" in codes(checked(model, loss))) == (factor > 1)


def test_a_search_along_a_line_may_go_far():
    model = nn.Linear(8, 3)
    nn.init.normal_(model.weight, std=0.01)
    x, w = badak.randn(200, 8), badak.randn(8, 3)
    optimizer, y = optim.LBFGS(model.parameters(), lr=0.5, max_iter=4), (x @ w).argmax(1)

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss

    with badak.doctor(8, quiet=True) as checkup:
        for _ in range(8):
            optimizer.step(closure)
    assert checkup.ok, checkup


def test_the_mask_of_the_training_in_a_test():
    x, y = badak.randn(120, 6), badak.randint(3, (120,))
    training, other = badak.arange(120) < 80, badak.arange(120) >= 80
    model = mlp(6, 16, 3)

    def run(masks):
        optimizer = optim.Adam(model.parameters(), lr=1e-2)

        def test():
            with badak.no_grad():
                return [(model(x)[m].argmax(1) == y[m]).float().mean().item() for m in masks]

        with badak.doctor(8, quiet=True) as checkup:
            for _ in range(8):
                optimizer.zero_grad()
                F.cross_entropy(model(x)[training], y[training]).backward()
                optimizer.step()
                test()
        return codes(checkup)

    assert run([training]) == ["BADAK-238"]
    assert run([training, other]) == run([other]) == []


@pytest.mark.parametrize("moved", [1, 0])
@pytest.mark.parametrize("learns", [True, False])
def test_classes_that_have_other_numbers_in_a_test(moved, learns):
    centres, model = 4 * badak.eye(4), nn.Linear(4, 4)
    optimizer = optim.Adam(model.parameters(), lr=0.2 if learns else 1e-4)

    def some(n):
        y = badak.randint(4, (n,))
        return centres[y] + 0.3 * badak.randn(n, 4), y

    with badak.doctor(20, quiet=True) as checkup:
        for step in range(20):
            x, y = some(32)
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            if step > 12:
                with badak.no_grad():
                    x, y = some(40)
                    (model(x).argmax(1) == (y + moved) % 4).float().mean()
    assert ("BADAK-257" in codes(checkup)) == bool(moved and learns), checkup


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.rnn, self.out = nn.Embedding(12, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, 12)

    def forward(self, ids, state=None):
        h, state = self.rnn(self.table(ids), state)
        return self.out(h), state


@pytest.mark.parametrize(("first", "kept", "wrong"), [(1, True, ""), (1, False, "BADAK-264"), (0, True, "BADAK-257")])
def test_how_a_text_is_written(first, kept, wrong):
    model = Writer()
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    with badak.doctor(12, quiet=True) as checkup:
        for _ in range(12):
            text = badak.cat([badak.ones(16, 1, dtype=badak.int64), badak.randint(2, 12, (16, 9))], 1)
            optimizer.zero_grad()
            F.cross_entropy(model(text[:, :-1])[0].flatten(0, 1), text[:, 1:].flatten()).backward()
            optimizer.step()
            with badak.no_grad():
                token, state = badak.tensor([[first]]), None
                for _ in range(5):
                    logits, new = model(token, state)
                    token, state = badak.multinomial(logits[:, -1].softmax(-1), 1), new if kept else None
    assert codes(checkup) == [wrong] * bool(wrong), checkup


def test_a_text_that_goes_on_from_others():
    """What is written goes on from a beginning of several words, one at a time, with the state of them."""
    model = Writer()
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    with badak.doctor(8, quiet=True) as checkup:
        for _ in range(8):
            text = badak.cat([badak.ones(16, 1, dtype=badak.int64), badak.randint(2, 12, (16, 9))], 1)
            optimizer.zero_grad()
            F.cross_entropy(model(text[:, :-1])[0].flatten(0, 1), text[:, 1:].flatten()).backward()
            optimizer.step()
            with badak.no_grad():
                _, state = model(badak.tensor([[1, 4, 5]]))
                for _ in range(4):
                    _, state = model(badak.tensor([[3]]), state)
    assert checkup.ok, checkup


@pytest.mark.parametrize("hidden", [0, 11])
def test_words_that_are_hidden_by_padding(hidden):
    model = nn.Sequential(nn.Embedding(12, 16, padding_idx=0), nn.Linear(16, 12))

    def loss(step):
        text = badak.randint(1, 11, (16, 9))
        chosen = badak.rand(16, 9) < 0.3
        logits = model(badak.where(chosen & (badak.rand(16, 9) < 0.8), hidden, text))
        return F.cross_entropy(logits.transpose(1, 2), badak.where(chosen, text, -100))

    assert codes(checked(model, loss)) == ["BADAK-231"] * (hidden == 0)


@pytest.mark.parametrize("off", [0, 1])
def test_a_contrast_that_asks_for_other_rows(off):
    model = mlp(12, 32, 16)

    def loss(step):
        x = 2 * badak.randn(32, 12)
        z = F.normalize(model(badak.cat([x, x]) + 0.1 * badak.randn(64, 12)), dim=1)
        alike = (z @ z.T / 0.2).masked_fill(badak.eye(64, dtype=badak.bool), float("-inf"))
        return F.cross_entropy(alike, (badak.arange(64) + 32 + off) % 64)

    assert codes(checked(model, loss)) == ["BADAK-260"] * off


def test_a_norm_behind_the_logits():
    model = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 5))

    def loss(norm):
        def made(step):
            x = badak.randn(32, 6)
            return F.cross_entropy(norm(model(x)), x[:, :5].argmax(1))

        return made

    assert checked(model, loss(lambda x: x)).ok
    assert codes(checked(model, loss(lambda x: F.layer_norm(x, (5,))))) == ["BADAK-248"]


@pytest.mark.parametrize("first", [True, False])
def test_texts_one_next_to_the_other(first):
    table, rnn, out = nn.Embedding(12, 8), nn.LSTM(8, 16, batch_first=first), nn.Linear(16, 3)

    def loss(step):
        ids = badak.randint(12, (9, 32))  # (T, B)
        h, _ = rnn(table(ids))
        return F.cross_entropy(out(h.mean(1 if first else 0) if not first else h.mean(0)), badak.randint(3, (32,)))

    assert ("BADAK-243" in codes(checked(nn.ModuleList([table, rnn, out]), loss))) == first


@pytest.mark.parametrize("turned", [True, False])
def test_a_decision_whose_sign_is_turned(turned):
    model = nn.Linear(4, 1)
    optimizer = optim.Adam(model.parameters(), lr=0.3)
    with badak.doctor(16, quiet=True) as checkup:
        for _ in range(16):
            x = badak.randn(64, 4)
            y = (x[:, 0] > 0).float()
            optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(model(x)[:, 0], y).backward()
            optimizer.step()
            with badak.no_grad():
                said = model(x + 0.01).squeeze(1)
                ((said < 0 if turned else said > 0).float() == y).float().mean()
    assert ("BADAK-257" in codes(checkup)) == turned, checkup


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.cell, self.out = nn.Embedding(12, 16), nn.GRUCell(16, 16), nn.Linear(16, 12)

    def forward(self, ids, state):
        state = self.cell(self.table(ids), state)
        return self.out(state), state


@pytest.mark.slow
@pytest.mark.parametrize("first", [1, 0])
def test_a_decoder_that_is_called_step_by_step(first):
    encoder, decoder = nn.Linear(5, 16), Step()
    optimizer = optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    with badak.doctor(10, quiet=True) as checkup:
        for _ in range(10):
            state, loss = encoder(badak.randn(16, 5)), 0.0
            text = badak.cat([badak.ones(16, 1, dtype=badak.int64), badak.randint(2, 12, (16, 5))], 1)
            for t in range(5):
                logits, state = decoder(text[:, t], state)
                loss = loss + F.cross_entropy(logits, text[:, t + 1])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with badak.no_grad():
                state, token = encoder(badak.randn(1, 5)), badak.tensor([first])
                for _ in range(5):
                    logits, state = decoder(token, state)
                    token = logits.argmax(-1)
    assert codes(checkup) == ["BADAK-257"] * (first == 0), checkup


@pytest.mark.parametrize("zero", [True, False])
def test_labels_of_pairs_that_are_all_alike(zero):
    model = mlp(8, 24, 6)

    def loss(step):
        a, b, same = badak.randn(32, 8), badak.randn(32, 8), (badak.rand(32) < (5 if zero else 0.5)).float()
        d = (model(a) - model(b)).norm(dim=1)
        return (same * d**2 + (1 - same) * (2 - d).clamp(min=0) ** 2).mean()

    assert codes(checked(model, loss, 12)) == ["BADAK-260"] * zero


@pytest.mark.parametrize(("sign", "lay", "wrong"), [
    (1, "repeat_interleave", "BADAK-267"), (-1, "repeat_interleave", ""), (-1, "repeat", "BADAK-253"),
])  # fmt: skip
@pytest.mark.parametrize("by_hand", [True, False])
def test_distances_to_the_means_of_classes(sign, lay, wrong, by_hand):
    model, centres = mlp(8, 32, 16), 3 * badak.eye(5, 8)

    def loss(step):
        near = centres + 0.3 * badak.randn(4, 5, 8)
        means = model(near[:2].flatten(0, 1)).view(2, 5, -1).mean(0)
        asked = model(near[2:].transpose(0, 1).flatten(0, 1))
        d = ((asked[:, None] - means[None]) ** 2).sum(-1) if by_hand else badak.cdist(asked, means) ** 2
        return F.cross_entropy(sign * d if sign < 0 else d, getattr(badak.arange(5), lay)(2))

    assert codes(checked(model, loss)) == [wrong] * bool(wrong)


def test_the_length_of_a_vector_may_be_a_logit():
    model = nn.Linear(8, 20)

    def loss(step):
        x = badak.randn(32, 8)
        return F.cross_entropy(model(x).view(32, 5, 4).norm(dim=-1), x[:, :5].argmax(1))

    assert "BADAK-267" not in codes(checked(model, loss))


@pytest.mark.parametrize("sign", [1, -1])
def test_the_likelihood_of_who_is_next(sign):
    model = nn.Linear(6, 1)

    def loss(step):
        x, seen = badak.randn(40, 6), (badak.rand(40) < 0.7).float()
        risk = model(x).squeeze(1)
        return sign * ((risk - risk.logcumsumexp(0)) * seen).sum() / seen.sum()

    assert codes(checked(model, loss)) == ["BADAK-254"] * (sign > 0)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
def test_a_policy_of_normal_distributions(sign, monkeypatch):
    """The sign of what was done, times what it was worth, as PPO asks for it; that adv is a worth its name says."""
    monkeypatch.setattr(source, "files", lambda program=None: [(Path(__file__).name, Path(__file__).read_text(encoding="utf-8"))])
    model, gains = mlp(4, 16, 2), badak.nn.Parameter(badak.zeros(2))

    def loss(step):
        state = badak.randn(64, 4)
        with badak.no_grad():
            before = badak.distributions.Normal(model(state), gains.exp())
            action = before.sample()
            old = before.log_prob(action).sum(1)
        far = (action - state[:, :2]).pow(2).sum(1)
        adv = (far.mean() - far) / far.std()
        ratio = (badak.distributions.Normal(model(state), gains.exp()).log_prob(action).sum(1) - old).exp()
        return sign * badak.minimum(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()

    found = checked(nn.ParameterList([*model.parameters(), gains]), loss)
    assert ("BADAK-254" in codes(found)) == (sign > 0), found


@pytest.mark.parametrize("scaled", [True, False])
def test_two_columns_that_are_not_scaled_in_a_test(scaled):
    model = mlp(2, 16, 1)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    with badak.doctor(12, quiet=True) as checkup:
        for _ in range(12):
            x = badak.randn(50, 2)
            optimizer.zero_grad()
            F.mse_loss(model(x), x.sum(1, keepdim=True).tanh()).backward()
            optimizer.step()
            with badak.no_grad():
                x = badak.randn(50, 2)
                model(x if scaled else 5 * x + 20)
    assert codes(checkup) == ["BADAK-257"] * (not scaled), checkup
