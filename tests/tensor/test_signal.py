"""Windows, Fourier transforms of pieces and back, bags of rows, losses: what PyTorch's samples do not show."""

import numpy as np
import pytest
import torch

import badak
from badak import nn
from badak.core.errors import ArgumentError


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hann", "kaiser"])
@pytest.mark.parametrize("length", [0, 1, 2, 7, 400])
@pytest.mark.parametrize("periodic", [True, False])
def test_windows_are_pytorchs(name, length, periodic):
    ours, theirs = (getattr(lib, f"{name}_window")(length, periodic, dtype=lib.float64).numpy() for lib in (badak, torch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_a_signal_comes_back():
    x = badak.from_numpy(np.random.default_rng(0).standard_normal((2, 4000)))
    window = badak.hann_window(400, dtype=badak.float64)
    y = badak.stft(x, 400, 160, window=window, return_complex=True)
    assert y.shape == (2, 201, 26)
    back = badak.istft(y, 400, 160, window=window, length=4000)
    np.testing.assert_allclose(back.numpy(), x.numpy(), atol=1e-12)


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: badak.hann_window(-1), "hann_window requires non-negative window_length, got window_length=-1\nfix: "),
        (lambda: badak.hann_window(3, dtype=badak.int64), "hann_window expects floating point dtypes, got: badak.int64\nfix: "),
        (
            lambda: badak.stft(badak.ones(9), 4, window=badak.ones(5), return_complex=True),
            "stft: expected n_fft > 0, hop_length > 0, 0 < win_length",
        ),
        (
            lambda: badak.stft(badak.ones(3), 8, center=False, return_complex=True),
            "stft: expected at least n_fft=8 values; got 3\nfix: ",
        ),
        (lambda: badak.istft(badak.ones(3, 3), 4), "istft: expected a complex tensor (B, frequencies, frames); got badak.float32"),
        (lambda: nn.functional.embedding_bag(badak.tensor([0, 1]), badak.ones(2, 2)), "embedding_bag: expected ids (B, N)"),
        (lambda: nn.functional.gaussian_nll_loss(badak.ones(2), badak.ones(2), -badak.ones(2)), "gaussian_nll_loss: var"),
        (lambda: nn.functional.multi_margin_loss(badak.ones(2, 2), badak.tensor([0, 1]), p=3), "multi_margin_loss: only p == 1"),
    ],
)
def test_what_has_no_meaning_is_named(call, text):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert str(caught.value).startswith(text) and "\nfix: " in str(caught.value)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_the_layer_of_bags_is_pytorchs(mode):
    found = []
    for lib in (badak, torch):
        lib.manual_seed(0)
        layer = lib.nn.EmbeddingBag(6, 3, mode=mode, padding_idx=1)
        y = layer(lib.tensor([0, 1, 2, 5, 5, 4]), lib.tensor([0, 2, 2]))
        y.square().sum().backward()
        found.append((y.detach().numpy(), layer.weight.grad.numpy(), repr(layer)))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-6)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)
    assert found[0][2] == found[1][2]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_are_rounded_once_and_know_nothing_of_the_padding(mode, dtype):
    table = np.random.default_rng(0).standard_normal((9, 4)).astype(np.float32)
    table[2] = np.nan
    ids = np.random.default_rng(1).integers(0, 9, (5, 40))
    found = []
    for lib, kind in ((badak, getattr(badak, dtype)), (torch, torch.float64)):
        rows = lib.tensor(badak.tensor(table, dtype=getattr(badak, dtype)).tolist(), dtype=kind).requires_grad_()
        y = lib.nn.functional.embedding_bag(lib.from_numpy(ids), rows, mode=mode, padding_idx=2)
        y.backward(lib.ones_like(y))
        found.append((y.detach().double().numpy(), rows.grad.double().numpy()))
    eps = {"float32": 1e-6, "float16": 2**-11, "bfloat16": 2**-8}[dtype]
    for ours, theirs, units in zip(*found, (1, 8)):
        np.testing.assert_allclose(ours, theirs, rtol=units * eps, atol=1e-6)


def test_bags_of_a_table_that_is_there():
    found = []
    for lib in (badak, torch):
        layer = lib.nn.EmbeddingBag.from_pretrained(lib.arange(12.0).reshape(4, 3), mode="sum", padding_idx=-1)
        trained = lib.nn.EmbeddingBag.from_pretrained(lib.ones(4, 3), False)
        found.append((layer(lib.tensor([[3, 1]])).tolist(), layer.weight.requires_grad, trained.weight.requires_grad, repr(layer)))
    assert found[0] == found[1] and found[0][0] == [[3.0, 4.0, 5.0]]
    with pytest.raises(AssertionError, match="expected to be 2-dimensional"):
        badak.nn.EmbeddingBag.from_pretrained(badak.ones(3))


def test_bags_refuse_what_pytorch_refuses():
    ids, bags = badak.tensor([[0, 1]]), badak.nn.functional.embedding_bag
    for wrong in (2, -3):
        with pytest.raises(ArgumentError, match="padding_idx must be within the number of embeddings"):
            bags(ids, badak.ones(2, 3), padding_idx=wrong)
    with pytest.raises(ArgumentError, match="to have the same type"):
        bags(ids, badak.ones(2, 3), mode="sum", per_sample_weights=badak.ones(1, 2).double())


def test_the_first_of_equal_rows_of_a_bag_has_the_gradient():
    found = []
    for lib in (badak, torch):
        rows = lib.tensor([[1.0, 5.0], [2.0, 5.0], [2.0, float("nan")], [0.0, 1.0]], requires_grad=True)
        ids, starts = lib.tensor([0, 1, 2, 1, 3, 0]), lib.tensor([0, 4, 4])
        y = lib.nn.functional.embedding_bag(ids, rows, starts, mode="max")
        y.backward(lib.ones_like(y))
        found.append((y.detach().numpy()[:, :1], rows.grad.numpy()[:, :1], y.shape, y[1].tolist()))
    for ours, theirs in zip(found[0][:2], found[1][:2]):
        np.testing.assert_array_equal(ours, theirs)
    assert tuple(found[0][2]) == tuple(found[1][2]) and found[0][3] == found[1][3]
