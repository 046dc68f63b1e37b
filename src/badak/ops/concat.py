"""Several arrays become one: along an axis, or along a new one."""

from typing import Any

import numpy as np

from badak import kernels
from badak.ops.batching import every
from badak.ops.op import Op


class Cat(Op):
    """y = the x_k one after the other along `axis`;   dx_k = its part of dy."""

    data_movement = saves_no_tensors = keeps_finite = True
    owns_grads = False
    capturable = True

    @staticmethod
    def forward(save: Any, *xs: Any, axis: int) -> np.ndarray:
        save.axis, save.sizes = axis, [x.shape[axis] for x in xs]
        return kernels.of(xs[0]).concatenate(xs, axis)

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> tuple:
        before, at, dxs = (slice(None),) * saved.axis, 0, []
        for n, need in zip(saved.sizes, saved.needs):
            dxs.append(dy[(*before, slice(at, at + n))] if need else None)
            at += n
        return tuple(dxs)


class Stack(Op):
    """y[k] = x_k along a new `axis`;   dx_k = dy[k]."""

    data_movement = saves_no_tensors = keeps_finite = True
    owns_grads = False

    @staticmethod
    def forward(save: Any, *xs: Any, axis: int) -> np.ndarray:
        save.axis, shape = axis, xs[0].shape
        if axis == len(shape):
            xs = tuple(x[..., None] for x in xs)
        y = kernels.of(xs[0]).concatenate(xs, axis)
        return y.reshape(*shape[:axis], len(xs), *shape[axis:])

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        before = (slice(None),) * saved.axis
        return tuple([dy[(*before, k)] if need else None for k, need in enumerate(saved.needs)])

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
        xs = every(xs, batched)
        return run(op, *xs, axis=attributes["axis"] % xs[0].ndim + 1)
