"""Clipping of gradients: three short kernels, so that a replay can play them; `reference/clipping.py` says what they mean."""

import math

import numpy as np

from badak.kernels import reference
from badak.kernels.half import value_dtype
from badak.kernels.numba._blocks import NOTHING
from badak.kernels.numba._tables import PARAM, part, table_of
from badak.kernels.numba.codegen.floats import largest
from badak.kernels.numba.threadpool.parallel import parallel, parallel_exact


@parallel("Wf1 Ri2 Ri1 R1")
def block_norms(task, norms, rows, owner, like):
    """norms[task]: the root of the sum of squares of a block, summed in double precision."""
    total = 0.0
    x = part(task, rows, owner[task], PARAM, like)
    for i in range(x.size):
        value = np.float64(x[i])
        total += value * value
    norms[task] = math.sqrt(total)


@parallel_exact("Wf1 Ri2 Ri1 R1")
def block_largest(task, norms, rows, owner, like):
    """norms[task]: the largest absolute value of a block, NaN if there is one."""
    x = part(task, rows, owner[task], PARAM, like)
    top = abs(x[0])
    for i in range(x.size):
        top = largest(top, abs(x[i]))
    norms[task] = top


@parallel_exact("W1 Rf1 ?")
def whole_norm(task, norm, norms, squares):
    """norm[0] = the root of the sum of the squares of `norms`, or the largest of them."""
    total, top = 0.0, norm.dtype.type(0)
    for i in range(norms.size):
        value = np.float64(norms[i])
        total += value * value
        top = largest(top, norms[i])
    norm[0] = math.sqrt(total) if squares else top


@parallel_exact("R1 Ri2 Ri1 f f")
def shrink(task, norm, rows, owner, most, eps):
    """g *= most / (norm + eps), unless that is 1 or more."""
    factor = most / (norm[0] + eps)
    if factor >= 1:
        return
    x = part(task, rows, owner[task], PARAM, norm)
    for i in range(x.size):
        x[i] *= factor


@parallel_exact("R1 Ri2 Ri1 f f")
def limit(task, like, rows, owner, low, high):
    """g = min(max(g, low), high)."""
    x = part(task, rows, owner[task], PARAM, like)
    for i in range(x.size):
        value = x[i]
        value = low if value < low else value
        x[i] = high if value > high else value


def _table(grads, memo):
    """The table of these arrays; None where one of them has gaps, is read-only or shares memory."""
    table = table_of(memo, [grads])
    return table if all(table.fits) else None


def norm_all(grads, p, memo):
    """The norm of all elements; see `reference.norm_all`."""
    table = _table(grads, memo) if p in (2.0, math.inf) else None
    if table is None:
        return reference.norm_all(grads, p, memo)
    norms, norm = np.empty(len(table.owner), value_dtype(table.dtype)), np.empty((), table.dtype)
    blocks = block_norms if p == 2.0 else block_largest
    blocks(len(norms), table.size // 4, norms, table.rows, table.owner, NOTHING[table.dtype])
    whole_norm(1, 0, norm.reshape(1), norms, p == 2.0)
    return norm


def shrink_all(grads, norm, most, memo):
    """Scale all down to a norm of at most `most`; see `reference.shrink_all`."""
    table = _table(grads, memo)
    if table is None or norm.dtype != table.dtype:
        reference.shrink_all(grads, norm, most, memo)
    else:
        shrink(len(table.owner), table.size // 4, norm.reshape(1), table.rows, table.owner, most, 1e-6)


def limit_all(grads, low, high):
    """Limit every element; see `reference.limit_all`."""
    table = _table(grads, {})
    if table is None:
        reference.limit_all(grads, low, high)
    else:
        limit(len(table.owner), table.size // 4, NOTHING[table.dtype], table.rows, table.owner, low, high)


def clip_kept(grads, p=2.0):
    """Whether the kernels above do all of it; see `reference.clip_kept`."""
    return p in (2.0, math.inf) and _table(grads, {}) is not None
