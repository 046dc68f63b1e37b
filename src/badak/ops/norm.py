"""Normalisation of the last axes of an array."""

import math

import numpy as np

from badak import kernels
from badak.core.errors import ShapeError, tr
from badak.kernels.half import BFLOAT16, FLOAT32
from badak.ops._check import dtype_mismatch, not_floating
from badak.ops.batching import aligned
from badak.ops.op import Op


def _mean(saved):
    return _flat(saved.x, saved.axes).mean(axis=-1)


def _layer_rstd(saved):
    """1 / sqrt(var + eps); eps is what its value lacks to that."""
    x = _flat(saved.x, saved.axes)
    d = x - x.mean(axis=-1, keepdims=True)
    return _inverse_root((d * d).mean(axis=-1), saved.array("rstd"))


def _rms_rstd(saved):
    x = _flat(saved.x, saved.axes)
    return _inverse_root((x * x).mean(axis=-1), saved.array("rstd"))


def _inverse_root(squares, rstd):
    eps = 1 / (rstd.astype(np.float64) ** 2) - squares.values
    return 1 / np.sqrt(squares + eps.astype(squares.dtype))


def _of_each(run, op, xs, batched, attributes):
    """Op.batching: weights that differ from example to example come after the norm."""
    x, *parameters = xs
    if not any(batched[1:]):
        return run(op, *xs, **attributes)
    y = run(op, x, *[None] * len(parameters), **attributes)
    ndim = x.ndim - batched[0]
    w, *b = [aligned(p, ndim) if each else p for p, each in zip(parameters, batched[1:])]
    y = y if w is None else y * w
    return y + b[0] if b and b[0] is not None else y


class LayerNorm(Op):
    """y = w (x - mean) rstd + b over the last `axes` axes, taken together;   mean, var of the row, biased.

    With h = (x - mean) rstd and g = w dy:   dx = rstd (g - mean(g) - h mean(g h)),   dw = sum dy h,   db = sum dy.
    """

    capturable = True
    supports_bf16 = True
    saved_functions = {"mean": _mean, "rstd": _layer_rstd}
    batching = staticmethod(_of_each)

    @staticmethod
    def forward(save, x, w, b, eps=1e-5, axes=1):
        _check("layer_norm", x, w, b, axes)
        save.x, save.w, save.axes = x, w, axes
        if w is None and b is not None:
            save.kind = b.dtype
        if axes == 1:
            y, save.mean, save.rstd = kernels.of(x).layer_norm(x, w, b, eps)
            return y
        save.bias = None if b is None else b.shape
        y, save.mean, save.rstd = kernels.of(x).layer_norm(_flat(x, axes), _flat(w, axes), _flat(b, axes), eps)
        return y.reshape(x.shape)

    @staticmethod
    def backward(saved, dy):
        x, w, axes = saved.x, saved.w, saved.axes
        backward = kernels.of(dy).layer_norm_backward
        if axes == 1:
            dx, dw, db = backward(dy, x, w, saved.mean, saved.rstd, saved.needs)
        else:
            dx, dw, db = backward(_flat(dy, axes), _flat(x, axes), _flat(w, axes), saved.mean, saved.rstd, saved.needs)
            dx, dw, db = _shaped(dx, x), _shaped(dw, w), None if db is None else db.reshape(saved.bias)
        return dx, dw, db.astype(saved.kind, copy=False) if w is None and db is not None else db


class RMSNorm(Op):
    """y = w x rstd over the last `axes` axes, rstd = 1 / sqrt(mean(x^2) + eps).

    With h = x rstd and g = w dy:   dx = rstd (g - h mean(g h)),   dw = sum dy h.
    """

    capturable = True
    supports_bf16 = True
    again = "x", "w", "eps", "axes"
    saved_functions = {"rstd": _rms_rstd}
    batching = staticmethod(_of_each)

    @staticmethod
    def forward(save, x, w, eps=1e-5, axes=1):
        _check("rms_norm", x, w, None, axes)
        save.x, save.w, save.eps, save.axes = x, w, eps, axes
        y, save.rstd = kernels.of(x).rms_norm(_flat(x, axes), _flat(w, axes), eps)
        return y.reshape(x.shape)

    @staticmethod
    def backward(saved, dy):
        x, w, axes = saved.x, saved.w, saved.axes
        dx, dw = kernels.of(dy).rms_norm_backward(_flat(dy, axes), _flat(x, axes), _flat(w, axes), saved.rstd, saved.needs)
        return _shaped(dx, x), _shaped(dw, w)


def _check(where: str, x, w, b, axes: int) -> None:
    dtype, rest = x.dtype, x.shape[-axes:]
    if (
        dtype.kind in "fV"
        and (w is None or (w.dtype is dtype and w.shape == rest))
        and (b is None or (b.dtype is dtype and b.shape == rest))
    ):
        return
    if x.dtype.kind in "iub":
        raise not_floating(where, x)
    kinds = {p.dtype for p in (w, b) if p is not None}
    if kinds - {x.dtype} and not (x.dtype == BFLOAT16 and kinds == {FLOAT32}):  # PyTorch takes float32 parameters next to it
        raise dtype_mismatch(where, input=x, weight=w, bias=b)
    if (w is not None and w.shape != rest) or (b is not None and b.shape != rest):
        found = "".join(f", {name}={p.shape}" for name, p in (("weight", w), ("bias", b)) if p is not None)
        raise ShapeError(
            tr("{}: expected weight of shape (C,) where x is (..., C); got x={}{}", where, x.shape, found),
            f"normalized_shape={rest}",
        )


def _flat(x, axes: int):
    """The last `axes` axes as one."""
    if axes == 1 or x is None:
        return x
    lead = x.shape[: x.ndim - axes]
    return x.reshape(*lead, math.prod(x.shape[len(lead) :]))


def _shaped(gradient, like):
    return None if gradient is None else gradient.reshape(like.shape)
