"""Faults that raise no error and let the loss fall: each next to the sound program that looks most like it."""

import io
import re

import numpy as np
import pytest

import badak
from badak import nn, optim
from badak.nn import functional as F

pytestmark = pytest.mark.filterwarnings("ignore::badak.core.errors.BadakWarning")
V, T = 23, 10


def checked(model, loss, steps=8):
    """The doctor's word of a training; loss(step) makes what is differentiated."""
    optimizer = optim.AdamW(model.parameters(), lr=1e-3)
    with badak.doctor(steps, quiet=True) as checkup:
        for step in range(steps):
            optimizer.zero_grad()
            loss(step).backward()
            optimizer.step()
    return checkup


def codes(checkup):
    return [finding.code for finding in checkup.findings]


class Attention(nn.Module):
    """Scores, softmax, values."""

    def __init__(self, weigh, hide=None):
        super().__init__()
        self.table, self.q, self.k, self.v = nn.Embedding(V, 16), nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.drop, self.head, self.weigh, self.hide = nn.Dropout(0.1), nn.Linear(16, 5), weigh, hide

    def forward(self, ids):
        h = self.table(ids)
        scores = self.q(h) @ self.k(h).transpose(-2, -1) / 4
        if self.hide is not None:
            scores = scores.masked_fill(self.hide(ids), float("-inf"))
        return self.head((self.drop(self.weigh(scores)) @ self.v(h)).mean(1))


def classified(model):
    return lambda step: F.cross_entropy(model(badak.randint(V, (8, T))), badak.randint(5, (8,)))


def test_weights_that_sum_to_one_over_the_queries():
    found = checked(model := Attention(lambda s: F.softmax(s, dim=1)), classified(model))
    assert codes(found) == ["BADAK-230"], found
    assert re.search(r"softmax\(dim=1\) of weights \(8, 10, 10\), which .*: a row of weights sums to 0\.\d+ to", str(found))
    sound = checked(model := Attention(lambda s: F.softmax(s, dim=-1)), classified(model))
    assert sound.ok, sound


def test_a_softmax_over_slots_that_is_normalised_afterwards_is_sound():
    def weigh(scores):
        shared = F.softmax(scores, dim=1)
        return shared / shared.sum(-1, keepdim=True)

    sound = checked(model := Attention(weigh), classified(model))
    assert sound.ok, sound


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_classifier_whose_probabilities_sum_to_one_over_the_batch(by_hand):
    def loss(dim):
        def made(step):
            x = badak.randn(16, 6)
            z = model(x)
            log = F.softmax(z, dim=dim).log() if by_hand else F.log_softmax(z, dim=dim)
            return F.nll_loss(log, x.argmax(1))

        return made

    model = nn.Linear(6, 6)
    found = checked(model, loss(0))
    assert codes(found) == ["BADAK-230"], found
    assert "over the 6 classes of a row, not to 1" in str(found)
    assert "BADAK-230" not in codes(checked(model, loss(1)))


def padded(length=T):
    ids = badak.randint(1, V, (8, length))
    ids[badak.arange(length) >= badak.randint(4, length + 1, (8, 1))] = 0
    ids[0], ids[1, 5:], ids[2, 6:] = 3, 0, 0
    ids[3, 7:] = 0
    return ids


@pytest.mark.parametrize(("ignored", "expected"), [(-100, ["BADAK-231"]), (0, [])])
def test_padding_among_the_labels(ignored, expected):
    model = nn.Sequential(nn.Embedding(V, 16), nn.Linear(16, V))

    def loss(step):
        ids = padded()
        return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=ignored)

    found = checked(model, loss)
    assert codes(found) == expected, found
    assert not expected or re.search(r"\d+ of 576 labels \(\d+%\) are 0, the id that fills the texts up", str(found))


def test_a_word_at_the_end_and_classes_are_no_padding():
    table = nn.Sequential(nn.Embedding(V, 16), nn.Linear(16, V))

    def ended(step):
        ids = badak.randint(1, V, (8, T))
        ids[:, -1] = 0
        return F.cross_entropy(table(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())

    assert checked(table, ended).ok
    model = Attention(lambda s: F.softmax(s, dim=-1))
    sound = checked(model, lambda step: F.cross_entropy(model(padded()), badak.randint(2, (8,)) * 0))
    assert "BADAK-231" not in codes(sound), sound


def test_gradients_by_autograd_grad_are_watched_like_others():
    model = nn.Linear(4, 1)
    optimizer = optim.SGD(model.parameters(), lr=1e-3)
    with badak.doctor(8, quiet=True) as checkup:
        for _ in range(8):
            loss = F.mse_loss(model(badak.randn(6, 4)), badak.randn(6, 1))
            for p, g in zip(model.parameters(), badak.autograd.grad(loss, list(model.parameters()))):
                p.grad = g
            optimizer.step()
    assert checkup.steps == 8


def test_a_state_that_grows_the_graph_and_one_that_is_detached():
    def trained(detach):
        cell, out = nn.Linear(8, 8), nn.Linear(8, 1)
        optimizer, state = optim.SGD([*out.parameters()], lr=1e-3), badak.zeros(3, 8)
        cell.requires_grad_(False)
        scale = badak.ones(1, requires_grad=True)
        with badak.doctor(8, quiet=True) as checkup:
            for _ in range(8):
                state = badak.tanh(cell(state)) * scale
                optimizer.zero_grad()
                F.mse_loss(out(state), badak.randn(3, 1)).backward(retain_graph=True)
                optimizer.step()
                state = state.detach() if detach else state
        return checkup

    assert "BADAK-232" not in codes(trained(True))
    grown = trained(False)
    assert "BADAK-232" in codes(grown), grown
    assert "more each time: it goes back into all steps before" in str(grown)


@pytest.mark.parametrize(("read", "expected"), [(lambda loss: loss, ["BADAK-232"]), (lambda loss: loss.item(), [])])
def test_a_sum_of_losses_that_keeps_every_graph(read, expected):
    model, total = nn.Linear(4, 1), 0.0

    def loss(step):
        nonlocal total
        made = F.mse_loss(model(badak.randn(6, 4)), badak.randn(6, 1))
        total = total + read(made)
        return made

    found = checked(model, loss)
    assert codes(found) == expected, found
    assert not expected or "total += loss.item()" in str(found)


def weights_by_hand(scores):
    e = (scores - scores.max(-1, keepdim=True).values).exp()
    return e / e.sum(-1, keepdim=True)


@pytest.mark.parametrize("weigh", [weights_by_hand, lambda s: F.softmax(s, -1), lambda s: s.exp() / s.exp().sum(-1, keepdim=True)])
def test_a_query_that_sees_nothing(weigh):
    def hide(ids):
        mask = badak.zeros(1, T, T, dtype=badak.bool)
        mask[0, 4] = True
        return mask

    found = checked(model := Attention(weigh, hide), classified(model))
    assert codes(found) == ["BADAK-233"], found
    assert "of 80 rows of scores in which every key is hidden; the first is (0, 4), hidden at test_quiet_faults.py:" in str(found)


@pytest.mark.parametrize(("forgets", "block"), [(True, badak.no_grad), (True, badak.inference_mode), (False, badak.no_grad)])
def test_a_first_test_after_the_steps_is_still_seen(forgets, block):
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 3))
    optimizer, file, call = optim.SGD(model.parameters(), lr=1e-3), io.StringIO(), nn.Module.__call__
    with badak.doctor(3, file=file) as checkup:
        for _ in range(6):
            optimizer.zero_grad()
            F.cross_entropy(model(badak.randn(6, 4)), badak.randint(3, (6,))).backward()
            optimizer.step()
        assert checkup.ok and nn.Module.__call__ is call  # nobody looks at steps any more
        if not forgets:
            model.eval()
        for _ in range(3):
            with block():
                model(badak.randn(6, 4))
        model.train()
        model(badak.randn(6, 4))  # the first call in training after the test is the last one that is looked at
        assert nn.Module.__call__ is call
    assert codes(checkup) == ["BADAK-206"] * forgets
    assert file.getvalue().count("in its first test, after step 3, Sequential was called without gradients") == forgets


def test_nobody_waits_for_a_test_after_the_block():
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 3))
    call, enter = nn.Module.__call__, badak.no_grad.__enter__
    checked(model, lambda step: F.cross_entropy(model(badak.randn(6, 4)), badak.randint(3, (6,))))
    assert nn.Module.__call__ is call and badak.no_grad.__enter__ is enter


def rows_of(n=64):
    x = badak.randn(n, 6)
    return x, (x[:, :4]).argmax(1)


def net(p=0.1):
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(p), nn.Linear(32, 4))


def test_a_loss_with_a_minus_is_maximised():
    model, (x, y) = net(), rows_of()
    assert codes(checked(model, lambda step: -F.cross_entropy(model(x + 0.1 * badak.randn(64, 6)), y), 12)) == ["BADAK-254"]
    entropy = lambda z: -(z.softmax(-1) * z.log_softmax(-1)).sum(-1).mean()
    sound = checked(model, lambda step: F.cross_entropy(z := model(x + 0.1 * badak.randn(64, 6)), y) - 0.1 * entropy(z), 12)
    assert sound.ok, sound


def test_a_dropout_of_nearly_all():
    x, y = rows_of()
    model = net(0.95)
    assert codes(checked(model, lambda step: F.cross_entropy(model(x + 0.1 * badak.randn(64, 6)), y))) == ["BADAK-255"]


@pytest.mark.parametrize(
    ("labels", "right"),
    [
        (lambda y, rows: y[badak.randperm(64)], False),
        (lambda y, rows: y[rows.flip(0)], False),
        (lambda y, rows: y[rows], True),
    ],
    ids=["alone", "backwards", "together"],
)
def test_labels_picked_in_another_order_than_the_rows(labels, right):
    model, (x, y) = net(), rows_of()

    def loss(step):
        rows = badak.randperm(64)
        return F.cross_entropy(model(x[rows] * 1.5), labels(y, rows))

    assert codes(checked(model, loss)) == ["BADAK-256"] * (not right)


def test_rows_mixed_with_others_and_asked_for_both_labels_are_sound():
    model, (x, y) = net(), rows_of()

    def loss(step):
        rows = badak.randperm(64)
        z = model(0.7 * x + 0.3 * x[rows])
        return 0.7 * F.cross_entropy(z, y) + 0.3 * F.cross_entropy(z, y[rows])

    assert checked(model, loss).ok


def test_a_number_added_to_the_loss_teaches_nothing():
    model, (x, y) = net(), rows_of()

    def loss(step, cut):
        z = model(x + 0.1 * badak.randn(64, 6))
        return F.cross_entropy(z, y) + ((z.detach() if cut else z) ** 2).sum(1).mean()

    assert codes(checked(model, lambda step: loss(step, True))) == ["BADAK-217"]
    assert checked(model, lambda step: loss(step, False)).ok


def test_channels_viewed_as_if_they_stood_last():
    model, x = nn.Conv1d(3, 5, 3, padding=1), badak.randn(8, 3, 9)
    y = x.argmax(1) % 5

    def loss(step, right):
        z = model(x + 0.1 * badak.randn(8, 3, 9))
        return F.cross_entropy(z.transpose(1, 2).reshape(-1, 5) if right else z.reshape(-1, 5), y.reshape(-1))

    assert codes(checked(model, lambda step: loss(step, False))) == ["BADAK-240"]
    assert checked(model, lambda step: loss(step, True)).ok


def test_labels_laid_flat_along_the_other_axis_need_be_no_tokens():
    model, x = nn.Linear(6, 4), badak.randn(5, 7, 6)
    y = x[..., :4].argmax(-1)

    def loss(step, right):
        z = model(x + 0.1 * badak.randn(5, 7, 6))
        return F.cross_entropy((z if right else z.transpose(0, 1)).reshape(-1, 4), y.view(-1))

    assert codes(checked(model, lambda step: loss(step, False))) == ["BADAK-253"]
    assert checked(model, lambda step: loss(step, True)).ok


def test_a_parameter_read_as_a_number_never_learns():
    class Scaled(nn.Module):
        def __init__(self, cut):
            super().__init__()
            self.cut, self.scale, self.body = cut, nn.Parameter(badak.tensor(2.0)), nn.Linear(6, 4)

        def forward(self, x):
            return self.body(x) * (self.scale.item() if self.cut else self.scale)

    x, y = rows_of()
    for cut in (True, False):
        model = Scaled(cut)
        found = checked(model, lambda step, model=model: F.cross_entropy(model(x + 0.1 * badak.randn(64, 6)), y), 12)
        assert codes(found) == ["BADAK-217"] * cut, found


class Lazy(nn.Module):
    """A model with parts that are not called, so that their weights never get values."""

    def __init__(self):
        super().__init__()
        self.body, self.unused, self.norm = nn.Linear(4, 2), nn.LazyLinear(5), nn.LazyBatchNorm1d()

    def forward(self, x):
        return self.body(x)


@pytest.mark.parametrize("inside", [True, False])
def test_weights_without_values_disturb_no_diagnosis(inside):
    elsewhere, model = nn.Sequential(nn.LazyLinear(3)), Lazy() if inside else nn.Linear(4, 2)
    optimizer = badak.optim.SGD(model.body.parameters() if inside else model.parameters(), lr=0.1)
    visit = badak.doctor(20, quiet=True)
    with visit:
        for _ in range(21):
            F.cross_entropy(model(badak.randn(8, 4)), badak.randint(0, 2, (8,))).backward()
            optimizer.step()
    assert "BADAK-201" in [finding.code for finding in visit.checkup.findings]
    assert isinstance(elsewhere[0].weight, nn.UninitializedParameter)


@pytest.mark.parametrize("handed", [False, True])
def test_a_state_that_is_not_handed_on(handed):
    rnn, head = nn.GRU(4, 8, batch_first=True), nn.Linear(8, 3)

    def loss(step):
        x, state, made = badak.randn(6, 5, 4), None, []
        for t in range(5):
            y, new = rnn(x[:, t : t + 1], state)
            state = new if handed else None
            made.append(head(y[:, 0]))
        return F.cross_entropy(badak.stack(made, 1).reshape(-1, 3), badak.randint(0, 3, (30,)))

    found = checked(nn.ModuleList([rnn, head]), loss)
    assert ("BADAK-264" in codes(found)) != handed, found


@pytest.mark.parametrize("kind", ["target", "advantage"])
@pytest.mark.parametrize("apart", [False, True])
def test_a_target_of_rewards_that_learns(kind, apart, monkeypatch):
    monkeypatch.setattr("badak.inspect.doctor.diagnoses.moving.own_text", lambda: "rewards = play(policy)")
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))

    def loss(step):
        state, after, reward = badak.randn(12, 4), badak.randn(12, 4), badak.randn(12)
        if kind == "target":
            value = reward + 0.9 * model(after)[:, 0]
            return F.mse_loss(model(state)[:, 0], value.detach() if apart else value)
        logits, action = model(state), badak.randint(0, 2, (12, 1))
        advantage = reward - logits[:, 2]
        chosen = F.log_softmax(logits[:, :2], dim=1).gather(1, action).squeeze(1)
        return -(chosen * (advantage.detach() if apart else advantage)).mean() + advantage.pow(2).mean()

    found = checked(model, loss)
    assert ("BADAK-265" in codes(found)) != apart, found


@pytest.mark.parametrize("right", [False, True])
def test_what_is_rewarded_is_made_less_likely(right, monkeypatch):
    for name in ("sign", "moving"):
        monkeypatch.setattr(f"badak.inspect.doctor.diagnoses.{name}.own_text", lambda: "rewards = play(policy)")
    monkeypatch.setattr("badak.inspect.doctor.diagnoses.sign.weight_of", lambda line: 1)
    model = nn.Linear(4, 2)

    def loss(step):
        state, returns = badak.randn(12, 4), badak.randn(12)
        chosen = F.log_softmax(model(state), dim=1).gather(1, badak.randint(0, 2, (12, 1))).squeeze(1)
        return -(chosen * returns).mean() if right else (chosen * returns).mean()

    found = checked(model, loss)
    assert ("BADAK-254" in codes(found)) != right, found


@pytest.mark.parametrize("right", [False, True])
def test_a_hinge_and_what_is_not_reduced_made_larger(right):
    badak.manual_seed(0)  # a score above its margin at first is none
    score, net = nn.Linear(6, 1), nn.Linear(6, 3)
    sign = 1 if right else -1
    hinge = checked(score, lambda step: sign * F.relu(1.0 - score(badak.ones(8, 6) + 0.1 * badak.randn(8, 6))).mean(), 12)
    assert ("BADAK-254" in codes(hinge)) != right, hinge

    x = badak.randn(16, 6)

    def each(step):
        return sign * F.cross_entropy(net(x), x[:, :3].argmax(1), reduction="none").sum() / 16

    assert ("BADAK-254" in codes(checked(net, each, 12))) != right


def test_cosines_times_a_temperature_may_start_high():
    table = nn.Parameter(F.normalize(badak.randn(24, 16), dim=1))
    model = nn.Linear(10, 16)

    def loss(step):
        rows = F.normalize(model(badak.randn(32, 10)), dim=1)
        return F.cross_entropy(16.0 * (rows @ F.normalize(table, dim=1).t()), badak.randint(0, 24, (32,)))

    assert "BADAK-210" not in codes(checked(model, loss))


@pytest.mark.parametrize("right", [False, True])
def test_a_column_of_answers_compared_with_a_row_of_labels(right):
    model = nn.Linear(6, 1)

    def loss(step):
        x, y = badak.randn(16, 6), badak.randint(0, 2, (16,))
        with badak.no_grad():
            guess = (model(x) > 0).long()
            badak.eq(guess.squeeze(-1) if right else guess, y).float().mean()
            badak.eq(y.unsqueeze(1), y).float().mean()  # who has the label of whom
        return F.binary_cross_entropy_with_logits(model(x).squeeze(-1), y.float())

    found = checked(model, loss)
    assert ("BADAK-263" in codes(found)) != right, found


@pytest.mark.parametrize("anew", [False, True])
def test_numbers_of_numpy_drawn_by_the_same_seed_in_each_step(anew):
    model, numbers, kind = nn.Linear(6, 3), np.random.RandomState(0), np.random.RandomState

    def loss(step):
        draw = np.random.RandomState(1) if anew else numbers
        assert isinstance(draw, np.random.RandomState) and isinstance(draw, kind)
        x = badak.tensor(draw.randn(16, 6).astype("f"))
        return F.cross_entropy(model(x), x[:, :3].argmax(1))

    assert ("BADAK-222" in codes(checked(model, loss))) == anew
    assert np.random.RandomState is kind


@pytest.mark.parametrize("labels", ["both", "mixed", "first", "other"])
def test_rows_that_are_mixed_and_labels_that_are_not(labels):
    model, data, kinds = nn.Linear(6, 3), badak.randn(64, 6), badak.randint(0, 3, (64,))

    def loss(step):
        some = badak.randperm(64)[:16]
        x, y, other = data[some], kinds[some], badak.randperm(16)
        logits, z = model(0.7 * x + 0.3 * x[other]), y[other]
        if labels == "both":
            return 0.7 * F.cross_entropy(logits, y) + 0.3 * F.cross_entropy(logits, z)
        if labels == "mixed":
            return F.cross_entropy(logits, 0.7 * F.one_hot(y, 3).float() + 0.3 * F.one_hot(z, 3).float())
        return F.cross_entropy(logits, y if labels == "first" else z)

    found = checked(model, loss)
    assert ("BADAK-256" in codes(found)) == (labels in ("first", "other")), found
