"""Sums of products named by letters, two arrays at a time, as matrix products.

Each letter is an axis. A letter in both inputs and the output is a batch axis, one in both inputs only is summed, one in a
single input is a row or a column, or, if the output lacks it too, is summed beforehand.
"""

import math
from typing import Any

import numpy as np

from badak import kernels
from badak.kernels.memory_format import row_major
from badak.ops._broadcast import elementwise
from badak.ops.op import Count, Op


def contract(ta: str, a: np.ndarray, tb: str, b: np.ndarray, ty: str) -> np.ndarray:
    """The array with axes `ty` of sum a[ta] b[tb]; ta, tb, ty are strings of distinct letters.

    Without a sum it is an elementwise product and lies as such. Else it lies as the matrix product does: batch axes,
    then rows, then columns, each in the order of ty. The inputs change places where that makes it row-major.
    """
    a, ta = _sum_alone(ta, a, tb + ty)
    b, tb = _sum_alone(tb, b, ta + ty)
    batch = [c for c in ty if c in ta and c in tb]
    summed = [c for c in ta if c in tb and c not in ty]
    rows = [c for c in ty if c not in tb]
    columns = [c for c in ty if c not in ta]
    if not summed:
        return _multiply(*(_spread(_in_order_of(ty, t, x), t, ty) for t, x in ((ta, a), (tb, b))))
    if "".join(batch + columns + rows) == ty != "".join(batch + rows + columns):
        a, ta, rows, b, tb, columns = b, tb, columns, a, ta, rows
    size = dict(zip(ta, a.shape)) | dict(zip(tb, b.shape))

    def extent(letters: Any) -> Any:
        return [size[c] for c in letters]

    def many(letters: Any) -> Any:
        return int(np.prod(extent(letters), dtype=np.int64))

    left = a.transpose([ta.index(c) for c in batch + rows + summed])
    right = b.transpose([tb.index(c) for c in batch + summed + columns])
    left = left.reshape(*extent(batch), many(rows), many(summed))
    right = right.reshape(*extent(batch), many(summed), many(columns))
    product = kernels.of(a).matmul(left, right) if a.dtype.kind == "f" else row_major(left @ right)
    made = batch + rows + columns
    return product.reshape(extent(made)).transpose([made.index(c) for c in ty])


_multiply = elementwise(np.multiply)


def _sum_alone(t: str, x: np.ndarray, others: str) -> tuple:
    """x summed over the axes whose letters nobody else has."""
    alone = tuple(i for i, c in enumerate(t) if c not in others)
    if alone:
        x, t = row_major(x.sum(alone, dtype=x.dtype)), "".join(c for c in t if c in others)
    return x, t


def _in_order_of(ty: str, t: str, x: Any) -> Any:
    """x (axes t) with its axes in the order of ty."""
    return x.transpose(sorted(range(len(t)), key=lambda i: ty.index(t[i])))


def _spread(x: np.ndarray, tx: str, t: str) -> np.ndarray:
    """x with axes of size 1 for the letters of t that tx lacks; both in one order."""
    return np.expand_dims(x, [i for i, c in enumerate(t) if c not in tx])


def _unused(attributes: dict) -> str:
    """A letter that no input has."""
    return next(c for c in map(chr, range(0x100, 0x200)) if not any(c in letters for letters in attributes.values()))


class Contract(Op):
    """y[ty] = sum a[ta] b[tb] over the letters that ty lacks.

    da[ta] = sum dy[ty] b[tb], db[tb] = sum dy[ty] a[ta]: the same sum with dy in the place of the input, constant along
    letters that only this input has.
    """

    owns_grads = False
    kept_for = {0: 1, 1: 0}  # noqa: RUF012

    @staticmethod
    def flops(inputs: Any, outputs: Any, attributes: Any) -> Count:
        """Each number of the result is a sum over the letters that it lacks."""
        sizes = dict(zip(attributes["ta"], inputs[0].shape)) | dict(zip(attributes["tb"], inputs[1].shape))
        inner = [sizes[c] for c in attributes["ta"] if c in attributes["tb"] and c not in attributes["ty"]]
        flops = 2 * outputs[0].size * math.prod(inner) if inner else 0
        return flops, {0: flops, 1: flops}

    @staticmethod
    def forward(save: Any, a: np.ndarray, b: np.ndarray, ta: str, tb: str, ty: str) -> np.ndarray:
        save.a, save.b, save.letters = a, b, (ta, tb, ty)
        return contract(ta, a, tb, b, ty)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        (ta, tb, ty), (na, nb) = saved.letters, saved.needs
        return (
            _gradient(ta, saved.a.shape, tb, saved.b, ty, dy) if na else None,
            _gradient(tb, saved.b.shape, ta, saved.a, ty, dy) if nb else None,
        )

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
        new = _unused(attributes)
        letters = {name: new * each + attributes[name] for name, each in (("ta", batched[0]), ("tb", batched[1]), ("ty", True))}
        return run(op, *xs, **letters)


def _gradient(t: str, shape: tuple[int, ...], tother: str, other: Any, ty: str, dy: Any) -> Any:
    other = other.conj() if other.dtype.kind == "c" else other
    known = "".join(c for c in t if c in tother or c in ty)
    return np.broadcast_to(_spread(contract(ty, dy, tother, other, known), known, t), shape)


class SumTo(Op):
    """y[ty] = sum x[tx] over the letters that ty lacks, in the order of ty;   dx = dy along the letters of tx."""

    owns_grads = False

    saves_no_tensors = True
    keeps_finite = True

    @staticmethod
    def forward(save: Any, x: np.ndarray, tx: str, ty: str) -> np.ndarray:
        save.shape, save.letters = x.shape, (tx, ty)
        order = sorted(tx, key=lambda c: ty.find(c))
        return _sum_alone("".join(order), x.transpose([tx.index(c) for c in order]), ty)[0]

    @staticmethod
    def backward(saved: Any, dy: Any) -> Any:
        tx, ty = saved.letters
        kept = "".join(c for c in tx if c in ty)
        return np.broadcast_to(_spread(dy.transpose([ty.index(c) for c in kept]), kept, tx), saved.shape)

    @staticmethod
    def batching(run: Any, op: Any, xs: Any, batched: Any, attributes: Any) -> Any:
        new = _unused(attributes)
        return run(op, *xs, tx=new + attributes["tx"], ty=new + attributes["ty"])


def in_small_letters(equation: str) -> str:
    """The equation as others may read it: inside badak any letter stands for an axis."""
    letters = dict.fromkeys(c for c in equation if c not in ",->")
    return equation.translate({ord(c): chr(ord("a") + i) for i, c in enumerate(letters)})
