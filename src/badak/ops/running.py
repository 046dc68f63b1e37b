"""What has been seen so far along an axis: the largest, the smallest, the logarithm of a sum of exponentials."""

from typing import Any

import numpy as np

from badak.kernels import elementary
from badak.kernels.reference._arrays import running
from badak.ops._broadcast import by_rows, quiet, zeros
from badak.ops.along import ScatterAdd
from badak.ops.op import Op


def _extreme_so_far(x: np.ndarray, axis: int, extreme: np.ufunc) -> tuple:
    """(values, indices): the last of the best ones up to each place; a NaN stays."""
    if not x.size:
        return x.copy(), np.zeros(x.shape, np.int64)
    best = (x == extreme.accumulate(x, axis)) | (x != x)
    place = np.arange(x.shape[axis]).reshape(-1, *(1,) * (x.ndim - 1 - axis % x.ndim))
    index = np.maximum.accumulate(np.where(best, place, 0), axis)
    return np.ascontiguousarray(np.take_along_axis(x, index, axis)), np.ascontiguousarray(index)


class CumMax(Op):
    """y_i = max_{j <= i} x_j, index_i the last j with x_j = y_i;   dx_j = sum of dy_i where index_i = j."""

    name = "cummax"

    @staticmethod
    @quiet
    def forward(save: Any, x: np.ndarray, axis: int, extreme: np.ufunc = np.maximum) -> tuple:
        y, save.index = _extreme_so_far(x, axis, extreme)
        save.axis = axis
        return y, save.index

    @staticmethod
    def backward(saved: Any, dy: Any, dindex: Any) -> Any:
        return ScatterAdd.of(zeros(dy.shape, dy), saved.index, dy, dim=saved.axis % dy.ndim)


class CumMin(CumMax):
    """y_i = min_{j <= i} x_j, index_i the last j with x_j = y_i;   dx_j = sum of dy_i where index_i = j."""

    name = "cummin"

    @staticmethod
    def forward(save: Any, x: np.ndarray, axis: int) -> tuple:
        return CumMax.forward(save, x, axis, np.minimum)


class LogCumSumExp(Op):
    """y_i = ln sum_{j <= i} exp(x_j);   dx_j = sum_{i >= j} dy_i exp(x_j - y_i)."""

    portable = ""
    name = "logcumsumexp"

    @staticmethod
    @by_rows
    def forward(save: Any, x: np.ndarray, axis: int) -> np.ndarray:
        save.x, save.axis = x, axis
        save.y = y = running(np.logaddexp.accumulate, x, axis)
        return y

    @staticmethod
    @quiet
    def backward(saved: Any, dy: Any) -> Any:
        # by recursion from the end: r_j = dy_j + r_(j+1) exp(y_j - y_(j+1)), dx_j = r_j exp(x_j - y_j), so that nothing overflows
        if not dy.size:
            return zeros(dy.shape, dy)
        axis = saved.axis % dy.ndim
        x, y, d = (np.moveaxis(a, axis, 0) for a in (saved.x, saved.y, dy))
        rest, dxs = zeros(d.shape[1:], d), []
        for j in reversed(range(len(d))):
            rest = d[j] + (rest * ratio(y[j], y[j + 1]) if j + 1 < len(d) else rest)
            dxs.append(rest * ratio(x[j], y[j]))
        return np.moveaxis(np.concatenate([dx[None] for dx in reversed(dxs)]), 0, axis)


def ratio(a: Any, b: Any) -> Any:
    """exp(a - b) for a <= b, 0 where both are -inf."""
    return np.where(a == -np.inf, a.dtype.type(0), elementary.exp(a - b))
