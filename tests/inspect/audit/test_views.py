"""Views that take one axis for another: of pictures that are cut into patches, and of series whose channels are convolved."""

import pytest

import badak
from badak import nn
from badak.nn import functional as F

PICTURE, GRAY, SERIES = (4, 3, 20, 20), (4, 1, 16, 16), (4, 24, 7)
SOUND = [
    (PICTURE, lambda x: x.view(4, 3, 4, 5, 4, 5).permute(0, 2, 4, 3, 5, 1).reshape(4, 16, 75)),
    (PICTURE, lambda x: F.unfold(x, 5, stride=5).transpose(1, 2)),
    (PICTURE, lambda x: x.unfold(2, 5, 5).unfold(3, 5, 5).permute(0, 2, 3, 1, 4, 5).reshape(4, 16, 75)),
    (PICTURE, lambda x: x.permute(0, 2, 1, 3).reshape(4, 20, 60)),  # rows
    (PICTURE, lambda x: x.flatten(2).transpose(1, 2)),  # pixels
    (GRAY, lambda x: x.view(4, 16, 16)),  # rows, which are as long as patches of 4 x 4
    (SERIES, lambda x: x.transpose(1, 2)),
    ((4, 24, 4), lambda x: x.reshape(4, 4, 24)),  # patches of six steps
]
TORN = [
    (PICTURE, lambda x: x.reshape(4, 16, 75)),
    (PICTURE, lambda x: x.view(4, 3, 4, 5, 4, 5).reshape(4, 16, 75)),
    (PICTURE, lambda x: x.permute(0, 2, 3, 1).reshape(4, 16, 75)),
    (PICTURE, lambda x: x.view(4, 400, 3)),
    (PICTURE, lambda x: F.unfold(x, 5, stride=5).reshape(4, 16, 75)),
    (SERIES, lambda x: x.reshape(4, 7, 24)),
    (SERIES, lambda x: (x - x.mean(1, keepdim=True)).view(4, 7, 24)),
]


class Reader(nn.Module):
    def __init__(self, cut, shape):
        super().__init__()
        n, width = cut(badak.zeros(shape)).shape[1:]
        self.cut, self.map, self.places = cut, nn.Linear(width, 16), nn.Parameter(badak.randn(1, n, 16))
        self.layer, self.head = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True), nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.layer(self.map(self.cut(x)) + self.places).mean(dim=1))


@pytest.mark.parametrize(("shape", "cut", "wrong"), [(*each, False) for each in SOUND] + [(*each, True) for each in TORN])
def test_a_view_that_tears_is_found(shape, cut, wrong):
    badak.manual_seed(0)
    report = badak.audit(Reader(cut, shape), badak.randn(shape))
    assert [finding.probe for finding in report.findings] == ["heads"] * wrong, report


def test_a_convolution_tells_where_one_length_is_several_of_the_other():
    class Convolved(nn.Module):
        def __init__(self):
            super().__init__()
            self.map, self.head = nn.Conv1d(8, 16, 3, padding=1), nn.Linear(16, 5)

        def forward(self, x):
            return self.head(F.relu(self.map(x.reshape(4, 8, 24))).mean(dim=2))

    badak.manual_seed(0)
    report = badak.audit(Convolved(), badak.randn(4, 24, 8))
    assert [finding.probe for finding in report.findings] == ["heads"], report


class Windows(nn.Module):
    """A map of each window of 4 x 4 points of 8 x 8, shifted by two: as many windows of all pictures as points of one."""

    def __init__(self, bug):
        super().__init__()
        self.stem, self.one, self.two = nn.Conv2d(3, 8, 1), nn.Linear(8, 16), nn.Linear(16, 8)
        self.norm, self.head, self.bug = nn.LayerNorm(8), nn.Linear(8, 5), bug

    def forward(self, x):
        x = self.stem(x).permute(0, 2, 3, 1)
        h = badak.roll(self.norm(x), (-2, -2), (1, 2)).view(-1, 2, 4, 2, 4, 8).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, 8)
        h = self.two(F.gelu(self.one(h))).view(-1, 2, 2, 4, 4, 8)
        h = (h if self.bug == "not put back" else h.permute(0, 1, 3, 2, 4, 5)).reshape(-1, 8, 8, 8)
        x = x + badak.roll(h, (-2, -2) if self.bug == "rolled on" else (2, 2), (1, 2))
        return self.head(x.mean((1, 2)))


@pytest.mark.parametrize("bug", ["", "not put back", "rolled on"])
@pytest.mark.parametrize("rows", [3, 4])
def test_windows_of_which_there_are_as_many_as_places_in_each(bug, rows):
    badak.manual_seed(0)
    report = badak.audit(Windows(bug), badak.randn(rows, 3, 8, 8))
    assert [finding.probe for finding in report.findings] == ["heads"] * bool(bug), report


class Joined(nn.Module):
    """Queries, keys and values of a picture's points, by one convolution."""

    def __init__(self, torn):
        super().__init__()
        self.stem, self.three, self.out, self.torn = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 24, 1), nn.Conv2d(8, 5, 1), torn

    def forward(self, x):
        x = F.gelu(self.stem(x))
        y, places = self.three(x), x[0, 0].numel()
        y = y.reshape(len(x), places, 3, 8) if self.torn else y.flatten(2).transpose(1, 2).reshape(len(x), places, 3, 8)
        q, k, v = y.unbind(2)
        y = (q @ k.transpose(1, 2) / 8**0.5).softmax(-1) @ v
        return self.out(x + y.transpose(1, 2).reshape(x.shape)).mean((2, 3))


@pytest.mark.parametrize("torn", [False, True])
def test_three_parts_of_channels_are_no_places(torn):
    badak.manual_seed(0)
    report = badak.audit(Joined(torn), badak.randn(4, 1, 9, 9))
    assert [finding.probe for finding in report.findings if finding.probe == "heads"] == ["heads"] * torn, report
