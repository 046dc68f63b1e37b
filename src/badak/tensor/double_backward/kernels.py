"""The kernels that a backward asks for, over recorded arrays: the functions of `badak.kernels`, made of operations.

Those of the plain set that make new arrays and write into none are taken as they are.
"""

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from badak.kernels import reference
from badak.kernels.reference import activation
from badak.kernels.reference.conv import _columns, _products
from badak.kernels.reference.cross_entropy import _seen
from badak.ops._broadcast import summed
from badak.ops.along import IndexAdd
from badak.ops.concat import Cat
from badak.ops.conv import Conv, ConvTranspose
from badak.ops.index import IndexPut
from badak.ops.matmul import MatMul
from badak.ops.op import NotRecordable
from badak.ops.rearrange import RepeatInterleave
from badak.ops.select import Dropout
from badak.ops.softmax import Softmax
from badak.ops.windows import Fold, Unfold
from badak.tensor.double_backward.array import Recorded, run, zeros
from badak.tensor.double_backward.recurrent import gru_twice as gru_twice
from badak.tensor.double_backward.recurrent import lstm_twice as lstm_twice
from badak.tensor.double_backward.recurrent import rnn_twice as rnn_twice

if TYPE_CHECKING:
    from badak.tensor.tensor import Tensor

# ---------------------------------------------------------------- as they are

column_sum = reference.column_sum
linear_backward = reference.linear_backward
mse_backward = reference.mse_backward
huber_backward = reference.huber_backward
smooth_l1_backward = reference.smooth_l1_backward
kl_div_backward = reference.kl_div_backward
softmax_backward = reference.softmax_backward
log_softmax_backward = reference.log_softmax_backward
layer_norm_backward = reference.layer_norm_backward
group_norm_backward = reference.group_norm_backward
batch_norm_backward = reference.batch_norm_backward
rms_norm_backward = reference.rms_norm_backward
cross_entropy_soft_backward = reference.cross_entropy_soft_backward
bce_with_logits_backward = reference.bce_with_logits_backward


def __getattr__(name: str):
    if name.startswith("__"):  # what Python asks every module for
        raise AttributeError(name)
    if name in vars(activation):
        return vars(activation)[name]
    raise NotRecordable(f"the kernel {name}")


# ---------------------------------------------------------------- products, rows, windows


def matmul(a: Recorded, b: Recorded) -> "Tensor":
    return run(MatMul, a, b)


def cast(x: Recorded, dtype: Any) -> Recorded:
    return x.astype(dtype)


def concatenate(xs: Any, axis: int) -> "Tensor":
    return run(Cat, *xs, axis=axis)


def dropout(x: Recorded, keep: np.ndarray, p: float) -> "Tensor":
    return run(Dropout, x, keep, p=p)


def unfold(x: Recorded, kernel: Sequence[int], stride: Any, padding: Any, dilation: Any, out: Sequence[int]) -> "Tensor":
    return run(Unfold, x, kernel=kernel, stride=stride, padding=padding, dilation=dilation, out=out)


def fold(cols: Any, size: Sequence[int], stride: Sequence[int], padding: Any, dilation: Any) -> Recorded:
    return run(Fold, cols, size=size, stride=stride, padding=padding, dilation=dilation)


def conv(x: Recorded, w: Recorded, at: tuple, groups: int, out: Sequence[int]) -> Recorded:
    return run(Conv, x, w, None, stride=at[0], padding=at[1], dilation=at[2], groups=groups)


def conv_dx(dy: Recorded, w: Recorded, at: tuple, groups: int, size: Sequence[int]) -> Recorded:
    """The transposed convolution, with as much more at the end as the windows leave out."""
    least = [(o - 1) * s - 2 * p + d * (k - 1) + 1 for o, k, s, p, d in zip(dy.shape[2:], w.shape[2:], *at)]
    more = tuple(n - each for n, each in zip(size, least))
    return run(ConvTranspose, dy, w, None, stride=at[0], padding=at[1], dilation=at[2], output_padding=more, groups=groups)


def conv_dw(dy: Recorded, x: Recorded, shape: Any, at: Any, groups: int) -> Recorded:
    cols = _columns(sys.modules[__name__], x, shape, at, groups, dy.shape[2:])
    return _products(matmul, dy, cols, groups).reshape(*shape)


def embedding_backward(
    dy: Recorded, ids: np.ndarray, rows: int, padding_idx: Any = None, scale_grad_by_freq: bool = False
) -> Recorded:
    """dw[v] = the sum of dy over the places of v, whose own gradient is dy[places] = dw[ids]."""
    flat = ids.reshape(ids.size)
    counted = np.ones(ids.size, dy.dtype)
    if scale_grad_by_freq:
        counted /= np.bincount(flat, minlength=rows)[flat]
    if padding_idx is not None:
        counted[flat == padding_idx % rows] = 0
    scaled = dy.reshape(ids.size, dy.shape[-1]) * counted[:, None]
    return run(IndexAdd, zeros((rows, dy.shape[-1]), dy), flat, scaled, dim=0)


def max_pool_backward(dy: Recorded, index: np.ndarray, size: Sequence[int]) -> Recorded:
    """dy at the places of the largest entries of an (N, C, *size) input."""
    lead, places = dy.shape[:2], math.prod(size)
    key = (np.arange(math.prod(lead))[:, None], index.reshape(math.prod(lead), -1))
    flat = zeros((math.prod(lead), places), dy)
    return run(IndexPut, flat, dy.reshape(key[1].shape), key=key, accumulate=True).reshape(*lead, *size)


def avg_pool_backward(
    dy: Recorded, size: Sequence[int], kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], counts: np.ndarray
) -> Recorded:
    """dy / counts for every entry of its window."""
    shared = (dy / counts).reshape(*dy.shape[:2], *(1,) * len(kernel), *dy.shape[2:])
    windows = np.broadcast_to(shared, (*dy.shape[:2], *kernel, *dy.shape[2:]))
    return fold(windows, size, stride, padding, (1,) * len(kernel))


# ---------------------------------------------------------------- attention


def attention_backward(
    dout: Recorded,
    dweights: Recorded | None,
    q: Recorded,
    k: Recorded,
    v: Recorded,
    lse: np.ndarray,
    keep: Any,
    bias: Any,
    causal: int | None,
    scale: Any,
    drop: Any,
    p: float,
    needs: Sequence[int],
) -> tuple:
    """The formulas of `ops/attention.py` over whole arrays; the weights are computed again, from q and k."""
    shared, factor = q.shape[1] // k.shape[1], 1 / math.sqrt(max(q.shape[-1], 1)) if scale is None else scale
    heads = [x if shared == 1 else run(RepeatInterleave, x, times=shared, axis=1) for x in (k, v)]
    weights = _weights(q, heads[0], lse, keep, bias, causal, factor)
    a = weights if drop is None else run(Dropout, weights, drop, p=p)
    dv = a.swapaxes(-1, -2) @ dout if needs[2] else None
    da = dout @ heads[1].swapaxes(-1, -2)
    if dweights is not None:
        da = da + dweights
    dp = da if drop is None else run(Dropout, da, drop, p=p)
    ds = weights * (dp - (weights * dp).sum(axis=-1, keepdims=True))
    dq = (ds @ heads[0]) * factor if needs[0] else None
    dk = (ds.swapaxes(-1, -2) @ q) * factor if needs[1] else None
    dbias = summed(ds, bias.shape) if needs[3] else None
    return dq, _of_groups(dk, k), _of_groups(dv, v), dbias


def _weights(q, k, lse, keep, bias, causal, factor: float):
    """softmax(factor q k^T + bias where kept), 0 for a query that sees no key, which lse = -inf tells."""
    scores = (q @ k.swapaxes(-1, -2)) * factor
    hidden = np.zeros(scores.shape, bool)
    if bias is not None:
        scores = scores + bias
    if keep is not None:
        hidden |= ~keep
    if causal is not None:
        hidden |= np.arange(scores.shape[3]) > np.arange(scores.shape[2])[:, None] + causal
    blind = (lse == -np.inf)[..., None]
    scores = np.where(blind, 0, np.where(hidden, -np.inf, scores))
    return np.where(blind, 0, run(Softmax, scores, dim=-1))


def _of_groups(dx, like):
    """The sum over the query heads that share a key head."""
    if dx is None or dx.shape[1] == like.shape[1]:
        return dx
    return dx.reshape(dx.shape[0], like.shape[1], dx.shape[1] // like.shape[1], *dx.shape[2:]).sum(axis=2)


# ---------------------------------------------------------------- losses


def spread_loss(dy: Recorded, count: np.ndarray, n: int) -> Any:
    return np.broadcast_to(dy / count.item(), (n,))


def cross_entropy_backward(
    dloss: Recorded,
    logits: Recorded,
    target: np.ndarray,
    lse: np.ndarray,
    weight: Any,
    ignore_index: int,
    smoothing: float,
    over_logits: bool = False,
) -> Recorded:
    """dloss[n] (softmax[n] sum c[n] - c[n]), c the target as a row of V coefficients, 0 where it is ignored."""
    c = _one_hot(target, ignore_index, logits) * (1 - smoothing) + smoothing / logits.shape[1]
    if weight is not None:
        c = c * weight.values
    c[target == ignore_index] = 0
    dlogits = dloss[:, None] * (run(Softmax, logits, dim=-1) * c.sum(axis=-1, keepdims=True) - c)
    return dlogits.astype(logits.dtype)


def nll_backward(dloss: Recorded, logp: Recorded, target: np.ndarray, weight: Recorded | None, ignore_index: int) -> Any:
    c = _one_hot(target, ignore_index, logp)
    return dloss[:, None] * -(c if weight is None else c * weight.values)


def _one_hot(target, ignore_index: int, like: Recorded) -> np.ndarray:
    seen, picked = _seen(target, ignore_index)
    rows = np.zeros(like.shape, like.dtype)
    rows[np.arange(len(rows)), picked] = seen
    return rows
