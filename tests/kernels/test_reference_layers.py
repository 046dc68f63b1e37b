"""matmul, linear, embedding and the norms in NumPy against PyTorch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from badak.kernels import reference
from tests.kernels.twin import DTYPES, assert_close, normal, strided, twin
from tests.tiers import looped

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
ALL = (True, True, True)


@each_dtype
@pytest.mark.parametrize("shapes", [((3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((0, 4), (4, 3)), ((2, 0), (0, 3))])
def test_matmul_is_numpys_with_broadcast_leading_axes(shapes, dtype):
    a, b = normal(0, *shapes[0], dtype=dtype), normal(1, *shapes[1], dtype=dtype)
    (y,), _ = twin(torch.matmul, [a, b])
    assert_close(reference.matmul(a, b), y)
    assert_close(reference.matmul(strided(a), strided(b)), y)


@each_dtype
@pytest.mark.parametrize("lead", [(), (1,), (0,), (2, 3)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear_and_its_gradients(lead, bias, dtype):
    x, w = normal(0, *lead, 5, dtype=dtype), normal(1, 4, 5, dtype=dtype)
    b, dy = normal(2, 4, dtype=dtype) if bias else None, normal(3, *lead, 4, dtype=dtype)
    (y,), grads = twin(F.linear, [x, w, b], [dy])
    assert_close(reference.linear(x, w, b), y)
    for layout in (np.array, strided):
        for found, expected in zip(reference.linear_backward(layout(dy), layout(x), layout(w), (True, True, bias)), grads):
            assert (found is None) == (expected is None)
            if found is not None:
                assert_close(found, expected)


def test_linear_backward_gives_only_what_is_needed():
    dy, x, w = normal(0, 2, 3), normal(1, 2, 4), normal(2, 3, 4)
    assert [g is None for g in reference.linear_backward(dy, x, w, (False, True, False))] == [True, False, True]


@each_dtype
@pytest.mark.parametrize("ids", [(2, 7), (0,), (), (1,)])
@pytest.mark.parametrize("padding_idx", [None, 3])
@pytest.mark.parametrize("by_freq", [False, True])
def test_embedding_and_its_gradient(ids, padding_idx, by_freq, dtype):
    w = normal(0, 5, 4, dtype=dtype)
    ids = np.asarray(np.random.default_rng(1).integers(0, 5, ids))
    dy = normal(2, *ids.shape, 4, dtype=dtype)
    (y,), (dw,) = twin(lambda w: F.embedding(torch.from_numpy(ids), w, padding_idx, scale_grad_by_freq=by_freq), [w], [dy])
    assert_close(reference.embedding(w, ids), y)
    assert_close(reference.embedding_backward(dy, ids, 5, padding_idx, by_freq), dw)
    assert_close(reference.embedding_backward(strided(dy), ids, 5, padding_idx, by_freq), dw)


def largest(x):
    return float(np.abs(x).max(initial=0))


NORM_SHAPES = [(7, 5), (2, 3, 8), (1, 1), (0, 4), (5,), (3, 0)]


@each_dtype
@looped(shape=NORM_SHAPES)
@pytest.mark.parametrize("eps", [1e-5, 1e-1])
@pytest.mark.parametrize("affine", [(True, True), (True, False), (False, False)])
def test_layer_norm_and_its_gradients(shape, eps, affine, dtype):
    x, dy = normal(0, *shape, dtype=dtype), normal(3, *shape, dtype=dtype)
    w, b = (normal(i + 1, shape[-1], dtype=dtype) if on else None for i, on in enumerate(affine))
    (y,), grads = twin(lambda x, w, b: F.layer_norm(x, shape[-1:], w, b, eps), [x, w, b], [dy])
    found, mean, rstd = reference.layer_norm(x, w, b, eps)
    assert_close(found, y)
    assert mean.shape == rstd.shape == shape[:-1]
    needs = (True, *affine)
    terms = largest(rstd) * largest(dy) * (1 if w is None else largest(w))
    for layout in (np.array, strided):
        dxs = reference.layer_norm_backward(layout(dy), layout(x), w, np.asarray(mean), np.asarray(rstd), needs)
        for dx, expected in zip(dxs, grads):
            assert (dx is None) == (expected is None)
            if dx is not None:
                assert_close(dx, expected, 32, terms)


def test_layer_norm_ignores_a_shift_of_its_input():
    x = normal(0, 3, 64, dtype=np.float32)
    y, shifted = reference.layer_norm(x, None, None, 1e-5)[0], reference.layer_norm(x + np.float32(4096), None, None, 1e-5)[0]
    # the shift itself rounds x to 2^-12 of a unit; a one-pass variance would lose all digits here
    np.testing.assert_allclose(shifted, y, atol=2**-10)


@each_dtype
@looped(shape=NORM_SHAPES)
@pytest.mark.parametrize("eps", [1e-5, 1e-1])
@pytest.mark.parametrize("affine", [True, False])
def test_rms_norm_and_its_gradients(shape, eps, affine, dtype):
    x, dy = normal(0, *shape, dtype=dtype), normal(3, *shape, dtype=dtype)
    w = normal(1, shape[-1], dtype=dtype) if affine else None
    if 0 not in shape:
        (y,), grads = twin(lambda x, w: F.rms_norm(x, shape[-1:], w, eps), [x, w], [dy])
        found, rstd = reference.rms_norm(x, w, eps)
        assert_close(found, y)
        terms = largest(rstd) * largest(dy) * (1 if w is None else largest(w))
        for layout in (np.array, strided):
            dxs = reference.rms_norm_backward(layout(dy), layout(x), w, np.asarray(rstd), (True, affine))
            for dx, expected in zip(dxs, grads):
                assert (dx is None) == (expected is None)
                if dx is not None:
                    assert_close(dx, expected, 32, terms)
    else:
        assert reference.rms_norm(x, w, eps)[0].shape == shape


def test_norms_of_huge_values_warn_of_nothing():
    x = np.array([[1e30, -1e30, 0.0], [np.inf, 1, 2], [np.nan, 1, 2]], np.float32)
    y, mean, rstd = reference.layer_norm(x, None, None, 1e-5)
    reference.layer_norm_backward(x, x, None, mean, rstd, ALL)
    y, rstd = reference.rms_norm(x, None, 1e-5)
    reference.rms_norm_backward(x, x, None, rstd, ALL)
