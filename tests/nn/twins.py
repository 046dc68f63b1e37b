"""The same call on badak and on PyTorch: values and gradients must agree."""

import numpy as np
import torch

import badak
from tests.compare import assert_close


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def run(lib, function, arrays, dtype: str):
    """(outputs, gradients of a fixed random combination of them) as NumPy arrays."""
    made = []
    for a in arrays:
        a = np.array(a)
        if a.dtype.kind == "f":
            made.append(lib.from_numpy(a.astype(dtype)).requires_grad_())
        else:
            made.append(lib.from_numpy(a))
    ys = function(lib, *made)
    ys = [y for y in (ys if isinstance(ys, tuple) else (ys,)) if y is not None]
    leaves = [x for x in made if x.requires_grad]
    total = 0.0
    for number, y in enumerate(ys):
        if y.requires_grad:
            dy = np.random.default_rng(100 + number).standard_normal(tuple(y.shape)).astype(np.float32).astype(dtype)
            total = total + (y * lib.from_numpy(np.array(dy))).sum()
    if not isinstance(total, float):
        total.backward()
    grads = [None if x.grad is None else x.grad.numpy() for x in leaves]
    return [y.detach().numpy() for y in ys], grads


def agree(function, *arrays, units: float = 64, dtypes=("float32", "float64")) -> None:
    """function(lib, *tensors) gives the same outputs and gradients in badak and in torch, within `units` roundings."""
    for dtype in dtypes:
        ours, theirs = (run(lib, function, arrays, dtype) for lib in (badak, torch))
        assert len(ours[0]) == len(theirs[0])
        for y, expected in zip(ours[0], theirs[0]):
            assert y.dtype == expected.dtype
            assert_close(y, expected, units=units)
        for dx, expected in zip(ours[1], theirs[1], strict=True):
            assert_close(dx, expected, units=units)
