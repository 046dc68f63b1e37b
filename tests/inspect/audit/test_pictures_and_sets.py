"""Blocks of pictures, sets of points, words of letters: what is sound stays so, and a mistake is found in its place."""

import pytest

import badak
from badak import nn
from badak.nn import functional as F

pytestmark = pytest.mark.slow


class Lifting(nn.Module):
    """Places channel by channel, then many channels of them, and as few as before."""

    def __init__(self, c, fault):
        super().__init__()
        self.places, self.norm = nn.Conv2d(c, c, 5, padding=2, groups=c), nn.GroupNorm(1, c)
        self.up, self.down, self.fault = nn.Conv2d(c, 4 * c, 1), nn.Conv2d(4 * c, c, 1), fault

    def forward(self, x):
        h = self.up(self.norm(self.places(x)))
        y = self.down(h if self.fault == "straight" else F.gelu(h))
        return y if self.fault == "no sum" else x + y


class Pictures(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.stem, self.head = nn.Conv2d(3, 12, 4, 4), nn.Linear(12, 5)
        self.blocks = nn.Sequential(*(Lifting(12, fault) for _ in range(3)))

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


def found(model, *batch):
    return [(each.code, each.module) for each in badak.audit(model, batch).findings]


@pytest.mark.parametrize(
    ("fault", "code", "path"), [("", "", ""), ("no sum", "BADAK-317", "blocks.1"), ("straight", "BADAK-322", "blocks.1.down")]
)
def test_blocks_that_make_many_channels_and_few_again(fault, code, path):
    badak.manual_seed(0)
    said = found(Pictures(fault), badak.randn(4, 3, 24, 24))
    assert (code, path) in said if fault else not said


def test_what_is_limited_has_its_history():
    badak.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU6(), nn.Conv2d(8, 8, 3), nn.ReLU6(), nn.Flatten(), nn.Linear(2048, 4)
    )
    assert not found(model, badak.randn(6, 3, 20, 20))


class Points(nn.Module):
    def __init__(self, hides):
        super().__init__()
        self.each, self.all, self.hides = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 16)), nn.Linear(16, 4), hides

    def forward(self, points, mask):
        h = self.each(points)
        h = h * mask.unsqueeze(-1) if self.hides else h
        return self.all(h.sum(1) / mask.sum(1, keepdim=True))


@pytest.mark.parametrize("hides", [True, False])
def test_a_mask_of_numbers_hides_the_ends_of_a_set(hides):
    badak.manual_seed(0)
    mask = (badak.arange(9) < badak.tensor([[9], [5], [7], [4], [8], [6]])).float()
    points = badak.randn(6, 9, 3) * mask.unsqueeze(-1)
    assert [code for code, _ in found(Points(hides), points, mask)] == ["BADAK-302"] * (not hides)


class Tagger(nn.Module):
    """As many texts as each has places: which axis is which is told by where it stands."""

    def __init__(self):
        super().__init__()
        self.letters, self.words = nn.Embedding(27, 6, padding_idx=0), nn.Embedding(60, 10, padding_idx=0)
        self.near, self.rnn, self.head = nn.Conv1d(6, 8, 3, padding=1), nn.LSTM(18, 12, batch_first=True), nn.Linear(12, 4)

    def forward(self, words, letters):
        B, T, L = letters.shape
        flat = letters.view(B * T, L)
        c = self.near(self.letters(flat).transpose(1, 2)).masked_fill(flat[:, None] == 0, -1e9).max(-1).values.view(B, T, -1)
        c = c.masked_fill((words == 0).unsqueeze(-1), 0.0)
        return self.head(self.rnn(badak.cat([self.words(words), c], -1))[0])


@pytest.mark.parametrize("rows", [8, 9])
def test_as_many_rows_as_places(rows):
    badak.manual_seed(0)
    long = badak.arange(8) < badak.tensor([8, 5, 6, 4, 6, 7, 3, 6, 5][:rows]).unsqueeze(1)
    words = badak.randint(1, 60, (rows, 8)) * long
    letters = badak.randint(1, 27, (rows, 8, 5)) * (badak.arange(5) < badak.randint(2, 6, (rows, 8, 1))) * long.unsqueeze(-1)
    assert not [code for code, _ in found(Tagger(), words, letters) if code == "BADAK-302"]


class OneHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.places, self.head = nn.Embedding(20, 16), nn.Embedding(8, 16), nn.Linear(16, 2)
        self.q, self.k, self.v = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, ids):
        x = self.table(ids) + self.places.weight
        return self.head((x + F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))).mean(1))


def test_rows_that_are_drawn_twice_are_no_heads():
    badak.manual_seed(0)
    ids = badak.randint(20, (6, 8))
    assert not found(OneHead(), ids[badak.tensor([0, 1, 2, 0, 4, 5])])


class Attending(nn.Module):
    """Points that attend to those next to them, without a sum around, as in a first layer that makes them wider."""

    def __init__(self, i, o):
        super().__init__()
        self.map, self.a, self.b = nn.Linear(i, o, bias=False), nn.Linear(o, 1), nn.Linear(o, 1)

    def forward(self, x, near):
        h = self.map(x)
        scores = F.leaky_relu(self.a(h) + self.b(h).T, 0.2).masked_fill(near == 0, float("-inf"))
        return scores.softmax(-1) @ h


class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.head = Attending(12, 16), Attending(16, 16), nn.Linear(16, 4)

    def forward(self, x, near):
        x = F.elu(self.first(x, near))
        return self.head(F.elu(self.second(x, near)) + x)


def test_rows_of_one_graph_are_no_leak():
    badak.manual_seed(0)
    near = badak.rand(40, 40) < 0.1
    near = (near | near.T | badak.eye(40).bool()).float()
    assert found(Graph(), badak.randn(40, 12), near) == []


class Judge(nn.Module):
    """One number for each text, by its last place."""

    def __init__(self, hides):
        super().__init__()
        self.table, self.places, self.head = nn.Embedding(40, 32), nn.Embedding(16, 32), nn.Linear(32, 1)
        self.block = Hiding(nn.LayerNorm(32), nn.MultiheadAttention(32, 4, batch_first=True), hides)

    def forward(self, ids):
        x = self.table(ids) + self.places(badak.arange(ids.shape[1]))
        x = self.block(x, badak.ones(ids.shape[1], ids.shape[1], dtype=badak.bool).triu(1))
        return self.head(x)[:, -1, 0]


class Hiding(nn.Module):
    def __init__(self, norm, attention, hides):
        super().__init__()
        self.norm, self.attention, self.hides = norm, attention, hides

    def forward(self, x, later):
        h = self.norm(x)
        return x + self.attention(h, h, h, attn_mask=later if self.hides else None, need_weights=False)[0]


@pytest.mark.parametrize("hides", [True, False])
def test_a_mask_that_nobody_reads_says_what_was_meant(hides):
    badak.manual_seed(0)
    codes = {code for code, _ in found(Judge(hides), badak.randint(40, (6, 14)))}
    assert codes == (set() if hides else {"BADAK-301"})
