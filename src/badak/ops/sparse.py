"""Products with a sparse matrix, whose entry k has the value values[k] and stands at (row[k], col[k])."""

from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import NotSupportedError
from badak.ops._complex import conj
from badak.ops.embedding import Embedding
from badak.ops.op import Count, Op
from badak.ops.rows import Rows


class SparseMm(Op):
    """y[m] = sum of values[k] d[col[k]] over the entries k with row[k] = m.

    values (K,), d (N, C), row and col int (K,) -> (rows, C).

        dvalues[k] = dy[row[k]] . d[col[k]]        dd[n] = sum of values[k] dy[row[k]] over the entries with col[k] = n
    """

    batching = None

    @staticmethod
    def forward(save: Any, values: np.ndarray, d: np.ndarray, row: np.ndarray, col: np.ndarray, rows: int) -> np.ndarray:
        save.values, save.d, save.row, save.col = values, d, row, col
        return kernels.of(d).sparse_mm(values, d, row, col, rows)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        of_values, of_d = saved.needs[:2]
        row, col, d = saved.row, saved.col, saved.d
        dvalues = SampledMm.of(dy, conj(d), row, col) if of_values else None
        dd = SparseMm.of(conj(saved.values), dy, col, row, rows=d.shape[0]) if of_d else None
        return dvalues, dd, None, None

    @staticmethod
    def flops(inputs: Any, outputs: Any, attributes: Any) -> Count:
        made = 2 * inputs[0].size * inputs[1].shape[1]
        return made, {0: made, 1: made}


class SampledMm(Op):
    """y[k] = a[row[k]] . b[col[k]], the entries of a b^T that row and col ask for.

    a (M, C), b (N, C), row and col int (K,) -> (K,).

        da[m] = sum of dy[k] b[col[k]] over the k with row[k] = m        db[n] = sum of dy[k] a[row[k]] over those with col[k] = n
    """

    batching = None

    @staticmethod
    def forward(save: Any, a: np.ndarray, b: np.ndarray, row: np.ndarray, col: np.ndarray) -> np.ndarray:
        save.a, save.b, save.row, save.col = a, b, row, col
        return kernels.of(a).sparse_mm_backward(a, b, row, col)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        of_a, of_b = saved.needs[:2]
        row, col, a, b = saved.row, saved.col, saved.a, saved.b
        da = SparseMm.of(dy, conj(b), row, col, rows=a.shape[0]) if of_a else None
        db = SparseMm.of(dy, conj(a), col, row, rows=b.shape[0]) if of_b else None
        return da, db, None, None

    @staticmethod
    def flops(inputs: Any, outputs: Any, attributes: Any) -> Count:
        made = 2 * outputs[0].size * inputs[0].shape[1]
        return made, {0: made, 1: made}


class SparseEmbedding(Embedding):
    """As Embedding, whose dw names the rows that were looked up, once for each time: a sparse tensor where it reaches a leaf."""

    owns_grads = False
    double_backward = Embedding.backward

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> tuple:
        if saved.scale_grad_by_freq:
            raise NotSupportedError("embedding_backward: scale_grad_by_freq not supported with sparse gradients", "sparse=False")
        ids = saved.ids.reshape(-1)
        values = dy.reshape(ids.size, dy.shape[-1])
        if saved.padding_idx is not None:
            kept = ids != saved.padding_idx
            ids, values = ids[kept], values[kept]
        return Rows(ids.astype(np.int64), values, (saved.rows, dy.shape[-1])), None
