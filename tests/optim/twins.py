"""The same parameters and gradients for badak and PyTorch."""

import numpy as np
import torch

from badak import optim
from badak.tensor import Tensor

SHAPES = [(4, 3), (5,), (1, 1, 7), (0, 2), ()]


def leaf(values) -> Tensor:
    return Tensor._of(np.array(values)).requires_grad_()


def parameters(dtype: str, seed: int = 0):
    """(ours, theirs): leaves of several shapes, an empty one and a 0-d one among them."""
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(rng.standard_normal(shape), dtype) for shape in SHAPES]
    return [leaf(a) for a in arrays], [torch.tensor(a, requires_grad=True) for a in arrays]


def set_gradients(ours, theirs, step: int) -> None:
    """Gradients from 1e-9 to 10: at 1e-8 the places where an eps can stand give different answers."""
    rng = np.random.default_rng(1000 + step)
    for p, q in zip(ours, theirs):
        shape = tuple(q.shape)
        g = np.asarray(rng.standard_normal(shape) * 10.0 ** rng.integers(-9, 2, shape), p._array.dtype)
        p.grad, q.grad = Tensor._of(g.copy()), torch.tensor(g)


def both(name: str, dtype: str = "float64", groups: bool = False, **options):
    """(our parameters, our optimizer, their parameters, their optimizer)."""
    ours, theirs = parameters(dtype)
    made = []
    for lib, params in ((optim, ours), (torch.optim, theirs)):
        first = {"params": params[:2], "lr": 0.03}
        made.append(getattr(lib, name)([first, {"params": params[2:]}] if groups else params, **options))
    return ours, made[0], theirs, made[1]


def run(ours, optimizer, theirs, twin, steps) -> None:
    for step in steps:
        set_gradients(ours, theirs, step)
        optimizer.step()
        twin.step()


def value(x):
    """The NumPy value of a tensor of either library."""
    return x._array if isinstance(x, Tensor) else x.detach().numpy()
