"""gradient, histogram, nanmedian, nanquantile and signal.windows beside PyTorch's, where op_db asks less."""

import numpy as np
import pytest
import torch

import badak
from badak.core.errors import ArgumentError, DTypeError

X = np.random.default_rng(0).standard_normal((4, 5))
AT = np.array([1.0, 2.0, 4.0, 5.5, 7.0])


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("spacing", [None, 2.0, [0.5, 2.0], "coordinates"])
def test_slopes(spacing, edge_order):
    def found(lib):
        options = {"spacing": [lib.tensor(AT)], "dim": -1} if spacing == "coordinates" else {"spacing": spacing} if spacing else {}
        return lib.gradient(lib.tensor(X), edge_order=edge_order, **options)

    ours, theirs = found(badak), found(torch)
    assert type(ours) is tuple and len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"density": True}, {"weight": True}])
@pytest.mark.parametrize("bins", [3, [-1.0, 0.0, 0.5, 2.0]])
def test_histograms(bins, options):
    agree(bins, options)


def test_a_histogram_of_a_range():
    agree(3, {"range": (-1.0, 1.0)})


def agree(bins, options):
    def found(lib):
        named = {**options, "weight": lib.tensor(np.abs(X))} if "weight" in options else options
        return lib.histogram(lib.tensor(X), lib.tensor(bins, dtype=lib.float64) if isinstance(bins, list) else bins, **named)

    for a, b in zip(found(badak), found(torch), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)


def test_nothing_but_nan():
    values = np.array([[np.nan, np.nan], [1.0, np.nan]])
    for lib in (badak, torch):
        middle = lib.nanmedian(lib.tensor(values), dim=1)
        assert np.array_equal(middle.values.numpy(), [np.nan, 1.0], equal_nan=True) and middle.indices.tolist() == [0, 0]
        assert np.array_equal(lib.nanquantile(lib.tensor(values), 0.5, dim=1).numpy(), [np.nan, 1.0], equal_nan=True)


@pytest.mark.parametrize("n", [0, 1, 2, 7])
@pytest.mark.parametrize("name", torch.signal.windows.__all__)
def test_windows(name, n):
    settings = {"general_cosine": {"a": [0.4, 0.3, 0.2]}, "gaussian": {"std": 2.0}, "exponential": {"tau": 3.0}}.get(name, {})
    for sym in (True, False):
        theirs = getattr(torch.signal.windows, name)(n, sym=sym, dtype=torch.float64, **settings)
        ours = getattr(badak.signal.windows, name)(n, sym=sym, dtype=badak.float64, **settings)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12, atol=1e-15)


def test_a_window_around_another_center():
    options = {"center": 1, "tau": 2.0, "sym": False}
    theirs = torch.signal.windows.exponential(6, **options)
    np.testing.assert_allclose(badak.signal.windows.exponential(6, **options).numpy(), theirs.numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: badak.gradient(badak.ones(3), edge_order=3), "only supports edge_order=1 and edge_order=2; got 3"),
        (lambda: badak.gradient(badak.ones(3), spacing=[1.0, 2.0]), "expected one spacing for each of 1 dims; got 2"),
        (lambda: badak.gradient(badak.ones(1)), "at least edge_order.1; got 1"),
        (lambda: badak.signal.windows.gaussian(5, std=0.0), "Standard deviation must be positive, got: 0.0"),
        (lambda: badak.signal.windows.exponential(5, tau=-1.0), "Tau must be positive"),
        (lambda: badak.signal.windows.exponential(5, center=1), "Center must be None for symmetric windows"),
        (lambda: badak.signal.windows.hann(-1), "hann requires non-negative window_length, got window_length=-1"),
    ],
)
def test_mistakes(call, said):
    with pytest.raises(ArgumentError, match=f"{said}.*\nfix: "):
        call()


def test_integers_have_no_histogram():
    with pytest.raises(DTypeError, match="expected a float tensor; got badak.int64\nfix: x.float"):
        badak.histogram(badak.arange(3), 2)


@pytest.mark.parametrize("eps", [None, 0.0, 0.3, 0.5, 0.6, 1.0, 1.5, -0.2])
def test_logits_and_their_slopes_beyond_their_bounds(eps):
    found = []
    for lib in (torch, badak):
        x = lib.tensor([-0.5, 0.0, 0.1, 0.5, 0.55, 0.75, 1.0, 1.2, float("nan")], dtype=lib.float64, requires_grad=True)
        y = lib.logit(x, eps)
        (slope,) = lib.autograd.grad(y, x, lib.ones_like(y))
        found.append((y.detach().numpy(), slope.numpy()))
    for ours, theirs in zip(*found[::-1]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
