"""Rows of the recurrent layers: against PyTorch's cells, one step after the other."""

import numpy as np
import torch

from badak.ops.recurrent import GRU, LSTM, RNN
from tests.samples import Sample, case


def walk(cell, gx, state, reverse, lengths):
    """Outputs and the last state of a cell along a sequence; a sequence that has ended stands still and gives 0."""
    outputs = [None] * len(gx)
    for t in reversed(range(len(gx))) if reverse else range(len(gx)):
        new = cell(gx[t], state)
        alive = torch.ones(gx.shape[1], 1, dtype=torch.bool)
        if lengths is not None:
            alive = torch.from_numpy(t < lengths)[:, None]
        outputs[t] = torch.where(alive, new[0], torch.zeros_like(new[0]))
        state = tuple(torch.where(alive, n, o) for n, o in zip(new, state))
    return (torch.stack(outputs), *state)


def bias_or_zeros(w, b):
    return torch.zeros(len(w), dtype=w.dtype) if b is None else b


def lstm(gx, h0, c0, w, b, reverse, lengths):
    eye, none = torch.eye(len(w), dtype=w.dtype), torch.zeros(len(w), dtype=w.dtype)
    cell = lambda x, s: torch.lstm_cell(x, s, eye, w, none, bias_or_zeros(w, b))
    return walk(cell, gx, (h0, c0), reverse, lengths)


def gru(gx, h0, w, b, reverse, lengths):
    eye, none = torch.eye(len(w), dtype=w.dtype), torch.zeros(len(w), dtype=w.dtype)
    return walk(lambda x, s: (torch.gru_cell(x, s[0], eye, w, none, bias_or_zeros(w, b)),), gx, (h0,), reverse, lengths)


def rnn(gx, h0, w, b, relu, reverse, lengths):
    cell = torch.rnn_relu_cell if relu else torch.rnn_tanh_cell
    eye, none = torch.eye(len(w), dtype=w.dtype), torch.zeros(len(w), dtype=w.dtype)
    return walk(lambda x, s: (cell(x, s[0], eye, w, none, bias_or_zeros(w, b)),), gx, (h0,), reverse, lengths)


def cases(gates, states):
    """(T, B, H) of several kinds, with and without bias and lengths."""

    def inputs(T, B, H, bias=True):
        first = ((T, B, gates * H), *((B, H),) * states)
        return (*first, (gates * H, H), (gates * H,) if bias else None)

    return [
        case(*inputs(3, 2, 2), lengths=None), case(*inputs(4, 3, 2, bias=False), lengths=np.array([4, 1, 3])),
        case(*inputs(1, 1, 1), lengths=None), case(*inputs(2, 0, 3), lengths=None),
    ]  # fmt: skip


LAYER = "as in PyTorch's layers over whole sequences; its cells keep the order of a state"
ROWS = [
    Sample(LSTM, lstm, cases(4, 2), reverse=[False, True], by_rows=LAYER),
    Sample(GRU, gru, cases(3, 1), reverse=[False, True], by_rows=LAYER),
    Sample(RNN, rnn, cases(1, 1), reverse=[False, True], relu=[False, True], by_rows=LAYER),
]
