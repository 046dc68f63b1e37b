"""Recurrent layers over a whole sequence: the products with the input are given, the products with the state happen here.

gx (T, B, nH) is W_ih x + b_ih for n gates, h0 (B, H) the first state, w (nH, H) = W_hh and b (nH,) = b_hh or None. `reverse`
goes from the last step to the first. `lengths` (B,) or None: sequence b has its first lengths[b] steps; at the others its state
stands still and its output is 0, so that in both directions it begins and ends where it should.

A forward gives the outputs y (T, B, H), the last state, and what its backward needs: the state after each step and the gates.
A backward walks the steps the other way. At each it has dh, the gradient of the state after the step, of which a part came from
y; from the gradients da of the gates' arguments follow dgx = da, dw = sum_t da^T h, db = sum_t da and dh -> da w.

Sources: Elman 1990; Hochreiter, Schmidhuber 1997; Cho et al. 2014, with PyTorch's order of gates and its place of b_hn.
"""

import numpy as np

from badak.kernels import elementary
from badak.kernels.reference._arrays import Array, quiet, rows


@quiet
def lstm(gx: Array, h0: Array, c0: Array, w: Array, b: Array | None, reverse: bool, lengths: Array | None):
    """y, h, c, hs, cs, gates: y and the states (T, B, H), the last h and c (B, H), gates i, f, g, o (T, B, 4H).

    i, f, o = sigmoid(.)    g = tanh(.)    c = f c_before + i g    h = o tanh(c)
    """
    T, (B, H) = len(gx), h0.shape
    y, hs, cs, gates = (np.zeros((T, B, n), gx.dtype) for n in (H, H, H, 4 * H))
    h, c = h0, c0
    for t in _order(T, reverse):
        a = _arguments(gx[t], h, w, b)
        i, f, o = (_sigmoid(a[:, k * H : (k + 1) * H]) for k in (0, 1, 3))
        g = np.tanh(a[:, 2 * H : 3 * H])
        c_new = f * c + i * g
        h_new = o * np.tanh(c_new)
        gates[t] = np.concatenate([i, f, g, o], axis=1)
        alive = _alive(t, lengths)
        y[t] = _where(alive, h_new, 0)
        h, c = _where(alive, h_new, h), _where(alive, c_new, c)
        hs[t], cs[t] = h, c
    return y, h, c, hs, cs, gates


@quiet
def lstm_backward(dy, dh, dc, h0, c0, w, hs, cs, gates, reverse, lengths, needs):
    """dgx, dh0, dc0, dw, db.    With tanh' = 1 - tanh(c)^2, at each step:

    dc += dh o tanh'      da_i = dc g i (1-i)      da_f = dc c_before f (1-f)      da_g = dc i (1-g^2)
    da_o = dh tanh(c) o (1-o)                      dc -> dc f                      dh -> da w
    """
    T, H = len(gates), h0.shape[1]
    dh, dc = _start(dh, h0), _start(dc, c0)
    da = np.zeros(gates.shape, gates.dtype)
    for t in _order(T, not reverse):
        before = _before(t, reverse, T)
        c_before = c0 if before is None else cs[before]
        i, f, g, o = (gates[t][:, k * H : (k + 1) * H] for k in range(4))
        alive = _alive(t, lengths)
        step = dh if dy is None else dh + dy[t]
        tanh_c = np.tanh(f * c_before + i * g)
        dct = dc + step * o * (1 - tanh_c * tanh_c)
        parts = [dct * g * i * (1 - i), dct * c_before * f * (1 - f), dct * i * (1 - g * g), step * tanh_c * o * (1 - o)]
        da[t] = _where(alive, np.concatenate(parts, axis=1), 0)
        dh, dc = _where(alive, elementary.product(da[t], w), dh), _where(alive, dct * f, dc)
    dw, db = _weights(da, hs, h0, reverse, needs[3:])
    return da, dh, dc, dw, db


@quiet
def gru(gx: Array, h0: Array, w: Array, b: Array | None, reverse: bool, lengths: Array | None):
    """y, h, hs, gates: gates r, z, n and u = W_hn h + b_hn (T, B, 4H).

    r, z = sigmoid(.)    n = tanh(W_in x + b_in + r u)    h = (1 - z) n + z h_before
    """
    T, (B, H) = len(gx), h0.shape
    y, hs, gates = (np.zeros((T, B, n), gx.dtype) for n in (H, H, 4 * H))
    h = h0
    for t in _order(T, reverse):
        a = _arguments(None, h, w, b)
        r, z = (_sigmoid(gx[t][:, k * H : (k + 1) * H] + a[:, k * H : (k + 1) * H]) for k in (0, 1))
        u = a[:, 2 * H :]
        n = np.tanh(gx[t][:, 2 * H :] + r * u)
        h_new = (1 - z) * n + z * h
        gates[t] = np.concatenate([r, z, n, u], axis=1)
        alive = _alive(t, lengths)
        y[t] = _where(alive, h_new, 0)
        hs[t] = h = _where(alive, h_new, h)
    return y, h, hs, gates


@quiet
def gru_backward(dy, dh, h0, w, hs, gates, reverse, lengths, needs):
    """dgx, dh0, dw, db.    At each step:

    da_n = dh (1-z) (1-n^2)      da_z = dh (h_before - n) z (1-z)      da_r = da_n u r (1-r)
    dgx = (da_r, da_z, da_n)     the state's side dgh = (da_r, da_z, da_n r)      dh -> dh z + dgh w
    """
    T, H = len(gates), h0.shape[1]
    dh = _start(dh, h0)
    dgx = np.zeros((T, h0.shape[0], 3 * H), gates.dtype)
    dgh = np.zeros_like(dgx)
    for t in _order(T, not reverse):
        before = _before(t, reverse, T)
        h_before = h0 if before is None else hs[before]
        r, z, n, u = (gates[t][:, k * H : (k + 1) * H] for k in range(4))
        alive = _alive(t, lengths)
        step = dh if dy is None else dh + dy[t]
        dn = step * (1 - z) * (1 - n * n)
        dz, dr = step * (h_before - n) * z * (1 - z), dn * u * r * (1 - r)
        dgx[t] = _where(alive, np.concatenate([dr, dz, dn], axis=1), 0)
        dgh[t] = _where(alive, np.concatenate([dr, dz, dn * r], axis=1), 0)
        dh = _where(alive, step * z + elementary.product(dgh[t], w), dh)
    dw, db = _weights(dgh, hs, h0, reverse, needs[2:])
    return dgx, dh, dw, db


@quiet
def rnn(gx: Array, h0: Array, w: Array, b: Array | None, relu: bool, reverse: bool, lengths: Array | None):
    """y, h, hs:    h = tanh(gx + W_hh h_before + b), or relu of it."""
    T, (B, H) = len(gx), h0.shape
    y, hs = np.zeros((T, B, H), gx.dtype), np.zeros((T, B, H), gx.dtype)
    h = h0
    for t in _order(T, reverse):
        a = _arguments(gx[t], h, w, b)
        h_new = np.maximum(a, 0) if relu else np.tanh(a)
        alive = _alive(t, lengths)
        y[t] = _where(alive, h_new, 0)
        hs[t] = h = _where(alive, h_new, h)
    return y, h, hs


@quiet
def rnn_backward(dy, dh, h0, w, hs, relu, reverse, lengths, needs):
    """dgx, dh0, dw, db.    At each step da = dh (1 - h^2), or dh [h > 0] for relu;   dh -> da w."""
    T = len(hs)
    dh = _start(dh, h0)
    da = np.zeros(hs.shape, hs.dtype)
    for t in _order(T, not reverse):
        alive = _alive(t, lengths)
        step = dh if dy is None else dh + dy[t]
        slope = (hs[t] > 0).astype(hs.dtype) if relu else 1 - hs[t] * hs[t]
        da[t] = _where(alive, step * slope, 0)
        dh = _where(alive, elementary.product(da[t], w), dh)
    dw, db = _weights(da, hs, h0, reverse, needs[2:])
    return da, dh, dw, db


def _order(T: int, reverse: bool):
    return range(T - 1, -1, -1) if reverse else range(T)


def _before(t: int, reverse: bool, T: int) -> int | None:
    """The step whose state step t begins with; None for h0."""
    at = t + 1 if reverse else t - 1
    return at if 0 <= at < T else None


def _arguments(gx, h, w, b):
    a = elementary.product(h, w.T)
    if gx is not None:
        a += gx
    if b is not None:
        a += b
    return a


def _sigmoid(a):
    return 1 / (1 + elementary.exp(-a))


def _alive(t: int, lengths):
    """(B, 1): which sequences have a step t; None: all."""
    return None if lengths is None else (t < lengths)[:, None]


def _where(alive, new, old):
    return new if alive is None else np.where(alive, new, np.asarray(old, new.dtype))


def _start(gradient, state):
    return np.zeros_like(state) if gradient is None else gradient


def _weights(da, hs, h0, reverse: bool, needs):
    """dw = sum_t da^T h_before and db = sum_t da, where wanted."""
    dw = None
    if needs[0]:
        if len(da):
            states = np.concatenate([hs[1:], h0[None]] if reverse else [h0[None], hs[:-1]])
            dw = elementary.product(rows(da).T, rows(states))
        else:
            dw = np.zeros((da.shape[2], h0.shape[1]), da.dtype)
    return dw, rows(da).sum(axis=0) if needs[1] else None
