"""Recurrent layers step by step in operations, for gradients of their gradients.

`ops/recurrent.py` has kept the gates, and not what they were computed of. So gx and b come as zeros with the history of the
inputs: what is summed of them is no number that anybody reads, only a way for gradients, and `Gate` puts the known value there.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak.kernels import reference
from badak.kernels.reference.recurrent import _alive, _order
from badak.ops._complex import analytic
from badak.ops.op import Op
from badak.tensor.double_backward.array import run
from badak.tensor.double_backward.walk import through


class Gate(Op):
    """y = value, which slope's function has made of a before;   da = slope(dy, y)."""

    @staticmethod
    def forward(save: Any, a: np.ndarray, value: np.ndarray, slope: Callable) -> np.ndarray:
        save.y, save.slope = value, slope
        return value

    @staticmethod
    @analytic
    def backward(saved: Any, dy: Any) -> tuple:
        return saved.slope(dy, saved.y), None


SIGMOID, TANH, RELU = reference.sigmoid_backward, reference.tanh_backward, reference.relu_backward


def lstm_twice(saved: Any, dy: Any, dh: Any, dc: Any) -> tuple:
    """The gradients of gx, h0, c0, w and b, recorded; the formulas stand in `kernels/reference/recurrent.py`."""
    reverse, lengths = saved.at

    def steps(gx, h, c, w, b):
        outputs = []
        for t in _order(len(gx), reverse):
            a = _arguments(gx[t], h, w, b)
            i, f, g, o = _gates(a, saved.gates[t], (SIGMOID, SIGMOID, TANH, SIGMOID))
            c_new = f * c + i * g
            h_new = o * np.tanh(c_new)
            alive = _alive(t, lengths)
            outputs.append(_where(alive, h_new, 0.0))
            h, c = _where(alive, h_new, h), _where(alive, c_new, c)
        return _stacked(outputs, reverse), h, c

    return _back(saved, steps, saved.gates.shape, (dy, dh, dc), saved.h0, saved.c0)


def gru_twice(saved: Any, dy: Any, dh: Any) -> tuple:
    """The same of gx, h0, w and b."""
    reverse, lengths = saved.at
    H = saved.h0.shape[1]

    def steps(gx, h, w, b):
        outputs = []
        for t in _order(len(gx), reverse):
            a, known = _arguments(None, h, w, b), saved.gates[t]
            r, z = _gates(gx[t][:, : 2 * H] + a[:, : 2 * H], known[:, : 2 * H], (SIGMOID, SIGMOID))
            u = run(Gate, a[:, 2 * H :], known[:, 3 * H :], slope=_same)
            n = run(Gate, gx[t][:, 2 * H :] + r * u, known[:, 2 * H : 3 * H], slope=TANH)
            h_new = (1 - z) * n + z * h
            alive = _alive(t, lengths)
            outputs.append(_where(alive, h_new, 0.0))
            h = _where(alive, h_new, h)
        return _stacked(outputs, reverse), h

    return _back(saved, steps, (*saved.gates.shape[:2], 3 * H), (dy, dh), saved.h0)


def rnn_twice(saved: Any, dy: Any, dh: Any) -> tuple:
    """The same of gx, h0, w and b."""
    relu, reverse, lengths = saved.at

    def steps(gx, h, w, b):
        outputs = []
        for t in _order(len(gx), reverse):
            h_new = run(Gate, _arguments(gx[t], h, w, b), saved.hs[t], slope=RELU if relu else TANH)
            alive = _alive(t, lengths)
            outputs.append(_where(alive, h_new, 0.0))
            h = _where(alive, h_new, h)
        return _stacked(outputs, reverse), h

    return _back(saved, steps, saved.hs.shape, (dy, dh), saved.h0)


def _back(saved, steps, shape, dys, *states):
    """The gradients of gx (of that shape), the states, w and b through the steps."""
    last = len(states) + 2
    gx = saved.given(0, np.broadcast_to(np.zeros((), saved.w.dtype), shape))
    b = saved.given(last, np.zeros(len(saved.w), saved.w.dtype)) if saved.needs[last] else None
    return through(steps, (gx, *states, saved.w, b), saved.needs, dys)


def _same(dy, y):
    return dy


def _gates(a, known, slopes):
    """The gates that lie side by side in `known` (B, n H)."""
    H = known.shape[1] // len(slopes)
    parts = [slice(k * H, (k + 1) * H) for k in range(len(slopes))]
    return [run(Gate, a[:, part], known[:, part], slope=slope) for part, slope in zip(parts, slopes)]


def _arguments(gx, h, w, b):
    a = h @ w.T
    a = a if gx is None else a + gx
    return a if b is None else a + b


def _stacked(outputs, reverse: bool):
    return np.concatenate([y[None] for y in (outputs[::-1] if reverse else outputs)])


def _where(alive, new, old):
    return new if alive is None else np.where(alive, new, old)
