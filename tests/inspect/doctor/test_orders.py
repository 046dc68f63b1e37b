"""Labels in another order than the answers, nothing masked, rows of other lengths, and what a wrong axis does behind a mask."""

import pytest

import badak
from badak import nn, optim
from badak.data import DataLoader, TensorDataset
from badak.nn import functional as F
from tests.inspect.doctor.test_quiet_faults import Attention, T, V, checked, classified, codes

pytestmark = pytest.mark.filterwarnings("ignore::badak.core.errors.BadakWarning")
PAD, MASK = 0, 1


class Reader(nn.Module):
    """One attention over (B, T) that hides padding, and the future where it is told."""

    def __init__(self, causal=False, visible=lambda ids: ids != PAD):
        super().__init__()
        self.table, self.place, self.maps, self.head = (
            nn.Embedding(V, 16),
            nn.Embedding(T, 16),
            nn.Linear(16, 48),
            nn.Linear(16, V),
        )
        self.causal, self.visible = causal, visible

    def forward(self, ids):
        n = ids.shape[1]
        x = self.table(ids) + self.place(badak.arange(n))
        q, k, v = (y[:, None] for y in self.maps(x).chunk(3, -1))
        keep = self.visible(ids)[:, None, None]
        if self.causal:
            keep = keep & badak.ones(n, n, dtype=badak.bool).tril()
        return self.head(x + F.scaled_dot_product_attention(q, k, v, attn_mask=keep)[:, 0])


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("time_first", [True, False])
def test_labels_are_laid_flat_along_the_axes_of_the_answers(right, time_first):
    model = Reader(causal=True)

    def loss(step):
        ids = badak.randint(2, V, (6, T + 1))
        scores, labels = model(ids[:, :-1]), ids[:, 1:]
        if time_first:
            scores, labels = scores.transpose(0, 1), labels.T
        return F.cross_entropy(scores.reshape(-1, V), (labels if right else labels.T).reshape(-1))

    found = checked(model, loss)
    assert codes(found) == ["BADAK-253"] * (not right), found


@pytest.mark.parametrize("masked", [True, False])
def test_what_a_masked_model_is_asked_for_is_hidden(masked):
    model = Reader()

    def loss(step):
        ids = badak.randint(2, V, (8, T))
        picked = badak.rand(8, T) < 0.3
        labels = badak.where(picked, ids, -100)
        return F.cross_entropy(model(badak.where(picked, MASK, ids) if masked else ids).flatten(0, 1), labels.flatten())

    ids = checked(model, loss)
    assert codes(ids) == ["BADAK-204"] * (not masked), ids
    assert masked or "none of them masked" in str(ids)


@pytest.mark.parametrize(("factor", "every_step"), [(0.9, True), (0.5, False), (0.995, True)])
def test_a_schedule_of_epochs_that_counts_steps(factor, every_step):
    model = nn.Linear(6, 3)
    x = badak.randn(160, 6)
    loader = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=8, shuffle=True)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, factor)
    with badak.doctor(20, quiet=True) as checkup:
        for a, b in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(a), b).backward()
            optimizer.step()
            if every_step:
                schedule.step()
        schedule.step()
    assert codes(checkup) == ["BADAK-236"] * (factor == 0.9), checkup
    assert factor != 0.9 or "times 0.9 in each step: to a thousandth in 66 steps" in str(checkup)


def test_a_schedule_of_epochs_where_an_epoch_is_a_step():
    model = nn.Linear(6, 3)
    x = badak.randn(32, 6)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    with badak.doctor(20, quiet=True) as checkup:
        for _ in range(20):
            optimizer.zero_grad()
            F.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
            optimizer.step()
            schedule.step()
    assert checkup.ok, checkup


@pytest.mark.parametrize("own", [True, False])
def test_texts_are_known_again_whatever_they_are_filled_up_to(own):
    """The longest text of a batch says how wide it is: the same text stands next to others in a test."""
    model = Reader()
    texts = [[int(i) for i in badak.randint(2, V, (6 + n % 5,))] for n in range(80)]
    held = texts[40:]

    def batch(some):
        ids = badak.zeros(len(some), max(map(len, some)), dtype=badak.int64)
        for row, text in enumerate(some):
            ids[row, : len(text)] = badak.tensor(text)
        return ids

    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    with badak.doctor(6, quiet=True) as checkup:
        for step in range(6):
            if step == 5:
                with badak.no_grad():
                    test_set = texts[:40] if own else held
                    model(batch([test_set[i] for i in (7, 0, 21, 33, 14, 28, 6, 13, 2, 35, 36)])).argmax(-1)  # test
            ids = batch([texts[8 * step % 40 + n] for n in range(8)])
            optimizer.zero_grad()
            F.cross_entropy(model(ids).mean(1), badak.tensor([n % 3 for n in range(8)])).backward()
            optimizer.step()
    assert codes(checkup) == ["BADAK-238"] * own, checkup


@pytest.mark.parametrize("inverted", [True, False])
def test_padding_of_texts_that_lie_along_the_first_axis(inverted):
    class TimeFirst(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.layer, self.head = (
                nn.Embedding(V, 16),
                nn.TransformerEncoderLayer(16, 2, 32, 0.0),
                nn.Linear(16, 3),
            )

        def forward(self, ids):
            pad = (ids == PAD).T
            return self.head(self.layer(self.table(ids), src_key_padding_mask=~pad if inverted else pad)[0])

    model = TimeFirst()

    def loss(step):
        ids = badak.randint(2, V, (T, 6))
        for row in range(6):
            ids[T - 1 - row :, row] = PAD
        return F.cross_entropy(model(ids), ids[0] % 3)

    found = checked(model, loss)
    assert codes(found) == ["BADAK-227"] * inverted, found


@pytest.mark.slow
@pytest.mark.parametrize("axis", [0, 1])
def test_a_softmax_over_what_a_mask_hides_throughout_is_named_by_its_axis(axis):
    """Over rows of the batch the masked places are all -inf, and NaN comes of it: the axis is the cause."""
    upper = badak.ones(T, T).triu(1).bool()
    found = checked(model := Attention(lambda s: F.softmax(s, dim=axis), lambda ids: upper), classified(model))
    assert codes(found) == ["BADAK-230"], found
    sound = checked(model := Attention(lambda s: F.softmax(s, dim=-1), lambda ids: upper), classified(model))
    assert sound.ok, sound


@pytest.mark.parametrize("how", ["view", "swapped"])
def test_heads_that_are_laid_beside_the_batch(how):
    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.maps, self.head = nn.Embedding(V, 16), nn.Linear(16, 48), nn.Linear(16, 5)

        def split(self, x):
            if how == "view":
                return x.reshape(len(x) * 2, T, 8)
            return x.view(len(x), T, 2, 8).transpose(1, 2).reshape(len(x) * 2, T, 8)

        def forward(self, ids):
            q, k, v = (self.split(y) for y in self.maps(self.table(ids)).chunk(3, -1))
            y = badak.bmm((badak.bmm(q, k.mT) / 3).softmax(-1), v)
            return self.head(y.view(len(ids), 2, T, 8).transpose(1, 2).flatten(2).mean(1))

    found = checked(model := Heads(), classified(model))
    assert codes(found) == ["BADAK-240"] * (how == "view"), found
