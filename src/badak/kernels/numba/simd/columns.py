"""Softmax down the columns of a matrix: a lane is a query, so that no sum goes across lanes.

Along a row, the last lanes and the sums across lanes cost more than the rest: 28 keys took 55 ns a query, here 6. Sums are taken
in the order of the keys, so that hidden ones change no bit: with fast-math flags they were taken in another one.
"""

# mypy: disable-error-code="call-arg"

import numpy as np

from badak.kernels.numba.codegen.floats import rounded
from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.registers import I64, REGISTER, Vectors
from badak.kernels.numba.simd.functions import exp, exp_lanes, log_lanes


def _by_register(v, rows, width, body):
    """body(offset of a register's columns, mask, down), where down(carried, inner) runs inner(offset, carried) by rows."""
    builder = v.builder

    def register(i, carried):
        offset, mask = builder.mul(i, I64(REGISTER)), v.first(builder.sub(width, builder.mul(i, I64(v.lanes))))

        def down(step, carried, inner):
            place = lambda row, carried: inner(builder.add(offset, builder.mul(row, step)), carried)
            return v.repeat(rows, carried, place)

        body(offset, mask, down)
        return []

    v.repeat(builder.sdiv(builder.add(width, I64(v.lanes - 1)), I64(v.lanes)), [], register)


@instruction(1)
def _softmax_columns(builder, like, s, step, rows, width, lse):
    v = Vectors(builder, like.type)
    least = v.constant(float("-inf"))

    def columns(offset, mask, down):
        (top,) = down(step, [least], lambda at, top: [v.larger(top[0], v.load(s, at))])
        shift = builder.select(builder.fcmp_ordered("==", top, least), v.zero, top)

        def exponential(at, total):
            e = exp_lanes(v, builder.fsub(v.load(s, at), shift))
            v.store(e, s, at)
            return [builder.fadd(total[0], e)]

        (total,) = down(step, [v.zero], exponential)
        one = v.constant(1)
        total = builder.select(builder.fcmp_ordered("==", total, v.zero), one, total)  # 0: nothing to attend to
        factor = builder.fdiv(one, total)

        def scaled(at, carried):
            v.store(builder.fmul(v.load(s, at), factor), s, at)
            return carried

        down(step, [], scaled)
        made = builder.fadd(top, log_lanes(v, total))
        v.store(made, lse, offset, mask)

    _by_register(v, rows, width, columns)


@instruction(1)
def _softmax_columns_backward(builder, like, s, grad, step, rows, width, lse):
    v = Vectors(builder, like.type)

    def columns(offset, mask, down):
        saved = v.load(lse, offset, mask)
        hidden = builder.fcmp_ordered("==", saved, v.constant(float("-inf")))
        shift = builder.select(hidden, v.zero, saved)

        def exponential(at, carried):
            e = exp_lanes(v, builder.fsub(v.load(s, at), shift))
            v.store(e, s, at)
            return [builder.fadd(carried[0], e), v.fma(e, v.load(grad, at), carried[1])]

        total, dot = down(step, [v.zero, v.zero], exponential)
        factor = builder.fdiv(v.constant(1), builder.select(hidden, v.constant(1), total))
        mean = builder.fmul(dot, factor)

        def centred(at, carried):
            p = builder.fmul(v.load(s, at), factor)
            v.store(p, s, at)
            v.store(builder.fmul(p, builder.fsub(v.load(grad, at), mean)), grad, at)
            return carried

        down(step, [], centred)

    _by_register(v, rows, width, columns)


def softmax_columns(s, width, lse):
    """s[:, r] = exp(s[:, r] - lse[r]) with lse[r] = log sum_j exp s[j, r] for r < width; a column of -inf: zeros, -inf.

    s (S, W) is contiguous and W whole registers: what stands in its columns from `width` on is overwritten.
    """
    seen = s[:, :width]
    top = seen.max(axis=0, initial=-np.inf)
    shift = np.where(top == -np.inf, 0, top)
    seen[:] = exp(seen - shift)
    total = seen.sum(axis=0)
    seen /= np.where(total == 0, 1, total)
    with np.errstate(divide="ignore"):
        lse[:] = shift + np.log(total)


def softmax_columns_backward(s, grad, width, lse):
    """From scores s and grad = dP, both (S, W) as above:   s = P = exp(s - lse),  grad = P (dP - sum_j P dP), in place.

    P is divided by its own sum, so that the rounding of a large lse cancels.
    """
    p, d = s[:, :width], grad[:, :width]
    p[:] = np.where(lse == -np.inf, 0, exp(p - np.where(lse == -np.inf, 0, lse)))
    total = p.sum(axis=0)
    p /= np.where(total == 0, 1, total)
    d[:] = p * (d - (p * d).sum(axis=0))


@rounded(softmax_columns)
def _(s, width, lse):
    def run(s, width, lse):
        _softmax_columns(s.dtype.type(0), s.ctypes.data, s.strides[0], s.shape[0], width, lse.ctypes.data)

    return run


@rounded(softmax_columns_backward)
def _(s, grad, width, lse):
    def run(s, grad, width, lse):
        _softmax_columns_backward(
            s.dtype.type(0), s.ctypes.data, grad.ctypes.data, s.strides[0], s.shape[0], width, lse.ctypes.data
        )

    return run
