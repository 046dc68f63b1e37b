"""Rows of the factorisations of matrices. Inputs are well away from singular, or the derivative itself explodes."""

import numpy as np
import torch

from badak.ops.factors import LU, Eig, MatrixExp
from badak.ops.linalg import QR, SVD, Cholesky, Det, Eigh, Inverse, Pinv, SlogDet, Solve
from tests.samples import Draw, Sample, case


def regular(*shape):
    """Matrices with singular values apart from each other and from 0."""

    def make(rng):
        m, n = shape[-2:]
        u, _, vh = np.linalg.svd(rng.standard_normal(shape), full_matrices=False)
        return (u * (1.0 + 0.7 * np.arange(min(m, n)))) @ vh

    return Draw(make)


def positive(*shape):
    """Symmetric matrices with eigenvalues apart from each other and from 0."""

    def make(rng):
        v = np.linalg.svd(rng.standard_normal(shape))[0]
        a = (v * (1.0 + 0.7 * np.arange(shape[-1]))) @ v.swapaxes(-1, -2)
        return (a + a.swapaxes(-1, -2)) / 2

    return Draw(make)


def symmetric(function):
    """PyTorch's gradient of a symmetric matrix, its lower half alone being read."""
    return lambda a: function((a + a.mT) / 2)


def svd(a):
    """PyTorch's, with the signs that NumPy chooses: each pair of vectors may be turned around."""
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    chosen = torch.from_numpy(np.linalg.svd(a.detach().numpy(), full_matrices=False)[0])
    sign = (u.detach() * chosen).sum(-2).sign()
    return u * sign[..., None, :], s, vh * sign[..., :, None]


SQUARE = [regular(3, 3), regular(2, 4, 4), regular(1, 1), regular(0, 2, 2)]
SYMMETRIC = [positive(3, 3), positive(2, 4, 4), positive(1, 1), positive(0, 2, 2)]
TALL = [regular(4, 3), regular(2, 3, 3), regular(1, 1), regular(0, 3, 2)]


def eig(a):
    """PyTorch's, each vector turned so that its largest entry is real, as NumPy's is, with the signs that NumPy chooses."""
    w, v = torch.linalg.eig(a)
    chosen = np.linalg.eig(a.detach().numpy())
    nearest = np.abs(chosen[0][..., :, None] - w.detach().numpy()[..., None, :]).argmin(-1) if a.numel() else np.zeros(w.shape, int)
    w = w.gather(-1, torch.from_numpy(nearest))
    v = v.gather(-1, torch.from_numpy(nearest)[..., None, :].expand(v.shape))
    target = torch.from_numpy(chosen[1]).to(v.dtype)
    at = target.abs().argmax(-2, keepdim=True) if a.numel() else torch.zeros((*w.shape[:-1], 1, w.shape[-1]), dtype=torch.int64)
    largest = v.gather(-2, at)
    return w, v * largest.conj() / largest.abs() * target.gather(-2, at).real.sign()


COLUMNS = "PyTorch leaves what LAPACK made column by column; rows can be seen in every shape that columns can"
ROWS = [
    Sample(Inverse, torch.linalg.inv, SQUARE, slack=8, by_rows=COLUMNS, distinct=True),
    Sample(Solve, torch.linalg.solve, [
        case(regular(3, 3), (3, 2)), case(regular(2, 4, 4), (2, 4, 1)), case(regular(1, 1), (1, 1)),
        case(regular(0, 2, 2), (0, 2, 1)),
    ], slack=8, by_rows=COLUMNS, distinct=True),
    Sample(Pinv, lambda a, rtol: torch.linalg.pinv(a, rtol=rtol), [*TALL, regular(2, 4)], rtol=1e-6, slack=16,
           by_rows=COLUMNS, distinct=True),
    Sample(Det, torch.linalg.det, SQUARE, slack=8, distinct=True),
    Sample(SlogDet, torch.linalg.slogdet, SQUARE, slack=8, distinct=True),
    Sample(Cholesky, symmetric(torch.linalg.cholesky), SYMMETRIC, slack=16, by_rows=COLUMNS, distinct=True),
    Sample(QR, torch.linalg.qr, [*TALL, regular(2, 4), regular(2, 3, 5)], slack=16, by_rows=COLUMNS, distinct=True),
    Sample(SVD, svd, [*TALL, regular(2, 4)], slack=32, by_rows=COLUMNS, distinct=True),
    Sample(SVD, lambda a, full: svd(a), [regular(3, 3), regular(2, 4, 4), regular(1, 1), regular(0, 2, 2)], full=True, slack=32,
           by_rows=COLUMNS, distinct=True),
    Sample(Eigh, symmetric(torch.linalg.eigh), SYMMETRIC, slack=32, by_rows=COLUMNS, distinct=True),
    Sample(LU, torch.linalg.lu_factor, [*SQUARE[1:], regular(3, 3), regular(4, 3), regular(2, 2, 5), regular(0, 2, 3)], slack=16,
           by_rows=COLUMNS, distinct=True),
    Sample(Eig, eig, [*SQUARE, Draw(lambda rng: rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3)))], slack=64,
           by_rows=COLUMNS, distinct=True),
    Sample(MatrixExp, torch.linalg.matrix_exp, [*SQUARE, Draw(lambda rng: 0.3 * rng.standard_normal((2, 3, 3)))], slack=16),
]  # fmt: skip
