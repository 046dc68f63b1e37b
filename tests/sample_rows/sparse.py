"""Products with sparse matrices, and the table whose gradient names rows."""

import numpy as np
import torch

from badak.ops.sparse import SampledMm, SparseEmbedding, SparseMm
from tests.samples import Sample, case, ints


def sparse_mm(values, d, row, col, rows):
    dense = torch.zeros(rows, d.shape[0], dtype=values.dtype).index_put((row, col), values, accumulate=True)
    return dense @ d


def sampled_mm(a, b, row, col):
    return (a @ b.T)[row, col]


ROWS = [
    Sample(
        SparseMm,
        sparse_mm,
        [
            case((9,), (4, 3), ints(5, 9), ints(4, 9), rows=5),
            case((0,), (4, 3), ints(5, 0), ints(4, 0), rows=5),
            case((1,), (1, 1), ints(1, 1), ints(1, 1), rows=1),
            case((3,), (2, 0), ints(2, 3), ints(2, 3), rows=2),
            case((4,), (3, 40), np.array([0, 2, 2, 6]), ints(3, 4), rows=7),
        ],
        threads=[
            case((3000,), (40, 70), ints(50, 3000), ints(40, 3000), rows=50),
            case((3000,), (40, 70), np.sort(np.arange(3000) % 50), ints(40, 3000), rows=50),
        ],
    ),
    Sample(
        SampledMm,
        sampled_mm,
        [
            ((5, 3), (4, 3), ints(5, 9), ints(4, 9)),
            ((5, 3), (4, 3), ints(5, 0), ints(4, 0)),
            ((1, 1), (1, 1), ints(1, 1), ints(1, 1)),
            ((2, 0), (3, 0), ints(2, 3), ints(3, 3)),
        ],
        threads=[((50, 33), (40, 33), ints(50, 9000), ints(40, 9000))],
    ),
    Sample(
        SparseEmbedding,
        lambda w, ids, padding_idx, scale_grad_by_freq: torch.nn.functional.embedding(ids, w, padding_idx),
        [((10, 4), ints(10, 2, 7)), ((3, 1), ints(3, 9)), ((4, 3), ints(4, 0)), ((1, 1), ints(1, 1)), ((5, 2), ints(5))],
        padding_idx=None,
        scale_grad_by_freq=False,
    ),
]
