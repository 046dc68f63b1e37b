"""What the kernel tests share: PyTorch's value and gradients of the same arrays, and a closeness that follows the dtype."""

import importlib

import numpy as np
import pytest
import torch

from tests.compare import assert_close as close

DTYPES = [np.float32, np.float64]


def fast_kernels():
    """The fast set. Skips where its compiler is not installed; an error in our own files is no reason to skip."""
    pytest.importorskip("numba", reason="the Numba kernels need Numba, an extra: pip install 'badak[fast]'")
    return importlib.import_module("badak.kernels.numba")


def normal(seed: int, *shape: int, dtype=np.float64) -> np.ndarray:
    """Standard normal numbers, the same in both precisions."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32).astype(dtype)


def twin(function, arrays, dys=None):
    """(outputs, gradients) of a function of PyTorch tensors; None stays None, integers get no gradient."""
    tensors = [None if a is None else torch.from_numpy(np.array(a)) for a in arrays]
    floats = [t for t in tensors if t is not None and t.is_floating_point()]
    for t in floats:
        t.requires_grad_()
    ys = function(*tensors)
    ys = ys if isinstance(ys, tuple) else (ys,)
    outputs = [y.detach().numpy() for y in ys]
    if dys is None:
        return outputs, None
    pairs = [(y, torch.from_numpy(np.array(dy))) for y, dy in zip(ys, dys) if dy is not None]
    outputs_used, dys_used = zip(*pairs)
    grads = iter(torch.autograd.grad(outputs_used, floats, dys_used, allow_unused=True))
    found = [next(grads) if t is not None and t.is_floating_point() else None for t in tensors]
    return outputs, [None if g is None else g.numpy() for g in found]


def assert_close(found, expected, units: float = 18, scale: float | None = None):
    """Equal dtypes, and the rest as tests/compare.py has it; scale: the size of the terms, where they cancel."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    close(found, expected, units=units, size=scale)


def strided(x):
    """The same values in memory of another order, with gaps."""
    if x is None or x.ndim == 0:
        return x
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype).T.copy().T
    wide[..., ::2] = x
    return wide[..., ::2]
