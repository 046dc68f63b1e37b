"""Recurrent layers over a whole sequence, one op each: see kernels/reference/recurrent.py for the formulas of a step.

gx (T, B, nH): the input's side of the gates. h0, c0 (B, H). w (nH, H), b (nH,) or None. Outputs y (T, B, H) and the last state.
"""

from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import ShapeError, tr
from badak.ops._check import dtype_mismatch
from badak.ops._complex import analytic
from badak.ops.op import Count, Op


def _flops(weight: int) -> Any:
    """Op.flops of T steps that multiply the state by the input number `weight`."""

    def count(inputs: Any, outputs: Any, attributes: Any) -> Count:
        T, B, _ = inputs[0].shape
        flops = 2 * T * B * inputs[weight].size
        return flops, {0: flops, weight: flops}

    return staticmethod(count)


class LSTM(Op):
    """c = f c + i g, h = o tanh(c);   dc = dh o (1 - tanh(c)^2) + dc f of the step after, the gates' arguments by their slopes."""

    flops = _flops(3)
    batching = None
    apart = True
    saved_constants = ("gates",)

    @staticmethod
    def forward(
        save: Any,
        gx: np.ndarray,
        h0: np.ndarray,
        c0: np.ndarray,
        w: np.ndarray,
        b: np.ndarray | None,
        reverse: bool = False,
        lengths: np.ndarray | None = None,
    ) -> tuple:
        _check("lstm", gx, h0, w, b, 4)
        y, h, c, save.hs, save.cs, save.gates = kernels.of(gx).lstm(gx, h0, c0, w, b, reverse, lengths)
        save.h0, save.c0, save.w, save.at = h0, c0, w, (reverse, lengths)
        return y, h.copy(), c.copy()

    @staticmethod
    @analytic
    def backward(saved: Any, dy: np.ndarray | None, dh: np.ndarray | None, dc: np.ndarray | None) -> tuple:
        backward = kernels.of(saved.w).lstm_backward
        return backward(dy, dh, dc, saved.h0, saved.c0, saved.w, saved.hs, saved.cs, saved.gates, *saved.at, saved.needs)

    @staticmethod
    def double_backward(saved: Any, dy: Any, dh: Any, dc: Any) -> tuple:
        return kernels.of(saved.w).lstm_twice(saved, dy, dh, dc)


class GRU(Op):
    """h = (1 - z) n + z h_before, n = tanh(gx_n + r u);   dh -> dh z + the gates' gradients times w."""

    flops = _flops(2)
    batching = None
    apart = True
    saved_constants = ("gates",)

    @staticmethod
    def forward(
        save: Any,
        gx: np.ndarray,
        h0: np.ndarray,
        w: np.ndarray,
        b: np.ndarray | None,
        reverse: bool = False,
        lengths: np.ndarray | None = None,
    ) -> tuple:
        _check("gru", gx, h0, w, b, 3)
        y, h, save.hs, save.gates = kernels.of(gx).gru(gx, h0, w, b, reverse, lengths)
        save.h0, save.w, save.at = h0, w, (reverse, lengths)
        return y, h.copy()

    @staticmethod
    @analytic
    def backward(saved: Any, dy: np.ndarray | None, dh: np.ndarray | None) -> tuple:
        return kernels.of(saved.w).gru_backward(dy, dh, saved.h0, saved.w, saved.hs, saved.gates, *saved.at, saved.needs)

    @staticmethod
    def double_backward(saved: Any, dy: Any, dh: Any) -> tuple:
        return kernels.of(saved.w).gru_twice(saved, dy, dh)


class RNN(Op):
    """h = tanh(gx + w h_before + b), or relu;   da = dh (1 - h^2) or dh [h > 0], dh -> da w."""

    flops = _flops(2)
    batching = None
    apart = True
    saved_constants = ("hs",)

    @staticmethod
    def forward(
        save: Any,
        gx: np.ndarray,
        h0: np.ndarray,
        w: np.ndarray,
        b: np.ndarray | None,
        relu: bool = False,
        reverse: bool = False,
        lengths: np.ndarray | None = None,
    ) -> tuple:
        _check("rnn", gx, h0, w, b, 1)
        y, h, save.hs = kernels.of(gx).rnn(gx, h0, w, b, relu, reverse, lengths)
        save.h0, save.w, save.at = h0, w, (relu, reverse, lengths)
        return y, h.copy()

    @staticmethod
    @analytic
    def backward(saved: Any, dy: np.ndarray | None, dh: np.ndarray) -> tuple:
        return kernels.of(saved.w).rnn_backward(dy, dh, saved.h0, saved.w, saved.hs, *saved.at, saved.needs)

    @staticmethod
    def double_backward(saved: Any, dy: Any, dh: Any) -> tuple:
        return kernels.of(saved.w).rnn_twice(saved, dy, dh)


def _check(where: str, gx: np.ndarray, h0: np.ndarray, w: np.ndarray, b: np.ndarray | None, gates: int) -> None:
    H = w.shape[1]
    if gx.dtype != w.dtype or h0.dtype != w.dtype:
        raise dtype_mismatch(where, weight=w, input=gx, hidden=h0)
    if gx.shape[1:] != (h0.shape[0], gates * H) or h0.shape[1] != H or w.shape[0] != gates * H:
        cause = tr("{}: expected gates (T, B, {} H), hidden (B, H) and weight ({} H, H); got {}, {}, {}", where, gates, gates,
                   gx.shape, h0.shape, w.shape)  # fmt: skip
        raise ShapeError(cause, tr("a hidden state of shape ({}, {})", gx.shape[1], H))
