"""Normalisation: of the last axes of an array, or of each channel over a batch."""

import math
from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import ShapeError, tr
from badak.kernels.half import BFLOAT16, FLOAT32
from badak.ops._check import dtype_mismatch, not_floating
from badak.ops.batching import aligned, every
from badak.ops.op import Op


def _mean(saved: Any) -> Any:
    return _flat(saved.x, saved.axes).mean(axis=-1)


def _layer_rstd(saved: Any) -> Any:
    return _rstd(_flat(saved.x, saved.axes), saved)


def _rstd(x: Any, saved: Any) -> Any:
    """1 / sqrt(var + eps) of the last axis; eps is what its value lacks to that."""
    d = x - x.mean(axis=-1, keepdims=True)
    return _inverse_root((d * d).mean(axis=-1), saved.array("rstd"))


def _rms_rstd(saved: Any) -> Any:
    x = _flat(saved.x, saved.axes)
    return _inverse_root((x * x).mean(axis=-1), saved.array("rstd"))


def _inverse_root(squares: Any, rstd: np.ndarray) -> Any:
    eps = 1 / (rstd.astype(np.float64) ** 2) - squares.values
    return 1 / np.sqrt(squares + eps.astype(squares.dtype))


def _of_each(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
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
    def forward(
        save: Any, x: np.ndarray, w: np.ndarray | None, b: np.ndarray | None, eps: float = 1e-5, axes: int = 1
    ) -> np.ndarray:
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
    def backward(saved: Any, dy: Any) -> tuple:
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
    kept_for = {1: 0}  # noqa: RUF012
    saved_functions = {"rstd": _rms_rstd}
    batching = staticmethod(_of_each)

    @staticmethod
    def forward(save: Any, x: np.ndarray, w: np.ndarray | None, eps: float = 1e-5, axes: int = 1) -> np.ndarray:
        _check("rms_norm", x, w, None, axes)
        save.x, save.w, save.eps, save.axes = x, w, eps, axes
        y, save.rstd = kernels.of(x).rms_norm(_flat(x, axes), _flat(w, axes), eps)
        return y.reshape(x.shape)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        x, w, axes = saved.x, saved.w, saved.axes
        dx, dw = kernels.of(dy).rms_norm_backward(_flat(dy, axes), _flat(x, axes), _flat(w, axes), saved.rstd, saved.needs)
        return _shaped(dx, x), _shaped(dw, w)


class GroupNorm(Op):
    """y = w (x - mean) rstd + b for each of `groups` groups of channels of x (N, C, ...);   mean, var of the group, biased.

    With h = (x - mean) rstd and g = w dy:   dx = rstd (g - mean(g) - h mean(g h)),   dw = sum dy h,   db = sum dy.
    """

    capturable = True
    supports_bf16 = True
    saved_functions = {  # noqa: RUF012
        "mean": lambda saved: _grouped(saved).mean(axis=-1),
        "rstd": lambda saved: _rstd(_grouped(saved), saved),
    }

    @staticmethod
    def forward(save: Any, x: np.ndarray, w: np.ndarray | None, b: np.ndarray | None, groups: int, eps: float = 1e-5) -> np.ndarray:
        _check_dtypes("group_norm", x, w, b)
        for name, part in (("weight", w), ("bias", b)):
            if part is not None and part.shape != x.shape[1:2]:
                cause = tr("group_norm: Expected {} to be a vector of size equal to the number of channels in input, but got {} of "
                           "shape {} and input of shape {}", name, name, list(part.shape), list(x.shape))  # fmt: skip
                raise ShapeError(cause, tr("{} of shape ({},)", name, x.shape[1]))
        save.x, save.w, save.groups, save.kind = x, w, groups, None if b is None else b.dtype
        y, save.mean, save.rstd = kernels.of(x).group_norm(x, w, b, groups, eps)
        return y

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        dx, dw, db = kernels.of(dy).group_norm_backward(dy, saved.x, saved.w, saved.mean, saved.rstd, saved.needs)
        return dx, dw, None if db is None else db.astype(saved.kind, copy=False)

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
        x, *parameters = xs
        differ = any(batched[1:])  # from example to example: these weights come after the norm
        x, shape = x.flatten(0, 1) if batched[0] else x, x.shape
        y = run(op, x, *(None, None) if differ else parameters, **attributes).reshape(shape)
        if not differ:
            return y
        places = (1,) * (x.ndim - 2)
        w, b = [p if p is None else p.reshape(-1, 1, x.shape[1], *places) for p in parameters]
        y = y if w is None else y * w
        return y if b is None else y + b


class BatchMoments(Op):
    """mean = sum x / M, var = sum (x - mean)^2 / M of each channel of x (N, C, ...), over all M values of it; var M / (M - 1).

    dx = dmean / M + 2 dvar (x - mean) / M.
    """

    capturable = True
    supports_bf16 = True
    saved_outputs = {"mean": 0}  # noqa: RUF012

    @staticmethod
    def forward(save: Any, x: np.ndarray) -> tuple:
        save.x = x
        save.mean, *rest = kernels.of(x).batch_moments(x)
        return save.mean, *rest

    @staticmethod
    def backward(saved: Any, dmean: Any, dvar: Any, dunbiased: Any) -> Any:
        x, mean = saved.x, saved.mean
        count = max(math.prod(x.shape) // max(x.shape[1], 1), 1)
        share = 1 / count
        dx: Any = None
        if dunbiased is not None:
            dunbiased = dunbiased * (count / max(count - 1, 1))
            dvar = dunbiased if dvar is None else dvar + dunbiased
        if dmean is not None:
            dx = np.broadcast_to(_of_channels(dmean * share, x), x.shape)
        if dvar is not None:
            by_var = (x.astype(mean.dtype) - _of_channels(mean, x)) * _of_channels(dvar * (2 * share), x)
            dx = by_var if dx is None else dx + by_var
        return dx.astype(x.dtype)

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> tuple:
        (x,) = xs
        return tuple(y.reshape(x.shape[0], x.shape[2]) for y in run(op, _side_by_side(x)))


class BatchNorm(Op):
    """y = w (x - mean) rstd + b for each channel of x (N, C, ...), rstd = 1 / sqrt(var + eps).

    With h = (x - mean) rstd:   dw = sum dy h,   db = sum dy,   dx = w rstd dy. Where mean and var are those of the M values of
    the channel itself (`moving`), they move with it:   dx = w rstd (dy - db / M - h dw / M).
    """

    capturable = True
    supports_bf16 = True
    saved_functions = {"mean": lambda saved: _moment(saved, 3), "var": lambda saved: _moment(saved, 4)}  # noqa: RUF012

    @staticmethod
    def forward(
        save: Any,
        x: np.ndarray,
        w: np.ndarray | None,
        b: np.ndarray | None,
        mean: np.ndarray,
        var: np.ndarray,
        eps: float = 1e-5,
        moving: bool = False,
    ) -> np.ndarray:
        check_channels("batch_norm", x, running_mean=mean, running_var=var, weight=w, bias=b)
        save.x, save.w, save.mean, save.var, save.eps, save.moving = x, w, mean, var, eps, moving
        save.kinds = None if b is None else b.dtype, mean.dtype
        return kernels.of(x).batch_norm(x, w, b, mean, var, eps)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        x, w, mean, var, eps, needs = saved.x, saved.w, saved.mean, saved.var, saved.eps, saved.needs
        by_statistics = not saved.moving and (needs[3] or needs[4])
        wanted = (needs[0], needs[1] or by_statistics, needs[2] or by_statistics)
        dx, dw, db = kernels.of(dy).batch_norm_backward(dy, x, w, mean, var, eps, saved.moving, wanted)
        dmean = dvar = None
        if by_statistics:
            scale = (var + eps) ** -0.5 if w is None else w * (var + eps) ** -0.5
            dmean, dvar = -(scale * db), scale * dw / (var + eps) ** 0.5 * -0.5
        kind = saved.kinds[0] or db.dtype if needs[2] else None
        return dx, dw if needs[1] else None, db.astype(kind) if needs[2] else None, dmean, dvar

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
        x, *rest = every(xs, batched)
        y = run(op, _side_by_side(x), *[None if v is None else v.reshape(-1) for v in rest], **attributes)
        return y.reshape(y.shape[0], x.shape[0], x.shape[2], *y.shape[2:]).transpose(0, 1)


def check_channels(where: str, x: Any, **parts: Any) -> None:
    """Raise where one of these, None left out, does not have a number for each channel of x (N, C, ...)."""
    channels = x.shape[1]
    for name, part in parts.items():
        if part is not None and (size := math.prod(part.shape)) != channels:
            cause = tr("{}: {} should contain {} elements not {}: x has {} channels", where, name, channels, size, channels)
            raise ShapeError(cause, tr("{} of shape ({},), or x of shape (N, {}, ...)", name, channels, size))


def _side_by_side(x: Any) -> Any:
    """x (B, N, C, ...) of a vmap as (N, B C, ...): its examples as channels."""
    return x.transpose(0, 1).flatten(1, 2)


def _of_channels(v: Any, x: Any) -> Any:
    """v (C,) next to x (N, C, ...)."""
    return v.reshape(v.size, *(1,) * (x.ndim - 2))


def _moment(saved: Any, place: int) -> Any:
    """The mean (3) or var (4) that a batch norm took: an input, or where they move with x, a function of it."""
    mean = saved.array("mean")
    if not saved.moving:
        return saved.given(place, saved.array("var") if place == 4 else mean)
    x, axes = saved.x.astype(mean.dtype), (0, *range(2, saved.x.ndim))
    if place == 3:
        return x.mean(axis=axes)
    d = x - _of_channels(saved.mean, x)
    return (d * d).mean(axis=axes)


def _grouped(saved: Any) -> Any:
    """x (N, C, ...) as (N, G, C / G ...)."""
    x = saved.x
    return x.reshape(x.shape[0], saved.groups, math.prod(x.shape[1:]) // saved.groups)


def _check(where: str, x: np.ndarray, w: np.ndarray | None, b: np.ndarray | None, axes: int) -> None:
    dtype, rest = x.dtype, x.shape[-axes:]
    if (
        dtype.kind in "fV"
        and (w is None or (w.dtype is dtype and w.shape == rest))
        and (b is None or (b.dtype is dtype and b.shape == rest))
    ):
        return
    _check_dtypes(where, x, w, b)
    if (w is not None and w.shape != rest) or (b is not None and b.shape != rest):
        found = "".join(f", {name}={p.shape}" for name, p in (("weight", w), ("bias", b)) if p is not None)
        cause = tr("{}: expected weight of shape (C,) where x is (..., C); got x={}{}", where, x.shape, found)
        raise ShapeError(cause, f"normalized_shape={rest}")


def _check_dtypes(where: str, x: np.ndarray, w: np.ndarray | None, b: np.ndarray | None) -> None:
    if x.dtype.kind in "iub":
        raise not_floating(where, x)
    kinds = {p.dtype for p in (w, b) if p is not None}
    if kinds - {x.dtype} and not (x.dtype == BFLOAT16 and kinds == {FLOAT32}):  # PyTorch takes float32 parameters next to it
        raise dtype_mismatch(where, input=x, weight=w, bias=b)


def _flat(x: Any, axes: int) -> Any:
    """The last `axes` axes as one."""
    if axes == 1 or x is None:
        return x
    lead = x.shape[: x.ndim - axes]
    return x.reshape(*lead, math.prod(x.shape[len(lead) :]))


def _shaped(gradient: Any, like: Any) -> Any:
    return None if gradient is None else gradient.reshape(like.shape)
