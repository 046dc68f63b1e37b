"""torch.linalg and its older names, against PyTorch."""

import numpy as np
import pytest
import torch

import badak
from tests.parity.compare import DEEP, assert_same
from tests.tiers import looped

rng = np.random.default_rng(0)
SQUARE, STACK, WIDE, TALL = (rng.standard_normal(shape) for shape in ((4, 4), (2, 3, 3), (3, 5), (5, 3)))
POSITIVE = SQUARE @ SQUARE.T + np.eye(4)
SINGULAR = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, -1.0])

CALLS = {
    "inv": (lambda lib, a: lib.linalg.inv(a), [SQUARE]),
    "inverse": (lambda lib, a: a.inverse() + lib.inverse(a), [STACK]),
    "pinv": (lambda lib, a: lib.linalg.pinv(a), [WIDE]),
    "pinv of low rank": (lambda lib, a: lib.linalg.pinv(a), [SINGULAR]),
    "pinv with atol": (lambda lib, a: lib.linalg.pinv(a, atol=1.5), [TALL]),
    "pinverse": (lambda lib, a: lib.pinverse(a), [TALL]),
    "solve": (lambda lib, a, b: lib.linalg.solve(a, b), [SQUARE, rng.standard_normal((4, 2))]),
    "solve a vector": (lambda lib, a, b: lib.linalg.solve(a, b), [SQUARE, rng.standard_normal(4)]),
    "solve from the right": (lambda lib, a, b: lib.linalg.solve(a, b, left=False), [SQUARE, rng.standard_normal((2, 4))]),
    "solve stacks": (lambda lib, a, b: lib.linalg.solve(a, b), [STACK, rng.standard_normal((3, 2))]),
    "solve a triangle of as many matrices as rows": (  # B is a matrix for all of them, not a vector for each
        lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=False),
        [rng.standard_normal((4, 4, 4)), SQUARE],
    ),
    "solve upper": (lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=True), [SQUARE, rng.standard_normal((4, 2))]),
    "solve ones": (
        lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=False, unitriangular=True),
        [SQUARE, rng.standard_normal((4, 2))],
    ),
    "lstsq": (lambda lib, a, b: lib.linalg.lstsq(a, b).solution, [TALL, rng.standard_normal((5, 2))]),
    "det": (lambda lib, a: lib.det(a) + a.det() + lib.linalg.det(a), [STACK]),
    "det of a singular one": (lambda lib, a: lib.linalg.det(a + lib.eye(3, dtype=a.dtype) * 0), [SINGULAR + np.diag([0, 0, 1.0])]),
    "slogdet": (lambda lib, a: lib.linalg.slogdet(a), [STACK]),
    "logdet": (lambda lib, a: lib.logdet(a), [POSITIVE]),
    "cholesky": (lambda lib, a: lib.linalg.cholesky((a + a.mT) / 2), [POSITIVE]),
    "cholesky upper": (lambda lib, a: lib.linalg.cholesky((a + a.mT) / 2, upper=True), [POSITIVE]),
    "qr": (lambda lib, a: lib.linalg.qr(a), [TALL]),
    "svdvals": (lambda lib, a: lib.linalg.svdvals(a), [WIDE]),
    "svd put together": (lambda lib, a: (lambda u, s, vh: u * s @ vh)(*lib.linalg.svd(a, full_matrices=False)), [WIDE]),
    "older svd": (lambda lib, a: (lambda u, s, v: u * s**2 @ v.mT)(*lib.svd(a)), [TALL]),
    "eigvalsh": (lambda lib, a: lib.linalg.eigvalsh((a + a.mT) / 2), [POSITIVE]),
    "matrix_power": (lambda lib, a: lib.linalg.matrix_power(a, 5), [SQUARE]),
    "matrix_power below 0": (lambda lib, a: lib.matrix_power(a, -3), [STACK]),
    "matrix_power 0": (lambda lib, a: lib.matrix_power(a, 0) * a, [STACK]),
    "cross": (lambda lib, a, b: lib.linalg.cross(a, b), [rng.standard_normal((2, 3)), rng.standard_normal((2, 3))]),
    "cross of rows": (lambda lib, a, b: lib.cross(a, b, dim=0), [rng.standard_normal((3, 2)), rng.standard_normal((3, 2))]),
    "vecdot": (lambda lib, a, b: lib.linalg.vecdot(a, b), [SQUARE, SQUARE.T.copy()]),
    "cond": (lambda lib, a: lib.linalg.cond(a), [SQUARE]),
    **{f"norm {o}": (lambda lib, a, o=o: lib.linalg.norm(a, o), [TALL]) for o in ("fro", "nuc", 1, 2, -2, float("inf"))},
}


@pytest.mark.parametrize("call, arrays", CALLS.values(), ids=list(CALLS))
@looped(dtype=["float32", "float64"])
def test_values_and_gradients_are_those_of_pytorch(call, arrays, dtype):
    found = []
    for lib in (badak, torch):
        leaves = [lib.from_numpy(a.astype(dtype)).requires_grad_() for a in arrays]
        made = call(lib, *leaves)
        parts = [y for y in (made if isinstance(made, tuple) else (made,)) if y.numel()]
        live = [y for y in parts if y.requires_grad]
        sum((y * y).sum() for y in live).backward()
        found.append([*parts, *(leaf.grad for leaf in leaves)])
    for ours, theirs in zip(*found, strict=True):
        assert_same(ours, theirs, 4 * DEEP)


def test_whole_factors_and_other_eigenvalues():
    a = badak.from_numpy(TALL.copy())
    U, S, Vh = badak.linalg.svd(a)  # noqa: N806
    assert U.shape == (5, 5) and Vh.shape == (3, 3)
    np.testing.assert_allclose((U[:, :3] * S @ Vh).numpy(), TALL, atol=1e-12)
    for lib in (badak, torch):
        values = np.sort_complex(lib.linalg.eigvals(lib.from_numpy(SQUARE.copy())).numpy())
        np.testing.assert_allclose(values, np.sort_complex(np.linalg.eigvals(SQUARE)), atol=1e-12)
        assert lib.linalg.matrix_rank(lib.from_numpy(np.stack([SINGULAR, np.eye(3)]))).tolist() == [1, 3]
        w, v = lib.linalg.eig(lib.from_numpy(SQUARE.copy()))
        assert w.shape == (4,) and v.shape == (4, 4)
    assert badak.linalg.slogdet(a[:3]).logabsdet.shape == ()
    assert badak.linalg.qr(a, mode="r").Q.numel() == 0 and badak.linalg.qr(a, mode="r").R.shape == (3, 3)
    assert (badak.cholesky(badak.eye(3)) == badak.eye(3)).all()


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_what_is_refused(lib):
    for call in (
        lambda: lib.linalg.inv(lib.zeros(2, 2)),
        lambda: lib.linalg.inv(lib.zeros(2, 3)),
        lambda: lib.linalg.inv(lib.zeros(3)),
        lambda: lib.linalg.inv(lib.ones(2, 2, dtype=lib.int64)),
        lambda: lib.linalg.solve(lib.zeros(2, 2), lib.ones(2)),
        lambda: lib.linalg.solve(lib.eye(2), lib.ones(2), left=False),
        lambda: lib.linalg.solve(lib.eye(2).expand(2, 2, 2), lib.ones(2, 2), left=False),
        lambda: lib.linalg.solve_triangular(lib.eye(2), lib.ones(2), upper=True),
        lambda: lib.linalg.cholesky(-lib.eye(2)),
        lambda: lib.linalg.cross(lib.ones(2), lib.ones(2)),
    ):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(lib.linalg.LinAlgError, match="singular"):
        lib.linalg.inv(lib.zeros(2, 2))
