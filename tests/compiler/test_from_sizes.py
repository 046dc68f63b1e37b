"""Arrays that functions make of sizes and of numbers, as of windows and taps, do not keep a step from being replayed."""

import pytest

import badak
from badak.nn import functional as F

LINES, IMAGES = (2, 3, 11), (2, 3, 7, 9)

FUNCTIONS = {
    "avg_pool1d": (LINES, lambda x: F.avg_pool1d(x, 3, 2, 1, count_include_pad=False)),
    "avg_pool2d": (IMAGES, lambda x: F.avg_pool2d(x, 2, ceil_mode=True)),
    "avg_pool2d, divisor": (IMAGES, lambda x: F.avg_pool2d(x, 3, divisor_override=2)),
    "lp_pool2d": (IMAGES, lambda x: F.lp_pool2d(x, 2, 2)),
    "reflect": (IMAGES, lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect")),
    "replicate": (LINES, lambda x: F.pad(x, (1, 2), mode="replicate")),
    "circular": (LINES, lambda x: F.pad(x, (1, 2), mode="circular")),
    "nearest": (IMAGES, lambda x: F.interpolate(x, scale_factor=2.0)),
    "nearest-exact": (IMAGES, lambda x: F.interpolate(x, scale_factor=1.5, mode="nearest-exact")),
    "linear": (LINES, lambda x: F.interpolate(x, size=5, mode="linear")),
    "bilinear": (IMAGES, lambda x: F.interpolate(x, size=(5, 12), mode="bilinear", align_corners=True)),
    "bicubic": (IMAGES, lambda x: F.interpolate(x, scale_factor=1.5, mode="bicubic")),
    "antialias": (IMAGES, lambda x: F.interpolate(x, size=(4, 4), mode="bilinear", antialias=True)),
    "stft": (LINES[1:], lambda x: badak.stft(x, 4, 2, window=badak.hann_window(4), return_complex=True).abs()),
    "windows": (LINES, lambda x: x * badak.kaiser_window(11) + badak.fft.fftfreq(11)),
    "lists of indices": (IMAGES, lambda x: x[:, [0, 2]] * x[[1, 0]][:, :2]),
    "combinations": ((4,), lambda x: badak.combinations(x)),
    "a number that is set": (IMAGES, lambda x: _set(x * 2, [0, 2])),
    "fill_diagonal_": ((4, 4), lambda x: (x * 2).fill_diagonal_(0.5)),
}


def _set(x, at):
    x[:, at] = 1.5
    x[0, 0] = 0.5
    return x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_step_is_replayed_with_the_bits_of_running_it(name):
    shape, function = FUNCTIONS[name]

    def step(x):
        x = x.detach().requires_grad_()
        y = function(x)
        return [y.detach(), *badak.autograd.grad(y.square().sum(), [x])]

    badak.manual_seed(0)
    compiled = badak.compile(step)
    for _ in range(5):
        x = badak.randn(shape) + 3
        for made, expected in zip(compiled(x), step(x), strict=True):
            assert made.equal(expected)
    assert not compiled.fallback_reason


def test_numbers_and_lists_that_the_program_changes_are_seen():
    setup = {"at": [0, 2], "size": 4, "pad": [1, 1], "kernel": 2}
    x = badak.arange(24.0).reshape(1, 3, 8)

    def step(w):
        y = F.interpolate(F.pad(x * w, setup["pad"], mode="reflect"), size=setup["size"], mode="linear")
        return F.avg_pool1d(y, setup["kernel"])[:, setup["at"]]

    compiled, w = badak.compile(step), badak.tensor(2.0)
    changes = [lambda: setup["at"].__setitem__(0, 1), lambda: setup.update(size=6), lambda: setup["pad"].__setitem__(0, 3)]
    for change in [*changes, lambda: setup.update(kernel=3)]:
        for _ in range(4):
            assert compiled(w).tolist() == step(w).tolist()
        change()
    assert compiled(w).tolist() == step(w).tolist()
