"""Losses in NumPy against PyTorch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from badak.kernels import reference
from tests.kernels.twin import DTYPES, assert_close, normal, strided, twin
from tests.tiers import looped

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
N, V = 7, 5


def labels(ignored=True):
    target = np.random.default_rng(4).integers(0, V, N)
    if ignored:
        target[[1, 4]] = -100
    return target


def class_weight(dtype):
    return np.array([0.5, 2.0, 1.0, 0.0, 3.0], dtype)


@each_dtype
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignored", [False, True])
def test_cross_entropy_and_its_gradient(smoothing, weighted, ignored, dtype):
    logits, target, dloss = 3 * normal(0, N, V, dtype=dtype), labels(ignored), normal(1, N, dtype=dtype)
    weight = class_weight(dtype) if weighted else None

    def torchs(x):
        w = None if weight is None else torch.from_numpy(weight)
        return F.cross_entropy(x, torch.from_numpy(target), w, reduction="none", label_smoothing=smoothing)

    (loss,), (dx,) = twin(torchs, [logits], [dloss])
    for layout in (np.array, strided):
        found, lse = reference.cross_entropy(layout(logits), layout(target), weight, -100, smoothing)
        assert_close(found, loss)
        assert_close(lse, torch.logsumexp(torch.from_numpy(logits), -1).numpy())
        assert_close(reference.cross_entropy_backward(layout(dloss), layout(logits), target, lse, weight, -100, smoothing), dx)


@each_dtype
def test_cross_entropy_at_extreme_logits(dtype):
    inf = np.inf
    logits = np.array([[1e4, 0, -1e4], [1e4, 9999.5, 9999], [0, -inf, 1], [1e30, 0, 0], [80, 100, 0]], dtype)
    target, ones = np.array([0, 1, 0, 1, 0]), np.ones(5, dtype)
    (loss,), (dx,) = twin(lambda x: F.cross_entropy(x, torch.from_numpy(target), reduction="none"), [logits], [ones])
    found, lse = reference.cross_entropy(logits, target)
    np.testing.assert_allclose(found, loss, rtol=16 * np.finfo(dtype).eps)
    assert_close(reference.cross_entropy_backward(ones, logits, target, lse, None, -100, 0.0), dx)


def test_an_ignored_row_counts_nothing_whatever_it_holds():
    logits = np.array([[np.nan, np.inf], [0.0, 1.0]])
    target = np.array([7, 1])
    loss, lse = reference.cross_entropy(logits, target, None, 7, 0.1)
    assert loss[0] == 0 and np.isfinite(loss[1])
    assert not reference.cross_entropy_backward(np.ones(2), logits, target, lse, None, 7, 0.1)[0].any()
    assert reference.nll(logits, target, None, 7)[0] == 0


@each_dtype
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_of_probabilities_and_its_gradients(smoothing, weighted, dtype):
    logits, dloss = 3 * normal(0, N, V, dtype=dtype), normal(1, N, dtype=dtype)
    target = np.exp(normal(2, N, V)).astype(dtype)
    target /= target.sum(axis=1, keepdims=True)
    weight = class_weight(dtype) if weighted else None

    def torchs(x, t):
        w = None if weight is None else torch.from_numpy(weight)
        return F.cross_entropy(x, t, w, reduction="none", label_smoothing=smoothing)

    (loss,), grads = twin(torchs, [logits, target], [dloss])
    for layout in (np.array, strided):
        found, lse = reference.cross_entropy_soft(layout(logits), layout(target), weight, smoothing)
        assert_close(found, loss)
        dxs = reference.cross_entropy_soft_backward(dloss, layout(logits), layout(target), lse, weight, smoothing, (True, True))
        for dx, expected in zip(dxs, grads):
            assert_close(dx, expected)


def test_probabilities_of_zero_hide_logits_of_minus_infinity():
    loss, _ = reference.cross_entropy_soft(np.array([[0.0, -np.inf]]), np.array([[1.0, 0.0]]))
    assert loss[0] == 0


@each_dtype
@pytest.mark.parametrize("weighted", [False, True])
def test_nll_and_its_gradient(weighted, dtype):
    logp, target, dloss = normal(0, N, V, dtype=dtype), labels(), normal(1, N, dtype=dtype)
    weight = class_weight(dtype) if weighted else None
    w = None if weight is None else torch.from_numpy(weight)
    (loss,), (dx,) = twin(lambda x: F.nll_loss(x, torch.from_numpy(target), w, reduction="none"), [logp], [dloss])
    assert_close(reference.nll(strided(logp), target, weight), loss)
    assert_close(reference.nll_backward(dloss, logp, target, weight, -100), dx)


@each_dtype
@pytest.mark.parametrize("shape", [(0, V), (1, 1)])
def test_losses_of_no_rows_and_of_one_class(shape, dtype):
    x, target = normal(0, *shape, dtype=dtype), np.zeros(shape[0], np.int64)
    loss, lse = reference.cross_entropy(x, target)
    assert loss.shape == lse.shape == shape[:1] and not loss.any()
    assert reference.cross_entropy_backward(loss, x, target, lse, None, -100, 0.0).shape == shape
    loss, lse = reference.cross_entropy_soft(x, np.ones_like(x))
    assert reference.cross_entropy_soft_backward(loss, x, x, lse, None, 0.0, (True, True))[1].shape == shape
    assert reference.nll(x, target).shape == shape[:1]
    assert reference.nll_backward(loss, x, target, None, -100).shape == shape


SHAPES = [(3, 4), (0,), (1,), (2, 3, 4)]


def compare(torchs, forward, backward, arrays, units=16):
    """An elementwise loss: value and gradients, in both layouts."""
    dloss = normal(9, *arrays[0].shape, dtype=arrays[0].dtype)
    (loss,), grads = twin(torchs, arrays, [dloss])
    for layout in (np.array, strided):
        laid = [layout(x) for x in arrays]
        assert_close(forward(*laid), loss, units)
        for dx, expected in zip(backward(layout(dloss), *laid), grads):
            assert_close(dx, expected, units)


@each_dtype
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("log_target", [False, True])
def test_kl_div_and_its_gradients(shape, log_target, dtype):
    x, t = normal(0, *shape, dtype=dtype), normal(1, *shape, dtype=dtype)
    compare(
        lambda x, t: F.kl_div(x, t, reduction="none", log_target=log_target),
        lambda x, t: reference.kl_div(x, t, log_target),
        lambda dy, x, t: reference.kl_div_backward(dy, x, t, log_target, (True, True)),
        [x, t if log_target else np.exp(t)],
    )


def test_kl_div_of_an_impossible_event_is_zero():
    x, inf = np.array([-np.inf, 0.0]), np.inf
    assert reference.kl_div(x, np.zeros(2), False).tolist() == [0, 0]
    assert reference.kl_div(x, np.array([-inf, -inf]), True).tolist() == [0, 0]


def test_kl_div_hides_no_nan():
    x = np.array([np.inf, np.nan], np.float32)
    for target, log_target in ((np.zeros_like(x), False), (np.full_like(x, -np.inf), True)):
        loss = reference.kl_div(x, target, log_target)
        assert np.isnan(loss).all() and loss.dtype == np.float32


@each_dtype
@pytest.mark.parametrize("shape", SHAPES)
def test_mse_and_its_gradient(shape, dtype):
    def backward(dy, x, t):
        dx = reference.mse_backward(dy, x, t)
        return dx, -dx

    arrays = [normal(0, *shape, dtype=dtype), normal(1, *shape, dtype=dtype)]
    compare(lambda x, t: F.mse_loss(x, t, reduction="none"), reference.mse, backward, arrays)


@each_dtype
@looped(shape=SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_bce_with_logits_and_its_gradients(shape, weighted, positive, dtype):
    x, t = 4 * normal(0, *shape, dtype=dtype), np.random.default_rng(1).random(shape).astype(dtype)
    w = np.abs(normal(2, *shape, dtype=dtype)) if weighted else None
    p = np.abs(normal(3, *shape[-1:], dtype=dtype)) + 1 if positive else None
    tw, tp = (None if a is None else torch.from_numpy(a) for a in (w, p))
    compare(
        lambda x, t: F.binary_cross_entropy_with_logits(x, t, tw, pos_weight=tp, reduction="none"),
        lambda x, t: reference.bce_with_logits(x, t, w, p),
        lambda dy, x, t: reference.bce_with_logits_backward(dy, x, t, w, p, (True, True)),
        [x, t],
    )


def test_bce_with_logits_neither_overflows_nor_loses_small_losses():
    x = np.array([1e4, -1e4, 1e4, -1e4, 40.0], np.float32)
    t = np.array([1.0, 0.0, 0.0, 1.0, 1.0], np.float32)
    loss = reference.bce_with_logits(x, t)
    np.testing.assert_allclose(loss, [0, 0, 1e4, 1e4, np.exp(np.float32(-40))], rtol=1e-6)
