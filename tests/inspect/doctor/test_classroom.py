"""Mistakes of students that no operation refuses, each next to the sound program that looks most like it."""

import contextlib

import numpy as np
import pytest

import badak
from badak import nn, optim
from badak.data import DataLoader
from badak.nn import functional as F
from badak.optim import lr_scheduler

pytestmark = pytest.mark.filterwarnings("ignore::badak.core.errors.BadakWarning")
V = 19


def checked(train, steps=8):
    badak.manual_seed(0)
    visit = badak.doctor(steps, quiet=True)
    with contextlib.suppress(badak.core.errors.BadakError), visit:
        train()
    return visit.checkup


def codes(checkup):
    return [finding.code for finding in checkup.findings]


def trained(model, loss, steps=8, make=lambda p: optim.AdamW(p, lr=1e-3), before=None, after=None, clear=None):
    """A plain training; before and after: what is done at the step."""

    def train():
        optimizer = make(model.parameters())
        for step in range(steps):
            if clear is None or clear(step):
                optimizer.zero_grad()
            made = loss(step)
            made.backward()
            if before is not None:
                before(model, optimizer, step)
            optimizer.step()
            if after is not None:
                after(model, optimizer, step, made)

    return checked(train, steps)


def mlp(*end):
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4), *end)


def batch(n=16):
    x = badak.randn(n, 6)
    return x, x[:, :4].argmax(1)


def classified(model):
    def loss(step):
        x, y = batch()
        return F.cross_entropy(model(x), y)

    return loss


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clip", "expected"),
    [
        (lambda p: nn.utils.clip_grad_norm_(p, 1e-6), ["BADAK-234"]),
        (lambda p: nn.utils.clip_grad_norm_(p, max_norm=1e-4), ["BADAK-234"]),
        (lambda p: nn.utils.clip_grad_value_(p, 1e-9), ["BADAK-234"]),
        (lambda p: nn.utils.clip_grad_norm_(p, 1.0), []),
        (lambda p: nn.utils.clip_grad_norm_(p, 0.01), []),
        (lambda p: nn.utils.clip_grad_value_(p, 0.5), []),
    ],
)
def test_clipping_that_lets_nothing_through(clip, expected):
    model = mlp()
    found = trained(model, classified(model), before=lambda m, o, s: clip(m.parameters()))
    assert codes(found) == expected, found


@pytest.mark.slow
def test_clipping_before_there_are_gradients():
    model = mlp()

    def loss(step):
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        return classified(model)(step)

    assert codes(trained(model, loss)) == ["BADAK-235"]


SCHEDULES = {
    "to 0 by epochs": (lambda o: lr_scheduler.LinearLR(o, 1.0, 0.0, total_iters=4), True),
    "exponential": (lambda o: lr_scheduler.ExponentialLR(o, 0.5), True),
    "a cosine past its end": (lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=5), True),
    "always 0": (lambda o: lr_scheduler.LambdaLR(o, lambda s: 0.0), True),
    "cosine": (lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=20), False),
    "rises": (lambda o: lr_scheduler.LambdaLR(o, lambda s: 1.7**s * 1e-4), False),
    "warm restarts": (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, T_0=5), False),
    "half of it": (lambda o: lr_scheduler.StepLR(o, 7, 0.5), False),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_that_ends_the_learning(name):
    make, wrong = SCHEDULES[name]
    model, held = mlp(), []

    def after(model, optimizer, step, loss):
        held or held.append(make(optimizer))
        held[0].step()

    found = trained(model, classified(model), 20, lambda p: optim.SGD(p, lr=0.05), after=after)
    assert codes(found) == ["BADAK-236"] * wrong, found


@pytest.mark.slow
@pytest.mark.parametrize("early", [True, False])
def test_a_schedule_before_the_step(early):
    model, held = mlp(), []

    def moves(model, optimizer, step, loss=None):
        held or held.append(lr_scheduler.StepLR(optimizer, 10))
        held[0].step()

    found = trained(model, classified(model), **{"before" if early else "after": moves})
    assert codes(found) == ["BADAK-237"] * early, found


X = np.random.default_rng(0).normal(size=(96, 6)).astype(np.float32)


def test_loss(model, rows):
    with badak.no_grad():
        return model(badak.tensor(X[rows])).mean().item()


test_loss.__test__ = False  # a function of the program that is watched


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "expected"), [(slice(0, 64), ["BADAK-238"]), (slice(64, 96), []), (slice(32, 96), [])])
@pytest.mark.parametrize("late", [False, True])
def test_a_test_of_rows_that_were_trained_on(rows, expected, late):
    model = nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 1), nn.Dropout(0.1))

    def train():
        optimizer = optim.SGD(model.parameters(), lr=1e-3)
        for step in range(12):
            picked = np.arange(step % 4 * 16, step % 4 * 16 + 16)
            optimizer.zero_grad()
            model(badak.tensor(X[picked])).pow(2).mean().backward()
            optimizer.step()
            if step in ((9, 10) if late else (3, 5)):
                model.eval()
                test_loss(model, slice(64, 96) if rows.start == 32 else rows)
                if rows.start == 32:
                    test_loss(model, slice(0, 64))
                model.train()

    assert codes(checked(train)) == expected


@pytest.mark.slow
def test_what_was_learnt_is_looked_at_without_a_word_of_a_test():
    model = mlp()

    def train():
        optimizer = optim.SGD(model.parameters(), lr=1e-3)
        for _ in range(8):
            optimizer.zero_grad()
            model(badak.tensor(X[:64])).pow(2).mean().backward()
            optimizer.step()
            with badak.no_grad():
                model(badak.tensor(X[:64]))

    assert codes(checked(train)) == []


@pytest.mark.slow
@pytest.mark.parametrize("told", [False, True])
def test_dropout_that_knows_no_eval(told):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = mlp()

        def forward(self, x):
            return F.dropout(self.body(x), 0.3, **({"training": self.training} if told else {})).add(0)

    model = Net()

    def after(model, *_):
        model.eval()
        with badak.no_grad():
            model(badak.randn(5, 6))
        model.train()

    found = trained(model, lambda step: model(batch()[0]).pow(2).mean(), after=after)
    assert codes(found) == ["BADAK-239"] * (not told), found


class Heads(nn.Module):
    def __init__(self, split, join):
        super().__init__()
        self.qkv, self.out, self.split, self.join = nn.Linear(12, 36), nn.Linear(12, 4), split, join

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (self.split(z, B, T) for z in self.qkv(x).chunk(3, -1))
        a = (q @ k.transpose(-2, -1) / 2).softmax(-1) @ v
        return self.out(self.join(a, B, T)).mean(1)


def right(z, B, T):
    return z.reshape(B, T, 3, 4).transpose(1, 2)


def joined(a, B, T):
    return a.transpose(1, 2).reshape(B, T, 12)


@pytest.mark.parametrize(
    ("split", "join", "expected"),
    [
        (right, joined, 0),
        (lambda z, B, T: z.reshape(B, 3, T, 4), joined, 1),
        (right, lambda a, B, T: a.contiguous().view(B, T, 12), 1),
    ],
)
def test_heads_that_a_view_mixes(split, join, expected):
    model = Heads(split, join)
    found = trained(model, lambda step: F.cross_entropy(model(badak.randn(8, 5, 12)), badak.randint(4, (8,))))
    assert codes(found) == ["BADAK-240"] * expected, found


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, lambda a, b: ((a - b) ** 2).mean(), lambda a, b: (b - a).abs().mean()]
)
@pytest.mark.parametrize("shape", [(16,), (16, 1)])
def test_a_column_and_a_row_in_the_loss(loss, shape):
    model = nn.Linear(6, 1)
    found = trained(model, lambda step: loss(model(badak.randn(16, 6)), badak.randn(shape)))
    assert codes(found) == ["BADAK-241"] * (len(shape) == 1), found


def test_a_matrix_of_pairs_is_no_mistake():
    model = nn.Linear(6, 1)

    def loss(step):
        s, t = model(badak.randn(16, 6)), model(badak.randn(16, 6))
        return (1 - s + t.squeeze(1)).relu().mean()

    assert codes(trained(model, loss)) == []


class Placed(nn.Module):
    def __init__(self, place, first=True):
        super().__init__()
        self.table, self.pe = nn.Embedding(V, 8), nn.Parameter(badak.randn(32, 8) * 0.1)
        self.rnn, self.out, self.place = nn.GRU(8, 12, batch_first=first), nn.Linear(12, V), place

    def forward(self, ids):
        return self.out(self.rnn(self.place(self.table(ids), self.pe))[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "expected"),
    [(lambda x, pe: x + pe[: x.shape[1]], []), (lambda x, pe: x + pe[: x.shape[0], None], ["BADAK-242"]), (lambda x, pe: x, [])],
)
def test_positions_along_the_batch(place, expected):
    model = Placed(place)

    def loss(step):
        ids = badak.randint(V, (6, 11))
        return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())

    assert codes(trained(model, loss)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_batch_first_forgotten(first, turned):
    rnn, out = nn.LSTM(3, 8, batch_first=first), nn.Linear(8, 1)
    model = nn.ModuleList([rnn, out])

    def loss(step):
        x = badak.randn(*((7, 16, 3) if turned else (16, 7, 3)))
        y = rnn(x)[0]
        return F.mse_loss(out(y[-1] if turned else y[:, -1]), badak.randn(16, 1))

    if first != turned:
        assert codes(trained(model, loss)) == [], (first, turned)
    elif not first:
        assert codes(trained(model, loss)) == ["BADAK-243"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda p: optim.AdamW(p, lr=1e-3, weight_decay=10.0), ["BADAK-244"]),
        (lambda p: optim.SGD(p, lr=1e-3, weight_decay=20.0), ["BADAK-244"]),
        (lambda p: optim.Adam(p, lr=1e-3, weight_decay=10.0), ["BADAK-244"]),
        (lambda p: optim.AdamW(p, lr=3e-3, weight_decay=0.5), []),
        (lambda p: optim.SGD(p, lr=1e-2, weight_decay=5e-4), []),
    ],
)
def test_weight_decay_that_outweighs_the_loss(make, expected):
    model = mlp()
    assert codes(trained(model, classified(model), make=make)) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "expected"), [(optim.Adam, ["BADAK-245"]), (optim.SGD, [])])
def test_a_new_optimizer_for_each_step(kind, expected):
    model = mlp()

    def train():
        for step in range(8):
            optimizer = kind(model.parameters(), lr=1e-3)
            optimizer.zero_grad()
            classified(model)(step).backward()
            optimizer.step()

    assert codes(checked(train)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("steps", ["both", "one", "none"])
def test_an_optimizer_without_a_step(steps):
    body, head = nn.Linear(6, 8), nn.Linear(8, 4)

    def train():
        first, second = (optim.Adam(m.parameters(), lr=1e-3) for m in (body, head))
        for _ in range(12):
            first.zero_grad()
            second.zero_grad()
            x, y = batch()
            F.cross_entropy(head(body(x).relu()), y).backward()
            if steps != "none":
                second.step()
            if steps == "both":
                first.step()

    assert codes(checked(train, 20)) == ["BADAK-246"] * (steps != "both")


@pytest.mark.slow
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_the_next_token_in_sight(causal, first):
    table, out = nn.Embedding(V, 16), nn.Linear(16, V)
    block = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=first)
    model = nn.ModuleList([table, block, out])

    def loss(step):
        ids = badak.randint(V, (6, 10))
        ids = ids if first else ids.T
        x, y = (ids[:, :-1], ids[:, 1:]) if first else (ids[:-1], ids[1:])
        mask = nn.Transformer.generate_square_subsequent_mask(9) if causal else None
        return F.cross_entropy(out(block(table(x), src_mask=mask)).flatten(0, 1), y.flatten())

    assert codes(trained(model, loss)) == ["BADAK-247"] * (not causal)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "expected"),
    [(nn.ReLU(), "BADAK-248"), (nn.Dropout(0.4), "BADAK-248"), (nn.Tanh(), "BADAK-248"), (nn.Sigmoid(), "BADAK-202")],
)
def test_a_layer_behind_the_logits(end, expected):
    model = mlp(end)
    assert codes(trained(model, classified(model))) == [expected]


@pytest.mark.slow
@pytest.mark.parametrize("turn", ["sorted", "mixed", "always 0"])
def test_batches_of_one_class(turn):
    model = mlp()

    def loss(step):
        y = badak.full((16,), {"sorted": step // 3, "mixed": 0, "always 0": 0}[turn])
        y = badak.randint(4, (16,)) if turn == "mixed" else y
        return F.cross_entropy(model(badak.randn(16, 6)), y)

    assert codes(trained(model, loss)) == {"sorted": ["BADAK-249"], "mixed": [], "always 0": ["BADAK-260"]}[turn]


def test_one_hot_integers():
    model = mlp()

    def loss(step):
        x, y = batch()
        return F.cross_entropy(model(x), F.one_hot(y, 4))

    found = trained(model, loss)
    assert codes(found) == ["BADAK-250"] and "test_classroom.py:" in found.findings[0].place, found


@pytest.mark.slow
@pytest.mark.parametrize("same", [False, True])
def test_a_stack_of_one_layer(same):
    layer = nn.Linear(6, 6)
    model = nn.Sequential(*([layer] * 3 if same else [nn.Linear(6, 6) for _ in range(3)]))
    assert codes(trained(model, lambda step: model(badak.randn(8, 6)).pow(2).mean())) == ["BADAK-251"] * same


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 4])
def test_batch_norm_over_one_row(rows):
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(72, 4))
    found = trained(model, lambda step: F.cross_entropy(model(badak.randn(rows, 1, 8, 8)), badak.randint(4, (rows,))))
    assert codes(found) == ["BADAK-252"] * (rows == 1), found


def two_heads():
    return nn.ModuleDict(dict(trunk=nn.Linear(6, 8), kind=nn.Linear(8, 4), size=nn.Linear(8, 1)))


def both(net, joins):
    def loss(step):
        x, y = batch()
        h = net["trunk"](x).relu()
        a, b = F.cross_entropy(net["kind"](h), y), F.mse_loss(net["size"](h), x[:, :1])
        return joins(a, b)

    return loss


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joins", "expected"),
    [
        (lambda a, b: a, ["BADAK-217"]),
        (lambda a, b: a + 0.5 * b.item(), ["BADAK-217"]),
        (lambda a, b: a + 0.5 * b, []),
        (lambda a, b: a + b / b.detach(), []),
    ],
)
def test_a_second_loss_that_nothing_learns_from(joins, expected):
    net = two_heads()
    assert codes(trained(net, both(net, joins))) == expected


@pytest.mark.slow
def test_only_the_last_loss_of_a_loop():
    model = mlp()

    def loss(adds):
        def made(step):
            total = 0
            for _ in range(4):
                x, y = batch()
                one = F.cross_entropy(model(x), y)
                total = total + one if adds else one
            return total

        return made

    assert codes(trained(model, loss(False))) == ["BADAK-217"]
    assert codes(trained(model, loss(True))) == []


@pytest.mark.slow
@pytest.mark.parametrize("divided", [True, False])
def test_parts_with_two_losses(divided):
    net = two_heads()

    def train():
        optimizer = optim.AdamW(net.parameters(), lr=1e-3)
        for step in range(8):
            optimizer.zero_grad()
            for _ in range(4):
                (both(net, lambda a, b: a + 0.3 * b)(step) / (4 if divided else 1)).backward()
            optimizer.step()

    assert codes(checked(train)) == ["BADAK-224"] * (not divided)


@pytest.mark.slow
@pytest.mark.parametrize("comes_back", [True, False])
@pytest.mark.parametrize("functional", [True, False])
def test_a_test_before_the_first_step(comes_back, functional):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.drop = mlp(), nn.Identity() if functional else nn.Dropout(0.2)

        def forward(self, x):
            return self.drop(F.dropout(self.body(x), 0.2, self.training) if functional else self.body(x)) + 0

    model = Net()

    def loss(step):
        if step % 4 == 0:
            model.eval()
            with badak.no_grad():
                model(batch()[0])
            if comes_back:
                model.train()
        return classified(model)(step)

    found = trained(model, loss)
    assert codes(found) == ["BADAK-207"] * (not comes_back and not functional), found
    assert found.ok or "the last switch was at test_classroom.py:" in str(found)


def test_a_model_that_is_tuned_in_eval_mode_on_purpose():
    model = mlp(nn.Dropout(0.1), nn.Linear(4, 4)).eval()
    assert codes(trained(model, classified(model))) == []


@pytest.mark.parametrize(("read", "expected"), [(lambda loss: loss, ["BADAK-232"]), (lambda loss: loss.item(), [])])
def test_a_sum_that_is_begun_anew(read, expected):
    model, total = mlp(), [0.0]

    def after(model, optimizer, step, loss):
        total[0] = read(loss) if step % 5 == 0 else total[0] + read(loss)

    found = trained(model, classified(model), 12, after=after)
    assert codes(found) == expected, found


def test_two_losses_that_are_added_after_their_steps():
    first, second = mlp(), mlp()

    def train():
        optimizers = [optim.Adam(m.parameters(), lr=1e-3) for m in (first, second)]
        for step in range(8):
            losses = []
            for model, optimizer in zip((first, second), optimizers):
                optimizer.zero_grad()
                losses.append(classified(model)(step))
                losses[-1].backward()
                optimizer.step()
            str((losses[0] + losses[1]).item())

    assert codes(checked(train, 16)) == []


@pytest.mark.parametrize("detached", [True, False])
def test_a_picture_of_a_generator_in_train_mode(detached):
    G, D = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 6)), nn.Linear(6, 1)

    def train():
        optimizers = [optim.Adam(m.parameters(), lr=1e-3) for m in (D, G)]
        for step in range(8):
            fake = G(badak.randn(8, 4))
            for optimizer, x in zip(optimizers, (fake.detach(), fake)):
                optimizer.zero_grad()
                F.binary_cross_entropy_with_logits(D(x), badak.ones(8, 1)).backward()
                optimizer.step()
            if step % 4 == 3:
                with badak.no_grad():
                    G(badak.randn(2, 4))

    assert codes(checked(train, 16)) == []


@pytest.mark.parametrize(
    ("give", "expected"), [(lambda x: badak.tensor(x), []), (lambda x: badak.tensor(x)[badak.arange(16)], ["BADAK-222"])]
)
def test_all_rows_at_once_made_anew_are_no_mistake(give, expected):
    model = mlp()
    assert codes(trained(model, lambda step: model(give(X)).pow(2).mean())) == expected


def test_a_loader_of_something_else_is_not_what_batches_were_to_come_from():
    other = DataLoader(list(range(100)), batch_size=7)
    model = mlp()
    assert codes(trained(model, lambda step: model(badak.tensor(X)).pow(2).mean())) == [] and len(other) == 15


@pytest.mark.parametrize("inverted", [True, False])
def test_a_mask_of_padding_that_a_decoder_reads_the_wrong_way(inverted):
    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.qkv, self.out = nn.Embedding(V, 16, padding_idx=0), nn.Linear(16, 48), nn.Linear(16, V)

        def forward(self, ids):
            q, k, v = (z.unsqueeze(1) for z in self.qkv(self.table(ids)).chunk(3, -1))
            real = ((ids == 0) if inverted else (ids != 0))[:, None, None]
            seen = real & badak.ones(ids.shape[1], ids.shape[1]).tril().bool()
            return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=seen).squeeze(1))

    model = Decoder()

    def loss(step):
        ids = badak.randint(1, V, (8, 12))
        ids[badak.arange(12) >= badak.randint(4, 12, (8, 1))] = 0
        return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)

    assert codes(trained(model, loss)) == ["BADAK-227"] * inverted


def test_a_loader_whose_making_ended_with_an_error_harms_no_checkup():
    lost = DataLoader.__new__(DataLoader)  # what a traceback that somebody keeps holds of it
    with pytest.raises(AttributeError):
        len(lost)
    model, held = mlp(), []

    def after(model, optimizer, step, loss):
        held or held.append(lr_scheduler.ExponentialLR(optimizer, 0.95))
        held[0].step()

    trained(model, classified(model), 20, lambda p: optim.SGD(p, lr=0.05), after=after)


@pytest.mark.parametrize(("turn", "expected"), [(lambda x: x.transpose(0, 1), 0), (lambda x: x.view(x.shape[1], len(x), 6), 1)])
def test_texts_and_steps_that_a_view_mixes(turn, expected):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.out = nn.LSTM(6, 8), nn.Linear(8, 4)

        def forward(self, x):
            return self.out(self.rnn(turn(x))[0][-1])

    model = Net()
    found = trained(model, lambda step: F.cross_entropy(model(badak.randn(8, 5, 6)), badak.randint(4, (8,))))
    assert codes(found) == ["BADAK-240"] * expected, found


@pytest.mark.parametrize(("lr", "expected"), [(0.02, []), (1.2, ["BADAK-213"])])
def test_weights_that_have_a_long_way_to_go(lr, expected):
    """The slope is 80, and comes through 0 on its way: the first steps are larger than it is, and each makes the loss smaller."""
    badak.manual_seed(0)
    x = badak.randn(100, 1)
    y, model = 80 * x + badak.randn(100, 1), nn.Linear(1, 1)
    nn.init.constant_(model.weight, -1.0)
    found = trained(model, lambda step: F.mse_loss(model(x), y), 8, lambda p: optim.SGD(p, lr=lr))
    assert codes(found) == expected, found
